//! The recognised image looked at again: its best virtual instance as a collage, and its scores
//! without one more training image.

use std::collections::BTreeSet;

use tessera_core::ckm::Without;
use tessera_core::ids::ItemId;
use tessera_core::{Error, Result};

use super::super::view::WithoutImage;
use super::answer::Drawn;
use crate::session::Session;
use crate::session::collage::Collage;

/// Paints the best virtual instance; `None` for an image without pieces.
pub(super) fn collage(session: &Session, drawn: &Drawn) -> Option<Collage> {
    let find = |id, name: &str| drawn.find(id, name);
    drawn.explanations.first().map(|best| session.draw_collage(&drawn.model, &drawn.answer, best, &find))
}

/// The scores of the recognised image without one more training image.
///
/// # Errors
/// [`Error::Value`] when the model has no such image.
pub(super) fn without(session: &Session, drawn: &Drawn, image: ItemId) -> Result<WithoutImage> {
    let ckm = &drawn.model.ckm;
    let own = drawn.item.and_then(|id| ckm.examples().find(|(_, example)| example.id == id)).map(|(_, example)| example);
    let already = own.map_or(Without::Nothing, |own| own.without_itself());
    let Some((class, example)) = ckm.examples().find(|(_, example)| example.id == image) else {
        return Err(Error::value("image", "a training image", format!("#{}, which is none", image.0)));
    };
    let left_out: BTreeSet<ItemId> = ckm.examples().filter(|(_, e)| e.id == image || already.leaves_out(e)).map(|(_, e)| e.id).collect();
    let name = |class: tessera_core::ids::ClassId| ckm.classes()[class.index()].name.clone();
    let ranking = session.on_threads(|| ckm.scores(&drawn.answer.elements, Without::Images(&left_out))).ranking();
    Ok(WithoutImage {
        image,
        name: example.name.clone(),
        label: name(class),
        was_left_out: already.leaves_out(example),
        scores: ranking.into_iter().map(|(class, score)| (name(class), score)).collect(),
    })
}
