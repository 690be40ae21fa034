//! Unfinished input is not lost, and commands apply to what is shown.

use std::path::PathBuf;

use egui::Key;
use egui::accesskit::Toggled;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tessera::command::{Command, Export, ExportFormat, ImageQuery};
use tessera::gui::dialogs::{Dialogs, Purpose, Scripted, Wants};
use tessera::gui::listing::Scope;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera::session::desk::view::{Notice, Tone};
use tessera_core::library::event::UserLabel;

use crate::keys::{selected, small};
use crate::world::{World, class_folders, picture};

/// The places of all images in the grid.
fn places(world: &World) -> Vec<egui::Rect> {
    world.harness.get_all_by_label_contains(".png, ").map(|tile| tile.rect()).collect()
}

#[test]
fn a_click_selects_in_its_frame_and_moves_nothing() {
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["a class of a rather long name", "bb"], 12);
    let mut world = World::on(images.path());
    world.rest();
    let before = places(&world);
    assert!(before.len() >= 10);
    for label in ["005.png, bb", "007.png, bb"] {
        let pos = world.harness.get_by_label(label).rect().center();
        world.harness.event(egui::Event::PointerMoved(pos));
        world.step();
        for pressed in [true, false] {
            let (button, modifiers) = (egui::PointerButton::Primary, egui::Modifiers::NONE);
            world.harness.event(egui::Event::PointerButton { pos, button, pressed, modifiers });
            world.harness.step();
        }
        assert_eq!(world.harness.get_by_label(label).accesskit_node().toggled(), Some(Toggled::True), "the frame of the click shows it");
        world.rest();
        assert_eq!(places(&world), before, "the grid stays as it was");
    }
}

#[test]
fn a_key_too_many_takes_no_import_back_without_a_question() {
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["aa", "bb"], 3);
    let mut world = World::on(images.path());
    world.rest();
    let id = world.state().images().next().unwrap().id;
    world.run(Command::Label(vec![id], UserLabel::Class("bb".into())));
    world.rest();
    world.ctrl(Key::Z);
    world.until("the label is undone", |app| app.desk().state().unwrap().image(id).unwrap().label() == Some("aa"));
    world.rest();
    for answer in [Key::Escape, Key::Enter] {
        world.ctrl(Key::Z);
        world.rest();
        assert!(world.shows("Take the import back?") && world.shows("Imported 6 images from"));
        world.key(answer);
        world.rest();
        assert_eq!(world.state().images().count(), 6);
        if answer == Key::Enter {
            world.click("Undo the import");
        }
    }
    world.until("it is undone", |app| app.desk().state().unwrap().images().count() == 0);
    world.rest();
    world.ctrl_shift(Key::Z);
    world.until("it is back", |app| app.desk().state().unwrap().images().count() == 6);
}

#[test]
fn what_is_there_already_is_replaced_only_after_a_question() {
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["aa", "bb"], 3);
    let mut world = World::on(images.path());
    world.rest();
    let imported = world.app().desk().notices().log().iter().any(|notice| notice.words == "Imported 6 images");
    assert!(imported, "one short sentence: {:?}", world.app().desk().notices().log());
    let (file, model) = (world.path("labels.csv"), world.path("toys.tessera-model"));
    let export = Export::Labels(ExportFormat::Csv);
    for (command, path) in [(Command::Export(export, file.clone()), &file), (Command::SaveModel(model.clone()), &model)] {
        world.run(command.clone());
        world.rest();
        let written_at = || std::fs::metadata(path).unwrap().modified().unwrap();
        let older = written_at();
        world.run(command.clone());
        world.rest();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(world.shows(&format!("Replace {name}?")));
        world.click("Cancel");
        assert_eq!(written_at(), older);
        world.run(command);
        world.rest();
        world.click("Replace");
        world.rest();
        assert!(written_at() > older && !world.shows("Replace "));
    }
}

#[test]
fn what_is_wrong_with_the_settings_is_told_until_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    class_folders(&folder.path().join("images"), &["aa", "bb"], 2);
    std::fs::write(folder.path().join("settings.ron"), "no settings at all").unwrap();
    let mut world = World::with(folder, [1280.0, 800.0], Box::new(Scripted::new([])));
    world.run(Command::Open(world.path("images")));
    world.until("it is open", |app| app.desk().state().is_some_and(|state| state.images().count() == 4) && !app.desk().jobs().is_busy());
    world.rest();
    assert!(world.shows("the usual settings are used"));
    // It belongs to no library; what is told later does.
    let at = world.harness.get_all_by_label_contains("the usual settings are used").next().unwrap().rect().center().y;
    let off = |node: &egui_kittest::Node<'_>| (node.rect().center().y - at).abs();
    world.harness.get_all_by_label("Close").min_by(|a, b| off(a).total_cmp(&off(b))).unwrap().click();
    world.rest();
    assert!(!world.shows("the usual settings are used"));
}

#[test]
fn a_caption_that_was_begun_is_kept_when_another_image_is_selected() {
    let mut world = small();
    world.key(Key::Home);
    let id = world.state().images().next().unwrap().id;
    world.type_into("New caption", "begun");
    world.click("002.png, bee");
    world.until("it is kept", |app| app.desk().state().unwrap().image(id).unwrap().captions.len() == 1);
    assert_eq!(world.state().image(id).unwrap().captions[0].text, "begun");
    assert_ne!(selected(&mut world), [id.0]);
    world.type_into("New caption", "given up");
    world.key(Key::Escape);
    world.rest();
    assert_eq!(world.state().images().map(|image| image.captions.len()).sum::<usize>(), 1);
}

#[test]
fn a_filter_takes_what_it_hides_out_of_the_selection() {
    let mut world = small();
    world.ctrl(Key::A);
    world.harness.state_mut().show(Scope::Class("bee".into()));
    world.step();
    assert_eq!(selected(&mut world).len(), 4);
}

#[test]
fn undo_stands_on_the_notice_of_the_newest_act_only() {
    let mut world = small();
    let id = world.state().images().next().unwrap().id;
    for class in ["bee", "cat"] {
        world.run(Command::Label(vec![id], UserLabel::Class(class.into())));
        world.until("it is labelled", |app| app.desk().state().unwrap().image(id).unwrap().label() == Some(class));
    }
    world.rest();
    assert_eq!(world.harness.query_all_by_label("Undo").count(), 1);
    world.click("Undo");
    world.until("it is undone", |app| app.desk().state().unwrap().image(id).unwrap().label() == Some("bee"));
    world.click("Undo");
    world.until("it is undone", |app| app.desk().state().unwrap().image(id).unwrap().label() == Some("ant"));
    // A key closes the notices of what it undoes as well.
    for class in ["bee", "cat"] {
        world.run(Command::Label(vec![id], UserLabel::Class(class.into())));
        world.until("it is labelled", |app| app.desk().state().unwrap().image(id).unwrap().label() == Some(class));
    }
    world.rest();
    let told = |world: &mut World, what: &str| {
        world.harness.state_mut().view_mut().toasts.iter().any(|toast| toast.notice.words.starts_with(what))
    };
    assert!(told(&mut world, "Labelled"));
    world.ctrl(Key::Z);
    world.ctrl(Key::Z);
    world.until("both are undone", |app| app.desk().state().unwrap().image(id).unwrap().label() == Some("ant"));
    world.rest();
    assert!(!told(&mut world, "Labelled") && told(&mut world, "Undone"));
}

#[test]
fn a_library_is_listed_once_however_its_path_is_written() {
    let mut world = World::without_network();
    std::fs::create_dir_all(world.path("other")).unwrap();
    for path in [world.path("other/../own.tessera"), world.path("own.tessera")] {
        world.run(Command::Close);
        world.rest();
        world.run(Command::Open(path));
        world.until("it is open again", |app| app.desk().state().is_some());
    }
    world.run(Command::Close);
    world.rest();
    assert!(world.shows("Opened lately"));
    assert_eq!(world.harness.query_all_by_label("own.tessera").count(), 1);
}

#[test]
fn notices_stand_beside_what_one_works_with() {
    let mut world = small();
    world.harness.set_size(egui::vec2(800.0, 600.0));
    let id = world.state().images().next().unwrap().id;
    world.run(Command::Label(vec![id], UserLabel::Class("bee".into())));
    world.until("it is labelled", |app| app.desk().state().unwrap().image(id).unwrap().label() == Some("bee"));
    world.rest();
    let rect = |world: &World, words: &str| world.harness.get_by_label(words).rect();
    assert!((rect(&world, "Undo").center().y - rect(&world, "Log").center().y).abs() < 4.0, "in the bar");
    let long = "this could not be done, for a reason that takes many words".repeat(4);
    world.harness.state_mut().view_mut().toasts.push(Notice::new(long.clone(), Tone::Problem));
    world.step();
    world.step();
    let (problem, bar) = (rect(&world, &long), rect(&world, "Log"));
    assert!(problem.bottom() < bar.top() && problem.height() > 30.0, "whole, above the bar: {problem:?}");
    world.key(Key::Escape);
    assert!(!world.shows("this could not be done"));
}

#[test]
fn an_image_that_is_opened_is_shown_as_it_is_recognised() {
    let mut world = small();
    let new = world.path("new.png");
    picture(1, 48).save(&new).unwrap();
    world.run(Command::Open(new.clone()));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Recognise);
    // A model answers without a library.
    let model = world.path("m.tessera-model");
    world.run(Command::SaveModel(model.clone()));
    world.until("it is saved", |app| app.desk().notices().log().iter().any(|notice| notice.words.starts_with("Saved the model")));
    world.rest();
    world.ctrl(Key::W);
    world.until("the library is closed", |app| app.desk().state().is_none());
    world.run(Command::Open(model));
    world.until("it is loaded", |app| app.desk().recognising().loaded_model().is_some());
    assert!(world.shows("Choose an image"));
    world.run(Command::Open(new));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    assert!(world.shows("Everything the score is the sum of"));
}

#[test]
fn another_library_begins_in_browse_without_the_search_and_the_filter_of_the_last() {
    let mut world = small();
    world.harness.state_mut().show(Scope::Class("bee".into()));
    world.ctrl(Key::F);
    world.type_into("Search", "bee");
    world.until("they are found", |app| app.desk().searching().hits().is_some());
    world.harness.state_mut().turn_to(Page::Label);
    let other = world.path("other");
    class_folders(&other, &["one", "two"], 2);
    world.run(Command::Open(other));
    world.until("the other is open", |app| app.desk().name() == Some("other") && !app.desk().jobs().is_busy());
    let view = world.harness.state_mut().view_mut();
    assert!(view.search.text.is_empty() && view.shown.scopes.is_empty() && view.shown.list().len() == 4);
    assert_eq!(view.page, Page::Browse);
    assert!(world.app().desk().searching().hits().is_none());
    // The same one that is opened again goes on where it was.
    world.harness.state_mut().turn_to(Page::Library);
    let same = world.app().desk().source().unwrap().to_owned();
    world.harness.state_mut().view_mut().search.text = "one".into();
    world.run(Command::Open(same));
    world.rest();
    world.until("it is open again", |app| app.desk().state().is_some() && !app.desk().jobs().is_busy());
    let view = world.harness.state_mut().view_mut();
    assert_eq!((view.search.text.as_str(), view.page), ("", Page::Library));
}

#[test]
fn hits_are_as_many_as_the_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("settings.ron"), "{\"hits\": 3, \"scale\": 0.6}").unwrap();
    let images = folder.path().join("images");
    class_folders(&images, &["ant", "bee"], 5);
    let mut world = World::with(folder, [1280.0, 800.0], Box::new(Scripted::new([])));
    world.run(Command::Open(images));
    world.until("it is open", |app| app.desk().state().is_some_and(|state| state.images().count() == 10) && !app.desk().jobs().is_busy());
    world.run(Command::Search("bee".into()));
    world.until("they are found", |app| app.desk().searching().hits().is_some_and(|hits| hits.hits.len() == 3));
    world.harness.state_mut().view_mut().open(Modal::Settings);
    world.rest();
    assert!((world.harness.ctx.zoom_factor() - 0.6).abs() < 1e-6, "looking at the settings changes none");
}

/// A dialog that stays open.
#[derive(Default)]
struct Patient(bool);

impl Dialogs for Patient {
    fn are_there(&self) -> bool {
        true
    }

    fn ask(&mut self, _: Purpose, _: Wants, _: (PathBuf, Option<String>), _: Box<dyn FnOnce() + Send>) {
        self.0 = true;
    }

    fn poll(&mut self) -> Option<(Purpose, Option<PathBuf>)> {
        None
    }

    fn is_open(&self) -> bool {
        self.0
    }

    fn give_up(&mut self) {
        self.0 = false;
    }
}

#[test]
fn a_path_typed_beside_an_open_dialog_counts() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("images");
    class_folders(&images, &["ant", "bee"], 2);
    let other = folder.path().join("other");
    class_folders(&other, &["one"], 1);
    let mut world = World::with(folder, [1280.0, 800.0], Box::new(Patient::default()));
    world.run(Command::Open(other));
    world.until("the first is open", |app| app.desk().state().is_some() && !app.desk().jobs().is_busy());
    world.ctrl(Key::O);
    assert!(world.shows("Browse files…"));
    world.click("Browse folders…");
    assert!(world.shows("Give up on the system's dialog"));
    world.harness.state_mut().view_mut().draft.text.clear();
    world.type_into("Path", images.to_str().unwrap());
    world.key(Key::Enter);
    world.until("it is shown what would be imported", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
    world.step();
    world.key(Key::Enter);
    world.until("it is open", |app| app.desk().state().is_some_and(|state| state.images().count() == 4));
}

#[test]
fn a_picture_that_cannot_be_read_says_why() {
    let mut world = small();
    world.key(Key::Home);
    let path = world.state().path_of(world.state().images().next().unwrap()).unwrap();
    std::fs::write(&path, b"no image").unwrap();
    world.key(Key::Enter);
    world.until("it is tried", |app| app.desk().pictures().shown().is_some_and(|(_, picture)| picture.is_err()));
    world.key(Key::ArrowRight);
    world.until("the next is there", |app| app.desk().pictures().shown().is_some_and(|(_, picture)| picture.is_ok()));
    world.key(Key::Escape);
    world.step();
    assert!(world.app().desk().pictures().shown().is_none(), "what is looked at no more is let go of");
    world.run(Command::Recognise(ImageQuery::File(path)));
    world.until("it is said", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("000.png")));
}
