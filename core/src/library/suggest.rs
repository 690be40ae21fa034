//! Suggestions of classes for a library's images: several advisers that follow the labels, and a mixture that trusts those who were right.
//!
//! The advisers look at an image's appearance, at the words of its captions and at its pieces, which are the recogniser's. What was
//! learned of a label that is taken back or changed is unlearned: by going back to an earlier stand, and learning from there what still holds.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt as _;
use rand::seq::SliceRandom as _;

use super::Library;
use super::features::Features;
use super::state::Image;
use crate::advise::{Adviser, Contextually, Linearly, Mixture, Nearest, Opinion, Remembering, recognised};
use crate::ckm::Without;
use crate::cmt::{Cmt, CmtOptions};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};
use crate::online_linear::Rule;
use crate::picture::appearance::VALUES;
use crate::progress::Progress;
use crate::random::{self, Rng};
use crate::sparse::SparseVec;
use crate::text::hashing::{Stemming, counts};

/// Values of an appearance that contextual search sees: its cost grows with their square.
const SEEN: usize = 32;
/// Leaves of a memory of captions that are looked at.
const LEAVES: usize = 8;
/// Labels between stands that are kept, and how many of these.
const STEP: usize = 32;
const STANDS: usize = 16;
/// Of the labels that are there already, those of which the recogniser is asked as well: it takes longest.
const JUDGED: usize = 40;
/// Of these labels so many are learned; more would not be learned in the time a user waits.
const LEARNED: usize = 2000;

/// Who is asked, in their order.
pub const ADVISERS: [&str; 5] = ["contextual", "pa", "nearest", "captions", "recogniser"];

/// What is suggested for an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The image.
    pub image: ItemId,
    /// Classes with their chances, the best first; those that the user said it is not of are left out.
    pub ranking: Vec<(String, f64)>,
    /// What each adviser alone would suggest, and how much it is trusted now, 0..=1.
    pub advisers: Vec<(&'static str, Option<String>, f64)>,
}

/// Advisers, and what they have heard.
pub struct Suggester {
    seed: u64,
    projection: Vec<f32>,
    /// Classes by their numbers, which never change.
    classes: Vec<String>,
    said: Vec<Said>,
    stand: Stand,
    /// Earlier stands, after so many labels.
    earlier: Vec<(usize, Stand)>,
}

/// A label that was heard, and what the recogniser thought before it.
struct Said {
    image: ItemId,
    class: ClassId,
    view: View,
    judged: Opinion,
}

/// What advisers see of an image.
struct View {
    seen: Vec<f64>,
    whole: Vec<f64>,
    words: SparseVec,
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
            mixture: Mixture::favouring(ADVISERS.len() - 1, ADVISERS.len())?,
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

    fn learn(&mut self, said: &Said) -> Result<()> {
        let opinions = self.opinions(&said.view, &said.judged)?;
        let advice = self.mixture.combine(&opinions);
        self.mixture.learn(&advice, said.class)?;
        self.contextual.learn(&said.view.seen, said.class, &mut self.rng)?;
        self.linear.learn(&said.view.whole, said.class, &mut self.rng)?;
        self.nearest.learn(&said.view.whole, said.class, &mut self.rng)?;
        if !said.view.words.is_empty() {
            self.captions.learn(&said.view.words, said.class, &mut self.rng)?;
        }
        Ok(())
    }
}

impl Suggester {
    /// Advisers that have learned the labels of a library, in an order drawn from `seed`. What the images look like must be in the machine
    /// ([`Library::bring_appearances`]). O(labels) learning steps, of which each takes about a millisecond.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Io`] when the cache cannot be used.
    pub fn new(library: &Library, seed: u64, progress: &Progress) -> Result<Self> {
        let mut rng = random::stream(seed, 0);
        let one = 1.0 / (SEEN as f32).sqrt();
        let projection = (0..SEEN * VALUES).map(|_| if rng.random::<bool>() { one } else { -one }).collect();
        let stand = Stand::new(seed)?;
        let mut made = Self { seed, projection, classes: Vec::new(), said: Vec::new(), stand, earlier: Vec::new() };
        made.follow(library, progress)?;
        Ok(made)
    }

    /// Learns what was said since, and unlearns what does not hold any more. Images whose appearance is not in the machine are passed over.
    /// O(changed labels) learning steps, and those since the last stand before the first change that was taken back.
    ///
    /// # Errors
    /// As [`Suggester::new`]. What was learned before an error stays learned.
    pub fn follow(&mut self, library: &Library, progress: &Progress) -> Result<()> {
        let state = library.state();
        let labels: BTreeMap<ItemId, &str> = state.images().filter_map(|image| Some((image.id, image.label()?))).collect();
        let holds =
            |classes: &[String], said: &Said| labels.get(&said.image) == classes.get(said.class.index()).map(String::as_str).as_ref();
        if let Some(first) = self.said.iter().position(|said| !holds(&self.classes, said)) {
            self.go_back(first)?;
            let rest = self.said.split_off(first);
            for said in rest {
                if holds(&self.classes, &said) {
                    self.hear(said)?;
                }
            }
        }
        let known: BTreeSet<ItemId> = self.said.iter().map(|said| said.image).collect();
        let mut fresh: Vec<(ItemId, &str)> = labels.iter().filter(|(id, _)| !known.contains(id)).map(|(id, class)| (*id, *class)).collect();
        // Folders come class by class, which would teach that the class never changes.
        fresh.shuffle(&mut random::stream(self.seed, 2 + self.said.len() as u64));
        let passed = fresh.len().saturating_sub(LEARNED);
        progress.begin("Learning labels", (fresh.len() - passed) as u64);
        for (at, (id, class)) in fresh.iter().enumerate().skip(passed) {
            progress.step()?;
            let Some((image, view)) = state.image(*id).and_then(|image| Some((image, self.view(library, image)?))) else { continue };
            let class = self.number(class);
            let judged = if fresh.len() - at <= JUDGED { self.judge(library, image, progress)? } else { Opinion::None };
            self.hear(Said { image: *id, class, view, judged })?;
        }
        Ok(())
    }

    /// What is suggested for an image now; `None` where nothing is known of it or of any class. About as long as the recogniser takes.
    ///
    /// # Errors
    /// [`Error::Io`] when the cache cannot be used.
    pub fn suggest(&mut self, library: &Library, image: ItemId, progress: &Progress) -> Result<Option<Suggestion>> {
        let Some(image) = library.state().image(image).filter(|image| image.is_live()) else { return Ok(None) };
        let Some(view) = self.view(library, image) else { return Ok(None) };
        let judged = self.judge(library, image, progress)?;
        // Asking teaches nothing, and draws nothing from what later labels draw from.
        let rng = self.stand.rng.clone();
        let opinions = self.stand.opinions(&view, &judged);
        self.stand.rng = rng;
        let advice = self.stand.mixture.combine(&opinions?);
        let name = |class: &ClassId| self.classes.get(class.index()).filter(|name| library.state().class(name).is_some());
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
        let each = advice.each.iter().map(|class| class.as_ref().and_then(&name).cloned());
        let advisers =
            ADVISERS.iter().zip(each).zip(self.stand.mixture.trust()).map(|((name, class), trust)| (*name, class, trust)).collect();
        Ok(Some(Suggestion { image: image.id, ranking, advisers }))
    }

    /// Labels that were learned.
    pub fn n_learned(&self) -> usize {
        self.said.len()
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
                // The first is the beginning, which costs nothing to make anew.
                self.earlier.remove(0);
            }
        }
        self.stand.learn(&said)?;
        self.said.push(said);
        Ok(())
    }

    /// Stands as after the first `n` labels.
    fn go_back(&mut self, n: usize) -> Result<()> {
        self.earlier.retain(|(after, _)| *after <= n);
        let (from, stand) = self.earlier.pop().map_or_else(|| Ok((0, Stand::new(self.seed)?)), Ok::<_, Error>)?;
        self.stand = stand;
        let rest = self.said.split_off(n);
        let again = self.said.split_off(from);
        for said in again {
            self.hear(said)?;
        }
        self.said.extend(rest);
        Ok(())
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

    /// What the recogniser thinks of an image without it.
    fn judge(&self, library: &Library, image: &Image, progress: &Progress) -> Result<Opinion> {
        let ckm = library.recogniser().ckm();
        let features = Features { cache: &library.cache, decoder: &*library.decoder, options: ckm.options(), version: &library.version };
        let Some(elements) = features.of(library.state(), &[image], progress)?.pop().flatten() else { return Ok(Opinion::None) };
        let scores = ckm.scores(&elements, Without::Image(image.id));
        let number = |own: ClassId| {
            let name = &ckm.classes().get(own.index())?.name;
            self.classes.iter().position(|known| known == name).map(|at| ClassId(at as u32))
        };
        Ok(recognised(&scores, number))
    }
}
