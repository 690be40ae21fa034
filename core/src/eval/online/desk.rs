//! A simulated labelling desk: how many suggestions must be corrected until all items are labelled.

use std::time::Duration;

use rayon::prelude::*;

use super::orders::StreamOrder;
use super::things::{DeskItems, JudgedItem};
use crate::advise::{AdviserKind, Ensemble, Times, recognised};
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::progress::Progress;
use crate::random;

/// Corrections by one adviser, or by the mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Corrections {
    /// The name of the adviser or mixture.
    pub name: &'static str,
    /// For each order: corrections until all items were labelled. The first example of each class
    /// always counts as one.
    pub of: Vec<f64>,
    /// Mean time for an item, to suggest and to learn; the recogniser's predictions, which are
    /// computed before, are not in it.
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

/// The results of desks in several orders of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Desks {
    /// Items labelled in each order.
    pub examples: usize,
    /// Classes.
    pub classes: usize,
    /// The mixture.
    pub mixture: Corrections,
    /// Each adviser alone.
    pub advisers: Vec<Corrections>,
    /// Always suggesting the class of the last item.
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

/// Orders of all items: the same for the same seed.
///
/// # Errors
/// As [`StreamOrder::draw`].
pub fn draw(things: &DeskItems, order: StreamOrder, orders: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    let classes: Vec<usize> = things.all.iter().map(|thing| thing.class.index()).collect();
    let objects: Option<Vec<usize>> = things.all.iter().map(|thing| thing.object).collect();
    (0..orders as u64).map(|number| order.draw(&classes, objects.as_deref(), &mut random::stream(seed, number))).collect()
}

/// The result of labelling all items in one order.
struct Sitting {
    mixture: f64,
    each: Vec<f64>,
    last: f64,
    times: Times,
    trust: Vec<f64>,
    regret: [f64; 2],
    /// Whether each adviser ever had an opinion.
    spoke: Vec<bool>,
}

/// Labels all items, in each of `orders` orders of each kind drawn from `seed`, with an ensemble of
/// all advisers for which there is data, or of those in `only`, such as [`AdviserKind::SERVED`].
/// Advisers that never have an opinion are left out of the result. Orders are computed on all
/// threads, each with a generator of its own, so that the number of threads changes no count; the
/// recogniser compares each pair of images once for all orders.
///
/// # Errors
/// [`Error::Value`] when there is nothing to label; [`Error::Option`] for an order that cannot be
/// had, or for no orders; [`Error::Cancelled`].
pub fn desks(
    things: &DeskItems,
    only: Option<&[AdviserKind]>,
    kinds: &[StreamOrder],
    orders: usize,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Desks>> {
    if orders == 0 {
        return Err(Error::Option { name: "orders", found: "0".into(), expected: "1 or more" });
    }
    let places: Vec<Vec<usize>> = kinds.iter().map(|order| draw(things, *order, orders, seed)).collect::<Result<Vec<_>>>()?.concat();
    let Some(first) = things.all.first() else { return Err(Error::value("desk", "things to label", "none")) };
    let dimension = first.views.whole.len();
    let advisers = only.map_or_else(|| things.advisers(), <[AdviserKind]>::to_vec);
    let compares_wholes = advisers.contains(&AdviserKind::WholeImages);
    let asks_recogniser = compares_wholes || advisers.contains(&AdviserKind::Recogniser);
    let judged = if asks_recogniser { things.judged(&places, compares_wholes, progress)? } else { None };
    let mut classes: Vec<ClassId> = things.all.iter().map(|thing| thing.class).collect();
    classes.sort_unstable();
    classes.dedup();
    progress.begin("Labelling", (things.all.len() * places.len()) as u64);
    let sit = |(number, places): (usize, &Vec<usize>)| {
        let judged = |place: usize| judged.as_ref().and_then(|judged| judged[place].get(number));
        let rng = random::stream(seed, (1 << 32) + (number % orders) as u64);
        sitting(things, Ensemble::new(&advisers, dimension, rng)?, places, judged, progress)
    };
    let sittings: Vec<Sitting> = places.par_iter().enumerate().map(sit).collect::<Result<_>>()?;
    let none = Desks {
        examples: things.all.len(),
        classes: classes.len(),
        mixture: Corrections::new("mixture"),
        advisers: advisers.iter().map(|kind| Corrections::new(kind.name())).collect(),
        last: Corrections::new("last class"),
        trust: vec![0.0; advisers.len()],
        regret: [f64::NEG_INFINITY; 2],
    };
    Ok(sittings.chunks(orders).map(|sittings| summed(none.clone(), sittings)).collect())
}

/// The sum of sittings in orders of one kind.
fn summed(none: Desks, sittings: &[Sitting]) -> Desks {
    let mut made = none;
    let orders = sittings.len();
    let rounds = (made.examples * orders).max(1) as u32;
    for sitting in sittings {
        made.mixture.of.push(sitting.mixture);
        made.mixture.time += sitting.times.mixture / rounds;
        made.last.of.push(sitting.last);
        for ((corrections, n), time) in made.advisers.iter_mut().zip(&sitting.each).zip(&sitting.times.advisers) {
            corrections.of.push(*n);
            corrections.time += *time / rounds;
        }
        made.trust.iter_mut().zip(&sitting.trust).for_each(|(sum, trust)| *sum += trust / orders as f64);
        made.regret = [made.regret[0].max(sitting.regret[0]), made.regret[1].max(sitting.regret[1])];
    }
    let spoke = |adviser: usize| sittings.iter().any(|sitting| sitting.spoke[adviser]);
    let told = made.advisers.into_iter().zip(made.trust).enumerate().filter(|(adviser, _)| spoke(*adviser));
    (made.advisers, made.trust) = told.map(|(_, told)| told).unzip();
    made
}

fn sitting<'a>(
    things: &DeskItems,
    mut ensemble: Ensemble,
    places: &[usize],
    judged: impl Fn(usize) -> Option<&'a JudgedItem>,
    progress: &Progress,
) -> Result<Sitting> {
    let n = ensemble.kinds().len();
    let (mut mixture, mut each, mut spoke, mut from_last) = (0.0, vec![0.0; n], vec![false; n], 0.0);
    // Classes are numbered as they come: a class without examples must not be a candidate.
    let mut known: Vec<ClassId> = Vec::new();
    let mut last = None;
    for &place in places {
        progress.step()?;
        let thing = &things.all[place];
        let mut views = thing.views.clone();
        if let (Some(JudgedItem { scores, whole }), Some(pieces)) = (judged(place), &things.pieces) {
            // The machine has all classes, by name; here they are numbered as they come.
            let first = |own: ClassId| pieces.classes().get(own.index()).and_then(|class| class.examples.first());
            let number =
                |own| known.iter().position(|known| Some(*known) == first(own).map(|example| things.all[example.id.0 as usize].class));
            views.recognised = recognised(scores, whole, |own| number(own).map(|number| ClassId(number as u32)));
        }
        let number = known.iter().position(|known| *known == thing.class).unwrap_or_else(|| {
            known.push(thing.class);
            known.len() - 1
        });
        let truth = ClassId(number as u32);
        let advice = ensemble.learn(&views, truth)?;
        let corrected = |suggested: Option<ClassId>| f64::from(u8::from(suggested != Some(truth)));
        mixture += corrected(advice.suggestion());
        each.iter_mut().zip(&advice.each).for_each(|(sum, suggested)| *sum += corrected(*suggested));
        spoke.iter_mut().zip(&advice.each).for_each(|(spoke, suggested)| *spoke |= suggested.is_some());
        from_last += corrected(last);
        last = Some(truth);
    }
    let (log_loss, log_losses) = ensemble.mixture().log_losses();
    let best = log_losses.iter().take(n).copied().fold(f64::INFINITY, f64::min);
    let regret = [log_loss - best, ensemble.mixture().regret_bound(0)];
    let trust = ensemble.mixture().trust();
    Ok(Sitting { mixture, each, last: from_last, times: ensemble.times().clone(), trust, regret, spoke })
}
