//! A small Gaussian blur of bordered grey pictures.

use multiversion::multiversion;

use super::pyramid::{Bordered, TAIL};

/// A Gaussian of sigma 2 over seven pixels, in 1/256.
const WEIGHTS: [u16; 7] = [18, 33, 49, 56, 49, 33, 18];

/// Blurs with a Gaussian of sigma 2 (7 x 7). The outermost three pixels of the border are left
/// undefined. O(pixels).
pub fn gaussian_7x7(source: &Bordered) -> Bordered {
    let mut target = Bordered { pixels: vec![0; source.pixels.len()], ..*source };
    let stride = source.stride;
    let rows = source.height + 2 * source.border;
    let mut line = vec![0u8; stride];
    for y in 3..rows.saturating_sub(3) {
        let above = &source.pixels[(y - 3) * stride..(y + 4) * stride];
        blur_row(above, &mut line, &mut target.pixels[y * stride + 3..][..stride.saturating_sub(6)]);
    }
    debug_assert_eq!(target.pixels.len(), rows * stride + TAIL);
    target
}

/// `rows` are seven rows as long as `line`; `out` is six shorter.
#[multiversion(targets("x86_64+avx2"))]
fn blur_row(rows: &[u8], line: &mut [u8], out: &mut [u8]) {
    let n = line.len();
    weigh(
        line,
        [
            &rows[..n],
            &rows[n..2 * n],
            &rows[2 * n..3 * n],
            &rows[3 * n..4 * n],
            &rows[4 * n..5 * n],
            &rows[5 * n..6 * n],
            &rows[6 * n..7 * n],
        ],
    );
    let m = out.len();
    weigh(out, [&line[..m], &line[1..][..m], &line[2..][..m], &line[3..][..m], &line[4..][..m], &line[5..][..m], &line[6..][..m]]);
}

/// `out` becomes the weighted mean of seven slices as long as itself.
#[inline(always)]
fn weigh(out: &mut [u8], [a, b, c, d, e, f, g]: [&[u8]; 7]) {
    let n = out.len();
    let (a, b, c, d, e, f, g) = (&a[..n], &b[..n], &c[..n], &d[..n], &e[..n], &f[..n], &g[..n]);
    for x in 0..n {
        let sum = WEIGHTS[0] * (u16::from(a[x]) + u16::from(g[x]))
            + WEIGHTS[1] * (u16::from(b[x]) + u16::from(f[x]))
            + WEIGHTS[2] * (u16::from(c[x]) + u16::from(e[x]))
            + WEIGHTS[3] * u16::from(d[x]);
        out[x] = ((sum + 128) >> 8) as u8;
    }
}
