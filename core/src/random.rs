//! The one door to randomness: seeded generators that are handed in, never found.

use rand::SeedableRng;

/// The generator of the whole program: its stream is fixed by its definition, on every machine and in every release.
pub type Rng = rand_chacha::ChaCha8Rng;

/// The generator of `seed`.
pub fn seeded(seed: u64) -> Rng {
    stream(seed, 0)
}

/// Independent generator number `index` of `seed`: one for each piece of parallel work, so that the number of
/// threads cannot change an answer.
pub fn stream(seed: u64, index: u64) -> Rng {
    let mut rng = Rng::seed_from_u64(seed);
    rng.set_stream(index);
    rng
}
