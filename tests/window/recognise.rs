//! What the window shows of an answer beside its pieces: the collage, the answer without one more
//! training image, images that mislead, and the choice of what is compared.

use std::path::Path;

use egui::{Key, Pos2, Rect, pos2, vec2};
use egui_kittest::kittest::Queryable as _;
use image::{Rgb, RgbImage};
use tessera::command::{Command, ImageQuery, SearchChoice, WeightChoice};
use tessera::gui::dialogs::Scripted;
use tessera::gui::page::Page;
use tessera::gui::widgets::pieces::free_place;
use tessera::job::JobKind;
use tessera_core::ckm::presets::Subject;
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;
use tessera_core::progress::Progress;

use crate::world::{World, class_folders, picture};

/// Rings and squares: two classes, three objects each, four views an object.
fn things(to: &Path) {
    for (class, instance, view) in (0..2).flat_map(|c| (1..4).flat_map(move |i| (0..4).map(move |v| (c, i, v)))) {
        let name = ["disc", "grid"][class];
        let colour = Rgb([60 * instance, 90, 255 - 50 * instance]);
        let picture = RgbImage::from_fn(96, 96, |x, y| {
            let (dx, dy) = (x as i32 - 48 - view, y as i32 - 46);
            let lit = match class {
                0 => dx * dx + dy * dy < 900 && (dx * dx + dy * dy) / 90 % 2 == 0,
                _ => dx.abs().max(dy.abs()) < 30 && (dx.div_euclid(8) + dy.div_euclid(8)) % 2 == 0,
            };
            if lit { colour } else { Rgb([235, 235, 220 + view as u8]) }
        });
        std::fs::create_dir_all(to.join(name)).unwrap();
        picture.save(to.join(format!("{name}/{name}_{instance:02}_{view}_0_0_lt.png"))).unwrap();
    }
}

fn image(world: &World, name: &str) -> ItemId {
    world.state().images().find(|image| image.file_name() == name).unwrap().id
}

/// A window on the things, with one of them recognised.
fn recognised(images: &Path) -> World {
    things(images);
    let mut world = World::on(images);
    world.until("it is judged", |app| app.desk().recognising().report().is_some());
    world.rest();
    let one = image(&world, "disc_02_0_0_0_lt.png");
    world.run(Command::Recognise(ImageQuery::Item(one)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    world.rest();
    world
}

#[test]
fn a_copy_from_elsewhere_of_a_training_image_is_not_compared_with_itself() {
    let images = tempfile::tempdir().unwrap();
    let mut world = recognised(images.path());
    let of_library = world.app().desk().recognising().recognition().unwrap().clone();
    let elsewhere = world.folder.path().join("sent.png");
    std::fs::copy(images.path().join("disc/disc_02_0_0_0_lt.png"), &elsewhere).unwrap();
    world.run(Command::Recognise(ImageQuery::File(elsewhere.clone())));
    world.until("it is recognised", |app| {
        app.desk().recognising().recognition().is_some_and(|recognition| recognition.path.as_deref() == Some(&elsewhere))
    });
    world.rest();
    let sent = world.app().desk().recognising().recognition().unwrap().clone();
    assert_eq!((sent.item, &sent.scores, &sent.left_out), (of_library.item, &of_library.scores, &of_library.left_out));
    assert!(world.shows("The same picture is a training image, disc_02_0_0_0_lt.png: all views of disc/02 were left out"));
}

#[test]
fn the_best_virtual_instance_is_a_collage() {
    let images = tempfile::tempdir().unwrap();
    let mut world = recognised(images.path());
    assert!(world.app().desk().recognising().collage().is_none(), "it is painted when it is looked at");
    world.press("Collage");
    world.until("it is painted", |app| app.desk().recognising().collage().is_some());
    world.step();
    let collage = world.app().desk().recognising().collage().unwrap().clone();
    let best = world.app().desk().recognising().recognition().unwrap().best.clone().unwrap();
    assert_eq!(collage.picture.dimensions(), (96, 96));
    assert!(collage.pieces.iter().any(|piece| piece.is_painted) && collage.missing == 0);
    let is_there = |value: f64| best.contributions.iter().any(|c| (c.value - value).abs() < 1e-12);
    assert!(collage.pieces.iter().all(|piece| is_there(piece.value)), "each piece adds what the table says");
    // The middle of the disc is painted, with the colours of other discs.
    assert_eq!(collage.picture.get_pixel(48, 46).0[3], 255);
    world
        .harness
        .hover_at(world.harness.get_by_label_contains("This image, and the best virtual").rect().left_center() + egui::vec2(120.0, 0.0));
    world.step();
    assert!(world.shows("by a piece of disc/disc_"), "a piece tells where it comes from");
    // Another answer has another collage.
    let other = image(&world, "grid_01_0_0_0_lt.png");
    world.run(Command::Recognise(ImageQuery::Item(other)));
    let before = std::sync::Arc::as_ptr(&collage);
    world.until("it is painted anew", |app| app.desk().recognising().collage().is_some_and(|now| std::sync::Arc::as_ptr(now) != before));
}

#[test]
fn numbers_close_together_move_apart() {
    let picture = Rect::from_min_size(pos2(10.0, 10.0), vec2(180.0, 180.0));
    let mut put: Vec<Pos2> = Vec::new();
    for i in 0..30u8 {
        let wanted = pos2(100.0 + f32::from(i % 5), 90.0 + f32::from(i / 5));
        let at = free_place(&put, wanted, picture);
        assert!(put.iter().all(|other| other.distance(at) >= 18.5) && picture.contains(at), "{i} is put at {at}");
        put.push(at);
    }
    assert_eq!(put[0], pos2(100.0, 90.0), "the first stays where it is");
}

#[test]
fn what_would_change_without_an_image_is_told() {
    let images = tempfile::tempdir().unwrap();
    let mut world = recognised(images.path());
    let tile = world.app().desk().recognising().recognition().unwrap().tiles[0].clone();
    world.click(&format!("Training image {}", tile.name));
    world.click("What would change without it");
    world.until("it is scored", |app| app.desk().recognising().without().is_some());
    world.step();
    let recognition = world.app().desk().recognising().recognition().unwrap().clone();
    let without = world.app().desk().recognising().without().unwrap().clone();
    let of = |scores: &[(String, f64)], class: &str| scores.iter().find(|(name, _)| name == class).unwrap().1;
    assert_eq!((without.image, &without.label), (tile.item.unwrap(), &tile.label));
    let lost = of(&recognition.scores, &tile.label) - of(&without.scores, &tile.label);
    assert!(lost > 0.0, "its pieces are worth something");
    let other = recognition.scores.iter().find(|(class, _)| *class != tile.label).unwrap();
    let changed = (of(&without.scores, &other.0) - other.1).abs();
    assert!(changed < lost / 2.0, "another class changes by what its whole image said alone, {changed} and {lost}");
    assert!(world.shows("Still disc: disc ") || world.shows("The answer would be"));
    // The viewer tells it of any image with a label; views of the same object were left out
    // already.
    let same = image(&world, "disc_02_3_0_0_lt.png");
    world.harness.state_mut().view_mut().look_at(same);
    world.step();
    world.click("What would change without it");
    world.until("it is scored", |app| app.desk().recognising().without().is_some_and(|without| without.image == same));
    world.step();
    assert!(world.shows("Nothing would change"));
}

#[test]
fn images_that_mislead_are_listed_and_shown() {
    let images = tempfile::tempdir().unwrap();
    things(images.path());
    let mut world = World::on(images.path());
    let wrong = image(&world, "disc_02_1_0_0_lt.png");
    world.run(Command::Label(vec![wrong], UserLabel::Class("grid".into())));
    world.rest();
    world.harness.state_mut().turn_to(Page::Train);
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.click("Find images that mislead");
    world.until("they are found", |app| app.desk().recognising().harm().is_some());
    world.rest();
    let (harm, is_stale) = world.app().desk().recognising().harm().map(|(harm, stale)| (harm.clone(), stale)).unwrap();
    assert!(!is_stale && harm.images[0].image == wrong && harm.images[0].is_harmful(), "{:?}", &harm.images[..3]);
    assert!(world.shows("Without it"));
    // Short notices lie over the page for some seconds.
    world.harness.state_mut().view_mut().toasts.clear();
    world.harness.get_by_label("disc_02_1_0_0_lt.png").scroll_to_me();
    world.harness.run_steps(20);
    world.click("disc_02_1_0_0_lt.png");
    let view = world.harness.state_mut().view_mut();
    assert_eq!((view.page, view.shown.list().to_vec()), (Page::Browse, vec![wrong]));
    world.run(Command::Label(vec![wrong], UserLabel::Class("disc".into())));
    world.until("it is told that this was before", |app| app.desk().recognising().harm().is_some_and(|(_, is_stale)| is_stale));
}

#[test]
fn few_folders_that_are_taken_for_objects_are_told() {
    let images = tempfile::tempdir().unwrap();
    things(images.path());
    // Each class becomes one with two folders of no object's name.
    for (kind, [class, other]) in [("round", ["disc", "ball"]), ("flat", ["grid", "mesh"])] {
        let at = |folder: &str| images.path().join(kind).join(folder);
        let files: Vec<_> = std::fs::read_dir(images.path().join(class)).unwrap().map(|file| file.unwrap().path()).collect();
        for (n, file) in files.into_iter().enumerate() {
            let folder = at(if n % 2 == 0 { class } else { other });
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::rename(file, folder.join(format!("{n}.png"))).unwrap();
        }
        std::fs::remove_dir(images.path().join(class)).unwrap();
    }
    let mut world = World::on(images.path());
    world.harness.state_mut().turn_to(Page::Train);
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.step();
    assert!(world.shows("4 folders inside those of classes, such as grid, are taken for single objects"));
}

#[test]
fn what_is_compared_is_chosen_and_stays_with_the_library() {
    let images = tempfile::tempdir().unwrap();
    let mut world = recognised(images.path());
    world.harness.state_mut().turn_to(Page::Train);
    world.step();
    assert_eq!(world.app().desk().recognising().search(), SearchChoice::Automatic);
    world.click("Similar images");
    world.until("it is chosen", |app| app.desk().recognising().search() == SearchChoice::Shortlist);
    world.step();
    assert!(world.shows("or what is compared, has changed since"));
    world.click("Similar pieces");
    world.until("it is chosen", |app| app.desk().recognising().search() == SearchChoice::Index);
    world.run(Command::Close);
    world.run(Command::Open(images.path().to_owned()));
    world.until("it is open again", |app| app.desk().state().is_some() && !app.desk().jobs().is_busy());
    assert_eq!(world.app().desk().recognising().search(), SearchChoice::Index);
}

#[test]
fn what_the_images_show_is_chosen_and_taken_back() {
    let images = tempfile::tempdir().unwrap();
    let mut world = recognised(images.path());
    world.harness.state_mut().turn_to(Page::Train);
    world.step();
    let usual = world.app().desk().recognising().kinds().clone();
    assert!(usual.setting.subject == Subject::Object && !world.shows("Back to what it was"));
    world.click("Surfaces");
    world.until("it is chosen and judged", |app| {
        let recognising = app.desk().recognising();
        recognising.kinds().setting.subject == Subject::Texture && recognising.report().is_some() && !app.desk().jobs().is_busy()
    });
    world.rest();
    assert!(world.shows("wherever they lie"), "the weights stand beside the choice");
    world.click("Back to what it was");
    world.until("it is back", |app| app.desk().recognising().kinds().setting.subject == Subject::Object);
    world.rest();
    let back = world.app().desk().recognising().kinds();
    assert_eq!((back.setting, &back.words), (usual.setting, &usual.words));
    assert!(back.before.as_ref().is_some_and(|before| before.starts_with("Surfaces, fitted: ")), "{:?}", back.before);
}

#[test]
fn a_small_window_shows_options_when_asked_and_no_list_is_cut() {
    let images = tempfile::tempdir().unwrap();
    things(images.path());
    let mut world = World::of_size([800.0, 600.0], &[]);
    world.run(Command::Open(images.path().to_owned()));
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.harness.state_mut().turn_to(Page::Train);
    world.step();
    let right = world.harness.get_by_label("Recall").rect().right();
    assert!(right < 764.0, "the list ends at {right}, its card at 775");
    assert!(world.shows("Automatic, All alike, Single objects") && !world.shows("Similar pieces"));
    world.click("Options");
    world.click("Similar pieces");
    world.until("it is chosen", |app| app.desk().recognising().search() == SearchChoice::Index);
    world.step();
    world.click("Hide options");
    world.step();
    assert!(world.shows("Similar pieces, All alike") && !world.shows("Similar images"));
}

#[test]
fn learned_weights_are_switched_on_and_off_and_stay_with_the_library() {
    let images = tempfile::tempdir().unwrap();
    let options = ToyOptions { instances: 3, views: 2, side: 48, seed: 4, format: ToyFormat::NorbNames, ..ToyOptions::default() };
    generate(&options, images.path(), &Progress::default()).unwrap();
    let mut world = World::on(images.path());
    // Beside cells of the network, no weights are better on these images.
    world.run(Command::UseLearnedFeatures(false));
    world.until("it is judged", |app| app.desk().recognising().report().is_some_and(|(_, is_stale)| !is_stale));
    world.rest();
    let report = world.app().desk().recognising().report().unwrap().0.clone();
    world.harness.state_mut().turn_to(Page::Train);
    world.step();
    let choice = |world: &World| world.app().desk().recognising().weights().choice;
    assert_eq!(choice(&world), WeightChoice::Uniform);
    world.click("As learned");
    world.until("they are learned", |app| app.desk().recognising().weights().choice == WeightChoice::Learned);
    world.rest();
    assert!(world.shows("With all pieces counting alike") && world.shows("Learn again how pieces count"));
    assert_ne!(*world.app().desk().recognising().report().unwrap().0, report, "a report by the objects of folds");
    world.run(Command::Close);
    world.run(Command::Open(images.path().to_owned()));
    world.until("it is open again", |app| app.desk().state().is_some() && !app.desk().jobs().is_busy());
    assert_eq!(choice(&world), WeightChoice::Learned);
    world.harness.state_mut().turn_to(Page::Train);
    world.step();
    world.click("All alike");
    world.until("they are off", |app| app.desk().recognising().weights().choice == WeightChoice::Uniform);
    assert_eq!(*world.app().desk().recognising().report().unwrap().0, report);
    // Those that were learned are kept.
    world.click("As learned");
    world.until("they are on again", |app| app.desk().recognising().weights().choice == WeightChoice::Learned);
    world.rest();
    let report = world.app().desk().recognising().report().unwrap().0.clone();
    world.click("Learn again how pieces count");
    world.rest();
    assert_eq!((choice(&world), world.app().desk().recognising().report().unwrap().0), (WeightChoice::Learned, &report));
    let one = world.state().images().next().unwrap().id;
    world.run(Command::Forget(vec![one]));
    world.until("it is forgotten", |app| app.desk().recognising().weights().choice == WeightChoice::Uniform);
    world.until("the others are judged", |app| {
        app.desk().recognising().report().is_some_and(|(report, stale)| report.images == 35 && !stale)
    });
}

#[test]
fn a_chosen_bar_is_taken_back_where_there_is_no_curve() {
    let folder = tempfile::tempdir().unwrap();
    class_folders(&folder.path().join("images"), &["aa", "bb"], 4);
    std::fs::write(folder.path().join("settings.ron"), "{\"answered\": 0.7}").unwrap();
    let mut world = World::with(folder, [1280.0, 800.0], Box::new(Scripted::new([])));
    world.run(Command::Open(world.path("images")));
    world.harness.state_mut().turn_to(Page::Train);
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.rest();
    assert!(world.shows("It takes three classes and 40 judged images"));
    world.harness.get_by_label("As it was found").scroll_to_me();
    world.harness.run_steps(20);
    world.click("As it was found");
    world.step();
    assert!(!world.shows("As it was found"));
}

#[test]
fn what_is_unknown_is_chosen_on_a_curve() {
    let (images, teapots) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = ToyOptions { instances: 6, views: 4, side: 64, seed: 3, ..ToyOptions::default() };
    generate(&options, images.path(), &Progress::default()).unwrap();
    let outside = teapots.path().join("teapot");
    std::fs::rename(images.path().join("teapot"), &outside).unwrap();
    let mut world = World::on(images.path());
    world.harness.state_mut().turn_to(Page::Train);
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.rest();
    let name = "Share of the images of known classes that is answered";
    assert!(world.shows("95 % of the images of known classes are answered"));
    world.harness.get_by_label(name).focus();
    world.step();
    for _ in 0..25 {
        world.key(Key::ArrowRight);
    }
    assert!(world.shows("70 % of the images of known classes are answered"));
    // What is seen on Recognise follows the bar, without recognising again.
    let mut names: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let unknown = names.into_iter().find(|path| {
        world.run(Command::Recognise(ImageQuery::File(path.clone())));
        world.rest();
        world.shows("Unknown")
    });
    assert!(unknown.is_some() && world.shows("nearest class"));
    world.click("When is an image unknown?");
    world.harness.run_steps(60);
    let curve = world.harness.get_by_label(name).rect();
    assert!((0.0..800.0).contains(&curve.center().y), "it is in view: {curve}");
    world.harness.get_by_label(name).focus();
    world.step();
    for _ in 0..35 {
        world.key(Key::ArrowLeft);
    }
    assert!(world.shows("All images are answered"));
    world.harness.state_mut().turn_to(Page::Recognise);
    world.step();
    assert!(!world.shows("Unknown") && !world.shows("nearest class"));
    world.harness.state_mut().turn_to(Page::Train);
    world.step();
    world.harness.state_mut().view_mut().toasts.clear();
    world.harness.get_by_label("As it was found").scroll_to_me();
    world.harness.run_steps(20);
    world.click("As it was found");
    world.step();
    assert!(world.shows("95 % of the images of known classes are answered"));
}

#[test]
fn training_says_what_guessing_comes_to_and_what_is_mixed_up() {
    let images = tempfile::tempdir().unwrap();
    // Each picture of one class is in the other, but for one pixel: they cannot be told apart.
    class_folders(images.path(), &["aa"], 8);
    std::fs::create_dir_all(images.path().join("bb")).unwrap();
    for i in 0..8u32 {
        let mut other = picture(i, 48);
        other.put_pixel(i, i, Rgb([i as u8, 1, 2]));
        other.save(images.path().join(format!("bb/{i:03}.png"))).unwrap();
    }
    let mut world = World::on(images.path());
    world.harness.state_mut().turn_to(Page::Train);
    world.until("it is judged", |app| app.desk().recognising().report().is_some() && !app.desk().jobs().is_busy());
    world.rest();
    assert!(world.shows("Always answering with the largest class would be right on 50.0 %."));
    assert!(world.shows("These classes cannot be told apart yet: aa and bb. More images of them may help."));
}

#[test]
fn the_images_of_a_folder_are_recognised_without_being_imported() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [images, others] = folders.each_ref().map(tempfile::TempDir::path);
    things(images);
    let mut world = World::on(images);
    world.until("it is judged", |app| app.desk().recognising().report().is_some());
    world.rest();
    let learned = world.state().images().count();
    for name in ["disc_01_0_0_0_lt.png", "grid_02_1_0_0_lt.png"] {
        std::fs::copy(images.join(&name[..4]).join(name), others.join(name)).unwrap();
    }
    std::fs::write(others.join("damaged.png"), &std::fs::read(others.join("disc_01_0_0_0_lt.png")).unwrap()[..200]).unwrap();
    world.run(Command::RecogniseFolder(others.to_owned()));
    world.until("all were looked at", |app| {
        let is_running = app.desk().jobs().is_running(&JobKind::RecogniseFolder);
        !is_running && app.desk().recognised_folder().answers().is_some_and(|answers| answers.outcomes.len() == 3)
    });
    world.rest();
    assert_eq!(world.state().images().count(), learned, "nothing is imported");
    assert!(world.shows("2 images recognised by this library, 1 not"));
    assert!(world.shows("disc_01_0_0_0_lt.png: disc, ") && world.shows("grid_02_1_0_0_lt.png: grid, ") && world.shows("damaged.png: "));
    // A row leads to the image and its reasons, and from there back to the table.
    world.click_containing("grid_02_1_0_0_lt.png: grid");
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    world.rest();
    assert!(world.shows("Why grid and not disc"));
    world.click_containing("Back to ");
    assert!(world.shows("disc_01_0_0_0_lt.png: disc"));
    // The table is saved, and replaced only where it is ours.
    let to = world.path("answers.csv");
    world.run(Command::SaveAnswers(to.clone(), None));
    world.until("it is there", |_| to.is_file());
    world.rest();
    let text = std::fs::read_to_string(&to).unwrap();
    assert_eq!(text.lines().next(), Some("path,class,confidence,unknown,runner_up,problem"));
    assert!(text.lines().any(|line| line.contains("grid_02_1_0_0_lt.png,grid,")) && text.lines().count() == 4, "{text}");
    world.run(Command::SaveAnswers(to.clone(), None));
    world.until("it is asked", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("Wrote 3 answers")));
    world.rest();
    world.step();
    assert!(world.shows("An older table of answers is there"));
    world.click("Replace");
    world.rest();
    std::fs::write(&to, "mine").unwrap();
    world.run(Command::SaveAnswers(to.clone(), None));
    world.until("it is refused", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains("found another file")));
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "mine");
    world.click("Close table");
    world.until("the answers are dropped", |app| app.desk().recognised_folder().answers().is_none());
    // An empty folder, and one that is not there, are told.
    std::fs::create_dir(world.path("empty")).unwrap();
    for (wrong, said) in [(world.path("empty"), "found nothing"), (world.path("nowhere"), "nowhere")] {
        world.run(Command::RecogniseFolder(wrong));
        world.until("it is told", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains(said)));
        world.rest();
    }
}

#[test]
fn a_model_that_was_loaded_first_answers_in_the_library_that_is_opened_then() {
    let images = tempfile::tempdir().unwrap();
    let mut world = recognised(images.path());
    let model = world.path("things.tessera-model");
    world.run(Command::SaveModel(model.clone()));
    world.until("it is saved", |_| model.is_file());
    world.rest();
    world.run(Command::Close);
    world.until("it is closed", |app| app.desk().state().is_none());
    world.run(Command::LoadModel(model));
    world.until("it is loaded", |app| app.desk().recognising().loaded_model().is_some());
    world.step();
    assert!(world.shows("things.tessera-model is loaded"), "the first page says so");
    world.click("Recognise a folder…");
    world.step();
    assert!(world.shows("nothing of it is imported"));
    world.run(Command::RecogniseFolder(images.path().to_owned()));
    world.until("all were looked at", |app| app.desk().recognised_folder().answers().is_some_and(|answers| answers.outcomes.len() == 24));
    world.key(Key::Escape);
    world.rest();
    assert!(world.shows("24 images recognised by things.tessera-model"));
    world.click("First page");
    assert!(world.shows("things.tessera-model is loaded") && world.shows("Try the sample"));
    world.run(Command::Open(images.path().to_owned()));
    world.until("it is open", |app| app.desk().state().is_some());
    world.rest();
    assert_eq!(world.app().desk().recognising().loaded_model(), Some("things.tessera-model"));
    // One that was loaded into an open library is no part of the next.
    world.run(Command::UseLibrary);
    world.run(Command::LoadModel(world.path("things.tessera-model")));
    world.until("it is loaded", |app| app.desk().recognising().loaded_model().is_some());
    world.run(Command::Close);
    world.until("it is closed", |app| app.desk().state().is_none());
    assert_eq!(world.app().desk().recognising().loaded_model(), None);
    // One without a library is let go, with its answer.
    world.run(Command::LoadModel(world.path("things.tessera-model")));
    world.until("it is loaded", |app| app.desk().recognising().loaded_model().is_some());
    world.run(Command::Recognise(ImageQuery::File(images.path().join("disc/disc_01_0_0_0_lt.png"))));
    world.until("it answers", |app| app.desk().recognising().recognition().is_some());
    world.rest();
    assert!(!world.shows("press a training image to correct"), "labels of another library are not here");
    world.click_containing("answers come from things.tessera-model");
    world.until("it is let go", |app| app.desk().recognising().loaded_model().is_none());
    world.step();
    assert!(world.app().desk().recognising().recognition().is_none() && world.shows("Try the sample"));
}
