//! The compositional kernel machine against brute force, rebuilding and its own parts.

mod class_terms;
mod compare;
mod confidence;
mod fit;
mod harm;
mod index;
mod own;
mod refusals;
mod shortlist;
mod spf;
mod spf_fast_path;
mod told_apart;
mod tune;
mod unknown;
mod weights;
mod whole;

use image::RgbImage;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::spf::{Architecture, Evidence, Node};
use tessera_core::ckm::{Ckm, CkmOptions, Class, ElementSource, Example, Without};
use tessera_core::descriptor::{Descriptor, Keypoint};
use tessera_core::features::detect;
use tessera_core::hash::hash64;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::picture::colour::colour_layout;
use tessera_core::picture::grey;
use tessera_core::picture::hog::dense_hog;
use tessera_core::picture::resize::{fit, resize_rgb};
use tessera_core::progress::Progress;
use tessera_core::random;

use crate::scenes::scene;

/// A machine of `n` images in three classes, three images an object.
pub(crate) fn machine(options: CkmOptions, n: u32) -> Ckm {
    let mut ckm = Ckm::new(options).unwrap();
    for i in 0..n {
        add(&mut ckm, i);
    }
    ckm
}

/// A progress that is cancelled after so many steps.
pub(crate) fn cancelled_after(steps: u64) -> Progress {
    let shared = std::sync::Arc::new(std::sync::Mutex::new((0, None::<Progress>)));
    let seen = std::sync::Arc::clone(&shared);
    let progress = Progress::watched(move |now| {
        let mut seen = seen.lock().unwrap();
        seen.0 += u64::from(now.done > 0);
        if let (true, Some(progress)) = (seen.0 >= steps, &seen.1) {
            progress.cancel();
        }
    });
    shared.lock().unwrap().1 = Some(progress.clone());
    progress
}

/// A recogniser that was never judged.
pub(crate) fn unjudged(ckm: Ckm) -> RecogniserModel {
    RecogniserModel { ckm: ckm.into(), calibration: Calibration::default(), metrics: Metrics::default(), root: String::new() }
}

fn add(ckm: &mut Ckm, i: u32) {
    let class = ["round", "square", "tall"][(i / 3 % 3) as usize];
    let elements = ckm.elements(&scene(u64::from(i), 96, 80).into()).unwrap();
    ckm.add(
        class,
        Example {
            id: ItemId(i),
            name: format!("{class}/{i}.png"),
            group: Some(format!("{class}/{:02}", i / 3)),
            elements: elements.into(),
        },
    )
    .unwrap();
}

fn presets() -> [CkmOptions; 4] {
    [Preset::Orb, Preset::Hog, Preset::Colour, Preset::Mixed].map(Preset::options)
}

/// Kernel values of two query elements with each element of each image; few different values, so
/// that ties are common.
fn kernels() -> impl Strategy<Value = Vec<Vec<(f32, f32)>>> {
    let value = || (-4i32..8).prop_map(|v| v as f32 / 4.0);
    prop::collection::vec(prop::collection::vec((value(), value()), 1..5), 1..6)
}

/// Equation (2) as it stands: the maximum over all pairs of training elements.
fn pair_by_brute_force(images: &[Vec<(f32, f32)>], bonus: f32) -> f32 {
    let mut best = f32::NEG_INFINITY;
    for (i, first) in images.iter().enumerate() {
        for (j, second) in images.iter().enumerate() {
            for (a, _) in first {
                for (_, b) in second {
                    best = best.max(a + b + if i == j { bonus } else { 0.0 });
                }
            }
        }
    }
    best
}

fn evidence_of(images: &[Vec<(f32, f32)>], first: u32) -> Evidence {
    let mut evidence = Evidence::new(2, 1);
    for (elements, i) in images.iter().zip(first..) {
        let best = |side: fn(&(f32, f32)) -> f32| elements.iter().map(side).fold(f32::NEG_INFINITY, f32::max);
        evidence.add(i, &[best(|e| e.0), best(|e| e.1)], &[(0, 1)]);
    }
    evidence
}

proptest! {
    #[test]
    fn a_pair_node_is_the_maximum_over_all_pairs(images in kernels(), bonus in prop::sample::select(vec![-1.0f32, -0.25, 0.0, 0.25, 1.0])) {
        let evidence = evidence_of(&images, 0);
        let (value, sources) = evidence.pair(0, &[(0, 1)], bonus, -10.0);
        prop_assert_eq!(value, pair_by_brute_force(&images, bonus));
        let from = |image: u32, side: fn(&(f32, f32)) -> f32| images[image as usize].iter().map(side).fold(f32::NEG_INFINITY, f32::max);
        let paid = if sources[0] == sources[1] { bonus } else { 0.0 };
        prop_assert_eq!(from(sources[0], |e| e.0) + from(sources[1], |e| e.1) + paid, value, "the images named do not give the value");
    }

    #[test]
    fn evidence_merges_as_if_it_came_at_once(images in kernels(), cut in 0usize..6, bonus in prop::sample::select(vec![-0.5f32, 0.5])) {
        let cut = cut.min(images.len());
        let mut parts = evidence_of(&images[..cut], 0);
        parts.merge(&evidence_of(&images[cut..], cut as u32));
        let whole = evidence_of(&images, 0);
        prop_assert_eq!(&parts.same, &whole.same);
        for j in 0..2 {
            prop_assert_eq!(parts.single(j, -10.0), whole.single(j, -10.0));
        }
        prop_assert_eq!(parts.pair(0, &[(0, 1)], bonus, -10.0), whole.pair(0, &[(0, 1)], bonus, -10.0));
    }

    #[test]
    fn every_decomposition_has_each_element_once(points in prop::collection::vec((0.0f32..9.0, 0.0f32..9.0), 0..40), k in 0usize..6, count in 1usize..5, seed: u64) {
        let positions: Vec<[f32; 2]> = points.into_iter().map(|(x, y)| [x, y]).collect();
        let architecture = Architecture::draw(&positions, k, count, seed);
        prop_assert_eq!(architecture.decompositions.len(), count);
        prop_assert!(architecture.edges.iter().all(|(a, b)| a < b && (*b as usize) < positions.len()));
        prop_assert!(architecture.edges.len() <= k * positions.len());
        for nodes in &architecture.decompositions {
            let mut scope: Vec<u32> = nodes.iter().flat_map(|node| match *node {
                Node::Single(j) => vec![j],
                Node::Pair(edge) => { let (a, b) = architecture.edges[edge as usize]; vec![a, b] }
            }).collect();
            scope.sort_unstable();
            prop_assert_eq!(scope, (0..positions.len() as u32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn neighbours_are_the_nearest() {
    // No two distances are equal.
    let positions: Vec<[f32; 2]> =
        (0..30u32).map(|i| [(i * i * 7 % 1013) as f32 * 0.9137, (i * i * i * 5 % 1019) as f32 * 1.0713]).collect();
    let architecture = Architecture::draw(&positions, 3, 1, 0);
    let distance = |a: usize, b: usize| (positions[a][0] - positions[b][0]).hypot(positions[a][1] - positions[b][1]);
    let is_near = |a: usize, b: usize| (0..30).filter(|&c| c != a && distance(a, c) < distance(a, b)).count() < 3;
    for a in 0..30 {
        for b in a + 1..30 {
            let edge = architecture.edges.contains(&(a as u32, b as u32));
            assert_eq!(edge, is_near(a, b) || is_near(b, a), "{a} and {b}");
        }
    }
}

/// An element as the features and the picture functions give it: position from the middle, and
/// values.
struct Loose {
    x: f32,
    y: f32,
    descriptor: Descriptor,
    values: Vec<f32>,
}

/// The elements of one kind, without the machine.
fn loose(picture: &image::RgbImage, side: u32, source: &ElementSource) -> Vec<Loose> {
    let (width, height) = fit(picture.width(), picture.height(), side);
    let work = resize_rgb(picture, width, height);
    let (mx, my) = ((width as f32 - 1.0) / 2.0, (height as f32 - 1.0) / 2.0);
    let dense = |x: f32, y: f32, values: &[f32], unit: f32| {
        let values = values.iter().map(|v| (v * unit).round() / unit).collect();
        Loose { x: x - mx, y: y - my, descriptor: Descriptor::default(), values }
    };
    match source {
        ElementSource::Orb(options) => {
            let found = detect(&grey(&work), options);
            let place = |(k, d): (&Keypoint, &Descriptor)| Loose { x: k.x - mx, y: k.y - my, descriptor: *d, values: Vec::new() };
            found.keypoints.iter().zip(&found.descriptors).map(place).collect()
        }
        ElementSource::Hog(options) => dense_hog(&work, options).iter().map(|b| dense(b.x, b.y, &b.values, 127.0)).collect(),
        ElementSource::Colour(options) => colour_layout(&work, options).iter().map(|b| dense(b.x, b.y, &b.values, 100.0)).collect(),
        source => panic!("{} is not cut from pictures", source.name()),
    }
}

/// Section 3.1's leaf kernel, written out in f64.
fn kernel_value(kernel: &LeafKernel, a: &Loose, b: &Loose) -> f64 {
    let distance = match a.values.is_empty() {
        true => f64::from(a.descriptor.hamming(&b.descriptor)),
        false => a.values.iter().zip(&b.values).map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>().sqrt(),
    };
    let apart = f64::from(a.x - b.x).hypot(f64::from(a.y - b.y));
    let likeness = (1.0 - distance / f64::from(kernel.rho)).max(0.0);
    likeness + (-f64::from(kernel.cost / kernel.reach) * apart).max(-f64::from(kernel.cost))
}

#[test]
fn without_pairs_it_is_the_sum_of_nearest_elements() {
    for options in presets() {
        let options = CkmOptions { neighbours: 0, decompositions: 1, ..options };
        let ckm = machine(options.clone(), 12);
        let picture = scene(77, 90, 90);
        let scores = ckm.scores(&ckm.elements(&picture.clone().into()).unwrap(), Without::Nothing);
        for (class, score) in ckm.classes().iter().zip(scores.of) {
            let mut expected = 0.0;
            for kind in &options.kinds {
                let mut all = Vec::new();
                for example in &class.examples {
                    all.extend(loose(&scene(u64::from(example.id.0), 96, 80), options.side, &kind.source));
                }
                for element in loose(&picture, options.side, &kind.source) {
                    let best = all.iter().map(|z| kernel_value(&kind.kernel, &element, z)).fold(f64::NEG_INFINITY, f64::max);
                    expected += f64::from(kind.kernel.weight) * best;
                }
            }
            let score = score.unwrap();
            assert!((score - expected).abs() < 1e-3, "{}: {score}, not {expected}", class.name);
        }
    }
}

/// The machine's only kind's value for a query, from its definition: all pairs of training
/// elements, all decompositions.
fn by_definition(ckm: &Ckm, class: &Class, query: &Elements, picture: &RgbImage, training: &dyn Fn(u32) -> RgbImage) -> f64 {
    let (options, kind) = (ckm.options(), &ckm.options().kinds[0]);
    let positions: Vec<[f32; 2]> = (0..query.sets[0].len()).map(|i| query.sets[0].position(i)).collect();
    let bytes: Vec<u8> = positions.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let architecture = Architecture::draw(&positions, options.neighbours, options.decompositions, hash64(&bytes) ^ options.seed);
    let pieces = loose(picture, options.side, &kind.source);
    // The best of each image, for each piece of the query.
    let images: Vec<Vec<f64>> = class
        .examples
        .iter()
        .map(|example| {
            let all = loose(&training(example.id.0), options.side, &kind.source);
            let best = |piece| all.iter().map(|z| kernel_value(&kind.kernel, piece, z)).fold(f64::NEG_INFINITY, f64::max);
            pieces.iter().map(best).collect()
        })
        .collect();
    let single = |j: u32| images.iter().map(|bests| bests[j as usize]).fold(f64::NEG_INFINITY, f64::max);
    let pair = |edge: u32| {
        let (a, b) = architecture.edges[edge as usize];
        let mut best = f64::NEG_INFINITY;
        for (i, first) in images.iter().enumerate() {
            for (j, second) in images.iter().enumerate() {
                let bonus = if i == j { f64::from(kind.kernel.pair_bonus) } else { 0.0 };
                best = best.max(first[a as usize] + second[b as usize] + bonus);
            }
        }
        best
    };
    let singles: Vec<f64> = (0..pieces.len() as u32).map(single).collect();
    let pairs: Vec<f64> = (0..architecture.edges.len() as u32).map(pair).collect();
    let value = |nodes: &Vec<Node>| -> f64 {
        nodes
            .iter()
            .map(|node| match *node {
                Node::Single(j) => singles[j as usize],
                Node::Pair(edge) => pairs[edge as usize],
            })
            .sum()
    };
    f64::from(kind.kernel.weight) * architecture.decompositions.iter().map(value).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn a_large_class_is_scored_and_explained_as_a_small_one() {
    let training = |i: u32| scene(u64::from(i), 24, 20);
    for bonus in [0.1, -0.1] {
        let mut options = CkmOptions { side: 32, ..Preset::Colour.options() };
        options.kinds[0].kernel.pair_bonus = bonus;
        let mut ckm = Ckm::new(options).unwrap();
        for i in 0..140 {
            let class = if i % 9 == 0 { "small" } else { "large" };
            let elements = ckm.elements(&training(i).into()).unwrap();
            ckm.add(class, Example { id: ItemId(i), name: format!("{i}.png"), group: None, elements: elements.into() }).unwrap();
        }
        assert!(ckm.classes()[0].examples.len() > 120);
        for seed in 300..304 {
            let picture = scene(seed, 26, 26);
            let query = ckm.elements(&picture.clone().into()).unwrap();
            let scores = ckm.scores(&query, Without::Nothing);
            for (class, score) in ckm.classes().iter().zip(&scores.of) {
                let (score, expected) = (score.unwrap(), by_definition(&ckm, class, &query, &picture, &training));
                assert!((score - expected).abs() < 1e-3, "{}: {score}, not {expected}", class.name);
            }
            let on = |threads: usize| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| ckm.explain(&query, Without::Nothing, &[ClassId(0), ClassId(1)]))
            };
            let explanations = on(1);
            assert_eq!(explanations, on(2));
            for explanation in explanations {
                let sum: f64 = explanation.contributions.iter().map(|c| c.value).sum();
                let score = scores.of[explanation.class.index()].unwrap();
                assert!((sum - score).abs() < 1e-4 && (explanation.score - score).abs() < 1e-9, "{sum} is not {score}");
            }
        }
    }
}

/// The first `n` elements of a query of one kind, all moved by the same step.
fn moved(query: &Elements, n: usize, by: [f32; 2], options: &CkmOptions) -> Elements {
    let (bytes, len) = (query.to_bytes(), query.len());
    let (size, features) = (&bytes[..8], &bytes[12 + 8 * len..]);
    let mut all = size.to_vec();
    all.extend((n as u32).to_le_bytes());
    for i in 0..n {
        let [x, y] = query.sets[0].position(i);
        all.extend([x + by[0], y + by[1]].into_iter().flat_map(f32::to_le_bytes));
    }
    all.extend(&features[..n * (features.len() / len)]);
    Elements::from_bytes(&all, options).unwrap()
}

#[test]
fn translating_a_query_changes_the_score_only_through_the_position_term() {
    for mut options in presets().into_iter().take(3) {
        // Decompositions are drawn anew for other positions: all singles, or one pair, leave
        // nothing to draw.
        for (n, neighbours) in [(usize::MAX, 0), (2, 1)] {
            options.neighbours = neighbours;
            let mut unpriced = options.clone();
            unpriced.kinds[0].kernel.cost = 0.0;
            let (ckm, free) = (machine(options.clone(), 12), machine(unpriced, 12));
            let kernel = options.kinds[0].kernel;
            let query = ckm.elements(&scene(80, 100, 90).into()).unwrap();
            let n = n.min(query.len());
            let here = free.scores(&moved(&query, n, [0.0; 2], &options), Without::Nothing).of;
            for by in [[3.0, -2.0], [-17.5, 40.0], [1e5, 1e5]] {
                let query = moved(&query, n, by, &options);
                assert_eq!(free.scores(&query, Without::Nothing).of, here, "without the position term nothing changes");
                for explanation in ckm.explain(&query, Without::Nothing, &[ClassId(0), ClassId(1), ClassId(2)]) {
                    let class = &ckm.classes()[explanation.class.index()];
                    for c in &explanation.contributions {
                        let m = c.matched.as_ref().unwrap();
                        let example = class.examples.iter().find(|e| e.id == m.image).unwrap();
                        let ([x, y], [zx, zy]) = (query.sets[0].position(c.element), example.elements.get().sets[0].position(m.element));
                        let nearness = -((x - zx).hypot(y - zy) * kernel.cost / kernel.reach).min(kernel.cost);
                        assert!((c.nearness - nearness).abs() < 1e-4, "{} is not {nearness}", c.nearness);
                        let likeness = (1.0 - m.distance / kernel.rho).max(0.0);
                        assert!((c.likeness - likeness).abs() < 1e-4, "{} is not {likeness}", c.likeness);
                    }
                    if by[0] > 1e4 {
                        let whole_cost = f64::from(kernel.weight * kernel.cost) * n as f64;
                        let expected = here[explanation.class.index()].unwrap() - whole_cost;
                        assert!((explanation.score - expected).abs() < 1e-3, "{} is not {expected}", explanation.score);
                    }
                }
            }
        }
    }
}

#[test]
fn more_decompositions_never_score_less() {
    for options in presets() {
        let mut last: Option<Vec<f64>> = None;
        for decompositions in [1, 2, 4, 8] {
            let ckm = machine(CkmOptions { decompositions, ..options.clone() }, 9);
            let query = ckm.elements(&scene(50, 96, 96).into()).unwrap();
            let scores: Vec<f64> = ckm.scores(&query, Without::Nothing).of.into_iter().map(Option::unwrap).collect();
            if let Some(last) = last {
                assert!(scores.iter().zip(&last).all(|(now, before)| now >= before), "{last:?} became {scores:?}");
            }
            last = Some(scores);
        }
    }
}

#[test]
fn leaving_out_equals_rebuilding_without() {
    for options in presets() {
        let whole = machine(options.clone(), 18);
        for i in [0, 4, 17] {
            let (_, example) = whole.examples().find(|(_, e)| e.id == ItemId(i)).unwrap();
            let group = example.group.clone().unwrap();
            let mut without_image = Ckm::new(options.clone()).unwrap();
            let mut without_group = Ckm::new(options.clone()).unwrap();
            for (class, other) in whole.examples() {
                let name = &whole.classes()[class.index()].name;
                if other.id != ItemId(i) {
                    without_image.add(name, other.clone()).unwrap();
                }
                if other.group.as_ref() != Some(&group) {
                    without_group.add(name, other.clone()).unwrap();
                }
            }
            let of = |ckm: &Ckm, without| ckm.scores(&example.elements.get(), without).ranking();
            assert_eq!(of(&whole, Without::Image(ItemId(i))), of(&without_image, Without::Nothing));
            assert_eq!(of(&whole, Without::Group(&group)), of(&without_group, Without::Nothing));
            assert_eq!(of(&whole, example.without_itself()), of(&without_group, Without::Nothing));
        }
    }
}

/// The scores by a part are those of a machine that was trained on that part alone.
#[test]
fn parts_score_as_machines_of_their_own() {
    for options in presets() {
        let ckm = machine(options.clone(), 12);
        let query = ckm.elements(&scene(40, 96, 80).into()).unwrap();
        let holds = |part: usize, id: ItemId| match part {
            0 => true,
            1 => id.0.is_multiple_of(2),
            2 => id.0 < 4,
            _ => false,
        };
        for (part, scores) in ckm.scores_by_parts(&query, 4, holds).iter().enumerate() {
            let mut own = ckm.clone();
            (0..12).filter(|id| !holds(part, ItemId(*id))).for_each(|id| assert!(own.remove(ItemId(id))));
            let alone = own.scores(&query, Without::Nothing);
            let names: Vec<_> = own.classes().iter().map(|class| class.name.clone()).collect();
            for (class, score) in ckm.classes().iter().zip(&scores.of) {
                let at = names.iter().position(|name| *name == class.name);
                assert_eq!(*score, at.and_then(|at| alone.of[at]), "{} of part {part}", class.name);
            }
            assert_eq!(scores.mass, alone.mass);
        }
    }
}

#[test]
fn adding_and_removing_equals_training_anew() {
    let options = Preset::Mixed.options();
    let expected = machine(options.clone(), 9);
    let mut ckm = machine(options.clone(), 12);
    for i in [9, 11, 10] {
        assert!(ckm.remove(ItemId(i)));
    }
    assert!(!ckm.remove(ItemId(10)), "it is gone already");
    assert_eq!(ckm, expected);

    let mut backwards = Ckm::new(options).unwrap();
    for i in (0..9).rev() {
        add(&mut backwards, i);
    }
    add(&mut backwards, 4);
    assert_eq!(backwards, expected, "the order of adding does not matter, nor does adding twice");

    for i in 0..3 {
        ckm.remove(ItemId(i));
    }
    assert_eq!(ckm.class_id("round"), None, "a class goes with its last image");
    assert_eq!(ckm.class_id("tall"), Some(ClassId(1)));
}

#[test]
fn contributions_sum_to_the_score() {
    for options in presets() {
        for bonus in [-0.1, 0.0, 0.2] {
            let mut options = options.clone();
            options.kinds.iter_mut().for_each(|kind| kind.kernel.pair_bonus = bonus);
            let ckm = machine(options, 12);
            for seed in 60..64 {
                let query = ckm.elements(&scene(seed, 100, 70).into()).unwrap();
                let scores = ckm.scores(&query, Without::Nothing);
                let classes: Vec<ClassId> = scores.ranking().iter().map(|(class, _)| *class).collect();
                for explanation in ckm.explain(&query, Without::Nothing, &classes) {
                    let score = scores.of[explanation.class.index()].unwrap();
                    let sum: f64 = explanation.contributions.iter().map(|c| c.value).sum();
                    assert!((sum - score).abs() < 1e-4, "{sum} is not {score}");
                    assert!((explanation.score - score).abs() < 1e-9);
                    for c in &explanation.contributions {
                        let kernel = ckm.options().kinds[c.kind].kernel;
                        assert!((0.0..=1.0).contains(&c.likeness) && (-kernel.cost..=0.0).contains(&c.nearness));
                        let m = c.matched.as_ref().unwrap();
                        let image = &ckm.classes()[explanation.class.index()].examples.iter().find(|e| e.id == m.image).unwrap();
                        let place = image.elements.get().to_picture(image.elements.get().sets[c.kind].position(m.element));
                        assert_eq!(place, m.position);
                        assert!((0.0..100.0).contains(&c.position[0]) && (0.0..70.0).contains(&c.position[1]), "{:?}", c.position);
                    }
                }
            }
        }
    }
}

#[test]
fn leads_sum_to_the_difference_of_scores() {
    let ckm = machine(Preset::Mixed.options(), 12);
    let query = ckm.elements(&scene(61, 100, 70).into()).unwrap();
    let explanations = ckm.explain(&query, Without::Nothing, &[ClassId(0), ClassId(2)]);
    let leads = explanations[0].against(&explanations[1]);
    assert_eq!(leads.len(), query.len());
    assert!(leads.windows(2).all(|pair| pair[0].1 >= pair[1].1), "the largest first");
    let sum: f64 = leads.iter().map(|(_, lead)| lead).sum();
    assert!((sum - (explanations[0].score - explanations[1].score)).abs() < 1e-4);
}

#[test]
fn a_training_image_finds_itself() {
    let ckm = machine(Preset::Mixed.options(), 9);
    let (class, example) = ckm.examples().nth(4).unwrap();
    let explanation = &ckm.explain(&example.elements.get(), Without::Nothing, &[class])[0];
    for c in &explanation.contributions {
        let m = c.matched.as_ref().unwrap();
        assert_eq!((m.image, m.element, m.distance, c.likeness, c.nearness), (example.id, c.element, 0.0, 1.0, 0.0));
    }
}

#[test]
fn threads_do_not_change_an_answer() {
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let ckm = machine(Preset::Mixed.options(), 60);
            let query = ckm.elements(&scene(99, 128, 128).into()).unwrap();
            let judged = judge(&ckm, 20, &mut random::seeded(3), Vec::new(), &Progress::default()).unwrap();
            (ckm.scores(&query, Without::Nothing), judged)
        })
    };
    let (alone, together) = (on(1), on(2));
    assert_eq!(alone, together);
}

#[test]
fn images_without_elements_are_answered_by_the_prior() {
    let mut ckm = machine(Preset::Orb.options(), 9);
    add(&mut ckm, 12);
    let query = ckm.elements(&image::RgbImage::from_pixel(50, 50, image::Rgb([8, 8, 8])).into()).unwrap();
    assert!(query.is_empty());
    let scores = ckm.scores(&query, Without::Nothing);
    assert_eq!(ckm.classes()[scores.ranking()[0].0.index()].name, "square", "the class with most images");
    assert_eq!(scores.margin(), 0.0);
    assert!(ckm.explain(&query, Without::Nothing, &[ClassId(0)])[0].contributions.is_empty());
}

#[test]
fn a_class_without_elements_costs_the_floor() {
    let mut ckm = machine(Preset::Orb.options(), 9);
    let flat = ckm.elements(&image::RgbImage::from_pixel(50, 50, image::Rgb([8, 8, 8])).into()).unwrap();
    ckm.add("flat", Example { id: ItemId(100), name: "flat.png".into(), group: None, elements: flat.into() }).unwrap();
    let query = ckm.elements(&scene(70, 96, 96).into()).unwrap();
    let class = ckm.class_id("flat").unwrap();
    let score = ckm.scores(&query, Without::Nothing).of[class.index()].unwrap();
    let floor = f64::from(ckm.options().kinds[0].kernel.floor()) * query.len() as f64;
    assert!((score - floor).abs() < 1e-6);
    let explanation = &ckm.explain(&query, Without::Nothing, &[class])[0];
    assert!(explanation.contributions.iter().all(|c| c.matched.is_none()));
    assert!((explanation.contributions.iter().map(|c| c.value).sum::<f64>() - score).abs() < 1e-4);
}
