//! `tessera eval cmt-…`: the keys other programs read, and what they mean.

use serde_json::Value;

use crate::world::World;

fn has_keys(answer: &Value, keys: &str) {
    for key in keys.split(' ') {
        assert!(answer[key].is_number(), "{key} in {answer}");
    }
}

/// Classes with a word of their own, and common words.
pub(crate) fn svm(seed: u32) -> String {
    let line = |i: u32| format!("class{} {}:1 {}:1 {}:2\n", i % 12, 10 + i % 12, 40 + (i * 7 + seed) % 5, 60 + (i * 3 + seed) % 11);
    (0..48).map(line).collect()
}

pub(crate) fn arff(seed: u32) -> String {
    let labels: String = (0..6).map(|label| format!("@attribute label{label} {{0,1}}\n")).collect();
    let words: String = (0..20).map(|word| format!("@attribute word{word} {{0,1}}\n")).collect();
    let line = |i: u32| format!("{{{} 1,{} 1,{} 1}}\n", i % 6, 12 + (i * 7 + seed) % 8, 20 + i % 6);
    let lines: String = (0..60).map(line).collect();
    format!("@relation toy\n{words}{labels}@data\n{lines}")
}

#[test]
fn classes_from_few_examples() {
    let world = World::new();
    world.file("train.svm", svm(0).as_bytes());
    world.file("test.svm", svm(1).as_bytes());
    for more in [vec![], vec!["--online"], vec!["--trees", "2", "--leaves", "3", "--leaf-cap", "4", "--fresh-routers"]] {
        let arguments = ["eval", "cmt-classify", "--train", "train.svm", "--test", "test.svm", "--json"];
        let ran = world.run(arguments.into_iter().chain(more.iter().copied())).ended(0);
        assert_eq!(ran.stdout.lines().count(), 1, "exactly one object");
        let keys = "error progressive_error entropy_reduction train_ms test_ms self_consistency_error nn_error nn_test_ms depth_max leaf_max memories";
        has_keys(&ran.object(), keys);
        assert_eq!((ran.object()["memories"].as_u64(), ran.object()["classes"].as_u64()), (Some(48), Some(12)));
    }
    world.run(["eval", "cmt-classify", "--train", "gone.svm", "--test", "test.svm"]).ended(74).complains("gone.svm");
    world.file("other.svm", &[b'1', b' ', 0xff]);
    world.run(["eval", "cmt-classify", "--train", "other.svm", "--test", "test.svm"]).ended(65).complains("expected a text in UTF-8");
    world.run(["eval", "cmt-classify", "--train", "train.svm", "--test", "test.svm", "--alpha", "0"]).ended(2).complains("alpha");
}

#[test]
fn several_labels() {
    let world = World::new();
    world.file("train.arff", arff(0).as_bytes());
    world.file("test.arff", arff(1).as_bytes());
    let labels: String = (0..6).map(|label| format!("<label name=\"label{label}\"></label>\n")).collect();
    world.file("train.xml", labels.as_bytes());
    world.file("test.xml", labels.as_bytes());
    let ran = world.run(["eval", "cmt-multilabel", "--train", "train.arff", "--test", "test.arff", "--label-rate", "1", "--json"]).ended(0);
    let answer = ran.object();
    has_keys(
        &answer,
        "hamming trivial_hamming oaa_hamming test_ms oaa_test_ms train_ms oaa_train_ms f1 oaa_f1 labels_asked oaa_alike_test_ms",
    );
    assert_eq!((answer["trivial_hamming"].as_f64(), answer["labels"].as_u64()), (Some(1.0), Some(6)), "{answer}");
    assert!(answer["oaa_hamming"].as_f64().unwrap() < 0.5, "{answer}");
    world.file("test.txt", b"1 20 7\n3 1:1\n");
    let other = ["eval", "cmt-multilabel", "--train", "train.arff", "--test", "test.txt"];
    world.run(other).ended(65).complains("expected 6 labels").complains("one data set");
    world.file("test.txt", b"1 20 7\nx 1:1\n");
    world.run(other).ended(65).complains("`x` in line 2");
    world
        .run(["eval", "cmt-multilabel", "--train", "train.arff", "--test", "test.arff", "--label-rate", "0"])
        .ended(2)
        .complains("label_rate");
}

#[test]
fn photos_by_captions() {
    let world = World::with_images();
    let (mut captions, mut train, mut test) = (String::new(), String::new(), String::new());
    for (class, instance, view) in (0..2).flat_map(|c| (1..4).flat_map(move |i| (0..4).map(move |v| (c, i, v)))) {
        let kind = ["disc", "grid"][class];
        let name = format!("{kind}/{kind}_{instance:02}_{view}_0_0_lt.png");
        for number in 0..5 {
            captions += &format!("{name}#{number}\tA {kind} numbered {instance} seen from {view} in caption {number}\n");
        }
        *(if view == 3 { &mut test } else { &mut train }) += &format!("{name}\n");
    }
    world.file("captions.txt", captions.as_bytes());
    world.file("train.txt", train.as_bytes());
    world.file("test.txt", test.as_bytes());
    let arguments = "eval cmt-captions --images images --captions captions.txt --train-list train.txt --test-list test.txt --json";
    let answer = world.run(arguments.split(' ')).ended(0).object();
    let keys = "reward_unsupervised reward nn_reward kd_reward test_ms_unsupervised test_ms nn_test_ms kd_test_ms inverted_index_test_ms \
                recall_at_1 recall_at_10 nn_recall_at_10";
    has_keys(&answer, keys);
    assert_eq!((answer["memories"].as_u64(), answer["queries"].as_u64()), (Some(18), Some(6)));
    for key in ["reward_unsupervised", "reward", "nn_reward", "kd_reward"] {
        assert!(answer[key].as_f64().unwrap() > 0.8, "{key} in {answer}");
    }
    world.file("test.txt", format!("{test}none.png\n").as_bytes());
    let ran = world.run(arguments.split(' ').chain(["--trees", "2", "--leaves", "2", "--report", "report.jsonl"])).ended(1);
    assert_eq!(ran.complains("none.png: expected captions").object()["queries"].as_u64(), Some(6));
    world.file("test.txt", b"\n");
    world.run(arguments.split(' ')).ended(65).complains("names of photos that can be used");
}

#[test]
fn curves_are_drawn() {
    let world = World::new();
    world.file("train.svm", svm(0).as_bytes());
    world.file("test.svm", svm(1).as_bytes());
    let ran = world.run(["eval", "cmt-figures", "--train", "train.svm", "--test", "test.svm", "--to", "plots/few", "--json"]).ended(0);
    let answer = ran.object();
    for name in ["reroutes", "passes", "leaves_c", "shots", "budget"] {
        let csv = std::fs::read_to_string(world.at(&format!("plots/few/{name}.csv"))).unwrap();
        assert_eq!(csv.lines().count() - 1, answer["curves"][name].as_array().unwrap().len());
        let svg = std::fs::read_to_string(world.at(&format!("plots/few/{name}.svg"))).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("polyline") && !svg.contains("NaN"),
            "{name}"
        );
    }
    assert!(answer["curves"]["budget"][0]["features_read"].as_f64().unwrap() > 0.0, "{answer}");
    let answer = world.run(["eval", "cmt-growth", "--to", "plots", "--memories", "1500", "--json"]).ended(0).object();
    assert_eq!(answer["written"].as_array().unwrap().len(), 4);
    let rows = answer["curves"]["growth"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["memories"].as_f64().unwrap()).collect::<Vec<_>>(), [1000.0, 1500.0]);
    has_keys(&rows[1], "depth insert_ms insert_routers query_ms query_routers query_memories bytes_per_memory");
    world.file("taken", b"");
    world.run(["eval", "cmt-growth", "--to", "taken", "--memories", "10"]).ended(74).complains("taken");
}
