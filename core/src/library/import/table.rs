//! Reading captions and labels from a table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::data::tables::{Matcher, PathMatch, Table};
use crate::ids::ItemId;
use crate::library::classes::tidy_name;
use crate::library::event::{Caption, Change, Field, Swap, UserLabel};
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
    /// Captions that their image has already, or that the table gives it twice.
    pub repeated: usize,
    /// Labels set.
    pub labels: usize,
    /// Labels that were not set because the user had said something else.
    pub kept: usize,
}

/// The changes that a table's captions and labels make in this state, and their numbers. Labels
/// that the user gave are kept.
pub(in crate::library) fn read_table(state: &State, table: &Table) -> (TableRead, Vec<Change>) {
    let mut read = TableRead::default();
    let paths: Vec<(ItemId, PathBuf)> =
        state.images().flat_map(|image| image.places.iter().map(|place| (image.id, state.full_path(place)))).collect();
    let matcher = Matcher::new(paths.iter().map(|(id, path)| (*id, path.as_path())));
    let mut captions: BTreeMap<ItemId, Vec<Caption>> = BTreeMap::new();
    let mut labels: BTreeMap<ItemId, String> = BTreeMap::new();
    for row in &table.rows {
        let id = match matcher.find(&row.path) {
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
        let list = captions.entry(id).or_insert_with(|| image.captions.clone());
        for text in row.captions.iter().map(|text| text.trim()) {
            if text.is_empty() {
                continue;
            }
            if list.iter().any(|caption| caption.text == text) {
                read.repeated += 1;
                continue;
            }
            list.push(Caption { text: text.to_owned(), by_user: false });
            read.captions += 1;
        }
        if let Some(label) = row.label.as_ref().and_then(|label| tidy_name(label).ok()) {
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
    for (id, list) in captions {
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
