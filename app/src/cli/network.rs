//! `tessera network …`: networks that the user brings.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::network::{BroughtNetwork, ImageWishes};

use super::Done;
use super::network_args::{Add, Elements, Match, Named, Network};
use super::output::{Failures, Output};
use super::paths::images;
use crate::session::Session;

pub(super) fn run(session: &Session, arguments: &Network, out: &Output) -> Result<Done> {
    match arguments {
        Network::Add(arguments) => add(session, arguments, out),
        Network::List => list(session, out),
        Network::Remove(arguments) => remove(session, arguments, out),
        Network::Match(arguments) => fit(session, arguments, out),
    }
}

fn add(session: &Session, arguments: &Add, out: &Output) -> Result<Done> {
    let Add { name, files, side, pixels, output } = arguments;
    if Elements::is_taken(name) {
        let expected = "another name: this one stands for elements of the program";
        return Err(Error::Option { name: "NAME", found: format!("`{name}`"), expected }.into());
    }
    let wishes = ImageWishes { size: side.map(|side| (side, side)), pixels: pixels.map(|pixels| pixels.scale()), output: output.clone() };
    let network = out.watched(session.progress(), || session.add_network(name, files, &wishes))?;
    out.answer(|| in_json(name, &network), || format!("{}\nUse it: tessera train FOLDER --elements {name}", in_words(name, &network)));
    Ok(Done::Whole)
}

fn list(session: &Session, out: &Output) -> Result<Done> {
    let folder = session.networks();
    let all = folder.list()?;
    let (mut known, mut damaged) = (Vec::new(), Vec::new());
    for (name, network) in all {
        match network {
            Ok(network) => known.push((name, network)),
            Err(error) => {
                out.complain(&error.to_string());
                damaged.push(name);
            }
        }
    }
    out.answer(
        || {
            let networks: Vec<Value> = known.iter().map(|(name, network)| in_json(name, network)).collect();
            json!({"folder": folder.path().to_string_lossy(), "networks": networks, "damaged": damaged})
        },
        || match known.as_slice() {
            [] => format!("No network was added yet (they are kept in {}).", display(folder.path())),
            known => known.iter().map(|(name, network)| in_words(name, network)).collect::<Vec<_>>().join("\n"),
        },
    );
    Ok(if damaged.is_empty() { Done::Whole } else { Done::Partly })
}

fn remove(session: &Session, arguments: &Named, out: &Output) -> Result<Done> {
    let name = &arguments.name;
    session.networks().remove(name)?;
    out.answer(
        || json!({"removed": name}),
        || format!("Removed `{name}`. Recognisers that were made with it answer again once it is added again."),
    );
    Ok(Done::Whole)
}

/// Ranks images by how well they fit words.
fn fit(session: &Session, arguments: &Match, out: &Output) -> Result<Done> {
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    let paths = images(session, &arguments.paths, &mut failures)?;
    let found = out.watched(session.progress(), || session.match_words(&arguments.name, &arguments.words, &paths))?;
    let mut ranked = Vec::new();
    for (path, likeness) in paths.iter().zip(found) {
        match likeness {
            Ok(likeness) => ranked.push((likeness, path)),
            Err(error) => failures.file(path, error)?,
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n = ranked.len();
    ranked.truncate(arguments.limit);
    out.answer(
        || {
            let hits: Vec<Value> =
                ranked.iter().map(|(likeness, path)| json!({"path": path.to_string_lossy(), "likeness": likeness})).collect();
            json!({"images": n, "hits": hits})
        },
        || ranked.iter().map(|(likeness, path)| format!("{likeness:6.3}  {}", display(path))).collect::<Vec<_>>().join("\n"),
    );
    failures.finish(n)
}

fn in_json(name: &str, network: &BroughtNetwork) -> Value {
    let BroughtNetwork { image, text, bytes, load_ms, image_ms, text_ms, megabytes } = network;
    json!({"name": name, "hash": image.identity(), "bytes": bytes, "width": image.width, "height": image.height,
        "pixels": {"factor": image.pixels.factor, "mean": image.pixels.mean, "deviation": image.pixels.deviation},
        "output": image.output, "columns": image.columns, "rows": image.rows, "dimension": image.dimension,
        "text": text.is_some(), "load_ms": load_ms, "image_ms": image_ms, "text_ms": text_ms, "megabytes": megabytes})
}

fn in_words(name: &str, network: &BroughtNetwork) -> String {
    let BroughtNetwork { image, text, bytes, image_ms, megabytes, .. } = network;
    let gives = match (image.columns, image.rows) {
        (1, 1) => "a vector".to_owned(),
        (columns, rows) => format!("{columns} x {rows} vectors"),
    };
    let mut words = format!(
        "{name}: {} x {} pixels to {gives} of {} values (output `{}`){}; {:.1} MB, {image_ms:.1} ms an image on one thread",
        image.width,
        image.height,
        image.dimension,
        image.output,
        if text.is_some() { ", with a text encoder" } else { "" },
        *bytes as f64 / 1e6,
    );
    if let Some(megabytes) = megabytes {
        let _ = write!(words, ", {megabytes} MB of memory when it was tried");
    }
    let _ = write!(words, "; hash {}", image.identity());
    words
}
