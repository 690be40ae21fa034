//! The order in which things come: how often the next one is of the class of the last, as in
//! folders and in runs of photos.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;

/// What is left of a round's weight a round later: people go over from one way of labelling to
/// another.
const LASTING: f64 = 0.995;
/// At first, as if the last class had come again in half a round of k.
const PRIOR: f64 = 0.5;
/// No class has a smaller chance than this over the number of classes.
const LEAST: f64 = 1e-3;
/// A class is young with so many examples or fewer.
const YOUNG: f64 = 2.0;

/// How often the class of the last thing came again. Classes are numbered from 0 as they become
/// known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recurrence {
    /// Rounds in which it did, and in which another known class came; both fade.
    rounds: [f64; 2],
    /// Examples of each class.
    counts: Vec<f64>,
    last: Option<usize>,
}

impl Recurrence {
    /// The chance of each of k classes, whatever the thing is; they add up to 1.
    pub fn chances(&self, k: usize) -> Vec<f64> {
        let even = 1.0 / k.max(1) as f64;
        let Some(last) = self.last.filter(|last| *last < k && k > 1) else { return vec![even; k] };
        let [again, other] = self.rounds;
        let again = (again + PRIOR * even) / (again + other + PRIOR);
        let own = |class: usize| if class == last { again } else { (1.0 - again) / (k - 1) as f64 };
        (0..k).map(|class| (1.0 - LEAST) * own(class) + LEAST * even).collect()
    }

    /// The class of the last thing.
    pub fn last(&self) -> Option<usize> {
        self.last
    }

    /// How often it came again, as a share, as if it had not in so many more rounds: what is
    /// certain of it.
    pub fn proved(&self, doubts: f64) -> f64 {
        let [again, other] = self.rounds;
        again / (again + other + doubts)
    }

    /// Classes that have come.
    pub fn n_classes(&self) -> usize {
        self.counts.len()
    }

    /// Whether the last class had come but once or twice. Then advisers know little of it and do
    /// not know that, so they are judged apart.
    pub fn is_young(&self) -> bool {
        self.last.and_then(|last| self.counts.get(last)).is_some_and(|count| *count <= YOUNG)
    }

    /// Learns which class came. One that was not known before says nothing of how often known ones
    /// come again.
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
