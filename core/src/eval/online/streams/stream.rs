//! The trait of streams: queries, the label after each prediction, and the loss of the prediction.

use crate::ids::ClassId;
use crate::learn::Prediction;
use crate::random::Rng;

/// Where queries come from.
#[derive(Clone, Debug)]
pub enum StreamSource {
    /// Queries drawn evenly from the unit sphere, centres from the unit ball.
    Sphere,
    /// The same queries; centres within a thousandth of one line, so that many classes compete at
    /// every border.
    Collinear,
    /// Two classes and queries that the Perceptron gets wrong every time:
    /// `streams/perceptron_killer.rs` has the construction.
    PerceptronKiller,
    /// Two classes and labels against the learner, for as long as some centre allows them by 1e-9.
    Adversary,
    /// Two convex regions of which nothing can be learned: `streams/convex_lower_bound.rs` has the
    /// construction.
    ConvexLowerBound,
    /// Examples with their classes as they are, in order; a wrong guess costs 1. All of length 1 at
    /// most.
    Examples(Vec<(ClassId, Vec<f64>)>),
}

/// A stream that is being played.
pub(in super::super) trait Stream {
    /// The next query; none at the end.
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>>;

    /// The label, after a prediction.
    fn reveal(&mut self, q: &[f64], answer: &Prediction) -> ClassId;

    /// The loss of each prediction. Final only where `settled`.
    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64;

    /// Whether losses are known in the round itself.
    fn settled(&self) -> bool {
        true
    }

    /// The hidden centres in the learner's space, where there are any already.
    fn centres(&self) -> Option<&[Vec<f64>]> {
        None
    }
}
