//! `tessera eval …`: experiments on plain files.

use anyhow::Result;
use serde_json::json;
use tessera_core::features::OrbOptions;

use super::args::{Eval, Features};
use super::output::Output;
use super::Done;
use crate::session::Session;

pub(super) fn run(session: &Session, command: Eval, out: &Output) -> Result<Done> {
    match command {
        Eval::Features(arguments) => features(session, &arguments, out),
    }
}

fn features(session: &Session, arguments: &Features, out: &Output) -> Result<Done> {
    let options = OrbOptions { count: arguments.features, ..OrbOptions::default() };
    options.check()?;
    let mut done = Done::Whole;
    let mut last = None;
    for path in &arguments.paths {
        // The first picture is seen twice: what is timed is a warm machine.
        if last.is_none() {
            last = session.features(path, &options).err();
        }
        match session.features(path, &options) {
            Ok(seen) => out.answer(
                || {
                    let keypoints: Vec<_> = seen.features.keypoints.iter().map(|k| json!([k.x, k.y, k.scale, k.angle, k.response])).collect();
                    let descriptors: Vec<_> = seen.features.descriptors.iter().map(ToString::to_string).collect();
                    json!({"path": seen.path.to_string_lossy(), "width": seen.size.0, "height": seen.size.1,
                        "keypoints": keypoints, "descriptors": descriptors, "ms": seen.ms})
                },
                || format!("{}: {} keypoints in {:.2} ms", tessera_core::error::display(&seen.path), seen.features.keypoints.len(), seen.ms),
            ),
            Err(error) => {
                out.complain(&error.to_string());
                done = Done::Partly;
            }
        }
    }
    Ok(done)
}
