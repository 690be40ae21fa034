//! A labelling desk without a person: how many suggestions must be corrected until everything is
//! labelled.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::orders::StreamOrder;
use super::things::{Thing, Things};
use crate::advise::{Adviser, Contextually, Linearly, LocalMeans, Mixture, Nearest, Neighbours, Opinion, Remembering, recognised};
use crate::ckm::Scores;
use crate::cmt::{Cmt, CmtOptions};
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::online_linear::Rule;
use crate::progress::Progress;
use crate::random::{self, Rng};

/// Leaves of a memory of captions that are looked at.
const LEAVES: usize = 8;

/// Corrections by one adviser, or by the mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Corrections {
    /// Who suggested.
    pub name: &'static str,
    /// For each order: corrections until everything was labelled. The first example of each class
    /// is one in any case.
    pub of: Vec<f64>,
    /// Time of an example, to suggest and to learn; none of what was worked out before.
    pub time: Duration,
}

impl Corrections {
    fn new(name: &'static str) -> Self {
        Self { name, of: Vec::new(), time: Duration::ZERO }
    }

    /// The mean over orders.
    pub fn mean(&self) -> f64 {
        self.of.iter().sum::<f64>() / self.of.len().max(1) as f64
    }

    /// The standard deviation over orders; 0 of a single one.
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.of.iter().map(|x| (x - mean) * (x - mean)).sum();
        (squares / self.of.len().saturating_sub(1).max(1) as f64).sqrt()
    }
}

/// What came of desks in several orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Desks {
    /// Examples labelled in each order, and their classes.
    pub examples: usize,
    /// Classes.
    pub classes: usize,
    /// The mixture.
    pub mixture: Corrections,
    /// Each adviser alone.
    pub advisers: Vec<Corrections>,
    /// Who always suggests the class of the last thing.
    pub last: Corrections,
    /// The mixture's trust in each adviser at the end, on average.
    pub trust: Vec<f64>,
    /// The most, over orders, of the mixture's log loss beyond that of the best adviser, and the
    /// bound on it.
    pub regret: [f64; 2],
}

impl Desks {
    /// The mixture's corrections over those of the adviser that was best on average, or of always
    /// suggesting the last class where that is better.
    pub fn ratio(&self) -> f64 {
        let best = self.advisers.iter().chain([&self.last]).map(Corrections::mean).fold(f64::INFINITY, f64::min);
        self.mixture.mean() / best
    }
}

/// An adviser that sees some of a thing.
struct Seeing<A, F> {
    adviser: A,
    look: F,
}

impl<A: Adviser<[f64]>, F: Fn(&Thing) -> &[f64]> Adviser<Thing> for Seeing<A, F> {
    fn name(&self) -> &'static str {
        self.adviser.name()
    }

    fn opinion(&mut self, thing: &Thing, rng: &mut Rng) -> Result<Opinion> {
        self.adviser.opinion((self.look)(thing), rng)
    }

    fn learn(&mut self, thing: &Thing, truth: ClassId, rng: &mut Rng) -> Result<()> {
        self.adviser.learn((self.look)(thing), truth, rng)
    }
}

/// A memory of captions; of what has none it thinks nothing.
struct Reading(Remembering);

impl Adviser<Thing> for Reading {
    fn name(&self) -> &'static str {
        "captions"
    }

    fn opinion(&mut self, thing: &Thing, rng: &mut Rng) -> Result<Opinion> {
        if thing.words.is_empty() { Ok(Opinion::None) } else { self.0.opinion(&thing.words, rng) }
    }

    fn learn(&mut self, thing: &Thing, truth: ClassId, rng: &mut Rng) -> Result<()> {
        if thing.words.is_empty() { Ok(()) } else { self.0.learn(&thing.words, truth, rng) }
    }
}

type Advisers = Vec<Box<dyn Adviser<Thing>>>;

/// Advisers that know nothing yet: all, or those with these names.
fn advisers(things: &Things, only: Option<&[&str]>) -> Result<Advisers> {
    let Some(first) = things.all.first() else { return Err(Error::value("desk", "things to label", "none")) };
    let (whole, seen) = (first.whole.len(), first.seen.len());
    fn all(thing: &Thing) -> &[f64] {
        &thing.whole
    }
    fn some(thing: &Thing) -> &[f64] {
        &thing.seen
    }
    let linear = |rule| Seeing { adviser: Linearly::new(rule, whole), look: all };
    let mut made: Advisers = vec![
        Box::new(Seeing { adviser: Nearest::new(whole), look: all }),
        Box::new(Seeing { adviser: Contextually::new(seen)?, look: some }),
        Box::new(Seeing { adviser: Neighbours::new(whole), look: all }),
        Box::new(Seeing { adviser: LocalMeans::new(whole), look: all }),
        Box::new(linear(Rule::PassiveAggressive { aggressiveness: 1.0 })),
        Box::new(linear(Rule::Perceptron)),
        Box::new(linear(Rule::SecondOrder { ridge: 1.0 })),
    ];
    if things.all.iter().any(|thing| !thing.words.is_empty()) {
        made.push(Box::new(Reading(Remembering::new(Cmt::new(&CmtOptions::default())?, LEAVES))));
    }
    made.retain(|adviser| only.is_none_or(|only| only.contains(&adviser.name())));
    Ok(made)
}

/// Orders of all things: the same for the same seed, whoever asks.
///
/// # Errors
/// As [`StreamOrder::draw`].
pub fn draw(things: &Things, order: StreamOrder, orders: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    let classes: Vec<usize> = things.all.iter().map(|thing| thing.class.index()).collect();
    let objects: Option<Vec<usize>> = things.all.iter().map(|thing| thing.object).collect();
    (0..orders as u64).map(|number| order.draw(&classes, objects.as_deref(), &mut random::stream(seed, number))).collect()
}

/// One desk.
struct Sitting {
    mixture: f64,
    each: Vec<f64>,
    last: f64,
    times: Vec<Duration>,
    mixing: Duration,
    trust: Vec<f64>,
    regret: [f64; 2],
}

/// Labels all things, in each of `orders` orders of each kind drawn from `seed`, with all advisers
/// or with those named in `only`, which hear every label; the recogniser is there wherever there
/// are images. Orders are worked at on all threads, each with a generator of its own, so that the
/// number of threads changes no count; what the recogniser compares, it compares once for all
/// orders.
///
/// # Errors
/// [`Error::Value`] when there is nothing to label; [`Error::Option`] for an order that cannot be
/// had, or none; [`Error::Cancelled`].
pub fn desks(
    things: &Things,
    only: Option<&[&str]>,
    kinds: &[StreamOrder],
    orders: usize,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Desks>> {
    if orders == 0 {
        return Err(Error::Option { name: "orders", found: "0".into(), expected: "1 or more" });
    }
    let places: Vec<Vec<usize>> = kinds.iter().map(|order| draw(things, *order, orders, seed)).collect::<Result<Vec<_>>>()?.concat();
    let mut names: Vec<&'static str> = advisers(things, only)?.iter().map(|adviser| adviser.name()).collect();
    let judged = things.judged(&places, progress)?;
    if judged.is_some() {
        names.push("recogniser");
    }
    let mut classes: Vec<ClassId> = things.all.iter().map(|thing| thing.class).collect();
    classes.sort_unstable();
    classes.dedup();
    progress.begin("Labelling", (things.all.len() * places.len()) as u64);
    let sit = |(number, places): (usize, &Vec<usize>)| {
        let judged = |place: usize| judged.as_ref().and_then(|judged| judged[place].get(number));
        sitting(things, advisers(things, only)?, places, judged, random::stream(seed, (1 << 32) + (number % orders) as u64), progress)
    };
    let sittings: Vec<Sitting> = places.par_iter().enumerate().map(sit).collect::<Result<_>>()?;
    let none = Desks {
        examples: things.all.len(),
        classes: classes.len(),
        mixture: Corrections::new("mixture"),
        advisers: names.into_iter().map(Corrections::new).collect(),
        last: Corrections::new("last class"),
        trust: Vec::new(),
        regret: [f64::NEG_INFINITY; 2],
    };
    Ok(sittings.chunks(orders).map(|sittings| summed(none.clone(), sittings)).collect())
}

/// What came of sittings in orders of one kind.
fn summed(none: Desks, sittings: &[Sitting]) -> Desks {
    let mut made = none;
    let orders = sittings.len();
    made.trust = vec![0.0; made.advisers.len()];
    let rounds = (made.examples * orders).max(1) as u32;
    for sitting in sittings {
        made.mixture.of.push(sitting.mixture);
        made.mixture.time += sitting.mixing / rounds;
        made.last.of.push(sitting.last);
        for ((corrections, n), time) in made.advisers.iter_mut().zip(&sitting.each).zip(&sitting.times) {
            corrections.of.push(*n);
            corrections.time += *time / rounds;
        }
        made.trust.iter_mut().zip(&sitting.trust).for_each(|(sum, trust)| *sum += trust / orders as f64);
        made.regret = [made.regret[0].max(sitting.regret[0]), made.regret[1].max(sitting.regret[1])];
    }
    made
}

fn sitting<'a>(
    things: &Things,
    mut advisers: Advisers,
    places: &[usize],
    judged: impl Fn(usize) -> Option<&'a Scores>,
    mut rng: Rng,
    progress: &Progress,
) -> Result<Sitting> {
    let n = advisers.len() + usize::from(things.pieces.is_some());
    // These need but one example of a class, and so does the recogniser, who tells more apart.
    let place = |name: &str| advisers.iter().position(|adviser| adviser.name() == name);
    let near = ["local-means", "nearest"].into_iter().filter_map(place).collect();
    let favourites: Vec<usize> = if things.pieces.is_some() { vec![n - 1] } else { near };
    let mut mixture = if favourites.is_empty() { Mixture::new(n)? } else { Mixture::favouring(&favourites, n)? };
    let mut sum = Sitting {
        mixture: 0.0,
        each: vec![0.0; n],
        last: 0.0,
        times: vec![Duration::ZERO; n],
        mixing: Duration::ZERO,
        trust: Vec::new(),
        regret: [0.0; 2],
    };
    // Classes are numbered as they come: one that nobody has seen must not be a candidate.
    let mut known: Vec<ClassId> = Vec::new();
    let mut last = None;
    for &place in places {
        progress.step()?;
        let thing = &things.all[place];
        let mut opinions = Vec::with_capacity(n);
        for (adviser, time) in advisers.iter_mut().zip(&mut sum.times) {
            let start = Instant::now();
            opinions.push(adviser.opinion(thing, &mut rng)?);
            *time += start.elapsed();
        }
        if let (Some(scores), Some(pieces)) = (judged(place), &things.pieces) {
            // The machine has all classes, by name; here they are numbered as they come.
            let first = |own: ClassId| pieces.classes().get(own.index()).and_then(|class| class.examples.first());
            let number =
                |own| known.iter().position(|known| Some(*known) == first(own).map(|example| things.all[example.id.0 as usize].class));
            opinions.push(recognised(scores, |own| number(own).map(|number| ClassId(number as u32))));
        }
        let number = known.iter().position(|known| *known == thing.class).unwrap_or_else(|| {
            known.push(thing.class);
            known.len() - 1
        });
        let truth = ClassId(number as u32);
        let start = Instant::now();
        let advice = mixture.combine(&opinions);
        let corrected = |suggested: Option<ClassId>| f64::from(u8::from(suggested != Some(truth)));
        sum.mixture += corrected(advice.suggestion());
        sum.each.iter_mut().zip(&advice.each).for_each(|(sum, suggested)| *sum += corrected(*suggested));
        sum.last += corrected(last);
        last = Some(truth);
        mixture.learn(&advice, truth)?;
        sum.mixing += start.elapsed();
        for (adviser, time) in advisers.iter_mut().zip(&mut sum.times) {
            let start = Instant::now();
            adviser.learn(thing, truth, &mut rng)?;
            *time += start.elapsed();
        }
    }
    let (log_loss, log_losses) = mixture.log_losses();
    let best = log_losses.iter().take(n).copied().fold(f64::INFINITY, f64::min);
    sum.regret = [log_loss - best, mixture.regret_bound(0)];
    sum.trust = mixture.trust();
    Ok(sum)
}
