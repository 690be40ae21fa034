//! The page of clusters: found, selected, named, merged and labelled, by the mouse and by keys.

use std::collections::BTreeMap;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tessera::command::Command;
use tessera::gui::page::Page;
use tessera::job::JobKind;
use tessera::session::desk::clusters::ClusterAnswer;
use tessera_core::ids::ItemId;
use tessera_core::library::clusters::ClusterAim;
use tessera_core::library::event::UserLabel;
use tessera_core::library::looks::Look;

use crate::keys::small;
use crate::world::World;

fn answer(world: &World) -> &ClusterAnswer {
    world.app().desk().clusters().answer().unwrap()
}

fn selected(world: &mut World) -> Vec<ItemId> {
    world.harness.state_mut().view_mut().selection.ids()
}

fn sorted(images: &[ItemId]) -> Vec<ItemId> {
    let mut images = images.to_vec();
    images.sort();
    images
}

/// A window on three clusters of twelve images.
fn clustered() -> World {
    let mut world = small();
    world.ctrl(Key::Num0);
    let aim = ClusterAim { look: Some(Look::Appearance), clusters: Some(3), ..ClusterAim::default() };
    world.run(Command::FindClusters(aim));
    world.until("they are there", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() == 20));
    world.rest();
    world
}

#[test]
fn what_the_network_found_is_hidden_with_a_reason_while_learned_features_are_off() {
    let mut world = small();
    world.ctrl(Key::Num0);
    world.run(Command::FindClusters(ClusterAim { look: Some(Look::Network), clusters: Some(3), ..ClusterAim::default() }));
    world.until("they are there", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() == 20));
    world.rest();
    world.harness.state_mut().turn_to(Page::Map);
    world.run(Command::LayOutMap(Some(Look::Network)));
    world.until("the map is done", |app| app.desk().map().shown().is_some_and(|map| map.trust.is_some()));
    world.run(Command::UseLearnedFeatures(false));
    world.until("they are off", |app| !app.desk().recognising().learned().is_on);
    world.step();
    assert!(world.shows("The map is not shown") && world.shows("learned features are off"));
    world.click("Make it by edges and colours");
    world.until("it is", |app| app.desk().map().shown().is_some_and(|map| map.by == Look::Appearance));
    world.harness.state_mut().turn_to(Page::Clusters);
    world.step();
    assert!(world.shows("The clusters are not shown") && world.shows("the page Train turns these on again"));
    world.run(Command::UseLearnedFeatures(true));
    world.until("they are back", |app| app.desk().clusters().answer().is_some());
    assert!(world.shows("of 12 images by what the network sees"));
}

#[test]
fn clusters_are_asked_for_and_found() {
    let mut world = small();
    world.ctrl(Key::Num0);
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Clusters);
    world.until("it is known that there are none", |app| app.desk().clusters().is_known());
    assert!(world.shows("Which images are of one kind?"));
    world.click("Given");
    assert!(world.shows("Number of clusters"));
    world.click("Find clusters");
    world.until("so many cannot be", |app| app.desk().clusters().failure().is_some());
    world.rest();
    assert!(world.shows("No clusters were found") && world.shows("1 to 12"));
    world.click("Found by itself");
    world.click("Find clusters");
    world.until("they are there", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() == 20));
    world.rest();
    assert!(world.shows("of 12 images by") && world.shows("after 20 iterations") && world.shows("tried"));
    assert!(!world.shows("Find clusters"), "what was asked for is there");
    world.click("Go on");
    world.until("it went on", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() == 40));
    world.rest();
    world.click("Begin anew");
    world.until("it began anew", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.aim().seed == 1));
    // Clusters that were kept are shown at once when the page is turned to.
    world.rest();
    world.ctrl(Key::Num1);
    world.ctrl(Key::Num0);
    assert!(world.shows("of 12 images by"));
}

#[test]
fn a_cluster_is_named_by_keys_in_one_act() {
    let mut world = clustered();
    let acts = world.state().history().len();
    world.key(Key::ArrowDown);
    world.key(Key::Enter);
    let images = sorted(answer(&world).images(0));
    assert_eq!(selected(&mut world), images);
    assert!(world.harness.state_mut().view_mut().viewer.is_none(), "Enter opens no viewer here");
    world.key(Key::L);
    world.type_into("Class name", "kite");
    world.key(Key::Enter);
    world.until("it is named", |app| app.desk().state().unwrap().class("kite").is_some());
    world.until("it shows its name", |app| {
        app.desk().clusters().answer().is_some_and(|answer| answer.clusters.iter().any(|cluster| cluster.name.as_deref() == Some("kite")))
    });
    assert!(world.shows("kite (cluster "));
    assert_eq!(world.state().history().len(), acts + 1);
    world.ctrl(Key::Z);
    world.until("it is undone", |app| app.desk().state().unwrap().class("kite").is_none());
    assert_eq!(world.state().history().len(), acts);
    // Digits label the selected cluster, too.
    world.key(Key::Num1);
    world.until("it is labelled", |app| app.desk().state().unwrap().history().len() == acts + 1);
}

#[test]
fn images_and_clusters_are_selected_by_the_mouse_and_by_keys() {
    let mut world = clustered();
    let (first, second) = (answer(&world).images(0).to_vec(), answer(&world).images(1).to_vec());
    world.key(Key::ArrowRight);
    assert_eq!(selected(&mut world), [first[0]]);
    world.harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowRight);
    world.step();
    assert_eq!(selected(&mut world), sorted(&first[..2]));
    assert!(world.shows("Captions"), "its details are shown");
    let boxes: Vec<String> = world.harness.query_all_by_role(Role::CheckBox).filter_map(|node| node.accesskit_node().label()).collect();
    assert!(boxes.len() >= 2, "{boxes:?}");
    world.click(&boxes[0]);
    world.click(&boxes[1]);
    let both: Vec<ItemId> = first.iter().chain(&second).copied().collect();
    assert_eq!(selected(&mut world), sorted(&both));
    world.click(&boxes[0]);
    assert_eq!(selected(&mut world), sorted(&second));
    world.ctrl(Key::A);
    assert_eq!(selected(&mut world).len(), 12);
    world.ctrl_shift(Key::A);
    assert!(world.shows("Nothing selected"));
    // The most typical images first, one by one.
    world.key(Key::Home);
    world.key(Key::Enter);
    world.click("Label one by one");
    world.until("they are in the queue", |app| app.desk().labelling().shown().is_some_and(|labelling| labelling.only.is_some()));
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Label);
    let queue = world.app().desk().labelling().shown().unwrap().queue.clone();
    assert_eq!(queue, first);
}

#[test]
fn clusters_are_merged_and_images_told_apart() {
    let mut world = clustered();
    world.key(Key::ArrowDown);
    world.key(Key::Space);
    world.key(Key::M);
    assert_eq!(answer(&world).kept.count(), 3, "one is not enough");
    world.key(Key::ArrowDown);
    world.key(Key::Space);
    let two: Vec<ItemId> = [0, 1].map(|place| answer(&world).images(place)[0]).to_vec();
    world.key(Key::M);
    world.until("they are one", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.count() == 2));
    world.rest();
    let last = world.state().history().last().unwrap().words.clone();
    assert!(last.starts_with("Merged clusters ") && world.shows(&last), "{last}");
    assert_eq!(answer(&world).place_of(two[0]), answer(&world).place_of(two[1]));
    assert!(world.shows("together, 0 apart"));
    world.harness.state_mut().view_mut().selection.set(two.clone());
    world.step();
    world.click("These do not belong together");
    world.until("they are apart", |app| {
        app.desk().clusters().answer().is_some_and(|answer| answer.place_of(two[0]) != answer.place_of(two[1]))
    });
    world.rest();
    assert!(world.shows("0 pairs together, 1 apart"));
    world.click("These belong together");
    world.until("they are together", |app| {
        app.desk().clusters().answer().is_some_and(|answer| answer.place_of(two[0]) == answer.place_of(two[1]))
    });
    world.rest();
    world.click("Drop");
    world.until("nothing is said", |app| app.desk().clusters().answer().is_some_and(|answer| answer.pairs == [0, 0]));
}

#[test]
fn the_page_train_tells_errors_by_cluster() {
    let mut world = clustered();
    // Every second image of all kinds bears a name that nothing in it explains.
    let all: Vec<ItemId> = world.state().images().map(|image| image.id).collect();
    let odd: Vec<ItemId> = all.iter().copied().step_by(2).collect();
    world.run(Command::Label(odd, UserLabel::Class("odd".into())));
    world.rest();
    world.ctrl(Key::Num4);
    world.run(Command::Evaluate);
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.rest();
    assert!(world.shows("Errors by cluster"));
    let report = world.app().desk().recognising().report().unwrap().0.clone();
    let state = world.state().clone();
    let mut wrong: BTreeMap<usize, (Vec<ItemId>, usize)> = BTreeMap::new();
    for judged in &report.judged {
        let place = answer(&world).place_of(judged.image).unwrap();
        let (images, of) = wrong.entry(place).or_default();
        *of += 1;
        if report.classes[judged.predicted as usize] != state.image(judged.image).unwrap().label().unwrap() {
            images.push(judged.image);
        }
    }
    wrong.retain(|_, (images, _)| !images.is_empty());
    assert!(!wrong.is_empty(), "half of the names mislead");
    let (place, (images, of)) = wrong.iter().max_by_key(|(place, (images, _))| (images.len(), std::cmp::Reverse(**place))).unwrap();
    let title = answer(&world).title(*place);
    let words = format!("Show {} of {of} wrong in {title}", images.len());
    // It may lie below what is visible.
    world.harness.get_by_label(&words).scroll_to_me();
    world.rest();
    world.click(&words);
    world.rest();
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Clusters);
    assert_eq!(selected(&mut world), sorted(images), "those that were taken for another class are selected");
}

#[test]
fn the_palette_finds_clusters() {
    let mut world = small();
    world.ctrl(Key::K);
    world.type_into("Command", "find clusters");
    world.key(Key::Enter);
    world.until("they are there", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() == 20));
    world.rest();
    assert_eq!(world.harness.state_mut().view_mut().page, Page::Clusters);
    world.ctrl(Key::Num1);
    world.ctrl(Key::K);
    world.type_into("Command", "find clusters");
    world.key(Key::Enter);
    world.until("it went on", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() == 40));
}

#[test]
fn nothing_stays_selected_that_was_given_up_or_split() {
    let mut world = clustered();
    world.key(Key::Home);
    world.key(Key::Enter);
    assert!(!selected(&mut world).is_empty());
    world.key(Key::Escape);
    assert!(selected(&mut world).is_empty());
    world.key(Key::Home);
    world.key(Key::Enter);
    world.click("Select none");
    assert!(selected(&mut world).is_empty());
    world.key(Key::Home);
    world.key(Key::Enter);
    world.key(Key::S);
    assert!(selected(&mut world).is_empty());
    world.until("it is split", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.count() == 4));
    world.rest();
    world.ctrl(Key::Z);
    world.until("they are as before", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.count() == 3));
    world.ctrl_shift(Key::Z);
    world.until("it is split again", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.count() == 4));
    world.key(Key::Home);
    world.key(Key::Enter);
    world.click("Begin anew");
    assert!(selected(&mut world).is_empty());
}

#[test]
fn a_number_of_clusters_and_enter_begin() {
    let mut world = small();
    world.ctrl(Key::Num0);
    world.until("it is known that there are none", |app| app.desk().clusters().is_known());
    world.click("Given");
    world.harness.get_by_label("Number of clusters").focus();
    world.step();
    world.harness.event(egui::Event::Text("3".into()));
    world.step();
    world.key(Key::Enter);
    world.until("there are three", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.asked() == Some(3)));
}

#[test]
fn stop_does_not_stand_where_going_on_did() {
    let mut world = clustered();
    let places = ["Go on", "Begin anew"].map(|label| world.harness.get_by_label(label).rect());
    let same = answer(&world).kept.aim();
    // A run may be done before a frame shows it, so it is looked for in several. The status bar has
    // a button of that name too.
    let stop = (0..200).find_map(|_| {
        if !world.app().desk().jobs().is_running(&JobKind::FindClusters) {
            world.harness.state_mut().ask(Command::FindClusters(same.clone()));
        }
        world.harness.step();
        let stops = world.harness.query_all_by_label("Stop").map(|stop| stop.rect());
        stops.into_iter().find(|stop| places[0].y_range().contains(stop.center().y))
    });
    let stop = stop.expect("a run can be stopped while it goes on");
    assert!(places.iter().all(|place| !place.intersects(stop)));
    world.rest();
}

#[test]
fn names_that_most_images_have_are_told_from_others_and_equal_ones_numbered() {
    let mut world = clustered();
    for (cluster, title) in answer(&world).clusters.iter().zip(&answer(&world).titles) {
        let expected = match &cluster.name {
            Some(name) if 2 * cluster.classes[0].1 >= cluster.images.len() => name.clone(),
            Some(name) => format!("like {name}"),
            None => "Cluster ".to_owned(),
        };
        assert!(title.starts_with(&expected), "{title}");
    }
    let images: Vec<ItemId> = [0, 1].into_iter().flat_map(|place| answer(&world).images(place)).copied().collect();
    world.run(Command::Label(images, UserLabel::Class("kite".into())));
    let wanted = ["kite".to_owned(), "kite 2".to_owned()];
    world.until("both have the name", |app| {
        app.desk().clusters().answer().is_some_and(|answer| wanted.iter().all(|title| answer.titles.contains(title)))
    });
    world.step();
    assert!(world.shows("kite (cluster ") && world.shows("kite 2 (cluster "));
}

#[test]
fn naming_offers_classes_and_says_how_many_images_have_another() {
    let mut world = clustered();
    world.run(Command::NewClass("kiwi".into()));
    world.until("it is there", |app| app.desk().state().unwrap().class("kiwi").is_some());
    world.key(Key::Home);
    world.key(Key::Enter);
    let images = selected(&mut world);
    world.key(Key::L);
    world.type_into("Class name", "ki");
    assert!(world.shows(&format!("{} of them have other classes now, which change", images.len())));
    world.click("kiwi");
    world.step();
    // A class that differs in capital letters alone is meant, too.
    world.type_into("Class name", "KIWI");
    assert!(world.shows("will be labelled as kiwi."));
    world.key(Key::Enter);
    world.until("they are labelled", |app| {
        let state = app.desk().state().unwrap();
        images.iter().all(|id| state.image(*id).unwrap().label() == Some("kiwi"))
    });
}
