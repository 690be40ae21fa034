//! Scores of training images by a machine that has not seen their objects.

use std::collections::BTreeSet;

use rand::seq::index::sample;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Ckm, Scores};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random::Rng;

/// A training image's scores by a machine that has not seen its object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The image.
    pub id: ItemId,
    /// Its class.
    pub class: ClassId,
    /// The class the machine gave it.
    pub predicted: ClassId,
    /// All scores.
    pub scores: Scores,
}

/// The images of [`super::judge::judge`] with their scores without class terms.
pub(super) fn held_out(ckm: &Ckm, limit: usize, rng: &mut Rng, known: Vec<HeldOut>, progress: &Progress) -> Result<Vec<HeldOut>> {
    let examples: Vec<_> = ckm.examples().collect();
    let there: BTreeSet<ItemId> = known.iter().map(|held| held.id).collect();
    let chosen: Vec<usize> = choose(ckm, limit, rng).into_iter().filter(|&i| !there.contains(&examples[i].1.id)).collect();
    progress.begin("Judging each image without its object", chosen.len() as u64);
    let judge = |&i: &usize| -> Result<Option<HeldOut>> {
        progress.step()?;
        let (class, example) = examples[i];
        let scores = ckm.scores_without_terms(&example.elements, example.without_itself());
        if scores.of[class.index()].is_none() {
            return Ok(None);
        }
        let predicted = scores.ranking().first().map(|best| best.0);
        Ok(predicted.map(|predicted| HeldOut { id: example.id, class, predicted, scores }))
    };
    let judged: Vec<Option<HeldOut>> = chosen.par_iter().map(judge).collect::<Result<_>>()?;
    let mut all: Vec<HeldOut> = known.into_iter().chain(judged.into_iter().flatten()).collect();
    all.sort_by_key(|held| (held.class, held.id));
    Ok(all)
}

/// At most `limit` training images, as many of each class as far as it has them, in order.
fn choose(ckm: &Ckm, limit: usize, rng: &mut Rng) -> Vec<usize> {
    let mut first = 0;
    let mut turns = Vec::new();
    for (c, class) in ckm.classes().iter().enumerate() {
        let n = class.examples.len();
        // All of them are drawn, so that a larger limit adds to the choice.
        let of_class = sample(rng, n, n);
        turns.extend(of_class.into_iter().enumerate().map(|(turn, i)| (turn, c, first + i)));
        first += n;
    }
    turns.sort_unstable();
    let mut chosen: Vec<usize> = turns.into_iter().take(limit).map(|(.., i)| i).collect();
    chosen.sort_unstable();
    chosen
}
