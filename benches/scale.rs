//! How long an answer takes as a recogniser grows: `TESSERA_DATA=… cargo bench -p tessera-core
//! --bench scale -- 1000 5000 24300 [probes=8]`.
//!
//! Search is exact, by shortlist, and by an index of pieces; building that index and adding images
//! to it are timed too, and its memory is told as a multiple of the descriptors' bytes. The images
//! are those of ETH-80 (all objects but 5 and 6), jittered: moved, shrunk, brightened, by a seed.
//! Queries are of objects 5 and 6. Times are of the processor, of all threads together.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use image::{Rgb, RgbImage, imageops};
use rand::RngExt as _;
use rayon::prelude::*;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, Class, Example, Search, Without};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::picture::{Decoder as _, InProcess, Picture};
use tessera_core::progress::Progress;
use tessera_core::random;

/// Queries that are timed.
const QUERIES: usize = 40;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let probes = std::env::args().find_map(|argument| argument.strip_prefix("probes=")?.parse().ok());
    let index = probes.map_or(Search::INDEX, |probes| Search::Index { probes });
    let Some(data) = std::env::var_os("TESSERA_DATA") else {
        println!("skipped: TESSERA_DATA names no folder");
        return;
    };
    let files = files(&Path::new(&data).join("eth80"));
    let is_tested = |path: &PathBuf| object(path) == 5 || object(path) == 6;
    let (tested, learned): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(is_tested);
    let pictures: Vec<(String, Picture)> = learned.iter().map(|path| (class(path), decoded(path))).collect();
    let mut machine = Ckm::new(Preset::Mixed.options()).unwrap();
    let step = tested.len().div_ceil(QUERIES);
    let queries: Vec<Picture> = tested.iter().step_by(step).map(|path| decoded(path)).collect();
    println!(
        "{:>7} {:>22} {:>22} {:>22} {:>22} {:>8} {:>9} {:>12} {:>14} {:>9} {:>7}",
        "images",
        "exact ms (wall)",
        "shortlist ms (wall)",
        "with cutting (wall)",
        "index ms (wall)",
        "add ms",
        "index ms",
        "index add ms",
        "compared",
        "differ",
        "memory"
    );
    let mut next = 0;
    for size in sizes {
        let cut = |i: usize| machine.elements(&jittered(&pictures[i % pictures.len()].1.pixels, i).into()).unwrap();
        let elements: Vec<Elements> = (next..size).into_par_iter().map(cut).collect();
        let added = elements.len().max(1) as f64;
        let start = cpu();
        for (i, elements) in (next..size).zip(elements) {
            let class = &pictures[i % pictures.len()].0;
            machine.add(class, Example { id: ItemId(i as u32), name: String::new(), group: None, elements: elements.into() }).unwrap();
        }
        let add = 1e3 * (cpu() - start) / added;
        next = next.max(size);
        let cut: Vec<Elements> = queries.iter().map(|picture| machine.elements(picture).unwrap()).collect();
        let ask = |machine: &Ckm, query: &Elements| machine.scores(query, Without::Nothing).ranking()[0].0;
        let few = if size > 10_000 { 12 } else { QUERIES };
        let (exact, exact_times) = timed(cut.iter().take(few), |query| ask(&machine, query));
        machine.set_search(Search::SHORTLIST).unwrap();
        let (listed, times) = timed(cut.iter(), |query| ask(&machine, query));
        let (_, whole) = timed(queries.iter(), |picture| ask(&machine, &machine.elements(picture).unwrap()));
        let (start, before) = (cpu(), resident());
        machine.set_search(index).unwrap();
        let build = 1e3 * (cpu() - start) / size as f64;
        let memory = (resident() - before) / features(&machine);
        let (probed, index_times) = timed(cut.iter(), |query| ask(&machine, query));
        let points =
            |machine: &Ckm| cut.iter().map(|query| machine.comparisons(query, Without::Nothing)).map(|c| c.points + c.nodes).sum::<u64>();
        let some = points(&machine);
        let index_add = added_again(&mut machine);
        machine.set_search(Search::Exact).unwrap();
        let compared = 100.0 * some as f64 / points(&machine) as f64;
        let differ = |answers: &[ClassId]| exact.iter().zip(answers).filter(|(a, b)| a != b).count();
        let told = |(cpu, wall): (f64, f64)| format!("{cpu:.2} ({wall:.2})");
        println!(
            "{size:>7} {:>22} {:>22} {:>22} {:>22} {add:>8.3} {build:>9.3} {index_add:>12.3} {compared:>12.2} % {:>9} {memory:>7.2}",
            told(exact_times),
            told(times),
            told(whole),
            told(index_times),
            format!("{}+{}/{few}", differ(&listed), differ(&probed))
        );
    }
}

/// Milliseconds of adding an image to a machine, on average: some are taken out and put in again.
fn added_again(machine: &mut Ckm) -> f64 {
    let classes = machine.classes().iter();
    let some =
        |class: &Class| class.examples.iter().step_by(class.examples.len().div_ceil(8)).map(|e| (class.name.clone(), e.clone())).collect();
    let images: Vec<(String, Arc<Example>)> = classes.flat_map(|class| -> Vec<_> { some(class) }).collect();
    let mut seconds = 0.0;
    let n = images.len() as f64;
    for (class, example) in images {
        machine.remove(example.id);
        let start = Instant::now();
        machine.add(&class, example).unwrap();
        seconds += start.elapsed().as_secs_f64();
    }
    1e3 * seconds / n
}

/// The answers, and processor and wall milliseconds for each.
fn timed<'a, T: 'a, A>(queries: impl Iterator<Item = &'a T>, ask: impl Fn(&T) -> A) -> (Vec<A>, (f64, f64)) {
    let (start, start_cpu) = (Instant::now(), cpu());
    let answers: Vec<A> = queries.map(ask).collect();
    let each = 1e3 / answers.len() as f64;
    let times = (each * (cpu() - start_cpu), each * start.elapsed().as_secs_f64());
    (answers, times)
}

/// Seconds of processor time of this program, to a hundredth.
fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// Bytes of memory that this program has.
fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap();
    4096.0 * text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
}

/// Bytes of the descriptors of a machine's elements.
fn features(machine: &Ckm) -> f64 {
    // The rest is the size, and for each kind a number and positions.
    let of = |elements: &Elements| elements.to_bytes().len() - 8 * (1 + elements.len()) - 4 * elements.sets.len();
    machine.examples().map(|(_, example)| of(&example.elements.get()) as f64).sum()
}

/// Moved by up to 6 pixels, shrunk to 0.78 or more, brightened by up to 20.
fn jittered(picture: &RgbImage, seed: usize) -> RgbImage {
    let mut rng = random::seeded(seed as u64);
    let (width, height) = picture.dimensions();
    let scale: f32 = rng.random_range(0.78..1.0);
    let small = imageops::resize(picture, (width as f32 * scale) as u32, (height as f32 * scale) as u32, imageops::FilterType::Triangle);
    let mut moved = RgbImage::from_pixel(width, height, *picture.get_pixel(0, 0));
    let mut place = |all: u32, own: u32| i64::from(all - own) / 2 + rng.random_range(-6..=6);
    let (x, y) = (place(width, small.width()), place(height, small.height()));
    imageops::replace(&mut moved, &small, x, y);
    let brighter: i16 = rng.random_range(-20..=20);
    moved.pixels_mut().for_each(|Rgb(values)| values.iter_mut().for_each(|v| *v = (i16::from(*v) + brighter).clamp(0, 255) as u8));
    moved
}

fn decoded(path: &Path) -> Picture {
    InProcess::default().decode(path, 128, &Progress::default()).unwrap()
}

/// All images, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> { fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let mut files: Vec<PathBuf> = inside(folder).iter().flat_map(|class| inside(class)).collect();
    files.sort();
    files
}

fn class(path: &Path) -> String {
    path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned()
}

/// The object's number: `apple_05_000_000.jpg` shows the fifth.
fn object(path: &Path) -> u32 {
    path.file_stem().unwrap().to_string_lossy().split('_').nth(1).unwrap().parse().unwrap()
}
