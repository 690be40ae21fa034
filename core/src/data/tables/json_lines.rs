//! One JSON object a line, with the names that a header would have.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::rows::{self, Draft, Role, role, shown};
use super::table::TableRow;
use crate::error::Result;
use crate::once::twice;

/// The parts of an object that mean something here, each with the rank of its name.
#[derive(Default)]
struct Object {
    path: Option<(usize, String)>,
    label: Option<(usize, Option<String>)>,
    captions: Option<(usize, Vec<String>)>,
    /// The names that mean nothing here.
    unknown: Vec<String>,
}

/// A text, or none where there is null.
fn text(name: &str, value: Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => Err(format!("`{name}`: expected text in quotation marks, found {}", kind(&other))),
    }
}

/// The name of a class: a text, or a number as its digits.
fn class(name: &str, value: Value) -> Result<Option<String>, String> {
    match value {
        Value::Number(number) => Ok(Some(number.to_string())),
        other => text(name, other),
    }
}

/// A text or a list of texts.
fn texts(name: &str, value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(list) => list.into_iter().filter_map(|each| text(name, each).transpose()).collect(),
        other => text(name, other).map(|text| text.into_iter().collect()),
    }
}

/// What a value is that is no text.
fn kind(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        other => format!("`{}`", shown(&other.to_string())),
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
                let (mut out, mut names) = (Object::default(), BTreeSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if names.contains(&name) {
                        return Err(M::Error::custom(twice(&name)));
                    }
                    let wrong = M::Error::custom::<String>;
                    match role(&name) {
                        Some((Role::Path, rank)) if is_better(rank, &out.path) => {
                            out.path = text(&name, map.next_value()?).map_err(wrong)?.map(|path| (rank, path));
                        }
                        Some((Role::Label, rank)) if is_better(rank, &out.label) => {
                            out.label = Some((rank, class(&name, map.next_value()?).map_err(wrong)?));
                        }
                        Some((Role::Caption, rank)) if is_better(rank, &out.captions) => {
                            out.captions = Some((rank, texts(&name, map.next_value()?).map_err(wrong)?));
                        }
                        known => {
                            map.next_value::<IgnoredAny>()?;
                            out.unknown.extend(known.is_none().then(|| name.clone()));
                        }
                    }
                    names.insert(name);
                }
                Ok(out)
            }
        }
        deserializer.deserialize_map(Names)
    }
}

fn is_better<T>(rank: usize, before: &Option<(usize, T)>) -> bool {
    before.as_ref().is_none_or(|(best, _)| rank < *best)
}

/// What is wrong with a piece of JSON, without the place inside the piece.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.rfind(" at line ").unwrap_or(text.len()));
    text
}

impl Object {
    /// What is missing where other names stand in its place, in words.
    fn lacks(&self) -> Option<String> {
        let found: Vec<String> = self.unknown.iter().take(TOLD).map(|name| format!("`{}`", shown(name))).collect();
        let expected = match (&self.path, self.label.is_some() || self.captions.is_some()) {
            _ if found.is_empty() => return None,
            (None, _) => "`path`",
            (Some(_), false) => "`label` or `caption`",
            (Some(_), true) => return None,
        };
        Some(format!("expected {expected}, found {}", found.join(", ")))
    }
}

/// Unknown names that a problem repeats.
const TOLD: usize = 5;

/// Whether some line is an object with a path.
pub(super) fn fits(text: &str) -> bool {
    text.lines().any(|line| serde_json::from_str::<Object>(line).is_ok_and(|object| object.path.is_some()))
}

pub(super) fn read(text: &str, draft: &mut Draft) -> Result<()> {
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        draft.step()?;
        if draft.is_spoilt(line, i + 1) {
            continue;
        }
        let object: Object = match serde_json::from_str(line) {
            Ok(object) => object,
            Err(error) => {
                draft.problem(i + 1, reason(&error));
                continue;
            }
        };
        if let Some(words) = object.lacks() {
            draft.problem(i + 1, words);
            continue;
        }
        let row = draft.row(object.path.as_ref().map_or("", |(_, path)| path), i + 1);
        object.label.into_iter().filter_map(|(_, label)| label).for_each(|label| draft.label(row, &label, i + 1));
        object.captions.into_iter().flat_map(|(_, texts)| texts).for_each(|caption| draft.caption(row, 0, &caption, i + 1));
    }
    Ok(())
}

#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    captions: Vec<&'a str>,
}

pub(super) fn write(rows: &[TableRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let line = Line { path: &row.path, label: rows::label(row), captions: rows::captions(row).collect() };
        // Texts and lists of texts leave nothing that could fail.
        text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        text.push('\n');
    }
    text
}
