//! The mixture: fixed share over the advisers, each alone and joined with the order of labels, and
//! a pool of all.

use super::calibrate::CalibrationRecord;
use super::pool::{self, Pool};
use super::recurrence::Recurrence;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::ids::ClassId;

/// The opinion of an adviser in a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Opinion {
    /// A score for each class by its number: the larger, the likelier.
    Scores(Vec<f64>),
    /// Classes, the likeliest first.
    Ranking(Vec<ClassId>),
    /// None in this round: the adviser sleeps.
    #[default]
    None,
}

impl Opinion {
    /// The scores of some classes, in their order.
    fn scores(&self, classes: &[ClassId]) -> Vec<f64> {
        let score = |class: &ClassId| match self {
            Self::Scores(scores) => scores.get(class.index()).copied().unwrap_or(f64::NEG_INFINITY),
            Self::Ranking(ranking) => ranking.iter().position(|own| own == class).map_or(f64::NEG_INFINITY, |place| -(place as f64)),
            Self::None => f64::NEG_INFINITY,
        };
        classes.iter().map(score).map(|score| if score.is_finite() { score } else { f64::NEG_INFINITY }).collect()
    }
}

/// The combination of a round's opinions.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Classes by falling chance, of equals those first that the mixture thinks likelier, and then
    /// the one known for longer.
    pub ranking: Vec<ClassId>,
    /// The chance of each known class by the favourite or the mixture, whichever makes the
    /// suggestion (see [`super`]), in the order in which they became known; they add up to 1.
    pub chances: Vec<(ClassId, f64)>,
    /// The same by the mixture.
    pub mixed: Vec<(ClassId, f64)>,
    /// What each adviser alone would suggest.
    pub each: Vec<Option<ClassId>>,
    /// The same as positions among the chances.
    said: Vec<Option<usize>>,
    /// The chances by each adviser, by the pool, by each adviser joined with the order of labels,
    /// and by that order, `(2 n_advisers + 2, k)`.
    experts: Vec<Vec<f64>>,
    scores: Vec<Vec<f64>>,
    /// Which records were used: 0 in rounds after a settled class, 1 after a young one.
    record: usize,
    /// The places of the favourites' suggestion and of the mixture's, where the favourites have
    /// one.
    rivals: Option<[usize; 2]>,
}

impl Advice {
    /// The class suggested; none where none is known.
    pub fn suggestion(&self) -> Option<ClassId> {
        self.ranking.first().copied()
    }

    /// The chances by one adviser alone, of the classes in [`Advice::chances`]; those of the
    /// mixture where it says nothing.
    pub fn by(&self, adviser: usize) -> &[f64] {
        self.experts.get(adviser).filter(|_| 2 * adviser + 2 < self.experts.len()).map_or(&[], Vec::as_slice)
    }
}

/// Advisers that are trusted first, and how often following them would have been wrong.
#[derive(Clone, Debug, Default, PartialEq)]
struct Favourites {
    advisers: Vec<usize>,
    /// Rounds in which what was chosen among theirs would have been wrong, and in which the mixture
    /// would.
    wrong: [f64; 2],
}

impl Favourites {
    /// Of the suggestions of the favourites, given as positions among the chances, the one that the
    /// mixture thinks likeliest: the first favourite that makes it, and the position.
    fn suggestion(&self, said: &[Option<usize>], mixed: &[f64]) -> Option<(usize, usize)> {
        let say = self.advisers.iter().filter_map(|&adviser| Some((adviser, (*said.get(adviser)?)?)));
        // Of equally likely ones the mixture, too, takes the one known for longer.
        say.reduce(|best, other| {
            let order = mixed[other.1].total_cmp(&mixed[best.1]).then(best.1.cmp(&other.1));
            if order.is_gt() { other } else { best }
        })
    }
}

/// A mixture of advisers: see [`super`].
///
/// O(n^2 k) a round, for n advisers, besides sorting.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// Of each adviser: in rounds after a class with more examples, and after a young one.
    records: Vec<[CalibrationRecord; 2]>,
    recurrence: Recurrence,
    pool: Pool,
    /// Of the experts, in the order of [`Advice`]; they add up to 1.
    weights: Vec<f64>,
    /// The least weight at the beginning.
    prior: f64,
    favourites: Favourites,
    /// In the order in which they were first right.
    classes: Vec<ClassId>,
    rounds: f64,
    /// The sum of -ln of the truth's chance: of the mixture, and of each expert.
    log_loss: f64,
    log_losses: Vec<f64>,
}

/// Rounds after which weights are shared half as much as at first.
const CALM: f64 = 30.0;
/// The favourites' suggestion is the last class where that came again in more than this share of
/// rounds, with so many rounds added in which it did not.
const PROVED: f64 = 0.8;
const DOUBTS: f64 = 4.0;

/// An adviser's weight alone, as a share of its own; the rest has what it says joined with the
/// order of labels.
const ALONE: f64 = 0.1;

/// The place of the largest score or chance, of equals the first; none where none is above minus
/// infinity.
fn largest(scores: &[f64]) -> Option<usize> {
    let known = (0..scores.len()).filter(|&place| scores[place] > f64::NEG_INFINITY);
    known.fold(None, |best, place| if best.is_none_or(|best: usize| scores[place] > scores[best]) { Some(place) } else { best })
}

impl Mixture {
    /// A mixture of `advisers` advisers, none trusted more than another.
    ///
    /// # Errors
    /// [`Error::Option`] for none or more than 64.
    pub fn new(advisers: usize) -> Result<Self> {
        let even = 1.0 / (advisers + 2) as f64;
        Self::with(&vec![even; advisers], even, even, vec![1.0 / (advisers as f64).sqrt(); advisers])
    }

    /// A mixture that trusts some advisers most until it has seen more: of weight and exponents
    /// they share 0.8 and 1, 0.1 have the pool and each of the others' exponents, and the others
    /// share the rest. For advisers that are good from the first few examples on, such as nearest
    /// neighbours. The mixture chooses among what they suggest, while that would have been wrong no
    /// more often than its own choice: see [`super`].
    ///
    /// # Errors
    /// [`Error::Option`] for fewer than 2 advisers or more than 64, for favourites that are none of
    /// them, and for none, or all, or one twice.
    pub fn favouring(favourites: &[usize], advisers: usize) -> Result<Self> {
        let mut unique = favourites.to_vec();
        unique.sort_unstable();
        unique.dedup();
        let (m, fits) = (favourites.len(), unique.last().is_some_and(|last| *last < advisers));
        if !fits || unique.len() != m || m >= advisers {
            return Err(Error::Option { name: "favourites", found: format!("{favourites:?}"), expected: "some of the advisers, not all" });
        }
        let other = 0.1 / (advisers - m) as f64;
        let of = |favoured: f64, other: f64| {
            (0..advisers).map(move |i| if favourites.contains(&i) { favoured / m as f64 } else { other }).collect::<Vec<_>>()
        };
        let own = Favourites { advisers: favourites.to_vec(), wrong: [0.0; 2] };
        Ok(Self { favourites: own, ..Self::with(&of(0.8, other), 0.1, other, of(1.0, 0.1))? })
    }

    /// A mixture that begins with these weights of advisers, of the pool and of the order of
    /// labels, and these exponents.
    fn with(advisers: &[f64], pool: f64, order: f64, mut exponents: Vec<f64>) -> Result<Self> {
        let n = advisers.len();
        if !(1..=64).contains(&n) {
            return Err(Error::Option { name: "advisers", found: n.to_string(), expected: "from 1 to 64" });
        }
        let alone = advisers.iter().map(|weight| ALONE * weight);
        let joined = advisers.iter().map(|weight| (1.0 - ALONE) * weight);
        let mut weights: Vec<f64> = alone.chain([pool]).chain(joined).chain([order]).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        exponents.push(1.0);
        Ok(Self {
            records: vec![Default::default(); n],
            recurrence: Recurrence::default(),
            pool: Pool::new(exponents),
            prior: weights.iter().copied().fold(1.0, f64::min),
            favourites: Favourites::default(),
            log_losses: vec![0.0; weights.len()],
            weights,
            classes: Vec::new(),
            rounds: 0.0,
            log_loss: 0.0,
        })
    }

    /// The number of advisers.
    pub fn n_advisers(&self) -> usize {
        self.records.len()
    }

    /// The known classes: those that were right once, in the order in which they first were.
    pub fn classes(&self) -> &[ClassId] {
        &self.classes
    }

    /// How much each adviser is trusted now, `(n_advisers)`: not negative, with the sum 1. The
    /// weight of the pool is divided among its advisers by their exponents; that of the order of
    /// labels alone is left out.
    pub fn trust(&self) -> Vec<f64> {
        let n = self.records.len();
        let exponents = &self.pool.exponents()[..n];
        let (sum, pool) = (exponents.iter().sum::<f64>(), self.weights[n]);
        let share = |exponent: f64| if sum > 0.0 { exponent / sum } else { 1.0 / n as f64 };
        let own = |i: usize| self.weights[i] + self.weights[n + 1 + i] + pool * share(exponents[i]);
        let all: f64 = (0..n).map(own).sum();
        (0..n).map(|i| if all > 0.0 { own(i) / all } else { 1.0 / n as f64 }).collect()
    }

    /// The record of an adviser, without rounds after young classes.
    pub fn record(&self, adviser: usize) -> Option<&CalibrationRecord> {
        self.records.get(adviser).map(|[settled, _]| settled)
    }

    /// The log loss of the mixture so far, and those of the experts: each adviser, the pool, each
    /// adviser joined with the order of labels, and that order, `(2 n_advisers + 2)`.
    pub fn log_losses(&self) -> (f64, &[f64]) {
        (self.log_loss, &self.log_losses)
    }

    /// Of the rounds in which a favourite said something and the class was known: in how many what
    /// was chosen among the favourites' suggestions would have been wrong, and in how many the
    /// mixture would; see [`super`] for what suggestions cost at most.
    pub fn wrong(&self) -> [f64; 2] {
        self.favourites.wrong
    }

    /// By how much the log loss may exceed that of the best sequence of experts that changes so
    /// often: see [`super`].
    pub fn regret_bound(&self, changes: u32) -> f64 {
        let (n, t) = (self.weights.len() as f64, self.rounds.max(1.0));
        let t = t + CALM - 1.0;
        -self.prior.ln() + (t / CALM).ln() + f64::from(changes) * ((n - 1.0) * t).ln()
    }

    /// Combines opinions, one of each adviser in their order; what is missing counts as
    /// [`Opinion::None`].
    pub fn combine(&self, opinions: &[Opinion]) -> Advice {
        let k = self.classes.len();
        let scores: Vec<Vec<f64>> =
            (0..self.records.len()).map(|i| opinions.get(i).unwrap_or(&Opinion::None).scores(&self.classes)).collect();
        let record = usize::from(self.recurrence.is_young());
        let said: Vec<Option<usize>> = scores.iter().map(|scores| largest(scores)).collect();
        // In the pool, an adviser without an opinion gives all classes the same chance.
        let alone = |i: usize| said[i].map_or_else(|| vec![1.0 / k as f64; k], |_| self.records[i][record].chances(&scores[i], k));
        let mut experts: Vec<Vec<f64>> = (0..self.records.len()).map(alone).collect();
        let order = self.recurrence.chances(k);
        let factors: Vec<&[f64]> = experts.iter().chain([&order]).map(Vec::as_slice).collect();
        let pooled = self.pool.chances(&factors);
        let joined = |own: &Vec<f64>| pool::chances(own.iter().zip(&order).map(|(a, b)| a.ln() + b.ln()).collect());
        let joined: Vec<Vec<f64>> = experts.iter().map(joined).collect();
        experts.extend([pooled].into_iter().chain(joined).chain([order]));
        // An adviser without an opinion sleeps: its chances are those of the others' mixture.
        let speaks = || said.iter().map(Option::is_some);
        let sleeps: Vec<bool> = speaks().chain([true]).chain(speaks()).chain([true]).map(|speaks| !speaks).collect();
        let awake = || self.weights.iter().zip(&experts).zip(&sleeps).filter(|(_, sleeps)| !**sleeps).map(|(pair, _)| pair);
        let sum: f64 = awake().map(|(weight, _)| weight).sum();
        let mut mixed = vec![0.0; k];
        for (weight, expert) in awake() {
            mixed.iter_mut().zip(expert).for_each(|(p, own)| *p += weight / sum * own);
        }
        experts.iter_mut().zip(&sleeps).filter(|(_, sleeps)| **sleeps).for_each(|(chances, _)| chances.clone_from(&mixed));
        let class = |place: usize| self.classes.get(place).copied();
        let last = self.recurrence.last().filter(|last| *last < k && self.recurrence.proved(DOUBTS) > PROVED);
        let best = self.favourites.suggestion(&said, &mixed);
        let rivals = best.and_then(|(_, own)| Some([last.unwrap_or(own), largest(&mixed)?]));
        let [wrong, mixture_wrong] = self.favourites.wrong;
        let leads = rivals.filter(|_| wrong <= mixture_wrong).map(|[own, _]| own);
        let leader = best.filter(|_| leads.is_some()).map(|(adviser, _)| if last.is_some() { experts.len() - 1 } else { adviser });
        let mut chances = leader.and_then(|leader| experts.get(leader)).unwrap_or(&mixed).clone();
        if let Some(own) = leads {
            // Its own chance may be less by a rounding error.
            chances[own] = chances.iter().copied().fold(0.0, f64::max);
        }
        let mut places: Vec<usize> = (0..k).collect();
        let falling = |of: &[f64], a: usize, b: usize| of[b].total_cmp(&of[a]);
        places.sort_by(|&a, &b| {
            let is_led = |place: usize| leads == Some(place);
            falling(&chances, a, b).then(is_led(b).cmp(&is_led(a))).then(falling(&mixed, a, b))
        });
        let by_class = |of: Vec<f64>| self.classes.iter().copied().zip(of).collect();
        Advice {
            ranking: places.into_iter().filter_map(class).collect(),
            each: said.iter().map(|said| said.and_then(class)).collect(),
            said,
            chances: by_class(chances),
            mixed: by_class(mixed),
            experts,
            scores,
            record,
            rivals,
        }
    }

    /// Learns which class was right in the round of an advice. A class that was not known is known
    /// from now on, and teaches nothing else.
    ///
    /// # Errors
    /// [`Error::Value`] for a class number that is too large.
    pub fn learn(&mut self, advice: &Advice, truth: ClassId) -> Result<()> {
        crate::learn::check_class(truth)?;
        let k = advice.chances.len();
        let place = self.classes.iter().position(|class| *class == truth).unwrap_or(self.classes.len());
        if place == self.classes.len() {
            self.classes.push(truth);
        }
        self.recurrence.learn(place);
        let given = advice.chances.iter().position(|(class, _)| *class == truth);
        let Some(truth) = given.filter(|_| advice.experts.len() == self.weights.len()) else { return Ok(()) };
        let Some((_, mixed)) = advice.mixed.get(truth) else { return Ok(()) };
        let is_wrong = |said: Option<usize>| f64::from(u8::from(said != Some(truth)));
        if let Some(rivals) = advice.rivals {
            self.favourites.wrong.iter_mut().zip(rivals).for_each(|(wrong, said)| *wrong += is_wrong(Some(said)));
        }
        self.rounds += 1.0;
        self.log_loss -= mixed.min(1.0).ln();
        let given: Vec<f64> = advice.experts.iter().map(|expert| expert[truth]).collect();
        self.log_losses.iter_mut().zip(&given).for_each(|(sum, p)| *sum -= p.min(1.0).ln());
        // Fixed share.
        let sum: f64 = self.weights.iter().zip(&given).map(|(w, p)| w * p).sum();
        let rate = 1.0 / (self.rounds + CALM);
        let others = (self.weights.len() - 1) as f64;
        for (weight, p) in self.weights.iter_mut().zip(&given) {
            let posterior = *weight * p / sum;
            *weight = (1.0 - rate) * posterior + rate * (1.0 - posterior) / others;
        }
        let n = self.records.len();
        if let (Some((order, _)), Some(pooled)) = (advice.experts.split_last(), advice.experts.get(n)) {
            let even = vec![1.0 / k as f64; k];
            let own = advice.experts[..n].iter().zip(&advice.said).map(|(expert, said)| if said.is_some() { expert } else { &even });
            let factors: Vec<&[f64]> = own.chain([order]).map(Vec::as_slice).collect();
            self.pool.learn(&factors, pooled, truth);
        }
        for ((records, scores), said) in self.records.iter_mut().zip(&advice.scores).zip(&advice.said) {
            if said.is_some() {
                records[advice.record.min(1)].learn(scores, k, truth);
            }
        }
        Ok(())
    }
}

impl Stored for Mixture {
    fn write(&self, out: &mut Writer) {
        out.put(&self.records.iter().map(|[settled, _]| settled.clone()).collect::<Vec<_>>());
        out.put(&self.records.iter().map(|[_, young]| young.clone()).collect::<Vec<_>>());
        out.put(&self.recurrence);
        out.put(&self.pool);
        out.put(&self.weights);
        out.put(&self.prior);
        out.put(&self.favourites.advisers.iter().map(|i| *i as u32).collect::<Vec<_>>());
        self.favourites.wrong.iter().for_each(|wrong| out.put(wrong));
        out.put(&self.classes.iter().map(|class| class.0).collect::<Vec<u32>>());
        out.put(&self.rounds);
        out.put(&self.log_loss);
        out.put(&self.log_losses);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (settled, young): (Vec<CalibrationRecord>, Vec<CalibrationRecord>) = (from.get()?, from.get()?);
        let (recurrence, pool): (Recurrence, Pool) = (from.get()?, from.get()?);
        let (weights, prior): (Vec<f64>, f64) = (from.get()?, from.get()?);
        let advisers: Vec<usize> = from.get::<Vec<u32>>()?.into_iter().map(|adviser| adviser as usize).collect();
        let favourites = Favourites { advisers, wrong: [from.get()?, from.get()?] };
        let classes: Vec<ClassId> = from.get::<Vec<u32>>()?.into_iter().map(ClassId).collect();
        let mut numbers: Vec<ClassId> = classes.clone();
        numbers.sort_unstable();
        numbers.dedup();
        let is_known = recurrence.n_classes() == classes.len();
        if !is_known || numbers.len() != classes.len() || numbers.last().is_some_and(|last| crate::learn::check_class(*last).is_err()) {
            return Err(from.wrong("classes, each once", format!("{} of them", classes.len())));
        }
        let (rounds, log_loss, log_losses): (f64, f64, Vec<f64>) = (from.get()?, from.get()?, from.get()?);
        let n = settled.len();
        let experts = 2 * n + 2;
        let fits = (1..=64).contains(&n)
            && young.len() == n
            && (favourites.advisers.is_empty() || Self::favouring(&favourites.advisers, n).is_ok())
            && pool.exponents().len() == n + 1
            && [weights.len(), log_losses.len()] == [experts, experts];
        let is_count = |x: &f64| x.is_finite() && *x >= 0.0;
        let counts = weights.iter().chain(&log_losses).chain([&rounds, &log_loss]).all(is_count);
        let is_told = |wrong: &f64| is_count(wrong) && wrong.fract() == 0.0 && *wrong <= rounds;
        let counts = counts && favourites.wrong.iter().all(is_told);
        let sum: f64 = weights.iter().sum();
        let is_prior = prior > 0.0 && prior <= 1.0 && weights.iter().all(|weight| *weight > 0.0);
        if !fits || !counts || !is_prior || (sum - 1.0).abs() > 1e-6 {
            return Err(from.wrong("a weight and a record for each adviser", format!("{n} records and {} weights", weights.len())));
        }
        let records = settled.into_iter().zip(young).map(|(settled, young)| [settled, young]).collect();
        Ok(Self { records, recurrence, pool, weights, prior, favourites, classes, rounds, log_loss, log_losses })
    }
}
