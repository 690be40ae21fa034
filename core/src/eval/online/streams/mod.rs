//! Streams of queries: at random, made against the Perceptron, made against the learner at hand,
//! and those of a file.
//!
//! A stream gives the label after the learner's prediction, and the loss of the prediction: in the
//! round itself, or at the end where the hidden centres are settled only then.

mod adversary;
mod convex_lower_bound;
mod examples;
mod perceptron_killer;
mod random_vectors;
mod sphere;
mod stream;

pub(super) use adversary::Adversary;
pub(super) use convex_lower_bound::ConvexLowerBound;
pub(super) use examples::Examples;
pub(super) use perceptron_killer::PerceptronKiller;
pub(super) use sphere::Sphere;
pub(super) use stream::Stream;
pub use stream::StreamSource;
