//! Every view, visited without images, with one, with many, and with long and foreign names.

use std::path::Path;
use std::time::Instant;

use tessera::command::{Command, ImageQuery};
use tessera::gui::listing::Scope;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera::gui::selection::Selection;
use tessera::gui::toasts::{STAY, Toasts};
use tessera::gui::view::Viewer;
use tessera::session::desk::view::{Notice, Tone};
use tessera_core::ids::ItemId;
use tessera_core::library::clusters::ClusterAim;
use tessera_core::library::event::{Caption, UserLabel};

use crate::similar::opened;
use crate::world::{World, picture};

/// A view: how to get there, and the text it shows without images and with them.
struct Visit {
    name: &'static str,
    go: fn(&mut World),
    empty: &'static str,
    full: &'static str,
}

fn page(world: &mut World, page: Page) {
    world.harness.state_mut().turn_to(page);
}

fn modal(world: &mut World, modal: Modal) {
    world.harness.state_mut().view_mut().open(modal);
}

fn search(world: &mut World) {
    page(world, Page::Browse);
    world.run(Command::Search("nothing like it".into()));
    world.until("the answer is there", |app| app.desk().searching().hits().is_some());
}

/// The library's health, which may wait for an index that is being made.
fn health(world: &mut World) {
    page(world, Page::Library);
    world.until("it is known", |app| app.desk().upkeep().health().is_some() && app.desk().upkeep().memory().is_some());
}

/// The images that are like the first one, if there is any.
fn similar(world: &mut World) {
    page(world, Page::Similar);
    world.step();
    let first = world.state().images().next().map(|image| image.id);
    if let Some(first) = first {
        world.run(Command::Similar(ImageQuery::Item(first), None));
        world.until("it is compared", |app| app.desk().similar().answer().is_some());
    }
}

/// The map, if there are images.
fn map(world: &mut World) {
    page(world, Page::Map);
    world.step();
    if world.state().images().next().is_some() {
        world.until("it is laid out", |app| app.desk().map().shown().is_some_and(|map| map.trust.is_some()));
    }
}

/// The clusters of all images, if there are any.
fn clusters(world: &mut World) {
    page(world, Page::Clusters);
    world.step();
    if world.state().images().next().is_some() {
        world.run(Command::FindClusters(ClusterAim::default()));
        world.until("they are found", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() > 0));
    }
}

/// All views.
const VIEWS: &[Visit] = &[
    Visit { name: "browse", go: |w| page(w, Page::Browse), empty: "No images yet", full: "image" },
    Visit { name: "recognise", go: |w| page(w, Page::Recognise), empty: "No image yet", full: "Choose an image" },
    Visit { name: "train", go: |w| page(w, Page::Train), empty: "Nothing learned yet", full: "learned" },
    Visit { name: "models", go: |w| page(w, Page::Models), empty: "None yet.", full: "This library's recogniser" },
    Visit { name: "library", go: health, empty: "None yet.", full: "all there" },
    Visit { name: "copies", go: |w| page(w, Page::Copies), empty: "Copies in this library", full: "Copies in this library" },
    Visit { name: "similar", go: similar, empty: "No images yet", full: "Recall" },
    Visit { name: "map", go: map, empty: "No images yet", full: "Map of" },
    Visit { name: "clusters", go: clusters, empty: "No images yet", full: "tried" },
    Visit { name: "hits", go: search, empty: "Nothing answers", full: "Nothing answers" },
    Visit { name: "settings", go: |w| modal(w, Modal::Settings), empty: "Appearance", full: "Appearance" },
    Visit { name: "history", go: |w| modal(w, Modal::History), empty: "Nothing was done yet", full: "Import" },
    Visit { name: "log", go: |w| modal(w, Modal::Log), empty: "Log", full: "Log" },
    Visit { name: "keys", go: |w| modal(w, Modal::Keys), empty: "Keyboard", full: "Keyboard" },
    Visit { name: "about", go: |w| modal(w, Modal::About), empty: "Licences", full: "Licences" },
    Visit { name: "palette", go: |w| modal(w, Modal::Palette), empty: "Open…", full: "Open…" },
    Visit { name: "class name", go: |w| modal(w, Modal::ClassName(None)), empty: "New class", full: "New class" },
    Visit { name: "path", go: |w| modal(w, Modal::Path(tessera::gui::dialogs::Purpose::Open)), empty: "Open", full: "Open" },
];

/// Visits every view and makes sure that it says what it should.
#[track_caller]
fn visit_all(world: &mut World, is_empty: bool) {
    for visit in VIEWS {
        (visit.go)(world);
        world.rest();
        let words = if is_empty { visit.empty } else { visit.full };
        assert!(world.shows(words), "{} does not say {words:?}", visit.name);
        world.harness.state_mut().view_mut().modal = None;
        world.run(Command::Search(String::new()));
    }
    if !is_empty {
        page(world, Page::Browse);
        let first = world.state().images().next().unwrap().id;
        world.harness.state_mut().view_mut().selection.set([first]);
        world.step();
        assert!(world.shows("Captions"), "the inspector shows the image");
        world.harness.state_mut().view_mut().viewer = Some(Viewer::default());
        world.rest();
        assert!(world.shows("Picture of"), "the viewer shows it");
        world.harness.state_mut().view_mut().viewer = None;
    }
}

/// A library in a folder of the world's own.
fn library(world: &mut World) {
    let folder = world.path("own.tessera");
    Session::open(&folder);
    world.run(Command::Open(folder));
    world.until("the library is open", |app| app.desk().state().is_some());
}

/// Makes an empty library without learned features, which would take most of the time of an import.
struct Session;

impl Session {
    fn open(folder: &Path) {
        let session = tessera::session::Session::new(1, 0).unwrap();
        let mut library = session.open_or_create_library(folder).unwrap();
        library.set_learned_features(false, &tessera_core::progress::Progress::default()).unwrap();
        library.close().unwrap();
    }
}

#[test]
fn the_first_page_says_what_to_do() {
    let world = World::new(&[]);
    for words in ["Try the sample", "Open a folder or library", "Nothing leaves it", "What it can do, and what it cannot"] {
        assert!(world.shows(words), "{words}");
    }
}

#[test]
fn views_without_images() {
    let mut world = World::new(&[]);
    library(&mut world);
    visit_all(&mut world, true);
}

#[test]
fn views_with_one_image() {
    let images = tempfile::tempdir().unwrap();
    picture(1, 40).save(images.path().join("one.png")).unwrap();
    let mut world = World::on(images.path());
    visit_all(&mut world, false);
}

#[test]
fn a_library_whose_images_are_gone_says_that_it_has_none() {
    let images = tempfile::tempdir().unwrap();
    picture(1, 40).save(images.path().join("one.png")).unwrap();
    let mut world = World::on(images.path());
    world.rest();
    world.harness.state_mut().show(Scope::Untagged);
    world.step();
    world.run(Command::Undo);
    world.until("the import is undone", |app| app.desk().state().is_some_and(|state| state.images().next().is_none()));
    world.rest();
    assert!(world.shows("No images yet") && !world.shows("filters"));
    assert!(world.harness.state_mut().view_mut().shown.scopes.is_empty());
}

#[test]
fn views_with_long_and_foreign_names() {
    let images = tempfile::tempdir().unwrap();
    let long = "a".repeat(180);
    let classes = ["日本語のクラス", "كلاس عربي", &long, "Ünïcödé — класс", "🦉"];
    for (i, class) in classes.iter().enumerate() {
        std::fs::create_dir(images.path().join(class)).unwrap();
        for k in 0..2 {
            picture((10 * i + k) as u32, 40).save(images.path().join(class).join(format!("{class}{k}.png"))).unwrap();
        }
    }
    let mut world = World::on(images.path());
    world.rest();
    let first = world.state().images().next().unwrap().id;
    let captions = ["ein sehr langer Satz ".repeat(60), "キャプション".into(), "נסיון".into()];
    let captions = captions.into_iter().map(|text| Caption { text, by_user: true }).collect();
    world.run(Command::Caption(first, captions));
    world.run(Command::Recognise(ImageQuery::Item(first)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    assert!(world.shows("Everything the score is the sum of"));
    page(&mut world, Page::Browse);
    world.run(Command::Search("キャプション".into()));
    world.until("it is found", |app| app.desk().searching().hits().is_some_and(|hits| hits.hits.len() == 1));
    assert!(world.shows("キャプション"));
    world.run(Command::Search(String::new()));
    world.harness.state_mut().view_mut().shown.scopes.clear();
    visit_all_but(&mut world, &["recognise"]);
}

#[test]
fn views_with_ten_thousand_images() {
    let images = tempfile::tempdir().unwrap();
    for number in 0..10_000 {
        let folder = images.path().join(format!("folder {:02}", number / 500));
        if number % 500 == 0 {
            std::fs::create_dir(&folder).unwrap();
        }
        picture(number, 8).save(folder.join(format!("{number:05}.png"))).unwrap();
    }
    let mut world = World::new(&[]);
    library(&mut world);
    let labels = tessera_core::data::Labels::None;
    world.run(Command::Import { folder: images.path().to_owned(), labels, exclude: Vec::new(), table: None });
    world.until("they are imported", |app| app.desk().state().unwrap().images().count() == 10_000 && !app.desk().jobs().is_busy());
    visit_all_but(&mut world, &["train", "recognise"]);
    // Made in the background since the import.
    similar(&mut world);
    world.until("an index answers", |app| app.desk().similar().answer().is_some_and(|answer| answer.search.recall.is_some()));
    assert!(world.shows("measured on your images") && world.shows("of 9,999 compared") && world.shows("Recall of the index"));
    world.run(Command::SimilarRecall(1.0));
    world.until("all are compared", |app| app.desk().similar().answer().is_some_and(|answer| answer.search.recall.is_none()));
    assert!(world.shows("all 9,999 images compared"));
    page(&mut world, Page::Browse);
    world.key(egui::Key::End);
    world.rest();
    let all: Vec<_> = world.state().images().map(|image| image.id).collect();
    world.run(Command::Label(all[..6000].to_vec(), UserLabel::Class("many".into())));
    world.until("they are labelled", |app| {
        app.desk().state().unwrap().images().filter(|image| image.label() == Some("many")).count() == 6000
    });
    world.run(Command::Undo);
    world.until("all is as before", |app| app.desk().state().unwrap().images().all(|image| image.label().is_none()));
    // The index is kept with the library, and not made again.
    world.run(Command::Close);
    world.until("it is closed", |app| app.desk().state().is_none());
    let session = || tessera::session::Session::new(1, 0).unwrap();
    let library = std::sync::Mutex::new(opened(&session(), &world.path("own.tessera")));
    let session = session();
    session.grow_looks(&library, None).unwrap();
    assert_eq!(session.progress().snapshot().stage, "", "nothing was to be done");
}

fn visit_all_but(world: &mut World, but: &[&str]) {
    for visit in VIEWS.iter().filter(|visit| !but.contains(&visit.name)) {
        (visit.go)(world);
        world.rest();
        assert!(world.shows(visit.full), "{} does not say {:?}", visit.name, visit.full);
        world.harness.state_mut().view_mut().modal = None;
        world.run(Command::Search(String::new()));
    }
}

#[test]
fn a_list_is_scrolled_once_to_the_first_of_the_images_that_were_selected_elsewhere() {
    let list = [8, 5, 3, 9].map(ItemId);
    let mut selection = Selection::default();
    selection.set([ItemId(3), ItemId(5)]);
    assert_eq!(selection.take_sought(&list), None);
    selection.seek();
    assert_eq!((selection.take_sought(&list), selection.take_sought(&list)), (Some(1), None));
    let mut world = World::new(&[]);
    let view = world.harness.state_mut().view_mut();
    view.turn_to(Page::Map);
    view.selection.set([ItemId(9)]);
    view.turn_to(Page::Browse);
    assert_eq!(view.selection.take_sought(&list), Some(3));
    view.select_on(Page::Browse, [ItemId(5)]);
    assert_eq!(view.selection.take_sought(&list), Some(1));
}

#[test]
fn a_problem_is_shown_until_something_succeeds() {
    let mut toasts = Toasts::default();
    let shown = |toasts: &Toasts| toasts.iter().map(|toast| toast.notice.words.clone()).collect::<Vec<_>>();
    let start = Instant::now();
    toasts.push_at(Notice::new("this failed", Tone::Problem), start);
    toasts.push_at(Notice::new("by the way", Tone::Note), start);
    assert_eq!(shown(&toasts), ["this failed", "by the way"]);
    toasts.push_at(Notice::new("something else is done", Tone::Done), start);
    assert_eq!(shown(&toasts), ["this failed", "by the way", "something else is done"], "there was no time to read it");
    toasts.push_at(Notice::new("this is done", Tone::Done), start + STAY);
    assert_eq!(shown(&toasts), ["something else is done", "this is done"]);
    toasts.push_at(Notice::new("this failed again", Tone::Problem), start + STAY);
    toasts.push_at(Notice::new("this failed again", Tone::Problem), start + STAY);
    assert_eq!(shown(&toasts).iter().filter(|words| *words == "this failed again").count(), 1, "the same stands once");
}
