//! Networks of the user's own on the page of models: added, listed, removed.

use std::path::Path;

use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tessera::command::{Command, ImageQuery};
use tessera::gui::App;
use tessera::gui::dialogs::Scripted;
use tessera_core::library::looks::Look;

use crate::world::{World, class_folders};

/// What stands in the field of the next network's name.
fn typed(world: &World) -> String {
    let field = world.harness.get_by_role_and_label(Role::TextInput, "Name of the network");
    field.accesskit_node().value().unwrap_or_default()
}

#[test]
fn a_network_is_added_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let images = tempfile::tempdir().unwrap();
    class_folders(images.path(), &["ring", "square"], 4);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/squeezenet.onnx");
    let dialogs = Scripted::new([file, images.path().to_owned()]);
    let mut world = World::with(folder, [1280.0, 800.0], Box::new(dialogs));
    world.run(Command::Open(images.path().to_owned()));
    world.until("the library is there", |app| app.desk().state().is_some() && !app.desk().jobs().is_busy());
    world.ctrl(Key::Num5);
    world.until("no network is listed", |app| app.desk().networks().list().is_some_and(<[_]>::is_empty));
    world.step();
    assert!(world.shows("Networks of your own") && world.shows("None yet. A model of one is made by"));
    world.type_into("Name of the network", "mine");
    assert_eq!(typed(&world), "mine");
    world.click("Add a network…");
    world.click("Browse files…");
    world.until("it is added", |app| app.desk().networks().list().is_some_and(|list| list.len() == 1));
    world.rest();
    assert_eq!(typed(&world), "", "the field is free for the next one");
    let (name, network) = &world.app().desk().networks().list().unwrap()[0];
    assert_eq!((name.as_str(), network.image.dimension, network.text.is_none()), ("mine", 1000, true));
    assert!(world.shows("images, 227 x 227 pixels") && world.shows("ms an image"));
    assert!(!cfg!(target_os = "linux") || world.shows("MB of memory when it was tried"));
    // It looks at the images of the library, in one act.
    world.click("Look at all images with mine");
    world.until("its vectors are there", |app| app.desk().state().is_some_and(|state| state.vector_sets().get("mine") == Some(&8)));
    world.rest();
    let told = |world: &World, words: &str| world.app().desk().notices().log().iter().any(|notice| notice.words.contains(words));
    assert!(told(&world, "Looked at 8 images: 8 vectors in `mine` are new or changed"));
    // Searches by an image compare by them, too, as the page Similar does.
    let mine = || Some(Look::Brought("mine".into()));
    let id = world.state().images().next().unwrap().id;
    world.run(Command::SimilarBy(mine()));
    world.run(Command::Similar(ImageQuery::Item(id), None));
    world.until("it is compared by them", |app| {
        app.desk().similar().answer().is_some_and(|answer| Some(&answer.search.by) == mine().as_ref())
    });
    let nearest: Vec<_> = world.app().desk().similar().answer().unwrap().alikes.iter().map(|alike| (alike.image, alike.likeness)).collect();
    world.ctrl(Key::Num1);
    world.run(Command::SearchByImage(Some((ImageQuery::Item(id), None))));
    world.until("images like it are found", |app| app.desk().searching().hits().is_some_and(|hits| hits.images.len() == nearest.len()));
    world.rest();
    assert!(world.shows("Resemble by Usual"));
    world.press("Resemble by Usual");
    world.press("mine");
    let by_mine = |app: &App| {
        app.desk().searching().hits().map(|hits| hits.hits.iter().map(|hit| (hit.image, hit.look.unwrap())).collect::<Vec<_>>())
    };
    world.until("they are found by these vectors", |app| by_mine(app).as_ref() == Some(&nearest));
    world.rest();
    assert!(world.shows("Resemble by mine"));
    // Of a file nothing is known but what it looks like, and that is said.
    let file = images.path().join("elsewhere.jpg");
    crate::world::picture(77, 64).save(&file).unwrap();
    world.run(Command::SearchByImage(Some((ImageQuery::File(file), None))));
    world.until("images like it are found", |app| app.desk().searching().hits().is_some_and(|hits| hits.images.len() == nearest.len() + 1));
    world.rest();
    assert!(world.shows("Resemble by Usual"));
    world.ctrl(Key::Num5);
    world.rest();
    world.click("Look at all images with mine");
    world.rest();
    assert!(told(&world, "Looked at 0 images: 0 vectors in `mine` are new or changed"));
    world.run(Command::Undo);
    world.until("it is taken back", |app| app.desk().state().is_some_and(|state| state.vector_sets().is_empty()));
    world.click("Remove");
    world.until("it is removed", |app| app.desk().networks().list().is_some_and(<[_]>::is_empty));
    world.rest();
    // A folder without a network gets a sentence.
    world.run(Command::AddNetwork(images.path().to_owned(), None));
    world.until("it is refused", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("a folder with an ONNX file")));
}
