//! One JSON object a line, with the names that a header would have.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize as Read, Serialize};

use super::rows::{self, Draft, Role, role};
use super::table::TableRow;
use crate::error::Result;
use crate::once::twice;

/// The parts of an object that mean something here, each with the rank of its name.
#[derive(Default)]
struct Object {
    path: Option<(usize, String)>,
    label: Option<(usize, Words)>,
    captions: Option<(usize, Words)>,
}

#[derive(Read)]
#[serde(untagged, expecting = "expected text, a number or a list of texts")]
enum Words {
    None(()),
    One(String),
    Number(serde_json::Number),
    Many(Vec<String>),
}

impl Words {
    fn list(self) -> Vec<String> {
        match self {
            Self::None(()) => vec![],
            Self::One(text) => vec![text],
            Self::Number(number) => vec![number.to_string()],
            Self::Many(texts) => texts,
        }
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
                    match role(&name) {
                        Some((Role::Path, rank)) if is_better(rank, &out.path) => out.path = Some((rank, map.next_value()?)),
                        Some((Role::Label, rank)) if is_better(rank, &out.label) => out.label = Some((rank, map.next_value()?)),
                        Some((Role::Caption, rank)) if is_better(rank, &out.captions) => out.captions = Some((rank, map.next_value()?)),
                        _ => drop(map.next_value::<IgnoredAny>()?),
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

/// Whether some line is an object with a path.
pub(super) fn fits(text: &str) -> bool {
    text.lines().any(|line| serde_json::from_str::<Object>(line).is_ok_and(|object| object.path.is_some()))
}

pub(super) fn read(text: &str, draft: &mut Draft) -> Result<()> {
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        draft.step()?;
        let object: Object = match serde_json::from_str(line) {
            Ok(object) => object,
            Err(error) => {
                draft.problem(i + 1, reason(&error));
                continue;
            }
        };
        let row = draft.row(object.path.as_ref().map_or("", |(_, path)| path), i + 1);
        object.label.into_iter().flat_map(|(_, words)| words.list()).for_each(|label| draft.label(row, &label, i + 1));
        object.captions.into_iter().flat_map(|(_, words)| words.list()).for_each(|caption| draft.caption(row, 0, &caption));
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
