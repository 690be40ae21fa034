//! `tessera eval online` and `eval desk`: the keys other programs read, and what they mean.

use crate::world::World;

fn svm() -> String {
    (0..60u32).map(|i| format!("class{} {}:1 {}:0.3 {}:0.2\n", i % 4, i % 4, 10 + i % 7, 30 + i * 3 % 11)).collect()
}

#[test]
fn every_learner_plays_every_stream() {
    let world = World::new();
    world.file("toy.svm", svm().as_bytes());
    let learners =
        ["ellipsoid", "polytope", "served", "perceptron", "averaged", "crammer-singer", "pa", "second-order", "halving", "majority"];
    for learner in learners {
        for stream in ["sphere", "collinear", "perceptron-killer", "adversary", "convex-lower-bound", "toy.svm"] {
            let arguments = ["eval", "online", "--learner", learner, "--stream", stream, "--d", "4", "--rounds", "40", "--json"];
            let ran = world.run(arguments).ended(0);
            assert_eq!(ran.stdout.lines().count(), 1, "exactly one object");
            let answer = ran.object();
            for key in ["loss", "expected_loss", "mistakes", "ms_per_round"] {
                assert!(answer[key].is_number(), "{key} in {answer}");
            }
            let proven = ["ellipsoid", "polytope"].contains(&learner) && !["convex-lower-bound", "toy.svm"].contains(&stream);
            assert_eq!(answer["bound"].is_number(), proven, "{learner} on {stream}");
            let curve = answer["curve"].as_array().unwrap();
            assert_eq!(curve.last().unwrap()[0].as_f64(), answer["rounds"].as_f64());
            assert_eq!(curve.last().unwrap()[1], answer["loss"]);
        }
    }
}

/// The written stream is the one that was played: a Perceptron built here makes the same loss on
/// it.
#[test]
fn a_stream_is_written_for_other_programs() {
    let world = World::new();
    for (stream, d) in [("perceptron-killer", 4), ("sphere", 3), ("adversary", 3)] {
        let given = ["--d", &d.to_string(), "--rounds", "300", "--to", "asked.csv", "--json"];
        let answer = world.run(["eval", "online", "--learner", "perceptron", "--stream", stream].iter().chain(&given)).ended(0).object();
        let text = std::fs::read_to_string(world.at("asked.csv")).unwrap();
        let mut lines = text.lines();
        assert!(lines.next().unwrap().starts_with("class,cost_0,cost_1,x_0,x_1,x_2"), "{text}");
        let (mut w, mut loss, mut mistakes, mut rounds) = (vec![0.0; d], 0.0, 0, 0);
        for line in lines {
            let row: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            let (truth, costs, x) = (row[0] as usize, &row[1..3], &row[3..]);
            assert_eq!((x.len(), costs[truth]), (d, 0.0));
            let score: f64 = w.iter().zip(x).map(|(w, x): (&f64, &f64)| w * x).sum();
            let guess = usize::from(score < 0.0);
            loss += costs[guess];
            rounds += 1;
            if guess != truth {
                mistakes += 1;
                let sign = if truth == 0 { 1.0 } else { -1.0 };
                w.iter_mut().zip(x).for_each(|(w, x)| *w += sign * x);
            }
        }
        assert_eq!((rounds, mistakes), (300, answer["mistakes"].as_u64().unwrap()), "{stream}");
        assert!((loss - answer["loss"].as_f64().unwrap()).abs() < 1e-6, "{stream}: {loss} and {answer}");
    }
}

#[test]
fn metrics_powers_margins_and_checks() {
    let world = World::new();
    let run = |more: &[&str]| {
        let start = ["eval", "online", "--learner", "ellipsoid", "--stream", "sphere", "--d", "2", "--k", "3", "--rounds", "60", "--json"];
        world.run(start.iter().chain(more).copied())
    };
    for more in [vec!["--metric", "l2"], vec!["--metric", "lp:4", "--loss-power", "2"], vec!["--margin", "0.05"], vec!["--update", "paper"]]
    {
        let more: Vec<&str> = more.into_iter().chain(["--verify"]).collect();
        let answer = run(&more).ended(0).object();
        assert!(answer["checks"].as_u64().unwrap() > 60 && answer["bound"].is_number(), "{answer}");
    }
    assert!(run(&["--metric", "lp:3"]).ended(0).object()["bound"].is_null());
    run(&["--metric", "lp:1"]).ended(2).complains("from 2 to 16");
    run(&["--loss-power", "0"]).ended(2).complains("loss_power");
    run(&["--margin", "7"]).ended(2).complains("margin");
    assert_eq!(run(&["--seed", "3"]).ended(0).object()["loss"], run(&["--seed", "3"]).ended(0).object()["loss"]);
    let gone = ["eval", "online", "--learner", "pa", "--stream", "gone.svm"];
    world.run(gone).ended(74).complains("gone.svm");
    world.run(["eval", "online", "--learner", "pa", "--stream", "adversary", "--k", "3"]).ended(2).complains("--k 2");
}

#[test]
fn desks() {
    let world = World::new();
    world.file("toy.svm", svm().as_bytes());
    let answer = world.run(["eval", "desk", "--stream", "toy.svm", "--orders", "3", "--json"]).ended(0).object();
    for key in ["examples", "classes", "orders", "corrections", "deviation", "ratio_to_best", "regret", "regret_bound"] {
        assert!(answer[key].is_number(), "{key} in {answer}");
    }
    for adviser in ["contextual", "nearest", "neighbours", "local-means", "pa", "perceptron", "second-order"] {
        assert!(answer["advisers"][adviser]["corrections"].as_f64().unwrap() >= 4.0 && answer["trust"][adviser].is_number(), "{answer}");
    }
    assert!(answer["regret"].as_f64().unwrap() <= answer["regret_bound"].as_f64().unwrap());
}

/// Several realistic orders in one run; objects from a file; the files for other programs.
#[test]
fn desks_in_orders() {
    let world = World::new();
    world.file("toy.svm", svm().as_bytes());
    let groups: String = (0..60).map(|i| format!("object {}\n", i / 5)).collect();
    world.file("groups.txt", groups.as_bytes());
    let run = |more: &[&str]| {
        let start = ["eval", "desk", "--stream", "toy.svm", "--orders", "2", "--json"];
        world.run(start.iter().chain(more).copied())
    };
    let ran = run(&["--order", "random,folder,instance,runs", "--groups", "groups.txt", "--to", "streams"]).ended(0);
    let answers: Vec<serde_json::Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let orders: Vec<&str> = answers.iter().map(|answer| answer["order"].as_str().unwrap()).collect();
    assert_eq!(orders, ["random", "folder", "instance", "runs"]);
    assert_eq!(answers[1]["last_class"], 4.0);
    let read = |name: &str| std::fs::read_to_string(world.at("streams").join(name)).unwrap();
    assert_eq!((read("things.csv").lines().count(), read("orders.csv").lines().count()), (60, 8));
    assert!(read("orders.csv").lines().all(|line| line.split(',').count() == 60));
    run(&["--order", "instance"]).ended(2).complains("--groups");
    run(&["--captions", "groups.txt"]).ended(2).complains("folder of images");
}

#[test]
fn figures_of_long_streams() {
    let world = World::new();
    let answer =
        world.run(["eval", "online-figures", "--to", "plots", "--rounds", "200", "--d", "3", "--runs", "2", "--json"]).ended(0).object();
    assert_eq!(answer["written"].as_array().unwrap().len(), 10);
    for plot in ["online_killer", "online_sphere", "online_adversary", "online_margin", "online_known_margin"] {
        let drawn = std::fs::read_to_string(world.at("plots").join(format!("{plot}.svg"))).unwrap();
        assert!(drawn.contains("contextual search") || drawn.contains("mistakes"), "{plot}");
        assert!(answer["curves"][plot].as_array().unwrap().len() > 4, "{plot}");
    }
}
