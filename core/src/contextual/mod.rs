//! Contextual search: online learning of classes with a total loss that depends neither on margins
//! nor on the number of rounds.
//!
//! The loss of a mistake is the gap between the scores of the right class and the guess: how much
//! nearer the right class's centre is. Each pair of classes has a learner with a potential, which
//! falls by at least the loss of each of its mistakes. In each round a small matrix game, solved
//! exactly, chooses the guess such that the fall of the potentials covers the expected loss. For
//! labels of centres in the unit ball the total is bounded for any number of rounds, however near
//! queries come to the borders between classes. Labels of people contradict each other now and
//! then: see [`Served`], for which no bound is claimed.
//!
//! - Guruganesh, Liu, Schneider and Wang, *Margin-independent online multiclass learning via convex
//!   geometry*, NeurIPS 2021.
//! - Liu, Paes Leme and Schneider, *Optimal contextual pricing and extensions*, SODA 2021: the
//!   volumes of Minkowski sums with balls as potentials.
//! - Cohen, Lobel and Paes Leme, *Feature-based dynamic pricing*, 2016: ellipsoids that are cut
//!   only where they are wide.
//!
//! There are two learners of a pair: [`EllipsoidLadder`], deterministic and O(d^2) a scale and
//! query, and [`PolytopeLadder`], which samples and makes fewer mistakes in few dimensions. The
//! documentation of [`ellipsoid`] and [`polytope`] has the proofs. [`Contextual`] learns many
//! classes from pairs, by the following proof.
//!
//! # From pairs to many classes
//!
//! Let pair (a, b) have w = x_a - x_b, bounds lo <= <q, w> <= hi and an active scale of width ε,
//! with hi - lo <= 2ε and lo <= 0 <= hi. If a is right, guessing b costs at most L_ab = hi^α; if b
//! is right, guessing a costs at most L_ba = (-lo)^α. The potential falls by D_ab = (2ε)^α if a is
//! right and the pair predicts b, or neither; D_ba likewise. One of the two labels would contradict
//! the prediction, so D_ab + D_ba >= (2ε)^α. For α >= 1, hi^α + (-lo)^α <= (hi - lo)^α; for α < 1
//! the sum is at most 2^(1-α) (hi - lo)^α, most where hi = -lo. So with f = min(1, 2^(α-1)) and M =
//! D - f L, rows for the truth and columns for the guess, M + M' >= 0. (The paper bounds both costs
//! by the width and has f = 1/2 for every α.)
//!
//! There is a distribution v with M v >= 0: otherwise, by linear programming duality, there is a
//! distribution u with u'M < 0 in all components, so u'M u < 0; but u'M u = u'(M + M')u / 2 >= 0.
//! Guessing from v, for whichever truth r: Σ_i v_i D_ri >= f Σ_i v_i L_ri, so the mean loss is at
//! most the mean potential given up over f, and the total at most k(k-1)/2 potentials over f. That
//! holds for [`PairUpdate::Paper`] as it is; with [`PairUpdate::AllPairs`] a round gives up Σ_j
//! D_rj >= Σ_i v_i D_ri.
//!
//! A single class whose column has no negative entry is such a v. It must be one that is predicted
//! over every other, so k - 1 predictions of pairs find it and as many confirm it; only otherwise
//! all pairs are evaluated.
//!
//! With a known margin a mistake costs 1, f = 1/2, and classes that cannot be right by the margin
//! are left out: of the others each pair is wide enough to be cut, D_ab + D_ba >= 1 = (1 + 1)/2.
//! The mean number of mistakes is at most twice all potentials.
//!
//! A new class brings new pairs, each with a potential of its own; its first example is a mistake
//! that no potential covers.
//!
//! # Mistakes that count
//!
//! A total loss of at most B bounds, for every γ at once and with no condition on other queries,
//! the mistakes on queries with a margin of γ or more by B/γ (the paper's robust mistake bound).
//!
//! ```
//! use tessera_core::contextual::{Contextual, ContextualOptions, EllipsoidLadder};
//! use tessera_core::{ids::ClassId, learn::OnlineClassifier, random};
//!
//! let mut learner: Contextual<EllipsoidLadder> = Contextual::new(&ContextualOptions::unit(2))?;
//! let mut rng = random::seeded(1);
//! for _ in 0..9 {
//!     for (q, class) in [([1.0, 0.0], 0), ([0.0, 1.0], 1), ([-0.7, -0.7], 2)] {
//!         let round = learner.predict(&q, &mut rng)?;
//!         learner.learn(&q, &round, ClassId(class), &mut rng)?;
//!     }
//! }
//! assert_eq!(learner.predict(&[0.9, 0.1], &mut rng)?.answer.guess, Some(ClassId(0)));
//! # Ok::<(), tessera_core::Error>(())
//! ```

pub mod approximate;
mod check;
pub mod ellipsoid;
mod game;
mod halving;
mod lift;
mod majority;
mod multiclass;
mod pair;
pub mod polytope;
mod serve;
mod walk;

pub use approximate::ApproximateLadder;
pub use ellipsoid::{Ellipsoid, EllipsoidLadder, cut_drop};
pub use game::{Game, MixedStrategy};
pub use halving::Halving;
pub use lift::{Degree, Geometry, Lift};
pub use majority::MajorityVote;
pub use multiclass::{Contextual, ContextualOptions, PairUpdate, Round, pair_index};
pub use pair::{PairLearner, PairPrediction, PairSpace};
pub use polytope::PolytopeLadder;
pub use serve::{GUARD, Served, ServedRound};
