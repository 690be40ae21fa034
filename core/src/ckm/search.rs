//! What a query is compared with: all of the training images, a shortlist of them, or pieces of
//! them that an index finds.

use serde::{Deserialize, Serialize};

use super::element::Elements;
use super::index::PieceIndex;
use super::shortlist::sketch;
use super::{Ckm, Class, Without};
use crate::error::{Error, Result};
use crate::nearest::Cost;
use crate::progress::Progress;

/// What a query is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Search {
    /// All training images.
    #[default]
    Exact,
    /// Of each class those images that are most like the query as a whole.
    Shortlist {
        /// Images of each class, 1 or more.
        images: usize,
    },
    /// Of each class those pieces that an index finds near each element of the query.
    Index {
        /// Lists of each class that are looked at for an element, 1 or more.
        probes: usize,
    },
}

impl Search {
    /// The shortlist of the usual length.
    pub const SHORTLIST: Self = Self::Shortlist { images: 32 };

    /// The index with the usual number of lists.
    pub const INDEX: Self = Self::Index { probes: 8 };

    /// What a recogniser of so many images should do if nobody says otherwise: comparing with all
    /// takes 25 ms of one processor for each 1,000 images, a shortlist hardly grows.
    pub fn for_images(n: usize) -> Self {
        if n > EXACT_UP_TO { Self::SHORTLIST } else { Self::Exact }
    }

    /// Checks that the option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] for a shortlist of no image, and for an index of which no list is looked
    /// at.
    pub fn check(&self) -> Result<()> {
        let refuse = |found: &str, expected| Err(Error::Option { name: "search", found: found.into(), expected });
        match self {
            Self::Shortlist { images: 0 } => refuse("0 images", "1 image or more"),
            Self::Index { probes: 0 } => refuse("0 probes", "1 probe or more"),
            _ => Ok(()),
        }
    }
}

/// Training images that are all compared if nobody says otherwise.
const EXACT_UP_TO: usize = 5000;

impl Ckm {
    /// What queries are compared with.
    pub fn search(&self) -> Search {
        self.search
    }

    /// Chooses what queries are compared with, from now on. O(1) but for an index: see
    /// [`Ckm::set_search_watched`].
    ///
    /// # Errors
    /// As [`Search::check`].
    pub fn set_search(&mut self, search: Search) -> Result<()> {
        self.set_search_watched(search, &Progress::default())
    }

    /// As [`Ckm::set_search`], reporting progress: an index is built of all training images unless
    /// the machine has one, and follows images that come and go from then on. O(elements * cells of
    /// their class), on all threads.
    ///
    /// # Errors
    /// As [`Search::check`], and [`Error::Cancelled`]; then the search stays as it was.
    pub fn set_search_watched(&mut self, search: Search, progress: &Progress) -> Result<()> {
        search.check()?;
        match search {
            Search::Index { .. } if self.pieces.is_there() => {}
            Search::Index { .. } => self.pieces = PieceIndex::new(&self.classes, &self.options.kinds, progress)?,
            Search::Exact | Search::Shortlist { .. } => self.pieces = PieceIndex::default(),
        }
        self.search = search;
        Ok(())
    }

    /// For each class the places of the training images that a query is compared with, in ascending
    /// order; those left out are never among them, and take no other's place in a shortlist. All
    /// that are not left out where an index chooses pieces.
    pub(super) fn compared(&self, query: &Elements, without: Without<'_>) -> Vec<Vec<usize>> {
        let admits = |class: usize, place: usize| !without.leaves_out(&self.classes[class].examples[place]);
        match self.search {
            Search::Shortlist { images } => self.sketches.nearest(&sketch(query, &self.options.kinds), images, admits),
            Search::Exact | Search::Index { .. } => {
                let places = |(class, c): (&Class, usize)| (0..class.examples.len()).filter(|place| admits(c, *place)).collect();
                self.classes.iter().zip(0..).map(places).collect()
            }
        }
    }

    /// The comparisons that scoring a query takes: pairs of a query's and a training element as
    /// [`Cost::points`]; with an index also the centres of lists that a query's elements are
    /// compared with as [`Cost::nodes`], and lists as [`Cost::leaves`]. None for elements that were
    /// cut for another machine. The cost of scoring it.
    pub fn comparisons(&self, query: &Elements, without: Without<'_>) -> Cost {
        if query.cut != self.cut {
            return Cost::default();
        }
        if let (Search::Index { probes }, Some(index)) = (self.search, self.pieces.get()) {
            return self.probed(index, probes, query, without).1;
        }
        let mut cost = Cost::default();
        for (class, places) in self.classes.iter().zip(self.compared(query, without)) {
            for example in places.into_iter().map(|place| &class.examples[place]) {
                let sets = query.sets.iter().zip(example.elements.counts());
                cost.points += sets.map(|(set, own)| (set.len() * own) as u64).sum::<u64>();
            }
        }
        cost
    }
}
