//! Confidence: holdout images, and the curve from leads to probabilities.

use rand::RngExt;
use tessera_core::ckm::Example;
use tessera_core::ckm::accuracy::Accuracy;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ids::ItemId;
use tessera_core::progress::Progress;
use tessera_core::random;

use super::machine;
use crate::scenes::scene;

#[test]
fn a_class_with_one_object_cannot_be_judged() {
    let mut ckm = machine(Preset::Hog.options(), 18);
    let elements = ckm.elements(&scene(500, 96, 96).into()).unwrap();
    ckm.add("lonely", Example { id: ItemId(500), name: "x.png".into(), group: Some("lonely/1".into()), elements: elements.into() })
        .unwrap();
    let progress = Progress::default();
    let judged = judge(&ckm, usize::MAX, &mut random::seeded(0), Vec::new(), &progress).unwrap().held_out;
    assert_eq!((judged.len(), progress.snapshot().done), (18, 18), "nor is time spent on it");
    assert!((0.0..=1.0).contains(&Accuracy::of(&ckm, &judged).unwrap().overall.value));
}

#[test]
fn a_larger_lead_is_never_less_certain() {
    let ckm = machine(Preset::Mixed.options(), 36);
    let judged = judge(&ckm, usize::MAX, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap().held_out;
    let calibration = Calibration::fit(&judged);
    assert!(calibration.slope >= 0.0 && calibration.offset.is_finite());
    let mut by_margin: Vec<_> = judged.iter().map(|h| (h.scores.margin(), calibration.confidence(&h.scores))).collect();
    by_margin.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(by_margin.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    let mean = by_margin.iter().map(|p| p.1).sum::<f64>() / by_margin.len() as f64;
    let accuracy = Accuracy::of(&ckm, &judged).unwrap().overall.value;
    assert!((mean - accuracy).abs() < 0.1, "confidence {mean} on average, accuracy {accuracy}");
}

fn logistic(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

#[test]
fn a_known_curve_is_found_again() {
    for (offset, slope) in [(-1.0, 6.0), (0.5, 300.0), (1.0, 0.02)] {
        let mut rng = random::seeded(7);
        let judged: Vec<(f64, bool)> = (0..40_000)
            .map(|_| {
                let margin = rng.random_range(0.0..3.0) / slope;
                (margin, rng.random_bool(logistic(offset + slope * margin)))
            })
            .collect();
        let found = Calibration::fit_margins(&judged);
        assert_eq!(found.n, judged.len());
        assert!((found.offset - offset).abs() < 0.1 && (found.slope / slope - 1.0).abs() < 0.1, "{found:?}");
    }
}

#[test]
fn without_contrast_the_curve_is_the_share_drawn_in() {
    let margins = |n: usize| (0..n).map(|i| (i + 1) as f64 / 50.0);
    let all_right: Vec<(f64, bool)> = margins(20).map(|m| (m, true)).collect();
    let all_wrong: Vec<(f64, bool)> = margins(20).map(|m| (m, false)).collect();
    let no_lead: Vec<(f64, bool)> = (0..20).map(|i| (0.0, i < 15)).collect();
    let falling: Vec<(f64, bool)> = margins(20).map(|m| (m, m < 0.2)).collect();
    let one = vec![(0.0, true)];
    for (judged, right) in [(all_right, 20.0), (all_wrong, 0.0), (no_lead, 15.0), (falling, 9.0), (one, 1.0)] {
        let n = judged.len() as f64;
        let drawn_in = (right * (right + 1.0) / (right + 2.0) + (n - right) / (n - right + 2.0)) / n;
        let found = Calibration::fit_margins(&judged);
        assert!(found.slope >= 0.0 && found.slope < 0.1, "{found:?}");
        for margin in [0.0, 0.2, 1.0] {
            let confidence = logistic(found.offset + found.slope * margin);
            assert!((confidence - drawn_in).abs() < 0.01, "{confidence} at {margin}, not {drawn_in}");
        }
    }
    assert_eq!(Calibration::fit_margins(&[]), Calibration::default());
}

#[test]
fn judging_can_be_cancelled() {
    let progress = Progress::default();
    progress.cancel();
    let outcome = judge(&machine(Preset::Colour.options(), 9), 5, &mut random::seeded(0), Vec::new(), &progress);
    assert!(matches!(outcome, Err(tessera_core::Error::Cancelled)));
}
