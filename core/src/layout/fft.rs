//! Fourier transforms of square grids of complex numbers, whose side is a power of two.
//!
//! A grid is transformed down its columns, sixteen at a time, and turned over; twice that is the
//! transform of both directions. After Cooley and Tukey, 1965.

use multiversion::multiversion;
use rayon::prelude::*;

/// Columns that are transformed together.
const BLOCK: usize = 16;

type Lanes = [f32; BLOCK];

/// A square grid of complex numbers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Rows, and columns.
    pub side: usize,
    /// Real parts.
    pub re: Vec<f32>,
    /// Imaginary parts.
    pub im: Vec<f32>,
}

impl Grid {
    /// Zeros.
    pub fn zeros(side: usize) -> Self {
        Self { side, re: vec![0.0; side * side], im: vec![0.0; side * side] }
    }
}

/// What transforms grids of one side.
#[derive(Clone, Debug)]
pub struct Fourier {
    side: usize,
    /// exp(-2 pi i k / side) for k below half of the side.
    turns: Vec<(f32, f32)>,
    /// Each number with its bits in reverse.
    reversed: Vec<usize>,
    /// Between both directions.
    between: Grid,
}

impl Fourier {
    /// For grids of this side.
    ///
    /// # Panics
    /// When it is no power of two, or below 16.
    pub fn new(side: usize) -> Self {
        assert!(side.is_power_of_two() && side >= BLOCK, "a side that is a power of two, 16 or more, not {side}");
        let turn = |k: usize| {
            let (sin, cos) = (-std::f64::consts::TAU * k as f64 / side as f64).sin_cos();
            (cos as f32, sin as f32)
        };
        let bits = side.trailing_zeros();
        let reversed = (0..side).map(|i| i.reverse_bits() >> (usize::BITS - bits)).collect();
        Self { side, turns: (0..side / 2).map(turn).collect(), reversed, between: Grid::zeros(side) }
    }

    /// The side of the grids.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Transforms a grid. Equal on any number of threads. O(side² log side).
    ///
    /// # Panics
    /// When its side is another one.
    pub fn forward(&mut self, grid: &mut Grid) {
        self.both(grid, false);
    }

    /// Transforms a grid back; the values are `side`² times those that were there.
    ///
    /// # Panics
    /// When its side is another one.
    pub fn backward(&mut self, grid: &mut Grid) {
        self.both(grid, true);
    }

    fn both(&mut self, grid: &mut Grid, is_back: bool) {
        assert_eq!(grid.side, self.side, "a grid of this side");
        let mut between = std::mem::replace(&mut self.between, Grid { side: 0, re: Vec::new(), im: Vec::new() });
        self.down(grid, &mut between, is_back);
        self.down(&between, grid, is_back);
        self.between = between;
    }

    /// Transforms down the columns and turns the grid over.
    fn down(&self, from: &Grid, to: &mut Grid, is_back: bool) {
        let side = self.side;
        let blocks = to.re.par_chunks_mut(BLOCK * side).zip(to.im.par_chunks_mut(BLOCK * side)).enumerate();
        blocks.for_each(|(block, (to_re, to_im))| {
            let taken = |values: &[f32], row: usize| -> Lanes {
                let mut lanes = [0.0; BLOCK];
                lanes.copy_from_slice(&values[row * side + block * BLOCK..][..BLOCK]);
                lanes
            };
            let mut re: Vec<Lanes> = self.reversed.iter().map(|row| taken(&from.re, *row)).collect();
            let mut im: Vec<Lanes> = self.reversed.iter().map(|row| taken(&from.im, *row)).collect();
            transform(&mut re, &mut im, &self.turns, if is_back { -1.0 } else { 1.0 });
            for column in 0..BLOCK {
                let (to_re, to_im) = (&mut to_re[column * side..][..side], &mut to_im[column * side..][..side]);
                to_re.iter_mut().zip(&re).for_each(|(to, lanes)| *to = lanes[column]);
                to_im.iter_mut().zip(&im).for_each(|(to, lanes)| *to = lanes[column]);
            }
        });
    }
}

/// Transforms columns whose rows are in the order of reversed bits.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn transform(re: &mut [Lanes], im: &mut [Lanes], turns: &[(f32, f32)], sign: f32) {
    let side = re.len();
    let mut half = 1;
    while half < side {
        let stride = side / (2 * half);
        for (re, im) in re.chunks_exact_mut(2 * half).zip(im.chunks_exact_mut(2 * half)) {
            let ((re_a, re_b), (im_a, im_b)) = (re.split_at_mut(half), im.split_at_mut(half));
            for k in 0..half {
                let (cos, sin) = turns[k * stride];
                let sin = sign * sin;
                let (ra, rb, ia, ib) = (&mut re_a[k], &mut re_b[k], &mut im_a[k], &mut im_b[k]);
                for i in 0..BLOCK {
                    let (r, s) = (rb[i] * cos - ib[i] * sin, rb[i] * sin + ib[i] * cos);
                    (rb[i], ib[i]) = (ra[i] - r, ia[i] - s);
                    (ra[i], ia[i]) = (ra[i] + r, ia[i] + s);
                }
            }
        }
        half *= 2;
    }
}
