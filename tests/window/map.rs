//! The map: its points, the ways to move and select on it, its colours, and the layout that
//! improves, stops and goes on.

use egui::{Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, Rect, vec2};
use egui_kittest::kittest::Queryable as _;
use tessera::command::Command;
use tessera::gui::App;
use tessera::gui::page::Page;
use tessera::job::JobKind;
use tessera_core::ids::ItemId;
use tessera_core::library::clusters::ClusterAim;
use tessera_core::library::event::UserLabel;
use tessera_core::library::looks::Look;

use crate::keys::{selected, small};
use crate::world::World;

fn is_done(app: &App) -> bool {
    app.desk().map().shown().is_some_and(|map| map.trust.is_some()) && !app.desk().jobs().is_running(&JobKind::LayOutMap)
}

/// A window on twelve images, with their map.
fn mapped() -> World {
    let mut world = small();
    world.ctrl(Key::Num9);
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Map);
    world.until("the map is done", is_done);
    world
}

fn canvas(world: &World) -> Rect {
    world.harness.get_by_label("Map of 12 images").rect()
}

/// Where the point of an image is on the screen while the whole map is shown.
fn point(world: &World, id: u32) -> Pos2 {
    let map = world.app().desk().map().shown().unwrap();
    let [x, y] = map.places[map.images.binary_search(&ItemId(id)).unwrap()];
    let rect = canvas(world);
    rect.center() + vec2(x - 0.5, y - 0.5) * rect.width().min(rect.height()) * 0.88
}

fn button(world: &mut World, pos: Pos2, pressed: bool, modifiers: Modifiers) {
    world.harness.event(Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers });
    world.harness.step();
}

fn click_at(world: &mut World, at: Pos2, modifiers: Modifiers) {
    world.harness.event(Event::PointerMoved(at));
    world.harness.step();
    world.harness.event(Event::ModifiersChanged(modifiers));
    button(world, at, true, modifiers);
    button(world, at, false, modifiers);
    world.harness.event(Event::ModifiersChanged(Modifiers::NONE));
    world.step();
}

/// Drags along a line.
fn drag(world: &mut World, line: &[Pos2], modifiers: Modifiers) {
    world.harness.event(Event::ModifiersChanged(modifiers));
    world.harness.event(Event::PointerMoved(line[0]));
    world.harness.step();
    button(world, line[0], true, modifiers);
    for at in line {
        world.harness.event(Event::PointerMoved(*at));
        world.harness.step();
    }
    button(world, line[line.len() - 1], false, modifiers);
    world.harness.event(Event::ModifiersChanged(Modifiers::NONE));
    world.step();
}

#[test]
fn points_are_selected_by_clicks_lasso_and_legend_and_labelled_as_any_selection() {
    let mut world = mapped();
    assert!(world.shows("12 images") && world.shows("True neighbours: "));
    let at = point(&world, 3);
    click_at(&mut world, at, Modifiers::NONE);
    assert_eq!(selected(&mut world), [3]);
    assert!(world.shows("Captions"), "its details are shown");
    world.key(Key::Escape);
    assert!(selected(&mut world).is_empty());
    // Around everything.
    let rect = canvas(&world).shrink(2.0);
    let around = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
    drag(&mut world, &around, Modifiers::SHIFT);
    assert_eq!(selected(&mut world).len(), 12);
    // Around one.
    world.key(Key::Escape);
    let at = point(&world, 7);
    let around = [vec2(-12.0, -12.0), vec2(-3.0, -12.0), vec2(12.0, -12.0), vec2(12.0, 12.0), vec2(-12.0, 12.0)].map(|way| at + way);
    drag(&mut world, &around, Modifiers::SHIFT);
    assert_eq!(selected(&mut world), [7]);
    world.click("ant  4");
    let ants = selected(&mut world);
    assert_eq!(ants.len(), 4);
    world.key(Key::Num3);
    world.until("they are labelled", |app| app.desk().state().unwrap().images().filter(|image| image.label() == Some("cat")).count() == 8);
    world.step();
    assert!(world.shows("cat  8"), "the legend follows");
    // The same are selected in Browse.
    world.ctrl(Key::Num1);
    assert_eq!(selected(&mut world), ants);
}

#[test]
fn keys_wheel_and_drags_move_the_view() {
    let mut world = mapped();
    let at = point(&world, 5);
    let chosen = |world: &mut World| {
        world.key(Key::Escape);
        click_at(world, at, Modifiers::NONE);
        selected(world)
    };
    assert_eq!(chosen(&mut world), [5]);
    // The arrow moves it away, and 0 brings it back.
    world.key(Key::ArrowRight);
    assert_ne!(chosen(&mut world), [5]);
    world.key(Key::F);
    assert_eq!(chosen(&mut world), [5]);
    assert_ne!(world.state().image(ItemId(5)).unwrap().label(), None, "0 labels nothing here");
    // The wheel zooms around the pointer, where the point stays.
    world.harness.event(Event::PointerMoved(at));
    world.harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, 300.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    world.harness.run_steps(30);
    assert_eq!(chosen(&mut world), [5]);
    world.harness.run_steps(5);
    // Dragging takes it along.
    drag(&mut world, &[at, at + vec2(20.0, 0.0), at + vec2(60.0, 10.0)], Modifiers::NONE);
    world.key(Key::Escape);
    click_at(&mut world, at + vec2(60.0, 10.0), Modifiers::NONE);
    assert_eq!(selected(&mut world), [5]);
    world.click("All");
    world.key(Key::Plus);
    world.key(Key::Minus);
    assert_eq!(chosen(&mut world), [5]);
}

#[test]
fn colours_layouts_and_vectors_are_chosen() {
    let mut world = mapped();
    world.click("Date");
    assert!(world.shows("20") && !world.shows("ant  4"));
    world.click("Error");
    assert!(world.shows("not judged") || world.shows("right") || world.shows("wrong"));
    world.click("Score");
    world.click("Class");
    assert!(world.shows("ant  4"));
    world.click("Components");
    world.click("Neighbours");
    let before = world.app().desk().map().shown().unwrap().places.clone();
    world.click("Edges");
    world.until("edges are compared", |app| is_done(app) && app.desk().map().shown().unwrap().by == Look::Edges);
    assert_ne!(*world.app().desk().map().shown().unwrap().places, *before);
    world.click("Usual");
    world.until("it is as before", is_done);
    world.until("it is as before", |app| app.desk().map().by().is_none() && is_done(app));
    assert_eq!(world.app().desk().map().shown().unwrap().places, before, "the same seed lays out the same");
}

#[test]
fn images_that_come_and_go_are_told() {
    let mut world = mapped();
    world.run(Command::Remove(vec![ItemId(2), ItemId(3)]));
    world.until("they are gone", |app| app.desk().state().unwrap().images().count() == 10);
    world.step();
    assert!(world.shows("10 images"));
    let rect = canvas(&world).shrink(2.0);
    drag(&mut world, &[rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()], Modifiers::SHIFT);
    assert_eq!(selected(&mut world).len(), 10, "what is gone is not selected");
    world.run(Command::Undo);
    world.until("they are back", |app| app.desk().state().unwrap().images().count() == 12);
    crate::world::picture(99, 48).save(world.path("new.png")).unwrap();
    std::fs::create_dir(world.path("more")).unwrap();
    crate::world::picture(98, 48).save(world.path("more/98.png")).unwrap();
    let more = world.path("more");
    world.run(Command::Add(more));
    let shown = world.app().desk().map().shown().unwrap().clone();
    world.until("one came", |app| app.desk().state().unwrap().images().count() == 13);
    world.until("it is on the map", |app| is_done(app) && app.desk().map().shown().unwrap().images.len() == 13);
    let anew = world.app().desk().map().shown().unwrap().clone();
    let there: Vec<_> = shown.images.iter().zip(shown.places.iter()).collect();
    let stayed = anew.images.iter().zip(anew.places.iter()).filter(|one| there.contains(one)).count();
    assert_eq!(stayed, 12, "the others stay where they were");
    world.run(Command::Label(vec![ItemId(1)], UserLabel::NoClass));
    world.until("it has no class", |app| app.desk().state().unwrap().image(ItemId(1)).unwrap().label().is_none());
    world.step();
    assert!(world.shows("no class"));
}

#[test]
fn a_map_is_kept_and_coloured_by_clusters() {
    let mut world = mapped();
    let shown = world.app().desk().map().shown().unwrap().clone();
    let state = world.app().desk().state().unwrap();
    let file = state.path_of(state.image(ItemId(1)).unwrap()).unwrap();
    // Class folders lie in the folder that was opened.
    let images = file.parent().unwrap().parent().unwrap().to_owned();
    world.run(Command::Close);
    world.until("it is closed", |app| app.desk().state().is_none());
    world.run(Command::Open(images));
    world.until("it is open", |app| app.desk().state().is_some());
    world.ctrl(Key::Num9);
    world.until("the map is there", is_done);
    let again = world.app().desk().map().shown().unwrap().clone();
    assert_eq!((again.images, again.places, again.trust), (shown.images, shown.places, shown.trust));
    world.click("Cluster");
    world.step();
    assert!(world.shows("No clusters were found yet"));
    world.run(Command::FindClusters(ClusterAim { clusters: Some(2), ..ClusterAim::default() }));
    world.until("clusters are there", |app| app.desk().clusters().answer().is_some() && !app.desk().jobs().is_busy());
    world.step();
    assert!(!world.shows("No clusters were found yet"));
    let found = world.app().desk().clusters().answer().unwrap().clone();
    for (cluster, title) in found.clusters.iter().zip(&found.titles) {
        assert!(world.shows(&format!("{title}  {}", cluster.images.len())), "{title}");
    }
}

#[test]
fn a_layout_that_is_stopped_goes_on() {
    let mut world = small();
    world.ctrl(Key::Num9);
    world.until("it is under way", |app| app.desk().jobs().is_running(&JobKind::LayOutMap) || is_done(app));
    // On a fast machine it may be done before it is stopped.
    if let Some(job) = world.app().desk().jobs().of(&JobKind::LayOutMap) {
        world.run(Command::Cancel(job.id));
    }
    world.until("it ended", |app| !app.desk().jobs().is_running(&JobKind::LayOutMap));
    world.step();
    if world.app().desk().map().is_unfinished() {
        assert!(world.shows("Stopped after round"));
        world.click("Go on");
    } else if world.app().desk().map().shown().is_none() {
        assert!(world.shows("The map was not made"));
        world.click("Make the map");
    }
    world.until("it is done", is_done);
    assert_eq!(world.app().desk().map().shown().unwrap().rounds, world.app().desk().map().rounds());
}

#[test]
fn the_menu_of_a_point_stays_open_while_the_pointer_goes_to_it() {
    let mut world = mapped();
    let at = point(&world, 4);
    world.harness.event(Event::PointerMoved(at));
    world.harness.step();
    for pressed in [true, false] {
        world.harness.event(Event::PointerButton { pos: at, button: PointerButton::Secondary, pressed, modifiers: Modifiers::NONE });
        world.harness.step();
    }
    world.step();
    assert_eq!(selected(&mut world), [4]);
    assert!(world.shows("Label 1 image"));
    world.harness.event(Event::PointerMoved(at + vec2(40.0, 30.0)));
    world.step();
    assert!(world.shows("Label 1 image"), "it is still there");
}
