//! The jobs of `benches/peers/python_speed.py` by Rust alone: for each name of a job on a line of
//! the standard input it does that job once, on the arrays in a folder, and writes the seconds of
//! fitting and of asking.
//!
//! Each job is what the package for Python has done for it, with the same options, by calls of
//! this crate on rows that are in memory already.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

use std::hint::black_box;
use std::io::BufRead as _;
use std::path::Path;
use std::time::Instant;

use image::RgbImage;
use rayon::prelude::*;
use tessera_core::advise::{AdviserKind, Ensemble, Projector};
use tessera_core::ann::PointSet;
use tessera_core::ann::candidates::{CandidateIndex, KnnGraph, SelectionGrid, SelectionRule, TreeKind, TreeOptions, Trees, sweep};
use tessera_core::ann::{cheapest, frontier};
use tessera_core::canopy::{Constraints, Covariance, MixtureData, MixtureFit, MixtureMethod, MixtureOptions};
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, Example, Search, Without};
use tessera_core::cmt::{Cmt, CmtOptions, LeafCap, Similarity};
use tessera_core::contextual::{ContextualOptions, EllipsoidLadder, Geometry, Lift, PairSpace, PairUpdate, Served};
use tessera_core::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use tessera_core::data::vectors::VectorFile;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::learn::OnlineClassifier as _;
use tessera_core::linalg::double::norm;
use tessera_core::nearest::{Metric, NeighborIndex, Neighbors, everything};
use tessera_core::online_linear::{Multiclass, Rule};
use tessera_core::picture::Picture;
use tessera_core::picture::decode::SIDE;
use tessera_core::progress::Progress;
use tessera_core::random;
use tessera_core::sparse::SparseVec;

/// Neighbours that are asked for.
const K: usize = 10;
/// Side of the images.
const PIXELS: u32 = 64;

/// Rows of one length.
struct Rows {
    d: usize,
    values: Vec<f32>,
}

impl Rows {
    fn read(folder: &Path, name: &str) -> Self {
        let file = VectorFile::read(&folder.join(name)).unwrap();
        Self { d: file.dimension, values: file.values }
    }

    fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.d)
    }

    fn len(&self) -> usize {
        self.values.len() / self.d
    }

    fn doubles(&self) -> Vec<f64> {
        self.values.iter().map(|value| f64::from(*value)).collect()
    }
}

struct Arrays {
    points: Rows,
    queries: Rows,
    classes: Vec<u32>,
    images: Vec<Vec<u8>>,
    image_classes: Vec<u32>,
}

/// The length that rows are divided by, the greatest of all.
fn scale(rows: &[f64], d: usize) -> f64 {
    rows.chunks_exact(d).map(norm).fold(0.0, f64::max)
}

fn query(row: &[f64], scale: f64, lift: &Lift) -> Vec<f64> {
    let mut q: Vec<f64> = row.iter().map(|x| x / scale).collect();
    let length = norm(&q);
    if length > 1.0 {
        q.iter_mut().for_each(|x| *x /= length);
    }
    lift.map(&q)
}

fn best(scores: &[f64]) -> usize {
    (1..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best })
}

/// Seconds of fitting and of asking.
type Seconds = (f64, f64);

fn timed<M, A>(fit: impl FnOnce() -> M, ask: impl FnOnce(&mut M) -> A) -> Seconds {
    let begun = Instant::now();
    let mut model = fit();
    let fitted = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    black_box(ask(&mut model));
    (fitted, begun.elapsed().as_secs_f64())
}

fn online(arrays: &Arrays, served: bool) -> Seconds {
    let (d, rows, asked) = (arrays.points.d, arrays.points.doubles(), arrays.queries.doubles());
    let lift = Lift::new(Geometry::L2, d).unwrap();
    let space = PairSpace { dimension: lift.dimension(), radius: lift.radius(), power: lift.power(1.0), margin: None };
    let options = ContextualOptions { space, update: PairUpdate::AllPairs, guard: None };
    let classes = arrays.classes.iter().max().map_or(0, |most| *most as usize + 1);
    if served {
        return timed(
            || {
                let (scale, mut rng) = (scale(&rows, d), random::seeded(0));
                let mut learner = Served::<EllipsoidLadder>::new(&options).unwrap();
                learner.announce(classes).unwrap();
                for (row, class) in rows.chunks_exact(d).zip(&arrays.classes) {
                    let q = query(row, scale, &lift);
                    let round = learner.predict(&q, &mut rng).unwrap();
                    learner.learn(&q, &round, ClassId(*class), &mut rng).unwrap();
                }
                (learner, scale, rng)
            },
            |(learner, scale, rng)| {
                let mut one = |row: &[f64]| {
                    let q = query(row, *scale, &lift);
                    if !learner.trusts_contextual() {
                        return best(&learner.averaged().scores(&q));
                    }
                    let round = learner.predict(&q, rng).unwrap();
                    let sure = round.as_ref().chances.iter().position(|chance| *chance == 1.0);
                    sure.unwrap_or_else(|| best(&learner.contextual_scores(&q, rng).unwrap()))
                };
                asked.chunks_exact(d).map(&mut one).collect::<Vec<usize>>()
            },
        );
    }
    timed(
        || {
            let (scale, mut rng) = (scale(&rows, d), random::seeded(0));
            let mut learner = Multiclass::new(Rule::Averaged, lift.dimension());
            learner.announce(classes).unwrap();
            for (row, class) in rows.chunks_exact(d).zip(&arrays.classes) {
                let q = query(row, scale, &lift);
                let round = learner.predict(&q, &mut rng).unwrap();
                learner.learn(&q, &round, ClassId(*class), &mut rng).unwrap();
            }
            (learner, scale)
        },
        |(learner, scale)| asked.chunks_exact(d).map(|row| best(&learner.scores(&query(row, *scale, &lift)))).collect::<Vec<usize>>(),
    )
}

/// Advisers keep all rows, so a part of them is learned.
fn advisers(arrays: &Arrays, n: usize) -> Seconds {
    let (d, rows, asked) = (arrays.points.d, arrays.points.doubles(), arrays.queries.doubles());
    let scale = scale(&rows[..n * d], d);
    let projector = Projector::new(d, 0);
    let views = |row: &[f64]| projector.views(row.iter().map(|x| x / scale).collect(), SparseVec::default());
    timed(
        || {
            let kinds = [AdviserKind::Contextual, AdviserKind::PassiveAggressive, AdviserKind::Nearest];
            let mut ensemble = Ensemble::new(&kinds, d, random::stream(0, 1)).unwrap();
            for (row, class) in rows.chunks_exact(d).zip(&arrays.classes).take(n) {
                ensemble.learn(&views(row), ClassId(*class)).unwrap();
            }
            ensemble
        },
        |ensemble| asked.chunks_exact(d).take(n).map(|row| ensemble.advise(&views(row)).unwrap().suggestion()).collect::<Vec<_>>(),
    )
}

fn memories(arrays: &Arrays) -> Seconds {
    let sparse = |row: &[f32]| {
        let values = (0..).zip(row).filter(|(_, value)| **value != 0.0).map(|(at, value)| (at, *value));
        SparseVec::from_pairs(values.collect::<Vec<_>>()).unwrap()
    };
    timed(
        || {
            let options = CmtOptions {
                alpha: 0.9,
                leaf_cap: LeafCap::Log { c: 4.0 },
                reroutes: 5,
                router_rate: 0.5,
                scorer_rate: 0.1,
                similarity: Similarity::Cosine,
                learn_scorer: true,
                trees: 1,
                seed: 0,
                ..CmtOptions::default()
            };
            let mut memory: Cmt<ClassId> = Cmt::new(&options).unwrap();
            for ((row, class), id) in arrays.points.iter().zip(&arrays.classes).zip(0..) {
                memory.insert(ItemId(id), sparse(row), ClassId(*class)).unwrap();
            }
            memory
        },
        |memory| {
            let memory = &*memory;
            let one = |row: &[f32]| {
                let best = memory.query_budget(&sparse(row), 1, 1).hits.first().and_then(|hit| memory.get(hit.id));
                best.map(|memory| memory.value)
            };
            arrays.queries.values.par_chunks(arrays.queries.d).map(one).collect::<Vec<_>>()
        },
    )
}

fn near(index: &impl NeighborIndex<Point = [f32]>, queries: &Rows) -> Vec<Neighbors> {
    queries.values.par_chunks(queries.d).map(|query| index.nearest(query, K, &everything).unwrap()).collect()
}

fn point_set(rows: impl Iterator<Item = impl AsRef<[f32]>>, d: usize) -> PointSet {
    let mut points = PointSet::new(d, Metric::Euclidean);
    rows.for_each(|row| points.push(row.as_ref()).unwrap());
    points
}

/// The way of selection is chosen on half of the queries and its recall measured on the others.
fn candidates(arrays: &Arrays) -> Seconds {
    let (d, trees, progress) = (arrays.points.d, 50, Progress::default());
    timed(
        || {
            let points = point_set(arrays.points.iter(), d);
            let halves = [0, 1].map(|half| point_set(arrays.queries.iter().skip(half).step_by(2), d));
            let [tuned, checked] = &halves;
            let deepest = (points.len().ilog2() as usize).saturating_sub(2).clamp(1, 16);
            let graph = KnnGraph::exact(&points, &points, 50, true, &progress).unwrap();
            let options =
                TreeOptions { kind: TreeKind::RandomProjection, trees, depth: deepest, labels: 10, seed: 0, ..TreeOptions::default() };
            let grown = Trees::grow(&points, &graph, options, &progress).unwrap();
            let grid = SelectionGrid {
                selections: vec![SelectionRule::Natural],
                depths: (deepest.saturating_sub(2)..=deepest).collect(),
                trees: [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50].to_vec(),
                labels: [10, 50].to_vec(),
            };
            let [truth, checks] = [tuned, checked].map(|queries| KnnGraph::exact(&points, queries, K, false, &progress).unwrap());
            let ways = frontier(sweep(&grown, &graph, points.len(), tuned, &truth, &grid, &progress).unwrap());
            let way = cheapest(&ways, 0.9).unwrap().way;
            let reliability = tessera_core::ann::candidates::reliability(&way.selector(&grown, &graph), points.len(), tuned, &truth);
            let ids: Vec<ItemId> = (0..points.len() as u32).map(ItemId).collect();
            let mut index = CandidateIndex::new(points, ids, way.selector(&grown, &graph)).unwrap();
            index.set_reliability(reliability);
            for i in 0..checked.len() {
                let near = index.nearest(checked.row(i), K, &everything).unwrap();
                black_box(near.list.iter().filter(|near| checks.list(i).contains(&near.id.0)).count());
            }
            index
        },
        |index| near(index, &arrays.queries),
    )
}

fn cover_tree(arrays: &Arrays) -> Seconds {
    timed(
        || {
            let ids: Vec<ItemId> = (0..arrays.points.len() as u32).map(ItemId).collect();
            let options = CoverTreeOptions { base: 1.3, ..CoverTreeOptions::default() };
            let points = DensePoints::new(arrays.points.d, arrays.points.values.clone()).unwrap();
            DenseTree::new(points, &ids, Metric::Euclidean, options).unwrap()
        },
        |tree| near(tree, &arrays.queries),
    )
}

fn mixture(arrays: &Arrays, method: MixtureMethod) -> Seconds {
    let covariance = Covariance::Diagonal;
    timed(
        || {
            let options = MixtureOptions { clusters: 50, covariance, method, seed: 0, ..MixtureOptions::default() };
            let data = MixtureData::new(&arrays.points.values, arrays.points.d, covariance).unwrap();
            let mut fit = MixtureFit::new(data, options, &Constraints::default()).unwrap();
            for _ in 0..20 {
                fit.step(&Progress::default()).unwrap();
            }
            fit.model().clone()
        },
        |model| {
            let (family, centre) = (covariance.family(), model.centre());
            let logs: Vec<f64> = model.shares().iter().map(|share| share.ln()).collect();
            let one = |row: &[f32]| {
                let x: Vec<f64> = row.iter().zip(centre).map(|(value, centre)| f64::from(*value) - centre).collect();
                let all: Vec<f64> = model.parameters().iter().zip(&logs).map(|(own, log)| log + family.log_density(&x, own)).collect();
                best(&all)
            };
            arrays.points.values.par_chunks(arrays.points.d).map(one).collect::<Vec<usize>>()
        },
    )
}

/// Two thirds of the images are learned, the others recognised.
fn recogniser(arrays: &Arrays) -> Seconds {
    let n = arrays.images.len() * 2 / 3;
    let elements = |ckm: &Ckm, pixels: &Vec<u8>| {
        let picture = Picture::shrunk(RgbImage::from_raw(PIXELS, PIXELS, pixels.clone()).unwrap(), SIDE);
        ckm.elements(&picture).unwrap()
    };
    timed(
        || {
            let mut ckm = Ckm::new(CkmOptions { seed: 0, ..Preset::Mixed.options() }).unwrap();
            let all: Vec<Elements> = arrays.images[..n].par_iter().map(|pixels| elements(&ckm, pixels)).collect();
            for ((elements, class), id) in all.into_iter().zip(&arrays.image_classes).zip(0..) {
                let example = Example { id: ItemId(id), name: format!("#{id}"), group: None, elements: elements.into() };
                ckm.add(&class.to_string(), example).unwrap();
            }
            ckm.set_search_watched(Search::Exact, &Progress::default()).unwrap();
            ckm
        },
        |ckm| {
            ckm.prepare();
            let ckm = &*ckm;
            let one = |pixels: &Vec<u8>| ckm.scores(&elements(ckm, pixels), Without::Nothing).ranking();
            arrays.images[n..].par_iter().map(one).collect::<Vec<_>>()
        },
    )
}

fn main() {
    let Some(folder) = std::env::args().nth(1).filter(|argument| !argument.starts_with('-')) else {
        println!("skipped: benches/peers/python_speed.py runs this on a folder of arrays");
        return;
    };
    let folder = Path::new(&folder);
    let numbers = |name: &str| VectorFile::read_classes(&folder.join(name)).unwrap();
    let images = Rows::read(folder, "images.npy");
    let arrays = Arrays {
        points: Rows::read(folder, "points.npy"),
        queries: Rows::read(folder, "queries.npy"),
        classes: numbers("classes.npy"),
        images: images.iter().map(|row| row.iter().map(|value| *value as u8).collect()).collect(),
        image_classes: numbers("image_classes.npy"),
    };
    for line in std::io::stdin().lock().lines() {
        let (fit, ask) = match line.unwrap().as_str() {
            "served" => online(&arrays, true),
            "averaged" => online(&arrays, false),
            "advisers" => advisers(&arrays, 2000),
            "memories" => memories(&arrays),
            "candidates" => candidates(&arrays),
            "cover_tree" => cover_tree(&arrays),
            "em" => mixture(&arrays, MixtureMethod::Em),
            "canopy2" => mixture(&arrays, MixtureMethod::Canopy2),
            "recogniser" => recogniser(&arrays),
            other => panic!("no job is called {other}"),
        };
        println!("{fit} {ask}");
    }
}
