//! A library: images are imported, labelled and captioned, found by words, and one undo takes the
//! last act back everywhere.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::{Arc, Mutex};

use tessera_core::Result;
use tessera_core::data::tables;
use tessera_core::data::toys::{ToyOptions, generate};
use tessera_core::error::Error;
use tessera_core::library::event::UserLabel;
use tessera_core::library::import::{ImportOptions, hold, import};
use tessera_core::library::search::{LibraryQuery, search};
use tessera_core::library::{Library, LibraryOptions};
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;
use tessera_core::text::TextQuery;

/// Prints the first three images that are found.
fn show(library: &Library, words: &str) {
    println!("{words}:");
    for hit in search(library, &LibraryQuery::words(TextQuery::parse(words), 3)) {
        let name = library.state().image(hit.image).map(|image| image.name()).unwrap_or_default();
        println!("  {:.2} {name}: {}", hit.score, hit.caption.unwrap_or_default());
    }
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let progress = Progress::default();
    let images = folder.path().join("images");
    generate(&ToyOptions { instances: 2, views: 3, side: 64, ..ToyOptions::default() }, &images, &progress)?;

    // The images stay where they are; the library keeps their labels and captions.
    let opening = LibraryOptions::new(Arc::new(InProcess::default()), &progress);
    let library = Mutex::new(Library::open_or_create(&folder.path().join("toys.tessera"), &opening)?);
    let imported = import(&library, &images, &ImportOptions::default(), &progress)?;
    println!("{} images imported, of {} classes", imported.imported, hold(&library).state().classes().len());

    let mut library = hold(&library);
    library.read_table(&tables::read(&images.join("captions.tsv"), &progress)?, "captions.tsv")?;
    show(&library, "striped boat");
    let first = library.state().images().take(2).map(|image| image.id).collect::<Vec<_>>();
    library.label(&first, &UserLabel::Class("treasure".into()))?;
    show(&library, "treasure");
    if let Some((act, _)) = library.undo()? {
        println!("taken back: {}", act.words);
    }
    show(&library, "treasure");
    Ok(())
}
