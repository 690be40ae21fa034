//! A collection in the window: looked at, searched, recognised with, never changed; and questions
//! about it to a cluster.

use std::path::{Path, PathBuf};

use egui::Key;
use tessera::command::{Command, ImageQuery, RemoteCluster, RemoteQuestion};
use tessera::gui::modal::Modal;
use tessera::job::JobKind;
use tessera::session::Session;
use tessera::session::remote::RemoteAnswer;
use tessera_core::ckm::presets::Preset;
use tessera_core::collection::folder::CollectionFolder;
use tessera_core::data::OpenOptions;
use tessera_core::library::event::UserLabel;

use crate::world::{World, class_folders, picture};

/// A collection of images of two classes, whose files are gone.
fn collection(at: &Path) -> PathBuf {
    let (images, folder) = (at.join("images"), at.join("photos"));
    class_folders(&images, &["ring", "square"], 6);
    let session = Session::new(2, 0).unwrap();
    let (sources, _) = session.shard_sources_of_folder(&images, OpenOptions::default()).unwrap();
    let mut shards = CollectionFolder::open_or_begin(&folder, Preset::Mixed.options()).unwrap();
    assert_eq!(session.shard(&mut shards, &sources, 5).unwrap().shards, 3);
    std::fs::remove_dir_all(&images).unwrap();
    folder
}

/// A window on a collection.
fn opened(folder: &Path) -> World {
    let mut world = World::new(&[]);
    world.run(Command::OpenPlanned(folder.to_owned()));
    world.until("its images are there", |app| app.desk().is_ready() && !app.desk().jobs().is_busy());
    world
}

#[test]
fn a_collection_is_looked_at_searched_and_recognised_with() {
    let place = tempfile::tempdir().unwrap();
    let folder = collection(place.path());
    let mut world = opened(&folder);
    assert_eq!((world.state().images().count(), world.app().desk().name()), (12, Some("photos")));
    assert_eq!(world.app().desk().collection(), Some(&*folder));
    assert!(world.shows("12 images") && world.shows("photos"));
    // Its thumbnails come from the shards.
    let one = world.state().images().find(|image| image.label() == Some("ring")).unwrap().id;
    world.until("pictures are there", |app| {
        app.desk().notices().log().iter().any(|notice| notice.words.starts_with("It shows a collection"))
    });
    world.run(Command::Search("square".into()));
    world.until("the search is answered", |app| app.desk().searching().hits().is_some_and(|hits| hits.images.len() == 6));
    world.run(Command::Search(String::new()));
    let asked = world.path("asked.png");
    picture(3, 48).save(&asked).unwrap();
    world.run(Command::Recognise(ImageQuery::File(asked)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some());
    assert_eq!(world.app().desk().recognising().recognition().unwrap().scores[0].0, "ring");
    world.rest();
    // So is an image of it without its file, and what decided is shown.
    world.run(Command::Recognise(ImageQuery::Item(one)));
    world.until("it is recognised", |app| app.desk().recognising().recognition().is_some_and(|answer| answer.item == Some(one)));
    let answer = world.app().desk().recognising().recognition().unwrap().clone();
    assert!(answer.picture.width() == 48 && answer.tiles.iter().all(|tile| tile.picture.is_some()) && !answer.tiles.is_empty());
    world.rest();
    // Acts are refused, and change nothing.
    for act in [Command::Label(vec![one], UserLabel::Class("square".into())), Command::Remove(vec![one]), Command::Undo] {
        let before = world.app().desk().notices().log().len();
        world.run(act);
        world.until("it is refused", |app| {
            app.desk().notices().log().iter().skip(before).any(|notice| notice.words.contains("for it shows a collection"))
        });
    }
    assert_eq!(world.state().image(one).unwrap().label(), Some("ring"));
    // It is opened again in no time, and listed among what was opened lately.
    world.run(Command::Close);
    world.until("it is closed", |app| app.desk().state().is_none());
    world.rest();
    assert!(world.shows("photos"));
    world.run(Command::Open(folder));
    world.until("it is there again", |app| app.desk().state().is_some_and(|state| state.images().count() == 12));
}

#[test]
fn a_damaged_shard_is_named_and_nothing_is_open() {
    let place = tempfile::tempdir().unwrap();
    let folder = collection(place.path());
    let shard = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("shard-"))
        .unwrap();
    std::fs::write(&shard, b"no shard").unwrap();
    let mut world = World::new(&[]);
    world.run(Command::Open(folder));
    let name = shard.file_name().unwrap().to_string_lossy().into_owned();
    world.until("it is told", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains(&name)));
    assert!(world.app().desk().state().is_none());
}

/// A program in the place of Python, which writes these lines and then does this.
#[cfg(unix)]
fn python(world: &World, lines: &[&str], then: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = world.path("python");
    let told: String = lines.iter().map(|line| format!("cat <<'END'\n{line}\nEND\n")).collect();
    std::fs::write(&path, format!("#!/bin/sh\necho \"$@\" > {}\n{told}{then}\n", world.path("asked.txt").display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_string_lossy().into_owned()
}

#[cfg(unix)]
#[test]
fn a_cluster_is_asked_with_progress_words_and_cancel() {
    let place = tempfile::tempdir().unwrap();
    let folder = collection(place.path());
    let mut world = opened(&folder);
    let image = world.state().images().find(|image| image.label() == Some("ring")).unwrap();
    let (hash, name) = (image.content.unwrap().hash.0, image.file_name());
    let answer = format!(r#"{{"answer": {{"hits": [{{"image": "{hash:032x}", "score": 2.5}}], "left_out": {{}}}}}}"#);
    let lines = [
        r#"{"progress": {"stage": "Counting words", "done": 1, "total": 3}}"#,
        r#"{"log": "shard-x.parquet: attempt 1 of 3 failed: No space left", "level": "warning"}"#,
        &answer,
    ];
    let interpreter = python(&world, &lines, "");
    // Typed into the window, as a hand does.
    world.harness.state_mut().view_mut().open(Modal::AskCluster);
    world.step();
    for (field, text) in [("Python", interpreter.as_str()), ("Scheduler", "tcp://127.0.0.1:9"), ("Question", "-red ring")] {
        world.type_into(field, text);
    }
    world.click("Search words");
    world.until("it is answered", |app| app.desk().asked_cluster().answer().is_some());
    world.rest();
    assert!(world.shows(&name) && world.shows("2.500") && world.shows("attempt 1 of 3 failed: No space left"));
    assert!(world.shows("Only questions to your cluster"));
    let asked = std::fs::read_to_string(world.path("asked.txt")).unwrap();
    let expected = format!("--scheduler tcp://127.0.0.1:9 {} search -k 24 -- -red ring", folder.display());
    assert!(asked.contains(&expected), "{asked}");
    // The answer is shown among the images.
    world.click(&name);
    assert_eq!(world.app().desk().collection(), Some(&*folder));
    assert!(world.shows("1 selected") || world.shows(&name));
    // A question is stopped by the end of its input.
    let stopped = world.path("stopped");
    let then = format!("cat > /dev/null; echo > {}", stopped.display());
    let interpreter = python(&world, &[r#"{"progress": {"stage": "Judging", "done": 2, "total": 9}}"#], &then);
    let cluster = RemoteCluster { scheduler: String::new(), python: interpreter };
    world.run(Command::AskCluster(cluster, RemoteQuestion::Evaluate));
    world.until("it is under way", |app| app.desk().jobs().of(&JobKind::AskCluster).is_some_and(|job| job.snapshot.done == 2));
    let job = world.app().desk().jobs().of(&JobKind::AskCluster).unwrap();
    assert_eq!((job.snapshot.stage, job.snapshot.total), ("Judging", 9));
    world.run(Command::Cancel(job.id));
    world.until("it is stopped", |app| !app.desk().jobs().is_running(&JobKind::AskCluster));
    assert!(stopped.is_file(), "the process had the time to take its work back");
    world.until("it is told", |app| app.desk().asked_cluster().log().any(|words| words.starts_with("Stopped")));
    // What goes wrong is told in words.
    let interpreter = python(&world, &[r#"{"error": "expected a worker, found none", "kind": "ClusterLostError"}"#], "exit 1");
    for (interpreter, words) in [(interpreter, "expected a worker, found none"), ("no-such-python".into(), "cannot run no-such-python")] {
        world.run(Command::AskCluster(RemoteCluster { scheduler: String::new(), python: interpreter }, RemoteQuestion::Evaluate));
        world.until("it is told", |app| app.desk().notices().log().iter().any(|notice| notice.words.contains(words)));
    }
}

#[test]
fn the_package_for_python_answers() {
    let Ok(python) = std::env::var("TESSERA_PYTHON") else {
        println!("skipped: needs a Python with the package, in TESSERA_PYTHON");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let folder = collection(place.path());
    let mut world = opened(&folder);
    let cluster = RemoteCluster { scheduler: std::env::var("TESSERA_SCHEDULER").unwrap_or_default(), python };
    let asked = world.path("asked.png");
    picture(1003, 48).save(&asked).unwrap();
    for question in [
        RemoteQuestion::Search("square -ring".into()),
        RemoteQuestion::Evaluate,
        RemoteQuestion::Recognise(asked.clone()),
        RemoteQuestion::Similar(asked.clone()),
    ] {
        world.run(Command::AskCluster(cluster.clone(), question.clone()));
        world.until("it is answered", |app| app.desk().asked_cluster().answer().is_some_and(|(of, _)| *of == question));
        let (_, answered) = world.app().desk().asked_cluster().answer().unwrap();
        match &answered.answer {
            RemoteAnswer::Found(hits) => {
                assert!(hits.len() >= 6 && world.app().desk().asked_cluster().found().iter().all(|(id, _)| id.is_some()))
            }
            RemoteAnswer::Judged(report) => assert_eq!(report.judged, 12),
            RemoteAnswer::Recognised(scores, confidence) => assert!(scores[0].0 == "square" && confidence.is_some()),
        }
    }
    world.key(Key::Escape);
}
