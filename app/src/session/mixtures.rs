//! Experiments with mixtures of clusters and with cover trees.

use std::path::Path;

use tessera_core::canopy::{ClusterStart, Covariance, is_held_out};
use tessera_core::data::vectors::VectorFile;
use tessera_core::error::display;
use tessera_core::eval::mixtures::{self, MixtureRun, MixtureScores, TreeScores};
use tessera_core::plural::count;
use tessera_core::{Error, Result};

use super::Session;

/// The files of an experiment with mixtures.
pub struct MixtureFiles<'a> {
    /// The points.
    pub data: &'a Path,
    /// Their classes, as numbers.
    pub labels: Option<&'a Path>,
    /// The first means, if they are not to be found.
    pub start: Option<&'a Path>,
}

fn told(path: &Path, error: Error) -> Error {
    match error {
        Error::Value { .. } => Error::data(path, "rows that a mixture can be fitted to", error.to_string(), "mend the file or the options"),
        other => other,
    }
}

impl Session {
    /// Reads the files and fits a mixture.
    ///
    /// # Errors
    /// As [`VectorFile::read`] and [`mixtures::run`].
    pub fn fit_mixture(&self, files: &MixtureFiles<'_>, mut run: MixtureRun) -> Result<MixtureScores> {
        let data = VectorFile::read(files.data)?;
        let n = data.rows().len();
        let classes = files.labels.map(VectorFile::read_classes).transpose()?;
        if let (Some(path), Some(classes)) = (files.labels, classes.as_ref().filter(|classes| classes.len() != n)) {
            let expected = format!("a label for each of the {} of {}", count(n, "row"), display(files.data));
            return Err(Error::data(path, expected, count(classes.len(), "label"), "name the file of these rows' classes"));
        }
        let fitted = (0..n).filter(|i| !is_held_out(*i, run.held_out)).count();
        if n > 0 && run.options.clusters > fitted {
            let expected = format!("a row or more for each of {} that are fitted", count(run.options.clusters, "cluster"));
            let found = format!("{}, of which {fitted} are fitted and the others held out", count(n, "row"));
            return Err(Error::data(files.data, expected, found, "ask for fewer --clusters, or hold out fewer by --held-out"));
        }
        if let Some(path) = files.start {
            let means = VectorFile::read(path)?;
            let rows = means.rows().len();
            if means.dimension != data.dimension || rows != run.options.clusters {
                let expected = format!("{} rows of {} values", run.options.clusters, data.dimension);
                return Err(Error::data(path, expected, format!("{rows} rows of {}", means.dimension), "give a mean for each cluster"));
            }
            run.options.start = ClusterStart::Means(means.values);
        }
        let VectorFile { values, dimension } = data;
        let fit = || mixtures::run(values, dimension, classes.as_deref(), &run, &self.progress);
        self.pool.install(fit).map_err(|error| told(files.data, error))
    }

    /// Reads points and queries, and asks a cover tree for the `k` nearest of each.
    ///
    /// # Errors
    /// As [`VectorFile::read`] and [`mixtures::tree`].
    pub fn ask_cover_tree(&self, data: &Path, queries: &Path, k: usize, base: f64) -> Result<TreeScores> {
        let (points, asked) = (VectorFile::read(data)?, VectorFile::read(queries)?);
        if points.dimension != asked.dimension {
            let expected = format!("rows of {} values, as {} has", points.dimension, data.display());
            return Err(Error::data(queries, expected, format!("rows of {}", asked.dimension), "name queries for these points"));
        }
        let ask = || mixtures::tree(&points.values, &asked.values, points.dimension, k, base, &self.progress);
        self.pool.install(ask).map_err(|error| told(data, error))
    }
}

/// The word for a shape of clusters.
pub fn shape_name(covariance: Covariance) -> &'static str {
    match covariance {
        Covariance::Isotropic => "isotropic",
        Covariance::Diagonal => "diagonal",
        Covariance::Directions => "directions",
    }
}
