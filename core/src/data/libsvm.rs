//! Examples in libsvm's text format: a class, then features as `index:value`, one example a line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::progress::Progress;
use crate::sparse::SparseVec;

/// Names of classes by number, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct ClassNames {
    names: Vec<String>,
    ids: BTreeMap<String, ClassId>,
}

impl ClassNames {
    /// The class of that name, which is new if it was not met before.
    pub fn id(&mut self, name: &str) -> ClassId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = ClassId(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// All names.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

const ADVICE: &str = "write a class and then index:value pairs on each line";

/// Reads every example of a file; classes are named in `classes`. Blank lines and what follows a
/// `#` are passed over.
///
/// # Errors
/// [`Error::Io`]; [`Error::Data`] with the line when one is no example, or the file has none;
/// [`Error::Cancelled`].
pub fn read(path: &Path, classes: &mut ClassNames, progress: &Progress) -> Result<Vec<(ClassId, SparseVec)>> {
    let text = fs::read_to_string(path).map_err(Error::text(path))?;
    let mut examples = Vec::new();
    progress.begin("Reading examples", 0);
    for (number, line) in text.lines().enumerate() {
        progress.step()?;
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(class) = words.next() else { continue };
        let wrong = |found: String| Error::data(path, "features as index:value", format!("{found} in line {}", number + 1), ADVICE);
        if class.contains(':') {
            return Err(wrong(format!("`{class}` where a class should be")));
        }
        let mut entries = Vec::new();
        for word in words {
            entries.push(entry(word).ok_or_else(|| wrong(format!("`{word}`")))?);
        }
        let x = SparseVec::from_pairs(entries).map_err(|error| wrong(error.to_string()))?;
        examples.push((classes.id(class), x));
    }
    if examples.is_empty() { Err(Error::data(path, "examples", "none", ADVICE)) } else { Ok(examples) }
}

/// A feature as `index:value`.
pub(super) fn entry(word: &str) -> Option<(u32, f32)> {
    let (index, value) = word.split_once(':')?;
    let value: f32 = value.parse().ok()?;
    Some((index.parse().ok()?, value)).filter(|_| value.is_finite())
}
