//! `tessera map`.

use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::layout::TsneOptions;
use tessera_core::library::clusters::usual_clusters;
use tessera_core::library::hold;
use tessera_core::library::looks::Look;

use super::Done;
use super::librarian::{Librarian, count};
use super::library_args::{Map, MapLayout};
use crate::session::map::{Colouring, LegendEntry, MapColour, MapFile};
use crate::session::map_file::{DrawnMap, check_place};
use crate::session::reports::last_report;

/// What is said where kept clusters are hidden.
const HIDDEN: &str = "The clusters found last were found with learned features, which are off, so that no image has a colour; \
                      `tessera train LIBRARY --learned-features on` turns them on, `tessera cluster LIBRARY --by` finds others.";

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Map) -> Result<Done> {
    let (session, out, to) = (librarian.session, librarian.out, arguments.to.as_path());
    if arguments.thumbnails && MapFile::of(to)? != MapFile::Png {
        return Err(
            Error::Option { name: "--thumbnails", found: "given".into(), expected: "given with a name that ends in .png only" }.into()
        );
    }
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let kind = check_place(&hold(library), to)?;
        if arguments.by.as_ref().is_none_or(Look::takes_network) {
            librarian.complete(library)?;
        }
        let begun = Instant::now();
        let progress = session.progress();
        let points = out.watched(progress, || session.map_points(library, arguments.by.as_ref()))?;
        let images = &points.rows.images;
        if images.is_empty() {
            let path = librarian.named(&arguments.library);
            let found = "none with such vectors";
            return Err(
                Error::data(&path, "images to lay out", found, "import a folder of images first, or choose others with --by").into()
            );
        }
        let (places, rounds) = match arguments.layout {
            MapLayout::Components => (points.components.places(), 0),
            MapLayout::Neighbours => out.watched(progress, || {
                let options = TsneOptions { perplexity: arguments.perplexity, rounds: arguments.rounds, seed: session.seed() };
                let mut layout = session.map_layout(&points, options)?;
                progress.begin("Laying out the map", arguments.rounds.into());
                session.on_threads(|| layout.improve(arguments.rounds, progress))?;
                Ok::<_, Error>((layout.places().to_vec(), layout.rounds()))
            })?,
        };
        let seconds = begun.elapsed().as_secs_f64();
        let trust = out.watched(progress, || session.map_trust(&points, &places, progress))?;
        let (state, report, clusters, is_hidden) = {
            let library = hold(library);
            let is_hidden = arguments.colour == MapColour::Cluster && library.hides_clusters()?;
            let kept = if arguments.colour == MapColour::Cluster { library.clusters()? } else { None };
            let clusters = kept.map(|kept| kept.describe(&library)).unwrap_or_default();
            (library.state().clone(), last_report(&library), clusters, is_hidden)
        };
        let usual = &clusters[..usual_clusters(&clusters)];
        let colouring = Colouring::new(&state, report.as_ref().map(|(_, report)| report), usual, images, arguments.colour);
        if is_hidden {
            out.note(HIDDEN);
        } else if clusters.is_empty() && arguments.colour == MapColour::Cluster {
            out.note("No clusters were found yet, so that no image has a colour; `tessera cluster` finds them.");
        }
        if report.is_none() && matches!(arguments.colour, MapColour::Score | MapColour::Error) {
            out.note("The recogniser was not judged yet, so that no image has a colour; `tessera train` judges it.");
        }
        let map = DrawnMap { images, places: &places, colouring: &colouring, side: arguments.size, thumbnails: arguments.thumbnails };
        out.watched(progress, || map.write(library, kind, to, progress))?;
        out.answer(
            || {
                json!({"to": to.to_string_lossy(), "points": images.len(), "by": points.by.name(), "layout": arguments.layout.name(),
                    "rounds": rounds, "colour": arguments.colour.name(), "trustworthiness": trust, "s": seconds,
                    "legend": colouring.legend.iter().map(entry_json).collect::<Vec<_>>()})
            },
            || {
                let (n, by, path) = (count(images.len(), "image"), points.by.words(), display(to));
                let mut lines = vec![format!("Wrote {n} by {by} to {path}, trustworthiness {trust:.3}, {seconds:.1} s")];
                lines.extend(colouring.legend.iter().map(entry_words));
                lines.join("\n")
            },
        );
        Ok(Done::Whole)
    })
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn entry_json(entry: &LegendEntry) -> Value {
    json!({"name": entry.name, "colour": hex(entry.colour), "images": entry.images})
}

fn entry_words(entry: &LegendEntry) -> String {
    let images = entry.images.map(|images| format!("  {images}")).unwrap_or_default();
    format!("{}  {}{images}", hex(entry.colour), entry.name)
}
