//! Recognise one image for the desk: the answer with everything that is shown of its reasons.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use image::RgbImage;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::explain::{Contribution, Explanation};
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::{Ckm, Without};
use tessera_core::error::display;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::library::Library;
use tessera_core::library::features::hash_file;
use tessera_core::library::import::hold;
use tessera_core::library::state::State;
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::{Picture, thumbnail};
use tessera_core::{Error, Result};

use super::super::view::{ClassReasons, ContributionRow, FirstLook, LeftOut, Piece, Recognition, Tile};
use crate::command::ImageQuery;
use crate::session::Session;
use crate::session::draw::winners;
use crate::session::models::live_recogniser;
use crate::session::pixels::Pixels;
use crate::session::recognise::{RecognisedImage, kind_name};

/// Pieces that are numbered on the pictures, in all.
const PIECES: usize = 20;

/// What the library that answers is called.
pub(super) const LIBRARY: &str = "this library";

/// Who answers.
pub(super) enum Answerer {
    /// The library that is open.
    Library(Arc<Mutex<Library>>),
    /// A model that was loaded, and its name.
    Model(Arc<RecogniserModel>, String),
}

/// What is kept of an answer to draw it again.
#[derive(Clone)]
pub(in super::super) struct Drawn {
    pub(super) model: RecogniserModel,
    pub(super) answer: Arc<RecognisedImage>,
    pub(super) explanations: Arc<Vec<Explanation>>,
    pub(super) state: Option<State>,
    /// The image of the library that was recognised, if it is one.
    pub(super) item: Option<ItemId>,
}

impl Drawn {
    /// Where a training image lies.
    pub(super) fn find(&self, id: ItemId, name: &str) -> PathBuf {
        let of_library = self.state.as_ref().and_then(|state| state.path_of(state.image(id)?));
        of_library.unwrap_or_else(|| Path::new(&self.model.root).join(name))
    }
}

/// What came of a recognition.
pub(super) enum Answer {
    /// An answer.
    Whole(Box<(Recognition, Drawn)>),
    /// A first guess was told; for the rest the machine is to be prepared ([`Ckm::prepare_by`]).
    Unprepared(Arc<Ckm>),
}

/// Recognises an image; `open` is the library that is open, whoever answers. `tell` is told at once
/// what is seen of it, and where the answer takes long a first guess.
///
/// # Errors
/// As [`tessera_core::picture::Decoder::decode`]; [`Error::Data`] when there is nothing to compare
/// it with.
pub(super) fn recognise(
    session: &Session,
    answerer: &Answerer,
    open: Option<&State>,
    query: &ImageQuery,
    tell: &dyn Fn(FirstLook),
) -> Result<Answer> {
    let (model, state, by, unlearned) = match answerer {
        Answerer::Library(library) => {
            let library = hold(library);
            (live_recogniser(&library), Some(library.state().clone()), LIBRARY.to_owned(), library.unlearned())
        }
        Answerer::Model(model, name) => (RecogniserModel::clone(model), None, name.clone(), None),
    };
    let kept = match (answerer, query) {
        (Answerer::Library(library), ImageQuery::Item(id)) => kept(&hold(library), *id),
        _ => None,
    };
    let (name, item, path, looked) = match kept {
        Some((id, path, looked)) => (display(&path), Some(id), Some(path), looked),
        None => {
            // A model from elsewhere is asked about images of the library that is open, too.
            let Pixels { name, item, path, picture } = session.pixels_of(query, state.as_ref().or(open), SIDE)?;
            let elements = session.on_threads(|| model.ckm.elements(&picture))?;
            let same_bytes =
                || state.as_ref()?.with_hash(hash_file(path.as_deref()?).ok()?).filter(|image| image.is_live()).map(|image| image.id);
            (name, item.filter(|_| state.is_some()).or_else(same_bytes), path, (picture, elements))
        }
    };
    // An image that was learned would be compared with itself.
    let example = item.and_then(|id| model.ckm.examples().find(|(_, example)| example.id == id)).map(|(_, example)| example.clone());
    let without = example.as_ref().map_or(Without::Nothing, |example| example.without_itself());
    let mut first = FirstLook { name: name.clone(), picture: Arc::new(looked.0.pixels.clone()), guess: Vec::new() };
    tell(first.clone());
    if model.ckm.is_to_be_prepared() {
        let ranking = session.on_threads(|| Ok(model.ckm.scores_by_pieces(&looked.1, without).ranking()))?;
        first.guess = ranking.into_iter().map(|(id, _)| model.ckm.classes()[id.index()].name.clone()).collect();
        tell(first);
        return Ok(Answer::Unprepared(model.ckm));
    }
    let answer = session.recognise_elements(&model, Path::new(&name), looked, without);
    if answer.ranking.is_empty() {
        let found = if model.ckm.classes().is_empty() { "no labelled image yet" } else { "no other object of any class" };
        let advice = "label images of two classes, or import folders that are classes";
        let few = || Error::data(Path::new(&name), "labelled images to compare it with", found, advice);
        return Err(unlearned.unwrap_or_else(few));
    }
    let explanations = session.explain(&model, &answer, without);
    let drawn = Drawn { model, answer: Arc::new(answer), explanations: Arc::new(explanations), state, item };
    let left_out = match without {
        Without::Nothing => LeftOut::Nothing,
        Without::Image(_) | Without::Images(_) => LeftOut::Image,
        Without::Group(group) => LeftOut::Object(group.to_owned()),
    };
    let small = |id| match answerer {
        Answerer::Library(library) => small(&hold(library), id),
        Answerer::Model(..) => None,
    };
    Ok(Answer::Whole(Box::new((view(session, &drawn, &small, (name, item, path), by, left_out), drawn))))
}

/// The small picture that a library keeps of an image.
fn small(library: &Library, id: ItemId) -> Option<RgbImage> {
    thumbnail::decode(&library.thumbnail(id).ok()??)
}

/// An image whose file is not there, by what the library keeps of it, and where the file was.
fn kept(library: &Library, id: ItemId) -> Option<(ItemId, PathBuf, (Picture, Elements))> {
    let path = library.path(id).filter(|path| !path.exists())?;
    let (_, elements) = library.elements_of(&[id]).ok()?.pop()?;
    Some((id, path, (Picture { pixels: small(library, id)?, size: elements.size }, elements)))
}

fn view(
    session: &Session,
    drawn: &Drawn,
    small: &dyn Fn(ItemId) -> Option<RgbImage>,
    (name, item, path): (String, Option<ItemId>, Option<PathBuf>),
    by: String,
    left_out: LeftOut,
) -> Recognition {
    let (model, answer) = (&drawn.model, &drawn.answer);
    let class = |id: ClassId| model.ckm.classes()[id.index()].name.clone();
    let mut reasons = drawn.explanations.iter().map(|explanation| ClassReasons {
        class: class(explanation.class),
        score: explanation.score,
        term: explanation.term,
        whole: explanation.whole,
        alike: explanation.alike.iter().map(|alike| (alike.image, alike.name.clone(), alike.value)).collect(),
        contributions: explanation.contributions.iter().map(|c| row(model, c)).collect(),
    });
    let (best, second) = (reasons.next(), reasons.next());
    let mut tiles = Vec::new();
    let mut pieces = Vec::new();
    for (matched, won) in winners(&drawn.explanations) {
        let found = model.ckm.examples().find(|(_, example)| example.id == matched.image);
        let Some((label, example)) = found else { continue };
        let lead = won.iter().map(|(.., lead)| lead).sum();
        for (contribution, matched, lead) in &won {
            pieces.push(Piece { tile: tiles.len(), query: contribution.position, position: matched.position, lead: *lead });
        }
        let of_library = drawn.state.as_ref().and_then(|state| state.image(matched.image)).map(|image| image.id);
        let picture = session.picture(&drawn.find(matched.image, &matched.name), SIDE).ok().map(|picture| picture.pixels);
        let picture = picture.or_else(|| small(matched.image)).map(Arc::new);
        tiles.push(Tile {
            item: of_library,
            name: matched.name.clone(),
            label: class(label),
            picture,
            size: example.elements.size(),
            lead,
        });
    }
    pieces.sort_by(|a, b| b.lead.total_cmp(&a.lead));
    pieces.truncate(PIECES);
    Recognition {
        name,
        item,
        path,
        picture: Arc::new(answer.picture.pixels.clone()),
        size: answer.picture.size,
        by,
        left_out,
        scores: answer.ranking.iter().map(|(id, score)| (class(*id), *score)).collect(),
        before: None,
        confidence: answer.confidence,
        not_told_apart: best.as_ref().map(|best| model.metrics.confused_with(&best.class)).unwrap_or_default(),
        standing: answer.standing,
        metrics: model.metrics.clone(),
        calibrated: model.calibration.n > 0,
        best,
        second,
        tiles,
        pieces,
    }
}

fn row(model: &RecogniserModel, c: &Contribution) -> ContributionRow {
    ContributionRow {
        kind: kind_name(model.ckm.options().kinds[c.kind].source.name()),
        query: c.position,
        matched: c.matched.as_ref().map(|m| (m.image, m.name.clone(), m.position)),
        likeness: c.likeness,
        nearness: c.nearness,
        weight: c.weight,
        bonus: c.bonus,
        value: c.value,
    }
}
