//! What is given out of a library: its labels, captions and events as rows, its recogniser as a model.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::Library;
use super::event::{ContentHash, Event};
use super::features::FeatureStore;
use super::state::Image;
use crate::ckm::confidence::Calibration;
use crate::ckm::element::Elements;
use crate::ckm::model::{Metrics, RecogniserModel};
use crate::ckm::{Ckm, Example};
use crate::data::tables::TableRow;
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;

impl Library {
    /// A row for each image that is there: its full path, with its label and captions where they are asked for. Images
    /// without any of what is asked for are left out. Paths that are not text are given with replacement characters.
    pub fn rows(&self, labels: bool, captions: bool) -> Vec<TableRow> {
        let row = |image: &Arc<Image>| {
            let path = self.state.path_of(image)?.to_string_lossy().into_owned();
            let label = image.label().filter(|_| labels).map(str::to_owned);
            let captions: Vec<String> =
                if captions { image.captions.iter().map(|caption| caption.text.clone()).collect() } else { Vec::new() };
            (label.is_some() || !captions.is_empty()).then_some(TableRow { path, label, captions })
        };
        self.state.images().filter_map(row).collect()
    }

    /// Every event, the oldest first.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; [`crate::Error::Data`] when one is damaged.
    pub fn events(&self) -> Result<Vec<Event>> {
        self.store.events_after(0)
    }

    /// The fingerprints of what was forgotten and is not taken in again.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn forgotten(&self) -> Result<HashSet<ContentHash>> {
        self.store.forgotten()
    }

    /// The recogniser as a model that can be saved and used elsewhere. Its images are named by their paths from the root
    /// when there is one root, otherwise by their full paths, and numbered in the order in which they came: what was
    /// forgotten leaves no gap.
    ///
    /// # Errors
    /// As [`Ckm::new`].
    pub fn model(&self, calibration: Calibration, metrics: Metrics) -> Result<RecogniserModel> {
        let roots: Vec<_> = self.state.roots().collect();
        let only = match roots.as_slice() {
            [(_, root)] => Some(root.path.clone()),
            _ => None,
        };
        let ckm = self.recogniser.ckm();
        let mut named = Ckm::new(ckm.options().clone())?;
        let mut examples: Vec<(ClassId, &Example)> = ckm.examples().collect();
        examples.sort_by_key(|(_, example)| example.id);
        for ((class, example), number) in examples.into_iter().zip(1..) {
            let name = match (&only, self.state.image(example.id), self.path(example.id)) {
                (None, _, Some(path)) => path.to_string_lossy().into_owned(),
                (_, Some(image), _) => image.name(),
                _ => example.name.clone(),
            };
            named.add(&ckm.classes()[class.index()].name, Example { id: ItemId(number), name, ..Example::clone(example) })?;
        }
        let root = only.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(RecogniserModel { ckm: Arc::new(named), calibration, metrics, root })
    }

    /// The elements of images, of those that have any kept or a file; the recogniser's own need not be asked for here.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn elements_of(&self, images: &[ItemId]) -> Result<Vec<(ItemId, Elements)>> {
        let records: Vec<&Image> = images.iter().filter_map(|id| self.state.image(*id)).map(Arc::as_ref).collect();
        let options = self.recogniser.ckm().options();
        let features = FeatureStore { cache: &self.cache, decoder: &*self.decoder, options, version: &self.version };
        let found = features.of(&self.state, &records, &Progress::default())?;
        Ok(records.iter().zip(found).filter_map(|(image, elements)| Some((image.id, elements?))).collect())
    }

    /// Where an image is found.
    pub fn path(&self, image: ItemId) -> Option<PathBuf> {
        self.state.image(image).and_then(|image| self.state.path_of(image))
    }

    /// The images by the full paths of their files, removed ones too. Of two images of one path it is the first.
    ///
    /// # Complexity
    /// O(files).
    pub fn by_path(&self) -> HashMap<PathBuf, ItemId> {
        let mut ids = HashMap::new();
        for image in self.state.records() {
            for place in &image.places {
                ids.entry(self.state.full_path(place)).or_insert(image.id);
            }
        }
        ids
    }
}
