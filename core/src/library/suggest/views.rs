//! The views of a library's images, as the advisers use them.

use crate::advise::{Opinion, Projector, Views, recognised};
use crate::ckm::element::Elements;
use crate::ckm::{Ckm, Without};
use crate::ids::ClassId;
use crate::library::Library;
use crate::library::state::Image;
use crate::picture::appearance::VALUES;
use crate::text::hashing::{Stemming, counts};

/// Makes views of appearances.
pub(super) fn projector(seed: u64) -> Projector {
    Projector::new(VALUES, seed)
}

/// The views of an image, without the recogniser's opinion; none while its appearance is not in
/// memory.
pub(super) fn views(projector: &Projector, library: &Library, image: &Image) -> Option<Views> {
    let captions: Vec<&str> = image.captions.iter().map(|caption| caption.text.as_str()).collect();
    Some(projector.views(library.appearance(image)?.values(), counts(&captions.join(" "), Stemming::None)))
}

/// The recogniser's opinion on an image, with classes numbered by their positions in `classes`.
pub(super) fn opinion(ckm: &Ckm, elements: &Elements, without: Without<'_>, classes: &[String]) -> Opinion {
    let number = |own: ClassId| {
        let name = &ckm.classes().get(own.index())?.name;
        classes.iter().position(|known| known == name).map(|at| ClassId(at as u32))
    };
    recognised(&ckm.scores(elements, without), number)
}
