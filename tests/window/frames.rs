//! How long a frame takes with 10,000 images: `cargo bench -p tessera-window-tests`. Everything but rasterising.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

#[path = "world.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod world;

use std::time::{Duration, Instant};

use egui::{Event, MouseWheelUnit, vec2};
use tessera::command::Command;
use tessera_core::data::Labels;

use world::{World, picture};

const IMAGES: u32 = 10_000;
const FRAMES: usize = 600;

fn main() {
    // `cargo test --benches` only asks whether this starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let images = tempfile::tempdir().unwrap();
    for number in 0..IMAGES {
        let folder = images.path().join(format!("class {:02}", number / 1000));
        std::fs::create_dir_all(&folder).unwrap();
        picture(number, 16).save(folder.join(format!("{number:05}.png"))).unwrap();
    }
    let mut world = World::new(&[]);
    let library = world.path("own.tessera");
    tessera::session::Session::new(0, 0).unwrap().open_or_create_library(&library).unwrap().close().unwrap();
    world.run(Command::Open(library));
    world.until("the library is open", |app| app.desk().state().is_some());
    let start = Instant::now();
    world.run(Command::Import { folder: images.path().to_owned(), labels: Labels::None, exclude: Vec::new(), table: None });
    let mut importing = Vec::new();
    while world.app().desk().is_busy() || world.state().images().count() < IMAGES as usize {
        importing.push(frame(&mut world));
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("imported {IMAGES} images of 16 px in {:.1} s", start.elapsed().as_secs_f64());
    tell("while importing", importing);
    let mut scrolling = Vec::new();
    for i in 0..FRAMES {
        let down = if i % 200 < 150 { -900.0 } else { 1500.0 };
        world.harness.hover_at(egui::pos2(600.0, 400.0));
        let modifiers = egui::Modifiers::NONE;
        world.harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, down),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers,
        });
        scrolling.push(frame(&mut world));
    }
    tell("while scrolling", scrolling);
}

/// The time of one frame.
fn frame(world: &mut World) -> Duration {
    let start = Instant::now();
    world.harness.step();
    start.elapsed()
}

fn tell(when: &str, mut frames: Vec<Duration>) {
    frames.sort();
    let at = |share: f64| frames[((frames.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!("{} frames {when}: median {:.2} ms, p99 {:.2} ms, longest {:.2} ms", frames.len(), at(0.5), at(0.99), at(1.0));
}
