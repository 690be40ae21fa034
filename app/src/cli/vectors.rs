//! `tessera vectors`, and the vectors that `tessera import` brings.

use std::path::Path;
use std::sync::Mutex;

use anyhow::Result;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::data::named_vectors::NamedVectors;
use tessera_core::error::display;
use tessera_core::library::brought::{SET_NAME, VectorsRead, set_name};
use tessera_core::library::encoded::Encoded;
use tessera_core::library::{Library, hold};

use super::acts::tell_with;
use super::librarian::{Librarian, count};
use super::library_args::{Import, Vectors};
use super::output::{Failures, NO_IMAGE, SEVERAL_IMAGES, TOLD};
use super::{AlreadyPrinted, Done};

/// The reason that a report gives for vectors whose image was not found.
const UNMATCHED: &str = "vectors";

/// A file of vectors that was read, and the name of its set.
pub(super) struct Brought<'a> {
    file: &'a Path,
    name: String,
    vectors: NamedVectors,
}

impl<'a> Brought<'a> {
    /// Reads the file that `import` names, if it does.
    pub(super) fn read(arguments: &'a Import) -> Result<Option<Self>, Error> {
        let Some(file) = arguments.vectors.as_deref() else { return Ok(None) };
        let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = arguments.vectors_name.clone().unwrap_or_else(stem);
        let name = set_name(&name).map_err(|found| Error::Option { name: "vectors-name", found, expected: SET_NAME })?;
        Ok(Some(Self { file, name, vectors: NamedVectors::read(file)? }))
    }

    /// Takes the vectors in.
    pub(super) fn take_in(&self, librarian: &Librarian<'_>, library: &Mutex<Library>) -> Result<VectorsRead, Error> {
        let progress = librarian.session.progress();
        let read = librarian.out.watched(progress, || hold(library).bring_vectors(&self.name, &self.vectors, progress))?;
        librarian.out.note_names(self.file, &read.unmatched, &read.ambiguous);
        Ok(read)
    }

    /// Lists the lines that could not be used and the paths that are not those of one image, and
    /// says where none could be used.
    pub(super) fn report(&self, librarian: &Librarian<'_>, read: Option<&VectorsRead>, failures: &mut Failures<'_>) -> Result<()> {
        for problem in &self.vectors.problems {
            failures.bad_line(self.file, problem.line, &problem.detail)?;
        }
        for problem in self.vectors.problems.iter().take(TOLD) {
            librarian.out.note(&format!("{}, line {}: {}", display(self.file), problem.line, problem.detail));
        }
        for (names, what) in read.iter().flat_map(|read| [(&read.unmatched, NO_IMAGE), (&read.ambiguous, SEVERAL_IMAGES)]) {
            for name in names {
                let detail = format!("{} gives it a vector, and it is the name of {what}", display(self.file));
                failures.line(Path::new(name), UNMATCHED, &detail)?;
            }
        }
        if read.is_some_and(|read| read.matched == 0) {
            failures.bad_line(self.file, 0, "none of its paths is that of one image of the library")?;
            librarian.out.complain(&format!("{}: none of its paths is that of one image of the library", display(self.file)));
        }
        if self.vectors.n_problems > 0 {
            let lines = count(self.vectors.n_problems, "vector");
            librarian.out.complain(&format!("{}: {lines} could not be used", display(self.file)));
        }
        Ok(())
    }

    /// What was done, as `import` answers it.
    pub(super) fn in_json(&self, read: Option<&VectorsRead>) -> Value {
        json!({"name": self.name, "values": self.vectors.dimension, "bad": self.vectors.n_problems,
            "matched": read.map(|read| read.matched), "changed": read.map(|read| read.changed),
            "unmatched": read.map(|read| read.unmatched.len()), "ambiguous": read.map(|read| read.ambiguous.len())})
    }

    /// The same in words.
    pub(super) fn in_words(&self, read: &VectorsRead) -> String {
        let of = count(read.matched, "image");
        format!("vectors `{}` of {} values: {of}, {} new or changed", self.name, self.vectors.dimension, read.changed)
    }
}

/// Looks at all images with a network, and brings its vectors.
fn look(librarian: &Librarian<'_>, arguments: &Vectors, network: &str) -> Result<Done> {
    let mut failures = Failures::new(librarian.out, arguments.report.as_deref())?;
    let library = librarian.open(&arguments.library)?;
    librarian.with_shared(library, |library| {
        let session = librarian.session;
        let bring = || session.bring_network_vectors(library, network, arguments.name.as_deref());
        let Encoded { set, dimension, images, looked, failed, changed, act, cancelled } =
            librarian.out.watched(session.progress(), bring)?;
        for failed in &failed {
            failures.line_of(&failed.path, failed.reason, &failed.detail)?;
        }
        let missing = failed.len();
        if missing > 0 {
            librarian.out.note(&format!("{} left out (--report FILE lists them)", count(missing, "image")));
        }
        let library = hold(library);
        librarian.out.answer(
            || {
                let mut answer = json!({"name": set, "network": network, "values": dimension, "images": images, "looked": looked,
                    "missing": missing, "changed": changed, "cancelled": cancelled, "event": act.map(|act| act.0)});
                librarian.add_head(&library, &mut answer);
                answer
            },
            || {
                let of = count(images - missing, "image");
                let done = if cancelled { "; it was stopped, and what was done stays" } else { "" };
                format!("vectors `{set}` of {dimension} values: looked at {looked} of {of}, {changed} new or changed{done}")
            },
        );
        if cancelled { Err(AlreadyPrinted(Error::Cancelled).into()) } else { failures.end() }
    })
}

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Vectors) -> Result<Done> {
    if let Some(network) = &arguments.by {
        return look(librarian, arguments, network);
    }
    librarian.with(&arguments.library, |library| {
        if let Some(name) = &arguments.drop {
            let event = library.drop_vectors(name)?;
            tell_with(librarian, library, event, "", serde_json::Map::new());
            return Ok(Done::Whole);
        }
        let state = library.state();
        let values = |name: &str| state.images().find_map(|image| image.vectors.get(name)).map_or(0, |vector| vector.values().len());
        let sets: Vec<(&str, usize, usize)> =
            state.vector_sets().into_iter().map(|(name, images)| (name, images, values(name))).collect();
        librarian.out.answer(
            || json!({"sets": sets.iter().map(|(name, images, values)| json!({"name": name, "images": images, "values": values})).collect::<Vec<_>>()}),
            || {
                if sets.is_empty() {
                    return "No vectors were brought yet: `tessera import LIBRARY FOLDER --vectors FILE` does, or `tessera vectors LIBRARY --by NETWORK`."
                        .into();
                }
                let line = |(name, images, values): &(&str, usize, usize)| format!("{name}: {}, {values} values", count(*images, "image"));
                sets.iter().map(line).collect::<Vec<_>>().join("\n")
            },
        );
        Ok(Done::Whole)
    })
}
