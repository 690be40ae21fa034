//! Recognising images by all labelled images of a collection: the maxima of each shard, which join
//! to those of one machine with all of them.

use rayon::prelude::*;

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::ckm::class_terms::ClassTerms;
use crate::ckm::element::Elements;
use crate::ckm::parts::Parts;
use crate::ckm::{Ckm, CkmOptions, Example, Scores, Without};
use crate::collection::{ImageHash, Shard};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;

/// An image to be recognised.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedImage {
    /// Its elements, as [`Elements::to_bytes`].
    pub elements: Vec<u8>,
    /// Where an image of the collection is judged: itself, which is left out.
    pub itself: Option<ImageHash>,
    /// Its object, all images of which are left out.
    pub object: Option<String>,
}

/// The images to be recognised.
#[derive(Clone, Debug, PartialEq)]
pub struct RecognitionJob {
    /// What elements are cut and compared by.
    pub options: CkmOptions,
    /// The images.
    pub images: Vec<AskedImage>,
}

/// What an image was recognised as.
#[derive(Clone, Debug, PartialEq)]
pub struct RecognitionAnswer {
    /// The names of all classes, in order.
    pub classes: Vec<String>,
    /// Their scores.
    pub scores: Scores,
}

impl RecognitionJob {
    fn queries(&self) -> Result<Vec<Elements>> {
        let read = |image: &AskedImage| Elements::from_bytes(&image.elements, &self.options);
        let wrong = || Error::value("elements", "those of images, cut by the collection's options", "other bytes");
        self.images.iter().map(read).collect::<Option<_>>().ok_or_else(wrong)
    }

    /// The answers, one for each image, from the joined state.
    ///
    /// # Errors
    /// As [`Ckm::scores_of`].
    pub fn answers(&self, state: &[Parts], terms: &ClassTerms) -> Result<Vec<RecognitionAnswer>> {
        let machine = Ckm::new(self.options.clone())?;
        let queries = self.queries()?;
        if queries.len() != state.len() {
            return Err(Error::value("state", format!("one part for each of {} images", queries.len()), state.len().to_string()));
        }
        let answer = |(query, parts): (&Elements, &Parts)| {
            let (classes, scores) = machine.scores_of(parts, query, terms)?;
            Ok(RecognitionAnswer { classes, scores })
        };
        queries.par_iter().zip(state).map(answer).collect()
    }
}

impl ShardJob for RecognitionJob {
    type State = Vec<Parts>;
    const NAME: &'static str = "recognition";

    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<Vec<Parts>> {
        let shard = shards[0];
        if *shard.options() != self.options {
            return Err(Error::value("shard", "elements cut by the collection's options", "others"));
        }
        let queries = self.queries()?;
        let mut machine = Ckm::new(self.options.clone())?;
        let known = shard.elements()?.into_iter().zip(shard.classes()?).zip(shard.objects()?).zip(0..);
        for (((elements, class), group), id) in known {
            if let Some(class) = class {
                machine.add(&class, Example { id: ItemId(id), name: String::new(), group, elements: elements.into() })?;
            }
        }
        let hashes = shard.hashes();
        progress.begin("Recognising", queries.len() as u64);
        let parts = |(query, image): (&Elements, &AskedImage)| {
            progress.step()?;
            let left_out = machine.examples().map(|(_, example)| example).filter(|example| {
                image.itself == Some(hashes[example.id.0 as usize]) || image.object.is_some() && image.object == example.group
            });
            let left_out = left_out.map(|example| example.id).collect();
            Ok(machine.parts(query, Without::Images(&left_out), |id| hashes[id.0 as usize].0))
        };
        queries.par_iter().zip(&self.images).map(parts).collect()
    }

    fn join(&self, one: Vec<Parts>, other: Vec<Parts>) -> Result<Vec<Parts>> {
        one.into_iter().zip(other).map(|(one, other)| one.join(other)).collect()
    }
}

impl Stored for AskedImage {
    fn write(&self, out: &mut Writer) {
        out.put(&self.elements);
        out.put(&self.itself);
        out.put(&self.object);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { elements: from.get()?, itself: from.get()?, object: from.get()? })
    }
}

impl Stored for RecognitionJob {
    fn write(&self, out: &mut Writer) {
        out.options(&self.options);
        out.put(&self.images);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let options: CkmOptions = from.options()?;
        options.check()?;
        Ok(Self { options, images: from.get()? })
    }
}
