//! The sums by which the recogniser compares whole images, kept in the cache: making them reads
//! every training image, so they are not made anew whenever the library is opened.

use super::Library;
use super::event::EventId;
use super::features::name_by_elements;
use crate::bytes::Writer;
use crate::ckm::{Ckm, Example};
use crate::error::Result;
use crate::hash::hash128;
use crate::ids::ClassId;

/// What the names of kept sums begin with; other features of whole images want another number.
const SUMS: &str = "whole-sums-1-";
/// Recognisers whose sums are kept: with learned features and without.
const KEPT: usize = 2;
/// Training images from which on sums are kept: those of fewer are made in half a second.
const FROM: usize = 1000;

impl Library {
    /// Keeps the sums by which the recogniser compares whole images, if it has made some or they
    /// have changed, and they are of 1,000 images or more. O(training images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn keep_sums(&mut self) -> Result<()> {
        if self.models.are_behind() || !self.cache.keeps() {
            return Ok(());
        }
        let recogniser = &self.models.recogniser;
        if recogniser.ckm().examples().count() < FROM {
            return Ok(());
        }
        let machines = [Some(recogniser.ckm()), recogniser.weighted()];
        let Some(ckm) = machines.into_iter().flatten().find(|ckm| ckm.has_whole_sums()) else { return Ok(()) };
        let images = self.images_by_elements(ckm).filter(|images| Some(*images) != self.sums_kept);
        let Some((images, sums)) = images.zip(ckm.whole_sums()) else { return Ok(()) };
        let mut bytes = images.to_le_bytes().to_vec();
        bytes.extend(sums);
        self.cache.put_checkpoint(&self.sums_name(), self.state.last_event().unwrap_or(EventId(0)), bytes)?;
        self.cache.drop_checkpoints(SUMS, KEPT)?;
        self.sums_kept = Some(images);
        Ok(())
    }

    /// Gives the recogniser the sums that were kept of these images. What cannot be read is made
    /// again when it is needed. O(training images).
    pub(super) fn read_sums(&mut self) {
        self.sums_kept = None;
        let Ok(Some((_, bytes))) = self.cache.checkpoint(&self.sums_name()) else { return };
        let recogniser = &self.models.recogniser;
        let Some((images, sums)) = bytes.split_first_chunk() else { return };
        let images = u128::from_le_bytes(*images);
        if self.images_by_elements(recogniser.ckm()) == Some(images) {
            // Machines with learned weights are made of this one later, and share them.
            self.sums_kept = recogniser.ckm().take_whole_sums(sums).then_some(images);
        }
    }

    fn sums_name(&self) -> String {
        name_by_elements(SUMS, &self.options, &self.extraction)
    }

    /// A hash of all that the sums depend on: the images, the classes they have in the machine, and
    /// of which kinds they have elements, for cells of a network may come later. `None` where the
    /// machine holds an image that the library does not.
    fn images_by_elements(&self, ckm: &Ckm) -> Option<u128> {
        let of = |(class, example): (ClassId, &Example)| {
            let hash = self.state.image(example.id)?.content?.hash;
            Some((hash, class, example.elements.counts().map(|count| count > 0).collect::<Vec<_>>()))
        };
        let mut images = ckm.examples().map(of).collect::<Option<Vec<_>>>()?;
        images.sort_unstable();
        let mut all = Writer::default();
        all.put(&ckm.classes().iter().map(|class| class.name.clone()).collect::<Vec<_>>());
        for (hash, class, kinds) in images {
            all.put(&hash.0);
            all.count(class.index());
            all.put(&kinds);
        }
        Some(hash128(&all.finish()))
    }
}
