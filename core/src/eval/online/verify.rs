//! Every inequality of the proofs, checked in every round of a run.

use super::streams::Stream;
use crate::contextual::{Contextual, PairLearner, Round, pair_index};
use crate::ids::ClassId;
use crate::learn::OnlineClassifier;

/// The checks of a round.
pub(super) trait Verify<L: OnlineClassifier> {
    /// After the prediction, before the label is learned.
    #[expect(clippy::too_many_arguments, reason = "a round is that much")]
    fn before(
        &mut self,
        learner: &L,
        phi: &[f64],
        round: &L::Round,
        truth: ClassId,
        stream: &dyn Stream,
        missed: f64,
        q: &[f64],
    ) -> Result<(), String>;

    /// After the label was learned.
    fn after(&mut self, learner: &L, phi: &[f64], truth: ClassId, stream: &dyn Stream) -> Result<(), String>;

    /// At the end of a stream that settles losses only then: a round, from 0, and its mean loss.
    fn settle(&mut self, learner: &L, phi: &[f64], stream: &dyn Stream, round: usize, loss: f64) -> Result<(), String>;
}

/// Checks nothing.
pub(super) struct Unchecked;

impl<L: OnlineClassifier> Verify<L> for Unchecked {
    fn before(&mut self, _: &L, _: &[f64], _: &L::Round, _: ClassId, _: &dyn Stream, _: f64, _: &[f64]) -> Result<(), String> {
        Ok(())
    }

    fn after(&mut self, _: &L, _: &[f64], _: ClassId, _: &dyn Stream) -> Result<(), String> {
        Ok(())
    }

    fn settle(&mut self, _: &L, _: &[f64], _: &dyn Stream, _: usize, _: f64) -> Result<(), String> {
        Ok(())
    }
}

/// Checks every inequality in the proofs of contextual search.
#[derive(Default)]
pub(super) struct Verified {
    pub(super) checks: u64,
    /// The expected drop of the potential that the proof promises in this round, and the potential
    /// given up before it.
    owed: f64,
    dropped: f64,
    /// Of each pair: the potential when its floor was last checked.
    seen: Vec<f64>,
    /// Of each round whose loss comes at the end: the promised drop, and the part of the loss that
    /// no drop pays for.
    open: Vec<[f64; 2]>,
}

impl Verified {
    fn pays(&mut self, [owed, unpaid]: [f64; 2], share: f64, loss: f64) -> Result<(), String> {
        self.expect(owed + unpaid >= share * loss - 1e-9, || format!("a mean loss of {loss} for a drop of {owed}"))
    }

    fn expect(&mut self, holds: bool, said: impl FnOnce() -> String) -> Result<(), String> {
        self.checks += 1;
        if holds { Ok(()) } else { Err(said()) }
    }
}

impl<P: PairLearner> Verify<Contextual<P>> for Verified {
    fn before(
        &mut self,
        learner: &Contextual<P>,
        phi: &[f64],
        round: &Round,
        truth: ClassId,
        stream: &dyn Stream,
        missed: f64,
        q: &[f64],
    ) -> Result<(), String> {
        let space = &learner.options().space;
        let k = learner.n_classes();
        let pairs = || (0..k).flat_map(|b| (0..b).map(move |a| (b, a)));
        // The part of the loss that no potential pays for, where a pair is closed or rounding would
        // decide.
        let closed = pairs().filter_map(|(b, a)| round.look(a, b)).filter(|look| look.scale.is_none());
        let unpaid = closed.map(|look| look.losses[0] + look.losses[1]).fold(0.0, f64::max);
        if let Some([least, most]) = round.game {
            self.expect(least >= -1e-9 * most - unpaid, || format!("M + M' of {least}"))?;
            self.expect(round.value >= -1e-9 * most - unpaid, || format!("a game of value {}", round.value))?;
        }
        for (b, a) in pairs() {
            let Some(look) = round.look(a, b) else { continue };
            self.expect(look.lo <= 1e-11 && look.hi >= -1e-11, || format!("0 outside of {look:?}"))?;
            if let Some(scale) = look.scale.filter(|_| space.margin.is_none()) {
                let width = 2.0 * space.width(scale) * (1.0 + 1e-9);
                self.expect(look.hi - look.lo <= width, || format!("bounds wider than the scale in {look:?}"))?;
            }
            let fair = look.drops[0] + look.drops[1] >= space.share() * (look.losses[0] + look.losses[1]) * (1.0 - 1e-8) - 1e-12;
            self.expect(fair || look.scale.is_none() || look.excluded != [false; 2], || format!("too little to give up in {look:?}"))?;
            if let Some(centres) = stream.centres() {
                let w: f64 = centres[a].iter().zip(&centres[b]).zip(phi).map(|((x, y), q)| (x - y) * q).sum();
                self.expect(look.lo - 1e-9 <= w && w <= look.hi + 1e-9, || format!("{w} outside of {look:?}"))?;
            }
        }
        self.owed = round.expected_drop(truth);
        self.dropped = learner.dropped();
        let given = [self.owed, unpaid];
        if !stream.settled() {
            self.open.push(given);
            return Ok(());
        }
        let loss = match space.margin {
            Some(_) => missed,
            None => round.answer.expected(|guess| stream.loss(q, guess, truth)),
        };
        self.pays(given, space.share(), loss)
    }

    fn after(&mut self, learner: &Contextual<P>, phi: &[f64], truth: ClassId, stream: &dyn Stream) -> Result<(), String> {
        let fallen = learner.dropped() - self.dropped;
        let all_pairs = learner.options().update == crate::contextual::PairUpdate::AllPairs;
        let owed = self.owed;
        self.expect(!all_pairs || fallen >= owed * (1.0 - 1e-9) - 1e-12, || format!("a drop of {fallen} where {owed} was owed"))?;
        self.seen.resize(learner.pairs().len(), f64::INFINITY);
        let (k, truth) = (learner.n_classes(), truth.index());
        for other in (0..k).filter(|&other| other != truth) {
            let index = pair_index(truth, other);
            let Some(pair) = learner.pairs().get(index) else { continue };
            let potential = pair.potential();
            self.expect(potential >= 0.0 && potential <= self.seen[index] + 1e-9, || format!("a potential of {potential}"))?;
            if potential < self.seen[index] {
                let floor = pair.floor().unwrap_or(1.0);
                self.expect(floor >= 1.0 - 1e-3, || format!("an ellipsoid thinner than its floor, {floor}"))?;
            }
            self.seen[index] = potential;
            // A stream that settles its centres at the end has none yet.
            if let Some(centres) = stream.centres() {
                let (low, high) = (truth.min(other), truth.max(other));
                let w: Vec<f64> = centres[low].iter().zip(&centres[high]).map(|(x, y)| x - y).collect();
                let outside = pair.outside(phi, &w);
                self.expect(outside <= 1e-9, || format!("the hidden vector outside by {outside}"))?;
            }
        }
        Ok(())
    }

    fn settle(&mut self, learner: &Contextual<P>, phi: &[f64], stream: &dyn Stream, round: usize, loss: f64) -> Result<(), String> {
        if let Some(given) = self.open.get(round).copied() {
            self.pays(given, learner.options().space.share(), loss)?;
        }
        let (Some(pair), Some([first, second])) = (learner.pairs().first(), stream.centres()) else { return Ok(()) };
        let w: Vec<f64> = first.iter().zip(second).map(|(x, y)| x - y).collect();
        let outside = pair.outside(phi, &w);
        self.expect(outside <= 1e-9, || format!("the hidden vector outside by {outside}"))
    }
}
