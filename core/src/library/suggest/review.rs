//! Labels that look wrong: each is judged by advisers that never saw its object, and those they
//! contradict most come first.
//!
//! This is confident learning in its simplest form (Northcutt, Jiang and Chuang, *Confident
//! learning*, JAIR 2021, section 3): chances out of sample, by cross-validation over objects, each
//! measured by the mean chance that images with that label have of it, and labels ranked by how
//! much less likely they are than the best other class. Without that measure every label of a rare
//! class would be doubted.

use rand::seq::SliceRandom as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::suggester::{LEARNED, ensemble};
use super::suggestion::{Vote, votes};
use super::views::{ViewMaker, opinions};
use crate::advise::{Ensemble, LearnedLabel, Opinion, Recognised, Views};
use crate::bytes::Writer;
use crate::ckm::{Ckm, Example, Without};
use crate::error::Result;
use crate::hash::hash64;
use crate::ids::{ClassId, ItemId};
use crate::library::Library;
use crate::library::state::{Image, State};
use crate::linalg::double::dot;
use crate::nearest::TopK;
use crate::progress::Progress;
use crate::random;

/// Folds of the cross-validation.
const FOLDS: usize = 5;
/// The most classes given in place of a doubted label.
const INSTEAD: usize = 9;
/// How many times as likely as the label another class must be for a doubt, each class counting the
/// same: where classes are hard to tell apart, half of a large one is nearer to a rare one.
const LIKELIER: f64 = 2.0;
/// The likeliest classes of a label that are looked at.
const LIKELY: usize = 32;
/// How many of the most similar images are listed for a doubt, and for how many doubts.
const ALIKE: (usize, usize) = (3, 300);
/// The most labels of a review: each takes about a tenth of a second, and 24 kB while it lasts.
const AT_MOST: usize = 4000;
/// Labels that are judged even when the review was cancelled: as many as take a second or two.
const HURRIED: usize = 300;

/// A label that is doubted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doubt {
    /// The image.
    pub image: ItemId,
    /// Its label, and the chance that it is right where each class counts the same.
    pub label: (String, f64),
    /// The classes that are more likely, the best first, nine at most; those that the user rejected
    /// are left out, and those above and below the label in a tree of classes, which do not
    /// contradict it.
    pub instead: Vec<(String, f64)>,
    /// What each adviser alone would suggest.
    pub advisers: Vec<Vote>,
    /// The images of other objects of the most similar appearance, with their labels, the most
    /// similar first; only for the first 300 doubts.
    pub alike: Vec<(ItemId, String)>,
}

/// The result of a review.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reviewed {
    /// Doubted labels, the most doubtful first.
    pub doubts: Vec<Doubt>,
    /// Labels that were judged.
    pub judged: usize,
    /// Labels that could not be: of classes of a single object, or of images that cannot be read.
    pub passed: usize,
    /// Labels that were not reached before the review was cancelled, or not chosen for it.
    pub left: usize,
    /// Labels judged of images whose object is not known: near copies with the same wrong label may
    /// have supported it.
    pub objects_unknown: usize,
    /// A hash of the labels that were reviewed and are not doubted.
    labels: u64,
}

impl Reviewed {
    /// Whether the labels are those that were reviewed, but for the doubted ones, which are there
    /// to be corrected. O(images).
    pub fn is_of(&self, state: &State) -> bool {
        self.labels == hash_of_labels(state, &self.doubts)
    }
}

/// A hash of all labels but the doubted ones.
fn hash_of_labels(state: &State, doubts: &[Doubt]) -> u64 {
    let doubted: HashSet<ItemId> = doubts.iter().map(|doubt| doubt.image).collect();
    let mut all = Writer::default();
    for image in state.images().filter(|image| !doubted.contains(&image.id)) {
        if let Some(label) = image.label() {
            all.put(&image.id.0);
            all.count(label.len());
            all.bytes(label.as_bytes());
        }
    }
    hash64(&all.finish())
}

/// What the advisers together say of a label.
struct Verdict<'a> {
    case: &'a Case<'a>,
    /// The chance of the label.
    own: f64,
    /// The likeliest classes, the label among them or not, with their chances.
    likely: Vec<(ClassId, f64)>,
    advisers: Vec<Vote>,
}

/// Everything a review needs: it does not use the library any more.
pub struct Review {
    seed: u64,
    /// Values of a view.
    dimension: usize,
    state: State,
    ckm: Arc<Ckm>,
    labels: Vec<(ItemId, String, Views)>,
    /// Labels of images without an appearance.
    unseen: usize,
    /// Labels that were not chosen.
    others: usize,
}

/// A label with what is needed to judge it.
struct Case<'a> {
    lesson: LearnedLabel,
    /// The fold in which it is judged: the same for all images of its object.
    fold: usize,
    object: Option<String>,
    label: &'a str,
}

impl Review {
    /// The images whose labels a review judges: all that have one, or 4,000 of them at random,
    /// others after each event. O(images).
    pub fn chosen(state: &State, seed: u64) -> Vec<ItemId> {
        let mut all: Vec<ItemId> = state.images().filter(|image| image.label().is_some()).map(|image| image.id).collect();
        if all.len() > AT_MOST {
            let event = state.last_event().map_or(0, |event| event.0);
            all.shuffle(&mut random::stream(seed, 3 + event));
            all.truncate(AT_MOST);
            all.sort_unstable();
        }
        all
    }

    /// Takes from a library what is to be reviewed, of the images that were chosen. Those of which
    /// that is not in memory ([`Library::load_appearances_of`], [`Library::load_glimpses_of`]) are
    /// not judged. O(images).
    pub fn new(library: &Library, chosen: &[ItemId], seed: u64) -> Self {
        let (state, maker) = (library.state().clone(), ViewMaker::of(library, seed));
        let view = |image: &Arc<Image>| Some((image.id, image.label()?.to_owned(), maker.views(library, image)?));
        let labels: Vec<_> = chosen.iter().filter_map(|id| view(state.image(*id)?)).collect();
        let (unseen, all) = (chosen.len() - labels.len(), state.images().filter(|image| image.label().is_some()).count());
        let others = all.saturating_sub(chosen.len());
        Self { seed, dimension: maker.dimension(), ckm: Arc::clone(library.recogniser().ckm()), state, labels, unseen, others }
    }

    /// The state of the library with the labels that are reviewed.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Judges all labels. When cancelled, it returns doubts about some of those it has reached. One
    /// prediction of the recogniser for each label, without its object; besides, O(labels) learning
    /// steps, and O(labels) similarities for each of the first 300 doubts.
    ///
    /// Nothing that judges an object has learned its labels: the advisers learn the other folds,
    /// and the recogniser leaves the object out. The weights of the advisers are learned fold by
    /// fold, from predictions on objects before any of their labels is learned: an adviser that
    /// knew other views of an object would look better than it is. Only the recogniser's opinions
    /// on other objects have used this object's images.
    ///
    /// # Errors
    /// [`crate::Error::Option`].
    pub fn judge(mut self, progress: &Progress) -> Result<Reviewed> {
        let labels = std::mem::take(&mut self.labels);
        let mut classes: Vec<String> = labels.iter().map(|(_, label, _)| label.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut reviewed = Reviewed { passed: self.unseen, ..Reviewed::default() };
        let mut cases = self.cases(&labels, &classes, progress);
        let hurries = progress.is_cancelled();
        if hurries {
            cases.truncate(HURRIED);
        }
        let mut done = 0;
        let mut verdicts = Vec::new();
        progress.begin("Comparing labels with each other", cases.len() as u64);
        for fold in 0..FOLDS {
            let known: Vec<&Case<'_>> = cases.iter().filter(|case| case.fold != fold).collect();
            let taught = taught(&known);
            let has_class: BTreeSet<ClassId> = taught.iter().map(|case| case.lesson.class).collect();
            let mut ensemble = ensemble(self.dimension, self.seed)?;
            hear(&mut ensemble, &taught, || progress.is_cancelled() && !hurries)?;
            for case in cases.iter().filter(|case| case.fold == fold) {
                if progress.step().is_err() && !hurries {
                    break;
                }
                done += 1;
                if !has_class.contains(&case.lesson.class) {
                    reviewed.passed += 1;
                    continue;
                }
                reviewed.judged += 1;
                reviewed.objects_unknown += usize::from(case.object.is_none());
                verdicts.push(verdict(&mut ensemble, case, &classes)?);
            }
        }
        let usual = usual_chances(&verdicts, classes.len());
        reviewed.doubts = verdicts.into_iter().filter_map(|verdict| self.doubt(verdict, &usual, &classes)).collect();
        reviewed.left = labels.len() - done + self.others;
        let excess = |doubt: &Doubt| doubt.instead[0].1 - doubt.label.1;
        reviewed.doubts.sort_by(|a, b| excess(b).total_cmp(&excess(a)).then(a.image.cmp(&b.image)));
        reviewed.labels = hash_of_labels(&self.state, &reviewed.doubts);
        let by_image: HashMap<ItemId, &Case<'_>> = cases.iter().map(|case| (case.lesson.item, case)).collect();
        for doubt in reviewed.doubts.iter_mut().take(ALIKE.1) {
            if let Some(case) = by_image.get(&doubt.image) {
                doubt.alike = alike(case, &by_image);
            }
        }
        Ok(reviewed)
    }

    /// The labels in random order, each with the recogniser's opinion without its object; only
    /// those reached before it is cancelled.
    fn cases<'a>(&self, labels: &'a [(ItemId, String, Views)], classes: &[String], progress: &Progress) -> Vec<Case<'a>> {
        let mut order: Vec<&(ItemId, String, Views)> = labels.iter().collect();
        order.shuffle(&mut random::stream(self.seed, 2));
        let examples: HashMap<ItemId, &Example> = self.ckm.examples().map(|(_, example)| (example.id, example)).collect();
        // The objects of a class are dealt out over the folds, so that each is judged by the
        // others.
        let mut folds: HashMap<&str, usize> = HashMap::new();
        let mut dealt: HashMap<&str, usize> = HashMap::new();
        let mut cases = Vec::with_capacity(order.len());
        // All at once, as the images of an object are left out together.
        progress.begin("Comparing whole images", 0);
        let is_wanted = |_| !progress.is_cancelled();
        let whole = if self.ckm.compares_wholes() { self.ckm.held_out_whole_values(is_wanted) } else { BTreeMap::new() };
        progress.begin("Asking the recogniser about every label", order.len() as u64);
        for (id, label, views) in &order {
            if progress.step().is_err() {
                break;
            }
            let group = self.state.image(*id).and_then(|image| image.folder.group.as_deref());
            let next = dealt.entry(label).or_default();
            let mut deal = || {
                *next += 1;
                (*next - 1) % FOLDS
            };
            let fold = match group {
                Some(group) => *folds.entry(group).or_insert_with(deal),
                None => deal(),
            };
            let without = group.map_or(Without::Image(*id), Without::Group);
            let recognised = examples.get(id).map_or_else(Recognised::default, |example| {
                let elements = example.elements.get();
                let whole = whole.get(id).filter(|_| !elements.lacks_network());
                opinions(&self.ckm, &self.ckm.scores(&elements, without), whole.map_or(&[], Vec::as_slice), classes)
            });
            let class = ClassId(classes.binary_search(label).unwrap_or_default() as u32);
            let lesson = LearnedLabel { item: *id, class, views: Views { recognised, ..views.clone() } };
            cases.push(Case { lesson, fold, object: group.map(str::to_owned), label });
        }
        cases
    }

    /// The doubt about a label; none where no other class is so much likelier by the measure of the
    /// usual chances.
    fn doubt(&self, verdict: Verdict<'_>, usual: &[f64], classes: &[String]) -> Option<Doubt> {
        let Verdict { case, own, likely, advisers } = verdict;
        let LearnedLabel { item, class: label, .. } = case.lesson;
        let measured = |class: ClassId, chance: f64| chance / usual[class.index()];
        let others = likely.into_iter().filter(|(class, _)| *class != label);
        let mut others: Vec<(ClassId, f64)> = others.map(|(class, chance)| (class, measured(class, chance))).collect();
        let own = measured(label, own);
        let all = own + others.iter().map(|(_, chance)| chance).sum::<f64>();
        others.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let rejected = self.state.image(item).map(|image| &image.rejected);
        let is_rejected = |class: &String| rejected.is_some_and(|rejected| rejected.contains(class));
        let is_said = |class: &String| is_below(class, case.label) || is_below(case.label, class);
        let more = others.into_iter().take_while(|(_, chance)| *chance > own);
        let named = more.filter_map(|(class, chance)| Some((classes.get(class.index())?.clone(), chance / all)));
        let instead: Vec<(String, f64)> = named.filter(|(class, _)| !is_rejected(class) && !is_said(class)).take(INSTEAD).collect();
        let label = (case.label.to_owned(), own / all);
        let is_doubted = instead.first().is_some_and(|(_, chance)| *chance >= LIKELIER * label.1);
        is_doubted.then(|| Doubt { image: item, label, instead, advisers, alike: Vec::new() })
    }
}

/// Whether a class is below another one in a tree of classes: `animal/dog` below `animal`.
fn is_below(class: &str, other: &str) -> bool {
    class.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
}

/// What an ensemble that has not learned a label's object says of the label.
fn verdict<'a>(ensemble: &mut Ensemble, case: &'a Case<'_>, classes: &[String]) -> Result<Verdict<'a>> {
    let opinions = ensemble.opinions(&case.lesson.views)?;
    let advice = ensemble.mixture().combine(&opinions);
    let advisers = votes(ensemble, &advice, |class| classes.get(class.index()).cloned());
    // Doubts are ranked by the chances of the mixture.
    let mut likely = advice.mixed;
    likely.sort_by(|a, b| b.1.total_cmp(&a.1));
    let own = likely.iter().find(|(known, _)| *known == case.lesson.class).map_or(0.0, |(_, chance)| *chance);
    likely.truncate(LIKELY);
    Ok(Verdict { case, own, likely, advisers })
}

/// The mean chance of each class for images with that label. One more image that has the mean of
/// all labels is added to each class, so that a few images say little.
fn usual_chances(verdicts: &[Verdict<'_>], classes: usize) -> Vec<f64> {
    let mean = verdicts.iter().map(|verdict| verdict.own).sum::<f64>() / verdicts.len().max(1) as f64;
    let mut sums = vec![(mean.max(f64::MIN_POSITIVE), 1.0); classes];
    for verdict in verdicts {
        let (sum, n) = &mut sums[verdict.case.lesson.class.index()];
        (*sum, *n) = (*sum + verdict.own, *n + 1.0);
    }
    sums.into_iter().map(|(sum, n)| sum / n).collect()
}

/// Teaches an ensemble labels, fold by fold: first all of a fold are predicted, and then the
/// advisers learn them. The weights are learned at the end, in the order of the cases, which is
/// random: folds come object by object, which would teach that the class seldom changes.
fn hear(ensemble: &mut Ensemble, cases: &[&Case<'_>], is_over: impl Fn() -> bool) -> Result<()> {
    let mut opinions: Vec<Option<Vec<Opinion>>> = vec![None; cases.len()];
    let mut knows = false;
    for fold in 0..FOLDS {
        let part = || cases.iter().enumerate().filter(|(_, case)| case.fold == fold);
        for (place, case) in part().filter(|_| knows) {
            if is_over() {
                return Ok(());
            }
            opinions[place] = Some(ensemble.opinions(&case.lesson.views)?);
        }
        for (_, case) in part() {
            if is_over() {
                return Ok(());
            }
            ensemble.teach(&case.lesson.views, case.lesson.class)?;
            knows = true;
        }
    }
    for (case, opinions) in cases.iter().zip(opinions) {
        // The first fold, which nothing was known to predict, only tells which classes there are.
        if opinions.is_some() || !ensemble.mixture().classes().contains(&case.lesson.class) {
            ensemble.learn_trust(&opinions.unwrap_or_default(), case.lesson.class)?;
        }
    }
    Ok(())
}

/// Of the known labels those that are learned, at most [`LEARNED`]: each class keeps as many as the
/// others, as far as it has them.
fn taught<'a>(known: &[&'a Case<'a>]) -> Vec<&'a Case<'a>> {
    let mut seen: HashMap<ClassId, usize> = HashMap::new();
    let mut ranked: Vec<(usize, usize)> = Vec::with_capacity(known.len());
    for (place, case) in known.iter().enumerate() {
        let n = seen.entry(case.lesson.class).or_default();
        ranked.push((*n, place));
        *n += 1;
    }
    ranked.sort_unstable();
    ranked.truncate(LEARNED);
    let mut places: Vec<usize> = ranked.into_iter().map(|(_, place)| place).collect();
    places.sort_unstable();
    places.into_iter().map(|place| known[place]).collect()
}

/// The images of other objects that look most like one, with their labels.
fn alike(case: &Case<'_>, cases: &HashMap<ItemId, &Case<'_>>) -> Vec<(ItemId, String)> {
    let is_other = |other: &&Case<'_>| other.lesson.item != case.lesson.item && (other.object.is_none() || other.object != case.object);
    // The larger the inner product of vectors of norm 1, the nearer they are.
    let distance = |other: &Case<'_>| -dot(&case.lesson.views.whole, &other.lesson.views.whole);
    let others = cases.values().copied().filter(is_other).map(|other| (other.lesson.item, distance(other)));
    let label = |id: ItemId| Some((id, cases.get(&id)?.label.to_owned()));
    TopK::of(ALIKE.0, others).into_iter().filter_map(|found| label(found.id)).collect()
}
