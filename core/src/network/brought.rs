//! Networks that the user brings: what is known of one, and how it is checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::advice;
use super::encoder::{ImageEncoder, ImageForm, ImageWishes, trial};
use super::onnx::{Onnx, in_words, read};
use super::pixels::{PixelScale, Preprocessing};
use super::text::{TextEncoder, TextForm};
use crate::error::{Error, Result, check_plain};
use crate::json;

/// The longest JSON file that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// How the cells of a brought network become elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderOptions {
    /// What the user called it.
    pub name: String,
    /// What tells it from others: [`ImageForm::identity`].
    pub hash: String,
    /// Values of a cell, `2..=4096`.
    pub dimension: usize,
    /// Cells along each side, `1..=128`; fewer where the network gives fewer.
    pub grid: u32,
}

impl EncoderOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] for the first that is not.
    pub fn check(&self) -> Result<()> {
        if !(1..=128).contains(&self.grid) {
            return Err(Error::Option { name: "grid", found: self.grid.to_string(), expected: "1 to 128" });
        }
        if !(2..=4096).contains(&self.dimension) {
            return Err(Error::Option { name: "dimension", found: self.dimension.to_string(), expected: "2 to 4096" });
        }
        check_name(&self.name)
    }
}

/// Checks the name of a network.
///
/// # Errors
/// [`Error::Option`] when it may not be one.
pub fn check_name(name: &str) -> Result<()> {
    check_plain("NAME", name)
}

/// A network that the user brings, found out by a trial run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BroughtNetwork {
    /// Its image encoder.
    pub image: ImageForm,
    /// Its text encoder, if it is a pair.
    pub text: Option<TextForm>,
    /// Bytes of its files.
    pub bytes: u64,
    /// Time to load it.
    pub load_ms: f64,
    /// Time for an image on one thread, without decoding.
    pub image_ms: f64,
    /// Time for a text on one thread.
    pub text_ms: Option<f64>,
    /// Memory of the trial run, where the system tells it.
    pub megabytes: Option<u64>,
}

/// Cells of a network along each side, at most, where nothing else is said.
const GRID: u32 = 6;

impl BroughtNetwork {
    /// Elements of this network, which the user called `name`.
    pub fn elements(&self, name: &str) -> EncoderOptions {
        let grid = GRID.min(self.image.columns.max(self.image.rows) as u32);
        EncoderOptions { name: name.to_owned(), hash: self.image.identity(), dimension: self.image.dimension, grid }
    }
}

/// The files of a network by what they are for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkParts {
    /// The image encoder.
    pub image: PathBuf,
    /// The text encoder and its tokenizer; a file may hold both encoders.
    pub text: Option<(PathBuf, PathBuf)>,
}

/// Finds out what `files` are, and what their encoders take and give, by running them in this
/// process: see [`super::trial`] for one within limits.
///
/// # Errors
/// [`Error::Io`]; [`Error::Data`] with what was expected, what was found, and the way out.
pub fn explore(files: &[PathBuf], wishes: &ImageWishes) -> Result<(NetworkParts, BroughtNetwork)> {
    let sorted = Sorted::new(files)?;
    let parts = sorted.parts(files)?;
    let preprocessing = sorted.preprocessing.as_ref();
    let usual = if parts.text.is_some() { PixelScale::CLIP } else { PixelScale::IMAGENET };
    let wishes = ImageWishes {
        size: wishes.size.or_else(|| preprocessing.and_then(|all| all.size)),
        pixels: Some(wishes.pixels.or_else(|| preprocessing.map(|all| all.pixels)).unwrap_or(usual)),
        output: wishes.output.clone(),
    };
    let began = Instant::now();
    let image = ImageEncoder::explore(Onnx::open(&parts.image)?, &wishes)?;
    if parts.text.is_some() && (image.form().columns, image.form().rows) != (1, 1) {
        let found = format!("a grid of {} x {} vectors", image.form().columns, image.form().rows);
        return Err(Error::data(&parts.image, "one vector of an image, to compare with that of a text", found, advice::TAKE_PAIR));
    }
    let dimension = image.form().dimension;
    let explore = |(path, tokenizer): &(PathBuf, PathBuf)| TextEncoder::explore(Onnx::open(path)?, tokenizer, dimension);
    let text = parts.text.as_ref().map(explore).transpose()?;
    let load_ms = began.elapsed().as_secs_f64() * 1e3;
    let picture = trial(image.form().width, image.form().height);
    let image_ms = fastest(|| image.look_at(&picture).map(drop))?;
    let text_ms = text.as_ref().map(|text| fastest(|| text.vector("a photo of a dog").map(drop))).transpose()?;
    let length = |path: &PathBuf| fs::metadata(path).map(|meta| meta.len()).map_err(Error::io("read", path));
    let bytes = parts.files().map(length).sum::<Result<u64>>()?;
    let (text, image) = (text.map(|text| text.form().clone()), image.form().clone());
    Ok((parts, BroughtNetwork { image, text, bytes, load_ms, image_ms, text_ms, megabytes: most_memory() }))
}

impl NetworkParts {
    /// All of its files, each once.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let text = self.text.iter().flat_map(|(encoder, tokenizer)| [encoder, tokenizer]);
        [&self.image].into_iter().chain(text.filter(|path| **path != self.image))
    }
}

/// Files by what they hold.
#[derive(Default)]
struct Sorted {
    images: Vec<PathBuf>,
    texts: Vec<PathBuf>,
    tokenizers: Vec<PathBuf>,
    preprocessing: Option<Preprocessing>,
}

impl Sorted {
    fn new(files: &[PathBuf]) -> Result<Self> {
        let mut sorted = Self::default();
        for path in files {
            if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
                sorted.take_json(path)?;
                continue;
            }
            let onnx = Onnx::open(path)?;
            let inputs = onnx.inputs();
            let (takes_image, takes_text) =
                (inputs.iter().any(|port| port.has_dimensions(4)), inputs.iter().any(|port| port.is_integer() && port.has_dimensions(2)));
            if !(takes_image || takes_text) {
                let expected = "an encoder, whose input is a picture (4 dimensions) or the tokens of texts (2 dimensions, integers)";
                return Err(onnx.wrong(expected, in_words(&inputs), advice::CHOOSE_IMAGES));
            }
            sorted.images.extend(takes_image.then(|| path.clone()));
            sorted.texts.extend(takes_text.then(|| path.clone()));
        }
        Ok(sorted)
    }

    fn take_json(&mut self, path: &Path) -> Result<()> {
        let wrong = |found: String| Error::data(path, "a tokenizer.json or a preprocessor_config.json", found, advice::TAKE_FILES);
        let text = String::from_utf8(read(path, LONGEST)?).map_err(|_| wrong("bytes that are not text".into()))?;
        let all: Value = json::parse(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        if all["model"].is_object() {
            self.tokenizers.push(path.to_owned());
        } else if ["image_mean", "size", "crop_size", "rescale_factor"].iter().any(|key| all.get(key).is_some()) {
            self.preprocessing = Some(Preprocessing::parse(path, &text)?);
        } else {
            return Err(wrong("JSON of another kind".into()));
        }
        Ok(())
    }

    fn parts(&self, files: &[PathBuf]) -> Result<NetworkParts> {
        let wrong = |found: String| {
            let path = files.first().map_or(Path::new(""), PathBuf::as_path);
            Error::data(path, "an image encoder, alone or with a text encoder and its tokenizer.json", found, advice::TAKE_FILES)
        };
        match (self.images.as_slice(), self.texts.as_slice(), self.tokenizers.as_slice()) {
            ([image], [], []) => Ok(NetworkParts { image: image.clone(), text: None }),
            ([image], [text], [tokenizer]) => Ok(NetworkParts { image: image.clone(), text: Some((text.clone(), tokenizer.clone())) }),
            (images, texts, tokenizers) => {
                Err(wrong(format!("{} image encoders, {} text encoders and {} tokenizers", images.len(), texts.len(), tokenizers.len())))
            }
        }
    }
}

/// The fastest of three runs, in milliseconds.
fn fastest(run: impl Fn() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let began = Instant::now();
        run()?;
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

/// The most memory that this process ever had, in megabytes, where the system tells it.
fn most_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes.div_ceil(1024))
}
