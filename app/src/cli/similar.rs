//! `tessera similar`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::ann::cells::CandidateCurve;
use tessera_core::error::display;
use tessera_core::eval::candidates::PartitionCurve;
use tessera_core::ids::ItemId;
use tessera_core::library::looks::{Look, LookAlike, LookQuery, LookSearch};
use tessera_core::library::{Library, hold};

use super::Done;
use super::evaluate_neighbours::partition_names;
use super::librarian::{Librarian, count};
use super::library_args::Similar;
use super::search::{filter, grow_after, look_at};
use crate::session::partitions::{PartitionComparison, partition_words};
use crate::session::reference::ReferenceImage;

/// The least likeness, by what the network sees, of images that show the same: of photographs of
/// Flickr8k parts of less than four fifths of each side are below, and all other photographs.
const NEARLY_THE_SAME: f64 = 0.9;
/// Recalls at which kinds of indexes are told.
const TOLD: [f64; 4] = [0.8, 0.9, 0.95, 0.99];

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
        let partitions = arguments.partitions.then(|| {
            let compare = || librarian.session.compare_partitions(library, arguments.by.as_ref());
            librarian.out.watched(librarian.session.progress(), compare)
        });
        tell(librarian, arguments, &hold(library), &like, partitions.transpose()?.as_ref())?;
        if arguments.recall < 1.0 {
            grow_after(librarian, library, arguments.by.as_ref());
        }
        Ok(Done::Whole)
    })
}

fn tell(
    librarian: &Librarian<'_>,
    arguments: &Similar,
    library: &Library,
    like: &ReferenceImage,
    partitions: Option<&PartitionComparison>,
) -> Result<()> {
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
    let is_none_the_same = found.list.first().is_some_and(|best| best.likeness < NEARLY_THE_SAME);
    if like.item.is_none() && like.crop.is_none() && by == Look::Network && is_none_the_same && among.is_none() {
        librarian.out.note("None of them is nearly the same. If this was cut out of another image, --crop all finds that one.");
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
            if let Some(compared) = partitions {
                let PartitionComparison { by, images, asked, k, curves } = compared;
                value["partitions"] = curves.iter().map(partition_json).collect();
                value["partitions_of"] = json!({"by": by.name(), "images": images, "asked": asked, "k": k});
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
            if let Some(compared) = partitions {
                let PartitionComparison { images, asked, k, .. } = compared;
                lines.push(format!("\nIndexes of {}, asked by {asked} others for {k} neighbours", count(*images, "image")));
                let recalls: String = TOLD.into_iter().map(|recall| format!("{recall:>8} ")).collect();
                lines.push(format!("{:<32}{recalls}", "images compared at a recall of"));
                lines.extend(compared.curves.iter().map(partition_line));
            }
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

fn partition_json(curve: &PartitionCurve) -> Value {
    let (tree, select) = partition_names(curve.partition);
    let ways: Vec<Value> = curve.ways.iter().map(|way| json!({"recall": way.recall, "candidates": way.candidates})).collect();
    json!({"tree": tree, "select": select, "curve": ways})
}

/// How many images are compared at some recalls.
fn partition_line(curve: &PartitionCurve) -> String {
    let at = |recall: f64| {
        let way = curve.ways.iter().filter(|way| way.recall >= recall).map(|way| way.candidates).min_by(f64::total_cmp);
        format!("{:>8} ", way.map_or_else(|| "-".into(), |candidates| format!("{candidates:.0}")))
    };
    let cells: String = TOLD.into_iter().map(at).collect();
    format!("{:<32}{cells}", partition_words(curve.partition))
}
