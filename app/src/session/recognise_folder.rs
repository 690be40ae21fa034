//! Recognises the images of a folder one after another, and writes the answers as a table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::unknown::Standing;
use tessera_core::ckm::{Example, Without};
use tessera_core::data::{Dataset, ImageSource, Item, Labels, Masks, OpenOptions};
use tessera_core::envelope::replace;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::spellings;
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::{Picture, resize, thumbnail};
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::Session;
use super::export::{ExportOptions, check_new};

/// The longer side of the small pictures of answers, in pixels.
const SMALL: u32 = 96;

/// The first line of a table of answers.
const HEADER: [&str; 6] = ["path", "class", "confidence", "unknown", "runner_up", "problem"];

/// The answer about an image file.
#[derive(Clone, Debug)]
pub struct FileAnswer {
    /// The file.
    pub path: PathBuf,
    /// The best class.
    pub class: String,
    /// The probability that it is right, in 0..=1; `None` where the recogniser was not judged.
    pub confidence: Option<f64>,
    /// From what it is told whether the image looks like none of the classes.
    pub standing: Standing,
    /// The second best class.
    pub runner_up: Option<String>,
    /// A small picture as JPEG.
    pub small: Arc<[u8]>,
}

/// A file that was looked at: the answer, or why there is none.
pub type FileOutcome = std::result::Result<FileAnswer, (PathBuf, String)>;

/// The image files in a folder, with what was left out, as [`Dataset::open`] tells it.
///
/// # Errors
/// As [`Dataset::open`].
pub fn images_in(folder: &Path, progress: &Progress) -> Result<Dataset> {
    let options = OpenOptions { labels: Labels::None, masks: Masks::Keep, ..OpenOptions::default() };
    Dataset::open(folder, &options, progress)
}

impl Session {
    /// Recognises the images of a folder; `told` receives each outcome as soon as it is known.
    /// An image that the model has learned, by its file's path in `learned`, is recognised without
    /// the images of its object.
    ///
    /// # Errors
    /// As [`images_in`]; [`Error::Data`] where there is nothing to compare images with;
    /// [`Error::Cancelled`].
    pub fn recognise_folder(
        &self,
        model: &RecogniserModel,
        learned: &HashMap<PathBuf, ItemId>,
        folder: &Path,
        told: &dyn Fn(FileOutcome),
    ) -> Result<()> {
        if model.ckm.classes().is_empty() {
            let advice = "label images of two classes, or import folders that are classes";
            return Err(Error::data(folder, "labelled images to compare with", "no labelled image yet", advice));
        }
        let data = images_in(folder, self.progress())?;
        let file = |item: &Item| if let ImageSource::File(path) = &item.source { Some(path.clone()) } else { None };
        let files: Vec<PathBuf> = data.items.iter().filter_map(file).collect();
        if files.is_empty() {
            let advice = "unpack them with `tessera import LIBRARY FOLDER --unpack DIR`";
            return Err(Error::data(folder, "a folder of picture files", "pictures inside NORB files", advice));
        }
        let examples: HashMap<ItemId, &Example> = model.ckm.examples().map(|(_, example)| (example.id, example)).collect();
        model.ckm.prepare_by(self.progress())?;
        self.progress().begin("Recognising", files.len() as u64);
        for path in &files {
            self.progress().step()?;
            let own = spellings(path).find_map(|path| examples.get(learned.get(&path)?));
            let without = own.map_or(Without::Nothing, |example| example.without_itself());
            match self.picture(path, SIDE) {
                Ok(picture) => told(self.file_answer(model, path, picture, without)),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => told(Err((path.clone(), without_path(path, &error.to_string())))),
            }
        }
        for skipped in data.skipped {
            told(Err((skipped.path, skipped.detail)));
        }
        Ok(())
    }

    fn file_answer(&self, model: &RecogniserModel, path: &Path, picture: Picture, without: Without<'_>) -> FileOutcome {
        let failed = |words: String| (path.to_owned(), without_path(path, &words));
        let answer = self.recognise_picture(model, path, picture, without).map_err(|error| failed(error.to_string()))?;
        let mut ranking = answer.ranking.iter().map(|(class, _)| model.ckm.classes()[class.index()].name.clone());
        let class = ranking.next().ok_or_else(|| failed("no other object of any class to compare it with".into()))?;
        let (width, height) = answer.picture.pixels.dimensions();
        let (width, height) = resize::fit(width, height, SMALL.min(width.max(height)));
        let small = thumbnail::encode(&resize::resize_rgb(&answer.picture.pixels, width, height));
        Ok(FileAnswer {
            path: path.to_owned(),
            class,
            confidence: (model.calibration.n > 0).then_some(answer.confidence),
            standing: answer.standing,
            runner_up: ranking.next(),
            small: small.into(),
        })
    }
}

/// What went wrong with a file, without its name, which stands beside it.
fn without_path(path: &Path, words: &str) -> String {
    words.strip_prefix(&format!("{}: ", display(path))).unwrap_or(words).to_owned()
}

/// Writes answers as a table of comma-separated values; `is_unknown` tells which count as unknown,
/// and `replaces` whether it may take the place of an older one.
///
/// # Errors
/// [`Error::Data`] when another file is in the way, [`Error::Exists`] when an older table is and is
/// not to be replaced, [`Error::Io`].
pub fn save_answers(outcomes: &[FileOutcome], is_unknown: impl Fn(&FileAnswer) -> bool, to: &Path, replaces: bool) -> Result<()> {
    check_new(to, ExportOptions { replaces, ..ExportOptions::default() }, |line| line == HEADER.join(","))?;
    let failed = |error: csv::Error| Error::io("write", to)(std::io::Error::other(error));
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(HEADER).map_err(failed)?;
    for outcome in outcomes {
        let record = match outcome {
            Ok(answer) => [
                answer.path.to_string_lossy().into_owned(),
                answer.class.clone(),
                answer.confidence.map_or_else(String::new, |confidence| format!("{confidence:.4}")),
                if is_unknown(answer) { "yes" } else { "no" }.to_owned(),
                answer.runner_up.clone().unwrap_or_default(),
                String::new(),
            ],
            Err((path, problem)) => {
                let [class, confidence, unknown, runner_up] = [const { String::new() }; 4];
                [path.to_string_lossy().into_owned(), class, confidence, unknown, runner_up, problem.clone()]
            }
        };
        table.write_record(record).map_err(failed)?;
    }
    let bytes = table.into_inner().map_err(|error| Error::io("write", to)(std::io::Error::other(error.to_string())))?;
    replace(to, &bytes)
}
