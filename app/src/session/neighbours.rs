//! Experiments with indexes of nearest neighbours.

use std::path::Path;

use tessera_core::ann::PointSet;
use tessera_core::data::vectors::VectorFile;
use tessera_core::eval::candidates::{self, CandidateRun, CandidateScores};
use tessera_core::nearest::Metric;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

/// The files of an experiment.
pub struct VectorFiles<'a> {
    /// The points that are found.
    pub corpus: &'a Path,
    /// Queries that the answers are judged by.
    pub queries: &'a Path,
    /// Queries that options are chosen on; without, each 50th point of the corpus, at most 1,000,
    /// which are then not in it.
    pub validation: Option<&'a Path>,
    /// Queries whose neighbours are the labels; without, the corpus.
    pub train_queries: Option<&'a Path>,
}

/// One point of the corpus of so many becomes a validation query, where none are given.
const HELD_OUT: usize = 50;

/// At most so many.
const VALIDATION: usize = 1000;

fn points(file: &VectorFile, metric: Metric, is_wanted: impl Fn(usize) -> bool, path: &Path) -> Result<PointSet> {
    let mut points = PointSet::new(file.dimension, metric);
    for (row, i) in file.rows().zip(0..).filter(|(_, i)| is_wanted(*i)) {
        points.push(row).map_err(|error| {
            Error::data(
                path,
                "rows of finite values",
                format!("row {i}: {error}"),
                "leave out rows with values that are no numbers, and scale down such that are too large",
            )
        })?;
    }
    Ok(points)
}

/// Reads the files, and builds, tunes and asks an index.
///
/// # Errors
/// As [`VectorFile::read`] and [`candidates::run`].
pub fn candidates(
    files: &VectorFiles<'_>,
    metric: Metric,
    run: &CandidateRun,
    progress: &Progress,
) -> Result<(CandidateScores, [usize; 2])> {
    let file = VectorFile::read(files.corpus)?;
    let dimension = file.dimension;
    let all = |path: &Path| {
        let file = VectorFile::read(path)?;
        if file.dimension != dimension {
            let expected = format!("rows of {dimension} values, as {} has", files.corpus.display());
            return Err(Error::data(path, expected, format!("rows of {}", file.dimension), "name queries for this corpus"));
        }
        points(&file, metric, |_| true, path)
    };
    let rows = file.rows().len();
    if files.validation.is_none() && rows < HELD_OUT {
        let expected = format!("{HELD_OUT} rows or more, of which each {HELD_OUT}th is held out");
        return Err(Error::data(files.corpus, &expected, format!("{rows}"), "name other queries to choose options on: --validation FILE"));
    }
    let step = HELD_OUT.max(rows.div_ceil(VALIDATION));
    let is_held_out = |i: usize| files.validation.is_none() && i % step == step - 1;
    let corpus = points(&file, metric, |i| !is_held_out(i), files.corpus)?;
    let validation = match files.validation {
        Some(path) => all(path)?,
        None => points(&file, metric, is_held_out, files.corpus)?,
    };
    drop(file);
    let training = files.train_queries.map(all).transpose()?;
    let size = [corpus.len(), corpus.dimension()];
    Ok((candidates::run(&corpus, training.as_ref(), &validation, &all(files.queries)?, run, progress)?, size))
}
