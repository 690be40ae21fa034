//! Exports of a library: its labels and captions as rows, its recogniser as a model.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::state::{Image, State};
use crate::ckm::confidence::Calibration;
use crate::ckm::model::{Metrics, RecogniserModel};
use crate::ckm::{Ckm, Example};
use crate::data::tables::TableRow;
use crate::error::Result;
use crate::ids::{ClassId, ItemId};

/// A row for each image that is there: its full path, with its label and captions where they are
/// asked for. Images without any of what is asked for are left out. Paths that are not text are
/// given with replacement characters.
pub(super) fn rows(state: &State, labels: bool, captions: bool) -> Vec<TableRow> {
    let row = |image: &Arc<Image>| {
        let path = state.path_of(image)?.to_string_lossy().into_owned();
        let label = image.label().filter(|_| labels).map(str::to_owned);
        let captions: Vec<String> = if captions { image.captions.iter().map(|caption| caption.text.clone()).collect() } else { Vec::new() };
        (label.is_some() || !captions.is_empty()).then_some(TableRow { path, label, captions })
    };
    state.images().filter_map(row).collect()
}

/// A machine as a model that can be saved and used elsewhere, its images named by their paths from
/// the root when there is one root, otherwise by their full paths, and numbered in the order in
/// which they came.
pub(super) fn model(state: &State, ckm: &Ckm, calibration: Calibration, metrics: Metrics) -> Result<RecogniserModel> {
    let roots: Vec<_> = state.roots().collect();
    let only = match roots.as_slice() {
        [(_, root)] => Some(root.path.clone()),
        _ => None,
    };
    let mut named = Ckm::new(ckm.options().clone())?;
    let mut examples: Vec<(ClassId, &Example)> = ckm.examples().collect();
    examples.sort_by_key(|(_, example)| example.id);
    for ((class, example), number) in examples.into_iter().zip(1..) {
        let image = state.image(example.id);
        let name = match (&only, image, image.and_then(|image| state.path_of(image))) {
            (None, _, Some(path)) => path.to_string_lossy().into_owned(),
            (_, Some(image), _) => image.name(),
            _ => example.name.clone(),
        };
        named.add(&ckm.classes()[class.index()].name, Example { id: ItemId(number), name, ..Example::clone(example) })?;
    }
    let root = only.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(RecogniserModel { ckm: Arc::new(named), calibration, metrics, root })
}

/// The absolute paths that a path may stand for. A library knows a link by its own name in the
/// canonical path of its folder.
pub fn spellings(path: &Path) -> impl Iterator<Item = PathBuf> {
    let in_folder = |path: &Path| Some(std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
    let full = std::path::absolute(path).ok();
    let beside = full.as_deref().and_then(in_folder);
    full.into_iter().chain(beside).chain(std::fs::canonicalize(path).ok())
}

/// The images by the full paths of their files, removed ones too. Of two images of one path it is
/// the first. O(files).
pub(super) fn by_path(state: &State) -> HashMap<PathBuf, ItemId> {
    let mut ids = HashMap::new();
    for image in state.records() {
        for place in &image.places {
            ids.entry(state.full_path(place)).or_insert(image.id);
        }
    }
    ids
}
