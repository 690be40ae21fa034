//! Cells and short codes: what they find, that points come and go, and that they are saved whole.

use tessera_core::ann::candidates::KnnGraph;
use tessera_core::ann::cells::{CellCandidates, CellCodes, CellIndex, CellOptions, CellWay};
use tessera_core::ann::{PointSet, cheapest, frontier};
use tessera_core::bytes::{Reader, restored, stored};
use tessera_core::ids::ItemId;
use tessera_core::nearest::{DenseScan, Dynamic, Metric, NeighborIndex, Neighbors, everything};
use tessera_core::progress::Progress;
use tessera_core::random;

const K: usize = 10;

const CODES: [CellCodes; 2] = [CellCodes::Axes(16), CellCodes::Regression(8)];

fn few_cells(codes: CellCodes) -> CellOptions {
    CellOptions { axes: 32, codes, cells: 1.0, first: 500, ..CellOptions::default() }
}

/// Points around some places on a surface of few dimensions in a space of many; in whole numbers
/// from 0 to 255 or not.
fn rows(n: usize, dimension: usize, is_whole: bool, seed: u64) -> Vec<Vec<f32>> {
    use rand::RngExt as _;
    let mut rng = random::seeded(1);
    let places: Vec<Vec<f32>> = (0..30).map(|_| (0..8).map(|_| rng.random_range(-3.0..3.0)).collect()).collect();
    let mixing: Vec<Vec<f32>> = (0..dimension).map(|_| (0..8).map(|_| random::normal(&mut rng) as f32).collect()).collect();
    let mut rng = random::seeded(seed);
    let mut row = || -> Vec<f32> {
        let place = &places[rng.random_range(0..places.len())];
        let inner: Vec<f32> = place.iter().map(|value| value + random::normal(&mut rng) as f32).collect();
        let value = |row: &Vec<f32>| row.iter().zip(&inner).map(|(a, b)| a * b).sum::<f32>();
        let values = mixing.iter().map(|row| value(row) + 0.1 * random::normal(&mut rng) as f32);
        values.map(|value| if is_whole { (128.0 + 6.0 * value).round().clamp(0.0, 255.0) } else { value }).collect()
    };
    (0..n).map(|_| row()).collect()
}

fn set(metric: Metric, rows: &[Vec<f32>]) -> PointSet {
    let mut points = PointSet::new(rows[0].len(), metric);
    rows.iter().for_each(|row| points.push(row).unwrap());
    points
}

fn index(metric: Metric, rows: &[Vec<f32>], options: CellOptions) -> CellIndex {
    let ids = (0..rows.len() as u32).map(ItemId).collect();
    CellIndex::new(set(metric, rows), ids, options, &Progress::default()).unwrap()
}

/// The share of the nearest that are found.
fn recall(index: &CellIndex, points: &[(ItemId, Vec<f32>)], metric: Metric, queries: &[Vec<f32>]) -> f64 {
    let mut scan = DenseScan::new(queries[0].len(), metric);
    points.iter().for_each(|(id, row)| scan.insert(*id, row).unwrap());
    let ids = |found: Neighbors| found.list.into_iter().map(|found| found.id).collect::<Vec<ItemId>>();
    let found = |query: &Vec<f32>| {
        let truth = ids(scan.nearest(query, K, &everything).unwrap());
        ids(index.nearest(query, K, &everything).unwrap()).into_iter().filter(|id| truth.contains(id)).count()
    };
    queries.iter().map(found).sum::<usize>() as f64 / (K * queries.len()) as f64
}

fn numbered(rows: &[Vec<f32>]) -> Vec<(ItemId, Vec<f32>)> {
    (0..).map(ItemId).zip(rows.iter().cloned()).collect()
}

#[test]
fn most_is_found_in_a_few_cells() {
    for codes in CODES {
        for metric in [Metric::Euclidean, Metric::Cosine, Metric::InnerProduct] {
            for is_whole in [false, true] {
                let (points, queries) = (rows(3000, 80, is_whole, 2), rows(50, 80, is_whole, 3));
                let mut index = index(metric, &points, CellOptions { probes: 12, ..few_cells(codes) });
                let some = recall(&index, &numbered(&points), metric, &queries);
                assert!(some > 0.9, "{codes:?}, {metric:?}: {some}");
                let cost = index.nearest(&queries[0], K, &everything).unwrap().cost;
                assert!(index.cells() > 40 && cost.points < 2500 && cost.values == 40 * 80, "{cost:?}");
                index.set_way(1, K);
                let less = recall(&index, &numbered(&points), metric, &queries);
                assert!(less < some, "{codes:?}, {metric:?}: {less}");
                index.set_way(usize::MAX, usize::MAX);
                assert!(recall(&index, &numbered(&points), metric, &queries) > 0.999, "{codes:?}, {metric:?}");
            }
        }
    }
}

/// A regression of low rank orders the points of a cell better than as many principal coordinates.
#[test]
fn a_regression_needs_fewer_values_than_coordinates() {
    let (points, queries) = (rows(3000, 80, false, 2), rows(100, 80, false, 3));
    let found = |codes| {
        let index = index(Metric::Euclidean, &points, CellOptions { probes: 10, shortlist: 20, ..few_cells(codes) });
        recall(&index, &numbered(&points), Metric::Euclidean, &queries)
    };
    let (regression, coordinates) = (found(CellCodes::Regression(6)), found(CellCodes::Axes(6)));
    assert!(regression > coordinates + 0.02, "{regression} and {coordinates}");
}

/// Neither the unit of the values nor one vector far from all others decides what is found.
#[test]
fn units_and_outliers_do_not_matter() {
    let (points, queries) = (rows(2000, 80, false, 2), rows(40, 80, false, 3));
    let scaled = |rows: &[Vec<f32>], factor: f32| -> Vec<Vec<f32>> {
        rows.iter().map(|row| row.iter().map(|value| value * factor).collect()).collect()
    };
    for codes in CODES {
        for metric in [Metric::Euclidean, Metric::Cosine, Metric::InnerProduct] {
            for factor in [1e-12, 1.0, 1e11] {
                for outlier in [0.0, 1e3, 1e15] {
                    let (mut points, queries) = (scaled(&points, factor), scaled(&queries, factor));
                    if outlier > 0.0 {
                        points[5][3] = (factor * outlier).min(1e15);
                    }
                    let index = index(metric, &points, CellOptions { probes: 12, ..few_cells(codes) });
                    let found = recall(&index, &numbered(&points), metric, &queries);
                    assert!(found > 0.85, "{codes:?}, {metric:?}, {factor:e}, {outlier:e}: {found}");
                }
            }
        }
    }
}

#[test]
fn points_come_and_go() {
    for codes in CODES {
        for is_whole in [false, true] {
            let (points, queries) = (rows(2600, 80, is_whole, 2), rows(40, 80, is_whole, 3));
            let all = numbered(&points);
            let options = CellOptions { probes: 12, ..few_cells(codes) };
            let mut index = index(Metric::Euclidean, &points[..600], options);
            let grown = index.cells();
            for (id, row) in &all[600..] {
                index.insert(*id, row).unwrap();
            }
            assert!(index.insert(ItemId(7), &points[0]).is_err() && index.cells() > grown);
            assert!(recall(&index, &all, Metric::Euclidean, &queries) > 0.9, "{codes:?}");
            for (id, _) in all.iter().step_by(2) {
                assert!(index.remove(*id) && !index.remove(*id));
            }
            let rest: Vec<_> = all.iter().skip(1).step_by(2).cloned().collect();
            assert_eq!(index.len(), rest.len());
            assert!(recall(&index, &rest, Metric::Euclidean, &queries) > 0.9, "{codes:?}");
            for (id, row) in all.iter().step_by(2) {
                index.insert(*id, row).unwrap();
            }
            index.set_way(usize::MAX, usize::MAX);
            assert!(recall(&index, &all, Metric::Euclidean, &queries) > 0.999, "{codes:?}");
            // A point that no byte holds.
            index.insert(ItemId(9999), &[0.5; 80]).unwrap();
            assert_eq!(index.nearest(&[0.5; 80], 1, &everything).unwrap().list[0].id, ItemId(9999));
        }
    }
}

#[test]
fn a_recall_that_was_tuned_holds_for_other_queries() {
    let [points, validation, queries] = [(4000, 2), (400, 3), (400, 4)].map(|(n, seed)| rows(n, 80, false, seed));
    let (corpus, checked) = (set(Metric::Euclidean, &points), set(Metric::Euclidean, &validation));
    let truth = KnnGraph::exact(&corpus, &checked, K, false, &Progress::default()).unwrap();
    for codes in CODES {
        let mut index = index(Metric::Euclidean, &points, few_cells(codes));
        let mut before = 0.0;
        for wanted in [0.8, 0.9, 0.97] {
            let (chosen, curve) = index.tune(&checked, &truth, wanted, &Progress::default()).unwrap();
            assert!(curve.windows(2).all(|pair| pair[0].recall < pair[1].recall && pair[0].operations <= pair[1].operations));
            assert!(chosen.operations >= before && chosen.recall >= wanted, "{chosen:?}");
            assert_eq!((index.options().probes, index.options().shortlist), (chosen.way.probes, chosen.way.shortlist));
            before = chosen.operations;
            let found = recall(&index, &numbered(&points), Metric::Euclidean, &queries);
            assert!(found >= wanted - 0.01, "{found} where {wanted} was wanted");
            let said = (0..K).map(|place| f64::from(index.probability(place))).sum::<f64>() / K as f64;
            assert!((said - found).abs() < 0.02, "{said} said, {found} found");
            assert!(index.probability(0) >= index.probability(K - 1));
        }
        assert!(
            index
                .tune(&checked, &KnnGraph::exact(&corpus, &corpus, 1, true, &Progress::default()).unwrap(), 0.9, &Progress::default())
                .is_err()
        );
    }
    let few = index(Metric::Euclidean, &points[..300], few_cells(CODES[0]));
    let some = set(Metric::Euclidean, &points[..300]);
    let truth = KnnGraph::exact(&some, &checked, K, false, &Progress::default()).unwrap();
    let ways = frontier(few.sweep(&checked, &truth, &Progress::default()).unwrap());
    assert_eq!((few.cells(), cheapest(&ways, 1.0).unwrap().recall), (0, 1.0));
}

/// All points that are admitted are found, whatever they are, where all are looked at.
#[test]
fn few_equal_and_far_points_are_found() {
    let empty = |dimension, metric| {
        let options = CellOptions { probes: usize::MAX, shortlist: usize::MAX, ..few_cells(CODES[1]) };
        CellIndex::new(PointSet::new(dimension, metric), Vec::new(), options, &Progress::default()).unwrap()
    };
    for metric in [Metric::Euclidean, Metric::Cosine, Metric::InnerProduct] {
        for dimension in [0, 1, 70] {
            let mut index = empty(dimension, metric);
            for i in 0..600 {
                index.insert(ItemId(i), &vec![if i < 300 { 0.5 } else { 0.0 }; dimension]).unwrap();
            }
            let found = index.nearest(&vec![0.5; dimension], 700, &|id| id.0 % 2 == 0).unwrap().list;
            assert_eq!(found.len(), 300, "{metric:?}, {dimension} values");
            (0..600).for_each(|i| assert!(index.remove(ItemId(i))));
            assert!(index.is_empty() && index.nearest(&vec![0.5; dimension], 3, &everything).unwrap().list.is_empty());
            index.insert(ItemId(1), &vec![1.0; dimension]).unwrap();
            assert_eq!(index.nearest(&vec![0.5; dimension], 3, &everything).unwrap().list.len(), 1);
        }
    }
    // Far beyond the others, be it from the first on or inserted, which rounding must not hide.
    let points = rows(1500, 128, false, 2);
    let far = [[50.0; 128], [4e7; 128], [1e15; 128]];
    for before in [true, false] {
        let mut index = empty(128, Metric::Euclidean);
        let all = || far.iter().zip(9000..).map(|(far, id)| (ItemId(id), far));
        if before {
            all().for_each(|(id, far)| index.insert(id, far).unwrap());
        }
        numbered(&points).iter().for_each(|(id, row)| index.insert(*id, row).unwrap());
        if !before {
            all().for_each(|(id, far)| index.insert(id, far).unwrap());
        }
        for (id, far) in all() {
            assert_eq!(index.nearest(far, 1, &everything).unwrap().list[0].id, id);
        }
        let mut saved: CellIndex = restored("index", &stored(&index)).unwrap();
        assert!(saved.remove(ItemId(9002)) && saved.insert(ItemId(9002), &far[2]).is_ok());
        assert_eq!(saved.nearest(&far[2], 1, &everything).unwrap().list[0].id, ItemId(9002));
    }
}

fn answers(index: &CellIndex, queries: &[Vec<f32>]) -> Vec<Neighbors> {
    queries.iter().map(|query| index.nearest(query, K, &everything).unwrap()).collect()
}

#[test]
fn answers_do_not_depend_on_threads() {
    let (points, queries) = (rows(1500, 70, false, 2), rows(20, 70, false, 3));
    for codes in CODES {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let index = index(Metric::Euclidean, &points, few_cells(codes));
                (stored(&index), answers(&index, &queries))
            })
        };
        assert_eq!(on(1), on(4));
    }
}

#[test]
fn a_saved_index_answers_as_before_and_goes_on() {
    for (codes, is_whole) in [(CODES[0], false), (CODES[1], true), (CODES[1], false)] {
        let (points, queries) = (rows(1300, 70, is_whole, 2), rows(20, 70, is_whole, 3));
        let mut first = index(Metric::Euclidean, &points[..900], few_cells(codes));
        (900..1000).for_each(|i| first.insert(ItemId(i), &points[i as usize]).unwrap());
        (0..300).step_by(3).for_each(|i| assert!(first.remove(ItemId(i))));
        let bytes = stored(&first);
        let mut second: CellIndex = restored("index", &bytes).unwrap();
        assert_eq!(stored(&second), bytes);
        for i in 1000..1300 {
            assert_eq!(answers(&first, &queries), answers(&second, &queries));
            for index in [&mut first, &mut second] {
                index.insert(ItemId(i), &points[i as usize]).unwrap();
                assert!(index.remove(ItemId(i - 500)));
            }
        }
        assert_eq!(stored(&first), stored(&second));
    }
}

#[test]
fn bytes_that_are_no_index_are_refused() {
    let points = rows(600, 4, false, 2);
    let bytes = stored(&index(Metric::Cosine, &points, few_cells(CODES[1])));
    for end in (0..bytes.len()).step_by(97) {
        assert!(restored::<CellIndex>("index", &bytes[..end]).is_err());
    }
    let mut rng = random::seeded(3);
    use rand::RngExt as _;
    for _ in 0..3000 {
        let mut changed = bytes.clone();
        let at = rng.random_range(0..changed.len());
        changed[at] ^= 1 << rng.random_range(0..8);
        // What is read can be asked.
        if let Ok(index) = Reader::new("index", &changed).get::<CellIndex>() {
            index.nearest(&points[1], K, &everything).unwrap();
        }
    }
}

#[test]
fn cells_without_points_name_the_candidates_that_were_promised() {
    let (all, n) = (rows(2300, 48, false, 3), 2000);
    let ids = |rows: std::ops::Range<usize>| rows.map(|i| ItemId(i as u32)).collect::<Vec<_>>();
    let mut cells = CellCandidates::new(&set(Metric::Cosine, &all[..n]), ids(0..n), few_cells(CODES[1]), &Progress::default()).unwrap();
    // Points come and go.
    (n..2300).for_each(|i| cells.insert(ItemId(i as u32), &all[i]).unwrap());
    assert!((0..300).all(|i| cells.remove(ItemId(i))) && !cells.remove(ItemId(5)));
    assert!(cells.insert(ItemId(2299), &all[0]).is_err() && cells.insert(ItemId(5), &[1.0]).is_err());
    let mut scan = DenseScan::new(48, Metric::Cosine);
    (300..2300).for_each(|i| scan.insert(ItemId(i as u32), &all[i]).unwrap());
    let near = |i: usize| -> Vec<ItemId> {
        let found = scan.nearest(&all[i], K, &|id| id != ItemId(i as u32)).unwrap();
        found.list.into_iter().map(|found| found.id).collect()
    };
    let truth: Vec<Vec<ItemId>> = (300..700).map(near).collect();
    let queries = set(Metric::Cosine, &all[300..700]);
    let curve = cells.curve(&queries, &ids(300..700), &truth, &Progress::default()).unwrap();
    assert!(curve.is_sorted_by(|a, b| a.measured.recall < b.measured.recall), "each costs more and finds more");
    assert!(curve.iter().all(|way| way.probabilities.is_sorted_by(|a, b| a >= b)));
    let restored: CellCandidates = restored("cells", &stored(&cells)).unwrap();
    for way in &curve {
        let found = |i: usize| {
            let named = |cells: &CellCandidates| cells.candidates(&all[i], way.measured.way, K + 1, |id| id != ItemId(i as u32)).unwrap();
            assert_eq!(named(&cells), named(&restored));
            near(i).into_iter().filter(|id| named(&cells).contains(id)).count()
        };
        let fresh = (700..900).map(found).sum::<usize>() as f64 / (200 * K) as f64;
        assert!((fresh - way.measured.recall).abs() < 0.04, "{fresh} for {:?}", way.measured);
        let promised = way.probabilities.iter().sum::<f32>() / K as f32;
        assert!((f64::from(promised) - way.measured.recall).abs() < 1e-6);
    }
    let some = cells.candidates(&all[400], CellWay { probes: 1, shortlist: 1 }, 5, |id| id.0 % 500 == 0).unwrap();
    assert_eq!(some.len(), 4, "only 500, 1000, 1500 and 2000 are admitted: {some:?}");
    assert!((cells.share(500, |id| id.0 % 4 == 0) - 0.25).abs() < 0.05);
}
