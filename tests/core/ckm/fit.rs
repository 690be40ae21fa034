//! Kernels of kinds that are chosen on left-out images.

use std::collections::BTreeMap;

use rayon::ThreadPoolBuilder;
use tessera_core::ckm::fit::{KernelFit, fit};
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::presets::{Preset, Subject};
use tessera_core::ckm::{Ckm, CkmOptions, Without};
use tessera_core::progress::Progress;
use tessera_core::{Error, Result, random};

use super::tune::{ALL, NOISY, Tells, learn, options};

const NOISE_FIRST: [(&str, f32); 2] = [("noise", 2.0), ("good", 1.0)];

fn of(options: &CkmOptions) -> Ckm {
    let tells: BTreeMap<&str, Tells> = NOISY.into();
    learn(options, &tells).unwrap()
}

fn noisy() -> Ckm {
    of(&options(&NOISE_FIRST))
}

fn fitted(ckm: &Ckm, images: usize, with_places: bool) -> KernelFit {
    fit(ckm, images, with_places, 0, &Progress::default()).unwrap()
}

fn right(ckm: &Ckm) -> usize {
    let judged = judge(ckm, ALL, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap().held_out;
    judged.iter().filter(|held| held.class == held.predicted).count()
}

#[test]
fn a_kind_that_is_noise_gets_weight_0() {
    let ckm = noisy();
    let found = fitted(&ckm, ALL, false);
    assert_eq!((found.judged, found.kernels[0].weight, found.steps), (ALL, 0.0, 2 * ALL as u64), "{found:?}");
    assert!(found.is_other() && found.loss[1] < found.loss[0] && found.kernels[1].weight > 0.0, "{found:?}");
    let better = ckm.with_kernels(&found.kernels).unwrap();
    assert!(right(&better) > right(&ckm), "{} and {}", right(&better), right(&ckm));
}

#[test]
fn kernels_stay_where_nothing_can_be_told() {
    let alone = of(&options(&[("good", 1.0)]));
    assert!(!fitted(&alone, ALL, false).is_other(), "the weight of a single kind changes no answer");
    let few = fitted(&noisy(), 30, true);
    assert!(few.judged <= 30 && !few.is_other() && few.steps == 0, "{few:?}");
}

#[test]
fn other_kernels_make_the_machine_that_is_trained_with_them() {
    let mut ckm = noisy();
    let mut other = ckm.options().clone();
    other.kinds[0].kernel = LeafKernel { cost: 0.3, reach: 10.0, weight: 0.5, ..other.kinds[0].kernel };
    let kernels: Vec<LeafKernel> = other.kinds.iter().map(|kind| kind.kernel).collect();
    let (terms, trained) = (judge(&ckm, ALL, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap().terms, of(&other));
    ckm.set_terms(terms);
    assert_eq!(ckm.with_kernels(&kernels).unwrap(), trained);
    assert!(matches!(ckm.with_kernels(&kernels[..1]), Err(Error::Option { name: "kernels", .. })));
    let broken = LeafKernel { weight: f32::NAN, ..kernels[0] };
    assert!(matches!(ckm.with_kernels(&[broken, kernels[1]]), Err(Error::Option { name: "weight", .. })));
}

#[test]
fn a_kind_of_weight_0_changes_no_score() {
    let mut both = options(&NOISE_FIRST);
    both.kinds[0].kernel.weight = 0.0;
    let (both, alone) = (of(&both), of(&options(&[("good", 1.0)])));
    for ((_, query), (_, same)) in both.examples().zip(alone.examples()) {
        let scores = both.scores(&query.elements.get(), query.without_itself());
        assert_eq!(scores, alone.scores(&same.elements.get(), same.without_itself()));
        let classes: Vec<_> = scores.ranking().into_iter().map(|(class, _)| class).collect();
        for explanation in both.explain(&query.elements.get(), Without::Image(query.id), &classes) {
            let sum: f64 = explanation.contributions.iter().map(|contribution| contribution.value).sum();
            assert!((sum - explanation.score).abs() < 1e-4);
        }
    }
}

#[test]
fn a_seed_gives_the_same_kernels_on_any_number_of_threads() {
    let ckm = noisy();
    let on = |threads: usize| ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| fitted(&ckm, 60, true));
    let one = on(1);
    assert_eq!(one, on(3));
    assert!(ckm.with_kernels(&one.kernels).is_ok(), "options stay within their range: {one:?}");
}

#[test]
fn who_cancels_gets_the_best_so_far() {
    let ckm = noisy();
    let cancelled_after = |judgements: u64| -> Result<KernelFit> { fit(&ckm, ALL, true, 0, &super::cancelled_after(judgements)) };
    let found = cancelled_after(2 * ALL as u64 + 10).unwrap();
    assert!(found.is_cancelled && found.kernels[0].weight == 0.0, "{found:?}");
    // Images are judged by all kinds a few at a time, of all classes: those that were, count.
    let some = cancelled_after(130).unwrap();
    assert!(some.is_cancelled && !some.is_cut_short() && (40..ALL).contains(&some.judged), "{some:?}");
    assert!(some.steps >= 2 * some.judged as u64 && some.loss[0] > 0.0 && some.loss[1] <= some.loss[0], "{some:?}");
    let none = cancelled_after(5).unwrap();
    assert!(none.is_cut_short() && !none.is_other() && none.judged == 0, "nothing was judged yet: {none:?}");
}

#[test]
fn subjects_change_how_kinds_and_places_count() {
    let of = |subject: Subject| {
        let mut options = Preset::Mixed.options();
        subject.set(&mut options);
        options.kinds.into_iter().map(|kind| (kind.kernel.weight, kind.kernel.cost)).collect::<Vec<_>>()
    };
    let object = of(Subject::Object);
    assert_eq!(Preset::Mixed.options().kinds.into_iter().map(|kind| (kind.kernel.weight, kind.kernel.cost)).collect::<Vec<_>>(), object);
    assert!(of(Subject::Scene).iter().zip(&object).all(|(scene, object)| scene.0 == object.0 && scene.1 < object.1));
    assert!(of(Subject::Texture).iter().zip(&object).all(|(texture, object)| texture.0 >= object.0 && texture.1 == 0.0));
}
