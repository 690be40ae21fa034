//! Tries rewards of pair nodes beyond one source image: besides neighbouring pieces of one training
//! image (as the recogniser does), neighbouring pieces that are displaced alike, of whatever images
//! of the class, and pieces whose borders agree.
//!
//! usage: pair_rewards [TRAIN TEST OPTIONS.ron]
//!
//! The options (as `tessera eval ckm --print-options` writes them) must have one kind, of blocks or
//! of colour squares. Images of TEST are recognised by those of TRAIN, without class terms. A line
//! for each setting of the three rewards: the share of right answers, and its difference from the
//! recogniser's own reward with the standard error of that difference. Without arguments toys are
//! painted into a temporary folder.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tessera_core::Result;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::spf::{Architecture, Node};
use tessera_core::ckm::{Ckm, CkmOptions, ElementSource};
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::error::Error;
use tessera_core::eval::recognition::learn;
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;

/// Pieces of a class, of different images, among which borders are compared.
const PIECES: usize = 8;

/// What pairs are rewarded for: pieces of one image, pieces displaced alike, borders that agree.
type Rewards = [f32; 3];

/// An image's elements of the kind, one after another.
struct Blocks {
    positions: Vec<[f32; 2]>,
    rows: Vec<i16>,
    norms: Vec<i32>,
    dimension: usize,
}

impl Blocks {
    /// From the bytes that elements are written as: width, height, number, positions, values.
    fn of(elements: &Elements) -> Self {
        let set = &elements.sets[0];
        let bytes = elements.to_bytes();
        let rows: Vec<i16> = bytes[12 + 8 * set.len()..].iter().map(|v| i16::from(*v)).collect();
        let dimension = rows.len() / set.len().max(1);
        let norms = rows.chunks_exact(dimension.max(1)).map(|row| dot(row, row)).collect();
        Self { positions: (0..set.len()).map(|i| set.position(i)).collect(), rows, norms, dimension }
    }

    fn row(&self, i: usize) -> &[i16] {
        &self.rows[i * self.dimension..][..self.dimension]
    }
}

fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// What is needed of one class to score a query.
struct Found {
    /// The best kernel of each query element.
    best: Vec<f32>,
    /// The best sum of each edge's two kernels from one image, and with one displacement.
    same: Vec<f32>,
    alike: Vec<f32>,
    /// The best pieces of each query element: kernel, image, element.
    pieces: Vec<Vec<(f32, usize, usize)>>,
}

/// A class's images, and how their elements are compared.
struct Trial<'a> {
    kernel: LeafKernel,
    unit: f32,
    step: f32,
    images: &'a [Blocks],
}

impl Trial<'_> {
    fn found(&self, query: &Blocks, edges: &[(u32, u32)], wants_pieces: bool) -> Found {
        let n = query.positions.len();
        let steps = |a: f32, b: f32| ((a - b) / self.step).round() as i32;
        let reach = query.positions.iter().map(|p| steps(p[0].abs().max(p[1].abs()), 0.0)).max().unwrap_or(0) * 2 + 2;
        let side = (2 * reach + 1) as usize;
        let mut best = vec![f32::NEG_INFINITY; n];
        let mut same = vec![f32::NEG_INFINITY; edges.len()];
        let mut displaced = vec![f32::NEG_INFINITY; n * side * side];
        let mut pieces = vec![Vec::new(); n];
        for (i, image) in self.images.iter().enumerate() {
            let mut own = vec![(f32::NEG_INFINITY, 0); n];
            for j in 0..n {
                let [x, y] = query.positions[j];
                for (z, [u, v]) in image.positions.iter().enumerate() {
                    let square = query.norms[j] + image.norms[z] - 2 * dot(query.row(j), image.row(z));
                    let (likeness, nearness) = self.kernel.parts((square as f32).sqrt() / self.unit, x - u, y - v);
                    let value = likeness + nearness;
                    if value > own[j].0 {
                        own[j] = (value, z);
                    }
                    let (dx, dy) = (steps(*u, x) + reach, steps(*v, y) + reach);
                    if (0..side as i32).contains(&dx) && (0..side as i32).contains(&dy) {
                        let at = &mut displaced[j * side * side + dy as usize * side + dx as usize];
                        *at = at.max(value);
                    }
                }
                best[j] = best[j].max(own[j].0);
                if wants_pieces {
                    let list: &mut Vec<(f32, usize, usize)> = &mut pieces[j];
                    let at = list.partition_point(|other| other.0 >= own[j].0);
                    list.insert(at, (own[j].0, i, own[j].1));
                    list.truncate(PIECES);
                }
            }
            for (entry, &(a, b)) in same.iter_mut().zip(edges) {
                *entry = entry.max(own[a as usize].0 + own[b as usize].0);
            }
        }
        let of = |j: u32| &displaced[j as usize * side * side..][..side * side];
        let alike = |&(a, b): &(u32, u32)| of(a).iter().zip(of(b)).map(|(a, b)| a + b).fold(f32::NEG_INFINITY, f32::max);
        Found { best, same, alike: edges.iter().map(alike).collect(), pieces }
    }

    /// How well the borders of two pieces agree, in 0..=1, where query element `b` lies right of or
    /// below `a`: of blocks of 2 x 2 cells those that they would share.
    fn agreement(&self, query: &Blocks, (a, b): (u32, u32), p: (usize, usize), q: (usize, usize)) -> f32 {
        let (from, to) = (query.positions[a as usize], query.positions[b as usize]);
        let steps = [((to[0] - from[0]) / self.step).round() as i32, ((to[1] - from[1]) / self.step).round() as i32];
        let shared: [(usize, usize); 2] = match steps {
            [1, 0] => [(1, 0), (3, 2)],
            [0, 1] => [(2, 0), (3, 1)],
            _ => return 0.0,
        };
        let (left, right) = (self.images[p.0].row(p.1), self.images[q.0].row(q.1));
        let cell = left.len() / 4;
        let square: i32 = shared
            .iter()
            .flat_map(|&(l, r)| left[l * cell..][..cell].iter().zip(&right[r * cell..][..cell]))
            .map(|(l, r)| i32::from(l - r).pow(2))
            .sum();
        (1.0 - (square as f32).sqrt() / self.unit).max(0.0)
    }

    fn root(&self, query: &Blocks, found: &Found, architecture: &Architecture, [image, displaced, border]: Rewards) -> f64 {
        let pair = |e: usize| {
            let (a, b) = architecture.edges[e];
            let mut value = found.best[a as usize] + found.best[b as usize];
            value = value.max(found.same[e] + image).max(if displaced > 0.0 { found.alike[e] + displaced } else { value });
            if border > 0.0 {
                for &(v, i, z) in &found.pieces[a as usize] {
                    for &(w, k, y) in &found.pieces[b as usize] {
                        let together = if i == k { image } else { 0.0 };
                        value = value.max(v + w + together + border * self.agreement(query, (a, b), (i, z), (k, y)));
                    }
                }
            }
            value
        };
        let pairs: Vec<f32> = (0..architecture.edges.len()).map(pair).collect();
        let value = |nodes: &Vec<Node>| -> f64 {
            let node = |node: &Node| match *node {
                Node::Single(j) => found.best[j as usize],
                Node::Pair(e) => pairs[e as usize],
            };
            nodes.iter().map(|n| f64::from(node(n))).sum()
        };
        architecture.decompositions.iter().map(value).fold(f64::NEG_INFINITY, f64::max)
    }
}

fn machine(folder: &Path, options: &CkmOptions) -> Result<Ckm> {
    let progress = Progress::default();
    let data = Dataset::open(folder, &OpenOptions::default(), &progress)?;
    Ok(learn(&data, |_| true, options, &InProcess::default(), &progress)?.ckm)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let toys = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let (train, test, options): (PathBuf, PathBuf, CkmOptions) = match arguments.as_slice() {
        [train, test, file] => {
            let text = std::fs::read_to_string(file).map_err(Error::io("read", Path::new(file)))?;
            let wrong =
                |error: ron::de::SpannedError| Error::data(Path::new(file), "options of a recogniser", error.to_string(), "mend that line");
            (train.into(), test.into(), ron::from_str(&text).map_err(wrong)?)
        }
        _ => {
            let options = ToyOptions { instances: 2, views: 3, side: 64, format: ToyFormat::NorbNames, ..ToyOptions::default() };
            generate(&options, toys.path(), &Progress::default())?;
            (toys.path().join("train"), toys.path().join("test"), Preset::Hog.options())
        }
    };
    let (ckm, tests) = (machine(&train, &options)?, machine(&test, &options)?);
    let kind = &options.kinds[0];
    // Steps of quantised values in one unit of distance, and from element to element.
    let (unit, step, is_blocks) = match &kind.source {
        ElementSource::Hog(hog) => (127.0, hog.cell as f32, true),
        ElementSource::Colour(colour) => (100.0, options.side as f32 / colour.grid as f32, false),
        _ => return Err(Error::value("elements", "one dense kind", "another")),
    };
    let mut settings: Vec<Rewards> = vec![[0.2, 0.0, 0.0], [0.0, 0.0, 0.0]];
    settings.extend([0.05, 0.1, 0.2, 0.4].map(|reward| [0.0, reward, 0.0]));
    settings.extend([0.05, 0.1, 0.2].map(|reward| [0.2, reward, 0.0]));
    if is_blocks {
        settings.extend([0.1, 0.2, 0.4].map(|reward| [0.0, 0.0, reward]));
        settings.extend([0.1, 0.2].map(|reward| [0.2, 0.0, reward]));
    }
    let classes: Vec<Vec<Blocks>> =
        ckm.classes().iter().map(|class| class.examples.iter().map(|e| Blocks::of(&e.elements.get())).collect()).collect();
    let queries: Vec<(usize, Blocks)> = tests.examples().map(|(class, e)| (class.index(), Blocks::of(&e.elements.get()))).collect();
    let right: Vec<Vec<bool>> = queries
        .par_iter()
        .enumerate()
        .map(|(number, (class, query))| {
            // Grids are the same in all images; the decompositions must not be.
            let architecture = Architecture::draw(&query.positions, options.neighbours, options.decompositions, number as u64);
            let roots = |images: &Vec<Blocks>| -> Vec<f64> {
                let trial = Trial { kernel: kind.kernel, unit, step, images };
                let found = trial.found(query, &architecture.edges, is_blocks);
                settings.iter().map(|rewards| trial.root(query, &found, &architecture, *rewards)).collect()
            };
            let scores: Vec<Vec<f64>> = classes.iter().map(roots).collect();
            let is_right = |s: usize| (0..scores.len()).all(|c| c == *class || scores[*class][s] > scores[c][s]);
            (0..settings.len()).map(is_right).collect()
        })
        .collect();
    println!("{} trained, {} judged; reward for one image, for the same displacement, for borders", ckm.examples().count(), queries.len());
    let n = right.len() as f64;
    for (s, rewards) in settings.iter().enumerate() {
        let accuracy = right.iter().filter(|of| of[s]).count() as f64 / n;
        let gains: Vec<f64> = right.iter().map(|of| f64::from(u8::from(of[s])) - f64::from(u8::from(of[0]))).collect();
        let mean = gains.iter().sum::<f64>() / n;
        let spread = (gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt();
        println!("{rewards:?}: {accuracy:.3}, {:+.1} ± {:.1} points", 100.0 * mean, 100.0 * spread);
    }
    Ok(())
}
