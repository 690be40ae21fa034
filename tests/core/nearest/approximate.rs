//! Approximate indexes: that they look at a part of the points and find most, and what they refuse.

use tessera_core::ann::{BinaryIvf, Ivf, IvfOptions};
use tessera_core::descriptor::Descriptor;
use tessera_core::hamming::HammingScan;
use tessera_core::ids::ItemId;
use tessera_core::nearest::{DenseScan, Dynamic, Metric, NeighborIndex, everything};
use tessera_core::random;

const N: u32 = 4000;
const QUERIES: usize = 50;
const K: usize = 10;

/// The share of the true nearest that is found, and the share of points that are looked at.
fn recall_and_work<P: ?Sized + Sync>(
    index: &dyn NeighborIndex<Point = P>,
    scan: &dyn NeighborIndex<Point = P>,
    queries: &[impl std::borrow::Borrow<P>],
) -> (f64, f64) {
    let (mut found, mut points) = (0, 0);
    for query in queries {
        let truth = scan.nearest(query.borrow(), K, &everything).unwrap().list;
        let answer = index.nearest(query.borrow(), K, &everything).unwrap();
        // Indexes may round distances in other ways.
        found += truth.iter().filter(|neighbour| answer.list.iter().any(|other| other.id == neighbour.id)).count();
        points += answer.cost.points;
    }
    let queries = queries.len() as f64;
    (found as f64 / (queries * K as f64), points as f64 / (queries * f64::from(N)))
}

/// Points around some places.
fn vectors() -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    use rand::RngExt as _;
    let mut rng = random::seeded(5);
    let places: Vec<Vec<f32>> = (0..60).map(|_| (0..20).map(|_| rng.random_range(-3.0..3.0)).collect()).collect();
    let mut near = || -> Vec<f32> {
        let place = rng.random_range(0..places.len());
        places[place].iter().map(|value| value + random::normal(&mut rng) as f32).collect()
    };
    let points = (0..N).map(|_| near()).collect();
    (points, (0..QUERIES).map(|_| near()).collect())
}

#[test]
fn an_inverted_file_finds_most_in_a_few_lists() {
    let (points, queries) = vectors();
    let mut index = Ivf::new(20, IvfOptions { probes: 8, ..IvfOptions::default() }).unwrap();
    let mut scan = DenseScan::new(20, Metric::Euclidean);
    for (id, point) in (0..).map(ItemId).zip(&points) {
        index.insert(id, point).unwrap();
        scan.insert(id, point).unwrap();
    }
    assert!(index.lists() > 100);
    let some = recall_and_work::<[f32]>(&index, &scan, &queries);
    assert!(some.0 > 0.95 && some.1 < 0.15, "{some:?}");
    index.set_probes(1);
    let one = recall_and_work::<[f32]>(&index, &scan, &queries);
    assert!(one.0 < some.0 && one.1 < some.1, "{one:?}");
    (N / 8..N).for_each(|id| assert!(index.remove(ItemId(id))));
    assert!(index.lists() < 150, "centres were found anew");
    assert_eq!(index.nearest(&points[3], 1, &everything).unwrap().list[0].id, ItemId(3));
}

#[test]
fn an_inverted_file_over_bits_finds_most_in_a_few_lists() {
    use rand::RngExt as _;
    let mut rng = random::seeded(6);
    let places: Vec<[u64; 4]> = (0..100).map(|_| rng.random()).collect();
    let mut near = || {
        let mut words = places[rng.random_range(0..places.len())];
        (0..30).for_each(|_| words[rng.random_range(0..4)] ^= 1 << rng.random_range(0..64));
        Descriptor(words)
    };
    let points: Vec<Descriptor> = (0..N).map(|_| near()).collect();
    let queries: Vec<Descriptor> = (0..QUERIES).map(|_| near()).collect();
    let mut index = BinaryIvf::new(IvfOptions { probes: 2, ..IvfOptions::default() }).unwrap();
    let scan: HammingScan = (0..).map(ItemId).zip(points.iter().copied()).collect();
    (0..).map(ItemId).zip(&points).for_each(|(id, point)| index.insert(id, point).unwrap());
    assert!(index.lists() > 100);
    let few = recall_and_work::<Descriptor>(&index, &scan, &queries);
    assert!(few.0 > 0.7 && few.1 < 0.15, "{few:?}");
    index.set_probes(8);
    let more = recall_and_work::<Descriptor>(&index, &scan, &queries);
    assert!(more.0 > few.0 && more.0 > 0.9, "{more:?}");
    (N / 8..N).for_each(|id| assert!(index.remove(ItemId(id))));
    assert!(index.lists() < 150, "centres were found anew");
    assert_eq!(index.nearest(&points[3], 1, &everything).unwrap().list[0].id, ItemId(3));
}

#[test]
fn threads_do_not_change_an_inverted_file_over_bits() {
    use rand::RngExt as _;
    let mut rng = random::seeded(7);
    let points: Vec<Descriptor> = (0..N).map(|_| Descriptor(rng.random())).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut index = BinaryIvf::new(IvfOptions::default()).unwrap();
            (0..).map(ItemId).zip(&points).for_each(|(id, point)| index.insert(id, point).unwrap());
            points.iter().step_by(100).map(|query| index.nearest(query, K, &everything).unwrap().list).collect::<Vec<_>>()
        })
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn options_out_of_range_are_refused() {
    let ivf = IvfOptions::default();
    for options in [
        IvfOptions { lists: 0.0, ..ivf },
        IvfOptions { lists: f64::NAN, ..ivf },
        IvfOptions { probes: 0, ..ivf },
        IvfOptions { sample: 0, ..ivf },
        IvfOptions { first: 0, ..ivf },
    ] {
        assert_eq!(Ivf::new(3, options).unwrap_err().reason(), "option");
        assert_eq!(BinaryIvf::new(options).unwrap_err().reason(), "option");
    }
}
