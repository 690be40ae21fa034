//! Tuning: races on held-out objects.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt as _;
use rayon::ThreadPoolBuilder;
use tessera_core::ckm::accuracy::Estimate;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::own::{OwnElements, OwnValues};
use tessera_core::ckm::tune::{Tuning, tune};
use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, ElementKind, ElementSource, Example, OwnSource, Search};
use tessera_core::ids::ItemId;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result, random};

const CLASSES: u32 = 3;
const OBJECTS: u32 = 8;
const VIEWS: u32 = 3;

/// What each kind of elements tells of an image.
#[derive(Clone, Copy)]
pub(super) enum Tells {
    /// The class, mostly.
    Class,
    /// Nothing.
    Noise,
    /// The object, which helps only a machine that has seen it.
    Object,
}

pub(super) fn options(kinds: &[(&str, f32)]) -> CkmOptions {
    let form = ElementForm::Dense { dimension: 4, low: 0.0, high: 1.0 };
    let kernel = LeafKernel { rho: 1.0, cost: 0.1, reach: 32.0, pair_bonus: 0.1, weight: 1.0 };
    let kind = |&(name, weight): &(&str, f32)| ElementKind {
        source: ElementSource::Own(OwnSource { name: name.into(), form }),
        kernel: LeafKernel { weight, ..kernel },
    };
    CkmOptions { kinds: kinds.iter().map(kind).collect(), ..CkmOptions::own("any", form, kernel) }
}

/// The kinds by name, as `tells` has them.
pub(super) fn learn(options: &CkmOptions, tells: &BTreeMap<&str, Tells>) -> Result<Ckm> {
    let mut ckm = Ckm::new(options.clone())?;
    let places: Vec<[f32; 2]> = (0..6).map(|i| [20.0 * i as f32, 40.0]).collect();
    for i in 0..CLASSES * OBJECTS * VIEWS {
        let object = i / VIEWS;
        let class = object % CLASSES;
        let values: Vec<Vec<f32>> = options
            .kinds
            .iter()
            .map(|kind| {
                let tells = tells[kind.source.name()];
                let mut rng = random::stream(u64::from(i), tells as u64);
                let mut of_object = random::stream(1000 + u64::from(object), tells as u64);
                let mut value = |d: u32| match tells {
                    Tells::Class => 0.35 * f32::from(u8::from(d % CLASSES == class)) + 0.65 * rng.random::<f32>(),
                    Tells::Noise => rng.random(),
                    Tells::Object => of_object.random(),
                };
                (0..6 * 4).map(|j| value(j % 4)).collect()
            })
            .collect();
        let own: Vec<OwnElements<'_>> =
            values.iter().map(|values| OwnElements { positions: &places, values: OwnValues::Dense(values) }).collect();
        let elements = ckm.elements_from_own((128, 80), &own)?;
        let example = Example { id: ItemId(i), name: i.to_string(), group: Some(format!("object {object}")), elements: elements.into() };
        ckm.add(["a", "b", "c"][class as usize], example)?;
    }
    Ok(ckm)
}

pub(super) const ALL: usize = (CLASSES * OBJECTS * VIEWS) as usize;

fn tuned(kinds: &[(&str, f32)], tells: &[(&'static str, Tells)], steps: u64) -> Result<Tuning> {
    let tells: BTreeMap<&str, Tells> = tells.iter().copied().collect();
    tune(&options(kinds), steps, 0, |options| learn(options, &tells), &Progress::default())
}

pub(super) const NOISY: [(&str, Tells); 2] = [("good", Tells::Class), ("noise", Tells::Noise)];

#[test]
fn a_kind_that_is_noise_gets_weight_0() {
    let tuning = tuned(&[("noise", 2.0), ("good", 1.0)], &NOISY, 3000).unwrap();
    let best = tuning.best();
    let kinds: Vec<&str> = best.options.kinds.iter().map(|kind| kind.source.name()).collect();
    assert_eq!(kinds, ["good"], "{best:?}");
    assert!(best.accuracy.value > 0.8 && best.judged == ALL, "{best:?}");
    let alone = tuning.tried.iter().find(|tried| tried.options.kinds.len() == 1 && tried.options.kinds[0].source.name() == "noise");
    assert!(alone.unwrap().is_dropped, "noise alone is significantly worse");
    assert!(tuning.steps <= 3000 && !tuning.is_cancelled);
}

#[test]
fn every_set_of_kinds_is_tried() {
    let kinds = [("noise", 0.03), ("good", 1.0), ("object", 0.8)];
    let tells = [("good", Tells::Class), ("noise", Tells::Noise), ("object", Tells::Object)];
    let tuning = tuned(&kinds, &tells, 20_000).unwrap();
    let names = |options: &CkmOptions| -> Vec<String> { options.kinds.iter().map(|kind| kind.source.name().to_owned()).collect() };
    let sets: BTreeSet<Vec<String>> = tuning.tried.iter().map(|tried| names(&tried.options)).collect();
    assert_eq!(sets.len(), 7, "{sets:?}");
}

#[test]
fn views_of_one_object_count_as_one_observation() {
    let of = |value: &dyn Fn(usize) -> f64, views: usize| Estimate::of_objects((0..100).map(|i| (i / views, value(i))));
    let first_half = |i: usize| f64::from(u8::from(i < 50));
    assert_eq!(of(&first_half, 1).value, 0.5);
    assert!((of(&first_half, 1).spread - 0.05).abs() < 0.003);
    assert!((of(&first_half, 10).spread - 0.167).abs() < 0.003);
    let (same, other) = (of(&|_| 0.0, 1), of(&|i| -first_half(i), 1));
    assert!(same.value == 0.0 && same.spread > 0.0);
    assert_eq!(other.value, -0.5);
    assert_eq!(Estimate::of_objects([]), Estimate::default());
}

#[test]
fn no_image_is_judged_with_its_own_object_in_the_machine() {
    let tuning = tuned(&[("object", 1.0)], &[("object", Tells::Object)], 2000).unwrap();
    for tried in &tuning.tried {
        assert!(tried.accuracy.value < 0.7, "who has seen the object is always right, others by chance: {tried:?}");
    }
}

#[test]
fn settings_are_judged_as_their_machines_are() {
    let tells: BTreeMap<&str, Tells> = NOISY.into();
    let tuning = tuned(&[("good", 1.0), ("noise", 0.3)], &NOISY, 2000).unwrap();
    let mut searches = Vec::new();
    for tried in tuning.tried.iter().filter(|tried| tried.judged == ALL) {
        let mut ckm = learn(&tried.options, &tells).unwrap();
        ckm.set_search(tried.search).unwrap();
        let judged = judge(&ckm, ALL, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap().held_out;
        let right = judged.iter().filter(|held| held.class == held.predicted).count();
        assert_eq!(tried.accuracy.value, right as f64 / ALL as f64, "{tried:?}");
        searches.push(tried.search);
    }
    assert!(searches.contains(&Search::Exact) && searches.contains(&Search::SHORTLIST));
}

#[test]
fn a_seed_and_steps_give_the_same_answer_on_any_threads() {
    let of = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut tuning = pool.install(|| tuned(&[("good", 1.0), ("noise", 0.5)], &NOISY, 700)).unwrap();
        tuning.tried.iter_mut().for_each(|tried| tried.ms = 0.0);
        tuning
    };
    let one = of(1);
    assert_eq!(one, of(3));
    assert!(one.steps <= 700 && one.steps > 500, "{}", one.steps);
}

#[test]
fn who_cancels_gets_the_best_so_far() {
    let tells: BTreeMap<&str, Tells> = NOISY.into();
    let cancelled_after = |judgements: u64| {
        let progress = super::cancelled_after(judgements);
        tune(&options(&[("noise", 2.0), ("good", 1.0)]), 3000, 0, |options| learn(options, &tells), &progress)
    };
    let tuning = cancelled_after(400).unwrap();
    assert!(tuning.is_cancelled && tuning.steps < 500, "{}", tuning.steps);
    assert!(tuning.best().accuracy.value > 0.8, "{:?}", tuning.best());
    assert!(matches!(cancelled_after(5), Err(Error::Cancelled)), "nothing was judged yet");
}

#[test]
fn too_few_steps_are_refused() {
    assert!(matches!(tuned(&[("good", 1.0), ("noise", 1.0)], &NOISY, 1), Err(Error::Option { name: "steps", .. })));
}
