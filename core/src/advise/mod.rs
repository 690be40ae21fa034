//! Prediction with expert advice on the class of one item: several advisers, combined by how well
//! each has done, so that the whole is never much worse than the best of them.
//!
//! An [`Ensemble`] suggests labels: it has advisers of some [`AdviserKind`]s, each of which uses
//! one of the [`Views`] of an item, and a [`Mixture`] of their opinions. A [`CheckpointedEnsemble`]
//! is an ensemble that can unlearn, by going back to a checkpoint. The library and the simulated
//! labelling desks of `eval` use the same, so that what is measured is what is served.
//!
//! An adviser gives a score for each class, or a ranking of classes; [`CalibrationRecord`] turns
//! either into chances (probabilities), from how often its first, second, ... choice was right
//! before. [`Recurrence`] gives chances by the order of labels alone: the class of the last one may
//! come again, as it does when people go through folders or through runs of photos. The experts of
//! a [`Mixture`] are: each adviser; each adviser's chances times those of the order of labels,
//! normalised as by Bayes' rule; the order of labels alone; and a [`Pool`] of all, p ∝ Π p_i^θ_i.
//! However these learn, the mixture's bound holds.
//!
//! In rounds after a label whose class has only one or two examples, the record of each adviser is
//! kept apart: advisers know little of such a class, and their scores do not show it.
//!
//! - Herbster and Warmuth, *Tracking the best expert*, 1998: fixed share. The proof below is
//!   theirs, with a rate that falls.
//! - Freund, Schapire, Singer and Warmuth, *Using and combining predictors that specialize*, 1997:
//!   sleeping experts, that is, advisers that say nothing now and then.
//! - Vovk, *Aggregating strategies*, 1990: with log loss, what a mixture loses to the best is
//!   bounded once for all.
//! - Genest and Zidek, *Combining probability distributions*, 1986: logarithmic pools.
//! - Krichevsky and Trofimov, *The performance of universal encoding*, 1981: chances from counts,
//!   one half added.
//! - Hazan, Agarwal and Kale, *Logarithmic regret algorithms for online convex optimization*, 2007:
//!   Newton's step online.
//! - Mitani and Hamamoto, *A local mean-based nonparametric classifier*, 2006: [`LocalMeans`].
//!
//! ```
//! use tessera_core::advise::{Mixture, Opinion};
//! use tessera_core::ids::ClassId;
//!
//! // The first adviser is always right, the second never.
//! let mut mixture = Mixture::new(2)?;
//! for round in 0..30 {
//!     let truth = ClassId(round % 2);
//!     let scores = |right: f64| if truth == ClassId(0) { vec![right, 1.0 - right] } else { vec![1.0 - right, right] };
//!     let advice = mixture.combine(&[Opinion::Scores(scores(1.0)), Opinion::Scores(scores(0.0))]);
//!     mixture.learn(&advice, truth)?;
//! }
//! let advice = mixture.combine(&[Opinion::Scores(vec![1.0, 0.0]), Opinion::Scores(vec![0.0, 1.0])]);
//! assert_eq!(advice.suggestion(), Some(ClassId(0)));
//! # Ok::<(), tessera_core::Error>(())
//! ```
//!
//! # What is bounded
//!
//! In round t expert i of N gives the truth the chance p_i(t), which may depend in any way on the
//! rounds before; the mixture has weights w_i(t), π_i at first, and gives it Σ w_i p_i. Then v_i ∝
//! w_i p_i, and w_i(t+1) = (1 - a_t) v_i + a_t/(N-1) Σ_(j≠i) v_j with a_t = 1/(t+c), c = 30. Take
//! any sequence of experts that changes m times in T rounds. The product of the mixture's chances
//! is a sum over all sequences of the product of their chances times a prior; this one's prior is
//! that of its first expert times a_t/(N-1) where it changes and 1 - a_t where it stays. Since the
//! product of all 1 - a_t = (t+c-1)/(t+c) for t < T is c/(T+c-1), and for them a_t >= 1/(T+c-1),
//!
//! ```text
//! log loss of the mixture <= log loss of the sequence + ln 1/π_first + ln (T+c-1)/c + m ln((N-1) (T+c-1)),
//! ```
//!
//! at any T, for any truths; so ln 1/π_i + ln (T+c-1)/c more than that of adviser i, alone or
//! joined with the order. N is 2n + 2 for n advisers. Rounds with a class that was not known before
//! count for nothing. An adviser that says nothing in a round, a sleeping expert, counts as giving
//! the chances that the mixture of the others gives: then only sharing changes its weight, the
//! mixture is what it would be without it, and the bound is about the rounds in which it speaks.
//!
//! # Who suggests
//!
//! That bound is about chances; what costs a person a click is a wrong suggestion. In the first
//! rounds, advisers that have not proved themselves overrule a good one more often wrongly than
//! rightly. So where there are favourites, two are compared: of the classes that favourites
//! suggest, the one that the mixture thinks likeliest (or the last class, where that came again in
//! more than four of five rounds of late, with four more counted against it), and the class that
//! the mixture thinks likeliest of all. Let a and b be how often they were wrong so far. The
//! favourites' is suggested where a <= b, else the mixture's. The chances reported are then those
//! of a favourite that suggests it, by its record. In the rounds in which a favourite said
//! something and the class was known, suggestions were wrong
//!
//! ```text
//! at most 2 min(a, b) + 1 times.
//! ```
//!
//! Proof: following whichever of two erred least so far, one is wrong only when that one errs,
//! whose count v becomes v + 1. Neither count passes from v to v + 1 twice, and v is never above
//! the smaller count at the end. So there are at most two such rounds for each v below that, and
//! one at it: with two, both counts would be above it.
//!
//! If the last class never stood in for them and favourites always have an opinion, two more bounds
//! follow. Where all favourites are right they say the same, which is then chosen, so a is at most
//! the sum of their mistakes. And where the mixture is right, its class is chosen as soon as one of
//! them says it, so that a is at most b and the mistakes of the best favourite together.

mod advisers;
mod calibrate;
mod ensemble;
mod history;
mod member;
mod mixture;
mod neighbours;
mod pool;
mod recurrence;
mod views;

pub use advisers::{Adviser, ContextualAdviser, LinearAdviser, MemoryAdviser, recognised};
pub use calibrate::CalibrationRecord;
pub use ensemble::{Ensemble, Times};
pub use history::{CheckpointedEnsemble, LearnedLabel};
pub use member::AdviserKind;
pub use mixture::{Advice, Mixture, Opinion};
pub use neighbours::{LocalMeans, Nearest, NeighbourVote};
pub use pool::Pool;
pub use recurrence::Recurrence;
pub use views::{Projector, Recognised, Views};
