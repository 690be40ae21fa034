//! Kernels of kinds that are chosen on left-out images.

use std::collections::BTreeMap;

use rayon::ThreadPoolBuilder;
use tessera_core::ckm::fit::{KernelFit, fit, fit_scales, has_images_of};
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::presets::{Preset, Subject};
use tessera_core::ckm::scales::other_scales;
use tessera_core::ckm::{Ckm, CkmOptions, ElementSource, Without};
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
    let kernels = other.kernels();
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

/// Fits with the elements of one kind as another scale of the only kind.
fn with_scale(kind: &str, scale: &str) -> (Ckm, ElementSource, KernelFit) {
    let tells: BTreeMap<&str, Tells> = NOISY.into();
    let (ckm, source) = (of(&options(&[(kind, 1.0)])), options(&[(scale, 1.0)]).kinds[0].source.clone());
    let found = fit_scales(&ckm, ALL, &[(0, source.clone())], |options| learn(options, &tells), 0, &Progress::default()).unwrap();
    (ckm, source, found)
}

#[test]
fn a_scale_that_tells_clearly_more_is_taken() {
    let (ckm, source, found) = with_scale("noise", "good");
    assert_eq!((&found.scales, found.judged, found.steps), (&vec![(0, source)], ALL, 2 * ALL as u64), "{found:?}");
    assert!(found.loss[1] < found.loss[0], "{found:?}");
    let options = found.options(ckm.options());
    assert_eq!(options.kinds[0].source.name(), "good");
    assert!(right(&of(&options)) > right(&ckm));
    let on = |threads: usize| ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| with_scale("noise", "good").2);
    assert_eq!((on(1), on(3)), (found.clone(), found));
}

#[test]
fn a_scale_that_tells_no_more_is_not_taken() {
    let (ckm, _, found) = with_scale("good", "noise");
    assert!(found.scales.is_empty() && !found.is_other() && found.loss[0] == found.loss[1], "{found:?}");
    assert_eq!(&found.options(ckm.options()), ckm.options());
}

#[test]
fn who_cancels_while_images_are_cut_at_other_scales_gets_the_best_without() {
    let ckm = noisy();
    let scales = [(0, options(&[("good", 1.0)]).kinds[0].source.clone())];
    let found = fit_scales(&ckm, ALL, &scales, |_| Err(Error::Cancelled), 0, &Progress::default()).unwrap();
    let without = KernelFit { is_cancelled: true, ..fitted(&ckm, ALL, false) };
    assert_eq!((&found, found.is_cut_short()), (&without, false));
    assert_eq!(found.kernels[0].weight, 0.0, "weights are fitted all the same");
}

#[test]
fn scales_are_left_out_where_other_images_can_be_read() {
    let ckm = noisy();
    let scales = [(0, options(&[("good", 1.0)]).kinds[0].source.clone())];
    let tells: BTreeMap<&str, Tells> = NOISY.into();
    let without_first = |options: &CkmOptions| {
        let mut other = learn(options, &tells)?;
        let first = other.examples().next().unwrap().1.id;
        other.remove(first);
        assert!(!has_images_of(&other, &ckm));
        Ok(other)
    };
    let found = fit_scales(&ckm, ALL, &scales, without_first, 0, &Progress::default()).unwrap();
    assert_eq!(found, KernelFit { is_without_scales: true, ..fitted(&ckm, ALL, false) });
    assert!(has_images_of(&ckm, &noisy()));
}

#[test]
fn each_kind_that_counts_has_a_smaller_and_a_larger_scale() {
    let mut options = Preset::Mixed.options();
    options.kinds[2].kernel.weight = 0.0;
    let cut = |source: &ElementSource| match source {
        ElementSource::Orb(features) => features.patch,
        ElementSource::Hog(features) => features.cell,
        other => panic!("{other:?} does not count"),
    };
    let found = other_scales(&options);
    assert_eq!(found.iter().map(|(k, _)| *k).collect::<Vec<_>>(), [0, 0, 1, 1]);
    for pair in found.chunks(2) {
        let now = cut(&options.kinds[pair[0].0].source);
        assert!(cut(&pair[0].1) < now && now < cut(&pair[1].1), "{now} {pair:?}");
    }
    assert!(found.iter().all(|(k, source)| {
        let mut other = options.clone();
        other.kinds[*k].source = source.clone();
        other.check().is_ok()
    }));
    assert!(other_scales(&self::options(&NOISE_FIRST)).is_empty(), "elements that the caller brings have one scale");
}
