//! Which kind of partition would answer best for the vectors of a library's own images: each is
//! made of some of them, and asked for the neighbours of others.

use std::sync::Mutex;

use tessera_core::ann::PointSet;
use tessera_core::ann::candidates::{SelectionRule, TreeKind};
use tessera_core::ann::cells::CellCodes;
use tessera_core::eval::candidates::{CandidateRun, PartitionCurve, PartitionKind, SearchAim, partitions};
use tessera_core::library::looks::{CODES, Look, rows};
use tessera_core::library::{Library, hold};
use tessera_core::nearest::Metric;
use tessera_core::random::{drawn, seeded};
use tessera_core::{Error, Result};

use super::Session;

/// Images that partitions are made of, at most: a graph of their neighbours takes time with the
/// square of their number.
const MOST: usize = 20_000;
/// Images that are asked at most, and how many times as many there are to be found at least.
const ASKED: usize = 300;
const TIMES: usize = 4;
/// Images below which nothing could be told: cells first choose 512 of what is left when a fifth
/// of the images ask.
pub const LEAST: usize = 800;
/// Neighbours that are asked for.
const K: usize = 10;
/// Trees of each kind.
const TREES: usize = 40;

/// What was measured of kinds of partitions.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionComparison {
    /// The vectors that were compared.
    pub by: Look,
    /// Images that the partitions are made of.
    pub images: usize,
    /// Other images that were asked for their neighbours among these.
    pub asked: usize,
    /// How many neighbours.
    pub k: usize,
    /// One for each kind: that of the library's index first.
    pub curves: Vec<PartitionCurve>,
}

/// What a kind of partition is, in words.
pub fn partition_words(kind: PartitionKind) -> &'static str {
    match kind {
        PartitionKind::Cells(CellCodes::Regression(_)) => "cells, regressions in each",
        PartitionKind::Cells(CellCodes::Axes(_)) => "cells, short codes",
        PartitionKind::Trees(TreeKind::RandomProjection, _) => "trees, random projections",
        PartitionKind::Trees(TreeKind::Kd, _) => "trees, single values (k-d)",
        PartitionKind::Trees(TreeKind::Principal, _) => "trees, principal directions",
        PartitionKind::Trees(TreeKind::Chronological, _) => "trees, values in turn",
        PartitionKind::Trees(TreeKind::Forest, _) => "trees, supervised",
        PartitionKind::Trees(TreeKind::Oblique, _) => "trees, supervised and oblique",
    }
}

impl Session {
    /// Compares the kind of partition that a library's index has, cells with regressions, with
    /// trees whose candidates the natural classifier selects: by principal directions, by
    /// coordinates, by random projections, and supervised ones (V. Hyvonen, E. Jaasaari and T.
    /// Roos, *A Multilabel Classification Framework for Approximate Nearest Neighbor Search*,
    /// NeurIPS 2022). Of at most 20,000 images, drawn by the session's seed. O(images^2 * values),
    /// for the neighbours that trees are grown by.
    ///
    /// # Errors
    /// [`Error::Data`] where fewer than [`LEAST`] images have such vectors; [`Error::Io`],
    /// [`Error::Cancelled`].
    pub fn compare_partitions(&self, library: &Mutex<Library>, by: Option<&Look>) -> Result<PartitionComparison> {
        let look = self.load_looks(library, by)?;
        self.on_threads(|| self.compare(library, &look))
    }

    fn compare(&self, library: &Mutex<Library>, look: &Look) -> Result<PartitionComparison> {
        let rows = rows(library, look, self.progress())?;
        let n = rows.images.len();
        if n < LEAST {
            let expected = format!("{LEAST} images or more to compare by {}", look.words());
            return Err(Error::data(hold(library).folder(), expected, n.to_string(), "import more, or compare by something else"));
        }
        let asked = ASKED.min(n / (TIMES + 1));
        let mut rng = seeded(self.seed());
        let drawn_images = drawn(n, MOST + asked, &mut rng);
        let queries = drawn(drawn_images.len(), asked, &mut rng);
        let (mut corpus, mut validation) = (PointSet::new(rows.dimension, Metric::Cosine), PointSet::new(rows.dimension, Metric::Cosine));
        for (at, image) in drawn_images.iter().enumerate() {
            let set = if queries.binary_search(&at).is_ok() { &mut validation } else { &mut corpus };
            set.push(&rows.values[image * rows.dimension..(image + 1) * rows.dimension])?;
        }
        drop(rows);
        let options = CandidateRun {
            kinds: vec![TreeKind::Principal, TreeKind::Kd, TreeKind::RandomProjection, TreeKind::Forest],
            selections: vec![SelectionRule::Natural],
            codes: vec![CODES],
            k: K,
            aim: SearchAim::Recall(1.0),
            each: Vec::new(),
            trees: TREES,
            graph_recall: 1.0,
            seed: self.seed(),
        };
        let curves = partitions(&corpus, &validation, &options, self.progress())?;
        Ok(PartitionComparison { by: look.clone(), images: corpus.len(), asked, k: K, curves })
    }
}
