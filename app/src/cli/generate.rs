//! `tessera generate …`: making data.

use anyhow::Result;
use serde_json::json;
use tessera_core::data::toys::{ToyFormat, ToyOptions};
use tessera_core::error::display;

use super::Done;
use super::args::{self, Toys};
use super::output::Output;
use crate::session::Session;

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
    out.answer(
        || json!({"images": report.images, "bytes": report.bytes}),
        || format!("Made {} images ({:.1} MB) in {}", report.images, report.bytes as f64 / 1e6, display(&arguments.to)),
    );
    Ok(Done::Whole)
}
