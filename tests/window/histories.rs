//! A library whose database and journal went apart, a damaged one, and backups, in the window.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egui::Key;
use tessera::command::{Command, ImageQuery, Restoration};
use tessera::gui::App;
use tessera::gui::dialogs::Purpose;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera::job::JobKind;
use tessera::session::Session;
use tessera::session::desk::view::Notice;
use tessera_core::ids::ItemId;
use tessera_core::library::DATABASE;
use tessera_core::library::event::UserLabel;

use crate::world::{World, class_folders};

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let place = to.join(entry.file_name().unwrap());
        if entry.is_dir() { copy_folder(&entry, &place) } else { fs::copy(&entry, place).map(drop).unwrap() }
    }
}

fn label(world: &mut World, image: ItemId, class: &str) {
    world.run(Command::Label(vec![image], UserLabel::Class(class.into())));
    world.until("it is labelled", |app| app.desk().state().unwrap().image(image).unwrap().label() == Some(class));
}

/// Closes the open library. Returns its folder.
fn close(world: &mut World) -> PathBuf {
    let folder = world.app().desk().folder().unwrap().to_owned();
    world.run(Command::Close);
    world.until("it is closed", |app| app.desk().state().is_none());
    world.rest();
    // Until nothing holds it any more.
    let session = Session::new(1, 0).unwrap();
    world.until("it can be opened", |_| session.open_library(&folder).is_ok());
    folder
}

fn open(world: &mut World, folder: &Path) {
    world.run(Command::Open(folder.to_owned()));
    world.until("it is open", |app| {
        let desk = app.desk();
        desk.folder() == Some(folder) && desk.is_ready() && !desk.jobs().is_busy()
    });
}

/// Runs frames until it is asked where to restore a backup.
fn until_asked(world: &mut World) {
    let start = Instant::now();
    while !world.shows("Make this library of it") {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain until it is asked where");
        world.step();
    }
}

fn is_told(world: &World, words: &str) -> bool {
    world.app().desk().notices().log().iter().any(|notice| notice.words.contains(words))
}

#[test]
fn of_two_histories_one_is_gone_on_with_and_the_other_saved() {
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["ring", "square"], 3);
    let mut world = World::on(images.path());
    world.rest();
    let one = world.state().images().next().unwrap().id;
    let library = close(&mut world);
    let copy = library.with_file_name("copy.tessera");
    copy_folder(&library, &copy);
    for (folder, class) in [(&library, "here"), (&copy, "there")] {
        open(&mut world, folder);
        label(&mut world, one, class);
        close(&mut world);
    }
    fs::copy(copy.join("journal.jsonl"), library.join("journal.jsonl")).unwrap();
    world.run(Command::Open(library.clone()));
    world.until("both are shown", |app| app.desk().opening().damaged().is_some() && !app.desk().jobs().is_busy());
    for words in ["This library has two histories", "The database: 1 event", "The journal: 1 event", "as here", "as there"] {
        assert!(world.shows(words), "{words}");
    }
    world.click("Go on with the journal");
    world.until("it is open", |app| app.desk().is_ready() && !app.desk().jobs().is_busy());
    assert_eq!(world.state().image(one).unwrap().label(), Some("there"));
    let stem = library.file_stem().unwrap().to_string_lossy().into_owned();
    let other = library.with_file_name(format!("{stem}-2.tessera"));
    assert!(is_told(&world, &format!("The other history is saved as {}", other.display())));
    open(&mut world, &other);
    assert_eq!(world.state().image(one).unwrap().label(), Some("here"));
}

#[test]
fn a_damaged_library_is_repaired() {
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["ring"], 3);
    let mut world = World::on(images.path());
    world.rest();
    let library = close(&mut world);
    fs::write(library.join(DATABASE), b"no database").unwrap();
    world.run(Command::Open(library));
    world.until("the damage is shown", |app| app.desk().opening().damaged().is_some() && !app.desk().jobs().is_busy());
    assert!(world.shows("This library is damaged"));
    world.click("Repair it");
    world.until("it is open", |app| app.desk().is_ready() && !app.desk().jobs().is_busy());
    assert_eq!(world.state().images().count(), 3);
    assert!(is_told(&world, "Repaired: 1 event taken from"));
}

#[test]
fn a_backup_is_restored() {
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["ring", "square"], 3);
    let mut world = World::on(images.path());
    world.rest();
    let one = world.state().images().next().unwrap().id;
    let backup = world.path("toys backup");
    world.run(Command::BackUp(backup.clone()));
    world.rest();
    assert!(is_told(&world, "labels, captions and what was learned; image files stay where they are"));
    assert!(is_told(&world, "holds 1 event; the fingerprint of its history (its head) is 1:"));
    label(&mut world, one, "later");
    let library = world.app().desk().folder().unwrap().to_owned();
    // In the place of the library that is open, as is proposed.
    world.run(Command::Open(backup.clone()));
    until_asked(&mut world);
    assert!(world.shows("1 event of history") && world.shows("the place of the library that is open"));
    world.click("Restore");
    world.until("it is restored", |app| app.desk().is_ready() && app.desk().state().unwrap().image(one).unwrap().label() != Some("later"));
    world.rest();
    assert!(is_told(&world, "Restored from") && is_told(&world, "what was there is now"));
    assert_eq!(world.app().desk().folder(), Some(&*library));
    // Without a library, under a new name beside it, by the keyboard.
    close(&mut world);
    world.type_into("Path", backup.to_str().unwrap());
    world.key(Key::Enter);
    until_asked(&mut world);
    world.key(Key::Enter);
    world.until("it is restored", |app| app.desk().is_ready() && !app.desk().jobs().is_busy());
    assert_eq!(world.app().desk().folder(), Some(&*world.path("toys.tessera")));
    assert_eq!(world.state().images().count(), 6);
    // Another folder is none.
    world.run(Command::LookAtBackup(images.path().to_owned()));
    world.until("it is told", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("backup.json")));
}

/// Says on the page Library where the only folder that is away is now.
fn say_where(world: &mut World, now: &Path) {
    world.click("It moved…");
    assert!(matches!(world.harness.state_mut().view_mut().modal, Some(Modal::Path(Purpose::Relocate(_)))));
    world.step();
    assert!(world.shows("It was /"));
    world.harness.state_mut().view_mut().draft.text.clear();
    world.type_into("Path", now.to_str().unwrap());
    world.key(Key::Enter);
}

#[test]
fn a_library_that_was_given_away_is_told_where_its_images_are() {
    let folder = tempfile::tempdir().unwrap();
    let place = fs::canonicalize(folder.path()).unwrap();
    let (pictures, moved, wrong) = (place.join("pictures"), place.join("moved"), place.join("wrong"));
    class_folders(&pictures, &["ring", "square"], 3);
    fs::create_dir(&wrong).unwrap();
    let mut world = World::on(&pictures);
    world.rest();
    let one = world.state().images().next().unwrap().id;
    let backup = world.path("toys backup");
    world.run(Command::BackUp(backup.clone()));
    world.rest();
    close(&mut world);
    fs::rename(&pictures, &moved).unwrap();
    let given = world.path("given.tessera");
    world.run(Command::RestoreBackup(Restoration { from: backup, to: given.clone(), other_history: false }));
    world.until("it is restored", |app| app.desk().folder() == Some(&*given) && app.desk().is_ready());
    assert!(is_told(&world, "press It moved… beside their folder"));
    // Why it is not judged is told once.
    let why = |notice: &Notice| notice.words.contains("6 labelled images whose features are not in cache.db");
    world.run(Command::Evaluate);
    world.until("why is told", |app| app.desk().notices().log().iter().any(why));
    world.until("nothing runs", |app| [JobKind::Judge, JobKind::LookWithNetwork].iter().all(|kind| !app.desk().jobs().is_running(kind)));
    world.rest();
    let told: Vec<Notice> = world.app().desk().notices().log().iter().filter(|notice| why(notice)).cloned().collect();
    assert!(told.len() == 1 && told[0].words.contains("It moved…"), "{told:?}");
    // Where they are not is refused in a sentence.
    world.harness.state_mut().turn_to(Page::Library);
    let is_away = |app: &App| app.desk().upkeep().health().is_some_and(|health| health.roots.iter().any(|root| !root.is_here));
    world.until("it is away", is_away);
    say_where(&mut world, &wrong);
    world.until("it is refused", |app| {
        app.desk().notices().log().iter().any(|notice| notice.words.contains("which has none of the files of"))
    });
    world.rest();
    assert_eq!(world.state().roots().next().unwrap().1.path, pictures);
    // Where they are, they are found and learned.
    say_where(&mut world, &moved);
    world.until("they are found", |app| {
        app.desk().notices().log().iter().any(|notice| notice.words.contains("6 images found, none is missing"))
    });
    world.until("it is seen", |app| !is_away(app));
    world.rest();
    assert!(!world.shows("not there now"));
    let image = world.state().image(one).unwrap().clone();
    assert!(world.state().path_of(&image).unwrap().starts_with(&moved));
    world.run(Command::Recognise(ImageQuery::Item(one)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    // It is an act like others.
    world.run(Command::Undo);
    world.until("it is undone", |app| app.desk().state().unwrap().roots().next().unwrap().1.path == pictures);
}
