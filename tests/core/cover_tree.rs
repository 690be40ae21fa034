//! Cover trees: what holds of their shape, after any changes. What they find is tested with all
//! other indexes.

use proptest::prelude::*;
use tessera_core::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use tessera_core::ids::ItemId;
use tessera_core::nearest::{DenseScan, Dynamic, Metric, NeighborIndex, Within, everything};
use tessera_core::random;

fn ids(n: usize) -> Vec<ItemId> {
    (0..n as u32).map(ItemId).collect()
}

/// A few clusters of very different sizes, with points that are equal.
fn clustered(n: usize, d: usize, seed: u64) -> Vec<f32> {
    let mut rng = random::seeded(seed);
    let mut rows: Vec<f32> = Vec::new();
    for i in 0..n {
        let size = [1.0, 0.01, 100.0, 0.0][i % 4];
        rows.extend((0..d).map(|at| (size * random::normal(&mut rng) + (i % 4 * at) as f64 * 3.0) as f32));
    }
    rows
}

fn tree(values: Vec<f32>, d: usize, options: CoverTreeOptions) -> DenseTree {
    let n = values.len() / d;
    DenseTree::new(DensePoints::new(d, values).unwrap(), &ids(n), Metric::Euclidean, options).unwrap()
}

fn options() -> impl Strategy<Value = CoverTreeOptions> {
    (prop::sample::select(vec![1.1, 1.3, 2.0]), any::<bool>())
        .prop_map(|(base, nearest_ancestors)| CoverTreeOptions { base, nearest_ancestors })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn is_sound_after_any_changes(
        n in 0usize..120,
        seed in any::<u64>(),
        options in options(),
        changes in prop::collection::vec((any::<bool>(), 0u32..200, 0usize..300), 0..150),
    ) {
        let d = 3;
        let more = clustered(300, d, seed ^ 1);
        let mut tree = tree(clustered(n, d, seed), d, options);
        let mut scan = DenseScan::new(d, Metric::Euclidean);
        clustered(n, d, seed).chunks(d).zip(ids(n)).for_each(|(row, id)| scan.insert(id, row).unwrap());
        prop_assert_eq!(tree.check(), Vec::<String>::new());
        for (is_insertion, id, row) in changes {
            let (id, row) = (ItemId(id), &more[row * d..(row + 1) * d]);
            if is_insertion {
                prop_assert_eq!(tree.insert(id, row).is_ok(), scan.insert(id, row).is_ok());
            } else {
                prop_assert_eq!(tree.remove(id), scan.remove(id));
            }
        }
        prop_assert_eq!(tree.check(), Vec::<String>::new());
        for query in more.chunks(d).take(20) {
            let (found, expected) = (tree.nearest(query, 7, &everything).unwrap(), scan.nearest(query, 7, &everything).unwrap());
            prop_assert_eq!(found.list, expected.list);
            let (found, expected) = (tree.within(query, 5.0, &everything).unwrap(), scan.within(query, 5.0, &everything).unwrap());
            prop_assert_eq!(found.list, expected.list);
        }
    }

    #[test]
    fn surrogates_are_near_and_nested(seed in any::<u64>(), count in 1usize..80) {
        let (n, d) = (200, 2);
        let tree = tree(clustered(n, d, seed), d, CoverTreeOptions::default());
        let (few, more) = (tree.surrogates(count), tree.surrogates(count + 10));
        prop_assert!(few.nodes.iter().all(|node| more.nodes.contains(node)));
        prop_assert!(few.nodes.len() >= count.min(tree.statistics().nodes));
        for (node, place) in few.of.iter().enumerate() {
            let surrogate = few.nodes[*place as usize];
            // A surrogate stands for itself, and what is below it is within what its level covers.
            prop_assert!(!few.nodes.contains(&(node as u32)) || surrogate == node as u32);
            let apart: f32 = tree.point(node as u32).iter().zip(tree.point(surrogate)).map(|(a, b)| (a - b).powi(2)).sum();
            let reach = 1.3f64.powi(tree.level(surrogate) + 1) / 0.3;
            prop_assert!(f64::from(apart).sqrt() <= reach * 1.0001, "{apart} beyond {reach}");
        }
    }
}

#[test]
fn nearest_ancestors_compare_fewer_points() {
    let (n, d) = (3000, 3);
    let values = clustered(n, d, 4);
    let compared = |nearest_ancestors| {
        let options = CoverTreeOptions { nearest_ancestors, ..CoverTreeOptions::default() };
        let mut grown = tree(Vec::from(&values[..d]), d, options);
        values.chunks(d).zip(ids(n)).skip(1).for_each(|(row, id)| grown.insert(id, row).unwrap());
        let query = |row: &[f32]| grown.nearest(row, 5, &everything).unwrap().cost.points;
        clustered(200, d, 9).chunks(d).map(query).sum::<u64>()
    };
    let (usual, nearest) = (compared(false), compared(true));
    assert!(nearest < usual, "{nearest} of nearest ancestors, {usual}");
}

#[test]
fn is_equal_on_any_number_of_threads() {
    let (n, d) = (6000, 5);
    let values = clustered(n, d, 3);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let tree = tree(values.clone(), d, CoverTreeOptions::default());
            let order: Vec<Vec<ItemId>> = (0..tree.statistics().nodes as u32).map(|node| tree.ids(node).collect()).collect();
            (order, tree.statistics(), tree.nearest(&values[..d], 20, &everything).unwrap())
        })
    };
    assert_eq!(on(1), on(4));
}

#[test]
fn says_what_it_cannot_take() {
    let wrong = |distance, base, n: usize, values: Vec<f32>| {
        let options = CoverTreeOptions { base, ..CoverTreeOptions::default() };
        DenseTree::new(DensePoints::new(2, values).unwrap(), &ids(n), distance, options).err().map(|error| error.to_string())
    };
    let values = vec![0.0; 8];
    assert!(wrong(Metric::Cosine, 1.3, 4, values.clone()).unwrap().contains("triangle"));
    assert!(wrong(Metric::Euclidean, 1.0, 4, values.clone()).unwrap().contains("above 1"));
    assert!(wrong(Metric::Euclidean, 1.3, 3, values.clone()).unwrap().contains("4 points"));
    assert!(wrong(Metric::Euclidean, 1.3, 1, vec![f32::NAN, 0.0]).is_some());
    assert_eq!(wrong(Metric::Euclidean, 1.3, 4, values), None);
}

#[test]
fn statistics_tell_of_a_broad_tree_for_many_points() {
    let statistics = tree(clustered(4000, 3, 5), 3, CoverTreeOptions::default()).statistics();
    assert_eq!(statistics.nodes, statistics.levels.1.iter().sum::<usize>());
    assert_eq!(statistics.depth, statistics.levels.1.len());
    assert!(statistics.depth < 100 && statistics.degree > 3 && statistics.mean_degree >= 1.0, "{statistics:?}");
}
