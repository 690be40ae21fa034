//! The form of COCO: images, and captions or categories that point to them.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json_lines::reason;
use super::rows::{self, Draft, Lines};
use super::table::TableRow;
use crate::error::Result;

/// The parts of a file; their entries are parsed one by one, so that a broken entry does not spoil
/// the others.
#[derive(Deserialize)]
pub(super) struct Coco<'a> {
    #[serde(borrow)]
    images: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    annotations: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    categories: Vec<&'a RawValue>,
}

#[derive(Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(untagged, expecting = "an id is neither a whole number nor text")]
enum Id {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
struct Image {
    id: Id,
    file_name: String,
}

#[derive(Deserialize)]
struct Category {
    id: Id,
    name: String,
}

#[derive(Deserialize)]
struct Annotation {
    image_id: Id,
    caption: Option<String>,
    category_id: Option<Id>,
}

/// The parts of a file; `None` when it is JSON of another kind.
pub(super) fn parse(text: &str) -> serde_json::Result<Option<Coco<'_>>> {
    serde_json::from_str(text).map(|coco: Coco| coco.images.is_some().then_some(coco))
}

pub(super) fn read(text: &str, coco: &Coco, draft: &mut Draft) -> Result<()> {
    let mut lines = Lines::new(text);
    // A raw value is a slice of the text, so its address gives its position.
    let mut line = |raw: &RawValue| lines.line((raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize));
    let (mut rows, mut names) = (HashMap::new(), HashMap::new());
    for (i, raw) in coco.images.iter().flatten().enumerate() {
        draft.step()?;
        if draft.is_spoilt(raw.get(), line(raw)) {
            continue;
        }
        match serde_json::from_str::<Image>(raw.get()) {
            Ok(image) => {
                if let Some(row) = draft.row(&image.file_name, line(raw)) {
                    rows.insert(image.id, row);
                }
            }
            Err(error) => draft.problem(line(raw), format!("image {}: {}", i + 1, reason(&error))),
        }
    }
    for (i, raw) in coco.categories.iter().enumerate() {
        draft.step()?;
        if draft.is_spoilt(raw.get(), line(raw)) {
            continue;
        }
        match serde_json::from_str::<Category>(raw.get()) {
            Ok(category) => drop(names.insert(category.id, category.name)),
            Err(error) => draft.problem(line(raw), format!("category {}: {}", i + 1, reason(&error))),
        }
    }
    for (i, raw) in coco.annotations.iter().enumerate() {
        draft.step()?;
        let line = line(raw);
        if draft.is_spoilt(raw.get(), line) {
            continue;
        }
        let annotation = match serde_json::from_str::<Annotation>(raw.get()) {
            Ok(annotation) => annotation,
            Err(error) => {
                draft.problem(line, format!("annotation {}: {}", i + 1, reason(&error)));
                continue;
            }
        };
        let Some(row) = rows.get(&annotation.image_id).copied() else {
            draft.problem(line, format!("annotation {}: there is no such image", i + 1));
            continue;
        };
        draft.caption(Some(row), 0, annotation.caption.as_deref().unwrap_or_default(), line);
        match annotation.category_id.map(|id| names.get(&id)) {
            Some(Some(name)) => draft.label(Some(row), name, line),
            Some(None) => draft.problem(line, format!("annotation {}: there is no such category", i + 1)),
            None if annotation.caption.is_none() => draft.problem(line, format!("annotation {}: neither caption nor category", i + 1)),
            None => {}
        }
    }
    Ok(())
}

pub(super) fn write(rows: &[TableRow]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut ids = HashMap::new();
    let (mut images, mut annotations) = (Vec::new(), Vec::new());
    for (i, row) in rows.iter().enumerate() {
        let image = i + 1;
        images.push(serde_json::json!({ "id": image, "file_name": row.path }).to_string());
        for caption in rows::captions(row) {
            let entry = serde_json::json!({ "id": annotations.len() + 1, "image_id": image, "caption": caption });
            annotations.push(entry.to_string());
        }
        if let Some(label) = rows::label(row) {
            let id = *ids.entry(label).or_insert_with(|| {
                names.push(label);
                names.len()
            });
            let entry = serde_json::json!({ "id": annotations.len() + 1, "image_id": image, "category_id": id });
            annotations.push(entry.to_string());
        }
    }
    let category = |(i, name): (usize, &&str)| serde_json::json!({ "id": i + 1, "name": name }).to_string();
    let categories: Vec<String> = names.iter().enumerate().map(category).collect();
    let list = |entries: &[String]| format!("[\n{}\n]", entries.join(",\n"));
    let (images, annotations, categories) = (list(&images), list(&annotations), list(&categories));
    format!("{{\"images\": {images},\n\"annotations\": {annotations},\n\"categories\": {categories}}}\n")
}
