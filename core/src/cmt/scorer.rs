//! How well a memory answers a query: a similarity, plus what rewards have taught.

use super::{CmtOptions, Similarity};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::online_linear::AdaptiveLinear;
use crate::sparse::SparseVec;

/// The function f: similarity(x, z) + sum of w_j x_j z_j / (|x| |z|), one weight a feature.
///
/// It learns the reward as its value, from products of equal features alone, and starts with no
/// weights. With them all zero it is the similarity, exactly.
#[derive(Clone, Debug)]
pub(super) struct Scorer {
    similarity: Similarity,
    opposed: bool,
    weights: AdaptiveLinear,
    /// Scratch space for the products while learning.
    products: Vec<(u32, f32)>,
}

impl Scorer {
    pub(super) fn new(options: &CmtOptions) -> Self {
        let weights = AdaptiveLinear::new(&options.scorer());
        Self { similarity: options.similarity, opposed: options.opposed_offset, weights, products: Vec::new() }
    }

    /// Learns that `z` was worth `reward` as an answer to `x`. O(features of both).
    pub(super) fn learn(&mut self, x: &SparseVec, z: &SparseVec, reward: f32, importance: f32) {
        let lengths = lengths(x, z);
        let product = |(index, a, b): (u32, f32, f32)| (index, (f64::from(a) * f64::from(b) / lengths) as f32);
        self.products.clear();
        self.products.extend(x.common(z).map(product).filter(|product| product.1 != 0.0));
        let offset = similarity(self.similarity, x, z);
        let label = f64::from(reward) - if self.opposed { -offset } else { offset };
        self.weights.step_on(&self.products, |_| (label as f32, importance));
    }

    /// Makes `x` ready to be scored against many memories. O(features of x), nearly always.
    pub(super) fn prepare<'a>(&self, x: &'a SparseVec) -> Prepared<'a> {
        let offset = if self.similarity == Similarity::Cosine { 1.0 } else { 0.0 };
        let probe = |&(index, value): &(u32, f32)| {
            let weight = self.weights.weight(index) + offset;
            Probe { index, value, weighted: f64::from(value) * weight }
        };
        let probes: Vec<Probe> = x.entries().iter().map(probe).collect();
        let mut prepared = Prepared { x, similarity: self.similarity, slots: Vec::new(), shift: 64, factor: GOLDEN, apart: false };
        prepared.place(&probes);
        prepared
    }

    /// The weight of a feature's products beyond their share of the similarity.
    pub(super) fn weight(&self, feature: u32) -> f64 {
        self.weights.weight(feature)
    }

    /// What each feature adds to the score of `z` as an answer to `x`; they sum up to it.
    pub(super) fn terms(&self, x: &SparseVec, z: &SparseVec) -> Vec<(u32, f64)> {
        let lengths = lengths(x, z);
        let learned = |index: u32, product: f64| self.weights.weight(index) * product;
        let product = |a: f32, b: f32| match f64::from(a) * f64::from(b) {
            0.0 => 0.0,
            product => product / lengths,
        };
        let terms: Vec<(u32, f64)> = match self.similarity {
            Similarity::Cosine => x.common(z).map(|(index, a, b)| (index, product(a, b) + learned(index, product(a, b)))).collect(),
            Similarity::NegEuclid => {
                let distance = x.distance_squared(z).sqrt();
                let own = |a: f32, b: f32| if distance == 0.0 { 0.0 } else { -(f64::from(a) - f64::from(b)).powi(2) / distance };
                x.union(z).map(|(index, a, b)| (index, own(a, b) + learned(index, product(a, b)))).collect()
            }
        };
        terms.into_iter().filter(|(_, term)| *term != 0.0).collect()
    }

    pub(super) fn write(&self, out: &mut Writer) {
        self.weights.write(out);
    }

    pub(super) fn read(from: &mut Reader<'_>, options: &CmtOptions) -> Result<Self> {
        let scorer = Self { weights: from.get()?, ..Self::new(options) };
        if *scorer.weights.options() != options.scorer() {
            return Err(from.wrong("a scorer that learns as its options say", format!("{:?}", scorer.weights.options())));
        }
        Ok(scorer)
    }
}

/// A query as a small hash table from features to their weighted values.
///
/// For few features a hash function without collisions is sought, so that a lookup is one probe
/// without a branch; for many, collisions are resolved by linear probing, and nearly all are found
/// at the first place.
pub(super) struct Prepared<'a> {
    x: &'a SparseVec,
    similarity: Similarity,
    /// A power of two, at most an eighth taken.
    slots: Vec<Probe>,
    shift: u32,
    factor: u64,
    /// Whether there are no collisions.
    apart: bool,
}

#[derive(Clone, Copy)]
struct Probe {
    index: u32,
    /// 0 where there is none.
    value: f32,
    /// The value times the weight of its feature.
    weighted: f64,
}

const VACANT: Probe = Probe { index: 0, value: 0.0, weighted: 0.0 };
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// The largest number of features for which a hash function without collisions is sought.
const FEW: usize = 96;

impl Prepared<'_> {
    fn place(&mut self, probes: &[Probe]) {
        // With n^2 / 2 places, two in five hash functions have no collision among n features.
        let mut size = (probes.len() * 8).next_power_of_two();
        if probes.len() <= FEW {
            size = size.max((probes.len() * probes.len() / 2).next_power_of_two());
            for factor in (0..24).map(|i| GOLDEN.wrapping_mul(2 * i + 1)) {
                (self.factor, self.shift) = (factor, 64 - size.trailing_zeros());
                self.slots.clear();
                self.slots.resize(size, VACANT);
                self.apart = probes.iter().all(|probe| {
                    let place = self.home(probe.index);
                    std::mem::replace(&mut self.slots[place], *probe).value == 0.0
                });
                if self.apart {
                    return;
                }
            }
        }
        self.shift = 64 - size.trailing_zeros();
        self.slots = vec![VACANT; size];
        for probe in probes {
            let mut place = self.home(probe.index);
            while self.slots[place].value != 0.0 {
                place = (place + 1) & (size - 1);
            }
            self.slots[place] = *probe;
        }
    }

    /// The score of `z`. O(features of z), without allocation.
    pub(super) fn score(&self, z: &SparseVec) -> f64 {
        match (self.similarity, self.apart) {
            (Similarity::Cosine, true) => over(self.sum_apart(z, |probe| probe.weighted), self.x, z),
            (Similarity::Cosine, false) => over(self.sums(z).1, self.x, z),
            (Similarity::NegEuclid, apart) => {
                let (dot, weighted) = match apart {
                    true => (self.sum_apart(z, |probe| f64::from(probe.value)), self.sum_apart(z, |probe| probe.weighted)),
                    false => self.sums(z),
                };
                -distance(self.x, z, dot) + over(weighted, self.x, z)
            }
        }
    }

    /// Four partial sums, because each addition to one sum waits for the one before.
    fn sum_apart(&self, z: &SparseVec, of: impl Fn(&Probe) -> f64) -> f64 {
        let mask = self.slots.len() - 1;
        let term = |&(index, value): &(u32, f32)| {
            // The mask keeps places in range, so the lookup cannot fail.
            let Some(probe) = self.slots.get(self.home(index) & mask) else { return 0.0 };
            // All ones or all zeros: a branch would be mispredicted half of the time.
            let same = u64::from(probe.index == index).wrapping_neg();
            f64::from_bits((of(probe) * f64::from(value)).to_bits() & same)
        };
        let (fours, rest) = z.entries().as_chunks::<4>();
        let mut sums = [0.0; 4];
        for four in fours {
            for (sum, entry) in sums.iter_mut().zip(four) {
                *sum += term(entry);
            }
        }
        rest.iter().fold(sums[0] + sums[1] + (sums[2] + sums[3]), |sum, entry| sum + term(entry))
    }

    fn sums(&self, z: &SparseVec) -> (f64, f64) {
        let (mut dot, mut weighted) = (0.0, 0.0);
        for &(index, value) in z.entries() {
            let mut place = self.home(index);
            while let Some(probe) = self.slots.get(place & (self.slots.len() - 1)) {
                if probe.index == index {
                    dot += f64::from(probe.value) * f64::from(value);
                    weighted += probe.weighted * f64::from(value);
                }
                if probe.index == index || probe.value == 0.0 {
                    break;
                }
                place = place.wrapping_add(1);
            }
        }
        (dot, weighted)
    }

    fn home(&self, index: u32) -> usize {
        // The shift is 64 for a table of one.
        u64::from(index).wrapping_mul(self.factor).checked_shr(self.shift).unwrap_or(0) as usize
    }
}

fn similarity(kind: Similarity, x: &SparseVec, z: &SparseVec) -> f64 {
    match kind {
        Similarity::Cosine => over(x.dot(z), x, z),
        Similarity::NegEuclid => -distance(x, z, x.dot(z)),
    }
}

/// The distance, from the inner product where that is exact enough, from the differences where it
/// is not: so that it is zero for copies and for nothing else.
fn distance(x: &SparseVec, z: &SparseVec, dot: f64) -> f64 {
    let both = x.square() + z.square();
    let square = both - 2.0 * dot;
    if square > 1e-6 * both { square.sqrt() } else { x.distance_squared(z).sqrt() }
}

fn over(sum: f64, x: &SparseVec, z: &SparseVec) -> f64 {
    if sum == 0.0 { 0.0 } else { sum / lengths(x, z) }
}

/// |x| |z|; exactly |x|^2 when they are equal.
fn lengths(x: &SparseVec, z: &SparseVec) -> f64 {
    (x.square() * z.square()).sqrt()
}
