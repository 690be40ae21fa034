//! Makes the index of one kind of vectors, while the library answers.

use std::collections::HashMap;
use std::sync::Mutex;

use rayon::prelude::*;

use super::Look;
use super::index::{LookCurve, LookIndex, source};
use super::likeness::{Likeness, Seen};
use crate::ann::PointSet;
use crate::ann::cells::{CellCandidates, CellCodes, CellOptions};
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::event::ContentHash;
use crate::library::{Library, glimpse, hold};
use crate::nearest::{Metric, TopK};
use crate::progress::Progress;
use crate::random::{drawn, seeded};

/// Images that are asked to measure the recall.
const ASKED: usize = 400;
/// Neighbours for which it is measured.
const NEIGHBORS: [usize; 2] = [10, 100];
/// Images that are read between two moments in which the library is free.
const BATCH: usize = 256;

/// The codes of cells of an index: fewer values for each image than usual, as there are many
/// images.
pub const CODES: CellCodes = CellCodes::Regression(24);

/// Axes and centres of cells are found with half the effort, for an import waits for them.
fn options() -> CellOptions {
    CellOptions { codes: CODES, sample: 32, iterations: 6, ..CellOptions::default() }
}

/// An image, and what is known of its look.
pub(super) struct Known {
    pub(super) id: ItemId,
    source: ContentHash,
    pub(super) seen: Seen<'static>,
}

/// Makes the index of one kind of vectors and keeps it in the cache, of the images whose vectors
/// are in memory ([`Library::load_looks`]), in the former index or in the cache. The library is
/// held only for moments: until it is done all images are compared, or the former index answers.
/// Returns whether there was more than one image to index, of vectors that can have one.
///
/// # Errors
/// [`crate::Error::Io`] when the cache cannot be used; [`crate::Error::Cancelled`], and all is as
/// before then.
///
/// # Complexity
/// The vectors of all images take four bytes a value while it works; O(images^1.5 * values).
pub fn grow(library: &Mutex<Library>, look: &Look, progress: &Progress) -> Result<bool> {
    if !look.has_index() {
        return Ok(false);
    }
    let before = hold(library).looks.given_up;
    let known = gather(library, look, progress)?;
    if known.len() < 2 {
        return Ok(false);
    }
    let glimpses = || known.iter().filter_map(|known| if let Seen::Network(glimpse) = &known.seen { Some(&**glimpse) } else { None });
    let common = if *look == Look::Network { glimpse::common(glimpses()) } else { Vec::new() };
    let dimension = known[0].seen.vector(look, &common).len();
    let mut points = PointSet::new(dimension, Metric::Cosine);
    known.iter().try_for_each(|known| points.push(&known.seen.vector(look, &common)))?;
    let cells = CellCandidates::new(&points, known.iter().map(|known| known.id).collect(), options(), progress)?;
    let curves = measure(&cells, &known, &points, (look, &common), progress)?;
    drop(points);
    let sources: HashMap<ItemId, ContentHash> = known.iter().map(|known| (known.id, known.source)).collect();
    let mut index = LookIndex::new(look.clone(), cells, sources, common, curves);
    let mut library = hold(library);
    // Something was forgotten meanwhile, which must be in no index.
    if library.looks.given_up != before {
        return Ok(false);
    }
    index.follow_all(&library.state);
    library.looks.of.insert(look.clone(), index);
    library.keep_looks()?;
    Ok(true)
}

/// All images of which the vector is known, in order.
pub(super) fn gather(library: &Mutex<Library>, look: &Look, progress: &Progress) -> Result<Vec<Known>> {
    let ids: Vec<ItemId> = hold(library).state.images().map(|image| image.id).collect();
    progress.begin("Reading what images look like", ids.len().div_ceil(BATCH) as u64);
    let mut known = Vec::with_capacity(ids.len());
    for ids in ids.chunks(BATCH) {
        progress.step()?;
        let library = hold(library);
        for id in ids {
            let image = library.state.image(*id).filter(|image| image.is_live());
            let seen = image.and_then(|image| Some((source(look, image)?, library.seen_anywhere(look, image)?.into_owned())));
            known.extend(seen.map(|(source, seen)| Known { id: *id, source, seen }));
        }
    }
    Ok(known)
}

/// Measures the recall of the cells on some of the images, each asked for those like it among the
/// others.
fn measure(
    cells: &CellCandidates,
    known: &[Known],
    points: &PointSet,
    (look, common): (&Look, &[f64]),
    progress: &Progress,
) -> Result<Vec<LookCurve>> {
    let most = NEIGHBORS[NEIGHBORS.len() - 1];
    let asked = drawn(known.len(), ASKED, &mut seeded(1));
    progress.begin("Comparing some images with all", asked.len() as u64);
    let nearest = |i: &usize| -> Result<Vec<ItemId>> {
        progress.step()?;
        let likeness = Likeness::new(look.clone(), known[*i].seen.clone(), common.to_vec());
        let others = known.iter().filter(|other| other.id != known[*i].id);
        let distances = others.filter_map(|other| Some((other.id, -likeness.of(&other.seen)?)));
        Ok(TopK::of(most, distances).into_iter().map(|found| found.id).collect())
    };
    let truth: Vec<Vec<ItemId>> = asked.par_iter().map(nearest).collect::<Result<_>>()?;
    let mut queries = PointSet::new(points.dimension(), points.metric());
    asked.iter().try_for_each(|i| queries.push(points.row(*i)))?;
    let own: Vec<ItemId> = asked.iter().map(|i| known[*i].id).collect();
    let curve = |k: usize| {
        let k = k.min(known.len() - 1);
        let truth: Vec<Vec<ItemId>> = truth.iter().map(|list| list[..k].to_vec()).collect();
        Ok(LookCurve { k, ways: cells.curve(&queries, &own, &truth, progress)? })
    };
    NEIGHBORS.into_iter().map(curve).collect()
}
