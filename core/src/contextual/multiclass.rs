//! Many classes: a learner for each pair, and a game in each round.

use rand::RngExt;

use super::game::{Game, MixedStrategy};
use super::pair::{PairLearner, PairPrediction, PairSpace};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::learn::{MOST_CLASSES, OnlineClassifier, Prediction, check_class, check_classes, check_query};
use crate::random::Rng;

/// Which pairs a label teaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairUpdate {
    /// That of the guess and the truth, when they differ: the paper's.
    Paper,
    /// Each pair of the truth and another class: a label says <q, x_truth - x_j> >= 0 for every j.
    /// The bound holds all the same, for each pair has a state of its own, and the potentials of
    /// all pairs fall by at least what the paper's pair would lose on average. The state then does
    /// not depend on random guesses.
    #[default]
    AllPairs,
}

/// How classes are learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextualOptions {
    /// Where centres and queries lie, and how mistakes count.
    pub space: PairSpace,
    /// Which pairs a label teaches.
    pub update: PairUpdate,
    /// For labels that may contradict each other: a mistake at this scale or a finer one inflates
    /// the pair's knowledge sets again, and finer scales are forgotten. `None` is the condition of
    /// the bound: labels are those of centres in the ball.
    pub guard: Option<u32>,
}

impl ContextualOptions {
    /// Queries and centres in the unit ball, all pairs, no guard.
    pub fn unit(dimension: usize) -> Self {
        Self { space: PairSpace::unit(dimension), update: PairUpdate::AllPairs, guard: None }
    }

    /// Makes sure that the options are in range.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn check(&self) -> Result<()> {
        self.space.check()?;
        match self.guard {
            Some(guard) if guard > 60 => Err(Error::Option { name: "guard", found: guard.to_string(), expected: "from 0 to 60" }),
            _ => Ok(()),
        }
    }
}

/// A round that was played: the answer, and the predictions of pairs that led to it.
#[derive(Clone, Debug)]
pub struct Round {
    /// The answer.
    pub answer: Prediction,
    /// The value of the game: over all truths, the least expected fall of the potential minus the
    /// expected loss that it must cover. At least 0 but for rounding and pairs without an active
    /// scale.
    pub value: f64,
    /// Where the whole game was solved: the least of M + M', and the largest size of an entry.
    pub game: Option<[f64; 2]>,
    /// The predictions of the pairs that were evaluated, by [`pair_index`].
    looks: Vec<Option<PairPrediction>>,
}

impl AsRef<Prediction> for Round {
    fn as_ref(&self) -> &Prediction {
        &self.answer
    }
}

impl Round {
    /// The prediction of a pair of different classes, if it was evaluated.
    pub fn look(&self, a: usize, b: usize) -> Option<PairPrediction> {
        let look = (*self.looks.get(pair_index(a, b))?)?;
        Some(if a < b { look } else { look.turned() })
    }

    /// By how much the potential falls on average, at least, if `truth` is right and only the pair
    /// of the guess learns.
    pub fn expected_drop(&self, truth: ClassId) -> f64 {
        let truth = truth.index();
        let drop = |guess: Option<ClassId>| {
            let guess = guess.map(ClassId::index).filter(|guess| *guess != truth);
            guess.and_then(|guess| self.look(truth, guess)).map_or(0.0, |look| look.drops[0])
        };
        self.answer.expected(drop)
    }
}

/// The index of the pair of two different classes: pairs of a new class follow those of all before.
pub fn pair_index(a: usize, b: usize) -> usize {
    let (low, high) = (a.min(b), a.max(b));
    high * high.saturating_sub(1) / 2 + low
}

/// Classes learned by contextual search. `P` learns a pair.
///
/// Memory: k (k-1)/2 pairs, each of O(d^2) numbers a scale once it has learned; a round has room
/// for the prediction of each pair, too. A round evaluates no more than 2 (k-1) pairs while one
/// class is predicted over all others, and all pairs otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Contextual<P> {
    options: ContextualOptions,
    /// The learner that each new pair begins as a copy of.
    fresh: P,
    classes: usize,
    pairs: Vec<P>,
    /// How often a pair's knowledge sets were inflated.
    inflations: u64,
    /// By how much the potentials have fallen so far.
    dropped: f64,
    /// The largest expected loss so far of pairs without an active scale.
    unpaid: f64,
}

impl<P: PairLearner> Contextual<P> {
    /// A learner without classes.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn new(options: &ContextualOptions) -> Result<Self> {
        Self::like(options, P::new(&options.space))
    }

    /// A learner without classes, whose pairs begin as `fresh`, which lives in the same space.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn like(options: &ContextualOptions, fresh: P) -> Result<Self> {
        options.check()?;
        Ok(Self { options: *options, fresh, classes: 0, pairs: Vec::new(), inflations: 0, dropped: 0.0, unpaid: 0.0 })
    }

    /// How it learns.
    pub fn options(&self) -> &ContextualOptions {
        &self.options
    }

    /// The number of classes.
    pub fn n_classes(&self) -> usize {
        self.classes
    }

    /// The learners of pairs, by [`pair_index`]; the lower class is the first of each.
    pub fn pairs(&self) -> &[P] {
        &self.pairs
    }

    /// How often a pair's knowledge sets were inflated because labels contradict each other.
    pub fn inflations(&self) -> u64 {
        self.inflations
    }

    /// By how much the potentials have fallen so far.
    pub fn dropped(&self) -> f64 {
        self.dropped
    }

    /// An upper bound on the expected loss so far that no potential covers: of pairs that were
    /// decided on all scales, or where rounding errors would have decided.
    pub fn unpaid(&self) -> f64 {
        self.unpaid
    }

    /// The most that the mean loss (the number of mistakes, with a known margin) can add up to for
    /// so many classes, for any number of rounds: the potential of all pairs over the share of the
    /// loss that it covers. Besides there are [`Contextual::unpaid`] and the first example of each
    /// class, which costs at most the radius. Only for labels of centres in the ball, without a
    /// guard.
    pub fn bound(options: &ContextualOptions, classes: usize) -> f64 {
        let pairs = classes * classes.saturating_sub(1) / 2;
        pairs as f64 * P::bound(&options.space) / options.space.share()
    }

    /// A score for each class, `(k)`: the sum over the others of how far the middle is on its side,
    /// as a share of the bounds' half-width, -1 to 1 each. For ranking by ellipsoids; the guess
    /// itself is decided by the game. O(k^2) predictions of pairs.
    ///
    /// # Errors
    /// As [`OnlineClassifier::predict`].
    pub fn scores(&mut self, q: &[f64], rng: &mut Rng) -> Result<Vec<f64>> {
        check_query(q, self.options.space.dimension)?;
        let mut scores = vec![0.0; self.classes];
        for b in 0..self.classes {
            for a in 0..b {
                let Some(pair) = self.pairs.get_mut(pair_index(a, b)) else { continue };
                let look = pair.look(q, rng);
                let half = (look.hi - look.lo) / 2.0;
                let share = if half > 0.0 { (look.middle / half).clamp(-1.0, 1.0) } else { 0.0 };
                scores[a] += share;
                scores[b] -= share;
            }
        }
        Ok(scores)
    }

    fn look(&mut self, looks: &mut [Option<PairPrediction>], q: &[f64], a: usize, b: usize, rng: &mut Rng) -> PairPrediction {
        let index = pair_index(a, b);
        let space = self.options.space;
        let fresh = || PairPrediction::new(&space, None, 0.0, f64::NEG_INFINITY, f64::INFINITY);
        let look = match looks.get(index) {
            Some(Some(look)) => *look,
            _ => self.pairs.get_mut(index).map_or_else(fresh, |pair| pair.look(q, rng)),
        };
        if let Some(place) = looks.get_mut(index) {
            *place = Some(look);
        }
        if a < b { look } else { look.turned() }
    }

    /// The strategy of a round, and, if the whole game had to be solved, the least of M + M' and
    /// the largest size of an entry.
    fn play(&mut self, looks: &mut [Option<PairPrediction>], q: &[f64], rng: &mut Rng) -> (MixedStrategy, Option<[f64; 2]>) {
        let (k, share) = (self.classes, self.options.space.share());
        let pays = |look: PairPrediction| look.drops[0] - share * look.losses[0];
        // But for ties, only the class that beats all it meets may be a column of the game without
        // negative entries.
        let mut best = 0;
        for class in 1..k {
            if !self.look(looks, q, best, class, rng).first() {
                best = class;
            }
        }
        let others = (0..k).filter(|&class| class != best);
        let worst = others.map(|truth| pays(self.look(looks, q, truth, best, rng))).fold(0.0, f64::min);
        if worst >= 0.0 {
            let mut chances = vec![0.0; k];
            chances[best] = 1.0;
            return (MixedStrategy { chances, value: 0.0 }, None);
        }
        let mut left: Vec<usize> = Vec::new();
        for class in 0..k {
            let mut others = (0..k).filter(|&other| other != class);
            let excluded = others.any(|other| self.look(looks, q, class, other, rng).excluded[0]);
            if !excluded {
                left.push(class);
            }
        }
        if left.is_empty() {
            left = (0..k).collect();
        }
        let mut game = Game::new(left.len());
        for (row, &truth) in left.iter().enumerate() {
            for (column, &guess) in left.iter().enumerate().filter(|(_, guess)| **guess != truth) {
                game.set(row, column, pays(self.look(looks, q, truth, guess, rng)));
            }
        }
        let solved = game.solve();
        let mut chances = vec![0.0; k];
        for (class, chance) in left.iter().zip(&solved.chances) {
            chances[*class] = *chance;
        }
        (MixedStrategy { chances, value: solved.value }, Some([game.least_symmetric(), game.largest()]))
    }

    /// Teaches one pair that `truth` beats `other`.
    fn teach(&mut self, looks: &mut [Option<PairPrediction>], q: &[f64], truth: usize, other: usize, rng: &mut Rng) -> f64 {
        let look = self.look(looks, q, truth, other, rng);
        let contradicts = look.middle < 0.0 && self.options.guard.is_some_and(|guard| look.scale.is_none_or(|scale| scale >= guard));
        let guard = self.options.guard.unwrap_or(0);
        let Some(pair) = self.pairs.get_mut(pair_index(truth, other)) else { return 0.0 };
        if contradicts {
            pair.inflate(q, guard);
            self.inflations += 1;
            return 0.0;
        }
        if truth < other { pair.learn(q, &look, true) } else { pair.learn(q, &look.turned(), false) }
    }
}

impl<P: PairLearner> OnlineClassifier for Contextual<P> {
    type Round = Round;

    fn announce(&mut self, classes: usize) -> Result<()> {
        check_classes(classes)?;
        self.classes = self.classes.max(classes);
        let n = self.classes * self.classes.saturating_sub(1) / 2;
        while self.pairs.len() < n {
            self.pairs.push(self.fresh.clone());
        }
        Ok(())
    }

    fn predict(&mut self, q: &[f64], rng: &mut Rng) -> Result<Round> {
        check_query(q, self.options.space.dimension)?;
        let mut looks = vec![None; self.pairs.len()];
        if self.classes == 0 {
            return Ok(Round { answer: Prediction::default(), value: 0.0, game: None, looks });
        }
        let (mixed, game) = self.play(&mut looks, q, rng);
        let guess = draw(&mixed.chances, rng);
        let answer = Prediction { guess: Some(ClassId(guess as u32)), chances: mixed.chances };
        Ok(Round { answer, value: mixed.value, game, looks })
    }

    fn learn(&mut self, q: &[f64], round: &Round, truth: ClassId, rng: &mut Rng) -> Result<()> {
        check_query(q, self.options.space.dimension)?;
        let truth = check_class(truth)?;
        self.announce(truth + 1)?;
        let mut looks = round.looks.clone();
        looks.resize(self.pairs.len(), None);
        let guess = round.answer.guess.map(ClassId::index);
        let others: Vec<usize> = match self.options.update {
            PairUpdate::Paper => guess.into_iter().filter(|&guess| guess != truth).collect(),
            PairUpdate::AllPairs => (0..self.classes).filter(|&other| other != truth).collect(),
        };
        for (other, chance) in round.answer.chances.iter().enumerate().filter(|(other, chance)| *other != truth && **chance > 0.0) {
            let look = self.look(&mut looks, q, truth, other, rng);
            if look.scale.is_none() {
                self.unpaid += chance * look.losses[0];
            }
        }
        for other in others {
            self.dropped += self.teach(&mut looks, q, truth, other, rng);
        }
        Ok(())
    }
}

/// A class drawn with these chances.
fn draw(chances: &[f64], rng: &mut Rng) -> usize {
    if let Some(sure) = chances.iter().position(|&chance| chance == 1.0) {
        return sure;
    }
    let mut left: f64 = rng.random();
    for (class, chance) in chances.iter().enumerate() {
        left -= chance;
        if left < 0.0 {
            return class;
        }
    }
    chances.iter().rposition(|&chance| chance > 0.0).unwrap_or(0)
}

impl<P: PairLearner> Stored for Contextual<P> {
    fn write(&self, out: &mut Writer) {
        out.put(&self.options.space);
        out.put(&matches!(self.options.update, PairUpdate::AllPairs));
        out.put(&self.options.guard.map_or(u32::MAX, |guard| guard));
        out.put(&self.inflations);
        out.put(&self.dropped);
        out.put(&self.unpaid);
        out.put(&self.fresh);
        out.count(self.classes);
        out.put(&self.pairs);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let space: PairSpace = from.get()?;
        let update = if from.get()? { PairUpdate::AllPairs } else { PairUpdate::Paper };
        let guard = Some(from.get::<u32>()?).filter(|&guard| guard != u32::MAX);
        let (inflations, dropped, unpaid): (u64, f64, f64) = (from.get()?, from.get()?, from.get()?);
        let (fresh, classes): (P, u64) = (from.get()?, from.get()?);
        let options = ContextualOptions { space, update, guard };
        options.check()?;
        let pairs: Vec<P> = from.get()?;
        let classes = usize::try_from(classes).ok().filter(|&k| k <= MOST_CLASSES && pairs.len() == k * k.saturating_sub(1) / 2);
        let classes = classes.ok_or_else(|| from.wrong("a pair for any two classes", format!("{} pairs", pairs.len())))?;
        if !(dropped.is_finite() && unpaid.is_finite() && unpaid >= 0.0) || pairs.iter().chain([&fresh]).any(|pair| *pair.space() != space)
        {
            return Err(from.wrong("pairs in one space", "others"));
        }
        Ok(Self { options, fresh, classes, pairs, inflations, dropped, unpaid })
    }
}
