//! The suggestion for an image, and the advisers' votes.

use serde::{Deserialize, Serialize};

use crate::advise::{Advice, Ensemble};
use crate::ids::{ClassId, ItemId};

/// What is suggested for an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The image.
    pub image: ItemId,
    /// Classes with their chances, the best first; those that the user rejected are left out.
    pub ranking: Vec<(String, f64)>,
    /// What each adviser alone would suggest, in the order of
    /// [`crate::advise::AdviserKind::SERVED`].
    pub advisers: Vec<Vote>,
}

/// The vote of one adviser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The adviser's name.
    pub adviser: String,
    /// The class it would suggest alone, if any.
    pub class: Option<String>,
    /// How much it is trusted now, 0..=1.
    pub trust: f64,
}

/// The vote of each adviser of an ensemble in an advice.
pub(super) fn votes(ensemble: &Ensemble, advice: &Advice, name: impl Fn(ClassId) -> Option<String>) -> Vec<Vote> {
    let said = ensemble.kinds().iter().zip(&advice.each).zip(ensemble.mixture().trust());
    said.map(|((kind, class), trust)| Vote { adviser: kind.name().to_owned(), class: class.and_then(&name), trust }).collect()
}

impl Suggestion {
    /// 1 where the best two classes are equally likely, 0 where the best is certain.
    pub fn uncertainty(&self) -> f64 {
        let chance = |place: usize| self.ranking.get(place).map_or(0.0, |(_, chance)| *chance);
        1.0 - (chance(0) - chance(1))
    }

    /// The entropy of the advisers' votes, each weighted by its trust, in bits: 0 where all agree.
    pub fn disagreement(&self) -> f64 {
        let said: Vec<(&String, f64)> = self.advisers.iter().filter_map(|vote| Some((vote.class.as_ref()?, vote.trust))).collect();
        let total: f64 = said.iter().map(|(_, trust)| trust).sum();
        let mut classes: Vec<&String> = said.iter().map(|(class, _)| *class).collect();
        classes.sort_unstable();
        classes.dedup();
        let share = |class: &String| said.iter().filter(|(own, _)| *own == class).map(|(_, trust)| trust).sum::<f64>() / total;
        let bits = |share: f64| if share > 0.0 { -share * share.log2() } else { 0.0 };
        if total > 0.0 { classes.into_iter().map(|class| bits(share(class))).sum() } else { 0.0 }
    }
}
