//! What waits until the models of a library have learned, what becomes of it when that is stopped,
//! and what is taken in from elsewhere.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use image::{Rgb, RgbImage};
use serde_json::Value;
use tessera::command::{Command, ImageQuery, Written};
use tessera::job::JobKind;
use tessera::session::desk::Desk;
use tessera::session::reports::last_report;
use tessera_core::Result;
use tessera_core::data::Labels;
use tessera_core::picture::{Decoder, InProcess, Picture};
use tessera_core::progress::Progress;

use crate::desk::{desk, ready, session, state, until, until_told};
use crate::world::World;

/// Decodes only once it is opened; until then only cancelling ends the wait for an image.
#[derive(Default)]
struct Gate {
    is_open: AtomicBool,
    decoder: InProcess,
}

impl Gate {
    fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }
}

impl Decoder for Gate {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> Result<Picture> {
        while !self.is_open.load(Ordering::Relaxed) {
            progress.steps(0)?;
            sleep(Duration::from_millis(2));
        }
        self.decoder.decode(path, side, progress)
    }
}

/// A desk on a library whose models cannot learn until a gate is opened, for what they were made of
/// is gone.
fn reading(world: &World) -> (Desk, Arc<Gate>) {
    let before = ready(world);
    let folder = before.folder().unwrap().to_owned();
    drop(before);
    fs::remove_file(folder.join("cache.db")).unwrap();
    let gate = Arc::new(Gate::default());
    let mut desk = desk(session(world).with_decoder(Arc::<Gate>::clone(&gate)));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "the images are there", |desk| desk.state().is_some());
    (desk, gate)
}

#[test]
fn what_waits_for_the_models_is_not_lost_silently() {
    let world = World::with_images();
    let (mut desk, _gate) = reading(&world);
    let image = state(&desk).images().next().unwrap().id;
    desk.run(Command::Search("disc".into()));
    assert!(!desk.is_ready() && !desk.would_lose_work(), "reading goes on when the library is next opened");
    desk.run(Command::Forget(vec![image]));
    assert_eq!(desk.opening().waiting().collect::<Vec<_>>(), ["Forgetting 1 image"]);
    assert!(desk.would_lose_work());
    desk.run(Command::Close);
    until_told(&mut desk, "Not done, for the library was closed: Forgetting 1 image");
    assert!(!desk.would_lose_work());
}

#[test]
fn reading_that_was_stopped_goes_on_when_something_needs_it() {
    let world = World::with_images();
    let (mut desk, gate) = reading(&world);
    let image = state(&desk).images().next().unwrap().id;
    desk.run(Command::Search("disc".into()));
    desk.run(Command::Forget(vec![image]));
    let job = desk.jobs().of(&JobKind::CatchUp).unwrap();
    desk.run(Command::Cancel(job.id));
    until_told(&mut desk, "that are not read: Forgetting 1 image");
    until(&mut desk, "it is stopped", |desk| !desk.jobs().is_running(&JobKind::CatchUp));
    assert!(!desk.is_ready(), "nothing is read");
    assert!(!desk.would_lose_work() && desk.searching().hits().is_none());
    // What needs no models does not wait for them.
    desk.run(Command::LookAtHealth);
    until(&mut desk, "its folders are told", |desk| desk.upkeep().health().is_some_and(|health| health.roots.len() == 1));
    desk.watch_memory(true);
    assert!(!desk.is_ready() && !desk.jobs().is_running(&JobKind::CatchUp) && desk.upkeep().memory().is_none());
    // A page that needs them is turned to.
    gate.open();
    desk.watch_map(true);
    until(&mut desk, "the models are there", Desk::is_ready);
    until(&mut desk, "the search of before is answered", |desk| desk.searching().hits().is_some_and(|hits| hits.query == "disc"));
    assert_eq!(state(&desk).images().count(), 24, "nothing was forgotten");
    desk.watch_memory(true);
    until(&mut desk, "what is in memory is told", |desk| desk.upkeep().memory().is_some_and(|memory| memory.images > 0));
}

#[test]
fn captions_come_with_the_first_import_of_a_folder_of_which_a_file_was_taken_in() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let one = world.picture("elsewhere/one.png", 1, 9, 3);
    world.picture("elsewhere/two.png", 0, 8, 2);
    world.file("elsewhere/captions.csv", b"path,caption\ntwo.png,a wren on a fence\n");
    desk.run(Command::TakeIn(one, "pup".into()));
    until(&mut desk, "it is taken in", |desk| state(desk).images().count() == 25);
    desk.run(Command::Import { folder: world.at("elsewhere"), labels: Labels::None, exclude: Vec::new(), table: None });
    until(&mut desk, "they are imported", |desk| state(desk).images().count() == 26 && !desk.jobs().is_importing());
    assert!(state(&desk).images().any(|image| image.captions.iter().any(|caption| caption.text == "a wren on a fence")));
}

#[test]
fn a_pasted_picture_leaves_no_file_where_it_is_not_taken_in() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let pasted = Arc::new(RgbImage::from_fn(40, 40, |x, y| Rgb([(x * 6) as u8, (y * 5) as u8, 77])));
    let recognise = |desk: &mut Desk| {
        desk.run(Command::Recognise(ImageQuery::Pixels(Arc::clone(&pasted))));
        until(desk, "it is recognised", |desk| !desk.jobs().is_running(&JobKind::Recognise));
    };
    recognise(&mut desk);
    let own = desk.folder().unwrap().join("pasted.png");
    desk.run(Command::KeepPicture(own.clone(), "ring".into()));
    until_told(&mut desk, "one in the library's own folder");
    desk.run(Command::KeepPicture(world.at("pasted.png"), "  ".into()));
    until_told(&mut desk, "a name of 1 to 200 characters");
    assert!(!own.exists() && !world.at("pasted.png").exists());
    // What is there is replaced only after a question.
    let there = world.file("there.png", b"something else");
    desk.run(Command::KeepPicture(there.clone(), "ring".into()));
    until(&mut desk, "it is done", |desk| !desk.jobs().is_running(&JobKind::TakeIn));
    assert_eq!(desk.take_occupied(), Some((Written::Picture, there.clone())));
    assert_eq!(fs::read(&there).unwrap(), b"something else");
    desk.run(Command::Replace(Written::Picture, there.clone()));
    until(&mut desk, "it is taken in", |desk| state(desk).images().count() == 25);
    let image = state(&desk).images().last().unwrap().clone();
    assert_eq!((image.label(), image::open(&there).unwrap().to_rgb8()), (Some("ring"), RgbImage::clone(&pasted)));
    // A forgotten one may not come back.
    desk.run(Command::Forget(vec![image.id]));
    until(&mut desk, "it is forgotten", |desk| state(desk).images().count() == 24 && !desk.jobs().is_running(&JobKind::Forget));
    recognise(&mut desk);
    desk.run(Command::KeepPicture(world.at("again.png"), "ring".into()));
    until_told(&mut desk, "one that you had forgotten");
    assert!(!world.at("again.png").exists() && there.exists());
}

#[test]
fn a_report_that_no_judging_made_is_not_shown() {
    let world = World::with_images();
    let before = ready(&world);
    let folder = before.folder().unwrap().to_owned();
    drop(before);
    let library = session(&world).open_library(&folder).unwrap();
    assert!(last_report(&library).is_some());
    let name = ["report", "report, learned features"].into_iter().find(|name| library.result(name).unwrap().is_some()).unwrap();
    let kept: Value = serde_json::from_str(&library.result(name).unwrap().unwrap()).unwrap();
    let changes: [fn(&mut Value); 4] = [
        |kept| drop(kept["report"]["confusion"][1].as_array_mut().unwrap().pop()),
        |kept| drop(kept["report"]["confusion"].as_array_mut().unwrap().pop()),
        |kept| kept["report"]["judged"][0]["predicted"] = 7.into(),
        |kept| kept["report"]["confusion"][0][1] = u32::MAX.into(),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut other = kept.clone();
        change(&mut other);
        library.keep_result(name, &other.to_string()).unwrap();
        assert!(last_report(&library).is_none(), "change {i}");
    }
}
