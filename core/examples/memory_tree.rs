//! A memory tree as a classifier: each memory is a sparse vector with its class, and routers learn
//! from rewards where to search.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use rand::RngExt;
use tessera_core::Result;
use tessera_core::cmt::{Cmt, CmtOptions};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::random::{self, Rng};
use tessera_core::sparse::SparseVec;

const CLASSES: u32 = 40;

/// A synthetic document of a class: six of the class's eight words, and six of the words that all
/// classes use.
fn document(class: u32, rng: &mut Rng) -> Result<SparseVec> {
    let own = (0..6).map(|_| (8 * class + rng.random_range(0..8), 1.0)).collect::<Vec<_>>();
    let shared = (0..6).map(|_| (8 * CLASSES + rng.random_range(0..500), 1.0));
    SparseVec::from_pairs(own.into_iter().chain(shared))
}

/// The share of new documents whose nearest memory is of their class, and the memories scored for
/// each.
fn measure(tree: &Cmt<ClassId>, rng: &mut Rng) -> Result<(f64, f64)> {
    let (mut right, mut scored) = (0, 0);
    for i in 0..1000 {
        let class = ClassId(i % CLASSES);
        let found = tree.query(&document(class.0, rng)?, 1);
        let guess = found.hits.first().and_then(|hit| tree.get(hit.id)).map(|memory| memory.value);
        right += u32::from(guess == Some(class));
        scored += found.cost.points;
    }
    Ok((f64::from(right) / 1000.0, scored as f64 / 1000.0))
}

fn main() -> Result<()> {
    let mut rng = random::seeded(1);
    let mut tree: Cmt<ClassId> = Cmt::new(&CmtOptions::default())?;
    for i in 0..2000 {
        tree.insert(ItemId(i), document(i % CLASSES, &mut rng)?, ClassId(i % CLASSES))?;
    }
    let (right, scored) = measure(&tree, &mut rng)?;
    println!("without rewards: {:.0} % right, {scored:.0} of {} memories scored", 100.0 * right, tree.len());

    // Explores with the vector of each memory; the reward is 1 where the memory found has the same
    // class.
    for i in 0..2000 {
        tree.replay(0, ItemId(i), 1, 0.1, |truth, answer| if truth == answer { 1.0 } else { 0.0 })?;
    }
    tree.settle();
    let (right, scored) = measure(&tree, &mut rng)?;
    println!("after one pass of rewards: {:.0} % right, {scored:.0} of {} memories scored", 100.0 * right, tree.len());
    Ok(())
}
