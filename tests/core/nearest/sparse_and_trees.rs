//! Scans of sparse vectors and kd-trees beside plain distances.

use rand::RngExt;
use tessera_core::ids::ItemId;
use tessera_core::nearest::{Dynamic, KdTree, Metric, NeighborIndex, Neighbors, SparseScan, everything};
use tessera_core::sparse::SparseVec;

/// Vectors of a few small numbers: many distances are equal.
fn sparse_vectors(n: usize, dimensions: u32, seed: u64) -> Vec<SparseVec> {
    let mut rng = tessera_core::random::seeded(seed);
    let mut one = || SparseVec::from_pairs((0..6).map(|_| (rng.random_range(0..dimensions), rng.random_range(0..4u32) as f32))).unwrap();
    (0..n).map(|_| one()).collect()
}

fn components(x: &SparseVec, dimensions: u32) -> Vec<f32> {
    (0..dimensions).map(|i| x.get(i)).collect()
}

#[test]
fn scans_find_the_nearest() {
    let (all, queries) = (sparse_vectors(300, 40, 1), sparse_vectors(60, 50, 2));
    let filled = |metric| {
        let mut scan = SparseScan::new(metric);
        all.iter().zip(0..).for_each(|(x, i)| scan.insert(ItemId(i), x).unwrap());
        scan
    };
    let (euclidean, cosines) = (filled(Metric::Euclidean), filled(Metric::Cosine));
    for x in &queries {
        let found = euclidean.nearest(x, 5, &everything).unwrap();
        assert_eq!(found.cost.values, all.iter().map(|z| z.len() as u64).sum::<u64>());
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| x.distance_squared(&all[a]).total_cmp(&x.distance_squared(&all[b])).then(a.cmp(&b)));
        let places: Vec<usize> = found.list.iter().map(|neighbor| neighbor.id.0 as usize).collect();
        assert_eq!(places, order[..5]);
        let cosine = |z: &SparseVec| if x.dot(z) == 0.0 { 0.0 } else { x.dot(z) / (x.square() * z.square()).sqrt() };
        let best = all.iter().map(cosine).fold(f64::NEG_INFINITY, f64::max);
        let found = cosines.nearest(x, 1, &everything).unwrap().list;
        assert!((cosine(&all[found[0].id.0 as usize]) - best).abs() < 1e-6);
    }
    assert!(SparseScan::new(Metric::Euclidean).nearest(&queries[0], 3, &everything).unwrap().list.is_empty());
    assert!(euclidean.nearest(&queries[0], 0, &everything).unwrap().list.is_empty());
}

#[test]
fn kd_trees_are_exact() {
    for (dimensions, n) in [(2, 2000), (12, 700), (1, 50), (3, 1)] {
        let (all, queries) = (sparse_vectors(n, dimensions, 3), sparse_vectors(100, dimensions, 4));
        let rows: Vec<f32> = all.iter().flat_map(|x| components(x, dimensions)).collect();
        let tree = KdTree::new(dimensions as usize, (0..).map(ItemId).zip(rows.chunks_exact(dimensions as usize))).unwrap();
        let mut work = 0;
        for x in &queries {
            let Neighbors { list, cost } = tree.nearest(&components(x, dimensions), 1, &everything).unwrap();
            let least = all.iter().map(|z| x.distance_squared(z)).fold(f64::INFINITY, f64::min);
            assert_eq!(x.distance_squared(&all[list[0].id.0 as usize]), least, "{dimensions} dimensions");
            work += cost.points as usize;
        }
        assert!(dimensions > 3 || n < 1000 || work < queries.len() * n / 4, "{work} points looked at");
    }
    assert!(KdTree::new(3, []).unwrap().nearest(&[0.0; 3], 1, &everything).unwrap().list.is_empty());
    assert!(KdTree::new(0, []).unwrap().nearest(&[], 1, &everything).unwrap().list.is_empty());
}
