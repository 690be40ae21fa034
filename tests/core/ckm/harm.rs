//! What single training images do to answers, against leaving out each of them in turn.

use std::collections::BTreeMap;

use tessera_core::ckm::Without;
use tessera_core::ckm::harm::harm;
use tessera_core::ckm::held_out::Exclusions;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ids::ItemId;
use tessera_core::progress::Progress;
use tessera_core::random;

use super::machine;

#[test]
fn harm_is_what_leaving_out_each_image_changes() {
    let mut misled = 0;
    for preset in [Preset::Hog, Preset::Mixed] {
        let ckm = machine(preset.options(), 27);
        let judged = judge(&ckm, usize::MAX, &mut random::seeded(0), Vec::new(), &Progress::default()).unwrap().raw;
        let found = harm(&ckm, &judged, &Progress::default()).unwrap();
        assert!(found.windows(2).all(|two| (two[0].net(), two[0].lead) >= (two[1].net(), two[1].lead)));
        let found: BTreeMap<ItemId, _> = found.into_iter().map(|harm| (harm.image, harm)).collect();
        let left_out = Exclusions::new(&ckm);
        let classes: BTreeMap<ItemId, _> = ckm.examples().map(|(class, example)| (example.id, (class, example))).collect();
        for image in classes.keys() {
            let (mut counts, mut lead) = ((0, 0), 0.0);
            for held in &judged {
                let (class, example) = classes[&held.id];
                let mut without = left_out.of(class, example);
                without.insert(*image);
                let scores = ckm.scores(&example.elements, Without::Images(&without));
                let Some(right) = scores.of[class.index()] else { continue };
                let is_right = scores.ranking()[0].0 == class;
                counts.0 += u32::from(is_right && held.predicted != class);
                counts.1 += u32::from(!is_right && held.predicted == class);
                let wrong = |of: &[Option<f64>]| {
                    let others = of.iter().enumerate().filter(|(c, _)| *c != class.index());
                    others.filter_map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
                };
                let before = held.scores.of[class.index()].unwrap() - wrong(&held.scores.of);
                lead += (right - wrong(&scores.of) - before) / held.scores.mass;
            }
            let own = found.get(image).map_or(((0, 0), 0.0), |harm| ((harm.misled, harm.helped), harm.lead));
            assert_eq!(own.0, counts, "{image:?}");
            assert!((own.1 - lead).abs() < 1e-5, "{image:?}: {} is not {lead}", own.1);
            misled += counts.0;
        }
    }
    assert!(misled > 0, "some images mislead, or this shows little");
}
