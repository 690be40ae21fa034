//! One-against-some: many labels, of which a memory tree proposes a few to be scored for each
//! example.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use rand::RngExt;
use tessera_core::Result;
use tessera_core::cmt::CmtOptions;
use tessera_core::cmt::oas::OneAgainstSome;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::random::{self, Rng};
use tessera_core::sparse::SparseVec;

const LABELS: u32 = 300;

/// An example with three labels that go together, and two words of each.
fn example(rng: &mut Rng) -> Result<(SparseVec, Vec<ClassId>)> {
    let first = 3 * rng.random_range(0..LABELS / 3);
    let labels: Vec<ClassId> = (first..first + 3).map(ClassId).collect();
    let words = labels.iter().flat_map(|label| [2 * label.0, 2 * label.0 + 1]).map(|word| (word, rng.random_range(0.5..1.0)));
    Ok((SparseVec::from_pairs(words.collect::<Vec<_>>())?, labels))
}

fn main() -> Result<()> {
    let mut rng = random::seeded(2);
    let mut learner: OneAgainstSome = OneAgainstSome::new(&CmtOptions::default(), 0.5)?;
    for i in 0..1500 {
        let (x, labels) = example(&mut rng)?;
        learner.insert(ItemId(i), x, labels)?;
    }
    // Two more passes over the memories: routers learn to lead to leaves that have the labels.
    for i in 0..3000 {
        learner.replay(0, ItemId(i % 1500), 0.1)?;
    }

    let (mut wrong, mut asked) = (0, 0);
    for _ in 0..500 {
        let (x, truth) = example(&mut rng)?;
        let predicted = learner.predict(&x, 1);
        asked += learner.candidates(&x, 1).len();
        wrong += predicted.iter().filter(|label| !truth.contains(label)).count();
        wrong += truth.iter().filter(|label| !predicted.contains(label)).count();
    }
    println!("{:.2} labels wrong or missing for each example (saying nothing: 3.00)", wrong as f64 / 500.0);
    println!("{:.0} of {} labels asked for each", asked as f64 / 500.0, learner.scores().labels().len());
    Ok(())
}
