//! Classes by the hundred, as a tree, filtered and confused; keys that mean the same class on every
//! page; and answers that are put right where they are seen.

use std::sync::Arc;

use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use tessera::command::{Command, ImageQuery};
use tessera::gui::listing::Scope;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;
use tessera_core::library::suggest::LabelOrder;

use crate::keys::{selected, small};
use crate::world::{World, class_folders, picture};

fn label(world: &World, id: u32) -> Option<String> {
    world.state().image(ItemId(id)).unwrap().label().map(str::to_owned)
}

#[test]
fn classes_are_a_tree_that_is_filtered() {
    let mut world = World::of_classes(200, 2);
    assert!(world.shows("realm 0 200") && world.shows("realm 1 200") && !world.shows("kind 3"));
    // A node stands for all classes below it.
    world.click("realm 1 200");
    let shown = |world: &mut World| world.harness.state_mut().view_mut().shown.list().len();
    assert_eq!(world.harness.state_mut().view_mut().shown.scopes, [Scope::Below("realm 1".into())]);
    assert_eq!(shown(&mut world), 200);
    world.press("Open realm 1");
    world.press("Open kind 3");
    world.click("breed 137 2");
    assert_eq!(world.harness.state_mut().view_mut().shown.scopes, [Scope::Class("realm 1/kind 3/breed 137".into())]);
    assert_eq!(shown(&mut world), 2);
    // Folders can be reached beside them, and both are filtered.
    assert!(world.shows("folder 01 200"));
    world.type_into("Filter classes and folders", "KIND 7/");
    for part in ["realm 0 200", "kind 7 20", "breed 071 2"] {
        assert!(world.shows(part), "{part}");
    }
    assert!(!world.shows("kind 4"));
    assert!(!world.shows("folder 01"));
    world.type_into("Filter classes and folders", " 171");
    assert!(world.shows("breed 171 2") && !world.shows("breed 172") && !world.shows("realm 0"));
}

#[test]
fn a_class_among_many_is_chosen_by_typing() {
    let mut world = World::of_classes(200, 2);
    world.key(Key::Home);
    let one = selected(&mut world)[0];
    world.press("Label as…");
    world.type_into("Filter classes", "breed 142");
    assert!(world.shows("realm 1/kind 4/breed 142") && !world.shows("breed 143"));
    world.key(Key::ArrowDown);
    world.key(Key::Enter);
    world
        .until("it is labelled", |app| app.desk().state().unwrap().image(ItemId(one)).unwrap().label() == Some("realm 1/kind 4/breed 142"));
    // A new one is offered by name.
    world.press("Label as…");
    world.type_into("Filter classes", "gnu");
    world.press("New class “gnu”");
    world.until("it is labelled", |app| app.desk().state().unwrap().image(ItemId(one)).unwrap().label() == Some("gnu"));
    // Enter means what is typed: the class of that name in any case, or the first that begins so or
    // has a part that does, or else a new one, never one that only has it within.
    let breed = "realm 0/kind 1/breed 017";
    for (typed, class) in [("GNU", "gnu"), ("gN", "gnu"), ("breed 017", breed), ("nu", "nu"), ("nothing like it", "nothing like it")] {
        world.run(Command::Label(vec![ItemId(one)], UserLabel::NoClass));
        world.until("it has none", |app| app.desk().state().unwrap().image(ItemId(one)).unwrap().label().is_none());
        world.press("Label as…");
        world.type_into("Filter classes", typed);
        world.key(Key::Enter);
        world.until(class, |app| app.desk().state().unwrap().image(ItemId(one)).unwrap().label() == Some(class));
    }
}

#[test]
fn a_class_is_joined_with_one_that_is_offered() {
    let mut world = World::of_classes(20, 2);
    let old = "realm 0/kind 0/breed 003";
    world.harness.state_mut().view_mut().open(Modal::ClassName(Some(old.into())));
    world.step();
    assert!(world.shows("Rename") && !world.shows("Merge"));
    world.harness.get_by_role_and_label(egui::Role::TextInput, "Class name").focus();
    world.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    world.step();
    world.type_into("Class name", "breed 01");
    assert!(!world.shows("Merge"), "a new name");
    assert!(world.harness.query_by_label("realm 0/kind 1/breed 010").is_some(), "one that is there is offered");
    world.harness.state_mut().view_mut().draft.text = "realm 0/kind 1/breed 010".into();
    world.step();
    world.press("Merge");
    let joined = |app: &tessera::gui::App| {
        let state = app.desk().state().unwrap();
        state.class(old).is_none() && state.images().filter(|image| image.label() == Some("realm 0/kind 1/breed 010")).count() == 4
    };
    world.until("they are one", joined);
}

#[test]
fn a_digit_means_the_same_class_on_every_page() {
    let mut world = small();
    world.run(Command::Label((1..=12).map(ItemId).collect(), UserLabel::NoClass));
    world.ctrl(Key::Num2);
    world.run(Command::LabelFrom(None, LabelOrder::Folder));
    let ready = |app: &tessera::gui::App| {
        let labelling = app.desk().labelling().shown().unwrap();
        labelling.queue.len() == 12 && labelling.is_arranged && !labelling.is_computing
    };
    world.until("the queue is there", ready);
    world.harness.run_steps(8);
    let current = world.app().desk().labelling().shown().unwrap().current().unwrap();
    // Nothing is suggested, and the third class is the third class.
    world.key(Key::Num3);
    world.until("it is labelled", |app| app.desk().state().unwrap().image(current).unwrap().label().is_some());
    assert_eq!(label(&world, current.0).as_deref(), Some("cat"));
    // A notice says so, and its Undo takes the label back.
    world.until("it is told", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("as cat")));
    let toasts = |world: &mut World| -> Vec<(String, usize)> {
        world.harness.state_mut().view_mut().toasts.iter().map(|toast| (toast.notice.words.clone(), toast.earlier.len())).collect()
    };
    assert!(toasts(&mut world).iter().any(|(words, _)| words.contains("as cat")), "{:?}", toasts(&mut world));
    world.until("the next one is there", |app| app.desk().labelling().shown().unwrap().current() != Some(current));
    world.harness.run_steps(40);
    world.key(Key::Num2);
    world.until("the next is labelled", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("as bee")));
    let labels: Vec<(String, usize)> = toasts(&mut world).into_iter().filter(|(words, _)| words.contains("Labelled")).collect();
    assert!(labels.len() == 1 && labels[0].0.contains("as bee") && labels[0].1 >= 1, "one notice for both: {labels:?}");
    world.press("Undo");
    world.until("it is taken back", |app| app.desk().state().unwrap().images().filter(|image| image.label().is_some()).count() == 1);
    assert_eq!(label(&world, current.0).as_deref(), Some("cat"), "only the last one");
    // In Browse it is the same class.
    world.ctrl(Key::Num1);
    world.key(Key::End);
    let last = selected(&mut world)[0];
    world.key(Key::Num3);
    world.until("it is labelled", |app| app.desk().state().unwrap().image(ItemId(last)).unwrap().label() == Some("cat"));
}

#[test]
fn arrows_choose_among_suggestions() {
    let mut world = small();
    world.run(Command::Label((5..=12).map(ItemId).collect(), UserLabel::NoClass));
    for (id, class) in [(5, "bee"), (9, "cat")] {
        world.run(Command::Label(vec![ItemId(id)], UserLabel::Class(class.into())));
    }
    world.ctrl(Key::Num2);
    let ready = |app: &tessera::gui::App| {
        app.desk().labelling().shown().is_some_and(|shown| shown.is_arranged && !shown.is_computing && shown.queue.len() == 6)
    };
    world.until("suggestions are there", ready);
    world.harness.run_steps(40);
    let shown = world.app().desk().labelling().shown().unwrap();
    let id = shown.current().unwrap();
    let second = shown.ranking(world.state(), id)[1].0.clone();
    world.key(Key::ArrowDown);
    world.harness.run_steps(8);
    world.key(Key::Enter);
    world.until("it is labelled", |app| app.desk().state().unwrap().image(id).unwrap().label().is_some());
    assert_eq!(label(&world, id.0), Some(second));
}

/// A window on three classes of four images, with one of them recognised.
fn recognised(query: impl Fn(&World) -> ImageQuery) -> World {
    let mut world = small();
    let query = query(&world);
    world.run(Command::Recognise(query));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    world.rest();
    world
}

#[test]
fn a_wrong_answer_is_put_right_by_its_bar_its_key_and_in_writing() {
    let mut world = recognised(|_| ImageQuery::Item(ItemId(1)));
    assert!(world.shows("Bars run from") && world.shows("the mean of all 3 classes") && world.shows("Its label: ant"));
    let is =
        |class: &'static str| move |app: &tessera::gui::App| app.desk().state().unwrap().image(ItemId(1)).unwrap().label() == Some(class);
    world.click_containing("cat ");
    world.until("its bar says cat", is("cat"));
    world.rest();
    assert!(world.shows("Its label: cat") && world.shows("You labelled it: cat"));
    assert!(world.shows("The recogniser's answer:") && world.shows("Undo"));
    world.key(Key::Num2);
    world.until("its key says bee", is("bee"));
    world.rest();
    // Letters write a class and do nothing else here.
    for letter in ["e", "m", "u"] {
        world.harness.event(Event::Text(letter.into()));
        world.step();
    }
    world.key(Key::Enter);
    world.until("it is written", is("emu"));
    world.rest();
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Recognise);
    for class in ["bee", "cat", "ant"] {
        world.ctrl(Key::Z);
        world.until("it is undone", is(class));
    }
}

#[test]
fn an_image_from_elsewhere_is_taken_in_with_its_class() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("new.png"), folder.path().join("other.png"));
    picture(77, 48).save(&file).unwrap();
    picture(78, 48).save(&other).unwrap();
    let mut world = recognised(|_| ImageQuery::File(file.clone()));
    let before = world.state().images().count();
    world.key(Key::Num3);
    world.until("it is there", |app| app.desk().state().unwrap().images().count() == before + 1);
    world.rest();
    let image = world.state().images().last().unwrap().clone();
    assert_eq!((image.label(), world.state().path_of(&image)), (Some("cat"), Some(file.canonicalize().unwrap())));
    assert_eq!(world.app().desk().recognising().recognition().unwrap().item, Some(image.id), "it is one of the library now");
    assert!(world.shows("Its label: cat") && world.shows("Took in new.png as cat"));
    // One undo takes it out; looking at all folders again takes nothing else in.
    world.ctrl(Key::Z);
    world.until("it is gone", |app| app.desk().state().unwrap().images().count() == before);
    world.run(Command::Rescan);
    world.rest();
    assert_eq!(world.state().images().count(), before);
    assert!(world.app().desk().notices().log().iter().all(|notice| !notice.words.contains("no pictures")));
}

#[test]
fn a_pasted_picture_is_saved_and_taken_in() {
    let pasted = Arc::new(picture(79, 48));
    let mut world = recognised(|_| ImageQuery::Pixels(Arc::clone(&pasted)));
    let before = world.state().images().count();
    world.key(Key::Num2);
    world.step();
    assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Path(tessera::gui::dialogs::Purpose::KeepPicture)));
    let to = world.path("pasted bee.png");
    world.harness.state_mut().view_mut().draft.text = to.to_string_lossy().into_owned();
    world.key(Key::Enter);
    world.until("it is there", |app| app.desk().state().unwrap().images().count() == before + 1);
    world.rest();
    assert_eq!(image::open(&to).unwrap().to_rgb8(), *pasted);
    assert_eq!(world.state().images().last().unwrap().label(), Some("bee"));
    assert!(world.app().desk().recognising().recognition().unwrap().item.is_some());
    // Another one gets another name; what is there is replaced only after a question.
    world.run(Command::Recognise(ImageQuery::Pixels(Arc::new(picture(80, 48)))));
    world.rest();
    world.key(Key::Num2);
    world.step();
    assert!(world.harness.state_mut().view_mut().draft.text.ends_with("/pasted bee 2.png"));
    let there = world.path("there.png");
    picture(81, 48).save(&there).unwrap();
    world.harness.state_mut().view_mut().draft.text = there.to_string_lossy().into_owned();
    world.key(Key::Enter);
    world.rest();
    assert!(world.shows("Replace there.png?") && image::open(&there).unwrap().to_rgb8() == picture(81, 48));
    world.click("Replace");
    world.until("it is there", |app| app.desk().state().unwrap().images().count() == before + 2);
    assert_eq!(image::open(&there).unwrap().to_rgb8(), picture(80, 48));
}

#[test]
fn the_worst_confusions_are_listed_and_the_matrix_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..30).map(|class| format!("class {class:02}")).collect();
    class_folders(folder.path(), &names.iter().map(String::as_str).collect::<Vec<_>>(), 3);
    let mut world = World::on(folder.path());
    world.ctrl(Key::Num4);
    world.run(Command::Evaluate);
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.step();
    assert!(world.shows("Worst confusions") && world.shows("20 of 30 classes, those that are confused most"));
    let report = world.app().desk().recognising().report().unwrap().0.clone();
    let worst = tessera::session::confusions::worst(&report)[0];
    let (truth, given) = (report.classes[worst.truth].clone(), report.classes[worst.given].clone());
    world.type_into("Filter classes", "CLASS 1");
    assert!(world.shows("12 of 30 classes."));
    world.ctrl(Key::A);
    world.key(Key::Backspace);
    world
        .harness
        .get_all_by_label(&format!("{} of {} images of {truth} were taken for {given}", worst.images, worst.of))
        .next()
        .unwrap()
        .click();
    world.step();
    let view = world.harness.state_mut().view_mut();
    assert_eq!((view.page, view.shown.scopes.clone()), (Page::Browse, vec![Scope::Confused(truth, given)]));
    assert_eq!(view.shown.list().len(), worst.images as usize);
    drop(folder.keep());
}
