//! Every key of `--json` that a command prints stands in `docs/cli.md`, and the other way round.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::page::Page;
use super::read;
use crate::evaluate_memories::{arff, svm};
use crate::evaluate_neighbours::npy;
use crate::networks::pair_in;
use crate::similar::write_waves;
use crate::world::{Ran, World, copy_folder};

/// Runs commands, and remembers which keys each of them has printed.
struct Recorder {
    world: World,
    seen: BTreeMap<String, BTreeSet<String>>,
}

impl Recorder {
    fn new(world: World) -> Self {
        Self { world, seen: BTreeMap::new() }
    }

    fn note(&mut self, command: &str, ran: &Ran) {
        let seen = self.seen.entry(command.to_owned()).or_default();
        ran.lines().iter().for_each(|line| paths(line, "", seen));
    }

    /// Runs `tessera command arguments --json`, where arguments are parted by blanks and `_` stands
    /// for a blank within one.
    fn run(&mut self, command: &str, arguments: &str, code: i32) {
        let words = arguments.split(' ').filter(|word| !word.is_empty()).map(|word| word.replace('_', " "));
        let line = command.split(' ').map(str::to_owned).chain(["--json".into(), "--with-head".into()]).chain(words);
        let ran = self.world.run(line).ended(code);
        self.note(command, &ran);
    }

    /// The same with lines on stdin, of which some fail.
    fn feed(&mut self, command: &str, lines: &[&str]) {
        let ran = self.world.feed([command, "lib.tessera", "--stdin", "--with-head"], lines.join("\n").as_bytes()).ended(1);
        self.note(command, &ran);
    }

    /// Compares what was printed with the page.
    fn compare(&self) {
        let page = Page::new(&read("docs/cli.md"));
        for (command, seen) in &self.seen {
            let told = page.keys(command);
            let missing: Vec<&String> = seen.iter().filter(|path| !told.iter().any(|told| leads_through(told, path))).collect();
            assert!(missing.is_empty(), "docs/cli.md does not tell of these keys of `tessera {command}`: {missing:?}");
            let unseen: Vec<&String> = told.iter().filter(|told| !seen.iter().any(|path| is_told(told, path))).collect();
            assert!(unseen.is_empty(), "`tessera {command}` has not printed these keys: {unseen:?}");
        }
    }
}

/// The paths of all keys of a value: `hits`, `hits[].image`.
fn paths(value: &Value, start: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let path = if start.is_empty() { key.clone() } else { format!("{start}.{key}") };
                found.insert(path.clone());
                paths(value, &path, found);
            }
        }
        Value::Array(values) => {
            values.iter().for_each(|value| paths(value, &format!("{start}[]"), found));
        }
        _ => {}
    }
}

/// Whether a part of a path on the page matches a part of a printed one. `CLASS` and the like match
/// any name.
fn is_part(told: &str, printed: &str) -> bool {
    let name = told.trim_end_matches("[]");
    let is_any = name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase());
    told == printed || is_any && told.ends_with("[]") == printed.ends_with("[]")
}

/// Whether a path on the page matches a printed one. `.*` matches whatever is below.
fn is_told(told: &str, printed: &str) -> bool {
    match told.strip_suffix(".*") {
        Some(told) => printed.strip_prefix(told).is_some_and(|rest| rest.starts_with('.')),
        None => told.split('.').count() == printed.split('.').count() && leads_through(told, printed),
    }
}

/// Whether a path on the page matches a printed one or a longer one that begins with it.
fn leads_through(told: &str, printed: &str) -> bool {
    if told.ends_with(".*") && is_told(told, printed) {
        return true;
    }
    let (told, printed): (Vec<&str>, Vec<&str>) = (told.split('.').collect(), printed.split('.').collect());
    let last = printed.len() - 1;
    // A printed `hits` is a prefix of `hits[].image`.
    let leads = |at: usize| {
        is_part(told[at], printed[at]) || at == last && at + 1 < told.len() && is_part(told[at].trim_end_matches("[]"), printed[at])
    };
    printed.len() <= told.len() && (0..printed.len()).all(leads)
}

/// A library with four captions for each of its 24 images, enough for the memory to have routers.
fn captioned() -> World {
    let world = World::with_images();
    let mut table = "path,caption\n".to_owned();
    for entry in ["disc", "grid"].iter().flat_map(|class| fs::read_dir(world.at("images").join(class)).unwrap()) {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for view in ["left", "right", "near", "far"] {
            table += &format!("{},a {} seen from the {view}\n", path.display(), name.replace('_', " "));
        }
    }
    world.file("captions.csv", table.as_bytes());
    world.file("mine.csv", b"disc_02_1_0_0_lt.png,1,0\n");
    world
}

#[test]
fn of_commands_that_act() {
    let world = captioned();
    // A copy in the folder of another class.
    fs::copy(world.at("images/disc/disc_01_0_0_0_lt.png"), world.at("images/grid/grid_07_0_0_0_lt.png")).unwrap();
    let mut all = Recorder::new(world);
    all.run("import", "lib.tessera images --captions captions.csv --vectors mine.csv", 0);
    all.world.picture("plan/one/a.png", 0, 1, 1);
    all.world.file("plan/labels.csv", b"path,label\na.png,one\n");
    all.world.file("plan/text.xyz", b"text");
    fs::copy(all.world.at("plan/one/a.png"), all.world.at("plan/one/a-mask.png")).unwrap();
    all.run("import", "new.tessera plan --dry-run --exclude *.tmp", 0);
    let acts = [
        ("label", "lib.tessera #1 --as ring", 0),
        ("label", "lib.tessera #2 --as Ring", 0),
        ("label", "lib.tessera #3 --not grid", 0),
        ("label", "lib.tessera #999 --as ring", 65),
        ("label", "lib.tessera plan/one/a.png --as Ring --take-in", 0),
        ("caption", "lib.tessera #1 a_wren_on_a_fence", 0),
        ("caption", "lib.tessera #999 a_wren", 65),
        ("feedback", "lib.tessera --query wren_fence --image #1 --reward 1", 0),
        ("feedback", "lib.tessera --query wren --image #999 --reward 1", 65),
        ("lessons", "lib.tessera", 0),
        ("redo", "lib.tessera", 65),
        ("undo", "lib.tessera", 0),
        ("redo", "lib.tessera", 0),
        ("remove", "lib.tessera #5", 0),
        ("remove", "lib.tessera #999", 65),
        ("restore", "lib.tessera #5", 0),
        ("restore", "lib.tessera #999", 65),
        ("forget", "lib.tessera #6 --yes", 0),
        ("forget", "lib.tessera #999 --yes", 65),
        ("undo", "lib.tessera", 0),
        ("relocate", "lib.tessera images images", 0),
        ("relocate", "lib.tessera gone images", 65),
    ];
    for (command, arguments, code) in acts {
        all.run(command, arguments, code);
    }
    all.feed(
        "label",
        &[
            r#"{"image": 7, "label": "cube"}"#,
            r#"{"image": 7, "label": "CUBE"}"#,
            r#"{"image": 7, "not": "disc", "rejected": false}"#,
            r#"{"image": 999, "label": "cube"}"#,
        ],
    );
    all.feed("caption", &[r#"{"image": 7, "caption": ["a cube"]}"#, "no JSON"]);
    all.feed("feedback", &[r#"{"image": 7, "query": "cube", "reward": 0.5}"#, "no JSON"]);
    let changed = World::with_library();
    changed.file("images/disc/disc_02_1_0_0_lt.png", b"another text");
    let to_bin = ["remove", "lib.tessera", "images/disc/disc_02_1_0_0_lt.png", "--to-bin", "--json", "--with-head"];
    all.note("remove", &changed.run(to_bin).ended(1));
    // One file went to the bin, and is not there any more when the act is undone.
    let emptied = World::with_library();
    emptied.run(["remove", "lib.tessera", "images/disc/disc_02_1_0_0_lt.png", "images/disc/disc_02_0_0_0_lt.png", "--to-bin"]).ended(0);
    fs::remove_file(emptied.at("home/Trash/info/disc_02_0_0_0_lt.png.trashinfo")).unwrap();
    all.note("undo", &emptied.run(["undo", "lib.tessera", "--json", "--with-head"]).ended(1));
    let empty = World::with_library();
    all.note("undo", &empty.run(["undo", "lib.tessera", "--json", "--with-head"]).ended(0));
    all.note("undo", &empty.run(["undo", "lib.tessera", "--json"]).ended(65));
    all.compare();
}

#[test]
fn of_commands_that_answer() {
    let mut all = Recorder::new(captioned());
    all.world.run(["import", "lib.tessera", "images", "--captions", "captions.csv", "--vectors", "mine.csv"]).ended(0);
    all.run("search", "lib.tessera disc seen near --explain", 0);
    all.run("search", "lib.tessera fan_envelope_buckle -k 50", 0);
    all.run("search", "lib.tessera dics seen --explain", 0);
    all.run("search", "lib.tessera di --complete", 0);
    all.run("eval words", "lib.tessera --captions captions.csv --queries 4 --claims 4 --typed 1", 0);
    all.run("train", "lib.tessera", 0);
    all.run("shard", "collection images lib.tessera --images 10", 0);
    let hash = fs::read(all.world.at("images/disc/disc_01_0_0_0_lt.png")).map(|bytes| tessera_core::hash::hash_hex(&bytes)).unwrap();
    all.run("shard", &format!("collection --forget {hash}"), 0);
    all.run("classify", "lib.tessera #1 --explain", 0);
    all.world.run(["label", "lib.tessera", "images/disc/disc_02_1_0_0_lt.png", "--as", "grid"]).ended(0);
    all.run("suggest", "lib.tessera #3", 0);
    all.run("review", "lib.tessera", 0);
    all.run("review", "lib.tessera --harm", 0);
    all.run("similar", "lib.tessera #1 --curve", 0);
    write_waves(&all.world, 800);
    all.world.run(["import", "many.tessera", "photos", "--labels", "none"]).ended(0);
    all.run("similar", "many.tessera #1 --partitions", 0);
    all.run("map", "lib.tessera --to map.svg --rounds 10", 0);
    all.run("vectors", "lib.tessera", 0);
    all.run("duplicates", "lib.tessera --distance 100", 0);
    pair_in(&all.world);
    all.world.run(["network", "add", "pair", "image.onnx", "text.onnx", "tokenizer.json"]).ended(0);
    all.world.run(["train", "lib.tessera", "--words-network", "pair"]).ended(0);
    all.run("vectors", "lib.tessera --by pair", 0);
    all.run("check", "lib.tessera", 0);
    all.run("check", "lib.tessera --head 0123456789abcdef", 65);
    // Two copies go apart, and their files are mixed.
    for (name, class) in [("one.tessera", "here"), ("two.tessera", "there")] {
        copy_folder(&all.world.at("lib.tessera"), &all.world.at(name));
        all.world.run(["label", name, "#1", "--as", class]).ended(0);
    }
    fs::copy(all.world.at("two.tessera/journal.jsonl"), all.world.at("one.tessera/journal.jsonl")).unwrap();
    all.run("check", "one.tessera", 65);
    all.run("backup", "lib.tessera copy", 0);
    all.run("backup", "lib.tessera --restore copy", 0);
    all.run("export", "lib.tessera labels --to sorted --format class-folders", 0);
    all.run("generate toys", "--to toys --instances 1 --views 1 --side 32", 0);
    all.run("generate compositions", "--to compositions --instances 2 --views 2 --train 2 --test 2 --side 32", 0);
    all.run("generate symmetries", "--to symmetries --instances 1 --views 2 --train 2 --test 2 --side 32", 0);
    all.compare();
}

#[test]
fn of_experiments_with_images() {
    let mut all = Recorder::new(World::with_images());
    all.run("eval ckm", "--data images --limit 4 --elements colour", 0);
    all.run("eval ckm", "--print-options", 0);
    for (part, instance) in [("train", 1), ("train", 2), ("test", 3)] {
        all.world.picture(&format!("set/{part}/disc/disc_{instance:02}_0_0_0_lt.png"), 0, instance, 0);
        all.world.picture(&format!("set/{part}/grid/grid_{instance:02}_0_0_0_lt.png"), 1, instance, 0);
    }
    all.run("eval sets", "set --elements colour", 0);
    all.run("eval features", "images/disc", 0);
    pair_in(&all.world);
    all.run("network add", "pair image.onnx text.onnx tokenizer.json", 0);
    all.run("network list", "", 0);
    all.run("network match", "pair images --words red", 0);
    all.run("network remove", "pair", 0);
    all.run("tune", "images --steps 60 --elements colour", 0);
    let (mut captions, mut names) = (String::new(), String::new());
    for (class, instance, view) in [("disc", 1, 0), ("disc", 2, 1), ("grid", 1, 2), ("grid", 3, 3)] {
        let name = format!("{class}/{class}_{instance:02}_{view}_0_0_lt.png");
        (0..5).for_each(|n| captions += &format!("{name}#{n}\tA {class} seen from {view}, caption {n}\n"));
        names += &format!("{name}\n");
    }
    all.world.file("captions.txt", captions.as_bytes());
    all.world.file("names.txt", names.as_bytes());
    all.run("eval cmt-captions", "--images images --captions captions.txt --train-list names.txt --test-list names.txt", 0);
    all.compare();
}

#[test]
fn of_experiments_with_tables() {
    let mut all = Recorder::new(World::new());
    for (name, seed) in [("train", 0), ("test", 1)] {
        let labels: String = (0..6).map(|label| format!("<label name=\"label{label}\"></label>\n")).collect();
        all.world.file(&format!("{name}.svm"), svm(seed).as_bytes());
        all.world.file(&format!("{name}.arff"), arff(seed).as_bytes());
        all.world.file(&format!("{name}.xml"), labels.as_bytes());
    }
    all.run("eval cmt-classify", "--train train.svm --test test.svm", 0);
    all.run("eval cmt-multilabel", "--train train.arff --test test.arff", 0);
    all.run("eval cmt-figures", "--train train.svm --test test.svm --to figures --runs 1", 0);
    all.run("eval cmt-growth", "--to growth --memories 1500", 0);
    all.run("eval online", "--learner ellipsoid --stream sphere --d 2 --rounds 50", 0);
    all.run("eval online-figures", "--to long --rounds 100 --d 3 --runs 1", 0);
    all.run("eval desk", "--stream train.svm --orders 1 --to desk", 0);
    all.world.file("vectors.npy", &npy(200, 1));
    all.run("eval ann", "--corpus vectors.npy --queries vectors.npy --trees 2 --each 0.5", 0);
    all.run("eval canopy", "--data vectors.npy --clusters 3 --iterations 2", 0);
    all.run("eval cover-tree", "--data vectors.npy --queries vectors.npy", 0);
    all.compare();
}

/// Compares what a command printed that another test runs anyway.
pub(crate) fn agrees(command: &str, ran: &Ran) {
    let mut all = Recorder::new(World::new());
    all.note(command, ran);
    all.compare();
}

#[test]
fn every_command_is_compared() {
    let tried = read("tests/app/documents/keys.rs") + &read("tests/app/generate.rs") + &read("tests/app/cluster.rs");
    for command in Page::new(&read("docs/cli.md")).commands().into_iter().filter(|command| !command.name.is_empty()) {
        let name = &command.name;
        assert!(tried.contains(&format!("run(\"{name}\"")) || tried.contains(&format!("(\"{name}\", ")), "`tessera {name}` is not tried");
    }
}
