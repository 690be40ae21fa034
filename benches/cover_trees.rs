//! Cover trees beside scans, where the program looks for neighbours in a library's images:
//! `cargo bench -p tessera-core --bench cover_trees -- LIBRARY.tessera`.
//!
//! The vectors are what the network sees in the images, as advisers compare them; of near copies
//! the signs of 63 low frequencies. One thread; a query is one image of the library, which is not
//! found itself.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tessera_core::copies::Signature;
use tessera_core::cover_tree::{CoverTree, CoverTreeOptions, DensePoints, DenseTree, OwnedPoints};
use tessera_core::ids::ItemId;
use tessera_core::library::{Library, LibraryOptions};
use tessera_core::nearest::{DenseScan, Distance, Dynamic as _, Metric, NeighborIndex, Neighbors, Within as _};
use tessera_core::picture::{InProcess, thumbnail};
use tessera_core::progress::Progress;

/// Queries that are timed.
const QUERIES: usize = 300;
/// Labels that advisers learn of, and those that they average of each class.
const LEARNED: usize = 2000;
const AVERAGED: usize = 3;
/// Images that the desk asks for first, each unlike those before it.
const UNLIKE: usize = 16;
/// Neighbours that a review names.
const ALIKE: usize = 3;
/// Bits by which the signs of copies differ at most.
const SIGNS: f64 = 9.0;

/// The number of bits in which two words differ.
struct Bits;

impl Distance<u64> for Bits {
    fn between(&self, a: &u64, b: &u64) -> f64 {
        f64::from((a ^ b).count_ones())
    }

    fn is_metric(&self) -> bool {
        true
    }

    fn check(&self, _: &u64, _: Option<&u64>) -> tessera_core::Result<()> {
        Ok(())
    }
}

fn main() {
    let Some(folder) = std::env::args().nth(1).filter(|argument| argument.ends_with(".tessera")) else {
        println!("skipped: name a library");
        return;
    };
    let progress = Progress::default();
    let options = LibraryOptions::new(Arc::new(InProcess::default()), &progress);
    let mut library = Library::open_or_create(Path::new(&folder), &options).unwrap();
    while library.load_glimpses(1000).unwrap() > 0 {}
    let (mut views, mut classes): (Vec<Vec<f32>>, Vec<Option<String>>) = (Vec::new(), Vec::new());
    for image in library.state().images() {
        if let Some(glimpse) = library.glimpse(image) {
            views.push(glimpse.view().into_iter().map(|value| value as f32).collect());
            classes.push(image.label().map(str::to_owned));
        }
    }
    println!("{:<24} {:>8} {:>10} {:>12} {:>12} {:>10} {:>8}", "", "points", "tree, s", "scan, ms", "tree, ms", "compared", "ratio");
    alike(&views);
    local_means(&views, &classes);
    unlike(&views);
    let signs: Vec<u64> = library
        .state()
        .images()
        .filter_map(|image| thumbnail::decode(&library.thumbnail(image.id).unwrap()?))
        .map(|picture| signs(&Signature::of(&picture)))
        .collect();
    copies(&signs);
}

fn row(what: &str, n: usize, built: f64, scan: f64, tree: f64, compared: f64) {
    println!("{what:<24} {n:>8} {built:>10.3} {scan:>12.4} {tree:>12.4} {:>9.1}% {:>8.2}", 100.0 * compared, tree / scan);
}

fn ids(n: usize) -> Vec<ItemId> {
    (0..n as u32).map(ItemId).collect()
}

fn dense(views: &[&Vec<f32>]) -> (DenseScan, DenseTree, f64) {
    let d = views[0].len();
    let mut scan = DenseScan::new(d, Metric::Euclidean);
    ids(views.len()).into_iter().zip(views).for_each(|(id, view)| scan.insert(id, view).unwrap());
    let points = DensePoints::new(d, views.iter().flat_map(|view| view.iter().copied()).collect()).unwrap();
    let begun = Instant::now();
    let tree = DenseTree::new(points, &ids(views.len()), Metric::Euclidean, CoverTreeOptions::default()).unwrap();
    (scan, tree, begun.elapsed().as_secs_f64())
}

/// Milliseconds a query, the faster of two passes, the points it is compared with and the answers.
fn ask(queries: usize, find: impl Fn(usize) -> Neighbors) -> (f64, f64, Vec<ItemId>) {
    let mut fastest = f64::INFINITY;
    let (mut points, mut found) = (0, Vec::new());
    for _ in 0..2 {
        (points, found) = (0, Vec::new());
        let begun = Instant::now();
        for query in 0..queries {
            let neighbours = find(query);
            points += neighbours.cost.points;
            found.extend(neighbours.list.iter().map(|found| found.id));
        }
        fastest = fastest.min(begun.elapsed().as_secs_f64() * 1e3 / queries as f64);
    }
    (fastest, points as f64 / queries as f64, found)
}

/// The images most alike to one, of all.
fn alike(views: &[Vec<f32>]) {
    let all: Vec<&Vec<f32>> = views.iter().collect();
    let (scan, tree, built) = dense(&all);
    let (n, step) = (views.len(), views.len().div_ceil(QUERIES));
    let others = |at: usize| move |id: ItemId| id.0 as usize != at;
    let scanned = ask(n / step, |q| scan.nearest(&views[q * step], ALIKE, &others(q * step)).unwrap());
    let asked = ask(n / step, |q| tree.nearest(&views[q * step], ALIKE, &others(q * step)).unwrap());
    assert_eq!(scanned.2, asked.2);
    row("review, most alike", n, built, scanned.0, asked.0, asked.1 / n as f64);
}

/// The nearest examples of each class among those that are learned.
fn local_means(views: &[Vec<f32>], classes: &[Option<String>]) {
    let mut of: std::collections::BTreeMap<&str, Vec<&Vec<f32>>> = std::collections::BTreeMap::new();
    let step = views.len().div_ceil(LEARNED).max(1);
    for (view, class) in views.iter().zip(classes).step_by(step) {
        of.entry(class.as_deref().unwrap_or_default()).or_default().push(view);
    }
    let (mut built, mut scanned, mut asked, mut compared, mut n) = (0.0, 0.0, 0.0, 0.0, 0);
    for views_of in of.values() {
        let (scan, tree, s) = dense(views_of);
        let queries: Vec<&Vec<f32>> = views.iter().skip(1).step_by(views.len().div_ceil(QUERIES)).collect();
        let all = tessera_core::nearest::everything;
        let by_scan = ask(queries.len(), |q| scan.nearest(queries[q], AVERAGED, &all).unwrap());
        let by_tree = ask(queries.len(), |q| tree.nearest(queries[q], AVERAGED, &all).unwrap());
        assert_eq!(by_scan.2, by_tree.2);
        (built, scanned, asked) = (built + s, scanned + by_scan.0, asked + by_tree.0);
        (compared, n) = (compared + by_tree.1, n + views_of.len());
    }
    row("local means", n, built, scanned, asked, compared / n as f64);
}

/// Farthest-first: only points that are nearer to the one chosen last than the farthest is to all
/// chosen ones can have a new nearest one, so that a tree is asked for those within that distance.
fn unlike(views: &[Vec<f32>]) {
    let all: Vec<&Vec<f32>> = views.iter().collect();
    let (_, tree, built) = dense(&all);
    let n = views.len();
    let distance = |a: usize, b: usize| Metric::Euclidean.between(&views[a][..], &views[b][..]);
    let begun = Instant::now();
    let mut nearest = vec![f64::INFINITY; n];
    let (mut chosen, mut next) = (Vec::new(), 0);
    for _ in 0..UNLIKE {
        chosen.push(next);
        (0..n).for_each(|i| nearest[i] = nearest[i].min(distance(i, next)));
        next = (0..n).fold(0, |best, i| if nearest[i] > nearest[best] { i } else { best });
    }
    let scanned = begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let mut nearest = vec![f64::INFINITY; n];
    let (mut by_tree, mut next, mut compared) = (Vec::new(), 0, 0);
    for _ in 0..UNLIKE {
        by_tree.push(next);
        let radius = nearest.iter().copied().fold(0.0, f64::max);
        let found = tree.within(&views[next], radius.min(1e9), &tessera_core::nearest::everything).unwrap();
        compared += found.cost.points;
        found.list.iter().for_each(|found| nearest[found.id.0 as usize] = nearest[found.id.0 as usize].min(found.distance));
        next = (0..n).fold(0, |best, i| if nearest[i] > nearest[best] { i } else { best });
    }
    let asked = begun.elapsed().as_secs_f64() * 1e3;
    assert_eq!(chosen, by_tree);
    row("farthest first, 16", n, built, scanned, asked, compared as f64 / (n * UNLIKE) as f64);
}

/// Words of signs within some bits of another.
fn copies(words: &[u64]) {
    let begun = Instant::now();
    let tree = CoverTree::new(OwnedPoints::<u64>::new(words.to_vec()), &ids(words.len()), Bits, CoverTreeOptions::default()).unwrap();
    let (built, step) = (begun.elapsed().as_secs_f64(), words.len().div_ceil(QUERIES));
    let begun = Instant::now();
    let mut by_scan = 0;
    for query in words.iter().step_by(step) {
        by_scan += words.iter().filter(|word| Bits.between(word, query) <= SIGNS).count();
    }
    let queries = words.len().div_ceil(step);
    let scanned = begun.elapsed().as_secs_f64() * 1e3 / queries as f64;
    let asked = ask(queries, |q| tree.within(&words[q * step], SIGNS, &tessera_core::nearest::everything).unwrap());
    assert_eq!(by_scan, asked.2.len());
    row("near copies, signs", words.len(), built, scanned, asked.0, asked.1 / words.len() as f64);
}

/// The signs of the lowest frequencies of a signature, 8 by 8 of 32 by 32, without the mean.
fn signs(signature: &Signature) -> u64 {
    let side = 32;
    let grey: Vec<f64> = signature.bytes()[..side * side].iter().map(|byte| f64::from(*byte)).collect();
    let wave = |k: usize, x: usize| (std::f64::consts::PI * k as f64 * (x as f64 + 0.5) / side as f64).cos();
    let mut signs = 0;
    for k in 1..64 {
        let (u, v) = (k % 8, k / 8);
        let sum: f64 = (0..side * side).map(|at| grey[at] * wave(u, at % side) * wave(v, at / side)).sum();
        signs |= u64::from(sum > 0.0) << k;
    }
    signs
}
