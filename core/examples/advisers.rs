//! A mixture of advisers (expert advice): three learners predict the class of each point, and the
//! mixture soon does about as well as the best of them.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use rand::RngExt;
use tessera_core::Result;
use tessera_core::advise::{Adviser, LinearAdviser, LocalMeans, Mixture, Nearest};
use tessera_core::ids::ClassId;
use tessera_core::online_linear::Rule;
use tessera_core::random;

const DIMENSION: usize = 6;
const CLASSES: usize = 4;

fn main() -> Result<()> {
    let mut rng = random::seeded(4);
    let mut advisers: Vec<Box<dyn Adviser<[f64]>>> = vec![
        Box::new(Nearest::new(DIMENSION)),
        Box::new(LocalMeans::new(DIMENSION)),
        Box::new(LinearAdviser::new(Rule::Perceptron, DIMENSION)),
    ];
    let mut mixture = Mixture::new(advisers.len())?;
    let mut wrong = vec![0; advisers.len()];
    let mut mixture_wrong = 0;

    // Each class has two clusters, so that no line parts it from the others.
    let mut point = || (0..DIMENSION).map(|_| rng.random_range(-0.2..0.2)).collect::<Vec<f64>>();
    let clusters: Vec<Vec<f64>> = (0..2 * CLASSES).map(|_| point()).collect();
    for round in 0..400 {
        let cluster = rng.random_range(0..clusters.len());
        let truth = ClassId((cluster % CLASSES) as u32);
        let x: Vec<f64> = clusters[cluster].iter().map(|c| c + rng.random_range(-0.2..0.2)).collect();

        let mut opinions = Vec::new();
        for adviser in &mut advisers {
            opinions.push(adviser.opinion(&x, &mut rng)?);
        }
        let advice = mixture.combine(&opinions);
        // In the first rounds the advisers have learned hardly anything.
        if round >= 20 {
            mixture_wrong += u32::from(advice.suggestion() != Some(truth));
            for (wrong, said) in wrong.iter_mut().zip(&advice.each) {
                *wrong += u32::from(*said != Some(truth));
            }
        }
        mixture.learn(&advice, truth)?;
        for adviser in &mut advisers {
            adviser.learn(&x, truth, &mut rng)?;
        }
    }
    for ((adviser, wrong), trust) in advisers.iter().zip(&wrong).zip(mixture.trust()) {
        println!("{:<12} wrong {wrong:>3} times of 380, trusted {trust:.2} now", adviser.name());
    }
    println!("{:<12} wrong {mixture_wrong:>3} times of 380", "the mixture");
    Ok(())
}
