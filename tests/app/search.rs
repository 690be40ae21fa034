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
    let missing = |ran: Ran| ran.object()["missing_words"].clone();
    assert_eq!(missing(search(&world, &["unicorn"]).complains("Nothing in this library has the word unicorn.")), json!(["unicorn"]));
    let ran = search(&world, &["red unicorn disc"]);
    assert_eq!(missing(ran.complains("has the word unicorn; the other words were looked for.")), json!(["unicorn"]));
    let ran = search(&world, &["disc unicorn", "--by", "index"]);
    assert_eq!(missing(ran.complains("unicorn; the other word was looked for.")), json!(["unicorn"]));
    for other in ["red zebra", "red tabel", "blue ring", "red rings"] {
        assert_eq!(missing(search(&world, &[other])), json!([]), "{other}");
    }
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

/// Images, and the words that they are said to have.
fn words_of(world: &World, words: &[&str]) -> Vec<(u64, Vec<String>)> {
    let answer = search(world, &[words, &["-k", "50"]].concat()).object();
    let own = |hit: &Value| hit["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect();
    answer["hits"].as_array().unwrap().iter().map(|hit| (hit["image"].as_u64().unwrap(), own(hit))).collect()
}

#[test]
fn all_that_answer_are_counted() {
    let world = captioned();
    for by in ["memory", "index"] {
        let answer = search(&world, &["disc", "-k", "5", "--by", by]).object();
        assert_eq!((&answer["found"], answer["hits"].as_array().unwrap().len()), (&json!(12), 5), "{by}");
        assert_eq!(found(&world, &["disc", "-k", "100", "--by", by]).len(), 12, "{by}");
    }
    let said = world.run(["search", "lib.tessera", "disc", "-k", "5"]).ended(0);
    assert!(said.stdout.contains("12 images answer; these are the first 5"), "{}", said.stdout);
    assert_eq!(search(&world, &["--class", "grid", "-k", "2"]).object()["found"], 12);
    assert_eq!(search(&world, &["unicorn"]).object()["found"], 0);
}

/// `bicycle` and `barefoot` have one feature in the memory.
#[test]
fn no_hit_has_a_word_that_is_not_there() {
    let world = captioned();
    world.run(["caption", "lib.tessera", "#7", "a barefoot man"]).ended(0);
    world.run(["caption", "lib.tessera", "#8", "a man on a bicycle"]).ended(0);
    assert_eq!(words_of(&world, &["bicycle"]), [(8, vec!["bicycle".to_owned()])]);
    assert_eq!(words_of(&world, &["barefoot"]), [(7, vec!["barefoot".to_owned()])]);
    teach(&world, "barefoot", "#7", "1");
    assert_eq!(words_of(&world, &["bicycle"]), [(8, vec!["bicycle".to_owned()])]);
}

#[test]
fn errors_of_typing_are_forgiven_and_told() {
    let world = captioned();
    let ran = search(&world, &["red tabel", "--explain"]).complains("Did you mean: red table?");
    let answer = ran.object();
    assert_eq!((&answer["did_you_mean"], &answer["unknown_words"]), (&json!("red table"), &json!(["tabel"])));
    let first = &answer["hits"][0];
    assert_eq!((&first["image"], &first["words"]), (&json!(1), &json!(["red", "table"])), "{first}");
    assert_eq!(first["read"], json!([{"word": "table", "typed": "tabel", "how": "correction"}]));
    let terms = first["why"]["terms"].as_array().unwrap();
    assert!(terms.iter().any(|term| term["words"] == "table" && term["typed"] == "tabel"), "{terms:?}");
    let right = &search(&world, &["red table"]).object()["hits"][0];
    assert!(first["score"].as_f64() < right["score"].as_f64() && right["read"] == json!([]), "{first} {right}");
    let said = world.run(["search", "lib.tessera", "tabel", "--explain"]).ended(0).stdout;
    assert!(said.contains("(has table (you typed tabel))") && said.contains(" table (you typed tabel)"), "{said}");
    // A word that is there is never taken for another.
    world.run(["caption", "lib.tessera", "#9", "tabel"]).ended(0);
    let known = search(&world, &["tabel"]).object();
    assert_eq!((&known["did_you_mean"], &known["hits"][0]["image"], &known["found"]), (&json!(null), &json!(9), &json!(1)));
    world.run(["undo", "lib.tessera"]).ended(0);
    assert_eq!(search(&world, &["tabel"]).object()["did_you_mean"], "table", "words come and go with captions");
    let joined = search(&world, &["tabel\u{fe55}tabel"]).ended(0);
    assert!(!joined.stdout.is_empty(), "two words in one piece of the text");
    assert_eq!(search(&world, &["\"tabel\""]).object()["found"], 0, "what is in quotes is meant as it is");
    assert_eq!(search(&world, &["tabel", "--by", "index"]).object()["found"], 0);
}

#[test]
fn other_forms_of_a_word_are_found_lower() {
    let world = captioned();
    world.run(["caption", "lib.tessera", "#7", "two rings"]).ended(0);
    let answer = search(&world, &["rings"]).object();
    assert_eq!((&answer["hits"][0]["image"], &answer["found"], &answer["did_you_mean"]), (&json!(7), &json!(4), &json!(null)));
    assert_eq!(answer["hits"][1]["read"], json!([{"word": "ring", "typed": "rings", "how": "form"}]));
    assert_eq!(search(&world, &["ring's"]).complains("another form of it, ring").object()["found"], 4);
    world.run(["caption", "lib.tessera", "#8", "a café", "two people"]).ended(0);
    assert_eq!(words_of(&world, &["cafe"]), [(8, vec!["café".to_owned()])]);
    assert_eq!(search(&world, &["cafe"]).object()["hits"][0]["read"][0]["how"], "form");
    assert_eq!(search(&world, &["cafe\u{301}"]).object()["hits"][0]["read"], json!([]), "it is the same word");
    assert_eq!(words_of(&world, &["person"]), [(8, vec!["people".to_owned()])]);
}

#[test]
fn a_class_is_one_however_its_accents_are_written() {
    let world = captioned();
    world.run(["label", "lib.tessera", "#1", "--as", "café"]).ended(0);
    world.run(["label", "lib.tessera", "#2", "--as", "cafe\u{301}"]).ended(0);
    for class in ["café", "cafe\u{301}"] {
        assert_eq!(search(&world, &["--class", class]).object()["found"], 2, "{class:?}");
    }
    let picture = std::fs::read(world.at("images/disc/disc_02_0_0_0_lt.png")).unwrap();
    for (folder, name, end) in [("niño", "a.png", 1u8), ("nin\u{303}o", "b.png", 2)] {
        // Bytes behind its end make another file of the picture.
        world.file(&format!("more/{folder}/{name}"), &[&picture[..], &[end]].concat());
    }
    world.run(["import", "lib.tessera", "more", "--labels", "class-folders"]).ended(0);
    assert_eq!(search(&world, &["--class", "niño"]).object()["found"], 2);
}

#[test]
fn images_with_all_words_come_first() {
    let world = captioned();
    let long = "a boat and a cart and an elm, a fir, a gate, a hill, an inn, a jar, a kite, a lamp by a mill";
    for (image, text) in [("#7", long), ("#8", "cart"), ("#9", "boat"), ("#10", "a boat")] {
        world.run(["caption", "lib.tessera", image, text]).ended(0);
    }
    for by in ["memory", "index"] {
        let answer = search(&world, &["boat cart", "-k", "50", "--by", by]).object();
        let hits = answer["hits"].as_array().unwrap();
        assert!(
            hits[0]["image"] == 7 && hits[0]["all_words"] == true && hits[0]["score"].as_f64() < hits[1]["score"].as_f64(),
            "{by} {answer}"
        );
        assert!(hits.len() == 4 && hits[1..].iter().all(|hit| hit["all_words"] == false), "{by} {answer}");
    }
    teach(&world, "boat cart", "#9", "1");
    assert_eq!(search(&world, &["boat cart"]).object()["hits"][0]["image"], 9, "it was taught otherwise");
}

#[test]
fn the_last_word_goes_on_by_captions_classes_and_names() {
    let world = captioned();
    world.run(["label", "lib.tessera", "#1", "--as", "table lamp"]).ended(0);
    let complete = |text: &str| {
        let answer = search(&world, &["--complete", text]).object();
        let all = answer["completions"].as_array().unwrap().iter();
        all.map(|one| (one["text"].as_str().unwrap().to_owned(), one["source"].as_str().unwrap().to_owned())).collect::<Vec<_>>()
    };
    let one = |text: &str, source: &str| (text.to_owned(), source.to_owned());
    assert_eq!(complete("red ta"), [one("red table lamp", "class"), one("red table", "caption")]);
    assert_eq!(complete("a table la"), [one("a table lamp", "class"), one("a table lamp", "caption")][..1]);
    assert_eq!(complete("gri"), [one("grid", "class")]);
    assert_eq!(complete("bla"), [one("black", "caption")]);
    assert_eq!(complete("l"), [one("lamp", "caption"), one("lt", "name")].into_iter().rev().collect::<Vec<_>>());
    assert_eq!(complete("tabel"), [one("table", "meant")]);
    assert_eq!(complete("red "), []);
    assert!(world.run(["search", "lib.tessera", "--complete", "bla"]).ended(0).stdout.contains("black  (caption, 1)"));
    world.run(["search", "lib.tessera", "--complete", "bla", "--class", "disc"]).ended(2);
}

#[test]
fn search_by_words_can_be_tried() {
    let world = captioned();
    world.file("asked.csv", b"path,caption\ndisc_01_0_0_0_lt.png,a red ring on the table\ndisc_01_1_0_0_lt.png,a black ring\n");
    let trial = ["eval", "words", "lib.tessera", "--captions", "asked.csv", "--claims", "30", "--typed", "1"];
    let scores = world.run(trial.iter().chain(&["--json"])).ended(0).object();
    assert_eq!((&scores["images"], &scores["queries"], &scores["false_claims"]), (&json!(24), &json!(2), &json!(0)), "{scores}");
    assert!(scores["recall_at_10"] == 1.0 && scores["typed"].as_u64() > Some(10) && scores["claims"].as_u64() > Some(10), "{scores}");
    assert!(world.run(trial).ended(0).stdout.contains("0 of them not there"));
    world.file("asked.csv", b"path,caption\nother.png,a red ring\n");
    world.run(trial).ended(65).complains("captions of images of the library");
}
