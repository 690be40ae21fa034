//! `tessera similar`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::ann::cells::CandidateCurve;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::looks::{Look, LookAlike, LookQuery, LookSearch};
use tessera_core::library::{Library, hold};

use super::Done;
use super::librarian::{Librarian, count};
use super::library_args::Similar;
use super::search::{filter, grow_after, look_at};
use crate::session::reference::ReferenceImage;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Similar) -> Result<Done> {
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        if arguments.by.as_ref().is_none_or(Look::takes_network) {
            librarian.complete(library)?;
        }
        let like = look_at(librarian, library, &arguments.image, arguments.crop, arguments.by.as_ref())?;
        if arguments.curve && hold(library).read_only().is_none() {
            librarian.out.watched(librarian.session.progress(), || librarian.session.measure_looks(library, arguments.by.as_ref()))?;
        }
        tell(librarian, arguments, &hold(library), &like)?;
        if arguments.recall < 1.0 {
            grow_after(librarian, library, arguments.by.as_ref());
        }
        Ok(Done::Whole)
    })
}

fn tell(librarian: &Librarian<'_>, arguments: &Similar, library: &Library, like: &ReferenceImage) -> Result<()> {
    let among = filter(library, arguments.class.as_deref(), arguments.folder.as_deref(), None)?;
    let query = LookQuery { by: arguments.by.clone(), recall: arguments.recall, also_few: arguments.curve, ..like.query() };
    let fits = |image: ItemId| query.of != Some(image) && among.as_ref().is_none_or(|among: &Arc<HashSet<ItemId>>| among.contains(&image));
    let begun = Instant::now();
    let found = library.look_alikes(&query, arguments.k, fits);
    let seconds = begun.elapsed().as_secs_f64();
    let LookSearch { by, compared, by_parts, recall } = found.search;
    let curve = if arguments.curve { library.look_curve(&by, arguments.k).map_or(&[][..], |curve| &curve.ways) } else { &[] };
    if arguments.curve && curve.is_empty() {
        librarian
            .out
            .note("There is no curve: no index was measured for so many images, or it cannot be made in a library that is only read.");
    }
    let images = library.state().images().count();
    librarian.out.answer(
        || {
            let mut value = json!({"query": like.name, "by": by.name(), "recall": recall.unwrap_or(1.0), "indexed": recall.is_some(),
                    "compared": compared, "by_parts": by_parts, "images": images, "s": seconds,
                    "hits": found.list.iter().map(|alike| hit_json(library, alike)).collect::<Vec<_>>()});
            if arguments.curve {
                value["curve"] = curve.iter().map(way_json).collect();
            }
            value
        },
        || {
            let mut lines: Vec<String> = found.list.iter().map(|alike| hit_words(library, alike)).collect();
            if lines.is_empty() {
                lines.push(format!("No image to compare with {}", like.name));
            }
            lines.push(format!(
                "\n{}{} by {}, {:.1} ms",
                compared_words(compared, images, recall),
                part_words(by_parts),
                by.words(),
                1000.0 * seconds
            ));
            lines.extend(curve.iter().map(|way| {
                let measured = &way.measured;
                format!("recall {:.3}: {:.0} compared, of {}", measured.recall, measured.candidates, count(measured.way.probes, "cell"))
            }));
            lines.join("\n")
        },
    );
    Ok(())
}

fn compared_words(compared: usize, images: usize, recall: Option<f64>) -> String {
    match recall {
        Some(recall) => {
            format!("{compared} of {} compared, with a recall of {recall:.3} measured on this library,", count(images, "image"))
        }
        None => format!("{} compared, all that are there to compare,", count(compared, "image")),
    }
}

fn part_words(by_parts: usize) -> String {
    if by_parts > 0 { format!(" {by_parts} of them part by part,") } else { String::new() }
}

fn hit_json(library: &Library, alike: &LookAlike) -> Value {
    let image = library.state().image(alike.image);
    let path = image.and_then(|image| library.state().path_of(image));
    json!({"image": alike.image.0, "path": path.map(|path| path.to_string_lossy().into_owned()), "distance": 1.0 - alike.likeness,
        "probability": alike.probability, "class": image.and_then(|image| image.label()),
        "caption": image.and_then(|image| image.captions.first()).map(|caption| &caption.text)})
}

fn hit_words(library: &Library, alike: &LookAlike) -> String {
    let image = library.state().image(alike.image);
    let path = image.and_then(|image| library.state().path_of(image)).map(|path| display(&path)).unwrap_or_default();
    let class = image.and_then(|image| image.label()).map(|class| format!("  {class}")).unwrap_or_default();
    format!("{:.3}  #{} {path}{class}", 1.0 - alike.likeness, alike.image.0)
}

fn way_json(way: &CandidateCurve) -> Value {
    let measured = &way.measured;
    json!({"recall": measured.recall, "candidates": measured.candidates, "probes": measured.way.probes, "shortlist": measured.way.shortlist})
}
