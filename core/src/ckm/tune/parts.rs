//! Kinds of elements judged one by one, so that settings which share a kind share its scores.
//!
//! A score is the sum over the kinds of their weighted values, so a machine's score is that of its
//! kinds' machines with these weights. A shortlist is chosen by all kinds together; there the
//! whole machine is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::settings::Setting;
use crate::ckm::element::{ElementSet, Elements};
use crate::ckm::held_out::{HeldOut, choose, held_out_pieces};
use crate::ckm::{Ckm, CkmOptions, ElementKind, Example, Object, Scores, Search};
use crate::error::Result;
use crate::ids::ItemId;
use crate::progress::Progress;
use crate::random;

/// What a pair node costs, in values compared: about a twentieth of the time goes to them.
const PAIR_NODE: f64 = 24.0;

/// A machine, and the training images that it judged without their objects.
struct Part {
    machine: Ckm,
    held: Vec<HeldOut>,
    /// How many images it was asked to judge.
    limit: usize,
    time: Duration,
}

/// Makes machines of whatever options on the same training images.
pub(super) struct Parts<'a, L> {
    learn: L,
    seed: u64,
    progress: &'a Progress,
    parts: Vec<Part>,
    /// Judgements of images so far, each of one part.
    pub(super) steps: u64,
}

/// A setting as parts with their weights.
fn options_of_parts(setting: &Setting) -> Vec<(CkmOptions, Search, f64)> {
    let machine = setting.machine();
    if setting.search != Search::Exact {
        return vec![(machine, setting.search, 1.0)];
    }
    let part = |kind: &ElementKind| {
        let mut alone = kind.clone();
        alone.kernel.weight = 1.0;
        (CkmOptions { kinds: vec![alone], ..machine.clone() }, Search::Exact, f64::from(kind.kernel.weight))
    };
    machine.kinds.iter().map(part).collect()
}

impl<'a, L: FnMut(&CkmOptions) -> Result<Ckm>> Parts<'a, L> {
    pub(super) fn new(learn: L, seed: u64, progress: &'a Progress) -> Self {
        Self { learn, seed, progress, parts: Vec::new(), steps: 0 }
    }

    /// The part of these options, if it is there.
    fn place(&self, options: &CkmOptions, search: Search) -> Option<usize> {
        self.parts.iter().position(|part| part.machine.search() == search && part.machine.options() == options)
    }

    /// A part of the same kind of elements, cut from images of the same working size.
    fn cut_alike(&self, options: &CkmOptions) -> Option<usize> {
        let is_alike = |part: &Part| {
            let of = part.machine.options();
            let same = of.kinds.len() == 1 && of.side == options.side && of.kinds[0].source == options.kinds[0].source;
            same && part.machine.search() == Search::Exact
        };
        self.parts.iter().position(is_alike)
    }

    /// The parts of a setting, which must be there, with their weights.
    fn of(&self, setting: &Setting) -> Vec<(usize, f64)> {
        let parts = options_of_parts(setting).into_iter();
        parts.filter_map(|(options, search, weight)| self.place(&options, search).map(|part| (part, weight))).collect()
    }

    /// Makes the parts of settings that are not there yet. The images of all that have the same
    /// working size are read once.
    pub(super) fn make<'s>(&mut self, settings: impl Iterator<Item = &'s Setting> + Clone) -> Result<()> {
        // The parts of a whole machine are what it is put together from.
        let exact = |setting: &Setting| options_of_parts(&Setting { search: Search::Exact, ..setting.clone() });
        let wanted: Vec<CkmOptions> = settings.clone().flat_map(exact).map(|(options, ..)| options).collect();
        let sides: BTreeSet<u32> = wanted.iter().map(|options| options.side).collect();
        for side in sides {
            let mut new: Vec<CkmOptions> = Vec::new();
            for options in wanted.iter().filter(|options| options.side == side) {
                if self.cut_alike(options).is_none() && !new.iter().any(|other| other.kinds[0].source == options.kinds[0].source) {
                    new.push(options.clone());
                }
            }
            let Some(first) = new.first() else { continue };
            let all = (self.learn)(&CkmOptions { kinds: new.iter().map(|options| options.kinds[0].clone()).collect(), ..first.clone() })?;
            for (k, options) in new.into_iter().enumerate() {
                let machine = rebuilt(options, &[&all], |example| vec![example[0].elements.get().sets[k].clone()])?;
                self.add(machine);
            }
        }
        for options in wanted {
            if let (None, Some(part)) = (self.place(&options, Search::Exact), self.cut_alike(&options)) {
                self.add(Ckm { options, ..self.parts[part].machine.clone() });
            }
        }
        for setting in settings.filter(|setting| setting.search != Search::Exact) {
            let (options, search) = (setting.machine(), setting.search);
            if self.place(&options, search).is_none() {
                let kinds = self.of(&Setting { search: Search::Exact, ..setting.clone() });
                let machines: Vec<&Ckm> = kinds.iter().map(|(part, _)| &self.parts[*part].machine).collect();
                let join = |examples: &[&Example]| examples.iter().map(|example| example.elements.get().sets[0].clone()).collect();
                let mut machine = rebuilt(options, &machines, join)?;
                machine.set_search(search)?;
                self.add(machine);
            }
        }
        Ok(())
    }

    fn add(&mut self, machine: Ckm) {
        self.parts.push(Part { machine, held: Vec::new(), limit: 0, time: Duration::ZERO });
    }

    /// Forgets all parts but those of these settings.
    pub(super) fn keep(&mut self, settings: &[&Setting]) {
        let kept = self.all_of(settings);
        let mut place = 0..;
        self.parts.retain(|_| place.next().is_some_and(|part| kept.contains(&part)));
    }

    /// The positions of the parts of these settings.
    fn all_of(&self, settings: &[&Setting]) -> BTreeSet<usize> {
        settings.iter().flat_map(|setting| self.of(setting)).map(|(part, _)| part).collect()
    }

    /// The steps that it takes until the parts of these settings have judged `limit` images.
    pub(super) fn steps_to(&self, settings: &[&Setting], limit: usize) -> u64 {
        self.all_of(settings).into_iter().map(|part| limit.saturating_sub(self.parts[part].limit) as u64).sum()
    }

    /// Has the parts of these settings judge `limit` images.
    pub(super) fn judge(&mut self, settings: &[&Setting], limit: usize) -> Result<()> {
        for part in self.all_of(settings) {
            let part = &mut self.parts[part];
            if part.limit >= limit {
                continue;
            }
            let start = Instant::now();
            part.held = held_out_pieces(&part.machine, limit, &mut random::seeded(self.seed), part.held.clone(), self.progress)?;
            part.time += start.elapsed();
            self.steps += (limit - part.limit) as u64;
            part.limit = limit;
        }
        Ok(())
    }

    /// Any of the machines: all have the same training images.
    pub(super) fn any(&self) -> Option<&Ckm> {
        self.parts.first().map(|part| &part.machine)
    }

    /// The first `limit` images that are judged.
    pub(super) fn images(&self, limit: usize) -> BTreeSet<ItemId> {
        let Some(machine) = self.any() else { return BTreeSet::new() };
        let ids: Vec<ItemId> = machine.examples().map(|(_, example)| example.id).collect();
        choose(machine, limit, &mut random::seeded(self.seed)).into_iter().map(|i| ids[i]).collect()
    }

    /// These images, which its parts have judged, with the scores of a setting.
    pub(super) fn scored(&self, setting: &Setting, images: &BTreeSet<ItemId>) -> Vec<HeldOut> {
        let mut all: Vec<HeldOut> = Vec::new();
        for (turn, (part, weight)) in self.of(setting).into_iter().enumerate() {
            let held = self.parts[part].held.iter().filter(|held| images.contains(&held.id));
            if turn == 0 {
                all = held.map(|held| HeldOut { scores: weighted(&held.scores, weight), ..held.clone() }).collect();
            } else {
                all.iter_mut().zip(held).for_each(|(sum, held)| add(&mut sum.scores, &weighted(&held.scores, weight)));
            }
        }
        for held in &mut all {
            held.predicted = held.scores.ranking().first().map_or(held.predicted, |best| best.0);
        }
        all
    }

    /// Values that a setting compares to score an image, pair nodes included; and the milliseconds
    /// that it took.
    pub(super) fn cost(&self, setting: &Setting) -> (f64, f64) {
        let costs = self.of(setting).into_iter().map(|(part, _)| {
            let part = &self.parts[part];
            (values(&part.machine), part.time.as_secs_f64() * 1e3 / part.limit.max(1) as f64)
        });
        costs.fold((0.0, 0.0), |sum, cost| (sum.0 + cost.0, sum.1 + cost.1))
    }
}

/// A machine of other options on the same images: `sets` makes the elements of each from those that
/// `machines` have of it.
fn rebuilt(options: CkmOptions, machines: &[&Ckm], sets: impl Fn(&[&Example]) -> Vec<ElementSet>) -> Result<Ckm> {
    let mut machine = Ckm::new(options)?;
    for (c, class) in machines[0].classes.iter().enumerate() {
        for (i, example) in class.examples.iter().enumerate() {
            let examples: Vec<&Example> = machines.iter().map(|machine| &*machine.classes[c].examples[i]).collect();
            let elements = Elements::new(sets(&examples), example.elements.size(), &machine.cut);
            let (name, group) = (example.name.clone(), example.group.clone());
            machine.add(&class.name, Example { id: example.id, name, group, elements: elements.into() })?;
        }
    }
    Ok(machine)
}

fn weighted(scores: &Scores, weight: f64) -> Scores {
    let of = scores.of.iter().map(|score| score.map(|score| weight * score)).collect();
    Scores { of, examples: scores.examples.clone(), mass: weight * scores.mass }
}

fn add(sum: &mut Scores, scores: &Scores) {
    sum.of.iter_mut().zip(&scores.of).for_each(|(sum, score)| *sum = sum.zip(*score).map(|(sum, score)| sum + score));
    sum.mass += scores.mass;
}

/// Values that a machine compares for a mean image, pair nodes included.
fn values(machine: &Ckm) -> f64 {
    let images = machine.examples().count().max(1) as f64;
    let compared: f64 = match machine.search() {
        // At most; no index takes part in a race.
        Search::Exact | Search::Index { .. } => images,
        Search::Shortlist { images } => machine.classes.iter().map(|class| class.examples.len().min(images) as f64).sum(),
    };
    let of_kind = |(k, kind): (usize, &ElementKind)| {
        let elements = machine.examples().map(|(_, example)| example.elements.counts().nth(k).unwrap_or(0)).sum::<usize>() as f64 / images;
        // A descriptor of 256 bits has 32 bytes.
        let bytes = if kind.source.dimension() == 0 { 32 } else { kind.source.dimension() } as f64;
        let nodes = elements * machine.options().neighbours as f64;
        elements * compared * (elements * bytes) + nodes * compared * PAIR_NODE
    };
    machine.options().kinds.iter().enumerate().map(of_kind).sum()
}

/// The object of each training image, by number.
pub(in crate::ckm) fn objects(machine: &Ckm) -> BTreeMap<ItemId, usize> {
    let mut numbers: BTreeMap<Object<'_>, usize> = BTreeMap::new();
    let mut of = BTreeMap::new();
    for (_, example) in machine.examples() {
        let next = numbers.len();
        of.insert(example.id, *numbers.entry(example.object()).or_insert(next));
    }
    of
}
