//! The smallest program on the methods alone; it builds with `--no-default-features`, so without
//! SQLite and image codecs.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use tessera_core::{cmt::Cmt, ids::ItemId, sparse::SparseVec};

fn main() -> tessera_core::Result<()> {
    let mut memory: Cmt<&str> = Cmt::new(&Default::default())?;
    memory.insert(ItemId(0), SparseVec::new(&[1, 4], &[1.0, 1.0])?, "a red truck")?;
    memory.insert(ItemId(1), SparseVec::new(&[2, 4], &[1.0, 1.0])?, "a blue truck")?;
    for hit in memory.query(&SparseVec::new(&[2], &[1.0])?, 2).hits {
        println!("{:.2} {}", hit.score, memory.get(hit.id).map_or("", |found| found.value));
    }
    Ok(())
}
