//! The views of a library's images, as the advisers use them.

use crate::advise::{Projector, Recognised, Views, recognised};
use crate::ckm::{Ckm, Scores};
use crate::ids::ClassId;
use crate::library::state::Image;
use crate::library::{Glimpse, Library};
use crate::picture::appearance::VALUES;
use crate::text::hashing::{Stemming, counts};

/// Makes views of images: by what the network sees in them, or by their appearances.
pub(super) struct ViewMaker {
    pub(super) is_learned: bool,
    projector: Projector,
}

impl ViewMaker {
    pub(super) fn new(is_learned: bool, seed: u64) -> Self {
        Self { is_learned, projector: Projector::new(dimension(is_learned), seed) }
    }

    /// What suits a library now.
    pub(super) fn of(library: &Library, seed: u64) -> Self {
        Self::new(library.has_glimpses(), seed)
    }

    /// Values of a view.
    pub(super) fn dimension(&self) -> usize {
        dimension(self.is_learned)
    }

    /// The views of an image, without the recogniser's opinions; none while what they are made of
    /// is not in memory.
    pub(super) fn views(&self, library: &Library, image: &Image) -> Option<Views> {
        let captions: Vec<&str> = image.captions.iter().map(|caption| caption.text.as_str()).collect();
        let values = if self.is_learned { library.glimpse(image)?.view() } else { library.appearance(image)?.values() };
        Some(self.projector.views(values, counts(&captions.join(" "), Stemming::None)))
    }
}

fn dimension(is_learned: bool) -> usize {
    if is_learned { Glimpse::VIEW } else { VALUES }
}

/// The recogniser's opinions on an image by its scores and values of whole images, of which there
/// may be none, with classes numbered by their positions in `classes`.
pub(super) fn opinions(ckm: &Ckm, scores: &Scores, whole: &[f64], classes: &[String]) -> Recognised {
    let number = |own: ClassId| {
        let name = &ckm.classes().get(own.index())?.name;
        classes.iter().position(|known| known == name).map(|at| ClassId(at as u32))
    };
    recognised(scores, whole, number)
}
