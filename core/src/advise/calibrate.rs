//! Chances from scores: how often an adviser's first, second, ... choice was right when it was as
//! sure as now.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;

/// Bins of the lead of the first choice over the second: how sure an adviser is.
const DEGREES: usize = 9;
/// Pseudo-rounds with the accuracy over all bins that are added to each bin.
const PRIOR: f64 = 4.0;
/// Pseudo-rounds at the start, with accuracy one half.
const START: f64 = 1.0;
/// Choices counted one by one; the rest are counted together.
const CHOICES: usize = 16;
/// The factor by which the weight of a lead in the mean falls each round: the scores of learners
/// grow with time.
const LASTING: f64 = 0.97;
/// No class has a smaller chance than this over the number of classes.
const LEAST: f64 = 1e-3;

/// An adviser's record: how often it was right, by how sure it was and by the rank of its choices.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationRecord {
    /// Of each bin: how often the first choice was right, and how often there was one.
    sure: [[f64; 2]; DEGREES],
    /// How often each choice was right; the last counts all from there on.
    choices: [f64; CHOICES],
    /// The sum of leads of the first choice over the second, and their number, both decaying by
    /// `LASTING`.
    leads: [f64; 2],
}

impl Default for CalibrationRecord {
    fn default() -> Self {
        Self { sure: [[0.0; 2]; DEGREES], choices: [0.0; CHOICES], leads: [0.0; 2] }
    }
}

/// Classes by falling score, of equals the lower first; those without a finite score come last.
fn order(scores: &[f64], k: usize) -> Vec<usize> {
    let score = |class: usize| scores.get(class).copied().filter(|score| score.is_finite()).unwrap_or(f64::NEG_INFINITY);
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    order
}

impl CalibrationRecord {
    /// Rounds learned from.
    pub fn rounds(&self) -> f64 {
        self.choices.iter().sum()
    }

    /// How often the first choice was right, as a share; one half before the first round.
    pub fn accuracy(&self) -> f64 {
        (self.choices[0] + 0.5 * START) / (self.rounds() + START)
    }

    /// The bin of a lead: each holds leads sqrt 2 times those of the one before, with the mean lead
    /// in the middle.
    fn degree(&self, lead: f64) -> usize {
        let mean = if self.leads[1] > 0.0 { self.leads[0] / self.leads[1] } else { lead };
        if lead <= 0.0 || mean <= 0.0 || lead.is_nan() {
            return 0;
        }
        let middle = DEGREES as f64 / 2.0;
        ((lead / mean).log2() * 2.0 + middle).clamp(0.0, DEGREES as f64 - 1.0) as usize
    }

    /// The score of the first choice less that of the second; 0 where one of them is not finite.
    fn lead(scores: &[f64], order: &[usize]) -> f64 {
        let score = |at: usize| order.get(at).and_then(|&class| scores.get(class)).copied().filter(|score| score.is_finite());
        match (score(0), score(1)) {
            (Some(first), Some(second)) => first - second,
            _ => 0.0,
        }
    }

    /// The chance of each of k classes, by an adviser's scores, `(k)` or fewer: the larger, the
    /// likelier, and the first choice never less likely than another. Minus infinity, NaN, or
    /// nothing at all means that it does not know the class. O(k log k).
    pub fn chances(&self, scores: &[f64], k: usize) -> Vec<f64> {
        let order = order(scores, k);
        let [right, all] = self.sure[self.degree(Self::lead(scores, &order))];
        let first = (right + PRIOR * self.accuracy()) / (all + PRIOR);
        // The rest is shared by how often each choice was right, plus 1/k for each.
        let share = |choice: usize| {
            let counted = self.choices.get(choice).filter(|_| choice + 1 < CHOICES);
            counted.map_or_else(|| self.choices[CHOICES - 1] / (k.saturating_sub(CHOICES - 1).max(1)) as f64, |n| *n) + 1.0 / k as f64
        };
        let rest: f64 = (1..k).map(share).sum();
        // However unsure an adviser is, its first choice stays the likeliest.
        let most = (1..k).map(share).fold(0.0, f64::max);
        let first = if k > 1 { first.max(most / (rest + most)) } else { 1.0 };
        let mut chances = vec![0.0; k];
        for (choice, &class) in order.iter().enumerate() {
            let own = match choice {
                0 => first,
                _ => (1.0 - first) * share(choice) / rest,
            };
            chances[class] = (1.0 - LEAST) * own + LEAST / k as f64;
        }
        chances
    }

    /// Learns that `truth`, below k, was right when these were the scores. With fewer than two
    /// classes nothing is learned.
    pub fn learn(&mut self, scores: &[f64], k: usize, truth: usize) {
        if k < 2 {
            return;
        }
        let order = order(scores, k);
        let Some(choice) = order.iter().position(|&class| class == truth) else { return };
        let lead = Self::lead(scores, &order);
        let degree = self.degree(lead);
        self.sure[degree][0] += f64::from(u8::from(choice == 0));
        self.sure[degree][1] += 1.0;
        self.choices[choice.min(CHOICES - 1)] += 1.0;
        if lead > 0.0 && lead.is_finite() {
            self.leads[0] = self.leads[0] * LASTING + lead;
            self.leads[1] = self.leads[1] * LASTING + 1.0;
        }
    }
}

impl Stored for CalibrationRecord {
    fn write(&self, out: &mut Writer) {
        self.sure.iter().flatten().chain(&self.choices).chain(&self.leads).for_each(|x| out.put(x));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let mut made = Self::default();
        for place in made.sure.iter_mut().flatten().chain(&mut made.choices).chain(&mut made.leads) {
            let value: f64 = from.get()?;
            if !(value >= 0.0 && value.is_finite()) {
                return Err(from.wrong("a count", value.to_string()));
            }
            *place = value;
        }
        if let Some([right, all]) = made.sure.iter().find(|[right, all]| right > all) {
            return Err(from.wrong("no more right answers than answers", format!("{right} of {all}")));
        }
        Ok(made)
    }
}
