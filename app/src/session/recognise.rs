//! Recognises images with a trained model, and explains the answers.

use std::path::{Path, PathBuf};

use tessera_core::Result;
use tessera_core::ckm::Without;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::explain::Explanation;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::unknown::{Standing, lead_of};
use tessera_core::ids::ClassId;
use tessera_core::picture::Picture;
use tessera_core::picture::decode::SIDE;

use super::Session;

/// A recognised image.
pub struct RecognisedImage {
    /// The file.
    pub path: PathBuf,
    /// The picture, shrunk to the size that the model needs.
    pub picture: Picture,
    /// Its elements.
    pub elements: Elements,
    /// Classes from the best down, with their scores.
    pub ranking: Vec<(ClassId, f64)>,
    /// The probability that the best is right, in 0..=1.
    pub confidence: f64,
    /// From what it is told whether the image looks like none of the classes.
    pub standing: Standing,
}

/// What a piece of a kind of elements is called, by the kind's short name.
pub fn kind_name(source: &str) -> &'static str {
    match source {
        "orb" => "corner",
        "hog" => "gradient block",
        "network" | "encoder" => "cell",
        _ => "colour square",
    }
}

impl Session {
    /// Recognises one image.
    ///
    /// # Errors
    /// As [`tessera_core::picture::Decoder::decode`].
    pub fn recognise(&self, model: &RecogniserModel, path: &Path) -> Result<RecognisedImage> {
        self.recognise_picture(model, path, self.picture(path, SIDE)?, Without::Nothing)
    }

    /// Recognises pixels by the machine without the training images in `without`; `path` is the
    /// name of the answer.
    ///
    /// # Errors
    /// Only those of options that the machine's construction has refused already.
    pub fn recognise_picture(
        &self,
        model: &RecogniserModel,
        path: &Path,
        picture: Picture,
        without: Without<'_>,
    ) -> Result<RecognisedImage> {
        let elements = self.pool.install(|| model.ckm.elements(&picture))?;
        Ok(self.recognise_elements(model, path, (picture, elements), without))
    }

    /// As [`Session::recognise_picture`], for a picture whose elements are known.
    pub fn recognise_elements(
        &self,
        model: &RecogniserModel,
        path: &Path,
        (picture, elements): (Picture, Elements),
        without: Without<'_>,
    ) -> RecognisedImage {
        self.pool.install(|| {
            let scores = model.ckm.scores(&elements, without);
            let confidence = if elements.is_empty() { scores.prior() } else { model.calibration.confidence(&scores) };
            let novelty = model.metrics.novelty.and_then(|_| model.ckm.novelty(&elements, without));
            let standing = Standing { lead: lead_of(&scores), novelty };
            RecognisedImage { path: path.to_owned(), picture, elements, ranking: scores.ranking(), confidence, standing }
        })
    }

    /// Explains the scores of the best class and of the runner-up, in that order.
    pub fn explain(&self, model: &RecogniserModel, answer: &RecognisedImage, without: Without<'_>) -> Vec<Explanation> {
        let classes: Vec<ClassId> = answer.ranking.iter().take(2).map(|(class, _)| *class).collect();
        self.pool.install(|| model.ckm.explain(&answer.elements, without, &classes))
    }

    /// The picture in an image file, at most `side` pixels on its longer side.
    ///
    /// # Errors
    /// As [`tessera_core::picture::Decoder::decode`].
    pub fn picture(&self, path: &Path, side: u32) -> Result<Picture> {
        self.decoder.decode(path, side, &self.progress)
    }
}
