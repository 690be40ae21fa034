//! What every page looks like, compared with the pictures in `snapshots`.
//!
//! They are drawn by the processor (Mesa's lavapipe), the same on every machine with the same
//! version of it. After a change that is meant, `UPDATE_SNAPSHOTS=force` writes them anew: look at
//! each before it is kept.

use std::fs;

use egui::Rect;
use egui_kittest::kittest::{AccessKitNode, Queryable as _};
use egui_kittest::{SnapshotOptions, try_image_snapshot_options};
use image::{Rgba, RgbaImage};
use tempfile::TempDir;
use tessera::command::{Command, ImageQuery};
use tessera::gui::App;
use tessera::gui::dialogs::Scripted;
use tessera::gui::modal::Modal;
use tessera::gui::page::Page;
use tessera_core::data::toys::{ToyOptions, generate};
use tessera_core::library::clusters::ClusterAim;
use tessera_core::library::event::UserLabel;
use tessera_core::library::suggest::LabelOrder;
use tessera_core::progress::Progress;

use crate::world::World;

/// Words of texts that differ from run to run or from one machine to another: times, durations,
/// sizes of files, the fingerprint of a history, the folder of settings.
const CHANGING: [&str; 9] = ["just now", " ago", " ms", "UTC", " kB", " MB", "second", "Kept in ", "Fingerprint of the history"];
/// Those of them whose length differs, too.
const MOVING: [&str; 3] = ["Fingerprint of the history", " kB", " MB"];
/// The width of what is left out where they stand is a multiple of this, in points.
const WIDE: f32 = 480.0;
/// Pixels that may differ.
const DIFFERING: usize = 8;

/// A folder whose name is the same in each run, since pages show it.
fn folder(name: &str) -> TempDir {
    let name = format!("tessera-pictures-{name}");
    let _ = fs::remove_dir_all(std::env::temp_dir().join(&name));
    tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir().unwrap()
}

/// The window as it is painted, without what changes from run to run.
fn painted(world: &mut World) -> RgbaImage {
    world.harness.state_mut().view_mut().toasts.clear();
    world.harness.ctx.all_styles_mut(|style| style.visuals.text_cursor.blink = false);
    // Notices and hints go, textures come, and what was scrolled comes to rest.
    world.harness.run_steps(30);
    let mut picture = world.harness.render().unwrap();
    let is = |node: &AccessKitNode<'_>, parts: &[&str]| {
        let text = [node.label(), node.value()].into_iter().flatten().collect::<String>();
        parts.iter().any(|part| text.contains(part))
    };
    let mut rects: Vec<Rect> = world.harness.query_all_by(|node| is(node, &CHANGING)).map(|node| node.rect()).collect();
    // What stands behind them in their line moves.
    let moving = world.harness.query_all_by(|node| is(node, &MOVING)).map(|node| node.rect());
    let whole = |rect: Rect| Rect::from_min_size(rect.min, egui::vec2((rect.width() / WIDE).ceil() * WIDE, rect.height()));
    rects.extend(moving.map(whole));
    let (width, height) = (picture.width() as f32, picture.height() as f32);
    for rect in rects.into_iter().filter(|rect| rect.height() < 40.0) {
        let rect = rect.expand(1.0).intersect(Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(width, height)));
        for y in rect.top() as u32..rect.bottom() as u32 {
            for x in rect.left() as u32..rect.right() as u32 {
                picture.put_pixel(x, y, Rgba([128, 128, 128, 255]));
            }
        }
    }
    picture
}

fn compare(world: &mut World, look: &Look, view: &str, problems: &mut Vec<String>) {
    let picture = painted(world);
    if let Err(problem) =
        try_image_snapshot_options(&picture, format!("{view}-{}", look.name), &SnapshotOptions::new().max_failed_pixels(DIFFERING))
    {
        problems.push(problem.to_string());
    }
}

/// A window.
struct Look {
    name: &'static str,
    theme: &'static str,
    size: [f32; 2],
}

/// Visits every page.
fn visit(look: &Look) {
    let (settings, images) = (folder(&format!("{}-window", look.name)), folder(&format!("{}-toys", look.name)));
    fs::write(settings.path().join("settings.ron"), format!("{{\"theme\": \"{}\"}}\n", look.theme)).unwrap();
    generate(&ToyOptions { instances: 4, views: 3, side: 32, seed: 3, ..ToyOptions::default() }, images.path(), &Progress::default())
        .unwrap();
    let mut problems = Vec::new();
    let mut world = World::with(settings, look.size, Box::new(Scripted::new([])));
    // The harness has chosen a theme after the settings had.
    world.harness.ctx.set_theme(if look.theme == "Dark" { egui::Theme::Dark } else { egui::Theme::Light });
    compare(&mut world, look, "start", &mut problems);
    world.run(Command::Open(images.path().to_owned()));
    world.until("the images are there", |app| app.desk().state().is_some_and(|state| state.images().count() > 0));
    world.until("they are judged", |app| app.desk().recognising().report().is_some());
    world.rest();
    let first = world.state().images().last().unwrap().id;
    world.run(Command::Search("turquoise dog".into()));
    world.until("the answer is there", |app| app.desk().searching().hits().is_some());
    compare(&mut world, look, "search", &mut problems);
    world.run(Command::Search(String::new()));
    world.run(Command::Recognise(ImageQuery::Item(first)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    world.run(Command::Label(world.state().images().take(6).map(|image| image.id).collect(), UserLabel::NoClass));
    world.run(Command::LabelFrom(None, LabelOrder::Folder));
    world.run(Command::Similar(ImageQuery::Item(first), None));
    world.until("it is compared", |app| app.desk().similar().answer().is_some());
    world.run(Command::FindClusters(ClusterAim::default()));
    world.until("clusters are found", |app| app.desk().clusters().answer().is_some_and(|answer| answer.kept.iterations() > 0));
    world.rest();
    for entry in Page::ALL {
        let page = entry.page;
        world.harness.state_mut().turn_to(page);
        world.step();
        world.until("nothing runs", |app| !app.desk().jobs().is_busy());
        if page == Page::Label {
            let ready = |app: &App| app.desk().labelling().shown().is_some_and(|shown| shown.is_arranged && !shown.is_computing);
            world.until("the queue is there", ready);
        }
        if page == Page::Map {
            world.until("it is laid out", |app| app.desk().map().shown().is_some_and(|map| map.trust.is_some()));
        }
        if page == Page::Library {
            world.until("it is known", |app| app.desk().upkeep().health().is_some() && app.desk().upkeep().memory().is_some());
        }
        compare(&mut world, look, &entry.name.to_lowercase(), &mut problems);
    }
    world.run(Command::RecogniseFolder(images.path().to_owned()));
    world.until("all were looked at", |app| {
        !app.desk().jobs().is_busy() && app.desk().recognised_folder().answers().is_some_and(|answers| !answers.outcomes.is_empty())
    });
    compare(&mut world, look, "recognised-folder", &mut problems);
    world.harness.state_mut().turn_to(Page::Models);
    for (name, modal) in [("palette", Modal::Palette), ("keys", Modal::Keys), ("settings", Modal::Settings)] {
        world.harness.state_mut().view_mut().open(modal);
        compare(&mut world, look, name, &mut problems);
        world.harness.state_mut().view_mut().modal = None;
        world.step();
    }
    world.run(Command::PlanImport(images.path().to_owned(), None));
    world.until("the plan is there", |app| app.desk().planning().now().is_some_and(|now| now.plan().is_some() && now.is_current));
    compare(&mut world, look, "import", &mut problems);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
#[ignore = "wants Mesa's Vulkan driver"]
fn every_page_looks_as_it_did() {
    visit(&Look { name: "light", theme: "Light", size: [1280.0, 800.0] });
}

#[test]
#[ignore = "wants Mesa's Vulkan driver"]
fn every_page_looks_as_it_did_in_the_dark() {
    visit(&Look { name: "dark", theme: "Dark", size: [1280.0, 800.0] });
}

#[test]
#[ignore = "wants Mesa's Vulkan driver"]
fn every_page_looks_as_it_did_in_a_small_window() {
    visit(&Look { name: "small", theme: "Light", size: [800.0, 600.0] });
}

/// Text of 150 % leaves a window of 800 x 600 pixels so many points.
#[test]
#[ignore = "wants Mesa's Vulkan driver"]
fn every_page_looks_as_it_did_with_large_text() {
    visit(&Look { name: "large-text", theme: "Light", size: [533.0, 400.0] });
}
