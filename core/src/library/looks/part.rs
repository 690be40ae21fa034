//! A part of an image as the network sees it, and how alike parts of other images are to it.
//!
//! The part is seen as four quarters, each a vector. A rectangle of an image's cells has four
//! quarters too, and the likeness of an image is that of its most alike rectangle: the mean of the
//! cosines of the quarters, without what is common to all images. So an image is found that shows
//! among other things what the part shows, of any size from a third of its sides up.

use rayon::prelude::*;

use super::super::Library;
use super::super::glimpse::{dot, without_common};
use super::super::state::Image;
use super::likeness::Likeness;
use super::{Look, LookQuery};
use crate::ckm::element::Elements;
use crate::ids::ItemId;
use crate::network::{CHANNELS, NetworkOptions, Seen};

/// Images whose parts are compared: those that are most alike as wholes.
pub(super) const COMPARED: usize = 1000;
/// Cells along the shorter side of the smallest rectangle.
const LEAST: usize = 2;
/// The largest ratio of the sides of a rectangle, in cells.
const RATIO: usize = 2;
/// A squared length below which nothing is left of a vector without what is common.
const SHORTEST: f64 = 1e-12;

/// Four vectors of length 1, of the quarters of a part: top left, top right, bottom left, bottom
/// right.
#[derive(Clone, Debug, PartialEq)]
pub struct PartSeen([Vec<f64>; 4]);

impl PartSeen {
    /// The quarters of what the network sees in a part that was cut out.
    pub fn of(seen: &Seen) -> Self {
        let cells = seen.cells(&NetworkOptions { grid: 2 });
        Self(std::array::from_fn(|i| cells[i].values.iter().map(|value| f64::from(*value)).collect()))
    }
}

/// Measures how alike parts of images are to one.
struct PartLikeness {
    /// The quarters, without what is common.
    own: [Vec<f64>; 4],
    own_common: [f64; 4],
    common: Vec<f64>,
    common_squared: f64,
}

impl PartLikeness {
    fn new(part: &PartSeen, common: &[f64]) -> Self {
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let own = part.0.each_ref().map(|quarter| without_common(quarter, common));
        let own_common = own.each_ref().map(|quarter| product(quarter, common));
        Self { own, own_common, common: common.to_vec(), common_squared: product(common, common) }
    }

    /// The likeness of the most alike rectangle of cells, 0 to 1; they are `grid` along each side.
    /// O(grid⁴ (values + 1)).
    fn of(&self, cells: &[[u8; CHANNELS]], grid: usize) -> f64 {
        let products: Vec<[f64; 5]> = cells.iter().map(|cell| self.products(cell)).collect();
        let squared = |i: usize, j: usize| cells[i].iter().zip(&cells[j]).map(|(a, b)| u32::from(*a) * u32::from(*b)).sum::<u32>();
        // Those of cells that may lie in one quarter.
        let largest = grid.div_ceil(2);
        let near = |i: usize, j: usize| (i / grid).abs_diff(j / grid) < largest && (i % grid).abs_diff(j % grid) < largest;
        let n = grid * grid;
        let mut gram = vec![0; n * n];
        for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).filter(|(i, j)| near(*i, *j)) {
            gram[i * n + j] = squared(i, j);
            gram[j * n + i] = gram[i * n + j];
        }
        let quarter = |[x, y]: [usize; 2], [width, height]: [usize; 2]| -> [f64; 4] {
            let inside = || (y..y + height).flat_map(|y| (x..x + width).map(move |x| y * grid + x));
            let length =
                f64::from(inside().flat_map(|i| inside().map(move |j| (i, j))).map(|(i, j)| gram[i * n + j]).sum::<u32>().max(1)).sqrt();
            let sums = inside().fold([0.0; 5], |mut sums, i| {
                sums.iter_mut().zip(products[i]).for_each(|(sum, product)| *sum += product / length);
                sums
            });
            // The squared length of what is left without what is common.
            let rest = 1.0 - 2.0 * sums[4] + self.common_squared;
            std::array::from_fn(|k| if rest > SHORTEST { (sums[k] - self.own_common[k]) / rest.sqrt() } else { 0.0 })
        };
        // Each rectangle of at most half the cells each way, as each of the quarters.
        let places = |[width, height]: [usize; 2]| (0..=grid - height).flat_map(move |y| (0..=grid - width).map(move |x| [x, y]));
        let sizes = (1..=largest).flat_map(|height| (1..=largest).map(move |width| [width, height]));
        let tables: Vec<Vec<[f64; 4]>> = sizes.map(|size| places(size).map(|at| quarter(at, size)).collect()).collect();
        let mut best = -1.0_f64;
        for (width, height) in (LEAST..=grid).flat_map(|width| (LEAST..=grid).map(move |height| (width, height))) {
            if width > RATIO * height || height > RATIO * width {
                continue;
            }
            let (half, half_height) = (width.div_ceil(2), height.div_ceil(2));
            let table = &tables[(half_height - 1) * largest + half - 1];
            let at = |x: usize, y: usize, k: usize| table[y * (grid - half + 1) + x][k];
            for [x, y] in places([width, height]) {
                let (right, below) = (x + width - half, y + height - half_height);
                let mean = (at(x, y, 0) + at(right, y, 1) + at(x, below, 2) + at(right, below, 3)) / 4.0;
                best = best.max(mean);
            }
        }
        f64::midpoint(1.0, best).clamp(0.0, 1.0)
    }

    /// A cell's products with the quarters and with what is common.
    fn products(&self, cell: &[u8; CHANNELS]) -> [f64; 5] {
        let [a, b, c, d] = &self.own;
        [a, b, c, d, &self.common].map(|values| dot(values, cell))
    }
}

impl Library {
    /// Of some images, with their likeness as wholes, the [`COMPARED`] most alike ones by their
    /// most alike part in place of it, and the others not at all. Images of whose cells the cache
    /// has nothing keep their likeness. Leaves all as they are, and returns `None`, where not the
    /// network's vectors are compared or no part is looked for.
    pub(in crate::library) fn by_parts(
        &self,
        query: &LookQuery,
        likeness: &Likeness,
        wholes: &[(ItemId, f64)],
    ) -> Option<Vec<(ItemId, f64)>> {
        let part = query.part.as_ref().filter(|_| *likeness.look() == Look::Network)?;
        self.extraction.cells.as_ref()?;
        let measure = PartLikeness::new(part, likeness.common());
        let mut wholes = wholes.to_vec();
        wholes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        wholes.truncate(COMPARED);
        // Rows are read one after the other, for there is one connection.
        let mut compared = Vec::with_capacity(wholes.len());
        for some in wholes.chunks(TOGETHER) {
            let cells: Vec<_> = some.iter().map(|(id, _)| self.state.image(*id).and_then(|image| self.cells_seen(image))).collect();
            let likeness =
                |((id, whole), cells): (&(ItemId, f64), &Option<Elements>)| (*id, measured(&measure, cells.as_ref()).unwrap_or(*whole));
            compared.par_extend(some.par_iter().zip(&cells).map(likeness));
        }
        Some(compared)
    }

    /// The cells of the network of an image, from the cache.
    fn cells_seen(&self, image: &Image) -> Option<Elements> {
        let row = self.cache.feature(image.content?.hash, &self.extraction.cells.as_ref()?.version).ok()?.sound()?;
        self.extraction.cells_from(&row)
    }
}

/// Images whose cells are in memory together.
const TOGETHER: usize = 200;

fn measured(measure: &PartLikeness, cells: Option<&Elements>) -> Option<f64> {
    let set = cells?.sets.first()?;
    let grid = set.len().isqrt();
    if grid < LEAST || grid * grid != set.len() {
        return None;
    }
    let cell = |i: usize| {
        let mut values = [0; CHANNELS];
        values.iter_mut().zip(set.row(i)).for_each(|(to, value)| *to = value);
        values
    };
    Some(measure.of(&(0..set.len()).map(cell).collect::<Vec<_>>(), grid))
}
