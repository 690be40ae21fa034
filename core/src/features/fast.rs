//! FAST-9: pixels with nine neighbours in a row on a circle that are all brighter or all darker.

use multiversion::multiversion;

use crate::picture::pyramid::Bordered;

/// The circle of radius 3, clockwise from the top, as (x, y).
pub const CIRCLE: [(isize, isize); 16] = [
    (0, -3),
    (1, -3),
    (2, -2),
    (3, -1),
    (3, 0),
    (3, 1),
    (2, 2),
    (1, 3),
    (0, 3),
    (-1, 3),
    (-2, 2),
    (-3, 1),
    (-3, 0),
    (-3, -1),
    (-2, -2),
    (-1, -3),
];

/// A corner in pixels of its picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// Pixels from the left edge.
    pub x: u32,
    /// Pixels from the top edge.
    pub y: u32,
    /// The largest threshold minus one at which it still is a corner, `1..=255`.
    pub score: u8,
}

const LANES: usize = 32;

/// The sixteen pixels around each of 32 pixels.
type Ring = [[u8; LANES]; 16];

/// All corners at least `edge` pixels away from every side whose score exceeds `threshold` and is
/// the largest among its eight neighbours (of equal ones the first in reading order), in reading
/// order. The picture's border must be 3 or more. O(pixels).
pub fn corners(picture: &Bordered, threshold: u8, edge: usize) -> Vec<Corner> {
    let mut found = Vec::new();
    if picture.width <= 2 * edge || picture.height <= 2 * edge {
        return found;
    }
    let offsets = CIRCLE.map(|(x, y)| y * picture.stride as isize + x);
    let n = picture.width - 2 * edge;
    // Three rows of scores in turn, each with a zero on either side.
    let mut rows = [vec![0u8; n + 2], vec![0u8; n + 2], vec![0u8; n + 2]];
    for y in edge..=picture.height - edge {
        rows.rotate_left(1);
        let [above, middle, below] = &mut rows;
        if y < picture.height - edge {
            score_row(&picture.pixels, picture.index(edge, y), &offsets, threshold, &mut below[1..=n]);
        } else {
            below.fill(0);
        }
        if y > edge {
            collect(above, middle, below, |x, score| {
                found.push(Corner { x: (x + edge) as u32, y: (y - 1) as u32, score });
            });
        }
    }
    found
}

/// Calls `keep` for the positions of `middle` that are largest in their 3 x 3 neighbourhood.
fn collect(above: &[u8], middle: &[u8], below: &[u8], mut keep: impl FnMut(usize, u8)) {
    let n = middle.len() - 2;
    for start in (0..n).step_by(LANES) {
        let end = (start + LANES).min(n);
        if middle[start + 1..=end].iter().fold(0, |any, &score| any | score) == 0 {
            continue;
        }
        for x in start..end {
            let score = middle[x + 1];
            if score == 0 {
                continue;
            }
            let first = middle[x].max(above[x]).max(above[x + 1]).max(above[x + 2]);
            let later = middle[x + 2].max(below[x]).max(below[x + 1]).max(below[x + 2]);
            if score > first && score >= later {
                keep(x, score);
            }
        }
    }
}

/// Scores of a row of pixels from `start` on; 0 where there is no corner.
///
/// An arc of nine on a circle of sixteen holds at least one of any two opposite pixels: the first
/// test looks at four such pairs for all lanes at once. A lane's score is the largest, over the
/// sixteen arcs, of the smallest difference in the arc.
#[multiversion(targets("x86_64+avx2"))]
fn score_row(pixels: &[u8], start: usize, offsets: &[isize; 16], threshold: u8, scores: &mut [u8]) {
    for (chunk, out) in scores.chunks_mut(LANES).enumerate() {
        let at = start + chunk * LANES;
        let centre = lanes(pixels, at);
        let around = |k: usize| lanes(pixels, at.wrapping_add_signed(offsets[k]));
        let mut high = [255u8; LANES];
        let mut low = [0u8; LANES];
        for k in [0, 2, 4, 6] {
            let (a, b) = (around(k), around(k + 8));
            for i in 0..LANES {
                high[i] = high[i].min(a[i].max(b[i]));
                low[i] = low[i].max(a[i].min(b[i]));
            }
        }
        let mut any = 0u8;
        for i in 0..LANES {
            any = any.max(high[i].saturating_sub(centre[i])).max(centre[i].saturating_sub(low[i]));
        }
        if any <= threshold {
            out.fill(0);
            continue;
        }
        let mut ring = [[0u8; LANES]; 16];
        for (k, values) in ring.iter_mut().enumerate() {
            *values = *around(k);
        }
        let bright = arcs(&ring, u8::min, u8::max, 0);
        let dark = arcs(&ring, u8::max, u8::min, 255);
        let mut score = [0u8; LANES];
        for i in 0..LANES {
            let difference = bright[i].saturating_sub(centre[i]).max(centre[i].saturating_sub(dark[i]));
            score[i] = if difference > threshold { difference } else { 0 };
        }
        out.copy_from_slice(&score[..out.len()]);
    }
}

#[inline(always)]
fn lanes(pixels: &[u8], at: usize) -> &[u8; LANES] {
    pixels[at..].first_chunk().expect("a bordered picture ends in spare bytes")
}

/// `outer` over the sixteen arcs of `inner` over the nine pixels of the arc.
#[inline(always)]
fn arcs(ring: &Ring, inner: impl Fn(u8, u8) -> u8, outer: impl Fn(u8, u8) -> u8, start: u8) -> [u8; LANES] {
    let eight = with_next(&with_next(&with_next(ring, 1, &inner), 2, &inner), 4, &inner);
    let mut best = [start; LANES];
    for k in 0..16 {
        for i in 0..LANES {
            best[i] = outer(best[i], inner(eight[k][i], ring[(k + 8) % 16][i]));
        }
    }
    best
}

/// Each position of the ring combined with the one `step` further on.
#[inline(always)]
fn with_next(ring: &Ring, step: usize, combine: impl Fn(u8, u8) -> u8) -> Ring {
    let mut out = [[0u8; LANES]; 16];
    for k in 0..16 {
        for i in 0..LANES {
            out[k][i] = combine(ring[k][i], ring[(k + step) % 16][i]);
        }
    }
    out
}
