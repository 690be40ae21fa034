//! Models as bytes: read back, they go on as if they had never been written; damaged ones are
//! refused.

use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::contextual::{Contextual, ContextualOptions, EllipsoidLadder, PairLearner, PolytopeLadder, Served};
use tessera_core::ids::ClassId;
use tessera_core::learn::OnlineClassifier;
use tessera_core::random;

use super::{centres, truth, unit};

fn bytes(value: &impl Stored) -> Vec<u8> {
    let mut out = Writer::default();
    out.put(value);
    out.finish()
}

fn read<T: Stored>(bytes: &[u8]) -> tessera_core::Result<T> {
    let mut from = Reader::new("learner", bytes);
    let value = from.get()?;
    from.end()?;
    Ok(value)
}

fn goes_on<L: OnlineClassifier + Stored>(mut learner: L, rounds: usize) {
    let mut rng = random::seeded(31);
    let centres = centres(3, 3, &mut rng);
    let mut other: Option<(L, random::Rng)> = None;
    for round in 0..2 * rounds {
        if round == rounds {
            let saved = bytes(&learner);
            let copy: L = read(&saved).unwrap();
            assert_eq!(bytes(&copy), saved);
            other = Some((copy, rng.clone()));
        }
        let q = unit(3, &mut rng);
        let class = ClassId(truth(&centres, &q) as u32);
        let played = learner.predict(&q, &mut rng).unwrap();
        learner.learn(&q, &played, class, &mut rng).unwrap();
        if let Some((other, rng)) = &mut other {
            let q = unit(3, rng);
            let again = other.predict(&q, rng).unwrap();
            assert_eq!(again.as_ref(), played.as_ref());
            other.learn(&q, &again, class, rng).unwrap();
            assert_eq!(bytes(other), bytes(&learner));
        }
    }
    let saved = bytes(&learner);
    for end in (0..saved.len()).step_by(1 + saved.len() / 300) {
        assert!(read::<L>(&saved[..end]).is_err(), "cut at {end}");
    }
    // Whatever a damaged byte makes of it, reading is safe, and what is read can be used.
    for at in (0..saved.len()).step_by(1 + saved.len() / 500) {
        let mut damaged = saved.clone();
        damaged[at] ^= 0x7f;
        if let Ok(mut learner) = read::<L>(&damaged) {
            let q = unit(3, &mut rng);
            let _ = learner.predict(&q, &mut rng).map(|round| learner.learn(&q, &round, ClassId(1), &mut rng));
        }
    }
}

fn learner<P: PairLearner>() -> Contextual<P> {
    Contextual::new(&ContextualOptions::unit(3)).unwrap()
}

#[test]
fn learners_go_on_after_saving() {
    goes_on(learner::<EllipsoidLadder>(), 60);
    goes_on(learner::<PolytopeLadder>(), 12);
    goes_on(Served::<EllipsoidLadder>::new(&ContextualOptions::unit(3)).unwrap(), 40);
}
