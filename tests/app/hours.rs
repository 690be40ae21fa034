//! Hours of use: a million random acts through one process of the program, with its memory, its
//! open files and its time told by tenths, and with a model of what must be there in the end.
//!
//! ```sh
//! TESSERA_ACTS=100000 cargo test -p tessera --test app -- --ignored --nocapture hours_of_use
//! ```
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "the long test tells its figures")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Instant;

use serde_json::{Value, json};
use tessera::session::Session;

use crate::dice::Dice;
use crate::world::World;

const LIBRARY: &str = "lib.tessera";
const IMAGES: u64 = 24;
const CLASSES: usize = 30;
/// Bytes of memory that an act may leave, where there are so many acts that rounding by pages tells
/// nothing: an entry in any list takes more.
const ENTRY: f64 = 8.0;
/// What a tenth may take, as a multiple of the median of all tenths.
const SLOWER: f64 = 1.5;

/// What a process needs at a moment.
#[derive(Clone, Copy)]
struct Need {
    memory: u64,
    files: usize,
    /// Processor time so far, in seconds.
    seconds: f64,
}

impl Need {
    fn of(process: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        // The name of the program may have blanks in it; behind it follows the third field.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: f64 = fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum();
        let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
        Self { memory: memory.unwrap() << 10, files, seconds: ticks / 100.0 }
    }
}

/// Labels and rejected classes of the images, as they should be.
#[derive(Default)]
struct Model {
    labels: BTreeMap<u64, Option<String>>,
    rejected: BTreeMap<u64, BTreeSet<String>>,
    /// Classes that were labelled: only these can be rejected.
    classes: Vec<String>,
}

impl Model {
    /// Draws an act, and does it.
    fn draw(&mut self, chance: &mut Dice) -> Value {
        let image = 1 + chance.below(IMAGES as usize) as u64;
        let name = format!("class {}", chance.below(CLASSES));
        let label = self.labels.get(&image).cloned().flatten();
        match chance.below(10) {
            0 => {
                self.labels.insert(image, None);
                json!({"image": image, "label": null})
            }
            1 | 2 if self.classes.contains(&name) && label.as_ref() != Some(&name) => {
                self.rejected.entry(image).or_default().insert(name.clone());
                json!({"image": image, "not": name})
            }
            3 if self.classes.contains(&name) => {
                self.rejected.entry(image).or_default().remove(&name);
                json!({"image": image, "not": name, "rejected": false})
            }
            _ => {
                if !self.classes.contains(&name) {
                    self.classes.push(name.clone());
                }
                // Who says that it is of a class takes back that it is not.
                self.rejected.entry(image).or_default().remove(&name);
                self.labels.insert(image, Some(name.clone()));
                json!({"image": image, "label": name})
            }
        }
    }
}

/// Does so many acts.
fn use_for(acts: usize, seed: u64) {
    let world = World::in_memory();
    for i in 0..IMAGES as u32 {
        world.picture(&format!("images/image-{i:02}.png"), i as usize % 2, i % 12, i / 12);
    }
    world.run(["import", LIBRARY, "images", "--labels", "none"]).ended(0);
    let (mut chance, mut model) = (Dice(seed), Model::default());
    let mut child = world.start(["label", LIBRARY, "--stdin", "--threads", "1"]);
    let (mut input, mut answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut needs = Vec::new();
    let mut events = 1;
    let start = Instant::now();
    for i in 0..acts {
        if i % (acts / 10) == 0 {
            needs.push(Need::of(child.id()));
        }
        let mut line = model.draw(&mut chance).to_string();
        line.push('\n');
        input.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["ok"], true, "{line}: {answer}");
        events += u64::from(!answer["event"].is_null());
    }
    needs.push(Need::of(child.id()));
    drop(input);
    assert!(child.wait().unwrap().success());
    let per = (acts / 10) as f64;
    let times: Vec<f64> = needs.windows(2).map(|pair| (pair[1].seconds - pair[0].seconds) / per * 1000.0).collect();
    for (tenth, (need, time)) in needs[1..].iter().zip(&times).enumerate() {
        println!(
            "after {} acts: {} MB, {} files, {time:.3} ms of processor time an act",
            (tenth + 1) * (acts / 10),
            need.memory >> 20,
            need.files
        );
    }
    let (first, last) = (needs[1], needs[10]);
    let entry = (last.memory as f64 - first.memory as f64) / (per * 9.0);
    println!("{acts} acts, {events} events in {} s; {entry:.0} bytes of memory an act", start.elapsed().as_secs());
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    // One that was measured too coarsely tells nothing.
    assert!(per < 10_000.0 || sorted[9] < sorted[5] * SLOWER, "{times:?}");
    assert!(needs[1..].iter().all(|need| need.files == first.files), "open files grow");
    assert!(per < 100_000.0 || entry < ENTRY, "{entry} bytes an act");
    world.run(["check", LIBRARY]).ended(0);
    let library = Session::new(1, 0).unwrap().open_library(&world.at(LIBRARY)).unwrap();
    assert_eq!(library.head().unwrap().event.0, events);
    for image in library.state().images() {
        let id = u64::from(image.id.0);
        assert_eq!(image.label(), model.labels.get(&id).and_then(|label| label.as_deref()), "image {id}");
        assert_eq!(image.rejected, model.rejected.get(&id).cloned().unwrap_or_default(), "image {id}");
    }
    let acts = library.state().history().len();
    assert!(acts as u64 == events || acts >= 10_000, "{acts} of {events} acts can be taken back");
    drop(library);
    let undone = world.run(["undo", LIBRARY, "--json"]).ended(0).object();
    assert_eq!(undone["event"], events + 1);
}

#[test]
fn a_day_of_use_is_as_the_model_says() {
    use_for(1000, 1);
}

#[test]
#[ignore = "a million acts, or TESSERA_ACTS"]
fn long_hours_of_use_change_nothing() {
    let acts = std::env::var("TESSERA_ACTS").map_or(1_000_000, |acts| acts.parse().unwrap());
    use_for(acts, 2);
}
