//! How long the user of a large library waits, without the window's own work:
//! `cargo bench -p tessera --no-default-features --bench waits -- LIBRARY [FOLDER]`.
//!
//! The time from the start until the first images, their thumbnails, all images, and until words
//! and pieces are read; until the first image of the labelling desk in each order, and until that
//! order is known; until a label is durable; with FOLDER, a small one, until that is imported while
//! the program judges the recogniser by itself; and the memory meanwhile.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tessera::command::Command;
use tessera::job::JobKind;
use tessera::session::Session;
use tessera::session::desk::{Desk, WantedThumbnail};
use tessera_core::data::Labels;
use tessera_core::library::state::State;
use tessera_core::library::suggest::LabelOrder;

/// Thumbnails of a page.
const PAGE: usize = 48;
/// The longest wait.
const PATIENCE: Duration = Duration::from_secs(900);

/// Polls until something is so; returns how long that took.
fn until(desk: &mut Desk, is_so: impl Fn(&Desk) -> bool) -> Duration {
    let start = Instant::now();
    while !is_so(desk) && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
        desk.poll();
    }
    start.elapsed()
}

fn tell(what: &str, took: Duration) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let megabytes = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key)).and_then(|line| line.split_whitespace().nth(1));
        line.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) / 1024
    };
    println!("{:9.3} s  {:6} MB now, {:6} MB at most  {what}", took.as_secs_f64(), megabytes("VmRSS:"), megabytes("VmHWM:"));
}

/// Fetches the thumbnails of the first images; returns how long that took.
fn page(desk: &Desk, state: &State) -> Duration {
    let start = Instant::now();
    let first = state.images().take(PAGE);
    let wanted: Vec<WantedThumbnail> =
        first.filter_map(|image| Some(WantedThumbnail { hash: image.content?.hash, path: state.path_of(image) })).collect();
    let mut left = wanted.len();
    desk.want_thumbnails(wanted);
    while left > 0 && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
        left -= desk.take_thumbnails().len();
    }
    start.elapsed()
}

fn main() {
    let paths: Vec<PathBuf> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).map(PathBuf::from).collect();
    let Some(library) = paths.first() else {
        println!("skipped: expected the path of a library, such as one of 100,000 images");
        return;
    };
    let start = Instant::now();
    let mut desk = Desk::new(Session::new(0, 0).unwrap(), Arc::new(|| {})).unwrap();
    desk.run(Command::Open(library.clone()));
    until(&mut desk, |desk| desk.first().is_some() || desk.state().is_some());
    tell("the first images are there", start.elapsed());
    let state = desk.first().map(|first| first.state.clone()).or_else(|| desk.state().cloned()).unwrap();
    page(&desk, &state);
    tell("and their thumbnails", start.elapsed());
    until(&mut desk, |desk| desk.state().is_some());
    tell(&format!("all {} images are there", desk.state().unwrap().images().count()), start.elapsed());
    desk.run(Command::LabelFrom(None, LabelOrder::Useful));
    desk.watch_labelling(true);
    let shown = |desk: &Desk| desk.labelling().shown().is_some_and(|labelling| labelling.current().is_some());
    tell("the first image to label, at once", until(&mut desk, shown));
    until(&mut desk, Desk::is_ready);
    tell("words and pieces are read", start.elapsed());
    desk.run(Command::Search("dog".into()));
    tell("a search is answered", until(&mut desk, |desk| desk.searching().hits().is_some()));
    for order in LabelOrder::ALL {
        desk.run(Command::LabelFrom(None, order));
        tell(&format!("the first image to label, {}", order.name()), until(&mut desk, shown));
        let image = desk.labelling().shown().unwrap().current().unwrap();
        desk.run(Command::LabelNext(vec![image], "bench".into(), 1));
        let next = |desk: &Desk| desk.labelling().shown().is_some_and(|labelling| labelling.current().is_some_and(|now| now != image));
        tell("labelled, and the next one", until(&mut desk, next));
        let done = |desk: &Desk| desk.labelling().shown().is_some_and(|labelling| !labelling.is_computing);
        tell("all suggestions are there, in order", until(&mut desk, done));
    }
    desk.watch_labelling(false);
    if let Some(folder) = paths.get(1) {
        let is_judging = desk.jobs().is_running(&JobKind::Judge);
        desk.run(Command::Import { folder: folder.clone(), labels: Labels::None, exclude: Vec::new(), table: None });
        let took = until(&mut desk, |desk| !desk.jobs().is_importing());
        tell(if is_judging { "imported while judging" } else { "imported; nothing was judged meanwhile" }, took);
    }
}
