//! Elements: the pieces an image is made of, by kind, laid out for searching.

use std::sync::Arc;

use super::options::{CkmOptions, ElementKind, ElementSource};
use crate::descriptor::Descriptor;
use crate::hamming::{Blocks, LANES};
use crate::linalg::dots::Quads;

/// How pictures become elements. With another version, elements that were kept must be computed
/// anew: until version 1, gradient blocks had 255 steps.
pub const VERSION: u32 = 2;

/// The features of one kind of elements of one image. Dense values are whole numbers in 0..=255:
/// sums of their products are exact, whatever the order and the instructions.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    Binary(Blocks),
    /// Value `d` of element `i` is `quads[(i / LANES) * n + d / 4][i % LANES][d % 4]` with n quads
    /// an element; those beyond `dimension` are 0.
    Dense {
        dimension: usize,
        quads: Vec<Quads>,
        /// Squared lengths.
        norms: Vec<[i32; LANES]>,
    },
}

/// Positions of [`LANES`] elements, and what is added to their kernels: 0 or a learned weight, and
/// minus infinity for lanes that hold no element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Places {
    pub(super) x: [f32; LANES],
    pub(super) y: [f32; LANES],
    pub(super) weight: [f32; LANES],
}

impl Places {
    /// No element in any lane.
    const BLANK: Self = Self { x: [0.0; LANES], y: [0.0; LANES], weight: [f32::NEG_INFINITY; LANES] };

    fn copy(&mut self, lane: usize, other: &Self, from: usize) {
        (self.x[lane], self.y[lane], self.weight[lane]) = (other.x[from], other.y[from], other.weight[from]);
    }
}

/// The elements of one kind of one image.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementSet {
    len: usize,
    pub(super) values: Values,
    pub(super) places: Vec<Places>,
}

impl ElementSet {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes that they take in memory.
    fn bytes(&self) -> usize {
        let values = match &self.values {
            Values::Binary(blocks) => size_of_val(blocks.blocks()),
            Values::Dense { quads, norms, .. } => size_of_val(&quads[..]) + size_of_val(&norms[..]),
        };
        size_of::<Self>() + size_of_val(&self.places[..]) + values
    }

    /// The position of element `i` in working pixels from the image's middle.
    pub fn position(&self, i: usize) -> [f32; 2] {
        let places = &self.places[i / LANES];
        [places.x[i % LANES], places.y[i % LANES]]
    }

    /// The learned weight of element `i`: 0 until one is set.
    pub fn weight(&self, i: usize) -> f32 {
        self.places[i / LANES].weight[i % LANES]
    }

    /// Sets the weight of each element; `weights` must have as many.
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        for (i, &weight) in weights.iter().enumerate().take(self.len) {
            self.set_weight(i, weight);
        }
    }

    /// Sets the weight of element `i`.
    pub(super) fn set_weight(&mut self, i: usize, weight: f32) {
        self.places[i / LANES].weight[i % LANES] = weight;
    }

    /// The binary descriptor of element `i`; zero for dense kinds.
    pub(super) fn descriptor(&self, i: usize) -> Descriptor {
        match &self.values {
            Values::Binary(blocks) => blocks.get(i),
            Values::Dense { .. } => Descriptor::default(),
        }
    }

    /// The dense values of element `i`; none for binary kinds.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = u8> {
        let (quads, dimension) = match &self.values {
            Values::Binary(_) => ([].as_slice(), 0),
            Values::Dense { dimension, quads, .. } => (&quads[i / LANES * dimension.div_ceil(4)..], *dimension),
        };
        quads.iter().flat_map(move |values| values[i % LANES]).take(dimension)
    }

    /// Adds the values of element `i` to `sums`: dense ones, or 1 for each bit that is set.
    pub(super) fn add_features(&self, i: usize, sums: &mut [f32]) {
        match &self.values {
            Values::Dense { .. } => sums.iter_mut().zip(self.row(i)).for_each(|(sum, value)| *sum += f32::from(value)),
            Values::Binary(blocks) => {
                sums.iter_mut().zip(blocks.get(i).bits()).for_each(|(sum, bit)| *sum += f32::from(bit));
            }
        }
    }

    /// Binary elements at `positions`.
    pub(super) fn binary(positions: &[[f32; 2]], descriptors: impl IntoIterator<Item = Descriptor>) -> Self {
        Self { len: positions.len(), values: Values::Binary(descriptors.into_iter().collect()), places: places(positions) }
    }

    /// No elements yet, of the form of `other`.
    pub(super) fn like(other: &Self) -> Self {
        let values = match &other.values {
            Values::Binary(_) => Values::Binary(Blocks::default()),
            Values::Dense { dimension, .. } => Values::Dense { dimension: *dimension, quads: Vec::new(), norms: Vec::new() },
        };
        Self { len: 0, values, places: Vec::new() }
    }

    /// Makes room for so many more elements and no others.
    pub(super) fn reserve(&mut self, count: usize) {
        let blocks = (self.len + count).div_ceil(LANES) - self.places.len();
        self.places.reserve_exact(blocks);
        match &mut self.values {
            Values::Binary(descriptors) => descriptors.reserve(count),
            Values::Dense { dimension, quads, norms } => {
                quads.reserve_exact(blocks * dimension.div_ceil(4));
                norms.reserve_exact(blocks);
            }
        }
    }

    /// Appends element `i` of a set of the same form, with its weight.
    pub(super) fn push(&mut self, other: &Self, i: usize) {
        let at = self.len;
        self.len += 1;
        if at.is_multiple_of(LANES) {
            self.places.push(Places::BLANK);
            match &mut self.values {
                Values::Binary(_) => {}
                Values::Dense { dimension, quads, norms } => {
                    quads.extend(std::iter::repeat_n([[0; 4]; LANES], dimension.div_ceil(4)));
                    norms.push([0; LANES]);
                }
            }
        }
        match (&mut self.values, &other.values) {
            (Values::Binary(blocks), Values::Binary(others)) => blocks.push(others.get(i)),
            (Values::Dense { dimension, quads, norms }, Values::Dense { quads: other_quads, norms: other_norms, .. }) => {
                let n = dimension.div_ceil(4);
                copy_lane(quads, other_quads, n, at, i);
                norms[at / LANES][at % LANES] = other_norms[i / LANES][i % LANES];
            }
            // Sets of one kind have one form.
            _ => {}
        }
        self.places[at / LANES].copy(at % LANES, &other.places[i / LANES], i % LANES);
    }

    /// Removes element `i`; the last one takes its place.
    pub(super) fn swap_remove(&mut self, i: usize) {
        let last = self.len - 1;
        let moved = self.places[last / LANES].clone();
        self.places[i / LANES].copy(i % LANES, &moved, last % LANES);
        self.places[last / LANES].copy(last % LANES, &Places::BLANK, 0);
        let n_blocks = last.div_ceil(LANES);
        match &mut self.values {
            Values::Binary(blocks) => blocks.swap_remove(i),
            Values::Dense { dimension, quads, norms } => {
                let n = dimension.div_ceil(4);
                for d in 0..n {
                    quads[i / LANES * n + d][i % LANES] = quads[last / LANES * n + d][last % LANES];
                    quads[last / LANES * n + d][last % LANES] = [0; 4];
                }
                norms[i / LANES][i % LANES] = norms[last / LANES][last % LANES];
                norms[last / LANES][last % LANES] = 0;
                quads.truncate(n_blocks * n);
                norms.truncate(n_blocks);
            }
        }
        self.places.truncate(n_blocks);
        self.len = last;
    }

    /// Dense elements at `positions`; `rows` holds `dimension` values an element.
    pub(super) fn dense(positions: &[[f32; 2]], rows: &[u8], dimension: usize) -> Self {
        let (n_blocks, n_quads) = (positions.len().div_ceil(LANES), dimension.div_ceil(4));
        let mut quads = vec![[[0; 4]; LANES]; n_blocks * n_quads];
        let mut norms = vec![[0; LANES]; n_blocks];
        for (i, row) in rows.chunks_exact(dimension).enumerate() {
            for (d, &value) in row.iter().enumerate() {
                quads[i / LANES * n_quads + d / 4][i % LANES][d % 4] = value;
                norms[i / LANES][i % LANES] += i32::from(value).pow(2);
            }
        }
        Self { len: positions.len(), values: Values::Dense { dimension, quads, norms }, places: places(positions) }
    }
}

/// Copies an element's values, `n` quads, to another place.
fn copy_lane(to: &mut [Quads], from: &[Quads], n: usize, at: usize, i: usize) {
    for (to, from) in to[at / LANES * n..][..n].iter_mut().zip(&from[i / LANES * n..][..n]) {
        to[at % LANES] = from[i % LANES];
    }
}

fn places(positions: &[[f32; 2]]) -> Vec<Places> {
    let mut all = vec![Places::BLANK; positions.len().div_ceil(LANES)];
    for (i, [x, y]) in positions.iter().enumerate() {
        let places = &mut all[i / LANES];
        (places.x[i % LANES], places.y[i % LANES], places.weight[i % LANES]) = (*x, *y, 0.0);
    }
    all
}

/// The longest side of a picture, in pixels, as decoders have it.
const SIDE: u32 = 65_535;

/// Whether a picture can have this size: what is drawn with a larger one would never end.
pub(super) fn is_size((width, height): (u32, u32)) -> bool {
    width.max(height) <= SIDE
}

/// What elements were cut as: those of machines of another working size, or with other kinds,
/// cannot be compared. Kernels do not matter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Working pixels of the longer side.
    pub(super) side: u32,
    sources: Vec<ElementSource>,
}

impl Cut {
    /// Elements of `kinds` at `side` working pixels.
    pub(super) fn of(side: u32, kinds: &[ElementKind]) -> Arc<Self> {
        Arc::new(Self { side, sources: kinds.iter().map(|kind| kind.source.clone()).collect() })
    }
}

/// An image as its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    /// One set for each of the machine's kinds, in their order.
    pub sets: Vec<ElementSet>,
    /// Width and height of the image in its own pixels.
    pub size: (u32, u32),
    /// Its own pixels in one working pixel.
    pub scale: f32,
    /// The working size and the kinds that they were cut for.
    pub(super) cut: Arc<Cut>,
}

impl Elements {
    /// `sets` must be what `cut` says, one for each of its sources, with positions in working
    /// pixels.
    pub(super) fn new(sets: Vec<ElementSet>, size: (u32, u32), cut: &Arc<Cut>) -> Self {
        Self { sets, size, scale: size.0.max(size.1) as f32 / cut.side as f32, cut: Arc::clone(cut) }
    }

    /// Whether what a network sees is wanted and not there: it has not looked at the image yet.
    pub fn lacks_network(&self) -> bool {
        self.cut.sources.iter().zip(&self.sets).any(|(source, set)| source.is_of_network() && set.is_empty())
    }

    /// The elements as bytes: width, height, then of each kind the number of elements, their
    /// positions and features, all numbers little-endian. Learned weights are left out: they belong
    /// to a trained machine, not to the image.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.size.0.to_le_bytes());
        bytes.extend(self.size.1.to_le_bytes());
        for set in &self.sets {
            bytes.extend((set.len as u32).to_le_bytes());
            bytes.extend((0..set.len).flat_map(|i| set.position(i)).flat_map(f32::to_le_bytes));
            for i in 0..set.len {
                match &set.values {
                    Values::Binary(_) => bytes.extend(set.descriptor(i).to_bytes()),
                    Values::Dense { .. } => bytes.extend(set.row(i)),
                }
            }
        }
        bytes
    }

    /// The elements that [`Elements::to_bytes`] wrote for a machine of the same side and kinds;
    /// `None` for other bytes.
    pub fn from_bytes(bytes: &[u8], options: &CkmOptions) -> Option<Self> {
        let mut rest = bytes;
        let mut take = |n: usize| {
            let (head, tail) = rest.split_at_checked(n)?;
            rest = tail;
            Some(head)
        };
        let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
        let size = (number(take(4)?)?, number(take(4)?)?);
        if !is_size(size) {
            return None;
        }
        let mut sets = Vec::with_capacity(options.kinds.len());
        for kind in &options.kinds {
            let n = number(take(4)?)? as usize;
            let positions: Vec<[f32; 2]> = take(n.checked_mul(8)?)?
                .as_chunks::<8>()
                .0
                .iter()
                .map(|b| [f32::from_le_bytes([b[0], b[1], b[2], b[3]]), f32::from_le_bytes([b[4], b[5], b[6], b[7]])])
                .collect();
            if positions.iter().flatten().any(|value| !value.is_finite()) {
                return None;
            }
            sets.push(match kind.source.dimension() {
                0 => {
                    let features = take(n.checked_mul(32)?)?;
                    ElementSet::binary(&positions, features.as_chunks::<32>().0.iter().map(Descriptor::from_bytes))
                }
                dimension => {
                    let rows = take(n.checked_mul(dimension)?)?;
                    if rows.iter().any(|value| *value > kind.source.largest()) {
                        return None;
                    }
                    ElementSet::dense(&positions, rows, dimension)
                }
            });
        }
        rest.is_empty().then(|| Self::new(sets, size, &Cut::of(options.side, &options.kinds)))
    }

    /// The elements of a machine's kinds, each taken from the first of `parts` that was cut for it.
    /// Of a kind that no part was cut for there are none.
    pub fn gathered(parts: &[Self], size: (u32, u32), options: &CkmOptions) -> Self {
        let set = |kind: &ElementKind| {
            let of = |part: &Self| Some(part.sets[part.cut.sources.iter().position(|source| *source == kind.source)?].clone());
            parts.iter().filter(|part| part.cut.side == options.side).find_map(of).unwrap_or_else(|| match kind.source.dimension() {
                0 => ElementSet::binary(&[], []),
                dimension => ElementSet::dense(&[], &[], dimension),
            })
        };
        Self::new(options.kinds.iter().map(set).collect(), size, &Cut::of(options.side, &options.kinds))
    }

    /// No elements, of an image of this size.
    pub(super) fn none(size: (u32, u32), cut: &Arc<Cut>) -> Self {
        let set = |source: &ElementSource| match source.dimension() {
            0 => ElementSet::binary(&[], []),
            dimension => ElementSet::dense(&[], &[], dimension),
        };
        Self::new(cut.sources.iter().map(set).collect(), size, cut)
    }

    /// Whether an element has a weight other than 0. O(elements).
    pub(super) fn is_weighted(&self) -> bool {
        self.sets.iter().any(|set| (0..set.len()).any(|i| set.weight(i) != 0.0))
    }

    /// The bytes that they take in memory.
    pub fn bytes(&self) -> usize {
        self.sets.iter().map(ElementSet::bytes).sum()
    }

    /// The number of elements of all kinds.
    pub fn len(&self) -> usize {
        self.sets.iter().map(ElementSet::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A position in working pixels from the middle as one in the image's own pixels from its top
    /// left corner.
    pub fn to_picture(&self, position: [f32; 2]) -> [f32; 2] {
        let middle = [(self.size.0 as f32 - 1.0) / 2.0, (self.size.1 as f32 - 1.0) / 2.0];
        [position[0] * self.scale + middle[0], position[1] * self.scale + middle[1]]
    }
}
