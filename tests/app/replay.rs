//! The seeds of the fuzz targets (`fuzz/seeds`), and thousands of seeded mutations of each, through
//! the same functions: nothing panics, hangs or takes much memory. With the variable
//! `TESSERA_MUTATIONS` it is so many mutations of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tessera_core::error::contained;

use crate::dice::Dice;
use crate::readers::{self, READERS};

/// Mutations of each seed, where the variable TESSERA_MUTATIONS does not tell.
const MUTATIONS: u64 = 2000;
/// The variable that tells a process to do the mutations itself, and where to write what it reads.
const CURRENT: &str = "TESSERA_REPLAY";

/// The seeds of a reader: their names and bytes.
fn seeds(reader: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(reader);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (format!("{reader}/{}", path.file_name().unwrap().to_string_lossy()), fs::read(path).unwrap())).collect()
}

#[test]
fn seeds_are_read() {
    let mut total = 0;
    for (reader, _) in READERS {
        let seeds = seeds(reader);
        assert!(!seeds.is_empty(), "{reader} has no seed");
        for (name, bytes) in seeds {
            total += bytes.len();
            contained(|| readers::read(reader, &bytes)).unwrap_or_else(|words| panic!("{name}: {words}"));
        }
    }
    assert!(total < 200_000, "the seeds are small, not of {total} bytes");
}

const NUMBERS: [&str; 10] =
    ["0", "-1", "255", "65536", "2147483648", "4294967295", "18446744073709551615", "99999999999999999999999", "1e400", "NaN"];
const WORDS: [u64; 8] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 40, u64::MAX >> 1, u64::MAX];

/// One to four changes: a bit, a byte, a cut, a piece left out, repeated or taken from another
/// seed, a number in digits or in bytes made huge.
fn mutated(seed: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + dice.below(4) {
        let length = bytes.len();
        let at = dice.below(length.max(1));
        match dice.below(8) {
            0 if length > 0 => bytes[at] ^= 1 << dice.below(8),
            1 if length > 0 => bytes[at] = dice.next() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(dice.range(length, 64))),
            4 => {
                let piece = bytes[dice.range(length, 64)].repeat(1 + dice.below(32));
                bytes.splice(at..at, piece);
            }
            5 => {
                let piece = other[dice.range(other.len(), 256)].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => {
                let is_digit = |at: &usize| bytes[*at].is_ascii_digit();
                let Some(start) = (at..length).find(is_digit) else { continue };
                let end = (start..length).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(length);
                bytes.splice(start..end, dice.choose(&NUMBERS).bytes());
            }
            _ => {
                let word = dice.choose(&WORDS).to_le_bytes();
                let n = dice.choose(&[2, 4, 8]).min(length - at.min(length));
                bytes[at.min(length)..][..n].copy_from_slice(&word[..n]);
            }
        }
    }
    bytes
}

/// Reads all mutations, each of which stands in the file `current` meanwhile. Returns what went
/// wrong.
fn replay(mutations: u64, current: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (reader, _) in READERS {
        let seeds = seeds(reader);
        for (i, (name, seed)) in seeds.iter().enumerate() {
            for n in 0..mutations {
                let mut dice = Dice(n << 16 | i as u64);
                let other = &seeds[dice.below(seeds.len())].1;
                let bytes = mutated(seed, other, &mut dice);
                fs::write(current, &bytes).unwrap();
                if let Err(words) = contained(|| readers::read(reader, &bytes)) {
                    wrong.push(format!("mutation {n} of {name}: {words}"));
                }
            }
        }
    }
    wrong
}

#[cfg(unix)]
#[test]
fn mutated_seeds_are_read() {
    let mutations = std::env::var("TESSERA_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(MUTATIONS);
    if let Some(current) = std::env::var_os(CURRENT) {
        let wrong = replay(mutations, Path::new(&current));
        wrong.iter().take(40).for_each(|words| eprintln!("WRONG {words}"));
        assert!(wrong.is_empty(), "{} mutations", wrong.len());
        return;
    }
    // A process of its own, in which too much address space (in kilobytes) or processor time (in
    // seconds, ten times what is needed) is the end.
    let limits = format!("ulimit -v 1500000; ulimit -t {}; exec \"$@\"", 60 + mutations / 10);
    let folder = tempfile::tempdir_in(readers::memory()).unwrap();
    let current = folder.path().join("current");
    let ran = Command::new("sh")
        .args(["-c", &limits, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "replay::mutated_seeds_are_read", "--nocapture"])
        .env(CURRENT, &current)
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    let told: Vec<&str> = said.lines().filter(|line| line.starts_with("WRONG") || line.contains("memory allocation")).collect();
    if !ran.status.success() {
        let last = fs::read(&current).unwrap_or_default();
        let kept = std::env::temp_dir().join("tessera-replay-last");
        let _ = fs::write(&kept, &last);
        panic!("{}: {}; what was read last is in {}", ran.status, told.join("\n"), kept.display());
    }
}
