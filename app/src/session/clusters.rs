//! Clusters of a library's images.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use tessera_core::envelope::replace;
use tessera_core::ids::ItemId;
use tessera_core::library::clusters::{ClusterAim, ClusterRun, ImageCluster, KeptClusters};
use tessera_core::library::{Library, hold};
use tessera_core::{Error, Result};

use super::Session;
use super::copies::{ExportSize, check_empty, copies_into, copy};
use super::export::{ExportOptions, check_new};

/// That clusters are of before something was said of pairs of images, or taken back.
pub const NOT_FOLLOWED: &str = "What was said of pairs has changed since these were found";
/// The columns of the table of clusters.
const COLUMNS: [&str; 7] = ["path", "image", "cluster", "name", "place", "outlier", "label"];

/// Clusters that were found.
pub struct FoundClusters {
    /// The clusters.
    pub kept: KeptClusters,
    /// Images without a vector of the kind that is compared.
    pub left_out: usize,
}

impl Session {
    /// Finds clusters in so many iterations, and keeps them; `kept` ones of the same aim are gone
    /// on with. When it is cancelled after the first iteration, what was found by then is kept and
    /// returned.
    ///
    /// # Errors
    /// As [`ClusterRun::new`]; [`Error::Io`]; [`Error::Cancelled`] before the first iteration.
    pub fn cluster(
        &self,
        library: &Mutex<Library>,
        aim: ClusterAim,
        kept: Option<&KeptClusters>,
        iterations: usize,
    ) -> Result<FoundClusters> {
        let look = self.load_looks(library, aim.look.as_ref())?;
        let aim = ClusterAim { look: Some(look), ..aim };
        self.on_threads(|| {
            let mut run = ClusterRun::new(library, aim, kept, self.progress())?;
            self.improve(&mut run, iterations, |_| true)?;
            let found = run.found();
            hold(library).keep_clusters(&found)?;
            Ok(FoundClusters { kept: found, left_out: run.left_out() })
        })
    }

    /// Improves clusters in so many iterations, as long as `tell`, which is called after each,
    /// allows it; in fewer when it is cancelled after the first.
    ///
    /// # Errors
    /// [`Error::Cancelled`] before the first iteration.
    pub(super) fn improve(&self, run: &mut ClusterRun, iterations: usize, mut tell: impl FnMut(&ClusterRun) -> bool) -> Result<()> {
        let progress = self.progress();
        progress.begin("Finding clusters", iterations as u64);
        for _ in 0..iterations {
            match run.step(progress).and_then(|_| progress.step()) {
                Err(Error::Cancelled) if run.iterations() > 0 => break,
                outcome => outcome?,
            }
            if !tell(run) {
                break;
            }
        }
        Ok(())
    }

    /// Copies the images of clusters into a folder for each cluster below `to`, which is named as
    /// the cluster or numbered; with `dry_run` nothing is written.
    ///
    /// # Errors
    /// [`Error::Data`] where `to` is not a new or empty folder; [`Error::Io`];
    /// [`Error::Cancelled`].
    pub fn export_clusters(&self, library: &Mutex<Library>, clusters: &[ImageCluster], to: &Path, dry_run: bool) -> Result<ExportSize> {
        let name = |cluster: &ImageCluster| cluster.name.clone().unwrap_or_else(|| cluster.title());
        let mut names: HashMap<String, usize> = HashMap::new();
        clusters.iter().for_each(|cluster| *names.entry(name(cluster)).or_default() += 1);
        // Several clusters may have one name, and each has a folder.
        let folder = |cluster: &ImageCluster| match name(cluster) {
            name if names[&name] > 1 => format!("{name} (cluster {})", cluster.number),
            name => name,
        };
        let folders: HashMap<ItemId, String> = clusters
            .iter()
            .flat_map(|cluster| {
                let folder = folder(cluster);
                cluster.images.iter().map(move |id| (*id, folder.clone()))
            })
            .collect();
        let (copies, written) = copies_into(library, &folders, &self.progress)?;
        check_empty(to)?;
        if !dry_run {
            copy(&copies, to, false, &self.progress)?;
        }
        Ok(written)
    }
}

/// Writes a table of the images of clusters: path, cluster, its name, place by how typical the
/// image is, whether it is an outlier, and its label. An older table of clusters is replaced.
///
/// # Errors
/// [`Error::Data`] where another file is; [`Error::Io`].
pub fn write_clusters(library: &Library, clusters: &[ImageCluster], to: &Path) -> Result<usize> {
    let options = ExportOptions { dry_run: false, replaces: true, csv_safe: false };
    check_new(to, options, |line| line == COLUMNS.join(","))?;
    let failed = |error: csv::Error| Error::io("write", to)(std::io::Error::other(error));
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS).map_err(failed)?;
    let mut rows = 0;
    for cluster in clusters {
        let typical = cluster.images.len() - cluster.outliers;
        for (place, id) in cluster.images.iter().enumerate() {
            let Some(image) = library.state().image(*id) else { continue };
            let path = library.state().path_of(image).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
            let name = cluster.name.as_deref().unwrap_or_default();
            let (number, place_words) = (cluster.number.to_string(), (place + 1).to_string());
            let outlier = if place < typical { "no" } else { "yes" };
            let id = id.0.to_string();
            table.write_record([&path, &id, &number, name, &place_words, outlier, image.label().unwrap_or_default()]).map_err(failed)?;
            rows += 1;
        }
    }
    let bytes = table.into_inner().map_err(|error| Error::io("write", to)(std::io::Error::other(error.to_string())))?;
    replace(to, &bytes)?;
    Ok(rows)
}
