//! `tessera search` and `feedback`: which images are found, in which order and how many, and the
//! notes beside them.

use serde_json::{Value, json};

use crate::world::{Ran, World};

/// A library whose images 1 to 6 have captions.
fn captioned() -> World {
    let world = World::with_library();
    for (id, texts) in [
        ("#1", &["a red ring on a table", "a round thing"][..]),
        ("#2", &["a red ring", "something black"]),
        ("#3", &["a blue ring on a table"]),
        ("#4", &["a red disc in the air"]),
        ("#5", &["a red disc in the air"]),
        ("#6", &["a red disc in the air"]),
    ] {
        world.run(["caption", "lib.tessera", id].iter().chain(texts)).ended(0);
    }
    world
}

fn search(world: &World, arguments: &[&str]) -> Ran {
    world.run(["search", "lib.tessera", "--json"].iter().chain(arguments)).ended(0)
}

/// Images and scores.
fn found(world: &World, arguments: &[&str]) -> Vec<(u64, f64)> {
    let answer = search(world, arguments).object();
    let hit = |hit: &Value| (hit["image"].as_u64().unwrap(), hit["score"].as_f64().unwrap());
    answer["hits"].as_array().unwrap().iter().map(hit).collect()
}

fn teach(world: &World, query: &str, image: &str, reward: &str) {
    world.run(["feedback", "lib.tessera", "--query", query, "--image", image, "--reward", reward]).ended(0);
}

#[test]
fn fewer_hits_are_the_first_of_more_and_never_more_than_asked_for() {
    let world = captioned();
    teach(&world, "red disc", "#5", "1");
    teach(&world, "red disc", "#9", "0.5");
    teach(&world, "red disc", "#4", "-1");
    for arguments in
        [&["red disc"][..], &["disc_01"], &["red", "ring", "--by", "index"], &["red disc", "--like", "#1"], &["--class", "disc"]]
    {
        let of = |k: &str, more: &[&str]| found(&world, &[arguments, &["-k", k], more].concat());
        let all = of("100", &[]);
        assert!(all.len() > 3, "{all:?}");
        for k in 1..=5usize {
            assert_eq!(of(&k.to_string(), &[]), all[..k.min(all.len())], "{arguments:?}");
        }
        let few = of("100", &["--leaves", "1"]);
        assert!(few.iter().all(|hit| all.contains(hit)), "{few:?} of {all:?}");
    }
    let all = found(&world, &["red disc", "-k", "100"]);
    assert!(all[0].0 == 5 && all[0].1 > all[1].1 && all.iter().all(|(_, score)| *score > 0.0), "{all:?}");
    assert!(all.iter().all(|(image, _)| *image != 4), "what is bad enough does not come back: {all:?}");
}

#[test]
fn what_must_not_be_there_is_in_no_text_whoever_answers() {
    let world = captioned();
    for arguments in [
        &["--", "ring", "-black"][..],
        &["--by", "index", "--", "ring", "-black"],
        &["--like", "#7", "-k", "50", "--", "-black"],
        &["--like", "#7", "-k", "50", "--", "red", "-black"],
        &["--class", "disc", "-k", "50", "--", "-black"],
    ] {
        let found = found(&world, arguments);
        assert!(found.iter().any(|(image, _)| *image == 1) && found.iter().all(|(image, _)| *image != 2), "{arguments:?}: {found:?}");
    }
    assert!(found(&world, &["--like", "#7", "-k", "50", "--", "-disc"]).iter().all(|(image, _)| *image > 12), "classes are texts");
    search(&world, &["--", "-black"]).complains("besides those that must not be there");
}

#[test]
fn what_lessons_add_is_told() {
    let world = captioned();
    teach(&world, "zebra", "#8", "1");
    teach(&world, "red disc", "#5", "1");
    let ran = search(&world, &["zebra"]).complains("known from what was taught");
    assert!(!ran.stderr.contains("Nothing in this library"), "{}", ran.stderr);
    let hit = &ran.object()["hits"][0];
    assert_eq!((&hit["image"], &hit["words"], &hit["lesson"]), (&json!(8), &json!([]), &json!("zebra")));
    assert!(world.run(["search", "lib.tessera", "zebra"]).ended(0).stdout.contains("(taught: zebra)"));
    search(&world, &["unicorn"]).complains("Nothing in this library has the word unicorn");
    for words in ["red disc", "a red disc"] {
        let hit = &search(&world, &[words, "--explain"]).object()["hits"][0];
        let terms = hit["why"]["terms"].as_array().unwrap();
        let lesson = terms.iter().find(|term| term["kind"] == "lesson").unwrap_or_else(|| panic!("{hit}"));
        assert!(hit["image"] == 5 && lesson["words"] == "red disc" && lesson["value"].as_f64().unwrap() > 0.0, "{hit}");
        let sum: f64 = terms.iter().map(|term| term["value"].as_f64().unwrap()).sum();
        assert!((sum - hit["score"].as_f64().unwrap()).abs() < 1e-5, "{hit}");
    }
    let by_index = &search(&world, &["red ring", "--by", "index", "--explain"]).object()["hits"][0];
    let words: Vec<&Value> = by_index["why"]["terms"].as_array().unwrap().iter().map(|term| &term["words"]).collect();
    assert!(words.contains(&&json!("red")) && words.contains(&&json!("ring")), "{by_index}");
}

#[test]
fn a_class_a_folder_or_a_number_is_a_question_too() {
    let world = captioned();
    let all = search(&world, &["--class", "grid", "-k", "50"]).object();
    let paths: Vec<&str> = all["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    assert!(paths.len() == 12 && paths.is_sorted() && all["hits"][0]["score"] == 0.0, "{all}");
    assert_eq!(found(&world, &["--folder", "images/grid", "-k", "50"]).len(), 12);
    assert_eq!(found(&world, &["#12"]), [(12, 0.0)]);
    world.run(["search", "lib.tessera", "#999"]).ended(65).complains("no image of that number");
    world.run(["search", "lib.tessera"]).ended(2).complains("--like IMAGE");
    world.run(["search", "lib.tessera", "ring", "--class", "Disc"]).ended(2).complains("there is `disc`");
    world.run(["search", "lib.tessera", "--like", "images"]).ended(65).complains("found a folder");
}

#[test]
fn options_in_the_wrong_place_are_told() {
    let world = captioned();
    for word in ["-k", "-k3", "--leaves", "--leaves=4", "--json"] {
        let ran = world.run(["search", "lib.tessera", "--", "ring", word]).ended(0);
        ran.complains(&format!("`{word}` is read as words"));
    }
    for word in ["-table", "k", "-kk", "--leave"] {
        let ran = world.run(["search", "lib.tessera", "--", "ring", word]).ended(0);
        assert!(!ran.stderr.contains("is read as words"), "{word}: {}", ran.stderr);
    }
}

#[test]
fn a_lesson_is_of_the_words_that_were_looked_for() {
    let world = captioned();
    let feedback =
        |query: &str, more: &[&str]| world.run(["feedback", "lib.tessera", "--query", query, "--image", "#3"].iter().chain(more));
    let said = feedback("blue -black", &["--reward", "1", "--json"]).ended(0).object();
    assert_eq!(said["lesson"], "blue");
    assert!(said["words"].as_str().unwrap().contains("must not be there are no part of it"), "{said}");
    let plain = feedback("blue ring", &["--reward", "1", "--json"]).ended(0).object();
    assert!(!plain["words"].as_str().unwrap().contains("must not"), "{plain}");
    for query in ["", "  ", "?!", "-black"] {
        feedback(query, &["--reward", "1"]).ended(2).complains("--query: expected words");
    }
    for reward in ["0", "-0", "0.0004", "5", "much"] {
        feedback("blue", &["--reward", reward]).ended(2).complains("a number from -1 to 1");
    }
}

#[test]
fn nothing_is_forgotten_by_mistake() {
    let world = captioned();
    world.run(["forget", "lib.tessera", "#3"]).ended(2).complains("--yes");
    assert_eq!(found(&world, &["blue"])[0].0, 3);
    world.run(["forget", "lib.tessera", "#3", "--yes"]).ended(0);
    assert_eq!(found(&world, &["blue"]), []);
    world.run(["forget", "lib.tessera", "#4", "--json"]).ended(0);
    assert!(world.run(["caption", "lib.tessera", "#1", ""]).ended(0).stdout.contains("Took the captions off"));
}

#[test]
fn copies_and_repeated_captions_are_named() {
    let world = World::with_images();
    std::fs::copy(world.at("images/disc/disc_01_0_0_0_lt.png"), world.at("images/disc/copy.png")).unwrap();
    world.file("captions.csv", b"path,caption\ndisc_02_0_0_0_lt.png,a ring\ndisc_02_0_0_0_lt.png,a ring\ndisc_02_0_0_0_lt.png,a disc\n");
    let import = [
        "import",
        "lib.tessera",
        "images",
        "--labels",
        "class-folders",
        "--captions",
        "captions.csv",
        "--report",
        "report.jsonl",
        "--json",
    ];
    let ran = world.run(import).ended(0).object();
    assert_eq!((&ran["duplicate"], &ran["captions"], &ran["repeated"]), (&json!(1), &json!(2), &json!(1)), "{ran}");
    let report = std::fs::read_to_string(world.at("report.jsonl")).unwrap();
    let line: Value = serde_json::from_str(report.lines().next().unwrap()).unwrap();
    assert!(line["reason"] == "duplicate" && report.contains("copy.png") && report.contains("disc_01_0_0_0_lt.png"), "{report}");
    std::fs::copy(world.at("images/disc/disc_01_0_0_0_lt.png"), world.at("images/disc/later.png")).unwrap();
    let again = world.run(&import[..import.len() - 1]).ended(0).stdout;
    assert!(again.contains("1 duplicate") && again.contains("3 captions there already"), "{again}");
    assert!(std::fs::read_to_string(world.at("report.jsonl")).unwrap().contains("later.png"));
}

#[test]
fn a_library_is_found_without_its_ending() {
    let world = World::with_library();
    for command in [&["search", "lib", "disc"][..], &["label", "lib", "#1", "--as", "disc"], &["undo", "lib"], &["check", "lib"]] {
        world.run(command).ended(0).complains("lib is no library; lib.tessera is one, and is meant");
    }
    world.run(["classify", "lib", "#1"]).ended(0).complains("lib.tessera is one");
    world.run(["train", "lib"]).ended(0).complains("lib.tessera is one");
    let again = world.run(["import", "lib", "images", "--json"]).ended(0).complains("lib.tessera is one").object();
    assert_eq!((&again["unchanged"], world.at("lib").exists()), (&serde_json::json!(24), false));
    // What lies at the very path is meant where a command takes it.
    world.run(["import", "images", "images"]).ended(65).complains("other things in it");
    world.run(["import", "plain", "images"]).ended(0).complains("without the usual ending .tessera");
    world.run(["search", "plain", "disc"]).ended(0);
    world.run(["search", "other", "disc"]).ended(65).complains("nothing of that name");
}
