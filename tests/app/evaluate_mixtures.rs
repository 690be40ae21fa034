//! `tessera eval canopy` and `tessera eval cover-tree`: mixtures and trees tried on files of
//! vectors.

use serde_json::Value;

use crate::documents::keys::agrees;
use crate::evaluate_neighbours::npy;
use crate::world::World;

fn number(answer: &Value, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or_else(|| panic!("{key} in {answer}"))
}

/// Whole numbers as NumPy saves them, of 8 bytes each and one axis.
fn classes(rows: u32, class: impl Fn(u32) -> i64) -> Vec<u8> {
    let mut header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({rows},), }}");
    header += &" ".repeat(117 - header.len());
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    (0..rows).for_each(|row| bytes.extend(class(row).to_le_bytes()));
    bytes
}

#[test]
fn mixtures_find_the_places_that_points_lie_around() {
    let world = World::new();
    world.file("x.npy", &npy(3000, 3));
    world.file("y.npy", &classes(3000, |i| i64::from((i * 7 + 3) % 10)));
    let start = "eval canopy --data x.npy --labels y.npy --clusters 40 --iterations 8 --json";
    for more in [
        "--method em",
        "--method esca --init random1",
        "--method canopy1 --steps 2",
        "--method canopy1 --draw rejection",
        "--method canopy2 --init cover-tree",
        "--method canopy2 --draw tree-lists --candidates 16",
        "--method canopy2 --draw rejection --surrogate-points 4",
        "--covariance isotropic --held-out 0",
        "--covariance directions --init random2",
    ] {
        let ran = world.run(start.split(' ').chain(more.split(' '))).ended(0);
        let answer = ran.object();
        assert!(number(&answer, "purity") > 0.9 && number(&answer, "nmi") > 0.6, "{more}: {answer}");
        assert_eq!(number(&answer, "n"), if more.contains("--held-out") { 3000.0 } else { 2700.0 });
        assert_eq!((number(&answer, "d"), number(&answer, "clusters"), number(&answer, "iterations")), (12.0, 40.0, 8.0));
        let method = more.split(' ').nth(1).filter(|_| more.starts_with("--method")).unwrap_or("canopy2");
        assert_eq!(answer["method"], method, "{more}");
        agrees("eval canopy", &ran);
        let again = world.run(start.split(' ').chain(more.split(' ')).chain(["--threads", "1"])).ended(0).object();
        for key in ["purity", "nmi", "llh_mix", "llh_max", "acceptance", "densities"] {
            assert_eq!(answer[key], again[key], "{more}: {key} on one thread");
        }
    }
}

#[test]
fn a_cover_tree_answers_from_few_of_the_points() {
    let world = World::new();
    world.file("x.npy", &npy(3000, 3));
    world.file("q.npy", &npy(100, 8));
    for more in ["-k 1", "-k 5 --base 2"] {
        let ran = world.run("eval cover-tree --data x.npy --queries q.npy --json".split(' ').chain(more.split(' '))).ended(0);
        let answer = ran.object();
        assert!(number(&answer, "compared") < 1500.0 && number(&answer, "depth") > 1.0, "{answer}");
        agrees("eval cover-tree", &ran);
    }
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let world = World::new();
    world.file("x.npy", &npy(30, 3));
    world.file("one.npy", &classes(30, |_| 1));
    world.file("few.npy", &classes(7, |_| 1));
    world.file("minus.npy", &classes(30, |_| -1));
    world.file("words.txt", b"not a matrix");
    let run = |more: &str| world.run("eval canopy --data x.npy --iterations 2".split(' ').chain(more.split(' ')));
    run("--clusters 31").ended(65).complains("30 rows, of which 27 are fitted");
    run("--held-out 1").ended(2).complains("2 or more");
    run("--clusters 0").ended(2);
    run("--floor -1").ended(2).complains("--floor");
    run("--labels few.npy").ended(65).complains("few.npy: expected a label for each of the 30 rows of x.npy, found 7 labels");
    run("--labels minus.npy").ended(65).complains("whole number");
    run("--labels x.npy").ended(65).complains("rows of 12 values");
    run("--init words.txt").ended(65).complains("words.txt");
    run("--init nowhere.npy").ended(2).complains("random1, random2, kmeans++, cover-tree");
    run("--clusters 3 --init x.npy").ended(65).complains("3 rows of 12 values");
    world.run("eval canopy --data one.npy".split(' ')).ended(65).complains("rows of several values");
    world.run("eval cover-tree --data x.npy --queries x.npy --base 1".split(' ')).ended(65).complains("above 1");
    world.run("eval cover-tree --data x.npy --queries one.npy".split(' ')).ended(65);
}
