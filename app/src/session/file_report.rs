//! Reports on files: JSON lines of path, reason and detail.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use serde_json::{Value, json};
use tessera_core::{Error, Result};

/// The longest line of a report.
const LONGEST: u64 = 1 << 16;

/// Starts a report: a new file, or one in place of an older report.
///
/// # Errors
/// [`Error::Data`] when there is another file, [`Error::Io`].
pub fn create(path: &Path) -> Result<File> {
    // Reading a pipe or a device could block for ever, and nothing in it can be lost.
    if path.metadata().is_ok_and(|meta| meta.is_file()) && !is_report(path).map_err(Error::io("read", path))? {
        return Err(Error::data(path, "a new file or an older report to replace", "another file", "choose another name for the report"));
    }
    File::create(path).map_err(Error::io("write", path))
}

/// Writes a line of a report.
///
/// # Errors
/// As writing.
pub fn line(file: &mut File, path: &Path, reason: &str, detail: &str) -> io::Result<()> {
    let line = json!({"path": path.to_string_lossy(), "reason": reason, "detail": detail}).to_string() + "\n";
    file.write_all(line.as_bytes())
}

/// Whether a file is empty or begins like a report.
fn is_report(path: &Path) -> io::Result<bool> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?.take(LONGEST)).read_until(b'\n', &mut line)?;
    let keys = |value: Value| value.as_object().map(|object| object.keys().cloned().collect::<Vec<_>>());
    let is_line = serde_json::from_slice(&line).ok().and_then(keys).is_some_and(|keys| keys == ["path", "reason", "detail"]);
    Ok(line.is_empty() || is_line)
}
