//! Trees that part space, each by one direction or coordinate at each node.
//!
//! Nodes are numbered as in a heap: the root is 1, the children of node i are 2 i and 2 i + 1. A
//! tree of depth l has 2^l leaves; cut off at a smaller depth it is a tree of that depth, whose
//! leaves are unions of those below.
//!
//! After V. Hyvonen, E. Jaasaari and T. Roos, *A Multilabel Classification Framework for
//! Approximate Nearest Neighbor Search*, NeurIPS 2022, section 5 and appendix; random projections
//! as in V. Hyvonen et al., *Fast Nearest Neighbor Search through Sparse Random Projections and
//! Voting*, 2016.

use rand::RngExt as _;
use rand::seq::index::sample;

use super::forest::Splitter;
use super::ground::{Ground, TreeKind, share, some};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::random::{Rng, normal};

/// Coordinates from which k-d trees draw one.
const BEST: usize = 5;

/// Points of a node by which variances and directions are found.
const SAMPLE: usize = 100;

/// Points of a node by which principal directions are found.
const PRINCIPAL_SAMPLE: usize = 512;

/// Steps of the power iteration, and the change of all weights at which it ends before.
const STEPS: usize = 20;
const STILL: f32 = 0.01;

/// Levels of the deepest tree.
pub(super) const DEEPEST: usize = 24;

/// A few coordinates, each with a weight.
#[derive(Clone, Debug, Default, PartialEq)]
struct Direction(Vec<(u32, f32)>);

impl Direction {
    fn along(&self, x: &[f32]) -> f32 {
        self.0.iter().map(|(coordinate, weight)| weight * x[*coordinate as usize]).sum()
    }
}

/// What nodes look at.
#[derive(Clone, Debug, PartialEq)]
enum Looks {
    /// Each at a coordinate.
    Coordinates(Vec<u32>),
    /// All of a level at one direction.
    Levels(Vec<Direction>),
    /// Each at a direction.
    Directions(Vec<Direction>),
}

/// A tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    depth: usize,
    looks: Looks,
    /// Values up to it go left; infinity where a node has no second child.
    thresholds: Vec<f32>,
}

impl Tree {
    /// Grows a tree. Returns it with the leaf of each point. Points whose values equal the median
    /// are divided evenly, so all leaves of trees by medians have as many points, give or take one.
    pub(super) fn grow(ground: &Ground<'_>, rng: &mut Rng) -> (Self, Vec<u32>) {
        let (n, inner) = (ground.points.len(), (1usize << ground.depth) - 1);
        let looks = match ground.kind {
            TreeKind::RandomProjection => Looks::Levels((0..ground.depth).map(|_| random_direction(ground, rng)).collect()),
            TreeKind::Principal | TreeKind::Oblique => Looks::Directions(vec![Direction::default(); inner]),
            TreeKind::Kd | TreeKind::Chronological | TreeKind::Forest => Looks::Coordinates(vec![0; inner]),
        };
        let mut tree = Self { depth: ground.depth, looks, thresholds: vec![f32::INFINITY; inner] };
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut leaves = vec![0; n];
        let mut grower = Grower { ground, rng, splitter: Splitter::default(), values: Vec::new(), leaves: &mut leaves };
        tree.part(&mut grower, &mut order, 1, 0);
        (tree, leaves)
    }

    fn part(&mut self, grower: &mut Grower<'_>, points: &mut [u32], node: usize, level: usize) {
        if level == self.depth {
            let leaf = (node - (1 << self.depth)) as u32;
            points.iter().for_each(|point| grower.leaves[*point as usize] = leaf);
            return;
        }
        let middle = self.choose(grower, points, node, level);
        let (left, right) = points.split_at_mut(middle);
        self.part(grower, left, 2 * node, level + 1);
        self.part(grower, right, 2 * node + 1, level + 1);
    }

    /// Chooses what a node looks at and puts those of its points first that go left. Returns their
    /// number.
    fn choose(&mut self, grower: &mut Grower<'_>, points: &mut [u32], node: usize, level: usize) -> usize {
        let ground = grower.ground;
        if points.is_empty() {
            return 0;
        }
        match (&mut self.looks, ground.kind) {
            (Looks::Coordinates(coordinates), TreeKind::Forest) => {
                let Some((coordinate, threshold)) = grower.splitter.best(ground, points, grower.rng) else { return points.len() };
                coordinates[node - 1] = coordinate as u32;
                self.thresholds[node - 1] = threshold;
                return parted(points, |point| ground.points.row(point as usize)[coordinate] <= threshold);
            }
            (Looks::Directions(directions), TreeKind::Oblique) => {
                let tried = oblique_directions(ground, points, grower.rng);
                let best = grower.splitter.best_of(ground, points, tried, Direction::along, grower.rng);
                let Some((direction, threshold)) = best else { return points.len() };
                let middle = parted(points, |point| direction.along(ground.points.row(point as usize)) <= threshold);
                (directions[node - 1], self.thresholds[node - 1]) = (direction, threshold);
                return middle;
            }
            (Looks::Coordinates(coordinates), TreeKind::Chronological) => {
                coordinates[node - 1] = (level % ground.points.dimension().max(1)) as u32;
            }
            (Looks::Coordinates(coordinates), _) => coordinates[node - 1] = varying_coordinate(ground, points, grower.rng),
            (Looks::Directions(directions), _) => directions[node - 1] = principal_direction(ground, points, grower.rng),
            (Looks::Levels(_), _) => {}
        }
        grower.values.clear();
        grower.values.extend(points.iter().map(|point| (self.along(node, level, ground.points.row(*point as usize)), *point)));
        let middle = points.len().div_ceil(2);
        let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let (_, last, after) = grower.values.select_nth_unstable_by(middle - 1, order);
        let next = after.iter().min_by(|a, b| order(a, b));
        let (last, next) = (last.0, next.map_or(f32::INFINITY, |next| next.0));
        let between = last + (next - last) / 2.0;
        self.thresholds[node - 1] = match points.len() {
            1 => f32::INFINITY,
            n if n.is_multiple_of(2) && between < next => between,
            _ => last,
        };
        points.iter_mut().zip(&grower.values).for_each(|(to, (_, point))| *to = *point);
        middle
    }

    fn along(&self, node: usize, level: usize, x: &[f32]) -> f32 {
        match &self.looks {
            Looks::Coordinates(coordinates) => x.get(coordinates[node - 1] as usize).copied().unwrap_or(0.0),
            Looks::Levels(directions) => directions[level].along(x),
            Looks::Directions(directions) => directions[node - 1].along(x),
        }
    }

    /// The child that a vector goes to from a node of a level; the root is 1, at level 0. One look.
    pub(super) fn child(&self, node: usize, level: usize, x: &[f32]) -> usize {
        2 * node + usize::from(self.along(node, level, x) > self.thresholds[node - 1])
    }

    /// Coordinates that nodes on the way to a leaf look at.
    pub(super) fn looks(&self) -> f64 {
        match &self.looks {
            Looks::Coordinates(_) => self.depth as f64,
            Looks::Levels(directions) => directions.iter().map(|direction| direction.0.len()).sum::<usize>() as f64,
            Looks::Directions(directions) => {
                let all: usize = directions.iter().map(|direction| direction.0.len()).sum();
                self.depth as f64 * all as f64 / directions.len().max(1) as f64
            }
        }
    }

    /// Its levels.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether it looks at the coordinates of vectors of `d` values alone.
    pub(super) fn is_of(&self, d: usize) -> bool {
        let are = |directions: &[Direction]| {
            directions.iter().flat_map(|direction| &direction.0).all(|(coordinate, _)| (*coordinate as usize) < d)
        };
        match &self.looks {
            // A node that looks at none has the first.
            Looks::Coordinates(coordinates) => coordinates.iter().all(|coordinate| (*coordinate as usize) < d.max(1)),
            Looks::Levels(directions) | Looks::Directions(directions) => are(directions),
        }
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of = |directions: &[Direction]| directions.iter().map(|direction| size_of_val(&direction.0[..])).sum::<usize>();
        let looks = match &self.looks {
            Looks::Coordinates(coordinates) => size_of_val(&coordinates[..]),
            Looks::Levels(directions) | Looks::Directions(directions) => of(directions),
        };
        looks + size_of_val(&self.thresholds[..])
    }

    /// The tree without its lower levels.
    pub(super) fn cut(&mut self, depth: usize) {
        self.depth = self.depth.min(depth);
        let inner = (1 << self.depth) - 1;
        self.thresholds.truncate(inner);
        match &mut self.looks {
            Looks::Coordinates(coordinates) => coordinates.truncate(inner),
            Looks::Levels(directions) => directions.truncate(self.depth),
            Looks::Directions(directions) => directions.truncate(inner),
        }
    }
}

impl Stored for Direction {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.get().map(Self)
    }
}

impl Stored for Looks {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Coordinates(coordinates) => (out.put(&0_u8), out.put(coordinates)),
            Self::Levels(directions) => (out.put(&1_u8), out.put(directions)),
            Self::Directions(directions) => (out.put(&2_u8), out.put(directions)),
        };
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.get::<u8>()? {
            0 => from.get().map(Self::Coordinates),
            1 => from.get().map(Self::Levels),
            2 => from.get().map(Self::Directions),
            other => Err(from.wrong("a number from 0 to 2", other.to_string())),
        }
    }
}

impl Stored for Tree {
    fn write(&self, out: &mut Writer) {
        out.count(self.depth);
        out.put(&self.looks);
        out.put(&self.thresholds);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (depth, looks, thresholds): (u64, Looks, Vec<f32>) = (from.get()?, from.get()?, from.get()?);
        let depth = depth.min(64) as usize;
        let inner = 1_usize.checked_shl(depth as u32).unwrap_or(0).wrapping_sub(1);
        let (found, wanted) = match &looks {
            Looks::Coordinates(coordinates) => (coordinates.len(), inner),
            Looks::Levels(directions) => (directions.len(), depth),
            Looks::Directions(directions) => (directions.len(), inner),
        };
        if depth > DEEPEST || found != wanted || thresholds.len() != inner || thresholds.iter().any(|threshold| threshold.is_nan()) {
            let expected = format!("a tree of at most {DEEPEST} levels");
            return Err(from.wrong(expected, format!("{depth} levels, {found} looks and {} thresholds", thresholds.len())));
        }
        Ok(Self { depth, looks, thresholds })
    }
}

struct Grower<'a> {
    ground: &'a Ground<'a>,
    rng: &'a mut Rng,
    splitter: Splitter,
    values: Vec<(f32, u32)>,
    leaves: &'a mut [u32],
}

/// Puts those points first that go left, and returns their number.
fn parted(points: &mut [u32], goes_left: impl Fn(u32) -> bool) -> usize {
    points.sort_by_key(|point| !goes_left(*point));
    points.partition_point(|point| goes_left(*point))
}

/// Directions that a split may have: some coordinates alone, the direction of most variance of some
/// of them, and the differences of two points in some of them.
fn oblique_directions(ground: &Ground<'_>, points: &[u32], rng: &mut Rng) -> Vec<Direction> {
    let d = ground.points.dimension();
    if d == 0 {
        return Vec::new();
    }
    let count = share(ground);
    let mut tried: Vec<Direction> = sample(rng, d, count).into_iter().map(|i| Direction(vec![(i as u32, 1.0)])).collect();
    tried.push(principal_direction(ground, points, rng));
    for _ in 0..count {
        let mut coordinates = sample(rng, d, count).into_vec();
        coordinates.sort_unstable();
        let [one, other] = [0; 2].map(|_| ground.points.row(points[rng.random_range(0..points.len())] as usize));
        let mut weights: Vec<f32> = coordinates.iter().map(|i| one[*i] - other[*i]).collect();
        unit(&mut weights);
        tried.push(Direction(coordinates.into_iter().map(|i| i as u32).zip(weights).collect()));
    }
    tried
}

/// Each coordinate with the probability `density`, with a normal weight.
fn random_direction(ground: &Ground<'_>, rng: &mut Rng) -> Direction {
    let mut direction = Vec::new();
    for coordinate in 0..ground.points.dimension() as u32 {
        if rng.random::<f64>() < ground.density {
            direction.push((coordinate, normal(rng) as f32));
        }
    }
    if direction.is_empty() && ground.points.dimension() > 0 {
        direction.push((rng.random_range(0..ground.points.dimension() as u32), 1.0));
    }
    Direction(direction)
}

/// One of the coordinates along which some of the points vary most.
fn varying_coordinate(ground: &Ground<'_>, points: &[u32], rng: &mut Rng) -> u32 {
    let d = ground.points.dimension();
    let drawn = some(points, SAMPLE, rng);
    let (mut sums, mut squares) = (vec![0.0f32; d], vec![0.0f32; d]);
    let first = ground.points.row(drawn[0] as usize);
    for point in &drawn {
        let row = ground.points.row(*point as usize);
        for (((sum, square), value), from) in sums.iter_mut().zip(&mut squares).zip(row).zip(first) {
            *sum += value - from;
            *square += (value - from) * (value - from);
        }
    }
    let variance = |i: usize| squares[i] - sums[i] * sums[i] / drawn.len() as f32;
    let mut order: Vec<usize> = (0..d).collect();
    let count = BEST.min(d);
    if count < d {
        order.select_nth_unstable_by(count, |a, b| variance(*b).total_cmp(&variance(*a)).then(a.cmp(b)));
        order.truncate(count);
    }
    order.sort_unstable();
    order.get(rng.random_range(0..count.max(1))).map_or(0, |coordinate| *coordinate as u32)
}

/// The direction along which the points vary most, in some of the coordinates, nearly: a few steps
/// of the power iteration on at most [`PRINCIPAL_SAMPLE`] of them.
fn principal_direction(ground: &Ground<'_>, points: &[u32], rng: &mut Rng) -> Direction {
    let d = ground.points.dimension();
    if d == 0 {
        return Direction::default();
    }
    let mut coordinates = sample(rng, d, share(ground)).into_vec();
    coordinates.sort_unstable();
    let drawn = some(points, PRINCIPAL_SAMPLE, rng);
    let mut rows: Vec<Vec<f32>> =
        drawn.iter().map(|point| coordinates.iter().map(|i| ground.points.row(*point as usize)[*i]).collect()).collect();
    for i in 0..coordinates.len() {
        let mean = rows.iter().map(|row| row[i]).sum::<f32>() / rows.len() as f32;
        rows.iter_mut().for_each(|row| row[i] -= mean);
    }
    let mut weights: Vec<f32> = coordinates.iter().map(|_| normal(rng) as f32).collect();
    unit(&mut weights);
    for _ in 0..STEPS {
        let mut next = vec![0.0; weights.len()];
        for row in &rows {
            let part: f32 = row.iter().zip(&weights).map(|(a, b)| a * b).sum();
            next.iter_mut().zip(row).for_each(|(to, value)| *to += part * value);
        }
        if next.iter().all(|value| *value == 0.0) {
            break;
        }
        unit(&mut next);
        let change: f32 = next.iter().zip(&weights).map(|(a, b)| (a - b).abs()).sum();
        weights = next;
        if change < STILL {
            break;
        }
    }
    Direction(coordinates.into_iter().map(|i| i as u32).zip(weights).collect())
}

fn unit(weights: &mut [f32]) {
    let largest = weights.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    if largest > 0.0 {
        weights.iter_mut().for_each(|value| *value /= largest);
    }
    let length = weights.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        weights.iter_mut().for_each(|value| *value /= length);
    }
}
