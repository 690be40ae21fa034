//! Labels that look wrong: each is judged by advisers that never saw its object, and those they contradict most come first.
//!
//! This is confident learning in its simplest form (Northcutt, Jiang and Chuang, *Confident learning*, JAIR 2021, section 3): chances out of
//! sample, by cross-validation over objects, and labels by how much less likely they are than the best other class.

use rand::seq::SliceRandom as _;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{ADVISERS, Lens, Said, Stand, View, opinion};
use crate::advise::Opinion;
use crate::ckm::{Ckm, Example, Without};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::library::Library;
use crate::library::state::{Image, State};
use crate::progress::Progress;
use crate::random;

/// Parts of the labels that are judged by what was learned of the others.
const FOLDS: usize = 5;
/// Labels that a part is judged by, at most.
const LEARNED: usize = 2000;
/// Images that look most like a doubted one.
const ALIKE: usize = 3;

/// A label that is doubted.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// The image.
    pub image: ItemId,
    /// Its label, and the chance that it is right.
    pub label: (String, f64),
    /// The classes that are more likely, the best first; those that the user said it is not of are left out.
    pub instead: Vec<(String, f64)>,
    /// What each adviser alone would say, and how much it is trusted, 0..=1.
    pub advisers: Vec<(&'static str, Option<String>, f64)>,
    /// The images of other objects that look most like it, with their classes, the most alike first.
    pub alike: Vec<(ItemId, String)>,
}

/// What came of a review.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reviewed {
    /// Doubted labels, the most doubtful first.
    pub doubts: Vec<Doubt>,
    /// Labels that were judged.
    pub judged: usize,
    /// Labels that could not be: of classes of a single object, or of images that cannot be read.
    pub passed: usize,
    /// Labels that were not come to, for it was cancelled.
    pub left: usize,
}

/// What a review looks at. The library is not needed any more.
pub struct Review {
    seed: u64,
    state: State,
    ckm: Arc<Ckm>,
    labels: Vec<(ItemId, String, View)>,
    /// Labels of images that nothing is known of.
    unseen: usize,
}

/// A label with what is needed to judge it.
struct Case<'a> {
    said: Said,
    /// Its object's number.
    object: usize,
    label: &'a str,
}

impl Review {
    /// Takes from a library what is to be reviewed. What images look like must be in the machine ([`Library::bring_appearances`]). O(images).
    pub fn new(library: &Library, seed: u64) -> Self {
        let (state, lens) = (library.state().clone(), Lens::new(seed));
        let view = |image: &Arc<Image>| Some((image.id, image.label()?.to_owned(), lens.view(library, image)?));
        let labels: Vec<_> = state.images().filter_map(view).collect();
        let unseen = state.images().filter(|image| image.label().is_some()).count() - labels.len();
        Self { seed, ckm: Arc::clone(library.recogniser().ckm()), state, labels, unseen }
    }

    /// Judges all labels. Where that is cancelled, those that were come to are told. The recogniser is asked once for each label without its
    /// object; besides, O(labels) learning steps.
    ///
    /// # Errors
    /// [`crate::Error::Option`].
    pub fn judge(mut self, progress: &Progress) -> Result<Reviewed> {
        let labels = std::mem::take(&mut self.labels);
        let mut classes: Vec<String> = labels.iter().map(|(_, label, _)| label.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut reviewed = Reviewed { passed: self.unseen, ..Reviewed::default() };
        let cases = self.cases(&labels, &classes, &mut reviewed, progress);
        let objects = cases.iter().map(|case| case.object + 1).max().unwrap_or(0);
        let folds = FOLDS.min(objects);
        progress.begin("Comparing labels with each other", folds as u64);
        for fold in 0..folds {
            // What has been judged so far is worth having, so this goes on to its end: a few seconds.
            let _ = progress.step();
            let mut stand = Stand::new(self.seed)?;
            let known: Vec<&Case<'_>> = cases.iter().filter(|case| case.object % folds != fold).collect();
            for case in known.iter().skip(known.len().saturating_sub(LEARNED)) {
                stand.learn(&case.said)?;
            }
            for case in cases.iter().filter(|case| case.object % folds == fold) {
                if !known.iter().any(|other| other.label == case.label) {
                    reviewed.passed += 1;
                    continue;
                }
                reviewed.judged += 1;
                let doubt = self.doubt(&mut stand, case, &known, &classes)?;
                reviewed.doubts.extend(doubt);
            }
        }
        let excess = |doubt: &Doubt| doubt.instead[0].1 - doubt.label.1;
        reviewed.doubts.sort_by(|a, b| excess(b).total_cmp(&excess(a)).then(a.image.cmp(&b.image)));
        Ok(reviewed)
    }

    /// The labels in an order by chance, each with the recogniser's opinion without its object, until it is cancelled.
    fn cases<'a>(
        &self,
        labels: &'a [(ItemId, String, View)],
        classes: &[String],
        reviewed: &mut Reviewed,
        progress: &Progress,
    ) -> Vec<Case<'a>> {
        let mut order: Vec<&(ItemId, String, View)> = labels.iter().collect();
        order.shuffle(&mut random::stream(self.seed, 2));
        let examples: HashMap<ItemId, &Example> = self.ckm.examples().map(|(_, example)| (example.id, example)).collect();
        let mut objects: BTreeMap<String, usize> = BTreeMap::new();
        let mut cases = Vec::with_capacity(order.len());
        progress.begin("Asking the recogniser about every label", order.len() as u64);
        for (id, label, view) in &order {
            if progress.step().is_err() {
                reviewed.left = order.len() - cases.len();
                break;
            }
            let example = examples.get(id);
            let judged = example.map_or(Opinion::None, |example| opinion(&self.ckm, &example.elements, example.without_itself(), classes));
            let object = match example.map(|example| example.without_itself()) {
                Some(Without::Group(group)) => format!("g{group}"),
                _ => format!("i{}", id.0),
            };
            let next = objects.len();
            let object = *objects.entry(object).or_insert(next);
            let class = ClassId(classes.binary_search(label).unwrap_or_default() as u32);
            cases.push(Case { said: Said { image: *id, class, view: view.clone(), judged }, object, label });
        }
        cases
    }

    /// What advisers who do not know an image's object say against its label.
    fn doubt(&self, stand: &mut Stand, case: &Case<'_>, known: &[&Case<'_>], classes: &[String]) -> Result<Option<Doubt>> {
        let Said { image, view, judged, .. } = &case.said;
        let opinions = stand.opinions(view, judged)?;
        let advice = stand.mixture.combine(&opinions);
        let name = |class: &ClassId| classes.get(class.index()).cloned().unwrap_or_default();
        let chances: Vec<(String, f64)> = advice
            .ranking
            .iter()
            .filter_map(|class| advice.chances.iter().find(|(known, _)| known == class).map(|(_, chance)| (name(class), *chance)))
            .collect();
        let own = chances.iter().find(|(class, _)| class == case.label).map_or(0.0, |(_, chance)| *chance);
        let rejected = self.state.image(*image).map(|image| &image.rejected);
        let is_rejected = |class: &String| rejected.is_some_and(|rejected| rejected.contains(class));
        let instead: Vec<(String, f64)> = chances.into_iter().filter(|(class, chance)| *chance > own && !is_rejected(class)).collect();
        if instead.is_empty() {
            return Ok(None);
        }
        let mut alike: Vec<(f64, &Case<'_>)> = known.iter().map(|other| (likeness(view, &other.said.view), *other)).collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.said.image.cmp(&b.1.said.image)));
        let each = advice.each.iter().map(|class| class.as_ref().map(&name));
        let advisers = ADVISERS.iter().zip(each).zip(stand.mixture.trust()).map(|((name, class), trust)| (*name, class, trust)).collect();
        Ok(Some(Doubt {
            image: *image,
            label: (case.label.to_owned(), own),
            instead,
            advisers,
            alike: alike.into_iter().take(ALIKE).map(|(_, other)| (other.said.image, other.label.to_owned())).collect(),
        }))
    }
}

fn likeness(a: &View, b: &View) -> f64 {
    a.whole.iter().zip(&b.whole).map(|(a, b)| a * b).sum()
}
