//! `tessera label` and `caption`: one by one, and streams of JSON lines.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::world::{World, ran};

#[test]
fn every_line_that_is_not_blank_is_answered_by_one() {
    let world = World::with_library();
    let disc = "images/disc/disc_01_0_0_0_lt.png";
    let lines = [
        json!({"image": disc, "label": "ring"}).to_string(),
        json!({"image": 2, "label": "ring"}).to_string(),
        json!({"image": "#3", "label": null}).to_string(),
        "not json".into(),
        "[1]".into(),
        json!({"image": 1}).to_string(),
        json!({"label": "x"}).to_string(),
        json!({"image": "nowhere.png", "label": "x"}).to_string(),
        json!({"image": 9999, "label": "x"}).to_string(),
        json!({"image": -1, "label": "x"}).to_string(),
        json!({"image": 1, "label": 7}).to_string(),
        json!({"image": 1, "label": "  "}).to_string(),
        json!({"image": 2, "label": "ring"}).to_string(),
    ];
    let mut input = lines.join("\n\n  \t\r\n").into_bytes();
    input.extend_from_slice(b"\n\xff\xfe\n");
    let answers = world.feed(["label", "lib.tessera", "--stdin", "--json"], &input).ended(1).lines();
    assert_eq!(answers.len(), lines.len() + 1);
    let ok: Vec<bool> = answers.iter().map(|answer| answer["ok"].as_bool().unwrap()).collect();
    assert_eq!(ok.iter().filter(|ok| **ok).count(), 4);
    assert!(ok[0] && ok[1] && ok[2] && ok[12], "{ok:?}");
    assert_eq!((&answers[0]["image"], &answers[0]["label"]), (&json!(disc), &json!("ring")));
    assert!(answers[1]["event"].as_u64() > answers[0]["event"].as_u64());
    assert_eq!((&answers[2]["label"], &answers[12]["event"]), (&Value::Null, &Value::Null));
    assert!(answers.iter().all(|answer| answer["ok"] == true || !answer["error"].as_str().unwrap().is_empty()));
    let written = world.run(["export", "lib.tessera", "labels", "--to", "labels.csv", "--json"]).ended(0).object();
    assert_eq!(written["written"], 23, "the label of #3 was taken off");
}

#[test]
fn an_answer_comes_before_the_next_line() {
    let world = World::with_library();
    let mut child = world.start(["label", "lib.tessera", "--stdin"]);
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut input = child.stdin.take().unwrap();
    for image in 1..=3 {
        writeln!(input, "{}", json!({"image": image, "label": "ring"})).unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!((&answer["ok"], &answer["image"]), (&json!(true), &json!(image)));
    }
    // While it has the library, nobody else can.
    for arguments in [vec!["search", "lib.tessera", "ring"], vec!["undo", "lib.tessera"], vec!["import", "lib.tessera", "images"]] {
        world.run(&arguments).ended(75).complains("in use by process").complains("--wait SECONDS").complains("--read-only");
    }
    world.run(["check", "lib.tessera", "--json"]).ended(75);
    // Killed, it has kept what it answered for.
    child.kill().unwrap();
    ran(child.wait_with_output().unwrap());
    drop(input);
    let hits = world.run(["search", "lib.tessera", "ring", "--json"]).ended(0).object();
    assert_eq!(hits["hits"].as_array().unwrap().len(), 3);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn a_busy_library_can_be_waited_for() {
    let world = World::with_library();
    let mut child = world.start(["label", "lib.tessera", "--stdin"]);
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", json!({"image": 1, "label": "ring"})).unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    answers.next().unwrap().unwrap();
    let waiting = world.start(["search", "lib.tessera", "ring", "--wait", "60", "--json"]);
    drop(input);
    child.wait().unwrap();
    let found = ran(waiting.wait_with_output().unwrap()).ended(0).object();
    assert_eq!(found["hits"][0]["image"], 1);
}

#[cfg(unix)]
#[test]
fn waiting_for_a_library_can_be_stopped() {
    let world = World::with_library();
    let mut holder = world.start(["label", "lib.tessera", "--stdin"]);
    let mut input = holder.stdin.take().unwrap();
    writeln!(input, "{}", json!({"image": 1, "label": "ring"})).unwrap();
    BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    for (arguments, key) in [
        (&["import", "lib", "images"][..], Some("cancelled")),
        (&["undo", "lib"], Some("event")),
        (&["search", "lib", "ring"], None),
        (&["train", "lib"], None),
    ] {
        let mut waiting = world.start(arguments.iter().chain(&["--wait", "60", "--json"]));
        // It says which library it means, and waits.
        BufReader::new(waiting.stderr.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
        std::process::Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap();
        let stopped = ran(waiting.wait_with_output().unwrap()).ended(130).complains("stopped before the work began");
        assert_eq!(key.map(|key| stopped.object().get(key).is_some()), key.map(|_| true), "{arguments:?}: {}", stopped.stdout);
    }
    drop(input);
    holder.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn a_stream_can_be_stopped() {
    let world = World::with_library();
    let mut child = world.start(["label", "lib.tessera", "--stdin"]);
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", json!({"image": 1, "label": "ring"})).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    ran(child.wait_with_output().unwrap()).ended(130);
}

#[test]
fn a_line_without_end_is_refused_and_the_next_one_read() {
    let world = World::with_library();
    let mut input = vec![b' '; 3 << 20];
    input.push(b'\n');
    input.extend_from_slice(b"{\"image\": 1, \"label\": \"ring\"}");
    let answers = world.feed(["label", "lib.tessera", "--stdin"], &input).ended(1).lines();
    assert_eq!((answers.len(), &answers[0]["ok"], &answers[1]["ok"]), (2, &json!(false), &json!(true)));
}

#[test]
fn people_label_and_caption_by_name() {
    let world = World::with_library();
    let words = world.run(["label", "lib.tessera", "#1", "images/disc/disc_01_1_0_0_lt.png", "--as", "ring"]).ended(0).stdout;
    assert!(words.contains("Labelled 2 images as ring (new class)"), "{words}");
    let near = world.run(["label", "lib.tessera", "#3", "--as", "Ring", "--json"]).ended(0).object();
    assert_eq!((&near["new_class"], &near["near_class"]), (&json!(true), &json!("ring")));
    assert!(world.run(["label", "lib.tessera", "#4", "--as", "RING"]).ended(0).stdout.contains("new class; there is also `"));
    // Numbers are names of their own, and blanks of any kind are one blank.
    world.run(["label", "lib.tessera", "#5", "--as", "sign 12"]).ended(0);
    let numbered = world.run(["label", "lib.tessera", "#6", "--as", "sign 13"]).ended(0).stdout;
    assert!(numbered.ends_with("(new class)\n"), "{numbered}");
    let same = world.run(["label", "lib.tessera", "#6", "#7", "--as", "sign\n13", "--json"]).ended(0).object();
    assert!(same["new_class"].is_null() && same["near_class"].is_null(), "{same}");
    let other = world.feed(["label", "lib.tessera", "--stdin"], b"{\"image\": 8, \"label\": \"Sign\\t13\"}\n").ended(0).object();
    assert_eq!((&other["new_class"], &other["near_class"]), (&json!(true), &json!("sign 13")));
    let known = world.run(["label", "lib.tessera", "#3", "#4", "--as", "ring", "--json"]).ended(0).object();
    assert!(known["new_class"].is_null(), "{known}");
    let again = world.run(["label", "lib.tessera", "#1", "--as", "ring", "--json"]).ended(0).object();
    assert_eq!((&again["ok"], &again["event"]), (&json!(true), &Value::Null));
    world.run(["label", "lib.tessera", "#1", "--none"]).ended(0);
    world.run(["label", "lib.tessera", "#1", "--as", " "]).ended(65).complains("1 to 200 characters");
    world.run(["label", "lib.tessera", "#1"]).ended(2);
    world.run(["label", "lib.tessera", "--as", "x"]).ended(2);
    world.run(["label", "lib.tessera", "#1", "--as", "x", "--none"]).ended(2);
    world.run(["label", "lib.tessera", "--stdin", "#1"]).ended(2);
    // Long captions are told by their beginning.
    let long = "a very long story ".repeat(300);
    let told = world.run(["caption", "lib.tessera", "#2", &long]).ended(0).stdout;
    assert!(told.contains("a very long story") && told.len() < 400, "{told}");
    world.run(["caption", "lib.tessera", "#2", ""]).ended(0);
    let line = format!("{{\"image\": 2, \"caption\": {{\"text\": \"{long}\"}}}}\n");
    let refused = world.feed(["caption", "lib.tessera", "--stdin"], line.as_bytes()).ended(1).stdout;
    assert!(refused.contains("must be a text") && refused.len() < 400, "{refused}");
    let path = world.run(["caption", "lib.tessera", &long, "x"]).ended(65).stderr;
    assert!(path.contains("an image of this library") && path.len() < 500, "{path}");
    let answer = world.run(["caption", "lib.tessera", "#1", "a humming ring", "seen at dusk", "--json"]).ended(0).object();
    assert!(answer["event"].is_u64() && answer["ok"] == true, "{answer}");
    world.run(["caption", "lib.tessera", "#1"]).ended(2);
    let written = world.run(["export", "lib.tessera", "captions", "--to", "c.jsonl", "--format", "jsonl", "--json"]).ended(0).object();
    assert_eq!(written["written"], 1);
    let input = "{\"image\": 1, \"caption\": [\"one\", \"two\"]}\n{\"image\": 2, \"caption\": \"three\"}\n{\"image\": 1, \"caption\": 4}\n";
    let answers = world.feed(["caption", "lib.tessera", "--stdin"], input.as_bytes()).ended(1).lines();
    assert_eq!(answers.iter().map(|answer| answer["ok"] == true).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(answers[0]["caption"], json!(["one", "two"]));
    let memories = |world: &World| world.run(["search", "lib.tessera", "two", "--json"]).ended(0).object()["memories"].clone();
    assert_eq!(memories(&world), 3);
    world.run(["caption", "lib.tessera", "#1", ""]).ended(0);
    assert_eq!(memories(&world), 1);
}

#[cfg(unix)]
#[test]
fn an_image_is_known_by_every_path_to_it() {
    let world = World::with_images();
    world.picture("elsewhere/one.png", 0, 7, 7);
    std::os::unix::fs::symlink(world.at("elsewhere/one.png"), world.at("images/disc/link.png")).unwrap();
    std::os::unix::fs::symlink(world.at("images"), world.at("door")).unwrap();
    world.run(["import", "lib.tessera", "door"]).ended(0);
    for path in ["images/disc/link.png", "door/disc/link.png", "elsewhere/../images/grid/../disc/link.png"] {
        world.run(["label", "lib.tessera", path, "--as", path]).ended(0);
    }
    world.run(["label", "lib.tessera", "elsewhere/one.png", "--as", "x"]).ended(65).complains("not in it");
}

#[cfg(target_os = "linux")]
#[test]
fn no_more_threads_work_than_were_asked_for() {
    let world = World::with_library();
    // Code that ignores `--threads` would start forty threads here.
    let mut child = world.start_in(["label", "lib.tessera", "--stdin", "--threads", "1"], &[("RAYON_NUM_THREADS", "40")]);
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", json!({"image": 1, "label": "ring"})).unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    answers.next().unwrap().unwrap();
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count();
    drop(input);
    child.wait().unwrap();
    assert!(threads < 20, "{threads} threads");
}

#[test]
fn a_rejection_is_taken_back_line_by_line() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let input = [
        r##"{"image": "#1", "not": "grid"}"##,
        r##"{"image": "#1", "not": "grid", "rejected": true}"##,
        r##"{"image": "#1", "not": "grid", "rejected": false}"##,
        r##"{"image": "#1", "not": "grid", "rejected": false}"##,
        r##"{"image": "#1", "not": "grid", "rejected": "no"}"##,
        r##"{"image": "#1", "label": "grid", "rejected": false}"##,
    ];
    let answers = world.feed(["label", "lib.tessera", "--stdin"], input.join("\n").as_bytes()).ended(1).lines();
    let said: Vec<(bool, bool, bool)> =
        answers.iter().map(|answer| (answer["ok"] == true, answer["event"].is_u64(), answer["rejected"] == false)).collect();
    assert_eq!(said[..4], [(true, true, false), (true, false, false), (true, true, true), (true, false, true)], "{answers:?}");
    assert!(said[4..].iter().all(|(ok, ..)| !ok), "{answers:?}");
}

#[test]
fn captions_that_were_stored_are_told() {
    let world = World::with_library();
    let words = world.run(["caption", "lib.tessera", "#1", "two", "dogs"]).ended(0).stdout;
    assert!(words.contains("2 captions: \u{201c}two\u{201d}, \u{201c}dogs\u{201d}; quote words that belong together"), "{words}");
    let words = world.run(["caption", "lib.tessera", "#1", "two dogs"]).ended(0).stdout;
    assert!(words.starts_with("Captioned ") && words.trim_end().ends_with(": \u{201c}two dogs\u{201d}"), "{words}");
}

#[test]
fn a_class_that_is_not_there_is_told_alike_everywhere() {
    let world = World::with_library();
    let sentence = "expected one of its classes as class, found `dics`, which does not exist (there is `disc`)";
    world.run(["search", "lib.tessera", "--class", "dics"]).ended(65).complains(sentence);
    world.run(["label", "lib.tessera", "#1", "--not", "dics"]).ended(65).complains(sentence);
    let line = world.feed(["label", "lib.tessera", "--stdin"], b"{\"image\": 1, \"not\": \"dics\"}\n").ended(1).lines().remove(0);
    assert!(line["error"].as_str().unwrap().contains(sentence), "{line}");
    let made = world.run(["label", "lib.tessera", "#1", "--as", "dics"]).ended(0).stdout;
    assert!(made.contains("(new class; there is also `disc`)"), "{made}");
}

#[test]
fn a_file_from_elsewhere_is_taken_in_with_its_label() {
    let world = World::with_library();
    let new = world.picture("elsewhere/pup.png", 1, 9, 3);
    world.picture("elsewhere/other.png", 0, 8, 2);
    let count =
        |world: &World| world.run(["export", "lib.tessera", "labels", "--to", "labels.csv", "--json"]).ended(0).object()["written"].clone();
    assert_eq!(count(&world), 24);
    let taken = world.run(["label", "lib.tessera", "elsewhere/pup.png", "--as", "animal/dog", "--take-in", "--json"]).ended(0).object();
    assert_eq!((&taken["ok"], &taken["new_class"], &taken["images"][0]["new"]), (&json!(true), &json!(true), &json!(true)));
    assert!(taken["words"].as_str().unwrap().starts_with("Took in pup.png as animal/dog"), "{taken}");
    assert_eq!(count(&world), 25);
    let labels = std::fs::read_to_string(world.at("labels.csv")).unwrap();
    assert!(labels.contains("pup.png") && labels.contains("animal/dog") && !labels.contains("other.png"), "{labels}");
    assert!(new.exists(), "it stays where it is");
    // One step takes both back, and does both again.
    world.run(["undo", "lib.tessera"]).ended(0);
    assert_eq!(count(&world), 24);
    let none = world.run(["search", "lib.tessera", "pup", "--json"]).ended(0).object();
    assert_eq!(none["hits"], json!([]), "the image is gone with its label");
    world.run(["redo", "lib.tessera"]).ended(0);
    assert_eq!(count(&world), 25);
    // Again, and an image of the library: they are labelled.
    let again = world.run(["label", "lib.tessera", "elsewhere/pup.png", "#1", "--as", "ring", "--take-in", "--json"]).ended(0).object();
    assert_eq!((&again["images"][0]["new"], &again["images"][1]["new"]), (&json!(false), &json!(false)));
    assert_eq!(again["images"][0]["image"], taken["images"][0]["image"]);
    // A copy of an image under another name is that image.
    std::fs::copy(&new, world.at("elsewhere/copy.png")).unwrap();
    let copy = world.run(["label", "lib.tessera", "elsewhere/copy.png", "--as", "ring", "--take-in", "--json"]).ended(0).object();
    assert_eq!((&copy["images"][0]["new"], &copy["images"][0]["image"]), (&json!(false), &taken["images"][0]["image"]));
    assert_eq!(count(&world), 25);
    // Its folder was not imported; it can be, later, and a folder inside it too.
    world.picture("elsewhere/inside/third.png", 0, 7, 1);
    let inside = world.run(["import", "lib.tessera", "elsewhere/inside", "--labels", "none", "--json"]).ended(0).object();
    assert_eq!((&inside["found"], &inside["imported"]), (&json!(1), &json!(1)));
    world.picture("elsewhere/inside/fourth.png", 0, 7, 2);
    let whole = world.run(["import", "lib.tessera", "elsewhere", "--labels", "none", "--json"]).ended(0).object();
    assert_eq!((&whole["imported"], &whole["duplicate"]), (&json!(2), &json!(0)), "{whole}");
}

#[test]
fn a_file_that_cannot_be_taken_in_does_not_keep_the_others_out() {
    let world = World::with_library();
    let new = world.picture("elsewhere/pup.png", 1, 9, 3);
    world.file("elsewhere/broken.png", b"no picture at all");
    let images = ["elsewhere/broken.png", new.to_str().unwrap(), "elsewhere/gone.png", "images/disc/disc_01_0_0_0_lt.png", "#2"];
    let rest = ["--as", "dog", "--take-in", "--json", "--report", "report.jsonl"];
    let ran = world.run(["label", "lib.tessera"].iter().chain(&images).chain(&rest)).ended(1);
    let ran = ran.complains("broken.png").complains("gone.png");
    let answer = ran.object();
    let taken: Vec<(&Value, &Value)> = answer["images"].as_array().unwrap().iter().map(|image| (&image["path"], &image["new"])).collect();
    assert_eq!(taken, [(&json!(images[1]), &json!(true)), (&json!(images[3]), &json!(false)), (&json!("#2"), &json!(false))]);
    assert_eq!((&answer["failed"], &answer["ok"]), (&json!(2), &json!(true)));
    let report = std::fs::read_to_string(world.at("report.jsonl")).unwrap();
    assert_eq!(report.lines().count(), 2, "{report}");
    let dogs = world.run(["search", "lib.tessera", "dog", "--json"]).ended(0).object();
    assert_eq!(dogs["hits"].as_array().unwrap().len(), 3);
}

#[test]
fn a_file_that_cannot_be_taken_in_changes_nothing() {
    let world = World::with_library();
    world.file("elsewhere/broken.png", b"no picture at all");
    let head = |world: &World| world.run(["check", "lib.tessera", "--json"]).ended(0).object()["events"].clone();
    let before = head(&world);
    world.run(["label", "lib.tessera", "elsewhere/broken.png", "--as", "dog", "--take-in"]).ended(65).complains("broken.png");
    world.run(["label", "lib.tessera", "elsewhere/gone.png", "--as", "dog", "--take-in"]).ended(65).complains("gone.png");
    world.run(["label", "lib.tessera", "elsewhere/broken.png", "--as", "  ", "--take-in"]).ended(65);
    world.run(["label", "lib.tessera", "elsewhere/broken.png", "--none", "--take-in"]).ended(2);
    assert_eq!(head(&world), before);
    let checked = world.run(["check", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!(checked["problems"], json!([]));
}
