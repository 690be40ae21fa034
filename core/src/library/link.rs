//! The link that ties an event to the one before it, and what it takes to check the event by it.
//!
//! Each part of an event, its words and each of its changes, is hashed together with a salt of its
//! own, so that the hash of a part that was forgotten cannot be compared with guesses. The salts
//! of a whole event follow from one secret; where parts were forgotten, the secret has made way for
//! the salts of the parts that stay and the bare hashes of those that went.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::Result;
use crate::random::from_the_system;

/// A SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

/// 16 bytes that nobody can guess.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; 16]);

/// What an event that lost parts keeps of one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The part is there; this is its salt.
    Salt(Secret),
    /// The part was forgotten; this is its hash.
    Gone(Digest),
}

/// What it takes, besides an event, to compute what its link commits to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitmentOpening {
    /// The secret from which the salts of all parts follow.
    Whole(Secret),
    /// What is kept of each part: the words first, then the changes in their order.
    Parts(Vec<Part>),
    /// Every part was forgotten; this is the hash of their hashes.
    Forgotten(Digest),
}

/// The link of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The head before the event.
    pub previous: Digest,
    /// The head after it: the hash of the head before it and of what the event commits to.
    pub head: Digest,
    /// What it takes to compute that.
    pub opening: CommitmentOpening,
}

impl Digest {
    /// The head before the first event.
    pub fn origin() -> Self {
        Self::of("origin", &[])
    }

    /// The hash of some bytes for a purpose. Purposes keep the hashes of different things apart.
    pub(super) fn of(purpose: &str, parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"tessera history 1 ");
        hash.update(purpose.as_bytes());
        hash.update(b"\0");
        parts.iter().for_each(|part| hash.update(part));
        Self(hash.finalize().into())
    }
}

impl Secret {
    /// A new one, from the operating system.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the system has no randomness to give.
    pub(super) fn draw() -> Result<Self> {
        let mut bytes = [0; 16];
        from_the_system(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The salt of a part of an event with this secret.
    pub fn salt(&self, part: usize) -> Self {
        let Digest(hash) = Digest::of("salt", &[&self.0, &(part as u64).to_le_bytes()]);
        let mut salt = [0; 16];
        salt.copy_from_slice(&hash[..16]);
        Self(salt)
    }

    /// The hash of a part with this salt.
    pub(super) fn hash(&self, part: &[u8]) -> Digest {
        Digest::of("part", &[&self.0, part])
    }
}

impl CommitmentOpening {
    /// Whether nothing of the event's content is left.
    pub fn is_forgotten(&self) -> bool {
        matches!(self, Self::Forgotten(_))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A secret is not shown.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("secret")
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        from_hex(text).map(Self).ok_or_else(|| "expected 64 hexadecimal digits".into())
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = from_hex(&String::deserialize(deserializer)?);
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("expected 32 hexadecimal digits"))
    }
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let text = text.as_bytes();
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks(2)) {
        *byte = (digit(pair[0])? * 16 + digit(*pair.get(1)?)?) as u8;
    }
    (text.len() == 2 * N).then_some(bytes)
}
