//! `tessera tune`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tessera_core::ckm::accuracy::Estimate;
use tessera_core::ckm::tune::{RacedSetting, Tuning};
use tessera_core::ckm::{CkmOptions, ElementKind, ElementSource, Search};
use tessera_core::error::display;
use tessera_core::{Error, envelope};

use super::args::Tune;
use super::librarian::{Librarian, count};
use super::output::Failures;
use super::train::{labelled, machine};
use super::{AlreadyPrinted, Done, Usage};
use crate::session::library::what_is;
use crate::session::tune::Tuned;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Tune) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    if what_is(&arguments.folder).has_images() {
        let expected = "a folder of images: the one that the library or collection was filled from";
        return Err(Error::Option { name: "FOLDER", found: "a library or collection".into(), expected }.into());
    }
    if let Some(folder) = arguments.write.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()) {
        // Before the long part begins.
        fs::read_dir(folder).map_err(Error::io("write in", folder))?;
    }
    let base = machine(session, &arguments.elements, arguments.options.as_deref())?;
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    let tuned = out.watched(session.progress(), || session.tune(&arguments.folder, &labelled(arguments.labels), &base, arguments.steps));
    let tuned = tuned.map_err(|error| match error {
        Error::Option { name: "steps", .. } => too_few_steps(arguments.steps, base.kinds.len()).into(),
        other => anyhow::Error::from(other),
    })?;
    let Tuned { tuning, data, failed } = tuned;
    out.note(&data.layout.to_string());
    failures.skipped(&data.skipped)?;
    for failed in failed {
        failures.file(&failed.path, failed.error)?;
    }
    let text = ron::ser::to_string_pretty(&tuning.best().options, ron::ser::PrettyConfig::default());
    let text = text.context("cannot write the options down")?;
    if let Some(to) = &arguments.write {
        envelope::replace(to, text.as_bytes())?;
    }
    let done = failures.finish(tuning.best().judged)?;
    out.answer(|| answer(&tuning, &text), || words(&tuning, arguments));
    if tuning.is_cancelled { Err(AlreadyPrinted(Error::Cancelled).into()) } else { Ok(done) }
}

/// Judged images below which no standard error is told.
const FEW: usize = 10;
/// Races that share the steps equally.
const RACES: usize = 7;
/// Images by which the best must have been judged for its accuracy to mean anything.
const ENOUGH: usize = 64;

/// The refusal of steps with which not one image could be judged by all kinds of elements.
fn too_few_steps(steps: u64, kinds: usize) -> Usage {
    let (least, enough) = (RACES * kinds, RACES * kinds * ENOUGH);
    Usage(format!(
        "--steps is {steps}, but it must be {least} or more; {enough} judge {ENOUGH} images, from which the result means something"
    ))
}

fn answer(tuning: &Tuning, options: &str) -> Value {
    let best = tuning.best();
    let setting = |tried: &RacedSetting| {
        json!({"setting": named(&tried.options, tried.search), "accuracy": tried.accuracy.value, "deviation": tried.accuracy.spread,
            "held_out": tried.judged, "behind": tried.behind.value, "behind_deviation": tried.behind.spread, "dropped": tried.is_dropped, "values": tried.values, "test_ms_per_image": tried.ms})
    };
    json!({"tried": tuning.tried.len(), "steps": tuning.steps, "best": named(&best.options, best.search),
        "held_out_accuracy": best.accuracy.value, "deviation": best.accuracy.spread, "held_out": best.judged,
        "options": options, "search": search(best.search), "cancelled": tuning.is_cancelled,
        "settings": tuning.tried.iter().map(setting).collect::<Vec<_>>()})
}

/// Settings that the table shows.
const SHOWN: usize = 16;

/// A table of the settings that are left, the best first, and how to use it.
fn words(tuning: &Tuning, arguments: &Tune) -> String {
    let best = tuning.best();
    let mut left: Vec<(usize, &RacedSetting)> = tuning.tried.iter().enumerate().filter(|(_, tried)| !tried.is_dropped).collect();
    left.sort_by(|(i, a), (j, b)| {
        let is_best = |i: &usize| *i != tuning.best;
        is_best(i).cmp(&is_best(j)).then(b.accuracy.value.total_cmp(&a.accuracy.value)).then(i.cmp(j))
    });
    let mut text = "right %       behind by     images  ms an image  work  setting".to_owned();
    for (i, tried) in left.iter().take(SHOWN) {
        let RacedSetting { accuracy, judged, ms, .. } = tried;
        let work = 100.0 * tried.values / best.values.max(1.0);
        let name = named(&tried.options, tried.search);
        let of = |share: &Estimate| match judged {
            0..FEW => format!("{:.1}", 100.0 * share.value),
            _ => format!("{:.1} +- {:.1}", 100.0 * share.value, 100.0 * share.spread),
        };
        let (share, behind) = (of(accuracy), if *i == tuning.best { String::new() } else { of(&tried.behind) });
        let _ = write!(text, "\n{share:<12}  {behind:<12} {judged:>7} {ms:>12.1} {work:>4.0}%  {name}");
    }
    if left.len() > SHOWN {
        let _ = write!(text, "\n... and {} more, which --json lists", left.len() - SHOWN);
    }
    let dropped = tuning.tried.len() - left.len();
    let _ = write!(
        text,
        "\n{} settings were tried in {} steps, {dropped} of them were significantly worse than another.{}",
        tuning.tried.len(),
        tuning.steps,
        if tuning.is_cancelled { " It was cancelled: the first line is the best so far." } else { " The first line is the best." }
    );
    if best.judged < ENOUGH {
        let images = count(best.judged, "image");
        let _ = write!(text, "\nIt was judged by {images} alone, which says little: more --steps judge more, if the folder has more.");
    }
    let folder = display(&arguments.folder);
    let _ = match &arguments.write {
        Some(to) => {
            write!(text, "\nUse it: tessera train {folder} --options {}{}", display(to), flag(best.search))
        }
        None => write!(text, "\n--write FILE keeps its options for `tessera train {folder} --options FILE{}`.", flag(best.search)),
    };
    text
}

fn search(search: Search) -> &'static str {
    if search == Search::Exact { "exact" } else { "shortlist" }
}

fn flag(by: Search) -> String {
    if by == Search::Exact { String::new() } else { format!(" --search {}", search(by)) }
}

/// A setting in words: what races change.
fn named(options: &CkmOptions, by: Search) -> String {
    let kind = |kind: &ElementKind| {
        let elements = match &kind.source {
            ElementSource::Orb(features) => format!("count {}{}", features.count, if features.upright { "" } else { " turned" }),
            ElementSource::Hog(features) => format!("cell {}", features.cell),
            ElementSource::Colour(features) => format!("grid {}", features.grid),
            ElementSource::Network(features) => format!("grid {}", features.grid),
            ElementSource::Encoder(features) => format!("grid {} of {}", features.grid, features.name),
            _ => "the caller's".to_owned(),
        };
        let pairs = if options.neighbours == 0 { String::new() } else { format!(", pairs {}", kind.kernel.pair_bonus) };
        format!("{} {} ({elements}, place {}{pairs})", kind.source.name(), kind.kernel.weight, kind.kernel.cost)
    };
    let kinds: Vec<String> = options.kinds_with_pieces().map(|(_, one)| kind(one)).collect();
    let pairs = if options.neighbours == 0 { ", no pairs" } else { "" };
    format!("{}; side {}{pairs}, {}", kinds.join(", "), options.side, search(by))
}
