//! The order in which images are labelled.

use rand::seq::SliceRandom as _;
use serde::{Deserialize, Serialize};

use super::suggester::{ImageViews, LabelSnapshot, Suggester};
use super::suggestion::Suggestion;
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::state::State;
use crate::linalg::double::squared_distance;
use crate::nearest::farthest_first;
use crate::progress::Progress;
use crate::random;

/// An order of images to be labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelOrder {
    /// Those first that teach most: of which the advisers together are unsure (margin sampling:
    /// Scheffer, Decomain and Wrobel 2001), and that look unlike each other (farthest-first
    /// traversal: Gonzalez 1985).
    #[default]
    Useful,
    /// Those first on which the advisers disagree most, by the entropy of their votes, each counted
    /// as much as it is trusted (Dagan and Engelson 1995).
    Disagreement,
    /// By their paths.
    Folder,
    /// In random order.
    Random,
    /// As they were given; no order to be chosen.
    Given,
}

/// Images of which the most useful are chosen at one time.
pub const POOL: usize = 400;
/// The first so many of these are chosen to be unlike each other; the others follow by falling
/// uncertainty.
const UNLIKE: usize = 16;

impl LabelOrder {
    /// All that can be chosen.
    pub const ALL: [Self; 4] = [Self::Useful, Self::Disagreement, Self::Folder, Self::Random];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Useful => "useful",
            Self::Disagreement => "disagreement",
            Self::Folder => "folder",
            Self::Random => "random",
            Self::Given => "given",
        }
    }

    /// Whether it depends on the advisers' opinions.
    pub fn is_asked(self) -> bool {
        matches!(self, Self::Useful | Self::Disagreement)
    }

    /// Brings images into this order, as far as that can be done without the advisers. Orders that
    /// depend on them are random here, so that the first [`POOL`] images are a sample of all.
    pub fn arrange(self, state: &State, images: &mut [ItemId], seed: u64) {
        match self {
            Self::Folder => images.sort_by_cached_key(|id| state.image(*id).and_then(|image| state.path_of(image))),
            Self::Given => {}
            Self::Useful | Self::Disagreement | Self::Random => images.shuffle(&mut random::stream(seed, 0)),
        }
    }
}

impl Suggester {
    /// Brings images into an order that depends on the advisers, each with its suggestion; for
    /// other orders they stay as they are. O(images) opinions, of the recogniser only where `seen`
    /// has elements, and O(images) distances for each of the first few.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub fn order(
        &mut self,
        moment: &LabelSnapshot,
        seen: &[ImageViews],
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
            // With a single known class the uncertainty says nothing.
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
            let values = |at: usize| &seen[asked[at].0].views.whole;
            let distance = |a: usize, b: usize| squared_distance(values(a), values(b));
            // Distances are capped at the largest between vectors of norm 1, which is also that of
            // the first choice.
            let gain = |at: usize, square: f64| worth(&asked[at]).0 * square.min(4.0).sqrt();
            let first = farthest_first(asked.len(), UNLIKE, distance, gain);
            let mut rest: Vec<_> = asked.into_iter().map(Some).collect();
            asked = first.into_iter().filter_map(|at| rest[at].take()).collect();
            asked.extend(rest.into_iter().flatten());
        }
        Ok(asked.into_iter().map(|(place, suggestion)| (seen[place].id, suggestion)).collect())
    }
}
