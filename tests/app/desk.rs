//! The desk without a window: nothing blocks, every result arrives, and every failure becomes a
//! notice.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use image::{Rgb, RgbImage};
use tessera::command::{Command, ImageQuery, SearchChoice};
use tessera::job::JobKind;
use tessera::session::Session;
use tessera::session::desk::Desk;
use tessera::session::desk::view::Tone;
use tessera_core::Result;
use tessera_core::data::Labels;
use tessera_core::ids::ItemId;
use tessera_core::library::event::{Caption, UserLabel};
use tessera_core::library::state::State;
use tessera_core::library::suggest::LabelOrder;
use tessera_core::picture::{Decoder, InProcess, Picture};
use tessera_core::progress::Progress;

use crate::world::World;

/// How long a test waits for a condition, generous for a busy machine.
const PATIENCE: Duration = Duration::from_secs(400);

pub(crate) fn session(world: &World) -> Session {
    Session::new(2, 0).unwrap().with_data_folder(world.at("data"))
}

pub(crate) fn desk(session: Session) -> Desk {
    Desk::new(session, Arc::new(|| {})).unwrap()
}

/// Polls until a condition holds.
#[track_caller]
pub(crate) fn until(desk: &mut Desk, what: &str, is_so: impl Fn(&Desk) -> bool) {
    let start = Instant::now();
    while !is_so(desk) {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}; the log says {:?}", desk.notices().log());
        sleep(Duration::from_millis(2));
        desk.poll();
    }
}

#[track_caller]
pub(crate) fn until_told(desk: &mut Desk, words: &str) {
    until(desk, words, |desk| desk.notices().log().iter().any(|notice| notice.words.contains(words)));
}

pub(crate) fn state(desk: &Desk) -> &State {
    desk.state().unwrap()
}

fn label_of(desk: &Desk, id: ItemId) -> Option<&str> {
    state(desk).image(id)?.label()
}

/// A desk on a folder of images that is imported and judged.
pub(crate) fn ready(world: &World) -> Desk {
    let mut desk = desk(session(world));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "the recogniser is judged", |desk| desk.recognising().report().is_some() && !desk.jobs().is_busy());
    desk
}

#[test]
fn a_library_is_shown_before_its_models_have_learned_and_acts_do_not_wait() {
    let world = World::with_images();
    drop(ready(&world));
    let mut desk = desk(session(&world));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "the images are there", |desk| desk.state().is_some());
    // What the job that teaches the models sends is taken in by a later poll.
    assert!(!desk.is_ready() && desk.jobs().is_busy() && !desk.jobs().would_lose_work());
    let image = state(&desk).images().next().unwrap().id;
    desk.run(Command::Label(vec![image], UserLabel::Class("quokka".into())));
    desk.run(Command::Search("quok".into()));
    desk.run(Command::Search("quokka".into()));
    assert!(desk.searching().hits().is_none(), "a search waits");
    until(&mut desk, "the search is answered", |desk| desk.searching().hits().is_some());
    assert!(desk.is_ready());
    assert_eq!(label_of(&desk, image), Some("quokka"));
    let hits = desk.searching().hits().unwrap();
    assert_eq!((hits.query.as_str(), &**hits.images), ("quokka", &[image][..]));
    until(&mut desk, "the old report is there", |desk| desk.recognising().report().is_some());
}

#[test]
fn judging_that_nobody_asked_for_gives_way_and_can_be_put_off() {
    let world = World::with_images();
    many(&world, 60);
    // Each picture of the import takes a moment.
    let mut desk = desk(slow(&world, 20));
    desk.run(Command::Open(world.at("images")));
    let judging = |desk: &Desk| desk.jobs().of(&JobKind::Judge);
    until(&mut desk, "it is judged", |desk| judging(desk).is_some());
    let job = judging(&desk).unwrap();
    assert_eq!(job.put_off, Some(false), "nobody asked for it");
    assert!(!desk.jobs().would_lose_work(), "it is judged again when the library is next opened");
    desk.run(Command::PutOff(job.id, true));
    until(&mut desk, "it waits", |desk| judging(desk).is_some_and(|job| job.waits));
    assert_eq!(judging(&desk).unwrap().put_off, Some(true));
    assert!(!desk.jobs().is_busy() && !desk.would_lose_work(), "nobody waits for it");
    sleep(Duration::from_millis(300));
    desk.poll();
    assert!(desk.recognising().report().is_none() && judging(&desk).is_some(), "it stays put off");
    desk.run(Command::Import { folder: world.at("many"), labels: Labels::None, exclude: Vec::new(), table: None });
    desk.run(Command::PutOff(job.id, false));
    assert!(desk.jobs().is_importing() && judging(&desk).is_some_and(|job| job.waits), "what was asked for goes first");
    until(&mut desk, "the import is done", |desk| !desk.jobs().is_importing());
    assert!(desk.recognising().report().is_none() && judging(&desk).is_some());
    until(&mut desk, "it goes on by itself", |desk| desk.recognising().report().is_some());
    assert_eq!(state(&desk).images().count(), 84);
}

#[test]
fn the_first_image_to_label_does_not_wait_for_the_models() {
    let world = World::with_images();
    many(&world, 3);
    let mut before = ready(&world);
    before.run(Command::Import { folder: world.at("many"), labels: Labels::None, exclude: Vec::new(), table: None });
    until(&mut before, "they are imported", |desk| state(desk).images().count() == 27 && !desk.jobs().is_busy());
    drop(before);
    for order in LabelOrder::ALL {
        let mut desk = desk(session(&world));
        desk.run(Command::Open(world.at("images")));
        until(&mut desk, "the images are there", |desk| desk.state().is_some());
        desk.run(Command::LabelFrom(None, order));
        desk.watch_labelling(true);
        let labelling = desk.labelling().shown().unwrap();
        assert!(!desk.is_ready() && labelling.suggestions.is_empty());
        let first = labelling.current();
        assert!(first.is_some(), "{}: an image is there at once", order.name());
        // The folder is looked through again, and advisers do not run during an import.
        until(&mut desk, "the models are there", |desk| desk.is_ready() && !desk.jobs().is_busy());
        desk.watch_labelling(true);
        until(&mut desk, "the advisers have answered", |desk| {
            desk.labelling().shown().is_some_and(|labelling| labelling.suggestions.len() == 3 && !labelling.is_computing)
        });
        assert_eq!(desk.labelling().shown().unwrap().current(), first, "{}: it stays where it is", order.name());
    }
}

#[test]
fn the_way_through_without_a_window() {
    let world = World::with_images();
    let mut desk = ready(&world);
    assert_eq!((state(&desk).images().count(), state(&desk).classes().len()), (24, 2));
    let (report, is_stale) = desk.recognising().report().unwrap();
    assert_eq!((report.accuracy.as_ref().map(|accuracy| accuracy.overall.value), is_stale), (Some(1.0), false));

    let id = state(&desk).images().next().unwrap().id;
    let before = label_of(&desk, id).unwrap().to_owned();
    desk.run(Command::Label(vec![id], UserLabel::Class("kite".into())));
    until(&mut desk, "it is labelled", |desk| label_of(desk, id) == Some("kite"));
    assert!(desk.recognising().report().unwrap().1, "the report is of another state");
    desk.run(Command::Undo);
    until(&mut desk, "it is undone", |desk| label_of(desk, id) == Some(&before));
    desk.run(Command::Redo);
    until(&mut desk, "it is done again", |desk| label_of(desk, id) == Some("kite"));
    desk.run(Command::Undo);
    until(&mut desk, "it is undone again", |desk| label_of(desk, id) == Some(&before));

    let caption = Caption { text: "a striped target".into(), by_user: true };
    desk.run(Command::Caption(id, vec![caption]));
    desk.run(Command::Search("target str".into()));
    until(&mut desk, "it is found", |desk| {
        desk.searching().hits().is_some_and(|hits| hits.hits.first().is_some_and(|hit| hit.image == id))
    });
    desk.run(Command::Undo);
    until(&mut desk, "it is found no more", |desk| desk.searching().hits().is_some_and(|hits| hits.hits.is_empty()));

    // Another class was there for a while, so the recogniser is judged again: its terms move.
    until(&mut desk, "it is judged by the classes that are there", |desk| {
        !desk.jobs().is_busy() && desk.recognising().report().is_some_and(|(report, _)| report.classes == ["disc", "grid"])
    });
    desk.run(Command::Recognise(ImageQuery::Item(id)));
    until(&mut desk, "it is recognised", |desk| desk.recognising().recognition().is_some());
    let own = Arc::clone(desk.recognising().recognition().unwrap());
    let sum: f64 = own.best.as_ref().unwrap().contributions.iter().map(|row| row.value).sum();
    assert!((sum - own.scores[0].1).abs() < 1e-6 * sum.abs().max(1.0), "{sum} is not {}", own.scores[0].1);

    let query = ImageQuery::File(world.picture("new.png", 1, 4, 2));
    desk.run(Command::Recognise(query.clone()));
    until(&mut desk, "it is recognised", |desk| desk.recognising().recognition().is_some());
    let scores = desk.recognising().recognition().unwrap().scores.clone();
    desk.run(Command::SaveModel(world.at("m.tessera-model")));
    until_told(&mut desk, "Saved the model");
    let model = tessera::session::models::load_model(&world.at("m.tessera-model")).unwrap();
    assert!(!model.has_names() && model.root.is_empty(), "one file is for others");
    desk.run(Command::LoadModel(world.at("m.tessera-model")));
    until(&mut desk, "the model answers", |desk| {
        desk.recognising().recognition().is_some_and(|recognition| recognition.by == "m.tessera-model")
    });
    assert_eq!(desk.recognising().recognition().unwrap().scores, scores);
}

#[test]
fn a_folder_without_pictures_is_told_and_opens_nothing() {
    let world = World::with_images();
    let mut desk = ready(&world);
    world.file("folder/notes.txt", b"no image");
    let libraries = || fs::read_dir(world.at("data/tessera/libraries")).unwrap().count();
    let before = libraries();
    desk.run(Command::Open(world.at("folder")));
    until_told(&mut desk, "expected");
    until(&mut desk, "nothing runs", |desk| !desk.jobs().is_busy());
    let last = desk.notices().log().last().unwrap();
    assert!(last.tone == Tone::Problem && last.words.contains("folder: expected"), "{last:?}");
    assert_eq!((state(&desk).images().count(), libraries()), (24, before), "the library that was open stays");
}

#[test]
fn a_report_counts_again_once_the_same_images_are_compared() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let is_stale = |desk: &Desk| desk.recognising().report().is_some_and(|(_, is_stale)| is_stale);
    assert!(!is_stale(&desk));
    for (choice, stale) in [(SearchChoice::Index, true), (SearchChoice::Automatic, false), (SearchChoice::Exact, false)] {
        desk.run(Command::ChooseSearch(choice));
        until(&mut desk, "it is chosen", |desk| desk.recognising().search() == choice && !desk.jobs().is_busy());
        assert_eq!(is_stale(&desk), stale, "{choice:?}");
    }
}

/// Decodes slowly, so that a test can act meanwhile.
struct Slow(InProcess, Duration);

impl Decoder for Slow {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> Result<Picture> {
        sleep(self.1);
        self.0.decode(path, side, progress)
    }
}

pub(crate) fn slow(world: &World, pause: u64) -> Session {
    session(world).with_decoder(Arc::new(Slow(InProcess::default(), Duration::from_millis(pause))))
}

/// A folder with many small images.
fn many(world: &World, n: u32) {
    for i in 0..n {
        let name = world.at(&format!("many/{i:04}.png"));
        fs::create_dir_all(name.parent().unwrap()).unwrap();
        RgbImage::from_fn(24, 24, |x, y| Rgb([(x * 9) as u8, (y * 7 + i) as u8, (i >> 8) as u8])).save(name).unwrap();
    }
}

#[test]
fn an_import_that_is_stopped_keeps_what_was_done() {
    let world = World::new();
    many(&world, 220);
    let mut desk = desk(slow(&world, 10));
    desk.run(Command::Open(world.at("many")));
    until(&mut desk, "some images are there", |desk| desk.state().is_some_and(|state| state.images().count() > 0));
    let job = desk.jobs().list().into_iter().find(|job| job.name.starts_with("Import")).unwrap();
    desk.run(Command::Cancel(job.id));
    until_told(&mut desk, "stopped, what was done stays");
    until(&mut desk, "nothing goes on", |desk| !desk.jobs().is_busy());
    let kept = state(&desk).images().count();
    assert!(kept > 0 && kept < 220, "{kept}");
    let library = desk.folder().unwrap().to_owned();
    desk.run(Command::Close);
    desk.run(Command::Open(library));
    until_told(&mut desk, &format!("was not finished; {kept} images of it are in the library so far"));
    let folder = desk.notices().log().iter().find_map(|notice| notice.go_on.clone()).unwrap();
    desk.run(Command::ImportAgain(folder));
    until(&mut desk, "all are there", |desk| state(desk).images().count() == 220);
}

#[test]
fn labelling_does_not_wait_for_an_import() {
    let world = World::new();
    many(&world, 220);
    let mut desk = desk(slow(&world, 10));
    desk.run(Command::Open(world.at("many")));
    until(&mut desk, "some images are there", |desk| desk.state().is_some_and(|state| state.images().count() > 0));
    let id = state(&desk).images().next().unwrap().id;
    desk.run(Command::Label(vec![id], UserLabel::Class("early".into())));
    until(&mut desk, "it is labelled", |desk| label_of(desk, id) == Some("early"));
    assert!(state(&desk).images().count() < 220 && desk.jobs().is_busy(), "the import is still under way");
    until(&mut desk, "the import is done", |desk| state(desk).images().count() == 220);
    assert_eq!(label_of(&desk, id), Some("early"));
}

#[test]
fn an_undo_during_an_import_waits_for_all_of_it() {
    let world = World::new();
    many(&world, 220);
    let mut desk = desk(slow(&world, 10));
    desk.run(Command::Open(world.at("many")));
    until(&mut desk, "some images are there", |desk| desk.state().is_some_and(|state| state.images().count() > 0));
    desk.run(Command::Undo);
    until_told(&mut desk, "undo takes back all of it");
    assert!(desk.jobs().is_busy() && state(&desk).images().count() > 0);
    // What was done since is taken back all the same.
    let id = state(&desk).images().next().unwrap().id;
    desk.run(Command::Label(vec![id], UserLabel::Class("early".into())));
    until(&mut desk, "it is labelled", |desk| label_of(desk, id) == Some("early"));
    desk.run(Command::Undo);
    until(&mut desk, "the label is taken back", |desk| label_of(desk, id).is_none());
    until(&mut desk, "the import is done", |desk| state(desk).images().count() == 220 && !desk.jobs().is_importing());
    let acts = state(&desk).history().len();
    (0..acts).for_each(|_| desk.run(Command::Undo));
    until(&mut desk, "nothing is left", |desk| state(desk).images().count() == 0);
}

#[test]
fn closing_does_not_wait_and_loses_nothing() {
    let world = World::new();
    many(&world, 220);
    let folder = {
        let mut desk = desk(slow(&world, 10));
        desk.run(Command::Open(world.at("many")));
        until(&mut desk, "some images are there", |desk| desk.state().is_some_and(|state| state.images().count() > 0));
        let id = state(&desk).images().next().unwrap().id;
        desk.run(Command::Label(vec![id], UserLabel::Class("kept".into())));
        until(&mut desk, "it is labelled", |desk| label_of(desk, id) == Some("kept"));
        let start = Instant::now();
        let folder = desk.folder().unwrap().to_owned();
        desk.run(Command::Close);
        assert!(desk.state().is_none() && start.elapsed() < PATIENCE / 10);
        folder
    };
    // The job that was under way lets go of the library when its batch is done.
    let start = Instant::now();
    let library = loop {
        match session(&world).open_library(&folder) {
            Ok(library) => break library,
            Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
        }
        sleep(Duration::from_millis(10));
    };
    assert_eq!(library.check().unwrap(), Vec::<String>::new());
    assert_eq!(library.state().images().filter(|image| image.label() == Some("kept")).count(), 1);
}

#[test]
fn two_windows_on_one_library_are_told_apart() {
    let world = World::with_images();
    let first = ready(&world);
    let mut second = desk(session(&world));
    second.run(Command::Open(world.at("images")));
    until_told(&mut second, "in use");
    assert!(second.state().is_none() && first.state().is_some());
}

/// Counts what it decodes.
struct Counting(InProcess, AtomicUsize);

impl Decoder for Counting {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> Result<Picture> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.decode(path, side, progress)
    }
}

#[test]
fn the_next_picture_is_decoded_before_it_is_looked_at() {
    let world = World::with_images();
    drop(ready(&world));
    let decoder = Arc::new(Counting(InProcess::default(), AtomicUsize::new(0)));
    let mut desk = desk(session(&world).with_decoder(decoder.clone()));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "it is open", |desk| desk.state().is_some() && !desk.jobs().is_busy());
    let images: Vec<ItemId> = state(&desk).images().map(|image| image.id).take(4).collect();
    let before = decoder.1.load(Ordering::SeqCst);
    let decoded = || decoder.1.load(Ordering::SeqCst) - before;
    let shows = |desk: &Desk, id: ItemId| desk.pictures().shown().is_some_and(|(of, picture)| of == id && picture.is_ok());
    // As a window does, frame after frame.
    let look = |desk: &mut Desk, id: ItemId, next: Option<ItemId>, n: usize| {
        let start = Instant::now();
        while !shows(desk, id) || decoded() < n {
            assert!(start.elapsed() < PATIENCE, "{} pictures were decoded, {n} were wanted", decoded());
            desk.want_picture(id, next);
            sleep(Duration::from_millis(2));
            desk.poll();
        }
    };
    look(&mut desk, images[0], Some(images[1]), 2);
    look(&mut desk, images[1], Some(images[2]), 3);
    look(&mut desk, images[2], None, 3);
    let rest = |desk: &mut Desk, id: ItemId, next: Option<ItemId>| {
        for _ in 0..30 {
            desk.want_picture(id, next);
            sleep(Duration::from_millis(2));
            desk.poll();
        }
    };
    rest(&mut desk, images[2], None);
    assert_eq!(decoded(), 3, "each is decoded once");
    // Another image than the predicted one comes next; the predicted one may still come later.
    look(&mut desk, images[3], Some(images[0]), 5);
    look(&mut desk, images[0], Some(images[0]), 5);
    rest(&mut desk, images[0], Some(images[0]));
    assert_eq!(decoded(), 5);
    // A picture that could not be decoded ahead is tried again when it is displayed, and not
    // before.
    let path = state(&desk).path_of(state(&desk).image(images[1]).unwrap()).unwrap();
    let aside = path.with_extension("aside");
    fs::rename(&path, &aside).unwrap();
    rest(&mut desk, images[0], Some(images[1]));
    assert_eq!(decoded(), 6);
    fs::rename(&aside, &path).unwrap();
    look(&mut desk, images[1], None, 7);
    desk.drop_pictures();
    assert!(desk.pictures().shown().is_none());
}

/// Decodes nothing: it is broken.
struct Broken;

impl Decoder for Broken {
    fn decode(&self, _: &Path, _: u32, _: &Progress) -> Result<Picture> {
        panic!("broken on purpose");
    }
}

#[test]
fn a_mistake_in_the_program_ends_one_job_with_a_sentence() {
    let world = World::with_images();
    drop(ready(&world));
    let mut desk = desk(session(&world).with_decoder(Arc::new(Broken)));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "it is open", |desk| desk.state().is_some() && !desk.jobs().is_busy());
    desk.run(Command::Recognise(ImageQuery::File(world.at("images/disc/disc_01_0_0_0_lt.png"))));
    until_told(&mut desk, "mistake in the program (broken on purpose)");
    assert!(desk.recognising().recognition().is_none());
    let id = state(&desk).images().next().unwrap().id;
    desk.run(Command::Label(vec![id], UserLabel::Class("still".into())));
    until(&mut desk, "everything else goes on", |desk| label_of(desk, id) == Some("still"));
}

#[test]
fn a_mistake_in_the_middle_of_any_job_ends_that_job_alone() {
    let world = World::with_images();
    drop(ready(&world));
    // Cutting features, judging and saving go wrong in turn, each on its third step, or at once if
    // it has no steps.
    let wrong = Arc::new(Mutex::new(""));
    let watch = Arc::clone(&wrong);
    let progress = Progress::watched(move |now| {
        let is_wrong = *watch.lock().unwrap_or_else(PoisonError::into_inner) == now.stage;
        assert!(!is_wrong || (now.total > 0 && now.done < 3), "wrong on purpose");
    });
    let mut desk = desk(session(&world).with_progress(&progress));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "it is open", |desk| desk.state().is_some() && !desk.jobs().is_busy());
    let before = state(&desk).images().count();
    many(&world, 40);
    let new = Command::Import { folder: world.at("many"), labels: Labels::Auto, exclude: Vec::new(), table: None };
    let to = world.at("model");
    let jobs = [
        ("Importing", new.clone()),
        ("Judging each image without its object", Command::Evaluate),
        ("Saving the model", Command::SaveModel(to)),
    ];
    for (n, (stage, command)) in jobs.into_iter().enumerate() {
        *wrong.lock().unwrap() = stage;
        let told = desk.notices().log().len();
        desk.run(command);
        until(&mut desk, stage, |desk| {
            desk.notices().log()[told..].iter().any(|notice| notice.words.contains("mistake in the program (wrong on purpose)"))
        });
        until(&mut desk, "nothing goes on", |desk| !desk.jobs().is_busy());
        let id = state(&desk).images().next().unwrap().id;
        let label = format!("still {n}");
        desk.run(Command::Label(vec![id], UserLabel::Class(label.clone())));
        until(&mut desk, "everything else goes on", |desk| label_of(desk, id) == Some(&label));
    }
    assert!(!world.at("model/manifest.ron").exists());
    *wrong.lock().unwrap() = "";
    desk.run(new);
    until(&mut desk, "what was not imported is", |desk| state(desk).images().count() == before + 40 && !desk.jobs().is_busy());
}

#[test]
fn what_is_not_there_is_said() {
    let world = World::new();
    let mut desk = desk(session(&world));
    for command in [Command::Evaluate, Command::Undo, Command::Rescan, Command::Search("x".into())] {
        desk.run(command);
    }
    desk.run(Command::Recognise(ImageQuery::File(world.at("x.png"))));
    desk.poll();
    let words: Vec<&str> = desk.notices().log().iter().map(|notice| notice.words.as_str()).collect();
    assert!(words.len() == 5 && words.iter().all(|words| words.starts_with("Open a folder")), "{words:?}");
    desk.run(Command::Open(world.at("nowhere")));
    until_told(&mut desk, "found nothing");
    assert_eq!(desk.notices().log().last().unwrap().tone, Tone::Problem);
    world.file("folder/notes.txt", b"no image");
    desk.run(Command::Import { folder: world.at("folder"), labels: Labels::Auto, exclude: Vec::new(), table: None });
    assert_eq!(desk.notices().log().last().unwrap().words, "Open a folder or a library first");
}

#[test]
fn another_library_hears_nothing_of_the_one_before() {
    let world = World::with_images();
    many(&world, 220);
    let mut desk = desk(slow(&world, 10));
    desk.run(Command::Open(world.at("many")));
    until(&mut desk, "some images are there", |desk| desk.state().is_some_and(|state| state.images().count() > 0));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "the other is open", |desk| desk.name() == Some("images"));
    until(&mut desk, "it is judged", |desk| {
        assert!(desk.state().is_none_or(|state| state.images().count() <= 24), "images of the library before");
        desk.recognising().report().is_some() && !desk.jobs().is_busy()
    });
    assert_eq!((state(&desk).images().count(), desk.recognising().report().unwrap().0.classes.len()), (24, 2));
    // The same folder can be opened again at once, also while it is being read.
    for _ in 0..3 {
        desk.run(Command::Open(world.at("many")));
        sleep(Duration::from_millis(30));
        desk.poll();
    }
    until(&mut desk, "all are there", |desk| desk.state().is_some_and(|state| state.images().count() == 220) && !desk.jobs().is_busy());
    assert!(desk.notices().log().iter().all(|notice| !notice.words.contains("in use")), "{:?}", desk.notices().log());
}

#[test]
fn what_was_asked_for_before_leaving_is_done() {
    let world = World::with_images();
    let folder = {
        let mut desk = ready(&world);
        for image in state(&desk).images().map(|image| image.id).collect::<Vec<_>>() {
            desk.run(Command::Label(vec![image], UserLabel::Class(format!("own {}", image.0))));
        }
        desk.folder().unwrap().to_owned()
    };
    let library = session(&world).open_library(&folder).unwrap();
    assert!(library.state().images().all(|image| image.label() == Some(&format!("own {}", image.id.0))));
    assert_eq!(library.check().unwrap(), Vec::<String>::new());
}

/// Whether the advisers have finished every request.
fn is_quiet(desk: &Desk) -> bool {
    desk.labelling().shown().is_some_and(|labelling| labelling.is_arranged && !labelling.is_computing && !labelling.is_saving)
}

/// Gives the first image of the queue a class.
fn give(desk: &mut Desk, class: &str) -> ItemId {
    let id = desk.labelling().shown().unwrap().current().unwrap();
    desk.run(Command::LabelNext(vec![id], class.into(), 1));
    until(desk, "it is labelled", |desk| label_of(desk, id) == Some(class) && !desk.labelling().shown().unwrap().is_saving);
    id
}

#[test]
fn labels_go_on_when_advisers_fail() {
    let world = World::new();
    many(&world, 12);
    let wrong = Arc::new(Mutex::new("Learning labels"));
    let watch = Arc::clone(&wrong);
    let progress = Progress::watched(move |now| {
        assert!(*watch.lock().unwrap_or_else(PoisonError::into_inner) != now.stage, "wrong on purpose");
    });
    let mut desk = desk(session(&world).with_progress(&progress));
    desk.run(Command::Open(world.at("many")));
    until(&mut desk, "it is open", |desk| desk.state().is_some_and(|state| state.images().count() == 12) && !desk.jobs().is_busy());
    desk.watch_labelling(true);
    until_told(&mut desk, "mistake in the program (wrong on purpose)");
    until(&mut desk, "the desk stands all the same", is_quiet);
    give(&mut desk, "ant");
    until(&mut desk, "it is tried again", is_quiet);
    assert_eq!(desk.labelling().shown().unwrap().learned, 0);
    *wrong.lock().unwrap() = "";
    give(&mut desk, "bee");
    until(&mut desk, "what was not learned is", |desk| is_quiet(desk) && desk.labelling().shown().unwrap().learned == 2);
}

#[test]
fn what_is_undone_and_done_again_counts_again() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let chosen: Vec<ItemId> = state(&desk).images().take(3).map(|image| image.id).collect();
    desk.run(Command::LabelFrom(Some(Arc::new(chosen.clone())), LabelOrder::Folder));
    desk.watch_labelling(true);
    until(&mut desk, "three are on the desk", |desk| is_quiet(desk) && desk.labelling().shown().unwrap().queue.len() == 3);
    let id = give(&mut desk, "kite");
    let stands = |desk: &Desk| {
        let labelling = desk.labelling().shown().unwrap();
        (labelling.statistics().labelled, labelling.queue.contains(&id), labelling.acts.len())
    };
    assert_eq!(stands(&desk), (1, false, 1));
    desk.run(Command::Undo);
    until(&mut desk, "it is undone", |desk| label_of(desk, id) != Some("kite"));
    assert_eq!(stands(&desk), (0, true, 0));
    desk.run(Command::Redo);
    until(&mut desk, "it is done again", |desk| label_of(desk, id) == Some("kite"));
    assert_eq!(stands(&desk), (1, false, 1));
    // A new act in place of the undone one.
    desk.run(Command::Undo);
    until(&mut desk, "it is undone again", |desk| label_of(desk, id) != Some("kite"));
    give(&mut desk, "drum");
    assert_eq!(stands(&desk), (1, false, 1));
}

#[test]
fn what_is_labelled_during_an_import_is_learned_after_it_and_can_be_taken_back() {
    let world = World::with_images();
    many(&world, 300);
    let mut desk = desk(slow(&world, 4));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "it is open", |desk| desk.recognising().report().is_some() && !desk.jobs().is_busy());
    let ids: Vec<ItemId> = state(&desk).images().take(6).map(|image| image.id).collect();
    desk.run(Command::Label(ids, UserLabel::NoClass));
    desk.watch_labelling(true);
    until(&mut desk, "six are to be labelled", |desk| is_quiet(desk) && desk.labelling().shown().unwrap().queue.len() == 6);
    desk.run(Command::Import { folder: world.at("many"), labels: Labels::None, exclude: Vec::new(), table: None });
    let first = give(&mut desk, "disc");
    give(&mut desk, "disc");
    assert!(desk.jobs().is_busy(), "the import goes on");
    let second = give(&mut desk, "grid");
    desk.run(Command::GoBack);
    until(&mut desk, "it is taken back", |desk| {
        label_of(desk, second).is_none() && desk.labelling().shown().unwrap().queue.first() == Some(&second)
    });
    while desk.jobs().is_busy() {
        sleep(Duration::from_millis(2));
        desk.poll();
    }
    desk.watch_labelling(true);
    until(&mut desk, "all is learned", |desk| is_quiet(desk) && desk.labelling().shown().unwrap().learned == 20);
    assert_eq!((desk.labelling().shown().unwrap().queue.len(), label_of(&desk, first)), (304, Some("disc")));
}

#[test]
fn the_desk_is_there_during_an_import_in_every_order() {
    let world = World::new();
    many(&world, 400);
    let mut desk = desk(slow(&world, 8));
    desk.run(Command::Open(world.at("many")));
    until(&mut desk, "some images are there", |desk| desk.state().is_some_and(|state| state.images().count() > 4));
    desk.watch_labelling(true);
    assert!(desk.labelling().shown().unwrap().current().is_some(), "in the order that was not asked for");
    for order in LabelOrder::ALL {
        desk.run(Command::LabelFrom(None, order));
        desk.watch_labelling(true);
        give(&mut desk, order.name());
    }
    assert!(desk.jobs().is_busy(), "the import goes on");
}

#[test]
fn another_order_brings_back_nothing_that_was_labelled() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let chosen: Arc<Vec<ItemId>> = Arc::new(state(&desk).images().take(6).map(|image| image.id).collect());
    desk.run(Command::LabelFrom(Some(Arc::clone(&chosen)), LabelOrder::Folder));
    desk.watch_labelling(true);
    until(&mut desk, "six are on the desk", |desk| is_quiet(desk) && desk.labelling().shown().unwrap().queue.len() == 6);
    let labelled = give(&mut desk, "kite");
    let skipped = desk.labelling().shown().unwrap().current().unwrap();
    desk.run(Command::Skip(skipped));
    desk.run(Command::Skip(labelled));
    assert_eq!(desk.labelling().shown().unwrap().queue.len(), 5, "what is not on the desk cannot be skipped");
    for order in LabelOrder::ALL {
        desk.run(Command::LabelFrom(Some(Arc::clone(&chosen)), order));
        until(&mut desk, "it is in that order", is_quiet);
        let labelling = desk.labelling().shown().unwrap();
        assert_eq!((labelling.queue.len(), labelling.queue.last()), (5, Some(&skipped)), "{order:?}");
        assert!(!labelling.queue.contains(&labelled));
    }
    // A new choice of the same images begins anew.
    desk.run(Command::LabelFrom(Some(Arc::new(chosen.to_vec())), LabelOrder::Folder));
    assert_eq!(desk.labelling().shown().unwrap().queue.len(), 6);
}

#[test]
fn what_is_taken_back_comes_first() {
    let world = World::with_images();
    let mut desk = ready(&world);
    let chosen: Vec<ItemId> = state(&desk).images().take(5).map(|image| image.id).collect();
    desk.run(Command::LabelFrom(Some(Arc::new(chosen)), LabelOrder::Folder));
    desk.watch_labelling(true);
    until(&mut desk, "five are on the desk", is_quiet);
    let id = desk.labelling().shown().unwrap().current().unwrap();
    let class = state(&desk).classes()[0].0.to_owned();
    desk.run(Command::Reject(id, class.clone()));
    until(&mut desk, "it is rejected", |desk| state(desk).image(id).unwrap().rejected.contains(&class) && is_quiet(desk));
    let other = *desk.labelling().shown().unwrap().queue.last().unwrap();
    desk.run(Command::TakeUp(other));
    until(&mut desk, "another is taken up", |desk| is_quiet(desk) && desk.labelling().shown().unwrap().current() == Some(other));
    desk.run(Command::GoBack);
    until(&mut desk, "it is taken back", |desk| state(desk).image(id).unwrap().rejected.is_empty() && is_quiet(desk));
    assert_eq!(desk.labelling().shown().unwrap().current(), Some(id));
}

#[test]
fn a_label_that_is_changed_is_told_to_have_changed_answers() {
    let world = World::new();
    many(&world, 8);
    let mut desk = desk(session(&world));
    desk.run(Command::Open(world.at("many")));
    until(&mut desk, "it is open", |desk| desk.state().is_some_and(|state| state.images().count() == 8) && !desk.jobs().is_busy());
    desk.watch_labelling(true);
    until(&mut desk, "the desk stands", is_quiet);
    let first = give(&mut desk, "ant");
    until(&mut desk, "it is learned", |desk| is_quiet(desk) && desk.labelling().shown().unwrap().glances.len() == 7);
    desk.run(Command::Label(vec![first], UserLabel::Class("bee".into())));
    until(&mut desk, "it is changed", |desk| label_of(desk, first) == Some("bee"));
    until(&mut desk, "that is learned", |desk| {
        is_quiet(desk) && desk.labelling().shown().unwrap().glances.values().all(|(class, _)| class == "bee")
    });
    let labelling = desk.labelling().shown().unwrap();
    assert_eq!((labelling.learned, labelling.changed.asked, labelling.changed.moved.len()), (1, 7, 7));
    assert!(labelling.changed.moved.iter().all(|moved| (moved.from.as_str(), moved.to.as_str()) == ("ant", "bee")));
}

#[test]
fn counting_for_another_folder_or_for_none_leaves_nothing_open() {
    let world = World::with_images();
    drop(ready(&world));
    let (wrong, held) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(())));
    let (is_wrong, gate) = (Arc::clone(&wrong), Arc::clone(&held));
    let progress = Progress::watched(move |now| {
        if now.stage == "Looking for files" {
            assert_eq!(is_wrong.load(Ordering::SeqCst), 0, "wrong on purpose");
            drop(gate.lock().unwrap_or_else(PoisonError::into_inner));
        }
    });
    let mut desk = desk(session(&world).with_progress(&progress));
    desk.run(Command::Open(world.at("images")));
    until(&mut desk, "it is open", |desk| desk.state().is_some() && !desk.jobs().is_busy());
    let planned = |desk: &Desk| desk.exporting().plan().map(|(to, plan)| (to.to_owned(), plan.is_some()));
    let (a, b) = (world.at("a"), world.at("b"));
    {
        let _held = held.lock().unwrap();
        desk.run(Command::PreviewExport(Some(a.clone())));
        assert_eq!(planned(&desk), Some((a.clone(), false)));
        desk.run(Command::PreviewExport(None));
        assert!(planned(&desk).is_none() && desk.jobs().list().is_empty());
        desk.run(Command::PreviewExport(Some(a.clone())));
        desk.run(Command::PreviewExport(Some(b.clone())));
    }
    until(&mut desk, "the other is counted", |desk| planned(desk) == Some((b.clone(), true)));
    // A preview that is cancelled, and one that fails.
    {
        let _held = held.lock().unwrap();
        desk.run(Command::PreviewExport(Some(a.clone())));
        let job = desk.jobs().list()[0].id;
        desk.run(Command::Cancel(job));
    }
    until(&mut desk, "nothing is counted", |desk| desk.exporting().plan().is_none() && !desk.jobs().is_busy());
    until_told(&mut desk, "nothing was written");
    wrong.store(1, Ordering::SeqCst);
    desk.run(Command::PreviewExport(Some(a.clone())));
    until_told(&mut desk, "wrong on purpose");
    until(&mut desk, "nothing is counted", |desk| desk.exporting().plan().is_none() && !desk.jobs().is_busy());
}

#[test]
fn what_could_not_be_saved_is_told_when_the_library_is_closed() {
    let world = World::with_images();
    let mut desk = ready(&world);
    desk.watch_labelling(true);
    desk.run(Command::LabelNext(vec![ItemId(4711)], "kite".into(), 1));
    desk.run(Command::Close);
    until_told(&mut desk, "4711");
    assert!(desk.notices().log().iter().all(|notice| notice.undo.is_none() || notice.tone != Tone::Problem));
}

#[test]
fn a_library_is_closed_while_advisers_think_and_labels_are_reviewed() {
    let world = World::with_images();
    drop(ready(&world));
    for round in 0..4 {
        let mut desk = desk(session(&world));
        desk.run(Command::Open(world.at("images")));
        until(&mut desk, "it is open", |desk| desk.state().is_some());
        desk.watch_labelling(true);
        desk.run(Command::Review);
        desk.run(Command::LabelFrom(None, tessera_core::library::suggest::LabelOrder::default()));
        for _ in 0..round * 8 {
            sleep(Duration::from_millis(3));
            desk.poll();
        }
        if round % 2 == 0 {
            desk.run(Command::Close);
            assert!(desk.labelling().shown().is_none());
            desk.run(Command::Open(world.at("images")));
            until(&mut desk, "it is open again", |desk| desk.state().is_some());
        }
    }
}
