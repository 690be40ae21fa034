//! A folder is shown as it would be imported, before it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::Key;
use egui::accesskit::{Role, Toggled};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use image::{GrayImage, Luma};
use tessera::command::Command;
use tessera::gui::App;
use tessera::gui::dialogs::Purpose;
use tessera::gui::listing::Scope;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera_core::data::Labels;
use tessera_core::library::import::ImportOptions;

use crate::world::{World, class_folders, picture};

/// Two animals in numbered folders with maps beside the pictures, a table, and a text.
fn numbered(to: &Path) {
    let mut captions = String::new();
    for (folder, animal) in ["cow", "dog"].into_iter().enumerate() {
        let folder_path = to.join((folder + 1).to_string());
        fs::create_dir_all(folder_path.join("maps")).unwrap();
        for (object, view) in (1..3u32).flat_map(|object| (0..4u32).map(move |view| (object, view))) {
            let stem = format!("{animal}{object}-066-{:03}", view * 30);
            let number = folder as u32 * 100 + object * 10 + view;
            captions += &format!("{stem}.png\ta spotted {animal}\n");
            picture(number, 48).save(folder_path.join(format!("{stem}.png"))).unwrap();
            let map = GrayImage::from_fn(48, 48, |x, y| Luma([if x + y > number % 48 { 255 } else { 0 }]));
            map.save(folder_path.join(format!("maps/{stem}-map.png"))).unwrap();
        }
    }
    fs::write(to.join("captions.tsv"), captions + "nobody.png\ta ghost\n").unwrap();
    fs::write(to.join("1/notes.xyz"), "text").unwrap();
}

/// A window on a library with six images, and a folder that is being planned.
fn planning() -> World {
    let mut world = World::new(&[]);
    class_folders(&world.path("first"), &["aa", "bb"], 3);
    numbered(&world.path("set"));
    world.run(Command::Open(world.path("first")));
    world.until("the first are there", |app| app.desk().state().is_some_and(|state| state.images().count() == 6));
    world.rest();
    let set = world.path("set");
    world.harness.input_mut().dropped_files.push(Arc::new(Dropped(set)));
    world.step();
    world.until("it is planned", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
    world.step();
    world
}

/// A folder as the system hands it in.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("a folder".into())
    }
}

fn imported(world: &mut World, n: usize) {
    world.until("they are imported", |app| app.desk().state().is_some_and(|state| state.images().count() == n));
    world.rest();
}

#[test]
fn a_dropped_folder_is_shown_before_it_is_imported() {
    let mut world = planning();
    for words in [
        "Import set",
        "16 images  ·  2 classes  ·  4 objects  ·  16 masks left out",
        "Names of files",
        "mask of 1/cow1-066",
        "a spotted cow",
    ] {
        assert!(world.shows(words), "{words}");
    }
    assert_eq!(world.state().images().count(), 6, "nothing is imported yet");
    world.key(Key::Enter);
    imported(&mut world, 22);
    let classes: Vec<&str> = world.state().classes().into_iter().map(|(name, _)| name).collect();
    assert_eq!(classes, ["aa", "bb", "cow", "dog"]);
    assert!(world.state().images().any(|image| image.captions.iter().any(|caption| caption.text == "a spotted cow")));
    assert!(world.harness.state_mut().view_mut().modal.is_none());
}

#[test]
fn what_was_chosen_is_what_is_imported() {
    let mut world = planning();
    world.harness.get_by_role_and_label(Role::RadioButton, "Folders").click();
    world.step();
    world.until("it is planned anew", |app| {
        app.desk().planning().now().is_some_and(|now| now.is_current && now.options.labels == Labels::ClassFolders)
    });
    world.type_into("Pattern", "dog1*");
    world.key(Key::Enter);
    world.until("the pattern counts", |app| {
        let plan = app.desk().planning().now().filter(|now| now.is_current).and_then(|now| now.plan().cloned());
        plan.is_some_and(|plan| plan.excluded == [("dog1*".to_owned(), 8)] && plan.images == 12)
    });
    assert_eq!(world.state().images().count(), 6, "Enter in the field imports nothing");
    assert!(!world.shows("of the library"));
    world.click("Import 12 images");
    imported(&mut world, 18);
    let set = world.path("set");
    // Images that are in already are not taken out by a pattern.
    let set_options = ImportOptions { exclude: vec!["cow*".into()], ..ImportOptions::default() };
    world.run(Command::PlanImport(set.clone(), Some(set_options)));
    world.until("it is planned", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
    world.step();
    assert!(world.shows("8 images of the library are left out and stay in it; remove them there if you want"));
    world.run(Command::GiveUpImport);
    world.key(Key::Escape);
    let root = world.state().roots().find(|(_, root)| root.path == set).map(|(_, root)| root.clone()).unwrap();
    assert_eq!((root.reading.labels.as_str(), root.reading.exclude), ("class-folders", vec!["dog1*".to_owned()]));
    assert!(world.state().class("1").is_some() && world.state().class("dog").is_none());
    // Looking for changes keeps to what was chosen.
    world.run(Command::Rescan);
    world.rest();
    assert_eq!(world.state().images().count(), 18);
}

#[test]
fn all_images_are_of_the_class_that_is_typed() {
    let mut world = planning();
    world.click("One class for all");
    let is_planned = |app: &App, class: &str| {
        let now = app.desk().planning().now().filter(|now| now.is_current);
        now.and_then(|now| now.plan()).is_some_and(|plan| plan.classes == [(class.to_owned(), 16)])
    };
    world.until("the folder's name is the class", |app| is_planned(app, "set"));
    let set = world.path("set");
    world.harness.get_by_role_and_label(Role::TextInput, "Class of all images").focus();
    world.step();
    world.ctrl(Key::A);
    world.key(Key::Delete);
    assert!(world.shows("expected a name of 1 to 200 characters"));
    world.key(Key::Enter);
    world.key(Key::Enter);
    assert!(world.app().desk().planning().now().is_some(), "without a name nothing is imported");
    world.type_into("Class of all images", "animal/cattle");
    world.until("the class is planned", |app| is_planned(app, "animal/cattle"));
    world.step();
    assert!(!world.shows("expected a name"));
    world.click("Import 16 images");
    imported(&mut world, 22);
    let root = world.state().roots().find(|(_, root)| root.path == set).map(|(_, root)| root.clone()).unwrap();
    assert_eq!(root.reading.labels, "whole-folder, masks auto, class animal/cattle");
    assert_eq!(world.state().images().filter(|image| image.label() == Some("animal/cattle")).count(), 16);
}

#[test]
fn a_folder_inside_with_a_class_of_its_own_is_listed_once() {
    let mut world = World::new(&[]);
    let pets = world.path("pets");
    class_folders(&pets, &["cats", "dogs"], 3);
    world.run(Command::Open(pets.clone()));
    imported(&mut world, 6);
    let hound = ImportOptions { labels: Labels::WholeFolder, one_class: Some("hound".into()), ..ImportOptions::default() };
    for (folder, options, words) in [
        (pets.join("dogs"), Some(hound), "3 of them in the library"),
        (pets.clone(), None, "3 images keep their classes from folders inside that were imported by themselves"),
    ] {
        world.run(Command::PlanImport(folder, options));
        world.until("it is planned", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
        world.step();
        assert!(world.shows(words), "{words}");
        world.key(Key::Enter);
        world.until("it is imported", |app| app.desk().planning().now().is_none());
        world.rest();
        assert_eq!(world.state().images().filter(|image| image.label() == Some("hound")).count(), 3);
        let listed = ["pets 6", "cats 3", "dogs 3", "dogs 0"].map(|entry| world.harness.query_all_by_label(entry).count());
        assert_eq!(listed, [1, 2, 1, 1], "folders, and the classes of the cats and of no dogs");
    }
    world.click("dogs 3");
    world.step();
    assert_eq!(world.harness.get_all_by_label_contains(".png, ").count(), 3);
    let dogs = world.state().roots().find(|(_, root)| root.path.ends_with("dogs")).map(|(id, _)| id).unwrap();
    let is_shown = |world: &World| world.harness.get_by_label("dogs 3").accesskit_node().toggled();
    assert_eq!(is_shown(&world), Some(Toggled::True));
    world.harness.state_mut().view_mut().shown.scopes = vec![Scope::Folder(dogs, PathBuf::new())];
    world.step();
    assert_eq!(world.harness.get_all_by_label_contains(".png, ").count(), 3, "also where it is asked for as a root");
    assert_eq!(is_shown(&world), Some(Toggled::True));
    world.harness.get_by_label("dogs 3").click_secondary();
    world.step();
    world.click("It moved…");
    world.step();
    assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Path(Purpose::Relocate(pets.join("dogs")))));
}

#[test]
fn captions_that_are_not_taken_in_are_not_shown_and_their_table_is_named() {
    let mut world = planning();
    assert!(world.shows("16 captions for 16 images; 1 name of no image here") && world.shows("a spotted cow"));
    world.harness.get_by_role_and_label(Role::RadioButton, "None").click();
    world.step();
    world.step();
    assert!(!world.shows("a spotted cow"));
    world.click("Import 16 images");
    imported(&mut world, 22);
    assert!(world.state().images().all(|image| image.captions.is_empty()));
    assert!(world.app().desk().notices().log().iter().any(|notice| notice.words.contains("16 captions in captions.tsv left aside")));
    world.run(Command::ReadTable(world.path("set/captions.tsv")));
    world.until("they are there", |app| app.desk().state().unwrap().images().filter(|image| !image.captions.is_empty()).count() == 16);
}

#[test]
fn masks_are_taken_in_where_that_is_wanted() {
    let mut world = planning();
    world.click("Leave out 16");
    world.until("it is planned anew", |app| app.desk().planning().now().and_then(|now| now.plan()).is_some_and(|plan| plan.images == 32));
    world.key(Key::Enter);
    world.until("they are there", |app| app.desk().state().is_some_and(|state| state.images().count() > 22));
    world.rest();
    let n = world.state().images().count();
    world.run(Command::Rescan);
    world.rest();
    assert_eq!(world.state().images().count(), n, "the choice is kept");
}

#[test]
fn an_import_is_given_up() {
    let mut world = planning();
    world.key(Key::Escape);
    world.rest();
    assert!(world.app().desk().planning().now().is_none() && !world.shows("Import set"));
    assert_eq!(world.state().images().count(), 6);
    let texts = world.path("texts");
    fs::create_dir(&texts).unwrap();
    world.run(Command::PlanImport(texts, None));
    world.until("it cannot be planned", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
    world.step();
    assert!(world.shows("found nothing"), "a sentence says why");
    world.key(Key::Enter);
    assert!(world.app().desk().planning().now().is_some(), "there is nothing to import");
    world.click("Cancel");
    assert!(world.app().desk().planning().now().is_none());
}

#[test]
fn folders_that_are_dropped_together_are_shown_one_after_another() {
    let mut world = planning();
    class_folders(&world.path("third"), &["cc"], 2);
    // Different pictures than those of the first.
    picture(777, 48).save(world.path("third/cc/000.png")).unwrap();
    picture(778, 48).save(world.path("third/cc/001.png")).unwrap();
    let third = world.path("third");
    world.run(Command::AddPlanned(third.clone()));
    world.rest();
    assert!(world.shows("Import set"));
    world.key(Key::Enter);
    world.until("the next one is shown", |app| app.desk().planning().now().is_some_and(|now| now.folder == third && now.is_current));
    world.step();
    assert!(world.shows("Import third"));
    world.key(Key::Enter);
    imported(&mut world, 24);
}

#[test]
fn a_folder_that_is_opened_is_shown_first_and_later_not_again() {
    let mut world = World::new(&[]);
    numbered(&world.path("set"));
    let set = world.path("set");
    world.run(Command::OpenPlanned(set.clone()));
    world.until("it is planned", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
    world.step();
    assert!(world.shows("Import 16 images"));
    world.click("Nowhere");
    world.until("it is planned anew", |app| {
        app.desk().planning().now().is_some_and(|now| now.is_current && now.options.labels == Labels::None)
    });
    world.key(Key::Enter);
    imported(&mut world, 16);
    assert!(world.state().images().all(|image| image.label().is_none()));
    world.run(Command::Close);
    world.run(Command::OpenPlanned(set));
    imported(&mut world, 16);
    assert!(world.app().desk().planning().now().is_none());
    assert!(world.state().images().all(|image| image.label().is_none()), "it is read as it was chosen");
    class_folders(&world.path("more"), &["aa", "bb"], 3);
    world.run(Command::AddPlanned(world.path("more")));
    world.until("it is planned", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
    let proposed = world.app().desk().planning().now().unwrap().options.labels;
    assert_eq!(proposed, Labels::None, "what was chosen last is proposed");
    for command in [Command::GiveUpImport, Command::PlanImport(world.path("more"), None), Command::ImportPlanned(None)] {
        world.harness.state_mut().ask(command);
    }
    imported(&mut world, 22);
    let labelled = world.state().images().filter(|image| image.label().is_some()).count();
    assert_eq!(labelled, 6, "nobody who does not wait for a plan has seen what it proposes");
}

#[test]
fn a_folder_whose_import_was_undone_is_shown_before_it_is_imported_again() {
    let mut world = World::new(&[]);
    let set = world.path("set");
    class_folders(&set, &["aa", "bb"], 3);
    for _ in 0..2 {
        world.run(Command::OpenPlanned(set.clone()));
        world.until("it is planned", |app| app.desk().planning().now().is_some_and(|now| now.is_current));
        world.step();
        assert_eq!(world.state().images().count(), 0);
        world.click("Import 6 images");
        imported(&mut world, 6);
        world.ctrl(Key::Z);
        world.rest();
        world.click("Undo the import");
        world.until("it is undone", |app| app.desk().state().unwrap().images().count() == 0);
        world.rest();
        world.run(Command::Close);
    }
}

#[test]
fn what_was_not_taken_in_is_listed_by_reason_and_saved() {
    let mut world = planning();
    let copy = world.path("set/1/cow1-066-000.png");
    fs::copy(&copy, world.path("set/1/cow9-066-000.png")).unwrap();
    world.key(Key::Enter);
    imported(&mut world, 22);
    world.until("the table is read", |app| app.desk().upkeep().not_taken_in().iter().any(|file| file.reason == "no_image"));
    world.harness.state_mut().turn_to(Page::Library);
    world.rest();
    for words in [
        "All 19",
        "16 masks or maps of other pictures",
        "1 copy of another image",
        "1 name without an image",
        "1 no picture of a known format",
    ] {
        assert!(world.shows(words), "{words}");
    }
    world.click("1 name without an image");
    assert!(world.shows("`nobody.png` is the name of no image"));
    world.harness.get_by_label("Save report…").click();
    world.step();
    assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Path(Purpose::SaveReport)));
    let to = world.path("report.jsonl");
    world.run(Command::SaveReport(to.clone()));
    world.until("it is written", |_| to.is_file());
    world.rest();
    assert_eq!(fs::read_to_string(&to).unwrap().lines().count(), 19);
    world.run(Command::Rescan);
    world.until("it was looked for changes", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains(" unchanged")));
    world.rest();
    assert!(world.shows("1 copy of another image"), "a second look tells copies, too");
    fs::write(world.path("mine.txt"), "mine").unwrap();
    world.run(Command::SaveReport(world.path("mine.txt")));
    world.until("it is refused", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("another file")));
    assert_eq!(fs::read_to_string(world.path("mine.txt")).unwrap(), "mine");
}
