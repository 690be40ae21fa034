//! `tessera generate …`: making data.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tessera_core::data::scenes::compositions::CompositionOptions;
use tessera_core::data::scenes::symmetries::SymmetryOptions;
use tessera_core::data::toys::{ToyFormat, ToyOptions};
use tessera_core::error::display;

use super::Done;
use super::args::{self, Compositions, Objects, Symmetries, Toys};
use super::output::Output;
use crate::session::Session;
use crate::session::generate::ObjectSource;

pub(super) fn toys(session: &Session, arguments: &Toys, out: &Output) -> Result<Done> {
    let format = match arguments.format {
        args::ToyFormat::Folders => ToyFormat::Folders,
        args::ToyFormat::NorbNames => ToyFormat::NorbNames,
        args::ToyFormat::Mat => ToyFormat::Mat,
    };
    let (instances, views, side, stereo, seed) = (arguments.instances, arguments.views, arguments.side, arguments.stereo, session.seed());
    let options = if arguments.sample {
        ToyOptions { seed, ..ToyOptions::sample() }
    } else {
        ToyOptions { instances, views, side, stereo, format, seed, ..ToyOptions::default() }
    };
    let report = out.watched(session.progress(), || session.generate_toys(&options, &arguments.to))?;
    Ok(made(report.images, report.bytes, &arguments.to, out))
}

pub(super) fn compositions(session: &Session, arguments: &Compositions, out: &Output) -> Result<Done> {
    let Compositions { to, objects, categories, train, test, side } = arguments;
    let options = CompositionOptions { train: *train, test: *test, side: *side, categories: categories.clone(), seed: session.seed() };
    let report = out.watched(session.progress(), || session.generate_compositions(&source(objects), &options, to))?;
    Ok(made(report.images, report.bytes, to, out))
}

pub(super) fn symmetries(session: &Session, arguments: &Symmetries, out: &Output) -> Result<Done> {
    let Symmetries { to, objects, train, test, side } = arguments;
    let options = SymmetryOptions { train: *train, test: *test, side: *side, seed: session.seed() };
    let report = out.watched(session.progress(), || session.generate_symmetries(&source(objects), &options, to))?;
    Ok(made(report.images, report.bytes, to, out))
}

fn source(objects: &Objects) -> ObjectSource<'_> {
    match &objects.objects {
        Some(path) => ObjectSource::Files { path, masks: objects.masks.as_deref() },
        None => ObjectSource::Toys { instances: objects.instances, views: objects.views },
    }
}

fn made(images: u64, bytes: u64, to: &Path, out: &Output) -> Done {
    out.answer(
        || json!({"images": images, "bytes": bytes}),
        || format!("Made {images} images ({:.1} MB) in {}", bytes as f64 / 1e6, display(to)),
    );
    Done::Whole
}
