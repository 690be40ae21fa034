//! Recall and time of the approximate indexes on elements of images; other libraries search the
//! same elements in `benches/peers/ann.py`.
//!
//! usage: ann_search [TRAIN TEST FOLDER]
//!
//! Writes the gradient blocks and corners of the images in TRAIN into FOLDER, and some of TEST's as
//! queries: `blocks.u8` and `corners.u8` (36 and 32 bytes an element), `block_queries.u8`,
//! `corner_queries.u8`. Then prints a line of JSON for each index and setting: the recall of the 10
//! nearest, and the wall seconds of 1,000 queries one after another, the fastest of three runs.
//! Without arguments toys are painted into a temporary folder.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::path::Path;
use std::time::Instant;

use tessera_core::Result;
use tessera_core::ann::{BinaryIvf, InvertedFile, Ivf, IvfOptions, Vectors};
use tessera_core::ckm::presets::Preset;
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::descriptor::Descriptor;
use tessera_core::error::Error;
use tessera_core::eval::recognition::learn;
use tessera_core::hamming::HammingScan;
use tessera_core::ids::ItemId;
use tessera_core::nearest::{DenseScan, Dynamic, Metric, NeighborIndex, everything};
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;

const K: usize = 10;
const QUERIES: usize = 2000;

/// The features of all elements of a folder's images, one after another.
fn features(folder: &Path, preset: Preset, bytes: usize) -> Result<Vec<u8>> {
    let progress = Progress::default();
    let data = Dataset::open(folder, &OpenOptions::default(), &progress)?;
    let ckm = learn(&data, |_| true, &preset.options(), &InProcess::default(), &progress)?.ckm;
    // Two numbers of the size, the number of elements, their positions, and then their features.
    let of_image = |all: Vec<u8>, n: usize| all[all.len() - n * bytes..].to_vec();
    Ok(ckm.examples().flat_map(|(_, example)| of_image(example.elements.get().to_bytes(), example.elements.len())).collect())
}

/// Some of the rows, evenly spread.
fn some(all: &[u8], bytes: usize) -> Vec<u8> {
    let n = all.len() / bytes;
    all.chunks_exact(bytes).step_by(n.div_ceil(QUERIES).max(1)).flatten().copied().collect()
}

/// The distances of what an index found, and the seconds of 1,000 queries.
fn timed<P: ?Sized + Sync>(index: &dyn NeighborIndex<Point = P>, queries: &[&P]) -> Result<(Vec<Vec<f64>>, f64)> {
    let mut fastest = f64::INFINITY;
    let mut answers = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        let found: Vec<_> = queries.iter().map(|query| index.nearest(query, K, &everything)).collect::<Result<_>>()?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
        answers = found.into_iter().map(|found| found.list.iter().map(|neighbour| neighbour.distance).collect()).collect();
    }
    Ok((answers, 1e3 * fastest / queries.len() as f64))
}

/// Of equally near points any may be found.
fn tell(method: &str, setting: &str, truth: &[Vec<f64>], (answers, seconds): (Vec<Vec<f64>>, f64)) {
    let near = |(truth, found): (&Vec<f64>, &Vec<f64>)| {
        let farthest = truth.last().copied().unwrap_or(f64::INFINITY);
        found.iter().filter(|distance| **distance <= farthest).count()
    };
    let found: usize = truth.iter().zip(&answers).map(near).sum();
    let recall = found as f64 / truth.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    println!("{{\"method\": \"{method}\", \"setting\": \"{setting}\", \"recall\": {recall:.4}, \"s_per_1000\": {seconds:.5}}}");
}

fn blocks(all: &[u8], queries: &[u8]) -> Result<()> {
    let rows = |bytes: &[u8]| bytes.chunks_exact(36).map(|row| row.iter().map(|v| f32::from(*v)).collect()).collect::<Vec<Vec<f32>>>();
    let (points, queries) = (rows(all), rows(queries));
    let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
    let mut scan = DenseScan::new(36, Metric::Euclidean);
    (0..).map(ItemId).zip(&points).try_for_each(|(id, point)| scan.insert(id, point))?;
    let truth = timed::<[f32]>(&scan, &queries)?.0;
    let with = |options: IvfOptions| {
        let mut index = Ivf::new(36, options)?;
        (0..).map(ItemId).zip(&points).try_for_each(|(id, point)| index.insert(id, point))?;
        Ok(index)
    };
    runs("tessera, inverted file", with, points.len(), &truth, &queries)
}

fn corners(all: &[u8], queries: &[u8]) -> Result<()> {
    let rows = |bytes: &[u8]| bytes.as_chunks::<32>().0.iter().map(Descriptor::from_bytes).collect::<Vec<Descriptor>>();
    let (points, queries) = (rows(all), rows(queries));
    let queries: Vec<&Descriptor> = queries.iter().collect();
    let scan: HammingScan = (0..).map(ItemId).zip(points.iter().copied()).collect();
    let truth = timed(&scan, &queries)?.0;
    let with = |options: IvfOptions| {
        let mut index = BinaryIvf::new(options)?;
        (0..).map(ItemId).zip(&points).try_for_each(|(id, point)| index.insert(id, point))?;
        Ok(index)
    };
    runs("tessera, inverted file over bits", with, points.len(), &truth, &queries)
}

/// A line for each number of lists and probes.
fn runs<V: Vectors>(
    method: &str,
    with: impl Fn(IvfOptions) -> Result<InvertedFile<V>>,
    points: usize,
    truth: &[Vec<f64>],
    queries: &[&V::Point],
) -> Result<()> {
    for lists in [2.0, 4.0] {
        let mut index = with(IvfOptions { lists, first: points.max(2), ..IvfOptions::default() })?;
        for probes in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128] {
            index.set_probes(probes);
            let setting = format!("{} lists, {probes} probes", index.lists());
            tell(method, &setting, truth, timed(&index, queries)?);
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let (train, test, to) = match arguments.as_slice() {
        [train, test, to] => (train.into(), test.into(), to.into()),
        _ => {
            let options = ToyOptions { instances: 4, views: 3, side: 64, format: ToyFormat::NorbNames, ..ToyOptions::default() };
            generate(&options, folder.path(), &Progress::default())?;
            (folder.path().join("train"), folder.path().join("test"), folder.path().to_owned())
        }
    };
    for (preset, name, bytes) in [(Preset::Hog, "block", 36), (Preset::Orb, "corner", 32)] {
        let (all, queries) = (features(&train, preset, bytes)?, some(&features(&test, preset, bytes)?, bytes));
        for (file, bytes) in [(format!("{name}s.u8"), &all), (format!("{name}_queries.u8"), &queries)] {
            let path = to.join(file);
            std::fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        }
        if bytes == 36 { blocks(&all, &queries)? } else { corners(&all, &queries)? }
    }
    Ok(())
}
