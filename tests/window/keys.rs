//! The keyboard: everything can be done without a mouse, and plain keys are ignored while a text
//! field has the focus.

use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use tessera::command::Command;
use tessera::gui::actions::Action;
use tessera::gui::dialogs::Purpose;
use tessera::gui::listing::Scope;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera_core::ids::ItemId;

use crate::world::{World, class_folders};

pub(crate) fn small() -> World {
    let folder = tempfile::tempdir().unwrap();
    class_folders(folder.path(), &["ant", "bee", "cat"], 4);
    let world = World::on(folder.path());
    drop(folder.keep());
    world
}

pub(crate) fn selected(world: &mut World) -> Vec<u32> {
    world.harness.state_mut().view_mut().selection.ids().iter().map(|id| id.0).collect()
}

#[test]
fn selections_go_by_keys() {
    let mut world = small();
    world.key(Key::Home);
    world.key(Key::ArrowRight);
    assert_eq!(selected(&mut world), [2]);
    world.harness.key_press_modifiers(Modifiers::SHIFT, Key::End);
    world.step();
    assert_eq!(selected(&mut world).len(), 11);
    world.ctrl(Key::I);
    assert_eq!(selected(&mut world), [1]);
    world.ctrl(Key::A);
    assert_eq!(selected(&mut world).len(), 12);
    world.ctrl_shift(Key::A);
    assert!(selected(&mut world).is_empty());
}

#[test]
fn where_an_image_is_chosen_other_files_are_listed_on_request() {
    let mut world = small();
    let folder = world.path("files");
    std::fs::create_dir(&folder).unwrap();
    for name in ["a.PNG", "notes.txt"] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    world.harness.state_mut().view_mut().open(Modal::Path(Purpose::Recognise));
    world.step();
    let draft = &mut world.harness.state_mut().view_mut().draft;
    (draft.is_new, draft.text) = (true, format!("{}/", folder.display()));
    world.until("they are listed", |app| app.desk().files().listing().is_some_and(|(listed, _)| listed == folder));
    assert!(world.shows("a.PNG") && !world.shows("notes.txt"));
    world.click("All files");
    assert!(world.shows("a.PNG") && world.shows("notes.txt"));
    // The name of a folder opens that: only a file is chosen.
    let draft = &mut world.harness.state_mut().view_mut().draft;
    (draft.is_new, draft.text) = (true, folder.display().to_string());
    world.until("its folder is listed", |app| app.desk().files().listing().is_some_and(|(listed, _)| listed != folder));
    for _ in 0..2 {
        world.key(Key::Enter);
        world.step();
        let view = world.harness.state_mut().view_mut();
        assert_eq!(
            (view.modal.clone(), view.draft.text.clone()),
            (Some(Modal::Path(Purpose::Recognise)), format!("{}/", folder.display()))
        );
    }
}

#[test]
fn letters_are_dead_while_someone_writes() {
    let mut world = small();
    world.key(Key::Home);
    world.ctrl(Key::F);
    world.type_into("Search", "e1");
    world.key(Key::E);
    world.key(Key::Num2);
    world.key(Key::Delete);
    world.rest();
    assert!(world.app().desk().recognising().recognition().is_none());
    assert_eq!(world.state().history().len(), 1, "nothing was labelled or removed");
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Browse);
}

#[test]
fn digits_that_come_with_the_enter_of_a_text_field_label_nothing() {
    let folder = tempfile::tempdir().unwrap();
    class_folders(folder.path(), &["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis"], 1);
    let mut world = World::on(folder.path());
    world.key(Key::Home);
    world.type_into("Filter classes and folders", "e");
    let key = |key| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
    // On a slow machine one frame has them all.
    world.harness.input_mut().events.extend([key(Key::Num2), Event::Text("2".into()), key(Key::Backspace), key(Key::Enter)]);
    world.harness.step();
    world.rest();
    assert!(!world.harness.ctx.text_edit_focused(), "Enter ends writing");
    assert_eq!((world.state().history().len(), selected(&mut world)), (1, vec![1]), "nothing was labelled");
}

#[test]
fn answers_are_judged_by_keys_and_buttons() {
    let mut world = small();
    world.run(Command::Search("ant".into()));
    world.until("something is found", |app| app.desk().searching().hits().is_some_and(|hits| !hits.hits.is_empty()));
    let first = world.app().desk().searching().hits().unwrap().hits[0].image;
    let said = move |app: &tessera::gui::App| {
        app.desk().searching().hits().and_then(|hits| hits.hits.iter().find(|hit| hit.image == first)?.taught)
    };
    world.key(Key::G);
    assert_eq!(world.state().image(first).unwrap().rewards.len(), 0, "nothing is chosen yet");
    world.harness.state_mut().view_mut().selection.set([first]);
    world.key(Key::G);
    world.until("it is a good answer", |app| said(app) == Some(1.0));
    world.key(Key::B);
    world.until("it is a bad answer", |app| said(app) == Some(-1.0));
    world.key(Key::N);
    world.until("nothing is said", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 0));
    world.run(Command::Undo);
    world.until("it is a bad answer again", |app| said(app) == Some(-1.0));
}

#[test]
fn a_key_judges_no_more_answers_than_one_looks_at() {
    let folder = tempfile::tempdir().unwrap();
    class_folders(folder.path(), &["ant"], 30);
    let mut world = World::on(folder.path());
    world.run(Command::Search("ant".into()));
    world.until("all are found", |app| app.desk().searching().hits().is_some_and(|hits| hits.images.len() == 30));
    world.rest();
    let acts = world.state().history().len();
    world.ctrl(Key::A);
    assert_eq!(selected(&mut world).len(), 30);
    world.key(Key::B);
    world.rest();
    assert_eq!(world.state().history().len(), acts, "nothing was rejected");
    // A key that labels so many asks first.
    world.key(Key::Num1);
    world.rest();
    assert!(world.shows("Label 30 selected images as ant?") && world.state().history().len() == acts);
    world.key(Key::Escape);
    world.key(Key::Backspace);
    assert!(world.shows("Take the class off 30 selected images?"));
    world.key(Key::Enter);
    world.until("it is taken off", |app| app.desk().state().is_some_and(|state| state.images().all(|image| image.label().is_none())));
    world.ctrl(Key::Z);
    world.until("it is back", |app| app.desk().state().is_some_and(|state| state.images().all(|image| image.label().is_some())));
    let some: Vec<ItemId> = selected(&mut world)[..24].iter().map(|id| ItemId(*id)).collect();
    world.harness.state_mut().view_mut().selection.set(some);
    world.key(Key::G);
    world.until("24 are good answers", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 24));
}

#[test]
fn keys_of_a_page_do_not_act_on_what_is_selected_on_another() {
    let mut world = small();
    world.ctrl(Key::A);
    assert_eq!(selected(&mut world).len(), 12);
    for page in [Page::Train, Page::Similar, Page::Clusters, Page::Copies, Page::Library] {
        world.harness.state_mut().turn_to(page);
        world.step();
        assert!(selected(&mut world).is_empty(), "{page:?}");
        world.key(Key::Delete);
        world.rest();
        assert_eq!(world.state().images().count(), 12, "{page:?}");
    }
    // The map shows the same images, and Browse has its selection again.
    world.harness.state_mut().turn_to(Page::Map);
    assert_eq!(selected(&mut world).len(), 12);
    world.harness.state_mut().turn_to(Page::Browse);
    assert_eq!(selected(&mut world).len(), 12);
    // What a filter takes out stays selected on neither.
    world.harness.state_mut().show(Scope::Class("ant".into()));
    world.step();
    assert_eq!(selected(&mut world).len(), 4);
}

#[test]
fn the_palette_finds_and_runs_commands() {
    let mut world = small();
    world.ctrl(Key::K);
    assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Palette));
    world.type_into("Command", "settin");
    world.key(Key::Enter);
    world.step();
    assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Settings));
    world.key(Key::Escape);
    assert_eq!(world.harness.state_mut().view_mut().modal, None);
}

#[test]
fn the_palette_finds_commands_by_other_words() {
    let mut world = small();
    let folder = world.state().roots().next().unwrap().1.path.clone();
    let (back_up, relocate) = (&Purpose::BackUp, &Purpose::Relocate(folder));
    for (typed, purpose) in [("share", back_up), ("give", back_up), ("missing", relocate), ("moved", relocate)] {
        world.ctrl(Key::K);
        world.type_into("Command", typed);
        world.key(Key::Enter);
        world.step();
        assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Path(purpose.clone())), "{typed}");
        world.harness.state_mut().view_mut().modal = None;
        world.step();
    }
}

#[test]
fn the_viewer_goes_by_keys() {
    let mut world = small();
    world.key(Key::Home);
    world.key(Key::Enter);
    assert!(world.harness.state_mut().view_mut().viewer.is_some());
    world.key(Key::ArrowRight);
    assert_eq!(selected(&mut world), [2]);
    world.key(Key::Num3);
    world.until("it is labelled", |app| app.desk().state().unwrap().images().nth(1).unwrap().label() == Some("cat"));
    world.key(Key::Escape);
    assert!(world.harness.state_mut().view_mut().viewer.is_none());
}

#[test]
fn the_viewer_zooms_by_keys_from_what_is_seen() {
    let mut world = small();
    world.key(Key::Home);
    world.key(Key::Enter);
    let zoom = |world: &mut World| world.harness.state_mut().view_mut().viewer.as_ref().unwrap().zoom;
    world.key(Key::Plus);
    // A picture of 48 points is shown eight times as large at first.
    assert!((zoom(&mut world).unwrap() - 10.0).abs() < 0.01, "{:?}", zoom(&mut world));
    for _ in 0..20 {
        world.key(Key::Plus);
    }
    assert_eq!(zoom(&mut world), Some(32.0));
    world.key(Key::F);
    assert_eq!(zoom(&mut world), None);
    world.ctrl(Key::Num4);
    let view = world.harness.state_mut().view_mut();
    assert!(view.viewer.is_none() && view.page == Page::Train, "a page takes the place of the viewer");
    assert_eq!(world.state().history().len(), 1, "nothing was labelled");
}

#[test]
fn found_images_are_selected_and_walked_by_keys() {
    let mut world = small();
    world.run(Command::Search("bee".into()));
    world.until("they are found", |app| app.desk().searching().hits().is_some_and(|hits| hits.hits.len() == 4));
    let hits: Vec<u32> = world.app().desk().searching().hits().unwrap().hits.iter().map(|hit| hit.image.0).collect();
    let sorted = |ids: &[u32]| ids.iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>();
    world.ctrl(Key::A);
    assert_eq!(selected(&mut world), sorted(&hits));
    world.key(Key::Home);
    world.key(Key::ArrowRight);
    assert_eq!(selected(&mut world), [hits[1]]);
    world.ctrl(Key::I);
    assert_eq!(selected(&mut world), sorted(&[hits[0], hits[2], hits[3]]));
}

#[test]
fn the_class_that_is_shown_is_changed_by_keys() {
    let mut world = small();
    world.harness.state_mut().show(Scope::Class("bee".into()));
    world.step();
    world.ctrl(Key::K);
    world.type_into("Command", "rename or merge");
    world.key(Key::Enter);
    world.step();
    assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::ClassName(Some("bee".into()))));
}

#[test]
fn hints_go_when_a_modal_window_opens() {
    let mut world = small();
    let hint = Action::Log.words().1;
    let pos = world.harness.get_by_label("Log").rect().center();
    world.harness.event(Event::PointerMoved(pos));
    world.harness.run_steps(8);
    assert!(world.shows(hint));
    world.ctrl(Key::Comma);
    world.step();
    assert!(world.shows("Usual settings") && !world.shows(hint));
}

#[test]
fn the_window_waits_to_close_only_while_something_is_going_on() {
    let mut world = small();
    world.rest();
    world.harness.state_mut().view_mut().open(Modal::Quit);
    world.harness.step();
    assert_eq!(world.harness.state_mut().view_mut().modal, None);
    let commands = world.harness.output().viewport_output.values().flat_map(|output| &output.commands);
    assert!(commands.into_iter().any(|command| *command == egui::ViewportCommand::Close));
}

#[test]
fn the_window_closes_when_what_was_going_on_has_ended_without_a_problem() {
    let mut world = small();
    world.rest();
    class_folders(&world.path("more"), &["dog"], 2);
    for (folder, closes) in [(world.path("nowhere"), false), (world.path("more"), true)] {
        world.harness.state_mut().ask(Command::RecogniseFolder(folder));
        world.harness.state_mut().view_mut().open(Modal::Quit);
        world.harness.step();
        assert!(world.app().desk().would_lose_work());
        assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Quit));
        world.until("it has ended", |app| !app.desk().would_lose_work());
        assert_eq!(world.harness.state_mut().view_mut().modal.is_none(), closes);
        if !closes {
            assert!(world.shows("Nothing is going on any more"));
            world.click("Stay");
            world.step();
        }
    }
}

#[test]
fn letters_live_while_a_button_has_the_keyboard() {
    let mut world = small();
    world.key(Key::Home);
    world.harness.get_by_label("All images 12").focus();
    world.step();
    world.key(Key::Num3);
    world.until("it is labelled", |app| app.desk().state().unwrap().images().next().unwrap().label() == Some("cat"));
    world.ctrl(Key::Z);
    world.until("it is undone", |app| app.desk().state().unwrap().images().next().unwrap().label() == Some("ant"));
}

#[test]
fn no_key_means_two_things() {
    let keys: Vec<_> = Action::all().flat_map(|action| action.shortcuts().iter().map(move |key| (key, action))).collect();
    for (place, (key, action)) in keys.iter().enumerate() {
        let other = keys[..place].iter().find(|(other, _)| other == key);
        assert!(other.is_none(), "{key:?} is {action:?} and {other:?}");
    }
}

#[test]
fn the_menu_opens_by_a_key() {
    for width in [800.0, 1280.0] {
        let mut world = small();
        world.harness.set_size(egui::vec2(width, 600.0));
        world.step();
        world.key(Key::Home);
        let entry = if width < 1000.0 { "Help" } else { "Check library" };
        world.key(Key::F10);
        world.step();
        assert!(world.shows(entry), "{width}");
        world.key(Key::ArrowDown);
        assert!(world.shows(entry) && selected(&mut world) == [1], "arrows are the menu's");
        world.key(Key::Escape);
        assert!(!world.shows(entry) && selected(&mut world) == [1]);
    }
}

#[test]
fn pages_have_keys() {
    let mut world = small();
    for (key, page) in [
        (Key::Num2, Page::Label),
        (Key::Num3, Page::Recognise),
        (Key::Num4, Page::Train),
        (Key::Num5, Page::Models),
        (Key::Num6, Page::Library),
        (Key::Num7, Page::Copies),
        (Key::Num8, Page::Similar),
        (Key::Num9, Page::Map),
        (Key::Num0, Page::Clusters),
        (Key::Num1, Page::Browse),
    ] {
        world.ctrl(key);
        assert_eq!(world.harness.state_mut().view_mut().page, page);
    }
}

#[test]
fn a_class_is_made_renamed_merged_and_deleted() {
    let mut world = small();
    world.harness.state_mut().view_mut().open(Modal::ClassName(None));
    world.step();
    world.type_into("Class name", "dog");
    world.key(Key::Enter);
    world.until("it is there", |app| app.desk().state().unwrap().class("dog").is_some());
    world.run(Command::RenameClass("ant".into(), "emmet".into()));
    world.until("it is renamed", |app| app.desk().state().unwrap().images().any(|image| image.label() == Some("emmet")));
    world.run(Command::RenameClass("emmet".into(), "bee".into()));
    world.until("it is merged", |app| app.desk().state().unwrap().images().filter(|image| image.label() == Some("bee")).count() == 8);
    world.run(Command::DeleteClass("bee".into()));
    world.until("it is gone", |app| app.desk().state().unwrap().class("bee").is_none());
    for _ in 0..4 {
        world.run(Command::Undo);
        world.rest();
    }
    assert_eq!(world.state().images().filter(|image| image.label() == Some("ant")).count(), 4);
}
