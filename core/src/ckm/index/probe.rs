//! One element against many: kernels with pieces of training images, and distances to centres.

use multiversion::multiversion;
use multiversion::target::match_target;

use super::super::element::{ElementSet, Places, Values};
use super::super::kernel::LeafKernel;
use super::super::options::ElementKind;
use crate::descriptor::Descriptor;
use crate::hamming::{self, LANES};
use crate::linalg::dots::{self, NARROW, Quads};

/// What a kind's elements are compared by.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    kernel: LeafKernel,
    unit: f32,
    is_narrow: bool,
}

impl Measure {
    pub(super) fn of(kind: &ElementKind) -> Self {
        Self { kernel: kind.kernel, unit: kind.source.unit(), is_narrow: kind.source.largest() <= NARROW }
    }
}

/// An element that is compared with many others.
pub(super) struct Probe {
    position: [f32; 2],
    descriptor: Descriptor,
    /// Dense values, four by four.
    row: Vec<i32>,
    norm: i32,
}

impl Probe {
    /// Element `i` of a set.
    pub(super) fn new(set: &ElementSet, i: usize) -> Self {
        let mut row = Vec::new();
        let mut norm = 0;
        for (d, value) in set.row(i).enumerate() {
            if d % 4 == 0 {
                row.push(0);
            }
            row[d / 4] |= i32::from_le_bytes([value, 0, 0, 0]) << (8 * (d % 4));
            norm += i32::from(value).pow(2);
        }
        Self { position: set.position(i), descriptor: set.descriptor(i), row, norm }
    }

    /// The kernels with each element of a set, with their weights, block by block; each is exactly
    /// what comparing with the element's image gives. O(elements).
    pub(super) fn values(&self, measure: &Measure, set: &ElementSet, out: &mut Vec<[f32; LANES]>) {
        self.compare(measure, set, Wanted::Kernels, out);
    }

    /// How far each element of a set is in the space of features and positions, in which lists are
    /// cut: the squared distance of the features in units of `rho` (of binary descriptors the
    /// number of differing bits is a squared distance), and the cost of being apart times the
    /// squared distance of the positions in units of `reach`, at most 1. Lanes beyond the last
    /// element hold anything. O(elements).
    pub(super) fn distances(&self, measure: &Measure, set: &ElementSet, out: &mut Vec<[f32; LANES]>) {
        self.compare(measure, set, Wanted::Distances, out);
    }

    fn compare(&self, measure: &Measure, set: &ElementSet, wanted: Wanted, out: &mut Vec<[f32; LANES]>) {
        out.clear();
        match &set.values {
            Values::Binary(blocks) => binary(self, measure, wanted, blocks.blocks(), &set.places, out),
            Values::Dense { quads, norms, .. } => dense(self, measure, wanted, quads, norms, &set.places, out),
        }
    }
}

/// What comparing gives.
#[derive(Clone, Copy)]
enum Wanted {
    Kernels,
    Distances,
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2", "x86_64+avx2+popcnt+bmi1+bmi2"))]
fn binary(probe: &Probe, measure: &Measure, wanted: Wanted, blocks: &[hamming::Block], places: &[Places], out: &mut Vec<[f32; LANES]>) {
    let scale = 1.0 / measure.kernel.rho;
    for (block, places) in blocks.iter().zip(places) {
        let bits = match_target! {
            "x86_64+avx512f+avx512vpopcntdq" => hamming::vpopcnt_floats(block, &probe.descriptor),
            "x86_64+avx2" => hamming::floats(hamming::avx2(block, &probe.descriptor)),
            _ => hamming::floats(hamming::portable(block, &probe.descriptor)),
        };
        out.push(match wanted {
            Wanted::Kernels => kernels(probe, &measure.kernel, bits, places),
            Wanted::Distances => joint(probe, &measure.kernel, scale, bits, places),
        });
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vnni+avx2", "x86_64+avx2"))]
fn dense(
    probe: &Probe,
    measure: &Measure,
    wanted: Wanted,
    values: &[Quads],
    norms: &[[i32; LANES]],
    places: &[Places],
    out: &mut Vec<[f32; LANES]>,
) {
    let scale = (1.0 / (measure.kernel.rho * measure.unit)).powi(2);
    for ((block, norms), places) in values.chunks_exact(probe.row.len()).zip(norms).zip(places) {
        let dots = if measure.is_narrow {
            match_target! {
                "x86_64+avx512f+avx512vnni" => dots::vnni_one(block, &probe.row),
                "x86_64+avx2" => dots::avx2_one(block, &probe.row),
                _ => dots::portable_one(block, &probe.row),
            }
        } else {
            dots::portable_one(block, &probe.row)
        };
        let squares = squares(probe.norm, norms, dots);
        out.push(match wanted {
            Wanted::Kernels => kernels(probe, &measure.kernel, squares.map(|square| square.sqrt() * (1.0 / measure.unit)), places),
            Wanted::Distances => joint(probe, &measure.kernel, scale, squares, places),
        });
    }
}

#[inline(always)]
fn squares(own: i32, norms: &[i32; LANES], dots: [i32; LANES]) -> [f32; LANES] {
    std::array::from_fn(|i| own.wrapping_add(norms[i]).wrapping_sub(dots[i].wrapping_mul(2)) as f32)
}

#[inline(always)]
fn kernels(probe: &Probe, kernel: &LeafKernel, distances: [f32; LANES], places: &Places) -> [f32; LANES] {
    let [x, y] = probe.position;
    std::array::from_fn(|i| {
        let (likeness, nearness) = kernel.parts(distances[i], x - places.x[i], y - places.y[i]);
        likeness + nearness + places.weight[i]
    })
}

#[inline(always)]
fn joint(probe: &Probe, kernel: &LeafKernel, scale: f32, squares: [f32; LANES], places: &Places) -> [f32; LANES] {
    let [x, y] = probe.position;
    let reach = 1.0 / (kernel.reach * kernel.reach);
    std::array::from_fn(|i| {
        let (dx, dy) = (x - places.x[i], y - places.y[i]);
        scale * squares[i] + kernel.cost * ((dx * dx + dy * dy) * reach).min(1.0)
    })
}
