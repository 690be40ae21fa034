//! `tessera duplicates`.

use std::sync::Mutex;

use anyhow::Result;
use serde_json::json;
use tessera_core::error::display;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::copies::{Copies, Copy, find_copies};
use tessera_core::library::state::State;
use tessera_core::library::{Library, hold};

use super::Done;
use super::acts::{clear, tell_with};
use super::librarian::{Finder, Librarian, count};
use super::library_args::Duplicates;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Duplicates) -> Result<Done> {
    for (pair, is_said) in [(&arguments.not_copies, true), (&arguments.maybe_copies, false)] {
        if let [one, other] = pair.as_slice() {
            return librarian.with(&arguments.library, |library| {
                let mut finder = Finder::default();
                let (one, other) = (finder.find(library, one)?, finder.find(library, other)?);
                let event = library.not_copies(one, other, is_said)?;
                tell_with(librarian, library, event, "", serde_json::Map::new());
                Ok(Done::Whole)
            });
        }
    }
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let (session, out) = (librarian.session, librarian.out);
        let distance = arguments.distance;
        let found = out.watched(session.progress(), || session.on_threads(|| find_copies(library, distance, session.progress())))?;
        let state = hold(library).state().clone();
        let views: usize = found.groups.iter().map(|group| state.views_among(group[0].image, group.iter().map(|copy| copy.image))).sum();
        if views > 0 {
            let words = "may be other views of one object, as folders or names tell; `--not-copies` says that two are no copies";
            out.note(&format!("{} of these {words}", count(views, "image")));
        }
        if arguments.keep_best {
            return keep_best(librarian, library, &found, arguments.to_bin);
        }
        let shown = &found.groups[..found.groups.len().min(arguments.k.unwrap_or(usize::MAX))];
        out.answer(
            || {
                let file = |copy: &Copy| {
                    let (size, bytes) = size(&state, copy);
                    json!({"image": copy.image.0, "path": copy.path.to_string_lossy(), "distance": rounded(copy.distance),
                        "transform": copy.relation.to_string(), "width": size.0, "height": size.1, "bytes": bytes})
                };
                let groups: Vec<Vec<_>> = shown.iter().map(|group| group.iter().map(file).collect()).collect();
                json!({"groups": groups, "pairs": found.pairs, "found": found.groups.len(), "files": found.files(), "images": found.images,
                    "distance": distance, "flat": found.flat, "unread": found.unread, "views": views})
            },
            || in_words(&state, &found, shown),
        );
        Ok(Done::Whole)
    })
}

/// Removes all images of each group but its best, which takes over their captions.
fn keep_best(librarian: &Librarian<'_>, library: &Mutex<Library>, found: &Copies, to_bin: bool) -> Result<Done> {
    let cleared: Vec<Clearance> = found.groups.iter().filter_map(|group| Clearance::keeping(group[0].image, group)).collect();
    if to_bin {
        return clear(librarian, library, &cleared);
    }
    let mut library = hold(library);
    let event = if cleared.is_empty() { None } else { library.clear(&cleared, false)? };
    tell_with(librarian, &library, event, "", serde_json::Map::new());
    Ok(Done::Whole)
}

/// Hundredths of a percent are enough.
fn rounded(distance: f64) -> f64 {
    (100.0 * distance).round() / 100.0
}

/// Width and height of a file's picture, and its bytes.
fn size(state: &State, copy: &Copy) -> ((u32, u32), u64) {
    let content = state.image(copy.image).and_then(|image| image.content);
    content.map_or(((0, 0), 0), |content| (content.size, content.bytes))
}

fn in_words(state: &State, found: &Copies, shown: &[Vec<Copy>]) -> String {
    let mut lines = vec![match found.groups.len() {
        0 => format!("No copies among {}", count(found.images, "image")),
        n => format!("{} of {}", count(n, "group"), count(found.files(), "file")),
    }];
    for group in shown {
        lines.push(String::new());
        for copy in group {
            let ((width, height), bytes) = size(state, copy);
            let what = if *copy == group[0] { "the best".to_owned() } else { format!("{}, {:.2}", copy.relation, copy.distance) };
            lines.push(format!("#{} {}  {width} x {height}, {bytes} bytes: {what}", copy.image.0, display(&copy.path)));
        }
    }
    if shown.len() < found.groups.len() {
        lines.push(format!("\n{} more", count(found.groups.len() - shown.len(), "group")));
    }
    if found.flat > 0 {
        lines.push(format!("\nOf {} without detail only files of the same bytes count as copies.", count(found.flat, "image")));
    }
    if found.unread > 0 {
        lines.push(format!("\n{} could not be looked at.", count(found.unread, "image")));
    }
    lines.join("\n")
}
