//! Exact sums over the features of training images, and the least-squares weights that follow from
//! them.
//!
//! Features are whole numbers, so the sums do not depend on the order in which images came and
//! went: whoever takes an image away has what there was without it, to the last bit.

use std::borrow::Cow;

use rayon::prelude::*;

use super::features::{CLASS_STEP, Features, SIZE, STEPS, WAVES};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::double::{add_scaled, dot};

/// The strength of the ridge, where the kernel of an image with itself is 1; chosen on folds of
/// training images.
const RIDGE: f64 = 0.3;

/// Images whose products are added up in 32 bits, which hold 133,000.
const CHUNK: usize = 256;

/// Parts for each thread into which images are divided to be added up, about.
const PARTS: usize = 2;

/// The most that a feature can be, and its opposite the least.
const MOST: u64 = 128;

/// The sums over the training images of a machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sums {
    /// Of products of two features: the lower triangle by rows.
    products: Vec<i64>,
    classes: Vec<ClassSums>,
}

/// The sums over the images of a class.
#[derive(Clone, Debug, PartialEq)]
struct ClassSums {
    images: usize,
    features: Vec<i64>,
}

impl ClassSums {
    fn new() -> Self {
        Self { images: 0, features: vec![0; SIZE] }
    }
}

impl Sums {
    /// No image of so many classes.
    pub(super) fn new(classes: usize) -> Self {
        Self { products: vec![0; triangle(SIZE)], classes: vec![ClassSums::new(); classes] }
    }

    /// The sums over images, each with the position of its class; without those that have no
    /// features. O(images * [`SIZE`]^2), on all threads.
    pub(super) fn of<T: Sync>(classes: usize, images: &[T], features: impl Fn(&T) -> Option<(usize, Features)> + Sync) -> Self {
        // A part that is folded takes 5 MB and more.
        let least = images.len().div_ceil(CHUNK * PARTS * rayon::current_num_threads());
        let chunks = images.par_chunks(CHUNK).with_min_len(least).fold(
            || Self::new(classes),
            |mut sums, chunk| {
                let mut products = vec![0i32; triangle(SIZE)];
                for (class, features) in chunk.iter().filter_map(&features) {
                    add_products(&mut products, &features);
                    sums.classes[class].change(&features, 1);
                }
                sums.products.iter_mut().zip(products).for_each(|(sum, product)| *sum += i64::from(product));
                sums
            },
        );
        chunks.reduce(|| Self::new(classes), Self::joined)
    }

    fn joined(mut self, other: Self) -> Self {
        self.products.iter_mut().zip(other.products).for_each(|(sum, product)| *sum += product);
        for (class, other) in self.classes.iter_mut().zip(other.classes) {
            class.images += other.images;
            class.features.iter_mut().zip(other.features).for_each(|(sum, feature)| *sum += feature);
        }
        self
    }

    /// Whether these can be sums over so many images of each class.
    pub(super) fn are_of(&self, images: impl ExactSizeIterator<Item = usize>) -> bool {
        let most = |images: usize, of_one: u64| move |sum: &i64| sum.unsigned_abs() <= of_one * images as u64;
        let is_of = |(class, images): (&ClassSums, usize)| {
            class.images == images && class.features.len() == SIZE && class.features.iter().all(most(class.images, MOST))
        };
        let all = self.classes.iter().map(|class| class.images).sum();
        self.classes.len() == images.len()
            && self.classes.iter().zip(images).all(is_of)
            && self.products.len() == triangle(SIZE)
            && self.products.iter().all(most(all, MOST * MOST))
    }

    pub(super) fn insert_class(&mut self, class: usize) {
        self.classes.insert(class, ClassSums::new());
    }

    pub(super) fn remove_class(&mut self, class: usize) {
        self.classes.remove(class);
    }

    /// Takes in an image of a class. O([`SIZE`]^2).
    pub(super) fn insert(&mut self, class: usize, features: &Features) {
        self.change(class, features, 1);
    }

    /// Takes an image of a class away. O([`SIZE`]^2).
    pub(super) fn remove(&mut self, class: usize, features: &Features) {
        self.change(class, features, -1);
    }

    fn change(&mut self, class: usize, features: &Features, sign: i64) {
        let mut products = vec![0i32; triangle(SIZE)];
        add_products(&mut products, features);
        self.products.iter_mut().zip(products).for_each(|(sum, product)| *sum += sign * i64::from(product));
        self.classes[class].change(features, sign);
    }

    /// For each class what a least-squares fit is drawn to: the sum over its images, less its share
    /// of the sum over all.
    fn targets(&self) -> Vec<Vec<f64>> {
        let images: usize = self.classes.iter().map(|class| class.images).sum();
        let all: Vec<i64> = (0..SIZE).map(|i| self.classes.iter().map(|class| class.features[i]).sum()).collect();
        let of_class = |class: &ClassSums| {
            let share = class.images as f64 / images.max(1) as f64;
            let target = |(i, (sum, all)): (usize, (&i64, &i64))| step(i) * (*sum as f64 - share * *all as f64);
            class.features.iter().zip(&all).enumerate().map(target).collect()
        };
        self.classes.iter().map(of_class).collect()
    }

    /// Fits the weights. O([`SIZE`]^3 + classes * [`SIZE`]^2).
    pub(super) fn solve(&self) -> Solution {
        let mut matrix = vec![0.0; SIZE * SIZE];
        for i in 0..SIZE {
            let row = &self.products[triangle(i)..triangle(i + 1)];
            let scaled = |(j, sum): (usize, &i64)| step(i) * step(j) * *sum as f64;
            matrix[i * SIZE..].iter_mut().zip(row.iter().enumerate().map(scaled)).for_each(|(to, value)| *to = value);
            matrix[i * SIZE + i] += ridge();
        }
        // With a ridge the matrix is positive definite.
        let factor = Cholesky::new(matrix, SIZE);
        let solved = |mut target: Vec<f64>| {
            match &factor {
                Some(factor) => factor.solve(&mut target),
                None => target.fill(0.0),
            }
            target
        };
        let weights = self.targets().into_par_iter().map(solved).collect();
        Solution { factor, weights }
    }

    /// What there is without some training images, each given with the position of its class.
    /// O(left-out images * [`SIZE`]^2), or as [`Sums::solve`] where many are left out.
    pub(super) fn without<'a>(&self, solution: &'a Solution, left_out: &[(usize, Features)]) -> Others<'a> {
        if left_out.is_empty() {
            return Others::Solved(Cow::Borrowed(solution));
        }
        if left_out.len() > SIZE / 4 {
            let mut others = self.clone();
            left_out.iter().for_each(|(class, features)| others.remove(*class, features));
            return Others::Solved(Cow::Owned(others.solve()));
        }
        let Some(downdate) = Downdate::new(solution, left_out) else { return Others::None(self.classes.len()) };
        // The products are not needed.
        let mut others = Self { products: Vec::new(), classes: self.classes.clone() };
        left_out.iter().for_each(|(class, features)| others.classes[*class].change(features, -1));
        Others::Downdated(downdate, others.targets())
    }
}

impl Stored for Sums {
    fn write(&self, out: &mut Writer) {
        out.put(&self.products);
        out.put(&self.classes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { products: from.get()?, classes: from.get()? })
    }
}

impl Stored for ClassSums {
    fn write(&self, out: &mut Writer) {
        out.count(self.images);
        out.put(&self.features);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let images: u64 = from.get()?;
        let images = u32::try_from(images).map_err(|_| from.wrong("a number of images", images.to_string()))?;
        Ok(Self { images: images as usize, features: from.get()? })
    }
}

impl ClassSums {
    fn change(&mut self, features: &Features, sign: i64) {
        self.images = if sign > 0 { self.images + 1 } else { self.images - 1 };
        self.features.iter_mut().zip(features).for_each(|(sum, feature)| *sum += sign * i64::from(*feature));
    }
}

/// Values in the first `rows` rows of a lower triangle.
fn triangle(rows: usize) -> usize {
    rows * (rows + 1) / 2
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn add_products(products: &mut [i32], features: &Features) {
    let wide: [i32; SIZE] = std::array::from_fn(|i| i32::from(features[i]));
    let mut rest = products;
    for (i, factor) in wide.iter().enumerate() {
        let (row, below) = rest.split_at_mut(i + 1);
        // Far from overflowing; checks of that would undo the lanes in tests.
        row.iter_mut().zip(&wide).for_each(|(sum, other)| *sum = sum.wrapping_add(factor.wrapping_mul(*other)));
        rest = below;
    }
}

/// Fitted weights.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    factor: Option<Cholesky>,
    /// One for each feature, class by class.
    weights: Vec<Vec<f64>>,
}

impl Solution {
    /// The values of an image for each class.
    pub(super) fn values(&self, features: &Features) -> Vec<f64> {
        let wide = wide(features);
        self.weights.iter().map(|weights| dot(&wide, weights)).collect()
    }

    /// The inverse of the fitted matrix, times an image's features: its product with the features
    /// of a training image is that image's share in the value of this one.
    pub(super) fn shares(&self, features: &Features) -> Vec<f64> {
        let mut wide = wide(features);
        if let Some(factor) = &self.factor {
            factor.solve(&mut wide);
        }
        wide
    }
}

/// The product of features with what [`Solution::shares`] gave.
pub(super) fn share(shares: &[f64], features: &Features) -> f64 {
    dot(shares, &wide(features))
}

/// What the ridge adds to the products of each feature with itself.
fn ridge() -> f64 {
    RIDGE * f64::from(STEPS * STEPS) * WAVES as f64 / 2.0
}

/// How much a step of a feature counts.
fn step(feature: usize) -> f64 {
    if feature < WAVES { 1.0 } else { CLASS_STEP }
}

/// Features, as they count.
fn wide(features: &Features) -> Vec<f64> {
    features.iter().enumerate().map(|(i, feature)| step(i) * f64::from(*feature)).collect()
}

/// The values of each image, given with the position of its class, for each class, where only the
/// images before it are training images.
///
/// By the dual of ridge regression: with the products `K` of images, ridge `r`, a class's indicator
/// `y` and its share `s`, the value of a query with products `k` is `k' (K + r I)^-1 (y - s)`. All
/// machines have one Cholesky factor in common, whose first rows are that of the first images: its
/// row of an image is what solving for the products with those before gives.
pub(super) fn values_in_turn(classes: usize, images: &[(usize, Features)]) -> Vec<Vec<f64>> {
    let n = images.len();
    let wide: Vec<Vec<f64>> = images.iter().map(|(_, features)| wide(features)).collect();
    let mut matrix = vec![0.0; n * n];
    for (i, row) in matrix.chunks_exact_mut(n.max(1)).enumerate() {
        row[..=i].iter_mut().zip(&wide).for_each(|(product, other)| *product = dot(&wide[i], other));
        row[i] += ridge();
    }
    let none = || vec![vec![0.0; classes]; n];
    let Some(factor) = Cholesky::new(matrix, n) else { return none() };
    let indicator = |class: usize| {
        let mut of: Vec<f64> = images.iter().map(|(own, _)| f64::from(u8::from(*own == class))).collect();
        factor.solve_lower(&mut of);
        of
    };
    let indicators: Vec<Vec<f64>> = (0..classes).map(indicator).collect();
    let mut all = vec![1.0; n];
    factor.solve_lower(&mut all);
    let (mut values, mut counts) = (none(), vec![0usize; classes]);
    for (turn, (class, _)) in images.iter().enumerate() {
        let row = &factor.row(turn)[..turn];
        let whole = dot(row, &all[..turn]);
        for ((value, of), count) in values[turn].iter_mut().zip(&indicators).zip(&counts) {
            *value = dot(row, &of[..turn]) - *count as f64 / turn.max(1) as f64 * whole;
        }
        counts[*class] += 1;
    }
    values
}

/// A solution without the images that are left out.
pub(super) enum Others<'a> {
    /// None are, or it was solved anew.
    Solved(Cow<'a, Solution>),
    /// With the targets of the other images.
    Downdated(Downdate<'a>, Vec<Vec<f64>>),
    /// It has none, for so many classes.
    None(usize),
}

impl Others<'_> {
    /// The values of an image for each class. O([`SIZE`] * classes), or O([`SIZE`]^2) by a
    /// downdate.
    pub(super) fn values(&self, image: &Features) -> Vec<f64> {
        match self {
            Self::Solved(solution) => solution.values(image),
            Self::Downdated(downdate, targets) => {
                let shares = downdate.shares(image);
                targets.iter().map(|target| dot(&shares, target)).collect()
            }
            Self::None(classes) => vec![0.0; *classes],
        }
    }

    /// How little of an image the training images explain, 0..=1: the variance of the Gaussian
    /// process of which the values are the mean, as a share of what it is without any training
    /// image (C. Rasmussen and C. Williams, *Gaussian Processes for Machine Learning*, 2006,
    /// equation 2.26). O([`SIZE`]^2).
    pub(super) fn novelty(&self, image: &Features) -> f64 {
        let shares = match self {
            Self::Solved(solution) => solution.shares(image),
            Self::Downdated(downdate, _) => downdate.shares(image),
            Self::None(_) => return 1.0,
        };
        let wide = wide(image);
        let own = dot(&wide, &wide);
        if own > 0.0 { (ridge() * dot(&shares, &wide) / own).clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// A solution from which images are taken away by the formula of Sherman, Morrison and Woodbury (G.
/// Golub and C. Van Loan, *Matrix Computations*, section 2.1.4).
pub(super) struct Downdate<'a> {
    solution: &'a Solution,
    /// The inverse matrix times the features of each image.
    inverse: Vec<Vec<f64>>,
    /// Of the identity less their products with each other.
    factor: Cholesky,
}

impl<'a> Downdate<'a> {
    fn new(solution: &'a Solution, left_out: &[(usize, Features)]) -> Option<Self> {
        let inverse: Vec<Vec<f64>> = left_out.iter().map(|(_, features)| solution.shares(features)).collect();
        let n = left_out.len();
        let mut matrix = vec![0.0; n * n];
        for (i, (_, features)) in left_out.iter().enumerate() {
            for (j, inverse) in inverse.iter().enumerate().take(i + 1) {
                matrix[i * n + j] = f64::from(i == j) - share(inverse, features);
            }
        }
        Some(Self { solution, inverse, factor: Cholesky::new(matrix, n)? })
    }

    /// As [`Solution::shares`], without the images.
    fn shares(&self, query: &Features) -> Vec<f64> {
        let mut shares = self.solution.shares(query);
        let mut turned: Vec<f64> = self.inverse.iter().map(|inverse| share(inverse, query)).collect();
        self.factor.solve(&mut turned);
        for (inverse, factor) in self.inverse.iter().zip(turned) {
            add_scaled(&mut shares, factor, inverse);
        }
        shares
    }
}
