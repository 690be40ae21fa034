//! Searching: by visual similarity and by words, among the filtered images, with explanations and
//! lessons.

use egui::{Event, Key, Modifiers, PointerButton, pos2};
use egui_kittest::kittest::Queryable as _;
use tessera::command::{Command, Crop, ImageQuery};
use tessera::gui::App;
use tessera::gui::dialogs::Scripted;
use tessera::gui::listing::Scope;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera::gui::view::Viewer;
use tessera::session::why::Term;
use tessera_core::ids::ItemId;
use tessera_core::library::event::Caption;
use tessera_core::network::{CLASSES, Network};

use crate::keys::{selected, small};
use crate::world::{World, class_folders, picture};

fn found(app: &App) -> Vec<u32> {
    app.desk().searching().hits().map(|hits| hits.hits.iter().map(|hit| hit.image.0).collect()).unwrap_or_default()
}

fn search(world: &mut World, words: &str) {
    world.run(Command::Search(words.into()));
    let words = words.to_owned();
    world.until("the answer is there", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == words));
}

#[test]
fn what_looks_alike_is_found_and_combines_with_words_and_filters() {
    let mut world = small();
    world.harness.state_mut().view_mut().selection.set([ItemId(5)]);
    world.key(Key::L);
    world.until("the others are found", |app| found(app).len() == 11);
    let all = world.app().desk().searching().hits().unwrap().clone();
    assert!(all.hits.iter().all(|hit| hit.image != ItemId(5) && hit.look == Some(hit.score)), "{all:?}");
    assert!(world.shows("11 images that look like 000.png") && !world.shows("Good answer: #"), "a thumb is for words");
    search(&mut world, "bee");
    assert_eq!(world.app().desk().searching().hits().unwrap().hits.len(), 3);
    world.harness.state_mut().view_mut().selection.set([ItemId(6)]);
    world.until("the reasons are there", |app| app.desk().searching().why().is_some_and(|why| why.image == ItemId(6)));
    let why = world.app().desk().searching().why().unwrap().clone();
    let sum: f64 = why.terms.iter().map(|(_, value)| value).sum();
    assert!((sum - why.score).abs() < 1e-5 && why.terms.iter().any(|(term, _)| *term == Term::Look), "{why:?}");
    assert!(world.shows("Why it was found"));
    // Both end together.
    world.harness.state_mut().show(Scope::Class("bee".into()));
    world.until("a class that is shown ends it", |app| app.desk().searching().hits().is_none() && app.desk().searching().like().is_none());
    world.harness.state_mut().view_mut().shown.scopes.clear();
    world.run(Command::SearchByImage(Some((ImageQuery::Item(ItemId(5)), None))));
    search(&mut world, "bee");
    world.until("it is all of a class again", |app| found(app).len() == 3);
    // A filter leaves the search as it is.
    world.click_containing("cat");
    world.until("nothing is found there", |app| found(app).is_empty());
    assert!(world.shows("Search in all images"));
    search(&mut world, "");
    world.until("those of the class are found", |app| found(app).len() == 4);
    assert!(found(world.app()).iter().all(|id| (9..=12).contains(id)));
    world.click_containing("cat  ×");
    world.until("all are found again", |app| found(app).len() == 11);
    world.harness.state_mut().show(Scope::Class("ant".into()));
    world.until("a class that is shown ends it", |app| app.desk().searching().hits().is_none() && app.desk().searching().like().is_none());
    world.run(Command::SearchByImage(Some((ImageQuery::Item(ItemId(1)), None))));
    world.until("the others of the class are found", |app| found(app).len() == 3);
    world.click("×");
    world.until("everything is shown", |app| app.desk().searching().hits().is_none());
    assert!(world.app().desk().searching().like().is_none());
}

#[test]
fn a_part_is_marked_with_the_mouse_or_by_looking_closely() {
    let mut world = small();
    let view = world.harness.state_mut().view_mut();
    view.selection.set([ItemId(2)]);
    view.viewer = Some(Viewer { marks: true, ..Viewer::default() });
    world.rest();
    let drag = |world: &mut World, events: &[Event]| {
        for event in events {
            world.harness.event(event.clone());
            world.harness.step();
        }
    };
    let button = |pos, pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    let (from, to) = (pos2(560.0, 340.0), pos2(700.0, 480.0));
    drag(&mut world, &[Event::PointerMoved(from), button(from, true), Event::PointerMoved(pos2(620.0, 400.0)), Event::PointerMoved(to)]);
    assert!(world.harness.state_mut().view_mut().viewer.as_ref().unwrap().mark.is_some());
    drag(&mut world, &[button(to, false)]);
    world.until("something is found", |app| !found(app).is_empty());
    let Crop([_, _, width, height]) = world.app().desk().searching().like().unwrap().crop.unwrap();
    assert!((16..=18).contains(&width) && (16..=18).contains(&height), "140 points at eight for a pixel: {width} x {height}");
    assert_eq!(world.app().desk().searching().hits().unwrap().hits.len(), 12, "the picture that it is a part of is found, too");
    // The visible part of a zoomed picture counts as a part, too.
    let view = world.harness.state_mut().view_mut();
    view.selection.set([ItemId(3)]);
    view.viewer = Some(Viewer { zoom: Some(24.0), ..Viewer::default() });
    world.rest();
    world.key(Key::L);
    world.until("it is looked for", |app| {
        app.desk().searching().like().is_some_and(|like| like.item == Some(ItemId(3)) && like.crop.is_some())
    });
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Browse);
    // A part outside the picture is reported.
    let crop = Some(Crop([40, 40, 20, 20]));
    world.run(Command::SearchByImage(Some((ImageQuery::Item(ItemId(3)), crop))));
    world.until("it is refused", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("within the picture")));
}

#[test]
fn lessons_are_listed_changed_and_taken_back() {
    let mut world = small();
    search(&mut world, "ant");
    let ids = found(world.app());
    for id in &ids[..2] {
        world.run(Command::Reward("ant".into(), ItemId(*id), Some(1.0)));
    }
    world.until("they are known", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 2));
    world.ctrl(Key::L);
    assert_eq!(world.harness.state_mut().view_mut().modal, Some(Modal::Lessons));
    assert!(world.shows("2 lessons"));
    world.click_containing("Unteach ant:");
    world.until("one is left", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 1));
    world.click("Call it bad");
    world.until("it is bad", |app| {
        app.desk().state().is_some_and(|state| state.images().any(|image| image.rewards.values().any(|reward| reward.0 == -1000)))
    });
    world.key(Key::Escape);
    world.run(Command::Undo);
    world.run(Command::Undo);
    world.until("both are good again", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 2));
    // When the image at the cursor leaves the list, the next one takes its place.
    search(&mut world, "bee");
    let list = found(world.app());
    world.harness.state_mut().view_mut().selection.set([ItemId(list[1])]);
    world.key(Key::Home);
    world.key(Key::ArrowRight);
    world.key(Key::Delete);
    world.until("it is gone", |app| found(app).len() == list.len() - 1);
    world.key(Key::ArrowRight);
    assert_eq!(world.harness.state_mut().view_mut().selection.one(), Some(ItemId(list[2])));
    assert!(world.harness.state_mut().view_mut().shown.scopes.is_empty());
    world.harness.state_mut().show(Scope::Class("cat".into()));
    world.until("a class that is shown ends the search", |app| app.desk().searching().hits().is_none());
}

fn caption(world: &mut World, image: u32, text: &str) {
    world.run(Command::Caption(ItemId(image), vec![Caption { text: text.into(), by_user: true }]));
    let has = move |app: &App| app.desk().state().is_some_and(|state| !state.image(ItemId(image)).unwrap().captions.is_empty());
    world.until("the caption is there", has);
}

fn text(world: &mut World) -> String {
    world.harness.state_mut().view_mut().search.text.clone()
}

#[test]
fn a_word_is_completed_by_keys_and_by_the_mouse() {
    let mut world = small();
    caption(&mut world, 1, "a snowboard in the snow");
    caption(&mut world, 2, "a snowman");
    world.ctrl(Key::F);
    world.type_into("Search", "sno");
    world.until("there are completions", |app| app.desk().searching().hits().is_some_and(|hits| hits.completions.len() == 3));
    world.step();
    assert!(world.shows("Complete: snowboard") && world.shows("Complete: snowman"));
    // Escape closes the list, and then ends the search.
    world.key(Key::Escape);
    assert!(!world.shows("Complete: snowboard") && text(&mut world) == "sno");
    world.key(Key::Escape);
    world.until("nothing is searched for", |app| app.desk().searching().hits().is_none());
    world.ctrl(Key::F);
    world.type_into("Search", "sno");
    world.until("there are completions", |app| app.desk().searching().hits().is_some_and(|hits| hits.completions.len() == 3));
    world.step();
    world.key(Key::ArrowDown);
    world.key(Key::ArrowDown);
    world.key(Key::ArrowDown);
    world.key(Key::ArrowUp);
    world.key(Key::Enter);
    assert_eq!(text(&mut world), "snowboard");
    world.until("it is searched for", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == "snowboard"));
    assert_eq!(found(world.app()), [1]);
    assert!(!world.shows("Complete:"));
    // Typing goes on at the end; Tab takes the first.
    world.type_into("Search", " ca");
    world.until("there is a class", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == "snowboard ca"));
    world.step();
    world.key(Key::Tab);
    assert_eq!(text(&mut world), "snowboard cat");
    world.until("it is searched for", |app| found(app).len() == 5);
    world.type_into("Search", " snowm");
    world.until("there is a completion", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == "snowboard cat snowm"));
    world.step();
    world.press("Complete: snowboard cat snowman");
    assert_eq!(text(&mut world), "snowboard cat snowman");
    // Enter without a chosen completion searches for what is typed, and the list stays closed.
    world.harness.state_mut().view_mut().search.text.clear();
    world.type_into("Search", "snow");
    world.until("there are completions", |app| {
        app.desk().searching().hits().is_some_and(|hits| hits.query == "snow" && !hits.completions.is_empty())
    });
    world.step();
    assert!(world.shows("Complete: snowboard"));
    world.key(Key::Enter);
    world.rest();
    assert!(text(&mut world) == "snow" && !world.shows("Complete:"));
}

#[test]
fn what_was_meant_is_offered_and_told() {
    let mut world = small();
    caption(&mut world, 1, "a snowboard in the snow");
    search(&mut world, "snowbord");
    assert_eq!(found(world.app()), [1]);
    world.harness.state_mut().view_mut().selection.set([ItemId(1)]);
    world.until("the reasons are there", |app| app.desk().searching().why().is_some());
    assert!(world.shows("snowboard (you typed snowbord)"));
    assert!(world.shows("Nothing has “snowbord”: it is read as “snowboard”"));
    world.click("Did you mean: snowboard?");
    assert_eq!(text(&mut world), "snowboard");
    world.until("it is searched for", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == "snowboard"));
    assert!(!world.shows("Did you mean") && !world.shows("it is read as"));
}

#[test]
fn words_that_nothing_has_are_told_beside_what_the_others_find() {
    let mut world = small();
    caption(&mut world, 1, "children on a beach");
    caption(&mut world, 2, "a dog");
    // The last word may go on as long as one begins so.
    for (text, told) in [
        ("children swimming", "Nothing has “swimming”; the other word was looked for"),
        ("children swimming do", "Nothing has “swimming”; the other words were looked for"),
        ("swimming ", "Nothing has “swimming”"),
    ] {
        search(&mut world, text);
        world.rest();
        assert!(world.shows(told), "{text}: {:?}", world.app().desk().searching().hits());
    }
    for text in ["children dog", "child", "children do"] {
        search(&mut world, text);
        world.rest();
        assert!(!world.shows("Nothing has"), "{text}");
    }
}

#[test]
fn all_that_answer_are_listed_and_selected() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("settings.ron"), "{\"hits\": 3}").unwrap();
    let images = folder.path().join("images");
    class_folders(&images, &["ant", "bee"], 9);
    let mut world = World::with(folder, [1280.0, 800.0], Box::new(Scripted::new([])));
    world.run(Command::Open(images));
    world.until("it is open", |app| app.desk().state().is_some_and(|state| state.images().count() == 18) && !app.desk().jobs().is_busy());
    search(&mut world, "bee");
    assert!(world.shows("9 images for “bee”"));
    world.click("Select all 9 images");
    assert_eq!(selected(&mut world), (10..=18).collect::<Vec<_>>());
    world.ctrl_shift(Key::A);
    world.ctrl(Key::A);
    assert_eq!(selected(&mut world).len(), 9);
    // Those that are on the screen come in full, though a search gives the first three so.
    world.until("they are there", |app| (10..=15).all(|image| app.desk().searching().hit(ItemId(image)).is_some()));
    assert!(world.shows("000.png: no caption"));
    world.run(Command::Why(ItemId(18)));
    world.key(Key::Home);
    world.key(Key::End);
    world.until("the last is, too", |app| app.desk().searching().hit(ItemId(18)).is_some());
    world.until("it is explained", |app| app.desk().searching().why().is_some_and(|why| why.image == ItemId(18)));
}

#[test]
fn the_box_keeps_the_focus_until_one_goes_down_to_the_answer() {
    let mut world = small();
    world.ctrl(Key::F);
    world.type_into("Search", "bee ");
    world.until("they are found", |app| found(app).len() == 4);
    world.key(Key::Enter);
    // Keys are those of the box: all of the text is selected and replaced, no image is labelled.
    world.ctrl(Key::A);
    world.harness.event(Event::Text("2".into()));
    world.step();
    assert_eq!(text(&mut world), "2");
    assert!(selected(&mut world).is_empty() && world.state().history().len() == 1);
    // Until then the answer before it is shown.
    world.until("it is answered", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == "2"));
    world.ctrl(Key::A);
    world.harness.event(Event::Text("bee ".into()));
    world.until("they are found again", |app| found(app).len() == 4);
    world.key(Key::ArrowDown);
    assert_eq!(selected(&mut world), found(world.app())[..1]);
    world.key(Key::ArrowRight);
    assert_eq!(selected(&mut world), found(world.app())[1..2]);
}

#[test]
fn images_stay_where_they_are_while_they_are_judged() {
    let mut world = small();
    search(&mut world, "ant");
    let before = world.app().desk().searching().hits().unwrap().images.clone();
    let last = *before.last().unwrap();
    world.run(Command::Reward("ant".into(), last, Some(1.0)));
    world.until("it is known", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 1));
    world.step();
    let hits = world.app().desk().searching().hits().unwrap().clone();
    assert_eq!((&hits.images, hits.is_best_first), (&before, false));
    world.click("Best first");
    world.until("the taught one comes first", |app| app.desk().searching().hits().is_some_and(|hits| hits.images.first() == Some(&last)));
    world.step();
    assert!(!world.shows("Best first"));
    // Enter in the box does so, too.
    world.run(Command::Reward("ant".into(), last, Some(-1.0)));
    world.until("it is taken down", |app| app.desk().searching().hits().is_some_and(|hits| !hits.is_best_first));
    world.step();
    world.ctrl(Key::F);
    world.key(Key::Enter);
    world.until("it comes last", |app| app.desk().searching().hits().is_some_and(|hits| hits.images.last() == Some(&last)));
    world.run(Command::Reward("ant".into(), last, Some(1.0)));
    world.rest();
    // Another question is answered in its own order, also if something changes before the answer.
    world.run(Command::Search("bee".into()));
    world.run(Command::NewClass("dog".into()));
    world.until("bees are found", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == "bee"));
    world.rest();
    assert!(world.app().desk().searching().hits().unwrap().is_best_first);
    search(&mut world, "ant");
    assert_eq!(world.app().desk().searching().hits().unwrap().images.first(), Some(&last));
    // One that leaves the answer leaves the others where they are; another search begins anew.
    let second = world.app().desk().searching().hits().unwrap().images.clone();
    world.run(Command::Remove(vec![second[1]]));
    world.until("it is gone", |app| app.desk().searching().hits().is_some_and(|hits| hits.images.len() == second.len() - 1));
    assert_eq!(world.app().desk().searching().hits().unwrap().images[1], second[2]);
}

#[test]
fn all_lessons_of_a_query_are_taken_back_in_one_act() {
    let mut world = small();
    search(&mut world, "ant");
    for (query, image) in [("ant", 1), ("ant", 2), ("bee", 5), ("bee", 6), ("cat", 9)] {
        world.run(Command::Reward(query.into(), ItemId(image), Some(1.0)));
    }
    world.until("they are known", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 5));
    world.ctrl(Key::L);
    world.click("Take back all for…");
    world.step();
    assert!(world.shows("“ant”: 2 lessons") && !world.shows("“cat”: 1"));
    world.click("“bee”: 2 lessons");
    world.until("they are taken back", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 3));
    world.key(Key::Escape);
    world.run(Command::Undo);
    world.until("one undo brings both back", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 5));
}

#[test]
fn a_guessed_word_is_rejected_by_its_x() {
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["aa", "bb"], 4);
    let mut world = World::on(images.path());
    // What the network takes the first picture for.
    let network = Network::shipped().unwrap();
    let seen = network.look_at(&picture(0, 48)).unwrap();
    let best = (0..CLASSES).max_by(|a, b| seen.classes()[*a].total_cmp(&seen.classes()[*b])).unwrap();
    let noun = network.nouns(best)[0];
    search(&mut world, noun.rsplit([' ', '-']).next().unwrap());
    let is_guessed = move |app: &App, id: ItemId| {
        app.desk().searching().hit(id).is_some_and(|hit| hit.guessed.iter().any(|word| word.guess.noun == noun))
    };
    let hits = world.app().desk().searching().hits().unwrap().images.clone();
    let id = hits.iter().copied().find(|id| is_guessed(world.app(), *id)).expect("the first picture, by its noun");
    world.harness.state_mut().view_mut().selection.set([id]);
    world.until("the reasons are there", |app| app.desk().searching().why().is_some_and(|why| why.image == id));
    let x = format!("Reject the guess {noun}");
    world.harness.get_by_label(&x).scroll_to_me();
    world.harness.run_steps(20);
    world.click(&x);
    world.until("it is not guessed again", |app| !is_guessed(app, id));
    assert!(!world.shows(&x));
    world.run(Command::Undo);
    world.until("undo takes that back", |app| is_guessed(app, id));
}

#[test]
fn neither_lessons_nor_words_move_what_is_pressed() {
    for width in [800.0, 1000.0, 1280.0] {
        let mut world = small();
        world.harness.set_size(egui::vec2(width, 800.0));
        caption(&mut world, 1, "a snowboard in the snow");
        caption(&mut world, 2, "a snowman");
        world.ctrl(Key::F);
        world.type_into("Search", "snowboard");
        world.until("it is searched for", |app| app.desk().searching().hits().is_some_and(|hits| hits.query == "snowboard"));
        world.rest();
        let place = |world: &World| world.harness.get_by_label("Good answer: #1").rect();
        let before = place(&world);
        let buttons = |world: &World| ["Learning", "Plain"].map(|label| world.harness.get_by_label(label).rect());
        let stood = buttons(&world);
        world.press("Good answer: #1");
        world.until("it is taught", |app| app.desk().searching().hits().is_some_and(|hits| hits.lessons == 1));
        world.rest();
        assert_eq!(place(&world), before, "in a window {width} wide");
        assert!(world.shows("taught 1 time"));
        assert_eq!(buttons(&world), stood, "in a window {width} wide");
        search(&mut world, "snowboard zebra in words that take room");
        world.rest();
        assert_eq!(buttons(&world), stood, "whatever is told, in a window {width} wide");
    }
}
