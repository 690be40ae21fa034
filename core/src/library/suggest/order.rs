//! In which order images are labelled.

use rand::seq::SliceRandom as _;
use serde::{Deserialize, Serialize};

use super::suggester::{Moment, Seen, Suggester};
use super::suggestion::Suggestion;
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::state::State;
use crate::progress::Progress;
use crate::random;

/// An order of images to be labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelOrder {
    /// Those first that teach most: of which the advisers together are unsure (margin sampling: Scheffer, Decomain and Wrobel 2001), and that
    /// look unlike each other (farthest-first traversal: Gonzalez 1985).
    #[default]
    Useful,
    /// Those first on which the advisers disagree most, by the entropy of their votes, each counted as much as it is trusted (Dagan and
    /// Engelson 1995).
    Disagreement,
    /// By their paths.
    Folder,
    /// By chance.
    Random,
}

/// Images of which the most useful are chosen at one time.
pub const POOL: usize = 400;
/// Of these so many are chosen to be unlike each other; the others follow by how unsure they are.
const UNLIKE: usize = 16;

impl LabelOrder {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Useful, Self::Disagreement, Self::Folder, Self::Random];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Useful => "useful",
            Self::Disagreement => "disagreement",
            Self::Folder => "folder",
            Self::Random => "random",
        }
    }

    /// Whether it depends on what advisers think.
    pub fn is_asked(self) -> bool {
        matches!(self, Self::Useful | Self::Disagreement)
    }

    /// Brings images in this order, as far as that can be done without asking advisers: where they would be asked, by chance, so that the first
    /// [`POOL`] of them speak for all.
    pub fn arrange(self, state: &State, images: &mut [ItemId], seed: u64) {
        match self {
            Self::Folder => images.sort_by_cached_key(|id| state.image(*id).and_then(|image| state.path_of(image))),
            _ => images.shuffle(&mut random::stream(seed, 0)),
        }
    }
}

impl Suggester {
    /// Brings images into an order that advisers are asked for, with what is suggested for each at a glance. Others stay as they are.
    /// O(images) opinions without the recogniser's, and O(images) likenesses for each of the first few.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub fn order(
        &mut self,
        moment: &Moment,
        seen: &[Seen],
        order: LabelOrder,
        progress: &Progress,
    ) -> Result<Vec<(ItemId, Option<Suggestion>)>> {
        let mut asked = Vec::with_capacity(seen.len());
        for (place, seen) in seen.iter().enumerate() {
            progress.step()?;
            asked.push((place, self.suggest(moment, seen)?));
        }
        let worth = |(_, suggestion): &(usize, Option<Suggestion>)| match (suggestion, order) {
            (Some(suggestion), LabelOrder::Disagreement) => (suggestion.disagreement(), suggestion.uncertainty()),
            // Who knows one class is sure of it.
            (Some(suggestion), _) if suggestion.ranking.len() > 1 => (suggestion.uncertainty(), 0.0),
            _ => (1.0, 1.0),
        };
        if order.is_asked() {
            asked.sort_by(|a, b| {
                let (a, b) = (worth(a), worth(b));
                b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
            });
        }
        if order == LabelOrder::Useful {
            for at in 0..UNLIKE.min(asked.len()) {
                let (first, rest) = asked.split_at(at);
                let values = |place: usize| &seen[place].views.whole;
                let distance = |(place, _): &(usize, Option<Suggestion>)| {
                    let squares = first.iter().map(|(other, _)| square(values(*place), values(*other)));
                    squares.fold(f64::INFINITY, f64::min).min(4.0)
                };
                let gain = |candidate: &(usize, Option<Suggestion>)| worth(candidate).0 * distance(candidate).sqrt();
                let gains: Vec<f64> = rest.iter().map(gain).collect();
                // Of equals the first.
                let best = (0..gains.len()).reduce(|best, i| if gains[i] > gains[best] { i } else { best }).unwrap_or(0);
                asked[at..=at + best].rotate_right(1);
            }
        }
        Ok(asked.into_iter().map(|(place, suggestion)| (seen[place].id, suggestion)).collect())
    }
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
