//! The only source of random numbers: seeded generators that are passed in, never created behind
//! the caller's back; and bytes that nobody can guess, for secrets.

use rand::{RngExt, SeedableRng};

/// The generator of the whole program: its stream is fixed by its definition, on every machine and
/// in every release.
pub type Rng = rand_chacha::ChaCha8Rng;

/// The generator for `seed`.
pub fn seeded(seed: u64) -> Rng {
    stream(seed, 0)
}

/// Independent generator number `index` of `seed`: one for each piece of parallel work, so that the
/// number of threads cannot change an answer.
pub fn stream(seed: u64, index: u64) -> Rng {
    let mut rng = Rng::seed_from_u64(seed);
    rng.set_stream(index);
    rng
}

/// The state of a generator: its seed, its stream and its position in it. [`restored`] goes on from
/// there.
pub fn state(rng: &Rng) -> [u8; 56] {
    let mut state = [0; 56];
    state[..32].copy_from_slice(&rng.get_seed());
    state[32..40].copy_from_slice(&rng.get_stream().to_le_bytes());
    state[40..].copy_from_slice(&rng.get_word_pos().to_le_bytes());
    state
}

/// The generator with that [`state`]: it draws what the original would have drawn next.
pub fn restored(state: &[u8; 56]) -> Rng {
    let (mut seed, mut stream, mut position) = ([0; 32], [0; 8], [0; 16]);
    seed.copy_from_slice(&state[..32]);
    stream.copy_from_slice(&state[32..40]);
    position.copy_from_slice(&state[40..]);
    let mut rng = Rng::from_seed(seed);
    rng.set_stream(u64::from_le_bytes(stream));
    rng.set_word_pos(u128::from_le_bytes(position));
    rng
}

/// Fills bytes with randomness from the operating system. This alone is not seeded: it is for
/// secrets, which hide what was forgotten from those who guess, and nothing that is computed
/// depends on them.
///
/// # Errors
/// [`crate::Error::Io`] when the system has none to give.
#[cfg(feature = "library")]
pub fn from_the_system(bytes: &mut [u8]) -> crate::Result<()> {
    getrandom::fill(bytes).map_err(|error| crate::Error::io("read", "the system's randomness")(std::io::Error::other(error)))
}

/// At most `count` of the numbers below `n`, drawn without putting back, in ascending order.
pub fn drawn(n: usize, count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut drawn = rand::seq::index::sample(rng, n, count.min(n)).into_vec();
    drawn.sort_unstable();
    drawn
}

/// A standard normal number, from two uniform ones (Box and Muller 1958).
pub fn normal(rng: &mut Rng) -> f64 {
    let (a, b): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}
