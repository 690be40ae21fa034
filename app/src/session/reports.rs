//! Reports on the recogniser of a library, which the library keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use tessera_core::ckm::Search;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::eval::report::{Judged, Report};
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::state::State;

use super::kept_as::KeptOf;
use super::library_weights::weight_choice;
use crate::command::WeightChoice;

/// A report as a library stores it.
#[derive(Serialize, Deserialize)]
struct Kept {
    event: Option<EventId>,
    /// Which training images were compared.
    #[serde(default)]
    search: Search,
    /// How kinds counted; none in reports of programs that did not tell.
    #[serde(default)]
    kernels: Option<Vec<LeafKernel>>,
    report: Report,
}

/// The name under which a library keeps the last report on a recogniser with these weights.
fn name(of: &KeptOf, weights: WeightChoice) -> String {
    of.name(match weights {
        WeightChoice::Uniform => "report",
        WeightChoice::Learned => "report_weights",
    })
}

/// The last report on a library's recogniser as it is in use, with the event after which it was
/// made, or none if it then compared other training images or kinds counted otherwise; `None` if
/// there is no report that can be read, or only one that was not made by judging.
pub fn last_report(library: &Library) -> Option<(Option<EventId>, Report)> {
    kept_report(library, weight_choice(library))
}

/// The last report on a library's recogniser with these weights, as [`last_report`].
pub(super) fn kept_report(library: &Library, weights: WeightChoice) -> Option<(Option<EventId>, Report)> {
    let now = KeptOf::now(library);
    let kept: Kept = serde_json::from_str(&library.result(&name(&now, weights)).ok()??).ok()?;
    let is_same = kept.search == now.search && kept.kernels.is_none_or(|of| of == now.kernels);
    // A library may come from anyone, and the window shows the report as it is.
    kept.report.is_whole().then(|| (kept.event.filter(|_| is_same), kept.report))
}

/// Keeps a report on a recogniser of a library with these weights, which need not be in use. One
/// that cannot be kept is made again when it is next asked for.
pub(super) fn keep_report(library: &Library, of: &KeptOf, weights: WeightChoice, event: Option<EventId>, report: &Report) {
    let kept = Kept { event, search: of.search, kernels: Some(of.kernels.clone()), report: report.clone() };
    let _ = serde_json::to_string(&kept).map(|text| library.keep_result(&name(of, weights), &text));
}

/// The class that a judged image was given, by its present name; `None` for a damaged report.
pub fn class_given<'a>(state: &'a State, report: &'a Report, judged: &Judged) -> Option<&'a str> {
    report.classes.get(judged.predicted as usize).map(|class| state.class_now(class))
}

/// Whether a judged image was given the class that it has now; `None` for images without one.
pub fn is_right(state: &State, report: &Report, judged: &Judged) -> Option<bool> {
    let label = state.image(judged.image)?.label()?;
    Some(class_given(state, report, judged) == Some(label))
}

/// Whether a recogniser with uniform weights, `images` of these classes, in order, should be judged
/// with no request: with two classes, when it never was, has others than when it was, or twice as
/// many images. The terms of classes, which make up for their sizes, are then missing or wrong.
/// Learned weights are learned anew on request alone.
pub fn is_judging_due<'a>(report: Option<&Report>, classes: impl ExactSizeIterator<Item = &'a str> + Clone, images: usize) -> bool {
    classes.len() >= 2 && report.is_none_or(|report| !classes.eq(report.classes.iter().map(String::as_str)) || images >= 2 * report.images)
}

/// What always answering with the largest class would come to, in a sentence; nothing without
/// images.
pub fn against_largest_class(share: f64) -> Option<String> {
    (share > 0.0).then(|| format!("Always answering with the largest class would be right on {:.1} %.", 100.0 * share))
}

/// Which classes cannot be told apart yet, in a sentence; nothing where there are none.
pub fn told_apart(groups: &[Vec<String>]) -> Option<String> {
    let they = groups.iter().take(GROUPS).map(|group| listed(group)).collect::<Vec<_>>().join("; ");
    let more = if groups.len() > GROUPS { format!("; and {} more such groups", groups.len() - GROUPS) } else { String::new() };
    (!groups.is_empty()).then(|| format!("These classes cannot be told apart yet: {they}{more}. More images of them may help."))
}

/// The classes of a group, the first few by name.
pub fn listed(group: &[String]) -> String {
    match group.split_at(group.len().min(NAMED)) {
        (named, []) => named.join(" and "),
        (named, rest) => format!("{} and {} more", named.join(", "), rest.len()),
    }
}

/// Groups that are named.
const GROUPS: usize = 3;
/// Classes of a group that are named.
const NAMED: usize = 6;

/// Folders inside those of classes that are taken for single objects, in words, where they are few
/// and have names of their own: such folders are often classes (`animal/dog`). Each image is told
/// by its class and its object. O(n log n) for n images.
pub fn folders_as_objects<'a>(images: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Option<String> {
    let mut objects: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (class, group) in images {
        if let Some(object) = group.and_then(|group| group.strip_prefix(class)?.strip_prefix('/')) {
            *objects.entry((class, object)).or_default() += 1;
        }
    }
    let classes = objects.keys().map(|(class, _)| *class).collect::<BTreeSet<_>>().len();
    let is_named = |((class, object), _): &(&(&str, &str), &usize)| object.contains(char::is_alphabetic) && !object.starts_with(class);
    let named: Vec<_> = objects.iter().filter(is_named).collect();
    let images: usize = named.iter().map(|(_, images)| **images).sum();
    let are_few = named.len() <= 4 * classes && images >= 5 * named.len() && 2 * named.len() >= objects.len();
    let ((_, first), _) = named.first().filter(|_| are_few)?;
    Some(match named.len() {
        1 => format!("The folder {first} inside that of a class is taken for a single object"),
        n => format!("{n} folders inside those of classes, such as {first}, are taken for single objects"),
    })
}
