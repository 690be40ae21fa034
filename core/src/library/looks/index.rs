//! The index of one kind of vectors of a library's images.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::Look;
use super::likeness::{Likeness, Seen};
use crate::ann::cells::{CandidateCurve, CellCandidates, CellWay};
use crate::ann::{Measured, cheapest};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::event::ContentHash;
use crate::library::state::{Image, State};
use crate::network::CHANNELS;
use xxhash_rust::xxh3::xxh3_128;

/// Changes whenever the same images would get another index.
const VERSION: &str = "looks-1";

/// Images that are asked how many of all are admitted.
const SAMPLE: usize = 512;

/// Admitted images up to which all of them are compared, where they are fewer than half.
const FEW: f64 = 2048.0;

/// What was measured of an index for queries of so many neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct LookCurve {
    /// Neighbours that were asked for.
    pub k: usize,
    /// The ways that none other beats, the cheapest first.
    pub ways: Vec<CandidateCurve>,
}

impl LookCurve {
    /// The place of the way that is taken for a recall; none where no way had it by two standard
    /// errors.
    pub fn way_for(&self, recall: f64) -> Option<usize> {
        let measured: Vec<Measured<usize>> = (0..).zip(&self.ways).map(|(at, way)| way.measured.map(|_| at)).collect();
        cheapest(&measured, recall).ok().filter(|way| way.recall - 2.0 * way.spread >= recall).map(|measured| measured.way)
    }
}

/// An index of the images of which one kind of vectors is known, and what was measured of it.
#[derive(Debug)]
pub(in crate::library) struct LookIndex {
    look: Look,
    cells: CellCandidates,
    /// What the vector of each image was made of when it was entered ([`source`]).
    sources: HashMap<ItemId, ContentHash>,
    /// What is common to the vectors of all images, where that is taken off.
    common: Vec<f64>,
    /// For few neighbours first.
    curves: Vec<LookCurve>,
    /// Images that are to be entered.
    waiting: BTreeSet<ItemId>,
    /// Whether the cache has it otherwise.
    pub(super) is_changed: bool,
}

/// The images that a query is compared with.
pub(super) struct Named<'a> {
    pub(super) images: Vec<ItemId>,
    pub(super) probabilities: &'a [f32],
    pub(super) recall: f64,
}

/// A measured way as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredWay {
    probes: usize,
    shortlist: usize,
    recall: f64,
    spread: f64,
    candidates: f64,
    operations: f64,
}

impl LookIndex {
    pub(super) fn new(
        look: Look,
        cells: CellCandidates,
        sources: HashMap<ItemId, ContentHash>,
        common: Vec<f64>,
        curves: Vec<LookCurve>,
    ) -> Self {
        Self { look, cells, sources, common, curves, waiting: BTreeSet::new(), is_changed: true }
    }

    pub(super) fn len(&self) -> usize {
        self.sources.len()
    }

    pub(super) fn look(&self) -> &Look {
        &self.look
    }

    pub(super) fn common(&self) -> &[f64] {
        &self.common
    }

    /// What was measured for queries of `k` neighbours.
    pub(super) fn curve(&self, k: usize) -> Option<&LookCurve> {
        self.curves.iter().find(|curve| curve.k >= k)
    }

    /// Whether it should be made anew.
    pub(super) fn is_due(&self) -> bool {
        self.cells.is_due()
    }

    /// Whether it has an image with the vector that it has now.
    pub(super) fn holds(&self, image: &Image) -> bool {
        source(&self.look, image).is_some_and(|source| self.sources.get(&image.id) == Some(&source))
    }

    /// Follows an event: images that are gone or are others now leave, and new ones wait.
    pub(super) fn follow(&mut self, state: &State, images: &[ItemId]) {
        for id in images {
            let image = state.image(*id).filter(|image| image.is_live() && source(&self.look, image).is_some());
            if image.is_some_and(|image| self.holds(image)) {
                continue;
            }
            if self.sources.remove(id).is_some() {
                self.cells.remove(*id);
                self.is_changed = true;
            }
            match image {
                Some(_) => self.waiting.insert(*id),
                None => self.waiting.remove(id),
            };
        }
    }

    /// Takes an image out, which waits to be entered again.
    pub(super) fn leave(&mut self, id: ItemId) {
        if self.sources.remove(&id).is_some() {
            self.cells.remove(id);
            self.waiting.insert(id);
            self.is_changed = true;
        }
    }

    /// Follows all that may have happened since it was kept.
    pub(super) fn follow_all(&mut self, state: &State) {
        let gone = self.sources.keys().filter(|id| state.image(**id).is_none_or(|image| !image.is_live()));
        let others = state.images().filter(|image| !self.holds(image)).map(|image| image.id);
        let all: Vec<ItemId> = gone.copied().chain(others).collect();
        self.follow(state, &all);
    }

    /// The images that are to be entered.
    pub(super) fn waiting(&self) -> Vec<ItemId> {
        self.waiting.iter().copied().collect()
    }

    /// Enters an image that waits.
    pub(super) fn enter(&mut self, image: &Image, seen: &Seen<'_>) {
        let Some(source) = source(&self.look, image) else { return };
        if self.cells.insert(image.id, &seen.vector(&self.look, &self.common)).is_ok() {
            self.waiting.remove(&image.id);
            self.sources.insert(image.id, source);
            self.is_changed = true;
        }
    }

    /// The images that are to be compared for the `k` most alike ones, at a recall; none where few
    /// images are admitted or it was not measured for so many neighbours: all are compared then. At
    /// least `least` are named, where there are as many.
    pub(super) fn candidates(
        &self,
        likeness: &Likeness,
        recall: f64,
        (k, least): (usize, usize),
        fits: impl Fn(ItemId) -> bool,
    ) -> Option<Named<'_>> {
        let curve = self.curve(k)?;
        let CandidateCurve { measured: Measured { way, recall, .. }, probabilities } = curve.ways.get(curve.way_for(recall)?)?;
        let share = self.cells.share(SAMPLE, &fits);
        if share < 0.5 && share * (self.len() as f64) < FEW {
            return None;
        }
        // As many admitted points are looked at as without a filter.
        let way = CellWay { probes: (way.probes as f64 / share).ceil() as usize, shortlist: way.shortlist.max(least) };
        let mut images = self.cells.candidates(&likeness.vector(), way, k.max(least), &fits).ok()?;
        images.extend(self.waiting.iter().copied().filter(|id| fits(*id)));
        Some(Named { images, probabilities, recall: *recall })
    }
}

/// What the vector of an image is made of: the bytes of its file, or the vector that was brought.
pub(super) fn source(look: &Look, image: &Image) -> Option<ContentHash> {
    match look {
        Look::Brought(set) => Some(ContentHash(xxh3_128(&image.vectors.get(&**set)?.to_bytes()))),
        Look::Appearance | Look::Edges | Look::Colours | Look::Network | Look::Words | Look::Elements => Some(image.content?.hash),
    }
}

impl Stored for LookIndex {
    fn write(&self, out: &mut Writer) {
        out.put(&VERSION.to_owned());
        out.put(&self.look);
        out.put(&self.cells);
        let mut sources: Vec<(u32, ContentHash)> = self.sources.iter().map(|(id, hash)| (id.0, *hash)).collect();
        sources.sort_unstable_by_key(|(id, _)| *id);
        out.put(&sources);
        out.put(&self.common);
        out.count(self.curves.len());
        for LookCurve { k, ways } in &self.curves {
            out.count(*k);
            out.count(ways.len());
            for CandidateCurve { measured: Measured { way, recall, spread, candidates, operations }, probabilities } in ways {
                let CellWay { probes, shortlist } = *way;
                let [recall, spread, candidates, operations] = [recall, spread, candidates, operations].map(|value| *value);
                out.options(&StoredWay { probes, shortlist, recall, spread, candidates, operations });
                out.put(probabilities);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let version: String = from.get()?;
        if version != VERSION {
            return Err(from.wrong(VERSION, version));
        }
        let look = from.get()?;
        let cells: CellCandidates = from.get()?;
        let sources: Vec<(u32, ContentHash)> = from.get()?;
        let sources: HashMap<ItemId, ContentHash> = sources.into_iter().map(|(id, hash)| (ItemId(id), hash)).collect();
        if sources.len() != cells.len() || !sources.keys().all(|id| cells.contains(*id)) {
            return Err(from.wrong("the source of each vector", format!("{} of {}", sources.len(), cells.len())));
        }
        let common: Vec<f64> = from.get()?;
        let mut curves = Vec::new();
        for _ in 0..from.count()? {
            let k = from.get::<u64>()? as usize;
            let mut ways = Vec::new();
            for _ in 0..from.count()? {
                let StoredWay { probes, shortlist, recall, spread, candidates, operations } = from.options()?;
                let measured = Measured { way: CellWay { probes, shortlist }, recall, spread, candidates, operations };
                let probabilities = from.finite_values()?;
                let is_share = |share: f64| (0.0..=1.0).contains(&share);
                if probabilities.len() != k || !is_share(recall) || !is_share(spread) {
                    return Err(from.wrong(format!("{k} probabilities, and shares"), format!("{} and {recall}", probabilities.len())));
                }
                ways.push(CandidateCurve { measured, probabilities });
            }
            curves.push(LookCurve { k, ways });
        }
        if !common.iter().all(|value| value.is_finite()) || (!common.is_empty() && common.len() != CHANNELS) {
            return Err(from.wrong("what is common to all", format!("{} values", common.len())));
        }
        Ok(Self { is_changed: false, ..Self::new(look, cells, sources, common, curves) })
    }
}
