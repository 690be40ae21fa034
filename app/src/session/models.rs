//! The recogniser of a library: evaluated, saved, loaded, packed into one file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::weights::{LearnOptions, LearnReport};
use tessera_core::ckm::{Ckm, Search};
use tessera_core::envelope::{self, MANIFEST};
use tessera_core::eval::report::Report;
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::{Library, MODELS};
use tessera_core::progress::Progress;
use tessera_core::{Error, Result, random};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::Session;
use super::copies::check_replaced;
use super::kept_as::{Taken, check_remembered};
use super::library::MODEL_ENDING;
use super::library_weights::{self, weight_choice};
use super::reports::{keep_report, kept_report, last_report};
use super::search_choice;
use crate::command::{SearchChoice, WeightChoice};

/// Images evaluated, at most and at least, and comparisons of two images that an evaluation may
/// take in all.
const JUDGED: (usize, usize) = (400, 40);
const COMPARISONS: usize = 1_600_000;

/// What an archive begins with.
const ARCHIVE: &[u8; 4] = b"PK\x03\x04";

impl Session {
    /// Chooses which training images the recogniser of a library compares from now on. A
    /// report that was made when it compared others counts as made before.
    ///
    /// # Errors
    /// [`Error::Cancelled`], [`Error::Io`].
    pub fn choose_search(&self, library: &Mutex<Library>, choice: SearchChoice) -> Result<()> {
        self.pool.install(|| search_choice::choose(&mut hold(library), choice, &self.progress))
    }

    /// Evaluates the recogniser of a library with these weights, or those in use if `None`, and
    /// stores the report. Kinds that are to be fitted are fitted before that, and anew where the
    /// labelled images have doubled. Learned weights are learned anew, for images that weights were
    /// learned from cannot judge them. Returns what learning came to, with the milliseconds it took
    /// an image, if weights were learned.
    ///
    /// # Errors
    /// As [`Session::judge_uniform`] and [`Session::learn_library_weights`].
    pub fn judge(&self, library: &Mutex<Library>, weights: Option<WeightChoice>) -> Result<Option<(LearnReport, f64)>> {
        let in_use = || weight_choice(&hold(library));
        let learned = match weights.unwrap_or_else(in_use) {
            WeightChoice::Learned => Some(self.learn_library_weights(library, &LearnOptions::default())?),
            WeightChoice::Uniform => {
                library_weights::choose(&mut hold(library), WeightChoice::Uniform)?;
                None
            }
        };
        if in_use() == WeightChoice::Uniform {
            self.judge_uniform(library)?;
        }
        Ok(learned)
    }

    /// Learns the weights of a library's recogniser, puts them into use, and stores them with a
    /// report by the objects of folds. Where no weights are better than uniform ones these stay in
    /// use, and the report of before stays. Also returns the milliseconds it took an image.
    ///
    /// # Errors
    /// [`tessera_core::Error::Data`] with fewer than two classes, and as
    /// [`tessera_core::ckm::weights::learn`].
    pub fn learn_library_weights(&self, library: &Mutex<Library>, options: &LearnOptions) -> Result<(LearnReport, f64)> {
        self.fit_kinds_if_due(library)?;
        let (Taken { mut ckm, event, of }, looks) = {
            let library = hold(library);
            check_classes(&library)?;
            (Taken::now(&library), library.perceptual_hashes()?)
        };
        let (learned, ms) = self.learn_weights(Arc::make_mut(&mut ckm), options)?;
        let mut library = hold(library);
        check_remembered(&library, &ckm, "weights were learned from", "learn weights again")?;
        library_weights::keep(&mut library, &of, &ckm, &learned)?;
        if learned.epochs > 0 {
            let report = self.pool.install(|| Report::new(&ckm, learned.judgement.clone(), &looks));
            keep_report(&library, &of, WeightChoice::Learned, event, &report);
        }
        Ok((learned, ms))
    }

    /// Evaluates the recogniser of a library with uniform weights on its own images, each with its
    /// object left out, and stores the report. When the library has not changed since the last
    /// report, that one is extended to twice as many images.
    ///
    /// # Errors
    /// [`Error::Data`] with fewer than two classes, and when images were forgotten meanwhile;
    /// [`Error::Cancelled`], [`Error::Io`].
    pub fn judge_uniform(&self, library: &Mutex<Library>) -> Result<Report> {
        self.judge_taken(library).map(|(_, report)| report)
    }

    /// As [`Session::judge_uniform`], with what was judged.
    pub(super) fn judge_taken(&self, library: &Mutex<Library>) -> Result<(Taken, Report)> {
        // Learned weights go with the kinds that they were learned for.
        if weight_choice(&hold(library)) == WeightChoice::Uniform {
            self.fit_kinds_if_due(library)?;
        }
        let (taken, looks, last) = {
            let library = hold(library);
            check_classes(&library)?;
            (Taken::now(&library), library.perceptual_hashes()?, kept_report(&library, WeightChoice::Uniform))
        };
        let ckm = &taken.ckm;
        let images = ckm.examples().count();
        // Judging again without a change goes on: twice as many images are judged.
        let known = last.filter(|(event, _)| *event == taken.event).map(|(_, report)| report.raw).unwrap_or_default();
        let limit = match ckm.search() {
            Search::Exact => (COMPARISONS / images).clamp(JUDGED.1, JUDGED.0),
            Search::Shortlist { .. } | Search::Index { .. } => JUDGED.0,
        };
        let limit = limit.max(2 * known.len());
        let report = self.pool.install(|| -> Result<Report> {
            let judgement = judge(ckm, limit, &mut random::seeded(self.seed), known, &self.progress)?;
            Ok(Report::new(ckm, judgement, &looks))
        })?;
        let library = hold(library);
        check_remembered(&library, ckm, "were judged", "judge again")?;
        keep_report(&library, &taken.of, WeightChoice::Uniform, taken.event, &report);
        drop(library);
        Ok((taken, report))
    }
}

impl Session {
    /// Sets which training images a recogniser compares.
    ///
    /// # Errors
    /// As [`Ckm::set_search_watched`].
    pub fn set_search(&self, model: &mut RecogniserModel, search: Search) -> Result<()> {
        self.pool.install(|| Arc::make_mut(&mut model.ckm).set_search_watched(search, &self.progress))
    }
}

/// Whether the recogniser of a library has the classes it takes to judge it.
pub(super) fn check_classes(library: &Library) -> Result<()> {
    let found = match library.recogniser().ckm().classes() {
        [] => "no labelled image".to_owned(),
        [class] => format!("only images of `{}`", class.name),
        _ => return Ok(()),
    };
    let few = || Error::data(library.folder(), "images of two classes or more", found, "label some images of another class");
    Err(library.unlearned().unwrap_or_else(few))
}

/// The recogniser of a library in its current state, with the calibration and the class terms of
/// the last report. Its training images are shared, not copied.
pub fn live_recogniser(library: &Library) -> RecogniserModel {
    let recogniser = library.recogniser();
    answering(Arc::clone(recogniser.weighted().unwrap_or(recogniser.ckm())), last_report(library))
}

/// As [`live_recogniser`], but with uniform weights, which say something about training images too
/// when their object is left out.
pub(super) fn uniform_recogniser(library: &Library) -> RecogniserModel {
    answering(Arc::clone(library.recogniser().ckm()), kept_report(library, WeightChoice::Uniform))
}

fn answering(mut ckm: Arc<Ckm>, report: Option<(Option<EventId>, Report)>) -> RecogniserModel {
    let Some((_, report)) = report else {
        return RecogniserModel { ckm, calibration: Calibration::default(), metrics: Metrics::default(), root: String::new() };
    };
    Arc::make_mut(&mut ckm).set_terms(report.terms.clone());
    RecogniserModel { ckm, calibration: report.calibration, metrics: report.metrics(), root: String::new() }
}

/// The recogniser of a library as a model to be saved, with names of its images that can be
/// resolved from elsewhere.
///
/// # Errors
/// As [`Library::model`].
pub fn model(library: &Library) -> Result<RecogniserModel> {
    let live = live_recogniser(library);
    let mut model = library.model(live.calibration, live.metrics)?;
    let ckm = Arc::make_mut(&mut model.ckm);
    ckm.set_terms(live.ckm.terms().clone());
    ckm.set_search(live.ckm.search())?;
    Ok(model)
}

/// Saves a model as a folder, or as one file where the name ends in `.tessera-model`; `replaces` is
/// whether in place of a model that is there. Returns the bytes written.
///
/// # Errors
/// As [`RecogniserModel::save`] and [`check_model_place`].
pub fn save_model(model: &RecogniserModel, to: &Path, replaces: bool, progress: &Progress) -> Result<u64> {
    progress.begin("Saving the model", 0);
    check_model_place(to, replaces)?;
    if !is_one_file(to) {
        return model.save(to);
    }
    let folder = tempfile::tempdir().map_err(Error::io("create a temporary folder for", to))?;
    model.save(folder.path())?;
    let bytes = pack(folder.path())?;
    envelope::replace(to, &bytes)?;
    Ok(bytes.len() as u64)
}

/// Whether a model can be saved at `to`; `replaces` is whether in place of one that is there.
///
/// # Errors
/// As [`envelope::check_model_folder`]; [`Error::Data`] when a file of another kind is there;
/// [`Error::Exists`] when a model is there that is not to be replaced.
pub fn check_model_place(to: &Path, replaces: bool) -> Result<()> {
    if !is_one_file(to) {
        envelope::check_model_folder(to)?;
        return if envelope::is_model(to) { check_replaced(to, "a model", replaces) } else { Ok(()) };
    }
    if to.is_dir() || (to.is_file() && !is_packed(&open(to)?)) {
        let found = if to.is_dir() { "a folder" } else { "another file" };
        return Err(Error::data(to, "a new file or a model to replace", found, "choose another name for the model"));
    }
    if to.is_file() { check_replaced(to, "a model", replaces) } else { Ok(()) }
}

/// Loads a model that was saved as a folder or as one file.
///
/// # Errors
/// As [`RecogniserModel::load`].
pub fn load_model(path: &Path) -> Result<RecogniserModel> {
    let model = if path.is_file() {
        let folder = tempfile::tempdir().map_err(Error::io("create a temporary folder for", path))?;
        unpack(path, folder.path())?;
        RecogniserModel::load(folder.path()).map_err(|error| rename(error, path))?
    } else {
        RecogniserModel::load(path)?
    };
    model.ckm.options().check_networks()?;
    Ok(model)
}

/// The folder in which a library keeps a saved model of that name.
pub fn model_folder(library: &Path, name: &str) -> PathBuf {
    library.join(MODELS).join(name)
}

/// The models saved with a library: name, folder, bytes.
pub fn saved_models(library: &Path) -> Vec<(String, PathBuf, u64)> {
    let Ok(entries) = fs::read_dir(library.join(MODELS)) else { return Vec::new() };
    let mut models: Vec<(String, PathBuf, u64)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| envelope::is_model(path))
        .map(|path| {
            let bytes = fs::read_dir(&path).into_iter().flatten().flatten().filter_map(|part| part.metadata().ok()).map(|m| m.len()).sum();
            (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path, bytes)
        })
        .collect();
    models.sort();
    models
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(Error::io("open", path))
}

/// Whether a file is a model packed into one file.
fn is_packed(file: &File) -> bool {
    ZipArchive::new(file).is_ok_and(|archive| archive.index_for_name(MANIFEST).is_some())
}

/// Packs the files of a model folder into one archive, without compression: their bytes hardly
/// compress.
fn pack(folder: &Path) -> Result<Vec<u8>> {
    let broken = |error: zip::result::ZipError| Error::io("pack", folder)(std::io::Error::other(error));
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let list = fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let mut paths: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        archive.start_file(path.file_name().unwrap_or_default().to_string_lossy(), stored).map_err(broken)?;
        archive.write_all(&bytes).map_err(Error::io("pack", &path))?;
    }
    Ok(archive.finish().map_err(broken)?.into_inner())
}

/// Extracts the manifest and the weights from an archive. Other entries are ignored, and no more
/// bytes are written than the archive has.
fn unpack(file: &Path, to: &Path) -> Result<()> {
    let refuse = |found: String| Error::data(file, "a model in one file", found, "copy it again from its source");
    let length = fs::metadata(file).map_err(Error::io("read", file))?.len();
    let damaged = || refuse("one that is damaged".into());
    let begun = |file: &mut File| {
        let mut first = [0; ARCHIVE.len()];
        file.read_exact(&mut first).is_ok_and(|()| first == *ARCHIVE)
    };
    if !begun(&mut open(file)?) {
        let advice = "name a model that `tessera train` or the window wrote";
        return Err(Error::data(file, "a model in one file", "a file of another kind", advice));
    }
    let mut archive = ZipArchive::new(open(file)?).map_err(|_| refuse("one whose end is missing or damaged".into()))?;
    let mut found = 0;
    for i in 0..archive.len().min(16) {
        let mut entry = archive.by_index(i).map_err(|_| damaged())?;
        let name = entry.name().map_err(|_| damaged())?.into_owned();
        let is_plain = !name.contains(['/', '\\']) && (name == MANIFEST || name.starts_with("weights-"));
        if !is_plain || entry.compression() != CompressionMethod::Stored || entry.size() > length {
            return Err(refuse(format!("an archive with `{name}` in it")));
        }
        let mut bytes = Vec::new();
        entry.by_ref().take(length).read_to_end(&mut bytes).map_err(|_| damaged())?;
        let path = to.join(&name);
        fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        found += 1;
    }
    if found == 0 { Err(refuse("an archive without one".into())) } else { Ok(()) }
}

/// Rewrites an error about an extracted file so that it names the archive, which the user knows.
fn rename(error: Error, archive: &Path) -> Error {
    match error {
        Error::Data { expected, found, advice, path } => {
            let part = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Error::Data { path: archive.to_owned(), expected, found: format!("{found} (in {part})"), advice }
        }
        other => other,
    }
}

/// Whether a model of that name is packed into one file.
pub(super) fn is_one_file(to: &Path) -> bool {
    to.extension().is_some_and(|ending| ending == MODEL_ENDING)
}
