//! How long a frame takes with 10,000 images or in the grid, on the map and on the clusters of a
//! library that is named, and an answer with 100,000 captions:
//! `cargo bench -p tessera-window-tests`; with `-- classes` a frame with a thousand classes.
//! Everything but rasterising; beside the time that passed stands that of the processor, which
//! does not count waiting for it on a busy machine.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

#[path = "world.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod world;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use egui::{Event, MouseWheelUnit, vec2};
use rand::RngExt as _;
use tessera::command::{Command, ImageQuery};
use tessera::job::JobKind;
use tessera_core::data::Labels;
use tessera_core::ids::ItemId;
use tessera_core::library::clusters::ClusterAim;
use tessera_core::random::seeded;

use world::{World, picture};

const IMAGES: u32 = 10_000;
const FRAMES: usize = 600;

fn main() {
    // `cargo test --benches` only asks whether this starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    if std::env::args().any(|argument| argument == "classes") {
        return classes(&mut World::of_classes(1000, 10));
    }
    // Of a library that is named, its grid, map and clusters alone, or the one that is named next.
    if let Some(library) = std::env::args().nth(1).filter(|argument| argument.ends_with(".tessera")) {
        let mut world = World::new(&[]);
        let start = Instant::now();
        world.run(Command::Open(library.into()));
        let mut opening = Vec::new();
        let mut is_first = true;
        while world.app().desk().state().is_none_or(|state| state.images().next().is_none()) {
            if is_first && world.app().desk().first().is_some() {
                is_first = false;
                println!("its first images are there after {:.2} s", start.elapsed().as_secs_f64());
            }
            opening.push(frame(&mut world));
        }
        println!("all its images are there after {:.2} s", start.elapsed().as_secs_f64());
        tell("until then", opening);
        let only = std::env::args().nth(2).filter(|argument| argument != "--bench");
        if only.as_deref().is_none_or(|only| only == "grid") {
            tell("while it is read and scrolled", (0..FRAMES).map(|i| scrolled(&mut world, i)).collect());
            world.until("all of it is read", |app| !app.desk().jobs().is_busy());
            println!("{} images", world.state().images().count());
            tell("while it is scrolled", (0..FRAMES).map(|i| scrolled(&mut world, i)).collect());
        }
        if only.as_deref().is_none_or(|only| only == "map") {
            map(&mut world);
        }
        if only.as_deref().is_none_or(|only| only == "clusters") {
            cluster(&mut world);
        }
        return;
    }
    let images = tempfile::tempdir().unwrap();
    for number in 0..IMAGES {
        let folder = images.path().join(format!("class {:02}", number / 1000));
        std::fs::create_dir_all(&folder).unwrap();
        picture(number, 16).save(folder.join(format!("{number:05}.png"))).unwrap();
    }
    let mut world = World::without_network();
    let start = Instant::now();
    world.run(Command::Import { folder: images.path().to_owned(), labels: Labels::None, exclude: Vec::new(), table: None });
    let mut importing = Vec::new();
    while world.app().desk().jobs().is_busy() || world.state().images().count() < IMAGES as usize {
        importing.push(frame(&mut world));
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("imported {IMAGES} images of 16 px in {:.1} s", start.elapsed().as_secs_f64());
    tell("while importing", importing);
    tell("while scrolling", (0..FRAMES).map(|i| scrolled(&mut world, i)).collect());
    cluster(&mut world);
    label(&mut world);
    type_queries(&mut world);
}

/// The map of a library: its frames while it is laid out, and then while it is moved, zoomed and
/// looked at.
fn map(world: &mut World) {
    world.harness.state_mut().turn_to(tessera::gui::page::Page::Map);
    let (start, mut frames) = (Instant::now(), Vec::new());
    while world.app().desk().map().shown().is_none() {
        frames.push(frame(world));
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("{} images by components after {:.1} s", world.state().images().count(), start.elapsed().as_secs_f64());
    while world.app().desk().map().shown().is_none_or(|map| map.trust.is_none()) {
        frames.push(frame(world));
        std::thread::sleep(Duration::from_millis(5));
    }
    let trust = world.app().desk().map().shown().unwrap().trust.unwrap();
    println!("laid out after {:.1} s, trustworthiness {trust:.3}", start.elapsed().as_secs_f64());
    tell("while it is laid out", frames);
    let still = (0..FRAMES).map(|_| frame(world)).collect();
    tell("while it stands still", still);
    let middle = egui::pos2(760.0, 450.0);
    let mut moved = Vec::new();
    world.harness.hover_at(middle);
    for i in 0..FRAMES {
        // In by forty steps, and out again.
        let delta = vec2(0.0, if i / 40 % 2 == 0 { 20.0 } else { -20.0 });
        let (unit, phase, source) = (MouseWheelUnit::Point, egui::TouchPhase::Move, egui::MouseWheelSource::Unknown);
        world.harness.event(Event::MouseWheel { unit, delta, phase, source, modifiers: egui::Modifiers::NONE });
        moved.push(frame(world));
    }
    tell("while it is zoomed", moved);
    world.harness.key_press(egui::Key::F);
    world.harness.step();
    let dragged =
        |pressed| Event::PointerButton { pos: middle, button: egui::PointerButton::Primary, pressed, modifiers: egui::Modifiers::NONE };
    world.harness.event(Event::PointerMoved(middle));
    world.harness.event(dragged(true));
    let mut panned = Vec::new();
    for i in 0..FRAMES {
        world.harness.event(Event::PointerMoved(middle + vec2((i % 100) as f32, (i % 60) as f32)));
        panned.push(frame(world));
    }
    world.harness.event(dragged(false));
    tell("while it is dragged", panned);
    let pointed = (0..FRAMES)
        .map(|i| {
            world.harness.event(Event::PointerMoved(middle + vec2((i % 100) as f32, (i % 60) as f32)));
            frame(world)
        })
        .collect();
    tell("while it is pointed at", pointed);
}

/// Frames with all classes in sight: in the tree, where they are chosen, and among the answers.
fn classes(world: &mut World) {
    world.until("all of it is read", |app| !app.desk().jobs().is_busy());
    println!("{} classes", world.state().classes().len());
    let pointed = |world: &mut World| {
        let frames = (0..FRAMES).map(|i| {
            world.harness.hover_at(egui::pos2(100.0 + (i % 100) as f32 * 10.0, 300.0 + (i % 37) as f32 * 8.0));
            frame(world)
        });
        frames.collect()
    };
    let all = pointed(world);
    tell("with the tree", all);
    world.type_into("Filter classes and folders", "e");
    let filtered = pointed(world);
    tell("with all classes by a filter", filtered);
    world.harness.key_press(egui::Key::Escape);
    world.step();
    world.key(egui::Key::Home);
    world.press("Label as…");
    let chosen = pointed(world);
    tell("while a class is chosen", chosen);
    world.key(egui::Key::Escape);
    let first = world.state().images().next().unwrap().id;
    world.run(Command::Recognise(ImageQuery::Item(first)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    world.rest();
    let answered = pointed(world);
    tell("with the bars of all classes", answered);
}

/// Clusters are found while one scrolls through them, with nothing selected and with everything.
fn cluster(world: &mut World) {
    world.harness.state_mut().turn_to(tessera::gui::page::Page::Clusters);
    let images = world.state().images().count();
    let start = Instant::now();
    world.harness.state_mut().ask(Command::FindClusters(ClusterAim { clusters: Some(100), ..ClusterAim::default() }));
    let (mut frames, mut first) = (Vec::new(), None);
    for i in 0.. {
        let is_running = world.app().desk().jobs().is_running(&JobKind::FindClusters);
        if i >= FRAMES && !is_running {
            break;
        }
        if world.app().desk().clusters().answer().is_some() {
            first.get_or_insert_with(|| start.elapsed());
        }
        frames.push(scrolled(world, i));
        std::thread::sleep(Duration::from_millis(2));
    }
    let first = first.unwrap_or_default().as_secs_f64();
    println!("clusters of {images} images: the first after {first:.1} s, all after {:.1} s", start.elapsed().as_secs_f64());
    tell("while clusters are found", frames);
    tell("while scrolling through clusters", (0..FRAMES).map(|i| scrolled(world, i)).collect());
    let all: Vec<ItemId> = world.state().images().map(|image| image.id).collect();
    world.harness.state_mut().view_mut().selection.set(all);
    tell("while scrolling through clusters with everything selected", (0..FRAMES).map(|i| scrolled(world, i)).collect());
    world.harness.state_mut().view_mut().selection.clear();
}

/// A frame in which the wheel is turned, mostly down and then up again.
fn scrolled(world: &mut World, i: usize) -> (Duration, Duration) {
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
    frame(world)
}

/// Labels given at the desk.
const LABELS: usize = 200;

/// Images are labelled one after another, each as soon as it is there: by the folders that they
/// came from, which the desk does not know.
fn label(world: &mut World) {
    world.harness.state_mut().turn_to(tessera::gui::page::Page::Label);
    let start = Instant::now();
    let mut frames = Vec::new();
    let is_quiet =
        |world: &World| world.app().desk().labelling().shown().is_some_and(|labelling| labelling.is_arranged && !labelling.is_computing);
    while !is_quiet(world) {
        frames.push(frame(world));
        std::thread::sleep(Duration::from_millis(2));
    }
    println!("the labelling desk of {IMAGES} images stood after {:.1} s", start.elapsed().as_secs_f64());
    let (mut next, mut suggested, mut settled) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..LABELS {
        let id = world.app().desk().labelling().shown().unwrap().current().unwrap();
        let class = world.state().image(id).unwrap().name().chars().take(8).collect::<String>();
        let start = Instant::now();
        world.harness.state_mut().ask(Command::LabelNext(vec![id], class, 1));
        let mut wait = |world: &mut World, is_so: &dyn Fn(&World) -> bool| {
            while !is_so(world) {
                frames.push(frame(world));
                std::thread::sleep(Duration::from_micros(200));
            }
            start.elapsed()
        };
        next.push(wait(world, &|world| world.app().desk().labelling().shown().unwrap().current() != Some(id)));
        suggested.push(wait(world, &|world| world.app().desk().labelling().shown().unwrap().learned == round + 1));
        settled.push(wait(world, &is_quiet));
    }
    tell("while labelling", frames);
    tell_of("labels", "until durable and the next image is shown", next);
    tell_of("labels", "until learned by the advisers", suggested);
    tell_of("labels", "until all suggestions are new and in order", settled);
}

/// Captions of each image.
const CAPTIONS: u32 = 10;
/// Words that there are; the n-th is used 1/n times as often as the first (Zipf), as in a language.
const WORDS: usize = 20_000;

/// A query is typed letter by letter, each before the answer to the last is there, and once more
/// with time for each answer.
fn type_queries(world: &mut World) {
    let mut rng = seeded(0);
    let mut sums = vec![0.0f64];
    for n in 1..=WORDS {
        sums.push(sums[n - 1] + 1.0 / n as f64);
    }
    let mut word = || {
        let at = rng.random_range(0.0..sums[WORDS]);
        let n = sums.partition_point(|sum| *sum <= at) as u32;
        // Syllables, so that words begin alike.
        let mut letters = String::new();
        let mut rest = n.wrapping_mul(2_654_435_761) % 1_000_003;
        while rest > 0 {
            letters.push(b"bdfgklmnprst"[rest as usize % 12] as char);
            letters.push(b"aeiou"[rest as usize / 12 % 5] as char);
            rest /= 60;
        }
        letters
    };
    let mut lines = String::new();
    for number in 0..IMAGES {
        for caption in 0..CAPTIONS {
            let words: Vec<String> = (0..11).map(|_| word()).collect();
            writeln!(lines, "{number:05}.png#{caption}\t{}", words.join(" ")).unwrap();
        }
    }
    let table = world.path("captions.token.txt");
    std::fs::write(&table, lines).unwrap();
    world.run(Command::ReadTable(table));
    world.until("the captions are there", |app| {
        app.desk().state().is_some_and(|state| state.images().all(|image| !image.captions.is_empty()))
    });
    world.rest();
    let (mut frames, mut answers, mut longest) = (Vec::new(), Vec::new(), (Duration::ZERO, String::new()));
    for round in 0..60 {
        let query = format!("{} {} {}", word(), word(), word());
        for end in 1..=query.len() {
            world.harness.state_mut().ask(Command::Search(query[..end].to_owned()));
            let start = Instant::now();
            frames.push(frame(world));
            while round % 2 == 0 && world.app().desk().searching().hits().is_none_or(|hits| hits.query != query[..end]) {
                std::thread::sleep(Duration::from_micros(200));
                frames.push(frame(world));
            }
            if round % 2 == 0 {
                answers.push(start.elapsed());
                longest = longest.max((start.elapsed(), query[..end].to_owned()));
            }
        }
    }
    let memories = world.app().desk().searching().hits().map_or(0, |hits| hits.memories);
    println!("{memories} captions; the longest answer was to \"{}\"", longest.1);
    tell("while typing", frames);
    tell_of("answers", "to the letter typed last", answers);
}

/// The time of one frame, and of the processor for it.
fn frame(world: &mut World) -> (Duration, Duration) {
    let (start, used) = (Instant::now(), processor());
    world.harness.step();
    (start.elapsed(), processor().saturating_sub(used))
}

/// What this thread has used of the processor; nothing where the system is not asked.
fn processor() -> Duration {
    #[cfg(unix)]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

fn tell(when: &str, frames: Vec<(Duration, Duration)>) {
    let (passed, used) = frames.into_iter().unzip();
    tell_of("frames", when, passed);
    tell_of("frames", &format!("{when}, of the processor"), used);
}

fn tell_of(what: &str, when: &str, mut frames: Vec<Duration>) {
    frames.sort();
    let at = |share: f64| frames[((frames.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!("{} {what} {when}: median {:.2} ms, p99 {:.2} ms, longest {:.2} ms", frames.len(), at(0.5), at(0.99), at(1.0));
}
