//! Keeps an ensemble in step with a library's labels, and suggests labels by it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use rand::seq::SliceRandom as _;
use rayon::prelude::*;

use super::suggestion::{Suggestion, votes};
use super::views::{ViewMaker, opinions};
use crate::advise::{AdviserKind, CheckpointedEnsemble, Ensemble, LearnedLabel, Recognised, Views};
use crate::ckm::element::Elements;
use crate::ckm::{Ckm, CkmOptions, Without};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::library::state::{Image, State};
use crate::library::{Library, hold};
use crate::progress::Progress;
use crate::random;

/// How many of the labels that are there already the recogniser predicts, at least and at most; in
/// between as many as make `COMPARED` comparisons of two images, for it takes longest: about 0.1 ms
/// for each comparison.
const JUDGED: [usize; 2] = [24, 200];
const COMPARED: usize = 20_000;
/// The most labels learned at one time; more would take longer than a user waits.
pub const LEARNED: usize = 2000;

/// Labels whose images are looked at between two moments in which the library is free.
const TURN: usize = 64;

/// An ensemble that follows a library's labels.
pub struct Suggester {
    seed: u64,
    maker: ViewMaker,
    /// The options of the recogniser whose opinions are learned from; `None` before it is known.
    recogniser: Option<CkmOptions>,
    /// Classes by their numbers, which never change.
    classes: Vec<String>,
    history: CheckpointedEnsemble,
    /// Labels that were there already and were not learned, for there were too many.
    passed: HashMap<ItemId, String>,
    at_most: usize,
    /// Goes up whenever something is learned or unlearned.
    changes: u64,
}

/// An image as the advisers see it, independent of the library.
pub struct ImageViews {
    pub(super) id: ItemId,
    pub(super) views: Views,
    /// Its elements, for the recogniser.
    elements: Option<Elements>,
}

/// Labels of a library at one moment that were not learned yet.
pub struct FreshLabels {
    state: State,
    /// Those that are to be learned.
    fresh: Vec<(ItemId, String)>,
    /// Those that are passed over, for there are too many.
    passed: Vec<(ItemId, String)>,
}

/// What advisers need of a library: its state at one moment, and the views and the recogniser of
/// then or a little later. The library itself is not needed to learn and to suggest.
pub struct LabelSnapshot {
    state: State,
    ckm: Arc<Ckm>,
    /// Labels that are to be learned.
    fresh: Vec<(ItemId, String, Views)>,
    /// Labels that are passed over, for there are too many.
    passed: Vec<(ItemId, String)>,
}

/// The ensemble for a library's images, which has learned nothing yet.
pub(super) fn ensemble(dimension: usize, seed: u64) -> Result<Ensemble> {
    Ensemble::new(&AdviserKind::SERVED, dimension, random::stream(seed, 1))
}

impl Suggester {
    /// A suggester that has learned nothing and uses appearances. `seed` gives the order in which
    /// labels are learned that are there already, of which no more than `at_most` (usually
    /// [`LEARNED`]) are learned at one time: the others are passed over for good.
    ///
    /// # Errors
    /// [`crate::Error::Option`].
    pub fn new(seed: u64, at_most: usize) -> Result<Self> {
        Self::by(ViewMaker::new(false, seed), None, seed, at_most)
    }

    /// As [`Suggester::new`], using what the network sees in the images of a library where learned
    /// features are on: of images of which that is in memory ([`Library::load_glimpses_of`]).
    ///
    /// # Errors
    /// [`crate::Error::Option`].
    pub fn of(library: &Library, seed: u64, at_most: usize) -> Result<Self> {
        Self::by(ViewMaker::of(library, seed), Some(library.recogniser().ckm().options().clone()), seed, at_most)
    }

    fn by(maker: ViewMaker, recogniser: Option<CkmOptions>, seed: u64, at_most: usize) -> Result<Self> {
        let history = CheckpointedEnsemble::new(ensemble(maker.dimension(), seed)?);
        Ok(Self { seed, maker, recogniser, classes: Vec::new(), history, passed: HashMap::new(), at_most, changes: 0 })
    }

    /// Whether it still uses what [`Suggester::of`] would: not when learned features were turned on
    /// or off. O(images).
    pub fn suits(&self, library: &Library) -> bool {
        self.maker.is_learned == library.has_glimpses() && self.recogniser.as_ref() == Some(library.recogniser().ckm().options())
    }

    /// Takes from a library what is to be learned. Images whose appearance is not in memory
    /// ([`Library::load_appearances_of`]) are left out. O(images + new labels).
    pub fn news(&self, library: &Library) -> LabelSnapshot {
        let FreshLabels { state, fresh, passed } = self.fresh(library.state());
        let fresh = self.told(library, &state, fresh);
        LabelSnapshot { ckm: Arc::clone(library.recogniser().ckm()), fresh, passed, state }
    }

    /// Labels with what advisers see of their images.
    fn told(&self, library: &Library, state: &State, labels: impl IntoIterator<Item = (ItemId, String)>) -> Vec<(ItemId, String, Views)> {
        let told = |(id, label): (ItemId, String)| Some((id, label, self.maker.views(library, state.image(id)?)?));
        labels.into_iter().filter_map(told).collect()
    }

    /// The labels of a state that are to be learned. O(images).
    pub fn fresh(&self, state: &State) -> FreshLabels {
        let known: BTreeSet<ItemId> =
            self.history.lessons().iter().filter(|lesson| self.holds(state, lesson)).map(|lesson| lesson.item).collect();
        let is_fresh = |image: &&Arc<Image>| {
            let label = image.label();
            label.is_some() && !known.contains(&image.id) && self.passed.get(&image.id).map(String::as_str) != label
        };
        let mut fresh: Vec<&Arc<Image>> = state.images().filter(is_fresh).collect();
        // Folders come class by class, which would teach that the class never changes.
        fresh.shuffle(&mut random::stream(self.seed, 2 + known.len() as u64));
        let rest = fresh.split_off(fresh.len().min(self.at_most));
        let named = |image: &Arc<Image>| Some((image.id, image.label()?.to_owned()));
        let of = |images: Vec<&Arc<Image>>| images.into_iter().filter_map(named).collect();
        FreshLabels { state: state.clone(), fresh: of(fresh), passed: of(rest) }
    }

    /// As [`Suggester::news`], of labels that [`Suggester::fresh`] found. The library is held only
    /// for moments. O(these labels).
    pub fn gather(&self, library: &Mutex<Library>, labels: FreshLabels) -> LabelSnapshot {
        let FreshLabels { state, fresh, passed } = labels;
        let (mut told, mut rest) = (Vec::with_capacity(fresh.len()), fresh.into_iter());
        while rest.len() > 0 {
            told.extend(self.told(&hold(library), &state, rest.by_ref().take(TURN)));
        }
        LabelSnapshot { ckm: Arc::clone(hold(library).recogniser().ckm()), fresh: told, passed, state }
    }

    /// Learns the new labels of a moment, which are taken out of it, and unlearns those that do not
    /// hold any more. O(changed labels) learning steps of about a millisecond each, and those since
    /// the last checkpoint before the first label that does not hold.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`]; what was learned before stays learned, and what was being
    /// learned anew is fresh again.
    pub fn learn(&mut self, moment: &mut LabelSnapshot, progress: &Progress) -> Result<()> {
        if let Some(first) = self.history.lessons().iter().position(|lesson| !self.holds(&moment.state, lesson)) {
            let rest = self.history.go_back(first);
            self.changes += 1;
            progress.begin("Learning labels anew", rest.len() as u64);
            for lesson in rest {
                progress.step()?;
                if self.holds(&moment.state, &lesson) {
                    self.hear(lesson)?;
                }
            }
        }
        self.passed.extend(moment.passed.iter().cloned());
        let known: BTreeSet<ItemId> = self.history.lessons().iter().map(|lesson| lesson.item).collect();
        let n_examples: usize = moment.ckm.classes().iter().map(|class| class.examples.len()).sum();
        let mut fresh = std::mem::take(&mut moment.fresh);
        fresh.retain(|(id, ..)| !known.contains(id));
        let numbers: Vec<ClassId> = fresh.iter().map(|(_, class, _)| self.number(class)).collect();
        let n_judged = (COMPARED / n_examples.max(1)).clamp(JUDGED[0], JUDGED[1]).min(fresh.len());
        let (before, asked) = fresh.split_at(fresh.len() - n_judged);
        // Once, before several threads ask.
        if !asked.is_empty() {
            moment.ckm.prepare_with_whole();
        }
        progress.begin("Asking the recogniser", n_judged as u64);
        let judge = |(id, class, _): &(ItemId, String, Views)| {
            progress.step()?;
            let example = moment.ckm.example(class, *id);
            Ok(example.map_or_else(Recognised::default, |example| self.judge(&moment.ckm, *id, &example.elements.get())))
        };
        let judged: Vec<Recognised> = asked.par_iter().map(judge).collect::<Result<_>>()?;
        progress.begin("Learning labels", fresh.len() as u64);
        let mut opinions = vec![Recognised::default(); before.len()];
        opinions.extend(judged);
        for (((item, _, views), class), recognised) in fresh.into_iter().zip(numbers).zip(opinions) {
            progress.step()?;
            self.hear(LearnedLabel { item, class, views: Views { recognised, ..views } })?;
        }
        Ok(())
    }

    /// As [`Suggester::news`] and [`Suggester::learn`].
    ///
    /// # Errors
    /// As [`Suggester::learn`].
    pub fn follow(&mut self, library: &Library, progress: &Progress) -> Result<LabelSnapshot> {
        let mut moment = self.news(library);
        self.learn(&mut moment, progress)?;
        Ok(moment)
    }

    /// The images whose appearance is in memory, with their elements, which are computed from the
    /// file where the cache has none.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used, [`crate::Error::Cancelled`].
    pub fn see(&self, library: &Library, images: &[ItemId], progress: &Progress) -> Result<Vec<ImageViews>> {
        let mut seen = self.glance(library, images);
        let known: Vec<&Image> = seen.iter().filter_map(|seen| library.state().image(seen.id)).map(|image| &**image).collect();
        for (seen, elements) in seen.iter_mut().zip(library.features().of(library.state(), &known, progress)?) {
            seen.elements = elements;
        }
        Ok(seen)
    }

    /// As [`Suggester::see`] without elements, so that the recogniser has no opinion: about 10
    /// microseconds for each.
    pub fn glance(&self, library: &Library, images: &[ItemId]) -> Vec<ImageViews> {
        let live = images.iter().filter_map(|id| library.state().image(*id)).filter(|image| image.is_live());
        live.filter_map(|image| Some(ImageViews { id: image.id, views: self.maker.views(library, image)?, elements: None })).collect()
    }

    /// The suggestion for an image; `None` where no class is known that the user did not reject.
    /// Takes about as long as the recogniser.
    ///
    /// # Errors
    /// As [`Ensemble::advise`].
    pub fn suggest(&mut self, moment: &LabelSnapshot, seen: &ImageViews) -> Result<Option<Suggestion>> {
        let Some(image) = moment.state.image(seen.id).filter(|image| image.is_live()) else { return Ok(None) };
        let recognised = seen.elements.as_ref().map_or_else(Recognised::default, |elements| self.judge(&moment.ckm, seen.id, elements));
        let advice = self.history.advise(&Views { recognised, ..seen.views.clone() })?;
        let name = |class: &ClassId| self.classes.get(class.index()).filter(|name| moment.state.class(name).is_some());
        let allowed = |class: &ClassId| name(class).filter(|name| !image.rejected.contains(*name));
        let chance = |class: &ClassId| advice.chances.iter().find(|(known, _)| known == class).map_or(0.0, |(_, chance)| *chance);
        let total: f64 = advice.ranking.iter().filter(|class| allowed(class).is_some()).map(&chance).sum();
        let ranking: Vec<(String, f64)> = advice
            .ranking
            .iter()
            .filter_map(|class| Some((allowed(class)?.clone(), if total > 0.0 { chance(class) / total } else { 0.0 })))
            .collect();
        if ranking.is_empty() {
            return Ok(None);
        }
        let advisers = votes(self.history.ensemble(), &advice, |class| name(&class).cloned());
        Ok(Some(Suggestion { image: image.id, ranking, advisers }))
    }

    /// Labels that were learned.
    pub fn n_learned(&self) -> usize {
        self.history.lessons().len()
    }

    /// A number that changes whenever something is learned or unlearned.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether a label that was learned is still that of the image.
    fn holds(&self, state: &State, lesson: &LearnedLabel) -> bool {
        let now = state.image(lesson.item).filter(|image| image.is_live()).and_then(|image| image.label());
        now.is_some() && now == self.classes.get(lesson.class.index()).map(String::as_str)
    }

    fn number(&mut self, class: &str) -> ClassId {
        let at = self.classes.iter().position(|known| known == class).unwrap_or_else(|| {
            self.classes.push(class.to_owned());
            self.classes.len() - 1
        });
        ClassId(at as u32)
    }

    fn hear(&mut self, lesson: LearnedLabel) -> Result<()> {
        self.changes += 1;
        self.history.learn(lesson)
    }

    /// The recogniser's opinions on an image, with that image left out.
    fn judge(&self, ckm: &Ckm, id: ItemId, elements: &Elements) -> Recognised {
        let (scores, whole) = ckm.scores_and_whole(elements, Without::Image(id));
        opinions(ckm, &scores, &whole, &self.classes)
    }
}

impl FreshLabels {
    /// The images that have the labels to be learned.
    pub fn images(&self) -> impl Iterator<Item = ItemId> {
        self.fresh.iter().map(|(id, _)| *id)
    }
}

impl LabelSnapshot {
    /// Labels that are to be learned.
    pub fn n_fresh(&self) -> usize {
        self.fresh.len()
    }

    /// The state of the library at that moment.
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl ImageViews {
    /// Which image it is.
    pub fn id(&self) -> ItemId {
        self.id
    }
}
