//! The work of `speed.py` without Python: reads the arrays that it wrote to a folder, and prints
//! the seconds of each call, the least of some runs.

use std::path::Path;
use std::time::Instant;

use image::RgbImage;
use rayon::prelude::*;
use tessera_core::Result;
use tessera_core::canopy::{Constraints, Covariance, MixtureData, MixtureFit, MixtureOptions, Prior};
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, Example, Search, Without};
use tessera_core::cmt::{Cmt, CmtOptions};
use tessera_core::contextual::{Geometry, Lift};
use tessera_core::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use tessera_core::error::Error;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::learn::OnlineClassifier as _;
use tessera_core::nearest::{Metric, NeighborIndex as _, everything};
use tessera_core::online_linear::{Multiclass, Rule};
use tessera_core::picture::Picture;
use tessera_core::progress::Progress;
use tessera_core::random;
use tessera_core::sparse::SparseVec;

const RUNS: usize = 5;

fn read<const N: usize, T>(folder: &Path, name: &str, of: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
    let path = folder.join(name);
    let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
    Ok(bytes.as_chunks::<N>().0.iter().map(|chunk| of(*chunk)).collect())
}

/// The result of the last run and the seconds of the fastest.
fn least<T>(mut work: impl FnMut() -> Result<T>) -> Result<(T, f64)> {
    let mut seconds = f64::INFINITY;
    for _ in 1..RUNS {
        let begun = Instant::now();
        work()?;
        seconds = seconds.min(begun.elapsed().as_secs_f64());
    }
    let begun = Instant::now();
    let made = work()?;
    Ok((made, seconds.min(begun.elapsed().as_secs_f64())))
}

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_default();
    let folder = Path::new(&folder);
    let progress = Progress::default();
    let [points, queries, values] = ["points", "queries", "values"].map(|name| read(folder, name, f32::from_le_bytes));
    let (points, queries, values) = (points?, queries?, values?);
    let rows = read(folder, "rows", f64::from_le_bytes)?;
    let [classes, ends, columns, topics] = ["classes", "ends", "columns", "topics"].map(|name| read(folder, name, u32::from_le_bytes));
    let (classes, ends, columns, topics) = (classes?, ends?, columns?, topics?);
    let images = read(folder, "images", |[byte]: [u8; 1]| byte)?;
    let mut told: Vec<(&str, f64)> = Vec::new();

    let ids: Vec<ItemId> = (0..points.len() as u32 / 16).map(ItemId).collect();
    let options = CoverTreeOptions { base: 1.3, ..CoverTreeOptions::default() };
    let grown = || DenseTree::new(DensePoints::new(16, points.clone())?, &ids, Metric::Euclidean, options);
    let (tree, seconds) = least(grown)?;
    told.push(("cover tree: fit", seconds));
    let asked = || queries.par_chunks(16).map(|query| tree.nearest(query, 5, &everything)).collect::<Result<Vec<_>>>();
    told.push(("cover tree: kneighbors", least(asked)?.1));

    let fitted = || {
        let prior = Prior { floor: 1e-3, ..Prior::default() };
        let options = MixtureOptions { clusters: 100, covariance: Covariance::Diagonal, prior, ..MixtureOptions::default() };
        let mut fit = MixtureFit::new(MixtureData::new(&points, 16, Covariance::Diagonal)?, options, &Constraints::default())?;
        for _ in 0..20 {
            fit.step(&progress)?;
        }
        Ok(fit.model().clone())
    };
    told.push(("mixture: fit", least(fitted)?.1));

    let lift = Lift::new(Geometry::L2, 32)?;
    let query = |row: &[f64]| lift.map(&row.iter().map(|x| x / 10.0).collect::<Vec<f64>>());
    let learned = || {
        let mut learner = Multiclass::new(Rule::Averaged, lift.dimension());
        let mut rng = random::seeded(0);
        for (row, class) in rows.chunks_exact(32).zip(&classes) {
            let q = query(row);
            let round = learner.predict(&q, &mut rng)?;
            learner.learn(&q, &round, ClassId(*class), &mut rng)?;
        }
        Ok(learner)
    };
    let (learner, seconds) = least(learned)?;
    told.push(("online: fit", seconds));
    let best = |row: &[f64]| learner.scores(&query(row)).into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    told.push(("online: predict", least(|| Ok(rows.chunks_exact(32).map(best).collect::<Vec<_>>()))?.1));

    let vector = |i: usize| {
        let part = ends[i] as usize..ends[i + 1] as usize;
        SparseVec::from_pairs(columns[part.clone()].iter().copied().zip(values[part].iter().copied()))
    };
    let remembered = || {
        let mut memory: Cmt<ClassId> = Cmt::new(&CmtOptions::default())?;
        for (i, topic) in topics.iter().enumerate() {
            memory.insert(ItemId(i as u32), vector(i)?, ClassId(*topic))?;
        }
        Ok(memory)
    };
    let (memory, seconds) = least(remembered)?;
    told.push(("memory: fit", seconds));
    let asked = |i: usize| Ok(memory.query_budget(&vector(i)?, 1, 1).hits);
    told.push(("memory: predict", least(|| (0..topics.len()).into_par_iter().map(asked).collect::<Result<Vec<_>>>())?.1));

    let pictures: Vec<Picture> =
        images.chunks_exact(128 * 128 * 3).filter_map(|pixels| RgbImage::from_raw(128, 128, pixels.to_vec()).map(Picture::from)).collect();
    let recognised = || {
        let mut machine = Ckm::new(Preset::Mixed.options())?;
        let all = pictures.par_iter().map(|picture| machine.elements(picture)).collect::<Result<Vec<_>>>()?;
        for (i, elements) in (0..).zip(all) {
            machine.add(&(i % 4).to_string(), Example { id: ItemId(i), name: format!("#{i}"), group: None, elements: elements.into() })?;
        }
        machine.set_search(Search::Exact)?;
        Ok(machine)
    };
    let (machine, seconds) = least(recognised)?;
    told.push(("recogniser: fit", seconds));
    let scored = |picture: &Picture| Ok(machine.scores(&machine.elements(picture)?, Without::Nothing).ranking());
    told.push(("recogniser: predict", least(|| pictures.par_iter().map(scored).collect::<Result<Vec<_>>>())?.1));

    let lines: Vec<String> = told.iter().map(|(name, seconds)| format!("\"{name}\": {seconds}")).collect();
    println!("{{{}}}", lines.join(", "));
    Ok(())
}
