//! Contextual search on a stream: classes are regions around hidden centres, learned from the right
//! class of each query.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use rand::RngExt;
use tessera_core::Result;
use tessera_core::contextual::{Contextual, ContextualOptions, EllipsoidLadder};
use tessera_core::ids::ClassId;
use tessera_core::learn::OnlineClassifier;
use tessera_core::random::{self, Rng};

const DIMENSION: usize = 4;
const CLASSES: usize = 5;

/// A vector of length 1 in a random direction.
fn unit(rng: &mut Rng) -> Vec<f64> {
    loop {
        let v: Vec<f64> = (0..DIMENSION).map(|_| rng.random_range(-1.0..1.0)).collect();
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (0.1..1.0).contains(&length) {
            return v.into_iter().map(|x| x / length).collect();
        }
    }
}

fn main() -> Result<()> {
    let mut rng = random::seeded(3);
    let centres: Vec<Vec<f64>> = (0..CLASSES).map(|_| unit(&mut rng)).collect();
    let options = ContextualOptions::unit(DIMENSION);
    let mut learner: Contextual<EllipsoidLadder> = Contextual::new(&options)?;
    learner.announce(CLASSES)?;

    let (mut loss, mut mistakes) = (0.0, 0);
    for round in 1..=20_000 {
        let q = unit(&mut rng);
        let value = |class: usize| centres[class].iter().zip(&q).map(|(c, q)| c * q).sum::<f64>();
        let truth = (0..CLASSES).max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(0);

        let played = learner.predict(&q, &mut rng)?;
        // The loss of a mistake is the gap between the right centre's value and the guess's.
        loss += played.answer.expected(|guess| guess.map_or(0.0, |guess| value(truth) - value(guess.index())));
        mistakes += u32::from(played.answer.guess != Some(ClassId(truth as u32)));
        learner.learn(&q, &played, ClassId(truth as u32), &mut rng)?;
        if [100, 1000, 20_000].contains(&round) {
            println!("after {round:>5} rounds: total loss {loss:.2}, {mistakes} mistakes");
        }
    }
    println!("the total loss is never above {:.0}, however long it goes on", Contextual::<EllipsoidLadder>::bound(&options, CLASSES));
    Ok(())
}
