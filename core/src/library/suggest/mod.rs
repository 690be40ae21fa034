//! Suggestions of classes for a library's images: several advisers that follow the labels, and a
//! mixture that trusts those who were right.
//!
//! The advisers look at an image's appearance, at the words of its captions and at its pieces,
//! which are the recogniser's. What was learned of a label that is taken back or changed is
//! unlearned: by going back to an earlier stand, and learning from there what still holds.

mod order;
mod review;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rayon::prelude::*;

use super::Library;
use super::state::{Image, State};
use crate::advise::{Advice, Adviser, Contextually, Linearly, Mixture, Nearest, Opinion, Remembering, recognised};
use crate::ckm::element::Elements;
use crate::ckm::{Ckm, Example, Without};
use crate::cmt::{Cmt, CmtOptions};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};
use crate::online_linear::Rule;
use crate::picture::appearance::VALUES;
use crate::progress::Progress;
use crate::random::{self, Rng};
use crate::sparse::SparseVec;
use crate::text::hashing::{Stemming, counts};

pub use order::{LabelOrder, POOL};
pub use review::{Doubt, Review, Reviewed};

/// Values of an appearance that contextual search sees: its cost grows with their square.
const SEEN: usize = 32;
/// Leaves of a memory of captions that are looked at.
const LEAVES: usize = 8;
/// Labels between stands that are kept, and how many of these.
const STEP: usize = 32;
const STANDS: usize = 8;
/// Classes that contextual search tells apart: it keeps something for any two of them, in every
/// stand.
const APART: usize = 64;
/// Of the labels that are there already, the recogniser is asked of so many at least and at most,
/// and in between of as many as make so many comparisons of two images: it takes longest, a tenth
/// of a millisecond or so for each.
const JUDGED: [usize; 2] = [24, 200];
const COMPARED: usize = 20_000;
/// Of these labels so many are learned; more would not be learned in the time a user waits.
pub const LEARNED: usize = 2000;

/// Who is asked, in their order.
pub const ADVISERS: [&str; 5] = ["contextual", "pa", "nearest", "captions", "recogniser"];

/// What is suggested for an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The image.
    pub image: ItemId,
    /// Classes with their chances, the best first; those that the user said it is not of are left
    /// out.
    pub ranking: Vec<(String, f64)>,
    /// What each adviser alone would suggest, in the order of [`ADVISERS`].
    pub advisers: Vec<Vote>,
}

/// What one adviser says.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    /// Who.
    pub adviser: &'static str,
    /// The class it would suggest alone, if any.
    pub class: Option<String>,
    /// How much it is trusted now, 0..=1.
    pub trust: f64,
}

/// Advisers, and what they have heard.
pub struct Suggester {
    seed: u64,
    lens: Lens,
    /// Classes by their numbers, which never change.
    classes: Vec<String>,
    said: Vec<Said>,
    /// Labels that were there already and were not learned, for there were too many.
    passed: HashMap<ItemId, String>,
    at_most: usize,
    stand: Stand,
    /// Earlier stands, after so many labels.
    earlier: Vec<(usize, Stand)>,
    /// Counts what was learned and unlearned.
    changes: u64,
}

/// A label that was heard, and what the recogniser thought before it.
struct Said {
    image: ItemId,
    class: ClassId,
    view: View,
    judged: Opinion,
}

/// What advisers see of an image.
#[derive(Clone)]
struct View {
    seen: Vec<f64>,
    whole: Vec<f64>,
    words: SparseVec,
}

/// An image as advisers see it, without the library.
pub struct Seen {
    id: ItemId,
    view: View,
    /// Its pieces, for the recogniser.
    elements: Option<Elements>,
}

/// What a library holds at one moment, of that which advisers are told. The library is not needed
/// any more to learn and to suggest.
pub struct Moment {
    state: State,
    ckm: Arc<Ckm>,
    /// Labels that were not heard yet.
    fresh: Vec<(ItemId, String, View)>,
    /// Labels that are not to be heard.
    passed: Vec<(ItemId, String)>,
}

/// How images are looked at.
struct Lens {
    projection: Vec<f32>,
}

#[derive(Clone)]
struct Stand {
    contextual: Contextually,
    linear: Linearly,
    nearest: Nearest,
    captions: Remembering,
    mixture: Mixture,
    rng: Rng,
}

impl Stand {
    fn new(seed: u64) -> Result<Self> {
        Ok(Self {
            contextual: Contextually::new(SEEN + 1)?,
            linear: Linearly::new(Rule::PassiveAggressive { aggressiveness: 1.0 }, VALUES),
            nearest: Nearest::new(VALUES),
            captions: Remembering::new(Cmt::new(&CmtOptions::default())?, LEAVES),
            // Pieces tell more of the first few examples than anything else.
            mixture: Mixture::favouring(&[ADVISERS.len() - 1], ADVISERS.len())?,
            rng: random::stream(seed, 1),
        })
    }

    /// What all think, the recogniser what it is said to.
    fn opinions(&mut self, view: &View, recogniser: &Opinion) -> Result<Vec<Opinion>> {
        let rng = &mut self.rng;
        let captions = if view.words.is_empty() { Opinion::None } else { self.captions.opinion(&view.words, rng)? };
        Ok(vec![
            self.contextual.opinion(&view.seen, rng)?,
            self.linear.opinion(&view.whole, rng)?,
            self.nearest.opinion(&view.whole, rng)?,
            captions,
            recogniser.clone(),
        ])
    }

    fn votes(&self, advice: &Advice, name: impl Fn(ClassId) -> Option<String>) -> Vec<Vote> {
        let said = ADVISERS.iter().zip(&advice.each).zip(self.mixture.trust());
        said.map(|((adviser, class), trust)| Vote { adviser, class: class.and_then(&name), trust }).collect()
    }

    fn learn(&mut self, said: &Said) -> Result<()> {
        let opinions = self.opinions(&said.view, &said.judged)?;
        let advice = self.mixture.combine(&opinions);
        self.mixture.learn(&advice, said.class)?;
        self.teach(said)
    }

    /// The advisers learn a label; who of them is trusted stays as it is.
    fn teach(&mut self, said: &Said) -> Result<()> {
        if said.class.index() < APART {
            self.contextual.learn(&said.view.seen, said.class, &mut self.rng)?;
        }
        self.linear.learn(&said.view.whole, said.class, &mut self.rng)?;
        self.nearest.learn(&said.view.whole, said.class, &mut self.rng)?;
        if !said.view.words.is_empty() {
            self.captions.learn(&said.view.words, said.class, &mut self.rng)?;
        }
        Ok(())
    }
}

impl Suggester {
    /// Advisers that have heard nothing. `seed` gives the order in which labels are learned that
    /// are there already, of which no more than `at_most` (usually [`LEARNED`]) are learned at one
    /// time: the others are passed over for good.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn new(seed: u64, at_most: usize) -> Result<Self> {
        let (classes, said, passed, earlier) = (Vec::new(), Vec::new(), HashMap::new(), Vec::new());
        Ok(Self { seed, lens: Lens::new(seed), classes, said, passed, at_most, stand: Stand::new(seed)?, earlier, changes: 0 })
    }

    /// What there is to be learned. Images whose appearance is not in the machine
    /// ([`Library::bring_appearances`]) are passed over. O(images + new labels).
    pub fn news(&self, library: &Library) -> Moment {
        let state = library.state().clone();
        let known: BTreeSet<ItemId> = self.said.iter().filter(|said| self.holds(&state, said)).map(|said| said.image).collect();
        let is_fresh = |image: &&Arc<Image>| {
            let label = image.label();
            label.is_some() && !known.contains(&image.id) && self.passed.get(&image.id).map(String::as_str) != label
        };
        let mut fresh: Vec<&Arc<Image>> = state.images().filter(is_fresh).collect();
        // Folders come class by class, which would teach that the class never changes.
        fresh.shuffle(&mut random::stream(self.seed, 2 + known.len() as u64));
        let rest = fresh.split_off(fresh.len().min(self.at_most));
        let named = |image: &Arc<Image>| Some((image.id, image.label()?.to_owned()));
        let passed = rest.into_iter().filter_map(named).collect();
        let told = |image: &Arc<Image>| Some((image.id, image.label()?.to_owned(), self.lens.view(library, image)?));
        let fresh = fresh.into_iter().filter_map(told).collect();
        Moment { state, ckm: Arc::clone(library.recogniser().ckm()), fresh, passed }
    }

    /// Learns what is new, and unlearns what does not hold any more: O(changed labels) learning
    /// steps, of which each takes about a millisecond, and those since the last stand before the
    /// first change that was taken back.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; what was learned before stays learned, and what was being learned anew
    /// is fresh again.
    pub fn learn(&mut self, moment: &Moment, progress: &Progress) -> Result<()> {
        if let Some(first) = self.said.iter().position(|said| !self.holds(&moment.state, said)) {
            let rest = self.go_back(first)?;
            progress.begin("Learning labels anew", rest.len() as u64);
            for said in rest {
                progress.step()?;
                if self.holds(&moment.state, &said) {
                    self.hear(said)?;
                }
            }
        }
        self.passed.extend(moment.passed.iter().cloned());
        let known: BTreeSet<ItemId> = self.said.iter().map(|said| said.image).collect();
        let examples: HashMap<ItemId, &Example> = moment.ckm.examples().map(|(_, example)| (example.id, example)).collect();
        let fresh: Vec<_> = moment.fresh.iter().filter(|(id, ..)| !known.contains(id)).collect();
        let numbers: Vec<ClassId> = fresh.iter().map(|(_, class, _)| self.number(class)).collect();
        let n_judged = (COMPARED / examples.len().max(1)).clamp(JUDGED[0], JUDGED[1]).min(fresh.len());
        let (before, asked) = fresh.split_at(fresh.len() - n_judged);
        progress.begin("Asking the recogniser", n_judged as u64);
        let judge = |(id, ..): &&(ItemId, String, View)| {
            progress.step()?;
            let example = examples.get(id);
            Ok(example.map_or(Opinion::None, |example| self.judge(&moment.ckm, *id, &example.elements)))
        };
        let judged: Vec<Opinion> = asked.par_iter().map(judge).collect::<Result<_>>()?;
        progress.begin("Learning labels", fresh.len() as u64);
        let opinions = before.iter().map(|_| Opinion::None).chain(judged);
        for (((id, _, view), class), judged) in fresh.iter().zip(numbers).zip(opinions) {
            progress.step()?;
            self.hear(Said { image: *id, class, view: view.clone(), judged })?;
        }
        Ok(())
    }

    /// As [`Suggester::news`] and [`Suggester::learn`].
    ///
    /// # Errors
    /// As [`Suggester::learn`].
    pub fn follow(&mut self, library: &Library, progress: &Progress) -> Result<Moment> {
        let moment = self.news(library);
        self.learn(&moment, progress)?;
        Ok(moment)
    }

    /// Images of which the appearance is in the machine, with their pieces, which are cut from the
    /// file where the cache has none.
    ///
    /// # Errors
    /// [`Error::Io`] when the cache cannot be used, [`Error::Cancelled`].
    pub fn see(&self, library: &Library, images: &[ItemId], progress: &Progress) -> Result<Vec<Seen>> {
        let mut seen = self.glance(library, images);
        let known: Vec<&Image> = seen.iter().filter_map(|seen| library.state().image(seen.id)).map(|image| &**image).collect();
        for (seen, elements) in seen.iter_mut().zip(library.features().of(library.state(), &known, progress)?) {
            seen.elements = elements;
        }
        Ok(seen)
    }

    /// As [`Suggester::see`] without pieces, so that the recogniser has no opinion: some 10
    /// microseconds for each.
    pub fn glance(&self, library: &Library, images: &[ItemId]) -> Vec<Seen> {
        let live = images.iter().filter_map(|id| library.state().image(*id)).filter(|image| image.is_live());
        live.filter_map(|image| Some(Seen { id: image.id, view: self.lens.view(library, image)?, elements: None })).collect()
    }

    /// What is suggested for an image; `None` where no class is known, or none that the user did
    /// not reject. About as long as the recogniser takes.
    ///
    /// # Errors
    /// As [`Adviser::opinion`].
    pub fn suggest(&mut self, moment: &Moment, seen: &Seen) -> Result<Option<Suggestion>> {
        let Some(image) = moment.state.image(seen.id).filter(|image| image.is_live()) else { return Ok(None) };
        let judged = seen.elements.as_ref().map_or(Opinion::None, |elements| self.judge(&moment.ckm, seen.id, elements));
        // Asking teaches nothing, and draws nothing from what later labels draw from.
        let rng = self.stand.rng.clone();
        let opinions = self.stand.opinions(&seen.view, &judged);
        self.stand.rng = rng;
        let advice = self.stand.mixture.combine(&opinions?);
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
        let advisers = self.stand.votes(&advice, |class| name(&class).cloned());
        Ok(Some(Suggestion { image: image.id, ranking, advisers }))
    }

    /// Labels that were learned.
    pub fn n_learned(&self) -> usize {
        self.said.len()
    }

    /// A number that is another one whenever something was learned or unlearned since.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether a label that was heard is still what the library says.
    fn holds(&self, state: &State, said: &Said) -> bool {
        let now = state.image(said.image).filter(|image| image.is_live()).and_then(|image| image.label());
        now.is_some() && now == self.classes.get(said.class.index()).map(String::as_str)
    }

    fn number(&mut self, class: &str) -> ClassId {
        let at = self.classes.iter().position(|known| known == class).unwrap_or_else(|| {
            self.classes.push(class.to_owned());
            self.classes.len() - 1
        });
        ClassId(at as u32)
    }

    fn hear(&mut self, said: Said) -> Result<()> {
        if self.said.len().is_multiple_of(STEP) {
            self.earlier.push((self.said.len(), self.stand.clone()));
            if self.earlier.len() > STANDS {
                self.thin();
            }
        }
        self.changes += 1;
        self.stand.learn(&said)?;
        self.said.push(said);
        Ok(())
    }

    /// Drops the stand that is missed least: the older, the farther apart stands may be.
    fn thin(&mut self) {
        let n = self.said.len() + 1;
        let gap = |at: usize| {
            let before = at.checked_sub(1).map_or(0, |before| self.earlier[before].0);
            (self.earlier[at + 1].0 - before) as f64 / (n - self.earlier[at].0) as f64
        };
        let least = (0..self.earlier.len() - 1).min_by(|&a, &b| gap(a).total_cmp(&gap(b)));
        if let Some(least) = least {
            self.earlier.remove(least);
        }
    }

    /// Stands as at the last stand that was kept from before the label `n`, and returns the labels
    /// that were heard since.
    fn go_back(&mut self, n: usize) -> Result<Vec<Said>> {
        self.earlier.retain(|(after, _)| *after <= n);
        let (from, stand) = self.earlier.pop().map_or_else(|| Ok((0, Stand::new(self.seed)?)), Ok::<_, Error>)?;
        self.stand = stand;
        self.changes += 1;
        Ok(self.said.split_off(from))
    }

    /// What the recogniser thinks of an image without it.
    fn judge(&self, ckm: &Ckm, id: ItemId, elements: &Elements) -> Opinion {
        opinion(ckm, elements, Without::Image(id), &self.classes)
    }
}

impl Moment {
    /// What the library held.
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl Seen {
    /// Which image it is.
    pub fn id(&self) -> ItemId {
        self.id
    }
}

/// What the recogniser thinks, of classes by their numbers here.
fn opinion(ckm: &Ckm, elements: &Elements, without: Without<'_>, classes: &[String]) -> Opinion {
    let number = |own: ClassId| {
        let name = &ckm.classes().get(own.index())?.name;
        classes.iter().position(|known| known == name).map(|at| ClassId(at as u32))
    };
    recognised(&ckm.scores(elements, without), number)
}

impl Lens {
    fn new(seed: u64) -> Self {
        let mut rng = random::stream(seed, 0);
        let one = 1.0 / (SEEN as f32).sqrt();
        Self { projection: (0..SEEN * VALUES).map(|_| if rng.random::<bool>() { one } else { -one }).collect() }
    }

    fn view(&self, library: &Library, image: &Image) -> Option<View> {
        let mut whole = library.appearance(image)?.values();
        // Its length is 1 but for rounding, and must not be more.
        let length = whole.iter().map(|x| x * x).sum::<f64>().sqrt().max(1.0);
        whole.iter_mut().for_each(|x| *x /= length * (1.0 + 1e-12));
        let mut seen: Vec<f64> =
            self.projection.chunks_exact(VALUES).map(|row| row.iter().zip(&whole).map(|(p, x)| f64::from(*p) * x).sum()).collect();
        let length = seen.iter().map(|x| x * x).sum::<f64>().sqrt().max(1.0);
        seen.push(length);
        seen.iter_mut().for_each(|x| *x *= std::f64::consts::FRAC_1_SQRT_2 / length);
        let captions: Vec<&str> = image.captions.iter().map(|caption| caption.text.as_str()).collect();
        Some(View { seen, whole, words: counts(&captions.join(" "), Stemming::None) })
    }
}
