//! `tessera eval ann`: indexes of nearest neighbours tried on files of vectors.

use serde_json::Value;

use crate::documents::keys::agrees;
use crate::world::World;

/// A matrix of f32 as NumPy saves it: points around ten places, in some order.
pub(crate) fn npy(rows: u32, seed: u32) -> Vec<u8> {
    let dimension = 12;
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dimension}), }}");
    header += &" ".repeat(117 - header.len());
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let mut state = u64::from(seed) * 7919 + 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    for i in 0..rows {
        for d in 0..dimension {
            let place = ((i * 7 + seed) % 10 * 31 + d * 17) % 11;
            bytes.extend((place as f32 + 2.0 * next()).to_le_bytes());
        }
    }
    bytes
}

fn number(answer: &Value, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or_else(|| panic!("{key} in {answer}"))
}

#[test]
fn candidates_are_tuned_for_a_recall() {
    let world = World::new();
    for (name, rows) in [("c", 3000), ("q", 200), ("v", 200), ("t", 2000)] {
        world.file(&format!("{name}.npy"), &npy(rows, rows));
    }
    let start = "eval ann --corpus c.npy --queries q.npy --trees 10 --json";
    for more in [
        "--tree forest --select natural",
        "--tree kd --select voting",
        "--validation v.npy",
        "--train-queries t.npy --tree rp",
        "--metric cosine -k 3 --select natural",
        "--tree kmeans",
        "--tree oblique --select natural --graph-recall 0.95",
        "--select codes --metric inner-product",
    ] {
        let ran = world.run(start.split(' ').chain(more.split(' '))).ended(0);
        let answer = ran.object();
        assert!(number(&answer, "recall") > 0.85, "{more}: {answer}");
        assert!(number(&answer, "candidates") < 700.0, "{more}: {answer}");
        assert!(number(&answer, "probability_error") < 0.1, "{more}: {answer}");
        assert_eq!((number(&answer, "d"), number(&answer, "k")), (12.0, if more.contains("-k") { 3.0 } else { 10.0 }));
        let is_whole = more.contains("--validation");
        assert_eq!(number(&answer, "n"), if is_whole { 3000.0 } else { 2940.0 }, "validation queries are not searched");
    }
    let all: Vec<String> = ["1", "2"]
        .map(|threads| {
            let ran = world.run(start.split(' ').chain(["--threads", threads, "--tree", "pca"])).ended(0);
            let answer = ran.object();
            format!("{} {} {} {}", answer["recall"], answer["threshold"], answer["candidates"], answer["curve"])
        })
        .to_vec();
    assert_eq!(all[0], all[1]);
}

#[test]
fn each_way_is_timed_by_itself() {
    let world = World::new();
    for (name, rows) in [("c", 1500), ("q", 60), ("v", 60), ("t", 900)] {
        world.file(&format!("{name}.npy"), &npy(rows, rows));
    }
    let ask = |more: &str| {
        let start = "eval ann --corpus c.npy --queries q.npy --validation v.npy --trees 8 --each 0.7,0.9 --json ";
        world.run((start.to_owned() + more).trim().split(' ')).ended(0)
    };
    let ran = ask("");
    agrees("eval ann", &ran);
    let answer = ran.object();
    let each = answer["each"].as_array().unwrap();
    // Five kinds of trees with four ways of selection, and cells with two kinds of codes.
    assert_eq!(each.len(), 2 * (5 * 4 + 2), "{answer}");
    let of = |tree: &str, select: &str, recall: f64| {
        let fits = |run: &&Value| (&run["tree"], &run["select"], &run["target_recall"]) == (&tree.into(), &select.into(), &recall.into());
        each.iter().find(fits).unwrap_or_else(|| panic!("{tree} {select} {recall}"))
    };
    for tree in ["rp", "kd", "pca", "forest", "oblique"] {
        let candidates = ["voting", "lookup"].map(|select| number(of(tree, select, 0.9), "candidates"));
        assert!(candidates[0] <= 1.3 * candidates[1], "{tree}: {candidates:?}");
    }
    for run in each {
        let falls_short = number(run, "validation_recall") < number(run, "target_recall");
        assert!(falls_short || number(run, "recall") > number(run, "target_recall") - 0.06, "{run}");
        assert!(number(run, "s_per_1000") > 0.0 && number(run, "bytes") > 0.0);
    }
    assert_eq!(answer["graph_recall"], 1.0);
    let by_index = ask("--tree pca --select natural --graph-recall 0.8").object();
    assert!(number(&by_index, "graph_recall") > 0.75, "{by_index}");
    assert_eq!(by_index["each"].as_array().unwrap().len(), 2);
    let of_queries = ask("--train-queries t.npy --tree kd").object();
    assert_eq!(of_queries["each"].as_array().unwrap().len(), 4, "natural and labels: {of_queries}");
    // A cost in place of a recall: the curve tells what is found within it.
    let fixed = |more: &str| {
        let start = "eval ann --corpus c.npy --queries q.npy --validation v.npy --tree kmeans --json ";
        world.run((start.to_owned() + more).split(' ')).ended(0).object()
    };
    let timed = fixed("--within-ms 0.05");
    let within = number(&timed, "within_operations");
    let again = fixed(&format!("--within-operations {within}"));
    assert_eq!((&again["recall"], &again["probes"], &again["shortlist"]), (&timed["recall"], &timed["probes"], &timed["shortlist"]));
    assert!(number(&again, "operations") <= within && again["target_recall"].is_null(), "{again}");
    let most = again["curve"].as_array().unwrap().iter().filter(|way| way[1].as_f64().unwrap() <= within);
    assert_eq!(most.map(|way| way[0].as_f64().unwrap()).fold(0.0, f64::max), number(&again, "validation_recall"));
    world.run("eval ann --corpus c.npy --queries q.npy --within-ms 0".split(' ')).ended(2);
    let words = world.run("eval ann --corpus c.npy --queries q.npy --trees 3 --tree kd --each 0.5 --graph-recall 0.9".split(' ')).ended(0);
    assert!(words.stdout.contains("kd, lookup: recall") && words.stdout.contains("of the true neighbours, found in"), "{}", words.stdout);
    for wrong in ["--each 0.5,2", "--graph-recall -1"] {
        let all = "eval ann --corpus c.npy --queries q.npy".split(' ').chain(wrong.split(' '));
        world.run(all).ended(2);
    }
}

#[test]
fn what_is_no_matrix_is_refused() {
    let world = World::new();
    let whole = npy(300, 1);
    world.file("c.npy", &whole);
    world.file("cut.npy", &whole[..whole.len() - 5]);
    world.file("huge.npy", String::from_utf8_lossy(&whole[10..128]).replace("(300, 12)", "(99999999999, 99)").as_bytes());
    let mut nan = whole.clone();
    nan[128..132].copy_from_slice(&f32::NAN.to_le_bytes());
    world.file("nan.npy", &nan);
    world.file("text.npy", b"1 2 3");
    for (file, said) in
        [("cut.npy", "ends before"), ("nan.npy", "row 0"), ("text.npy", "begins with"), ("huge.npy", ".npy"), ("gone.npy", "gone.npy")]
    {
        let code = if file == "gone.npy" { 74 } else { 65 };
        world.run(["eval", "ann", "--corpus", "c.npy", "--queries", file]).ended(code).complains(said);
    }
    let few = |more: &str| world.run("eval ann --corpus c.npy --queries c.npy --trees 2".split(' ').chain(more.split(' ')));
    few("--target-recall 2").ended(2).complains("target-recall");
    few("--train-queries c.npy --select voting").ended(2).complains("natural");
    few("--tree kmeans --select voting").ended(2).complains("regression");
    few("--train-queries c.npy --select regression").ended(2).complains("--train-queries");
    few("--tree kd --select codes").ended(2).complains("kmeans");
    few("--tree oak").ended(2);
    for rows in [0, 1, 5] {
        world.file("few.npy", &npy(rows, 1));
        world.run("eval ann --corpus few.npy --queries c.npy".split(' ')).ended(65).complains("--validation");
    }
}
