//! Reports on the recogniser of a library, which the library keeps.

use serde::{Deserialize, Serialize};

use tessera_core::eval::report::Report;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;

use super::kept_as::kept_as;
use super::library_weights::weight_choice;
use crate::command::WeightChoice;

/// A report as a library stores it.
#[derive(Serialize, Deserialize)]
struct Kept {
    event: Option<EventId>,
    report: Report,
}

/// The name under which a library keeps the last report on its recogniser with these weights.
fn name(library: &Library, weights: WeightChoice) -> String {
    let name = match weights {
        WeightChoice::Uniform => "report",
        WeightChoice::Learned => "report_weights",
    };
    kept_as(library, name)
}

/// The last report on a library's recogniser as it is in use, with the event after which it was
/// made; none if there is none that can be read.
pub fn last_report(library: &Library) -> Option<(Option<EventId>, Report)> {
    kept_report(library, weight_choice(library))
}

/// The last report on a library's recogniser with these weights, as [`last_report`].
pub(super) fn kept_report(library: &Library, weights: WeightChoice) -> Option<(Option<EventId>, Report)> {
    let kept: Kept = serde_json::from_str(&library.result(&name(library, weights)).ok()??).ok()?;
    Some((kept.event, kept.report))
}

/// Keeps a report on a library's recogniser with these weights. One that cannot be kept is made
/// again when it is next asked for.
pub(super) fn keep_report(library: &Library, weights: WeightChoice, event: Option<EventId>, report: &Report) {
    let kept = Kept { event, report: report.clone() };
    let _ = serde_json::to_string(&kept).map(|text| library.keep_result(&name(library, weights), &text));
}

/// Lets the reports that a library keeps count as made before its last event.
pub(super) fn outdate(library: &Library) {
    for weights in WeightChoice::ALL {
        if let Some((_, report)) = kept_report(library, weights) {
            keep_report(library, weights, None, &report);
        }
    }
}

/// Whether a recogniser with uniform weights, `images` of these classes, in order, should be judged
/// with no request: with two classes, when it never was, has others than when it was, or twice as
/// many images. The terms of classes, which make up for their sizes, are then missing or wrong.
/// Learned weights are learned anew on request alone.
pub fn is_judging_due<'a>(report: Option<&Report>, classes: impl ExactSizeIterator<Item = &'a str> + Clone, images: usize) -> bool {
    classes.len() >= 2 && report.is_none_or(|report| !classes.eq(report.classes.iter().map(String::as_str)) || images >= 2 * report.images)
}
