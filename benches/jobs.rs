//! How soon work stops when it is asked to: `cargo bench -p tessera --no-default-features`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use tessera::command::Command;
use tessera::session::desk::Desk;
use tessera::session::{DECODE_WORKER, Session};
use tessera_core::data::Labels;
use tessera_core::data::toys::ToyOptions;
use tessera_core::picture::Workers;
use tessera_core::random::{Rng, seeded};

/// How often each kind of work is stopped, and how late at the most, in milliseconds.
const TIMES: usize = 100;
const LATEST: u64 = 1_500;

fn main() {
    // `cargo test --benches` only asks whether this starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (images, photos) = (place.path().join("images"), place.path().join("photos"));
    session(place.path()).generate_toys(&ToyOptions::default(), &images).unwrap();
    photographs(&photos);
    let mut rng = seeded(0);
    stop_imports(place.path(), &images, "import of small pictures", &mut rng);
    stop_imports(place.path(), &photos, "import of 24 megapixel photographs", &mut rng);
    stop_judging(place.path(), &images, &mut rng);
}

fn session(place: &Path) -> Session {
    let workers = Workers::new(env!("CARGO_BIN_EXE_tessera").into(), vec![DECODE_WORKER.into()], 4);
    Session::new(2, 0).unwrap().with_data_folder(place.join("data")).with_decoder(Arc::new(workers))
}

/// Large pictures that differ in their last bytes.
fn photographs(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let noise = |x: u32, y: u32| (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)) >> 24;
    let picture = image::RgbImage::from_fn(6000, 4000, |x, y| image::Rgb([(x / 24) as u8, (y / 16) as u8, (noise(x, y) / 8) as u8]));
    let first = folder.join("00.jpg");
    picture.save(&first).unwrap();
    let bytes = std::fs::read(&first).unwrap();
    for i in 1..40u8 {
        std::fs::write(folder.join(format!("{i:02}.jpg")), [bytes.as_slice(), &[i]].concat()).unwrap();
    }
}

fn stop_imports(place: &Path, images: &Path, what: &str, rng: &mut Rng) {
    let mut waits = Vec::new();
    while waits.len() < TIMES {
        let library = place.join("own.tessera");
        session(place).open_or_create_library(&library).unwrap().close().unwrap();
        let mut desk = opened(place, &library);
        desk.run(Command::Import { folder: images.to_owned(), labels: Labels::Auto, exclude: Vec::new(), table: None });
        waits.extend(stop(&mut desk, "Import", rng));
        drop(desk);
        std::fs::remove_dir_all(&library).unwrap();
    }
    tell(what, waits);
}

fn stop_judging(place: &Path, images: &Path, rng: &mut Rng) {
    let library = place.join("judged.tessera");
    session(place).open_or_create_library(&library).unwrap().close().unwrap();
    let mut desk = opened(place, &library);
    desk.run(Command::Import { folder: images.to_owned(), labels: Labels::Auto, exclude: Vec::new(), table: None });
    while desk.jobs().is_busy() {
        wait(&mut desk);
    }
    let mut waits = Vec::new();
    while waits.len() < TIMES {
        desk.run(Command::Evaluate);
        waits.extend(stop(&mut desk, "Judging", rng));
    }
    tell("judging of the recogniser", waits);
}

fn opened(place: &Path, library: &Path) -> Desk {
    let mut desk = Desk::new(session(place), Arc::new(|| {})).unwrap();
    desk.run(Command::Open(library.to_owned()));
    while desk.state().is_none() {
        wait(&mut desk);
    }
    desk
}

fn wait(desk: &mut Desk) {
    desk.poll();
    sleep(Duration::from_millis(1));
}

/// Stops a job at a random moment. How long it went on; none when it was done before.
fn stop(desk: &mut Desk, name: &str, rng: &mut Rng) -> Option<Duration> {
    let until = Instant::now() + Duration::from_millis(rng.random_range(0..LATEST));
    while Instant::now() < until {
        wait(desk);
    }
    let job = desk.jobs().list().into_iter().find(|job| job.name.starts_with(name))?.id;
    let asked = Instant::now();
    desk.run(Command::Cancel(job));
    while desk.jobs().list().iter().any(|job| job.name.starts_with(name)) {
        wait(desk);
    }
    let waited = asked.elapsed();
    while desk.jobs().is_busy() {
        let others: Vec<_> = desk.jobs().list().iter().map(|job| job.id).collect();
        others.into_iter().for_each(|job| desk.run(Command::Cancel(job)));
        wait(desk);
    }
    Some(waited)
}

fn tell(what: &str, mut waits: Vec<Duration>) {
    waits.sort();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share).ceil() as usize].as_secs_f64() * 1e3;
    println!("{what}, stopped {} times: median {:.0} ms, p99 {:.0} ms, longest {:.0} ms", waits.len(), at(0.5), at(0.99), at(1.0));
}
