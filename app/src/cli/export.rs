//! `tessera export`.

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::library::import::hold;

use super::Done;
use super::librarian::{Librarian, count};
use super::library_args::{Export, ExportContent, Format};
use crate::command;
use crate::session::export::{ExportOptions, ExportSize};
use crate::session::models;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Export) -> Result<Done> {
    let (session, out, to) = (librarian.session, librarian.out, arguments.to.as_path());
    let by_ending = match to.extension().and_then(|ending| ending.to_str()) {
        Some("tsv") => Some(Format::Tsv),
        Some("jsonl") => Some(Format::Jsonl),
        _ => None,
    };
    let format = match arguments.format.or(by_ending) {
        None | Some(Format::Csv) => command::ExportFormat::Csv,
        Some(Format::Tsv) => command::ExportFormat::Tsv,
        Some(Format::Jsonl) => command::ExportFormat::JsonLines,
        Some(Format::Coco) => command::ExportFormat::Coco,
        Some(Format::Flickr8k) => command::ExportFormat::Flickr8k,
        Some(Format::Sidecar) => command::ExportFormat::Sidecar,
        Some(Format::ClassFolders) if arguments.links => command::ExportFormat::ClassLinks,
        Some(Format::ClassFolders) => command::ExportFormat::ClassFolders,
        Some(Format::NorbNames) => command::ExportFormat::NorbNames,
    };
    let what = match arguments.what {
        ExportContent::Labels => Some(command::Export::Labels(format)),
        ExportContent::Captions => Some(command::Export::Captions(format)),
        ExportContent::Predictions => Some(command::Export::Predictions(format)),
        ExportContent::Events => Some(command::Export::Events),
        ExportContent::Model => None,
    };
    let name = what.map_or("model", command::Export::noun);
    let expected = match (arguments.what, arguments.format) {
        (ExportContent::Events, Some(given)) if given != Format::Jsonl => Some("jsonl for events"),
        (ExportContent::Model, Some(_)) => Some("left out for a model"),
        _ => None,
    };
    if let Some(expected) = expected {
        return Err(Error::Option { name: "--format", found: format.name().into(), expected }.into());
    }
    let is_sorted = what.is_some_and(command::Export::is_sorted);
    if arguments.links && !is_sorted {
        let expected = "given with `labels --format class-folders` only";
        return Err(Error::Option { name: "--links", found: format!("given with --format {}", format.name()), expected }.into());
    }
    for (name, is_given, is_wrong, expected) in [
        ("--without-names", arguments.without_names, what.is_some(), "given with `model` only"),
        ("--csv-safe", arguments.csv_safe, what.is_none(), "left out for a model"),
    ] {
        if is_given && is_wrong {
            return Err(Error::Option { name, found: "given".into(), expected }.into());
        }
    }
    let options = ExportOptions { dry_run: arguments.dry_run, replaces: true, csv_safe: arguments.csv_safe };
    let library = librarian.open(&arguments.library)?;
    let written = librarian.with_shared(library, |library| {
        let Some(what) = what else {
            let model = models::model(&hold(library))?;
            let model = if arguments.without_names { model.without_names()? } else { model };
            if arguments.dry_run {
                models::check_model_place(to, true)?;
            } else {
                models::save_model(&model, to, true, session.progress())?;
            }
            return Ok(ExportSize { n: 1, ..ExportSize::default() });
        };
        Ok(out.watched(session.progress(), || session.export(library, what, to, options))?)
    })?;
    let verb = if arguments.dry_run { "Would write" } else { "Wrote" };
    out.answer(
        || {
            let mut answer = json!({"written": written.n, "dry_run": arguments.dry_run, "to": to.to_string_lossy()});
            if is_sorted {
                answer["folders"] = json!(written.folders);
                answer["bytes"] = json!(written.bytes);
            }
            if is_sorted || written.missing > 0 {
                answer["missing"] = json!(written.missing);
            }
            answer
        },
        || {
            let folders = written.folders.iter().filter(|_| arguments.dry_run).map(|(folder, n)| format!("{n:>6}  {folder}\n"));
            let missing = match written.missing {
                0 => String::new(),
                n => format!("\n{} left out: their files are not there, or hold other pictures now", count(n, "labelled image")),
            };
            format!("{}{verb} {} to {}{missing}", folders.collect::<String>(), count(written.n, name), display(to))
        },
    );
    if written.has_paths() {
        out.note("Classes that are paths lie in folders inside folders: `tessera import` reads them with --labels folder-paths.");
    }
    Ok(Done::Whole)
}
