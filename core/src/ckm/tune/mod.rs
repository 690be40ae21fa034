//! Chooses a machine's options by races on held-out objects of its training images.
//!
//! Each race is about one group of options (which kinds of elements there are and their weights,
//! 0 included; how many elements; place; pair nodes; working size). All its settings judge the same
//! training images, each without its object, in batches that double; after each batch those that
//! are significantly worse than the best, image by image, are dropped. After O. Maron and
//! A. Moore, *Hoeffding races*, NIPS 1993, and M. Birattari and others, *A racing algorithm for
//! configuring metaheuristics*, GECCO 2002, with a normal bound on paired differences in place of
//! Hoeffding's and Friedman's. Of the settings within one standard error of the best the one that
//! compares the fewest values wins (L. Breiman and others, *Classification and regression trees*,
//! 1984, section 3.4.3), and the next race begins there.
//!
//! Work is counted in steps, never in time, so a seed and a number of steps give the same answer on
//! any machine and any number of threads. The accuracy of the best of many is a little too high:
//! what it is on new images only objects that took no part can tell.

mod paired;
pub(super) mod parts;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::accuracy::Estimate;
use super::judge::corrected;
use super::{Ckm, CkmOptions, Search};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::progress::Progress;
use paired::{Answers, difference, share};
use parts::{Parts, objects};
use settings::{GROUPS, Setting};

/// Images of the first batch of a race.
const FIRST: usize = 64;

/// A setting is dropped when it is worse by this many standard errors: of forty settings as good as
/// the best, one is dropped with a chance of a twentieth.
const SIGNIFICANT: f64 = 3.0;

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct RacedSetting {
    /// The options of the machine.
    pub options: CkmOptions,
    /// Which training images it compares.
    pub search: Search,
    /// The share of right answers about images whose objects were left out.
    pub accuracy: Estimate,
    /// Images that it judged.
    pub judged: usize,
    /// How much larger the best setting's share of right answers is, on the images that both
    /// judged.
    pub behind: Estimate,
    /// Whether it was dropped, being significantly worse than another.
    pub is_dropped: bool,
    /// Values compared to score an image, a pair node counted as some.
    pub values: f64,
    /// Milliseconds to score an image, on all threads.
    pub ms: f64,
}

/// What tuning came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// All settings that were tried, in the order of the races.
    pub tried: Vec<RacedSetting>,
    /// The position of the best.
    pub best: usize,
    /// Steps that were made: judgements of an image by one kind of elements.
    pub steps: u64,
    /// Whether it was cancelled before its end.
    pub is_cancelled: bool,
}

impl Tuning {
    /// The best setting.
    pub fn best(&self) -> &RacedSetting {
        &self.tried[self.best]
    }
}

/// Races options around `base`. `learn` trains a machine of given options on the training images,
/// always the same ones. At most `steps` judgements of an image by one kind of elements are made
/// (a shortlist judges by all kinds at once). When cancelled, it answers with the best so far, once
/// there is one. Equal on any number of threads, but for times.
///
/// # Errors
/// Those of `learn`; [`Error::Option`] when `base` is out of range or the steps are too few to
/// begin; [`Error::Value`] when no class has two objects, [`Error::Cancelled`].
///
/// # Complexity
/// A step costs as much as scoring an image by one kind of elements.
pub fn tune(
    base: &CkmOptions,
    steps: u64,
    seed: u64,
    learn: impl FnMut(&CkmOptions) -> Result<Ckm>,
    progress: &Progress,
) -> Result<Tuning> {
    base.check()?;
    // Kinds without pieces have no weight, and are no part of a race.
    let (pieces, aside) = base.kinds.iter().cloned().partition::<Vec<_>, _>(|kind| kind.source.has_pieces());
    let base = &CkmOptions { kinds: pieces, ..base.clone() };
    let weights: Vec<f32> = base.kinds.iter().map(|kind| kind.kernel.weight).collect();
    let start = Setting { options: base.clone(), search: Search::Exact };
    let mut races =
        Races { parts: Parts::new(learn, seed, progress), tried: Vec::new(), best: None, leader: None, objects: BTreeMap::new() };
    let result = races.run(start, &weights, steps);
    let is_cancelled = matches!(result, Err(Error::Cancelled));
    match (result, races.best) {
        (Ok(()), Some(best)) | (Err(Error::Cancelled), Some(best)) => {
            let (steps, objects) = (races.parts.steps, &races.objects);
            let answered: Vec<Entry> = races.tried.into_iter().filter(|entry| !entry.answers.is_empty()).collect();
            // Those without answers are left out, so positions move.
            let best = answered.iter().position(|entry| entry.number == best).unwrap_or(0);
            let told = |entry: &Entry| {
                let mut options = entry.setting.machine();
                options.kinds.extend(aside.iter().cloned());
                RacedSetting {
                    options,
                    search: entry.setting.search,
                    accuracy: share(&entry.longest, objects),
                    judged: entry.longest.len(),
                    behind: difference(&answered[best].longest, &entry.longest, objects),
                    is_dropped: entry.is_dropped,
                    values: entry.cost.0,
                    ms: entry.cost.1,
                }
            };
            let tried = answered.iter().map(told).collect();
            Ok(Tuning { tried, best, steps, is_cancelled })
        }
        (Err(error), _) => Err(error),
        (Ok(()), None) => {
            let expected = "enough for every kind of elements to judge some images";
            Err(Error::Option { name: "steps", found: steps.to_string(), expected })
        }
    }
}

/// A setting that is or was in a race.
struct Entry {
    number: usize,
    setting: Setting,
    /// Its answers in the last race it was in.
    answers: Answers,
    /// Its answers in the race in which it judged the most images.
    longest: Answers,
    is_dropped: bool,
    /// Values and milliseconds.
    cost: (f64, f64),
}

struct Races<'a, L> {
    parts: Parts<'a, L>,
    tried: Vec<Entry>,
    /// The cheapest of those that are as good as the leader, as far as can be told.
    best: Option<usize>,
    /// The one with the most right answers.
    leader: Option<usize>,
    /// The object of each training image.
    objects: BTreeMap<ItemId, usize>,
}

impl<L: FnMut(&CkmOptions) -> Result<Ckm>> Races<'_, L> {
    /// All races, each with its share of the steps that are left; the last of them, of exact search
    /// and shortlist, goes on as long as there are steps.
    fn run(&mut self, start: Setting, weights: &[f32], steps: u64) -> Result<()> {
        let mut now = start;
        for (turn, group) in GROUPS.into_iter().enumerate() {
            let around = group.around(&now.options, weights).into_iter();
            let others = around.filter(|options| options.check().is_ok()).map(|options| Setting { options, search: Search::Exact });
            let share = (steps - self.parts.steps) / (GROUPS.len() + 1 - turn) as u64;
            self.race(std::iter::once(now.clone()).chain(others).collect(), share)?;
            match self.best {
                Some(best) => now = self.tried[best].setting.clone(),
                None => return Ok(()),
            }
        }
        let listed = Setting { search: Search::SHORTLIST, ..now.clone() };
        self.race(vec![now, listed], steps - self.parts.steps)
    }

    /// A race of those of `settings` that were not tried before, the best and the leader.
    fn race(&mut self, settings: Vec<Setting>, steps: u64) -> Result<()> {
        let mut alive: Vec<usize> = self.best.into_iter().chain(self.leader.filter(|leader| Some(*leader) != self.best)).collect();
        for setting in settings {
            if !self.tried.iter().any(|entry| entry.setting.is_same(&setting)) && !setting.machine().kinds.is_empty() {
                let number = self.tried.len();
                alive.push(number);
                self.tried.push(Entry {
                    number,
                    setting,
                    answers: Answers::new(),
                    longest: Answers::new(),
                    is_dropped: false,
                    cost: (0.0, 0.0),
                });
            }
        }
        let entered = alive.len();
        self.parts.make(alive.iter().map(|&i| &self.tried[i].setting))?;
        let Some(machine) = self.parts.any() else { return Ok(()) };
        let all = machine.examples().count();
        if self.objects.is_empty() {
            self.objects = objects(machine);
        }
        let end = self.parts.steps + steps;
        let mut limit = 0;
        loop {
            let settings: Vec<&Setting> = alive.iter().map(|&i| &self.tried[i].setting).collect();
            let wanted = (2 * limit).clamp(FIRST.min(all), all);
            let fits = |limit: usize| self.parts.steps + self.parts.steps_to(&settings, limit) <= end;
            // The steps grow with the limit, so halving finds the largest that fits.
            let (mut low, mut high) = (limit, wanted + 1);
            while high - low > 1 {
                let middle = (low + high) / 2;
                if fits(middle) { low = middle } else { high = middle }
            }
            if low == limit {
                break;
            }
            self.parts.judge(&settings, low)?;
            limit = low;
            self.compare(&mut alive, limit)?;
            if alive.len() == 1 && entered > 1 {
                break;
            }
        }
        if limit > 0 {
            self.leader = alive.iter().copied().reduce(|best, i| if self.right(i) > self.right(best) { i } else { best });
            self.best = self.leader.map(|leader| self.cheapest(leader, &alive));
        }
        let kept: Vec<&Setting> = self.best.iter().chain(&self.leader).map(|&i| &self.tried[i].setting).collect();
        self.parts.keep(&kept);
        Ok(())
    }

    /// Takes in what those who are left said of the first `limit` images, and drops the ones that
    /// are significantly worse than the one with the most right answers.
    fn compare(&mut self, alive: &mut Vec<usize>, limit: usize) -> Result<()> {
        let images = self.parts.images(limit);
        let Some(machine) = self.parts.any() else { return Ok(()) };
        let groups: Vec<Vec<_>> = alive.iter().map(|&i| self.parts.scored(&self.tried[i].setting, &images)).collect();
        let answers: Vec<Answers> = groups
            .into_par_iter()
            .map(|raw| corrected(machine, raw).held_out.iter().map(|held| (held.id, held.class == held.predicted)).collect())
            .collect();
        if answers.iter().all(Answers::is_empty) {
            return Err(Error::value("images", "two objects or more in some class, so that one can be left out", "none"));
        }
        for (&i, answers) in alive.iter().zip(answers) {
            self.tried[i].cost = self.parts.cost(&self.tried[i].setting);
            if answers.len() >= self.tried[i].longest.len() {
                self.tried[i].longest.clone_from(&answers);
            }
            self.tried[i].answers = answers;
        }
        let Some(leader) = alive.iter().copied().reduce(|best, i| if self.right(i) > self.right(best) { i } else { best }) else {
            return Ok(());
        };
        // Until a first race is over, the most accurate is the best so far.
        if self.leader.is_none() {
            self.best = Some(leader);
        }
        let is_worse = |i: usize| {
            let gap = difference(&self.tried[leader].answers, &self.tried[i].answers, &self.objects);
            gap.value > SIGNIFICANT * gap.spread
        };
        let dropped: BTreeSet<usize> = alive.iter().copied().filter(|&i| is_worse(i)).collect();
        dropped.iter().for_each(|&i| self.tried[i].is_dropped = true);
        alive.retain(|i| !dropped.contains(i));
        Ok(())
    }

    /// The number of right answers.
    fn right(&self, i: usize) -> usize {
        self.tried[i].answers.values().filter(|right| **right).count()
    }

    /// Of those who are within one standard error of the leader the one that compares the fewest
    /// values.
    fn cheapest(&self, leader: usize, alive: &[usize]) -> usize {
        let is_equal = |i: usize| {
            let gap = difference(&self.tried[leader].answers, &self.tried[i].answers, &self.objects);
            i == leader || gap.value <= gap.spread
        };
        let equals = alive.iter().copied().filter(|&i| is_equal(i));
        equals.reduce(|best, i| if self.tried[i].cost.0 < self.tried[best].cost.0 { i } else { best }).unwrap_or(leader)
    }
}
