//! Examples with several labels each: Mulan's ARFF files, and the text files of the Extreme
//! Classification Repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::libsvm::entry;
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::progress::Progress;
use crate::sparse::SparseVec;

/// Examples with labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultiLabel {
    /// Labels that there are.
    pub n_labels: usize,
    /// Each example's features and its labels, ascending.
    pub examples: Vec<(SparseVec, Vec<ClassId>)>,
}

/// Reads a file. In an ARFF file the attributes that are labels are those named in the XML file
/// beside it, which has the same name or that name without its last part after a `-`; without such
/// a file they are those of `{0,1}` at the end, after the last attribute of another kind.
///
/// # Errors
/// [`Error::Io`]; [`Error::Data`] with the line where the file is not as it should be;
/// [`Error::Cancelled`].
pub fn read(path: &Path, progress: &Progress) -> Result<MultiLabel> {
    progress.begin("Reading examples", 0);
    let text = fs::read_to_string(path).map_err(Error::text(path))?;
    let is_arff = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("arff"));
    if is_arff { arff(path, &text, progress) } else { xc(path, &text, progress) }
}

fn wrong(path: &Path, expected: &str, found: impl Into<String>, line: usize) -> Error {
    let found = format!("{} in line {}", found.into(), line + 1);
    Error::data(path, expected, found, "check the file, or get it again from its source")
}

/// Labels that a file may name in its first line beyond one for each of its bytes: memory is set
/// aside for every one of them.
const SPARE: usize = 1_000_000;

/// `n features labels`, then for each example its labels with commas between them and its features
/// as `index:value`.
fn xc(path: &Path, text: &str, progress: &Progress) -> Result<MultiLabel> {
    let mut lines = text.lines().enumerate();
    let head: Option<Vec<usize>> =
        lines.next().and_then(|(_, line)| line.split_ascii_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>());
    let Some(&[n, n_features, n_labels]) = head.as_deref() else {
        return Err(wrong(path, "the numbers of examples, features and labels", "something else", 0));
    };
    let most = text.len().saturating_add(SPARE);
    if n_labels > most {
        return Err(wrong(path, &format!("at most {most} labels in a file of {} bytes", text.len()), n_labels.to_string(), 0));
    }
    let mut examples = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        progress.step()?;
        let (mut labels, mut entries) = (BTreeSet::new(), Vec::new());
        for (i, word) in line.split(' ').enumerate().filter(|(_, word)| !word.is_empty()) {
            if i == 0 && !word.contains(':') {
                for label in word.split(',') {
                    let label = label.parse().ok().filter(|label| (*label as usize) < n_labels);
                    labels.insert(ClassId(label.ok_or_else(|| wrong(path, "labels by number", format!("`{word}`"), number))?));
                }
            } else {
                let entry = entry(word).filter(|(index, _)| (*index as usize) < n_features);
                entries.push(entry.ok_or_else(|| wrong(path, "features as index:value", format!("`{word}`"), number))?);
            }
        }
        let x = SparseVec::from_pairs(entries).map_err(|error| wrong(path, "features", error.to_string(), number))?;
        examples.push((x, labels.into_iter().collect()));
    }
    if examples.len() == n {
        Ok(MultiLabel { n_labels, examples })
    } else {
        Err(wrong(path, &format!("{n} examples"), examples.len().to_string(), 0))
    }
}

/// An attribute of an ARFF file.
struct Attribute {
    name: String,
    /// The values it may have, when they are listed.
    values: Option<Vec<String>>,
}

fn arff(path: &Path, text: &str, progress: &Progress) -> Result<MultiLabel> {
    let mut attributes = Vec::new();
    let mut lines = text.lines().enumerate();
    for (number, line) in lines.by_ref() {
        let line = line.trim();
        let keyword = line.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        match keyword.as_str() {
            "@attribute" => attributes
                .push(attribute(&line["@attribute".len()..]).ok_or_else(|| wrong(path, "an attribute's name and kind", line, number))?),
            "@data" => break,
            _ => {}
        }
    }
    let roles = roles(path, &attributes)?;
    let mut examples = Vec::new();
    for (number, line) in lines {
        progress.step()?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        let (mut labels, mut entries) = (BTreeSet::new(), Vec::new());
        let mut take = |index: usize, text: &str| -> Option<()> {
            let value = value(attributes.get(index)?, text.trim())?;
            match roles[index] {
                Role::Label(label) if value != 0.0 => {
                    labels.insert(label);
                }
                Role::Feature(feature) => entries.push((feature, value)),
                Role::Label(_) => {}
            }
            Some(())
        };
        let outcome: Option<()> = match line.strip_prefix('{').and_then(|line| line.strip_suffix('}')) {
            Some(inside) => inside.split(',').filter(|pair| !pair.trim().is_empty()).try_for_each(|pair| {
                let (index, text) = pair.trim().split_once(char::is_whitespace)?;
                take(index.parse().ok()?, text)
            }),
            None if line.split(',').count() == attributes.len() => line.split(',').enumerate().try_for_each(|(i, text)| take(i, text)),
            None => None,
        };
        let shown: String = line.chars().take(60).collect();
        outcome.ok_or_else(|| wrong(path, "values of the attributes", format!("`{shown}`"), number))?;
        let x = SparseVec::from_pairs(entries).map_err(|error| wrong(path, "features", error.to_string(), number))?;
        examples.push((x, labels.into_iter().collect()));
    }
    let n_labels = roles.iter().filter(|role| matches!(role, Role::Label(_))).count();
    if examples.is_empty() || n_labels == 0 {
        return Err(wrong(path, "examples with labels", format!("{} examples and {n_labels} labels", examples.len()), 0));
    }
    Ok(MultiLabel { n_labels, examples })
}

/// `name kind` or `'name' {a,b}`.
fn attribute(text: &str) -> Option<Attribute> {
    let text = text.trim();
    let (name, kind) = match text.chars().next().filter(|c| "'\"".contains(*c)) {
        Some(quote) => text[1..].split_once(quote)?,
        None => text.split_once(char::is_whitespace)?,
    };
    let values = kind.trim().strip_prefix('{').and_then(|kind| kind.strip_suffix('}'));
    let values = values.map(|values| values.split(',').map(|value| value.trim().trim_matches(['\'', '"']).to_owned()).collect());
    Some(Attribute { name: name.to_owned(), values })
}

/// A number; one of a list counts by its place unless it is a number itself.
fn value(attribute: &Attribute, text: &str) -> Option<f32> {
    let text = text.trim_matches(['\'', '"']);
    if text == "?" {
        return Some(0.0);
    }
    let number = text.parse().ok().filter(|value: &f32| value.is_finite());
    number.or_else(|| attribute.values.as_ref()?.iter().position(|value| value == text).map(|at| at as f32))
}

#[derive(Clone, Copy)]
enum Role {
    Label(ClassId),
    Feature(u32),
}

fn roles(path: &Path, attributes: &[Attribute]) -> Result<Vec<Role>> {
    let named = label_names(path)?;
    let is_binary = |attribute: &Attribute| attribute.values.as_ref().is_some_and(|values| values == &["0", "1"]);
    let tail = attributes.iter().rposition(|attribute| !is_binary(attribute)).map_or(0, |last| last + 1);
    let (mut labels, mut features) = (0, 0);
    let role = |(i, attribute): (usize, &Attribute)| {
        let is_label = named.as_ref().map_or(i >= tail, |names| names.contains(&attribute.name));
        let count = if is_label { &mut labels } else { &mut features };
        *count += 1;
        if is_label { Role::Label(ClassId(*count - 1)) } else { Role::Feature(*count - 1) }
    };
    Ok(attributes.iter().enumerate().map(role).collect())
}

/// The labels that the XML file beside an ARFF file names.
fn label_names(path: &Path) -> Result<Option<BTreeSet<String>>> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let common = stem.rsplit_once('-').map_or(stem.as_str(), |(common, _)| common).to_owned();
    let beside = |stem: &str| -> PathBuf { path.with_file_name(format!("{stem}.xml")) };
    let Some(found) = [beside(&stem), beside(&common)].into_iter().find(|path| path.is_file()) else { return Ok(None) };
    let text = fs::read_to_string(&found).map_err(Error::text(&found))?;
    let names: BTreeSet<String> = text
        .split("<label ")
        .skip(1)
        .filter_map(|rest| {
            let value = rest.split_once("name=")?.1;
            let quote = value.chars().next()?;
            Some(unescaped(value.strip_prefix(quote)?.split_once(quote)?.0))
        })
        .collect();
    if names.is_empty() { Err(wrong(&found, "names of labels", "none", 0)) } else { Ok(Some(names)) }
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}
