//! Examples of a file, one after another.

use super::stream::Stream;
use crate::ids::ClassId;
use crate::learn::Prediction;
use crate::random::Rng;

/// Examples as they are.
pub(in super::super) struct Examples {
    examples: Vec<(ClassId, Vec<f64>)>,
    next: usize,
}

impl Examples {
    pub(in super::super) fn new(examples: Vec<(ClassId, Vec<f64>)>) -> Self {
        Self { examples, next: 0 }
    }
}

impl Stream for Examples {
    fn query(&mut self, _: &mut Rng) -> Option<Vec<f64>> {
        self.next += 1;
        self.examples.get(self.next - 1).map(|(_, x)| x.clone())
    }

    fn reveal(&mut self, _: &[f64], _: &Prediction) -> ClassId {
        self.next.checked_sub(1).and_then(|at| self.examples.get(at)).map_or(ClassId(0), |example| example.0)
    }

    fn loss(&self, _: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { 1.0 }
    }
}
