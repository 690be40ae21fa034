//! Recognises objects by descriptors of the caller's own: no pictures, no files, only binary
//! descriptors with positions.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use rand::RngExt;
use tessera_core::Result;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::own::{OwnElements, OwnValues};
use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, Example, Without};
use tessera_core::descriptor::Descriptor;
use tessera_core::ids::ItemId;
use tessera_core::random;

const CLASSES: [&str; 3] = ["anchor", "bell", "clock"];

/// A synthetic object of a class, 640 by 480: eight descriptors, each with some of its bits flipped
/// and its position shifted a little.
fn thing(class: usize, number: u64) -> (Vec<[f32; 2]>, Vec<Descriptor>) {
    let (mut usual, mut noise) = (random::seeded(class as u64), random::stream(100, number));
    let part = |_| {
        let place = [usual.random_range(20.0..620.0) + noise.random_range(-9.0..9.0), usual.random_range(20.0..460.0)];
        let words: [u64; 4] = usual.random();
        (place, Descriptor(words.map(|word| word ^ (noise.random::<u64>() & noise.random::<u64>()))))
    };
    (0..8).map(part).unzip()
}

fn main() -> Result<()> {
    // Likeness is 0 from 110 of 256 differing bits on; a distance of 40 working pixels (of 128 on
    // the longer side) or more costs 0.3.
    let kernel = LeafKernel { rho: 110.0, cost: 0.3, reach: 40.0, pair_bonus: 0.1, weight: 1.0 };
    let mut machine = Ckm::new(CkmOptions::own("stamp", ElementForm::Binary, kernel))?;
    for number in 0..12 {
        let class = number % CLASSES.len();
        let (positions, descriptors) = thing(class, number as u64);
        let own = OwnElements { positions: &positions, values: OwnValues::Binary(&descriptors) };
        let elements = machine.elements_from_own((640, 480), &[own])?;
        let name = format!("{} {number}", CLASSES[class]);
        machine.add(CLASSES[class], Example { id: ItemId(number as u32), name, group: None, elements: elements.into() })?;
    }

    let (positions, descriptors) = thing(1, 1000);
    let query = machine.elements_from_own((640, 480), &[OwnElements { positions: &positions, values: OwnValues::Binary(&descriptors) }])?;
    let ranking = machine.scores(&query, Without::Nothing).ranking();
    for (class, score) in &ranking {
        println!("{score:>6.2} {}", machine.classes()[class.index()].name);
    }
    for piece in &machine.explain(&query, Without::Nothing, &[ranking[0].0])[0].contributions[..3] {
        if let Some(found) = &piece.matched {
            println!("  {:.2} of it: element {} is {} bits from one of {}", piece.value, piece.element, found.distance, found.name);
        }
    }
    // Removing an object leaves the machine as if it had never been added.
    machine.remove(ItemId(1));
    println!("without one of its class: {:.2}", machine.scores(&query, Without::Nothing).ranking()[0].1);
    Ok(())
}
