//! Vectors of images that the user brings, each with the path or name of its image: `.npy` with a
//! list of names beside it, safetensors, CSV and TSV.

use std::collections::HashSet;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{SafeTensors, TensorView};

use super::tables::{Problem, read_at_most};
use super::vectors::VectorFile;
use crate::error::{Error, Result};

/// Most values of a vector.
pub const MOST_VALUES: usize = 4096;
/// Most bytes of a file that is not an `.npy` file.
const MOST_BYTES: u64 = 4 << 30;
/// Problems that are kept with their words; the others are counted.
const KEPT: usize = 1000;
/// Where the names of a tensor of all vectors stand.
const NAMES: &str = "names";

/// Vectors with the names of their images.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedVectors {
    /// Values in each.
    pub dimension: usize,
    /// A name or path, and its vector: finite values that are not all 0.
    pub rows: Vec<(String, Vec<f32>)>,
    /// Rows that could not be used: their numbers, from 1, and why. The first 1,000.
    pub problems: Vec<Problem>,
    /// Their number.
    pub n_problems: usize,
}

impl NamedVectors {
    /// Reads a file by its ending: `.npy` with a path on each line of a file of the same name with
    /// the ending `.txt`; `.safetensors` with a tensor for each image, or with one of all vectors
    /// and a JSON list of paths in its metadata under `names`; otherwise a path and numbers on each
    /// line, separated by commas, semicolons or tabs, with or without a header.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] when it is none of these, names and vectors are not as many,
    /// vectors have no values or more than [`MOST_VALUES`], or no row can be used.
    pub fn read(path: &Path) -> Result<Self> {
        let mut found = Self::default();
        match path.extension().map(|ending| ending.to_ascii_lowercase()).as_deref().and_then(std::ffi::OsStr::to_str) {
            Some("npy") => found.numpy(path)?,
            Some("safetensors") => found.safetensors(path)?,
            _ => found.separated(path)?,
        }
        if found.rows.is_empty() {
            let why = found.problems.first().map(|problem| format!(" (line {}: {})", problem.line, problem.detail)).unwrap_or_default();
            return Err(broken(path, format!("no row that can be used{why}")));
        }
        Ok(found)
    }

    fn numpy(&mut self, path: &Path) -> Result<()> {
        let beside = path.with_extension("txt");
        if !beside.exists() {
            let advice = "write the path of each image on a line of it, in the order of the rows";
            return Err(Error::data(path, "a file of names beside it, of the same name with the ending .txt", "none", advice));
        }
        let vectors = VectorFile::read(path)?;
        let names = text_of(&beside)?;
        let names: Vec<&str> = names.lines().collect();
        let n = vectors.rows().len();
        if names.len() != n {
            let advice = "write the path of each image on a line of the .txt file beside it, in the order of the rows";
            return Err(Error::data(path, format!("a name for each of {n} vectors"), format!("{} names", names.len()), advice));
        }
        self.set_dimension(vectors.dimension, path)?;
        let mut known = HashSet::new();
        for ((name, values), line) in names.into_iter().zip(vectors.rows()).zip(1..) {
            self.take(line, name, values.to_vec(), &mut known);
        }
        Ok(())
    }

    fn safetensors(&mut self, path: &Path) -> Result<()> {
        let bytes = bytes_of(path)?;
        let wrong = |error: safetensors::SafeTensorError| broken(path, error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(wrong)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(wrong)?;
        let listed = metadata.metadata().as_ref().and_then(|words| words.get(NAMES));
        let mut known = HashSet::new();
        if let Some(listed) = listed {
            let names: Vec<String> =
                serde_json::from_str(listed).map_err(|error| broken(path, format!("`{NAMES}` that are no JSON list of texts: {error}")))?;
            let all = tensors.tensors();
            let [(_, tensor)] = &all[..] else {
                return Err(broken(path, format!("`{NAMES}` for {} tensors, not for one matrix", all.len())));
            };
            if tensor.shape().len() != 2 {
                return Err(broken(path, format!("`{NAMES}` for a tensor of {} axes, not two", tensor.shape().len())));
            }
            let [n, dimension] = [tensor.shape()[0], tensor.shape()[1]];
            if names.len() != n {
                return Err(broken(path, format!("{} names for {n} vectors", names.len())));
            }
            self.set_dimension(dimension, path)?;
            let values = values_of(tensor, path)?;
            for ((name, values), line) in names.iter().zip(values.chunks_exact(dimension)).zip(1..) {
                self.take(line, name, values.to_vec(), &mut known);
            }
            return Ok(());
        }
        let mut all = tensors.tensors();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        for ((name, tensor), line) in all.iter().zip(1..) {
            if tensor.shape().len() > 1 {
                return Err(broken(path, format!("a tensor `{name}` of {} axes and no `{NAMES}` in the metadata", tensor.shape().len())));
            }
            let values = values_of(tensor, path)?;
            if self.dimension == 0 {
                self.set_dimension(values.len(), path)?;
            }
            self.take(line, name, values, &mut known);
        }
        Ok(())
    }

    fn separated(&mut self, path: &Path) -> Result<()> {
        let text = text_of(path)?;
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let delimiter = *b"\t;,".iter().max_by_key(|mark| first.bytes().filter(|byte| byte == *mark).count()).unwrap_or(&b',');
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
        let mut known = HashSet::new();
        for record in reader.records() {
            let record = record.map_err(|error| broken(path, error.to_string()))?;
            let line = record.position().map_or(0, |position| position.line() as usize);
            let name = record.get(0).unwrap_or_default();
            if record.len() > MOST_VALUES + 1 {
                self.refuse(line, format!("expected at most {MOST_VALUES} values, found {}", record.len() - 1));
                continue;
            }
            let values: Vec<std::result::Result<f32, &str>> =
                record.iter().skip(1).map(|value| value.trim().parse().map_err(|_| value)).collect();
            let is_title = ["", "path", "file", "filename", "image", "name"].contains(&name.trim().to_lowercase().as_str());
            let is_header = line == 1 && (is_title || values.iter().all(std::result::Result::is_err));
            if is_header || (record.len() == 1 && name.trim().is_empty()) {
                continue;
            }
            match values.into_iter().collect::<std::result::Result<Vec<f32>, &str>>() {
                Err(found) => {
                    self.refuse(line, format!("expected numbers after the path, found `{}`", found.chars().take(40).collect::<String>()))
                }
                Ok(values) => {
                    if self.dimension == 0 {
                        self.set_dimension(values.len(), path)?;
                    }
                    self.take(line, name, values, &mut known);
                }
            }
        }
        Ok(())
    }

    fn set_dimension(&mut self, found: usize, path: &Path) -> Result<()> {
        if !(1..=MOST_VALUES).contains(&found) {
            return Err(broken(path, format!("vectors of {found} values")));
        }
        self.dimension = found;
        Ok(())
    }

    fn take(&mut self, line: usize, name: &str, values: Vec<f32>, known: &mut HashSet<String>) {
        let name = name.trim();
        let why = if name.is_empty() {
            "expected the path of an image, found none".to_owned()
        } else if values.len() != self.dimension {
            format!("expected {} values, as the first row has, found {}", self.dimension, values.len())
        } else if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            format!("expected finite numbers, found {value}")
        } else if values.iter().all(|value| *value == 0.0) {
            "expected a number that is not 0, found none".to_owned()
        } else if !known.insert(name.to_owned()) {
            format!("a second vector of `{name}`")
        } else {
            return self.rows.push((name.to_owned(), values));
        };
        self.refuse(line, why);
    }

    fn refuse(&mut self, line: usize, detail: String) {
        self.n_problems += 1;
        if self.problems.len() < KEPT {
            self.problems.push(Problem { line, detail });
        }
    }
}

/// The values of a tensor of numbers.
fn values_of(tensor: &TensorView<'_>, path: &Path) -> Result<Vec<f32>> {
    let bytes = tensor.data();
    Ok(match tensor.dtype() {
        Dtype::F32 => bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect(),
        Dtype::F64 => bytes.as_chunks::<8>().0.iter().map(|value| f64::from_le_bytes(*value) as f32).collect(),
        Dtype::F16 => bytes.as_chunks::<2>().0.iter().map(|value| half::f16::from_le_bytes(*value).to_f32()).collect(),
        Dtype::BF16 => bytes.as_chunks::<2>().0.iter().map(|value| half::bf16::from_le_bytes(*value).to_f32()).collect(),
        other => return Err(broken(path, format!("a tensor of {other:?}, not of F16, BF16, F32 or F64"))),
    })
}

fn broken(path: &Path, found: impl Into<String>) -> Error {
    let expected = format!("vectors of 1 to {MOST_VALUES} values with the paths of their images, as .npy with .txt, .safetensors or CSV");
    Error::data(path, expected, found.into(), "see `vectors` in docs/formats.md")
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    read_at_most(path, MOST_BYTES, |found| broken(path, if found.is_some() { "a file of more than 4 GiB" } else { "no ordinary file" }))
}

fn text_of(path: &Path) -> Result<String> {
    let text = String::from_utf8(bytes_of(path)?).map_err(|_| broken(path, "text that is not UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}
