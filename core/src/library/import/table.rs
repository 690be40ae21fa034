//! Reading captions and labels from a table.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::tables::{PathMatch, Table, unguarded};
use crate::ids::ItemId;
use crate::library::captions::{Captions, Refusal, left_out};
use crate::library::classes::tidy_name;
use crate::library::event::{Change, Field, Swap, UserLabel};
use crate::library::state::State;

/// What reading a table of captions and labels did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableRead {
    /// Rows whose image was found.
    pub matched: usize,
    /// Paths without an image.
    pub unmatched: Vec<String>,
    /// Paths that several images have.
    pub ambiguous: Vec<String>,
    /// Captions added.
    pub captions: usize,
    /// Captions that were left out because they are too long or too many for one image
    /// ([`crate::library::captions`]): the line of each, by the path that the table gives the
    /// image.
    pub left_out: BTreeMap<String, Vec<usize>>,
    /// Captions that their image has already, or that the table gives it twice.
    pub repeated: usize,
    /// Labels set.
    pub labels: usize,
    /// Labels that were not set because the user had said something else.
    pub kept: usize,
}

impl TableRead {
    /// What was left out of the captions of each image, in a sentence.
    pub fn left_out_in_words(&self) -> impl Iterator<Item = (&str, String)> {
        self.left_out.iter().map(|(path, lines)| (path.as_str(), format!("{}{}", at_lines(lines), left_out(lines.len()))))
    }

    /// How many captions were left out.
    pub fn n_left_out(&self) -> usize {
        self.left_out.values().map(Vec::len).sum()
    }
}

/// Lines that are named one by one.
const TOLD: usize = 5;

/// The lines of captions, as a sentence begins with them; nothing where they are not known.
fn at_lines(lines: &[usize]) -> String {
    let known: BTreeSet<usize> = lines.iter().copied().filter(|line| *line > 0).collect();
    let told: Vec<String> = known.iter().take(TOLD).map(usize::to_string).collect();
    match (told.as_slice(), known.len() - told.len()) {
        ([], _) => String::new(),
        ([one], _) => format!("line {one}: "),
        (told, 0) => format!("lines {}: ", told.join(", ")),
        (told, more) => format!("lines {} and {more} more: ", told.join(", ")),
    }
}

/// The changes that a table's captions and labels make in this state, and their numbers. Labels
/// that the user gave are kept. Guarded text ([`unguarded`]) of which the library has the plain one
/// is taken for it, also where the table has lost the column that says that it is guarded.
pub(in crate::library) fn read_table(state: &State, table: &Table) -> (TableRead, Vec<Change>) {
    let mut read = TableRead::default();
    let matcher = state.matcher();
    let mut captions: BTreeMap<ItemId, Captions> = BTreeMap::new();
    let mut labels: BTreeMap<ItemId, String> = BTreeMap::new();
    for (row, lines) in table.rows.iter().zip(&table.caption_lines) {
        let id = match matcher.find_from(&table.folder, &row.path) {
            PathMatch::One(id) => id,
            PathMatch::None => {
                read.unmatched.push(row.path.clone());
                continue;
            }
            PathMatch::Several(_) => {
                read.ambiguous.push(row.path.clone());
                continue;
            }
        };
        read.matched += 1;
        let Some(image) = state.image(id) else { continue };
        let list = captions.entry(id).or_insert_with(|| Captions::new(image.captions.clone()));
        for (text, line) in row.captions.iter().zip(lines).filter(|(text, _)| !text.trim().is_empty()) {
            let plain = unguarded(text);
            let is_there = |text: &String| image.captions.iter().any(|caption| caption.text == *text);
            match list.add(if is_there(&plain) { &plain } else { text }, false) {
                Ok(()) => read.captions += 1,
                Err(Refusal::Nothing) => read.repeated += 1,
                Err(_) => read.left_out.entry(row.path.clone()).or_default().push(*line),
            }
        }
        if let Some(label) = row.label.as_ref().and_then(|label| tidy_name(label).ok()) {
            let label = state.class_spelled(&label);
            let plain = unguarded(&label);
            let label = if state.class(&label).is_none() && state.class(&plain).is_some() { plain } else { label };
            match &image.user {
                UserLabel::Unsaid => {
                    labels.insert(id, label);
                }
                UserLabel::Class(class) if *class == label => {}
                _ => read.kept += 1,
            }
        }
    }
    let classes: BTreeSet<&str> = labels.values().map(String::as_str).collect();
    let mut changes = state.new_classes(classes);
    for (id, Captions { list, .. }) in captions {
        if let Some(image) = state.image(id).filter(|image| image.captions != list) {
            changes.push(Change::Image(id, Field::Captions(Swap(image.captions.clone(), list))));
        }
    }
    for (id, label) in labels {
        if let Some(image) = state.image(id).filter(|image| image.label() != Some(&label)) {
            read.labels += 1;
            changes.push(Change::Image(id, Field::Label(Swap(image.user.clone(), UserLabel::Class(label)))));
        }
    }
    (read, changes)
}
