//! Indexes of photos by captions behind one trait: each answers the same queries, so that any can
//! be compared with any.

use crate::cmt::CmtIndex;
use crate::error::Result;
use crate::ids::Neighbor;
use crate::linalg::pca::Pca;
use crate::nearest::{Cost, Filter, KdTree, NeighborIndex, Neighbors, SparseScan};
use crate::sparse::SparseVec;
use crate::text::{TextIndex, TextQuery};

/// A query in the form that each index needs.
pub(super) struct CaptionQuery {
    /// The words as a vector.
    pub(super) vector: SparseVec,
    /// The words themselves.
    pub(super) words: TextQuery,
    /// Postings of the words in the inverted index.
    pub(super) postings: u64,
}

/// An index that is queried by captions.
pub(super) type CaptionIndex<'a> = Box<dyn NeighborIndex<Point = CaptionQuery> + 'a>;

/// Queries an index of sparse vectors by the query's vector.
struct ByVector<I>(I);

impl<I: NeighborIndex<Point = SparseVec>> NeighborIndex for ByVector<I> {
    type Point = CaptionQuery;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn nearest(&self, query: &CaptionQuery, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.0.nearest(&query.vector, k, admits)
    }
}

/// A memory tree.
pub(super) fn memory<V: Sync + 'static>(memory: CmtIndex<V>) -> CaptionIndex<'static> {
    Box::new(ByVector(memory))
}

/// The exact scan of sparse vectors.
pub(super) fn scan(scan: SparseScan) -> CaptionIndex<'static> {
    Box::new(ByVector(scan))
}

/// A kd-tree over principal components; a query includes its projection.
pub(super) struct ByComponents {
    pub(super) pca: Pca,
    pub(super) tree: KdTree,
}

impl NeighborIndex for ByComponents {
    type Point = CaptionQuery;

    fn len(&self) -> usize {
        self.tree.len()
    }

    fn nearest(&self, query: &CaptionQuery, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.tree.nearest(&self.pca.project(&query.vector), k, admits)
    }
}

/// The inverted index, by cosine of tf-idf; its texts are the first parts of their items.
pub(super) struct ByWords(pub(super) TextIndex);

impl NeighborIndex for ByWords {
    type Point = CaptionQuery;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn nearest(&self, query: &CaptionQuery, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        let mut wanted = k;
        loop {
            let hits = self.0.search(&query.words, wanted);
            let is_all = hits.len() < wanted || wanted >= self.0.len();
            let admitted = hits.into_iter().filter(|hit| admits(hit.key.item)).take(k);
            let list: Vec<Neighbor> = admitted.map(|hit| Neighbor { id: hit.key.item, distance: 1.0 - f64::from(hit.score) }).collect();
            if list.len() == k || is_all {
                return Ok(Neighbors { list, cost: Cost { values: query.postings, ..Cost::default() } });
            }
            wanted *= 2;
        }
    }
}
