//! Layouts in the plane beside the slow and obvious versions of what they are made of.

use proptest::prelude::*;
use tessera_core::Error;
use tessera_core::layout::fft::{Fourier, Grid};
use tessera_core::layout::repulsion::{GridRepulsion, exact};
use tessera_core::layout::{Components, NEIGHBORS, PlanePoint, Tsne, TsneOptions, place_among, trustworthiness};
use tessera_core::progress::Progress;
use tessera_core::random::{normal, seeded};

/// Clusters of points around corners that are far from each other, and the cluster of each.
fn clusters(n: usize, count: usize, dimension: usize, seed: u64) -> (Vec<f32>, Vec<usize>) {
    let mut rng = seeded(seed);
    let middles: Vec<f64> = (0..count * dimension).map(|_| 10.0 * normal(&mut rng)).collect();
    let of: Vec<usize> = (0..n).map(|i| i % count).collect();
    let rows = of.iter().flat_map(|c| middles[c * dimension..][..dimension].to_vec()).map(|middle| (middle + normal(&mut rng)) as f32);
    (rows.collect(), of)
}

fn laid(rows: &[f32], dimension: usize, options: TsneOptions) -> Tsne {
    let progress = Progress::default();
    let mut layout = Tsne::new(&Components::new(rows, dimension, options.seed), options, &progress).unwrap();
    layout.improve(options.rounds, &progress).unwrap();
    layout
}

/// The definition, with all distances sorted.
fn obvious_trustworthiness(rows: &[f32], dimension: usize, places: &[PlanePoint], k: usize) -> f64 {
    let n = places.len();
    let order = |i: usize, distance: &dyn Fn(usize, usize) -> f64| {
        let mut others: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        others.sort_by(|a, b| distance(i, *a).total_cmp(&distance(i, *b)).then(a.cmp(b)));
        others
    };
    let row = |i: usize| &rows[i * dimension..][..dimension];
    let far = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let near = |i: usize, j: usize| (0..2).map(|axis| f64::from(places[i][axis] - places[j][axis]).powi(2)).sum::<f64>();
    let mut beyond = 0;
    for i in 0..n {
        let ranks = order(i, &far);
        for j in order(i, &near).into_iter().take(k) {
            beyond += (1 + ranks.iter().position(|other| *other == j).unwrap()).saturating_sub(k);
        }
    }
    1.0 - 2.0 * beyond as f64 / (n * k * (2 * n - 3 * k - 1)) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn trustworthiness_is_that_of_the_definition(n in 3usize..60, k in 1usize..12, seed in any::<u64>()) {
        let mut rng = seeded(seed);
        let rows: Vec<f32> = (0..n * 3).map(|_| normal(&mut rng) as f32).collect();
        let places: Vec<PlanePoint> = (0..n).map(|_| [normal(&mut rng) as f32, normal(&mut rng) as f32]).collect();
        let k = k.min((n - 1) / 2);
        let measured = trustworthiness(&rows, 3, &places, k, (n, 0), &Progress::default()).unwrap();
        prop_assert!((measured - obvious_trustworthiness(&rows, 3, &places, k)).abs() < 1e-9);
    }

    /// Over spans up to 280, which the largest grid covers at its usual spacing; layouts of 100,000
    /// points span about 250.
    #[test]
    fn a_grid_drives_apart_as_all_pairs_do(n in 1usize..400, spread in -6.0f64..1.6, seed in any::<u64>()) {
        let mut rng = seeded(seed);
        let spread = 10f64.powf(spread);
        let places: Vec<PlanePoint> = (0..n).map(|_| [0, 1].map(|_| (spread * normal(&mut rng)) as f32)).collect();
        let (all, on_grid) = (exact(&places), GridRepulsion::default().of(&places));
        // With forces for each point from all others, the error is told beside the largest.
        let largest = all.forces.iter().flatten().fold(0.0f32, |most, value| most.max(value.abs()));
        for (all, on_grid) in all.forces.iter().zip(&on_grid.forces) {
            for axis in 0..2 {
                prop_assert!((all[axis] - on_grid[axis]).abs() <= 0.04 * largest.max(0.05), "{:?} is not {:?} of {}", on_grid, all, largest);
            }
        }
        prop_assert!((all.total - on_grid.total).abs() <= 0.01 * (all.total + n as f64), "{} is not {}", on_grid.total, all.total);
    }

    #[test]
    fn any_points_are_laid_out(n in 0usize..70, dimension in 1usize..5, values in 1u32..4, seed in any::<u64>()) {
        let mut rng = seeded(seed);
        // Few values: many points are equal.
        let rows: Vec<f32> = (0..n * dimension).map(|_| (normal(&mut rng) * f64::from(values)).round() as f32).collect();
        let layout = laid(&rows, dimension, TsneOptions { rounds: 40, seed, ..TsneOptions::default() });
        prop_assert_eq!(layout.places().len(), n);
        prop_assert!(layout.is_done());
        prop_assert!(layout.places().iter().flatten().all(|value| value.is_finite()));
    }
}

#[test]
fn a_transform_is_that_of_the_definition_and_goes_back() {
    let (side, mut rng) = (16, seeded(1));
    let mut grid = Grid::zeros(side);
    grid.re.iter_mut().chain(&mut grid.im).for_each(|value| *value = normal(&mut rng) as f32);
    let before = grid.clone();
    let mut fourier = Fourier::new(side);
    fourier.forward(&mut grid);
    for (u, v) in [(0, 0), (1, 0), (0, 1), (3, 5), (15, 8)] {
        let (mut re, mut im) = (0.0, 0.0);
        for row in 0..side {
            for column in 0..side {
                let (sin, cos) = (-std::f64::consts::TAU * (u * row + v * column) as f64 / side as f64).sin_cos();
                let (a, b) = (f64::from(before.re[row * side + column]), f64::from(before.im[row * side + column]));
                re += a * cos - b * sin;
                im += a * sin + b * cos;
            }
        }
        assert!((f64::from(grid.re[u * side + v]) - re).abs() < 1e-3, "{u} {v}");
        assert!((f64::from(grid.im[u * side + v]) - im).abs() < 1e-3, "{u} {v}");
    }
    fourier.backward(&mut grid);
    for (now, before) in grid.re.iter().chain(&grid.im).zip(before.re.iter().chain(&before.im)) {
        assert!((now / 256.0 - before).abs() < 1e-5);
    }
}

#[test]
fn clusters_stay_apart() {
    for n in [120, 2000] {
        let (rows, of) = clusters(n, 6, 12, 3);
        let layout = laid(&rows, 12, TsneOptions { rounds: 300, ..TsneOptions::default() });
        let mut own = 0;
        for (i, place) in layout.places().iter().enumerate() {
            let far = |j: &usize| (0..2).map(|axis| f64::from(place[axis] - layout.places()[*j][axis]).powi(2)).sum::<f64>();
            let nearest = (0..n).filter(|j| *j != i).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap();
            own += usize::from(of[i] == of[nearest]);
        }
        assert!(own * 100 >= n * 99, "{own} of {n} lie next to one of their own");
        let trust = trustworthiness(&rows, 12, layout.places(), NEIGHBORS, (n, 0), &Progress::default()).unwrap();
        assert!(trust > 0.9, "{n}: {trust}");
    }
}

#[test]
fn points_of_a_plane_are_trusted_wholly_by_their_components() {
    let mut rng = seeded(5);
    let rows: Vec<f32> = (0..300)
        .flat_map(|_| {
            let (a, b) = (normal(&mut rng) as f32, normal(&mut rng) as f32);
            [a + b, a - b, 0.5 * a, 2.0]
        })
        .collect();
    let components = Components::new(&rows, 4, 0);
    let trust = |places: &[PlanePoint]| trustworthiness(&rows, 4, places, NEIGHBORS, (300, 0), &Progress::default()).unwrap();
    assert!(trust(&components.places()) > 0.9999);
    let by_chance: Vec<PlanePoint> = (0..300).map(|_| [normal(&mut rng) as f32, normal(&mut rng) as f32]).collect();
    assert!((0.4..0.6).contains(&trust(&by_chance)), "{}", trust(&by_chance));
}

#[test]
fn threads_and_cuts_do_not_change_a_layout() {
    let (rows, _) = clusters(2500, 9, 20, 8);
    let options = TsneOptions { rounds: 30, seed: 4, ..TsneOptions::default() };
    let on = |threads: usize, cut: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let progress = Progress::default();
            let mut layout = Tsne::new(&Components::new(&rows, 20, 4), options, &progress).unwrap();
            while !layout.is_done() {
                layout.improve(cut, &progress).unwrap();
            }
            let trust = trustworthiness(&rows, 20, layout.places(), NEIGHBORS, (200, 1), &progress).unwrap();
            (layout.places().to_vec(), trust)
        })
    };
    let one = on(1, 30);
    assert_eq!(on(2, 7), one);
    assert_eq!(on(4, 1), one);
    assert_ne!(laid(&rows, 20, TsneOptions { seed: 5, ..options }).places(), one.0);
}

#[test]
fn a_stopped_layout_goes_on_where_it_was() {
    let (rows, _) = clusters(200, 4, 6, 2);
    let options = TsneOptions { rounds: 20, ..TsneOptions::default() };
    let components = Components::new(&rows, 6, 0);
    let mut layout = Tsne::new(&components, options, &Progress::default()).unwrap();
    layout.improve(5, &Progress::default()).unwrap();
    let stopped = Progress::default();
    stopped.cancel();
    assert!(matches!(layout.improve(5, &stopped), Err(Error::Cancelled)));
    assert_eq!(layout.rounds(), 5);
    layout.improve(100, &Progress::default()).unwrap();
    assert_eq!(layout.rounds(), 20);
    assert_eq!(layout.places(), laid(&rows, 6, options).places());
    assert!(matches!(Tsne::new(&components, options, &stopped), Err(Error::Cancelled)));
}

proptest! {
    #[test]
    fn new_points_are_put_among_their_neighbours(seed in any::<u64>(), n in 40usize..200) {
        let (rows, of) = clusters(n, 4, 8, seed);
        let components = Components::new(&rows, 8, 0);
        let known: Vec<Option<PlanePoint>> = (0..n).map(|i| (i % 5 > 0).then(|| [of[i] as f32, (i % 7) as f32])).collect();
        let places = place_among(&components, &known);
        for i in 0..n {
            let far = |j: usize| components.row(i).iter().zip(components.row(j)).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
            let far: Vec<f64> = (0..n).map(far).collect();
            let mut near: Vec<usize> = (0..n).filter(|j| known[*j].is_some()).collect();
            near.sort_by(|a, b| far[*a].total_cmp(&far[*b]).then(a.cmp(b)));
            let middle = |axis: usize| {
                let mut values: Vec<f32> = near[..5].iter().map(|j| known[*j].unwrap()[axis]).collect();
                values.sort_by(f32::total_cmp);
                values[2]
            };
            prop_assert_eq!(places[i], known[i].unwrap_or([middle(0), middle(1)]));
        }
        prop_assert_eq!(place_among(&components, &vec![None; n]), vec![[0.0; 2]; n]);
    }
}

#[test]
fn new_points_come_to_lie_in_their_cluster() {
    let (rows, of) = clusters(300, 3, 8, 5);
    let components = Components::new(&rows, 8, 0);
    let corner = |i: usize| [of[i] as f32 * 100.0, 0.0];
    let known: Vec<Option<PlanePoint>> = (0..300).map(|i| (i % 5 > 0).then(|| corner(i))).collect();
    let places = place_among(&components, &known);
    assert!((0..300).all(|i| places[i] == corner(i)));
}

#[test]
fn options_out_of_range_are_refused() {
    let components = Components::new(&[], 3, 0);
    for options in [
        TsneOptions { perplexity: 0.5, ..TsneOptions::default() },
        TsneOptions { perplexity: f64::NAN, ..TsneOptions::default() },
        TsneOptions { rounds: 0, ..TsneOptions::default() },
    ] {
        assert!(matches!(Tsne::new(&components, options, &Progress::default()), Err(Error::Option { .. })));
    }
}
