//! The page of similar images: neighbours of an image of the library, of a file and of a part, and
//! the ways from one to the next and back.

use egui::{Event, Key, Modifiers, PointerButton, pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tessera::command::{Command, Crop, ImageQuery};
use tessera::gui::App;
use tessera::gui::page::Page;
use tessera::job::JobKind;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::looks::{Look, LookQuery};
use tessera_core::picture::appearance::Appearance;

use crate::keys::small;
use crate::world::{World, picture};

/// The query that is answered, and the images in the answer.
fn answered(app: &App) -> (Option<ItemId>, Vec<ItemId>) {
    let answer = app.desk().similar().answer();
    let list = answer.map(|answer| answer.alikes.iter().map(|alike| alike.image).collect()).unwrap_or_default();
    (answer.and_then(|answer| answer.query.image.item), list)
}

fn is_by(app: &App, look: Look) -> bool {
    app.desk().similar().answer().is_some_and(|answer| answer.search.by == look)
}

fn selected(world: &mut World) -> Option<ItemId> {
    world.harness.state_mut().view_mut().selection.one()
}

/// Waits for the neighbours of an image of the library.
#[track_caller]
fn until_near(world: &mut World, id: u32) {
    world.until("its neighbours are there", |app| answered(app).0 == Some(ItemId(id)) && !answered(app).1.is_empty());
}

#[test]
fn the_neighbours_of_an_image_are_those_of_the_library() {
    let mut world = small();
    world.ctrl(Key::Num8);
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Similar);
    assert!(world.shows("Which images are like one?"));
    world.ctrl(Key::Num1);
    world.harness.state_mut().view_mut().selection.set([ItemId(5)]);
    world.harness.key_press_modifiers(Modifiers::SHIFT, Key::L);
    world.step();
    until_near(&mut world, 5);
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Similar);
    assert!(world.app().desk().searching().hits().is_none(), "the search is as it was");
    world.click("Edges and colours");
    world.until("that is compared", |app| is_by(app, Look::Appearance));
    assert!(world.shows("11 images most like 000.png") && world.shows("all 11 images compared"));
    let shown: Vec<(ItemId, f64)> =
        world.app().desk().similar().answer().unwrap().alikes.iter().map(|alike| (alike.image, alike.likeness)).collect();
    assert!(world.shows(&format!("{:.3}", 1.0 - shown[0].1)), "the distance is said");
    // What the library itself says, once the window has closed it.
    let appearance: Appearance = world.app().desk().similar().query().unwrap().image.appearance.clone();
    let folder = world.app().desk().folder().unwrap().to_owned();
    world.run(Command::Close);
    world.until("it is closed", |app| app.desk().state().is_none());
    assert!(world.app().desk().similar().query().is_none());
    let session = tessera::session::Session::new(1, 0).unwrap();
    let mut library: Library = opened(&session, &folder);
    while library.load_looks(&Look::Appearance, 100).unwrap() > 0 {}
    let query = LookQuery { by: Some(Look::Appearance), ..LookQuery::new(appearance, None, Some(ItemId(5))) };
    let truth = library.look_alikes(&query, 100, |id| id != ItemId(5));
    assert_eq!(shown, truth.list.iter().map(|alike| (alike.image, alike.likeness)).collect::<Vec<_>>());
}

/// Opens a library that the window may still be closing.
pub(crate) fn opened(session: &tessera::session::Session, folder: &std::path::Path) -> Library {
    let start = std::time::Instant::now();
    loop {
        match session.open_library(folder) {
            Ok(library) => return library,
            Err(error) => assert!(start.elapsed().as_secs() < 60, "{error}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn vectors_and_recall_are_chosen_and_keys_walk_from_image_to_image() {
    let mut world = small();
    world.run(Command::Similar(ImageQuery::Item(ItemId(2)), None));
    until_near(&mut world, 2);
    world.click("Colours");
    world.until("colours are compared", |app| is_by(app, Look::Colours));
    world.click("Edges");
    world.until("edges are compared", |app| is_by(app, Look::Edges));
    // An image of the library as a whole has more: its elements, and its captions' words.
    world.click("The recogniser's elements");
    world.until("elements are compared", |app| is_by(app, Look::Elements));
    world.click("Words of captions");
    world.rest();
    assert!(is_by(world.app(), Look::Elements), "it has no caption");
    world.click("Usual");
    world.until("the usual vectors are", |app| app.desk().similar().answer().is_some_and(|answer| answer.by.is_none()));
    world.run(Command::SimilarRecall(1.0));
    world.until("the recall is asked for", |app| app.desk().similar().answer().is_some_and(|answer| answer.recall == 1.0));
    // The next one is selected by an arrow and opened by Enter; Backspace leads back to both.
    world.step();
    let first = answered(world.app()).1;
    world.key(Key::ArrowRight);
    assert_eq!(selected(&mut world), Some(first[0]));
    assert!(world.shows("Captions"), "its details are shown");
    world.key(Key::ArrowRight);
    assert_eq!(selected(&mut world), Some(first[1]));
    world.key(Key::Enter);
    until_near(&mut world, first[1].0);
    assert!(world.harness.state_mut().view_mut().viewer.is_none(), "Enter opens no viewer here");
    assert_eq!(selected(&mut world), None);
    world.key(Key::Backspace);
    until_near(&mut world, 2);
    assert_eq!((answered(world.app()).1, selected(&mut world)), (first.clone(), Some(first[1])));
    assert!(world.app().desk().similar().former().is_none() && !world.shows("⬅ Back"));
    // Removed images are no neighbours, until that is undone.
    world.key(Key::Delete);
    world.until("it is no neighbour any more", |app| !answered(app).1.contains(&first[1]));
    world.ctrl(Key::Z);
    world.until("it is one again", |app| answered(app).1 == first);
}

#[test]
fn a_part_is_marked_and_taken_back() {
    let mut world = small();
    world.run(Command::Similar(ImageQuery::Item(ItemId(3)), None));
    until_near(&mut world, 3);
    world.rest();
    let frame = world.harness.get_by_label("Query: 002.png").rect();
    let (from, to) = (frame.center() - egui::vec2(60.0, 60.0), frame.center() + egui::vec2(50.0, 40.0));
    let button = |pos, pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    let middle = pos2(from.x + 30.0, from.y + 30.0);
    for event in [Event::PointerMoved(from), button(from, true), Event::PointerMoved(middle), Event::PointerMoved(to), button(to, false)] {
        world.harness.event(event);
        world.harness.step();
    }
    world.until("the part is compared", |app| app.desk().similar().answer().is_some_and(|answer| answer.query.image.crop.is_some()));
    let Crop([_, _, width, height]) = world.app().desk().similar().query().unwrap().image.crop.unwrap();
    assert!(width > height && (20..48).contains(&width) && (18..46).contains(&height), "{width} x {height}");
    assert_eq!(answered(world.app()).1.len(), 12, "the picture that it is a part of is found, too");
    assert!(world.shows("most like a part of 002.png") && world.shows(&format!("{width} × {height} of 48 × 48")));
    assert!(world.app().desk().similar().former().is_none(), "another part is no other image");
    world.click("Whole image");
    world.until("all of it is compared", |app| app.desk().similar().answer().is_some_and(|answer| answer.query.image.crop.is_none()));
    assert_eq!(answered(world.app()).1.len(), 11);
}

#[test]
fn a_file_is_chosen_dropped_or_pasted_and_one_that_cannot_be_read_is_named() {
    let mut world = small();
    let (file, other, broken) = (world.path("elsewhere.png"), world.path("other.png"), world.path("broken.png"));
    picture(7, 64).save(&file).unwrap();
    picture(8, 64).save(&other).unwrap();
    std::fs::write(&broken, "no picture").unwrap();
    world.ctrl(Key::Num8);
    world.harness.state_mut().ask(Command::AddSimilar(broken.clone()));
    world.until("it is refused", |app| app.desk().similar().failure().is_some());
    world.rest();
    let words = world.app().desk().similar().failure().unwrap().to_owned();
    assert!(words.contains("broken.png") && world.shows("This image cannot be compared"), "{words}");
    let named = |app: &App, name: &str| app.desk().similar().answer().is_some_and(|answer| answer.query.image.short_name() == name);
    world.run(Command::AddSimilar(file));
    world.until("it is compared", |app| named(app, "elsewhere.png"));
    assert!(world.app().desk().similar().failure().is_none() && world.shows("12 images most like elsewhere.png"));
    world.click("Choose an image…");
    world.harness.state_mut().view_mut().draft.text = other.to_string_lossy().into_owned();
    world.step();
    world.click("Open");
    world.until("the other is compared", |app| named(app, "other.png"));
    let pixels = vec![egui::Color32::from_rgb(200, 30, 30); 32 * 24];
    let pasted = egui::ColorImage::new([32, 24], pixels);
    world.harness.event(Event::PasteImage(std::sync::Arc::new(pasted)));
    world.until("the pasted one is compared", |app| named(app, "Pasted image"));
    assert!(world.app().desk().recognising().recognition().is_none());
    world.click("⬅ Back");
    world.until("the one before is back", |app| named(app, "other.png"));
}

#[test]
fn parts_of_others_are_compared_and_nothing_that_the_network_sees_without_learned_features() {
    let mut world = small();
    world.run(Command::Similar(ImageQuery::Item(ItemId(2)), None));
    until_near(&mut world, 2);
    world.click("What the network sees");
    world.until("that is compared", |app| is_by(app, Look::Network));
    world.rest();
    world.click("It is a part");
    world.until("parts of all are compared", |app| app.desk().similar().answer().is_some_and(|answer| answer.search.by_parts == 11));
    world.rest();
    assert!(world.shows("11 images with a part most like 001.png") && world.shows("as a part of others"));
    world.click("Whole image");
    world.until("wholes are compared", |app| app.desk().similar().answer().is_some_and(|answer| answer.search.by_parts == 0));
    world.ctrl(Key::Num4);
    world.run(Command::UseLearnedFeatures(false));
    world.until("they are off", |app| !app.desk().recognising().learned().is_on && !app.desk().jobs().is_busy());
    world.ctrl(Key::Num8);
    world.until("edges and colours are compared", |app| is_by(app, Look::Appearance));
    world.rest();
    assert!(world.harness.get_by_label("What the network sees").accesskit_node().is_disabled());
    assert!(world.app().desk().similar().query().unwrap().image.glimpse.is_none() && world.shows("11 images most like 001.png"));
    world.run(Command::UseLearnedFeatures(true));
    world.until("they are on", |app| app.desk().recognising().learned().is_on && !app.desk().jobs().is_busy());
    world.ctrl(Key::Num1);
    world.ctrl(Key::Num8);
    world.until("what was chosen is compared again", |app| is_by(app, Look::Network));
    assert_eq!(answered(world.app()).1.len(), 11);
}

#[test]
fn kinds_of_indexes_are_compared_on_demand() {
    let images = tempfile::tempdir().unwrap();
    for number in 0..810 {
        picture(number, 24).save(images.path().join(format!("{number:03}.png"))).unwrap();
    }
    let mut world = World::on(images.path());
    world.run(Command::Similar(ImageQuery::Item(ItemId(1)), None));
    until_near(&mut world, 1);
    world.click("Edges and colours");
    world.until("that is compared", |app| is_by(app, Look::Appearance));
    world.click("Compare kinds of indexes");
    world.until("they are compared", |app| app.desk().similar().partitions().is_some());
    world.step();
    assert!(world.shows("Recall over images compared, of 5 kinds of indexes") && world.shows("Made of 648 images, asked by 162 others"));
    assert!(world.shows("cells, regressions in each") && world.shows("trees, principal directions"));
    world.click("Again");
    world.until("they are compared again", |app| !app.desk().jobs().is_running(&JobKind::ComparePartitions));
    world.step();
    world.click("Edges");
    world.until("edges are compared", |app| is_by(app, Look::Edges));
    world.step();
    assert!(world.shows("Compare kinds of indexes"), "they were of other vectors");
}
