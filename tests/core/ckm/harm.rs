//! What single training images do to answers, against leaving out each of them in turn.

use std::collections::BTreeMap;

use tessera_core::ckm::Without;
use tessera_core::ckm::harm::{Harm, harm};
use tessera_core::ckm::held_out::Exclusions;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ids::{ClassId, ItemId};
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
        let first = |harm: &Harm| (harm.is_clear(), harm.gain.value, harm.lead);
        assert!(found.windows(2).all(|two| first(&two[0]) >= first(&two[1])));
        let mut judged_of: BTreeMap<ClassId, f64> = BTreeMap::new();
        judged.iter().for_each(|held| *judged_of.entry(held.class).or_default() += 1.0);
        let found: BTreeMap<ItemId, _> = found.into_iter().map(|harm| (harm.image, harm)).collect();
        let left_out = Exclusions::new(&ckm);
        let classes: BTreeMap<ItemId, _> = ckm.examples().map(|(class, example)| (example.id, (class, example))).collect();
        for image in classes.keys() {
            let (mut counts, mut gain, mut lead) = ((0, 0), 0.0, 0.0);
            for held in &judged {
                let (class, example) = classes[&held.id];
                let mut without = left_out.of(class, example);
                without.insert(*image);
                let scores = ckm.scores(&example.elements.get(), Without::Images(&without));
                let Some(right) = scores.of[class.index()] else { continue };
                let is_right = scores.ranking()[0].0 == class;
                let share = 1.0 / (judged_of[&class] * judged_of.len() as f64);
                gain += share * (f64::from(u8::from(is_right)) - f64::from(u8::from(held.predicted == class)));
                counts.0 += u32::from(is_right && held.predicted != class);
                counts.1 += u32::from(!is_right && held.predicted == class);
                let wrong = |of: &[Option<f64>]| {
                    let others = of.iter().enumerate().filter(|(c, _)| *c != class.index());
                    others.filter_map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
                };
                let before = held.scores.of[class.index()].unwrap() - wrong(&held.scores.of);
                lead += share * (right - wrong(&scores.of) - before) / held.scores.mass;
            }
            let own = found.get(image).map_or(((0, 0), 0.0, 0.0), |harm| ((harm.misled, harm.helped), harm.lead, harm.gain.value));
            assert_eq!(own.0, counts, "{image:?}");
            assert!((own.2 - gain).abs() < 1e-9, "{image:?}: {} is not {gain}", own.2);
            assert!((own.1 - lead).abs() < 1e-5, "{image:?}: {} is not {lead}", own.1);
            misled += counts.0;
        }
    }
    assert!(misled > 0, "some images mislead, or this shows little");
}
