//! The order in which items come: how often the next one is of the class of the last, as in folders
//! and in runs of photos.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;

/// The factor by which the weight of a round falls each round: people change the order in which
/// they label.
const LASTING: f64 = 0.995;
/// Pseudo-rounds at the start, in which the last of k classes came again with chance 1/k.
const PRIOR: f64 = 0.5;
/// No class has a smaller chance than this over the number of classes.
const LEAST: f64 = 1e-3;
/// A class is young with so many examples or fewer.
const YOUNG: f64 = 2.0;

/// How often the class of the last item came again. Classes are numbered from 0 as they become
/// known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recurrence {
    /// Rounds in which it did, and in which another known class came; both decay by `LASTING`.
    rounds: [f64; 2],
    /// Examples of each class.
    counts: Vec<f64>,
    last: Option<usize>,
}

impl Recurrence {
    /// The chance of each of k classes, whatever the item is; they add up to 1.
    pub fn chances(&self, k: usize) -> Vec<f64> {
        let even = 1.0 / k.max(1) as f64;
        let Some(last) = self.last.filter(|last| *last < k && k > 1) else { return vec![even; k] };
        let [again, other] = self.rounds;
        let again = (again + PRIOR * even) / (again + other + PRIOR);
        let own = |class: usize| if class == last { again } else { (1.0 - again) / (k - 1) as f64 };
        (0..k).map(|class| (1.0 - LEAST) * own(class) + LEAST * even).collect()
    }

    /// The class of the last item.
    pub fn last(&self) -> Option<usize> {
        self.last
    }

    /// The share of rounds in which it came again, with `doubts` rounds added in which it did not:
    /// a cautious estimate.
    pub fn proved(&self, doubts: f64) -> f64 {
        let [again, other] = self.rounds;
        again / (again + other + doubts)
    }

    /// Classes that have come.
    pub fn n_classes(&self) -> usize {
        self.counts.len()
    }

    /// Whether the last class has only one or two examples. Advisers know little of it then, and
    /// their scores do not show it, so their records of such rounds are kept apart.
    pub fn is_young(&self) -> bool {
        self.last.and_then(|last| self.counts.get(last)).is_some_and(|count| *count <= YOUNG)
    }

    /// Learns which class came. A class that was not known before does not count as a round.
    pub fn learn(&mut self, class: usize) {
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0.0);
        } else if let Some(last) = self.last {
            self.rounds.iter_mut().for_each(|rounds| *rounds *= LASTING);
            self.rounds[usize::from(class != last)] += 1.0;
        }
        self.counts[class] += 1.0;
        self.last = Some(class);
    }
}

impl Stored for Recurrence {
    fn write(&self, out: &mut Writer) {
        self.rounds.iter().for_each(|x| out.put(x));
        out.put(&self.counts);
        out.put(&self.last.map_or(u32::MAX, |last| last as u32));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (rounds, counts, last): ([f64; 2], Vec<f64>, u32) = ([from.get()?, from.get()?], from.get()?, from.get()?);
        let last = (last != u32::MAX).then_some(last as usize);
        let are_counts = rounds.iter().chain(&counts).all(|x| x.is_finite() && *x >= 0.0);
        if !are_counts || last.is_some_and(|last| last >= counts.len()) || counts.len() > crate::learn::MOST_CLASSES {
            return Err(from.wrong("counts of classes", format!("{} counts, the last of {last:?}", counts.len())));
        }
        Ok(Self { rounds, counts, last })
    }
}
