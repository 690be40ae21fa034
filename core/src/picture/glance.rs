//! What the first bytes of an image file say of its pixels, without decoding any.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes that are read of a file at most: in a JPEG other things may stand before the size.
const HEAD: u64 = 128 << 10;

/// What the head of an image file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    /// Width and height, as stored.
    pub size: (u32, u32),
    /// How its colours are stored.
    pub colours: Colours,
    /// Whether each pixel is stored as it was.
    pub is_exact: bool,
}

/// How the colours of a picture are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// One channel, perhaps with transparency.
    Grey,
    /// Numbers of colours in a table.
    Table,
    /// Three channels or more.
    Full,
}

impl Glance {
    /// Reads the head of a PNG, JPEG, GIF, BMP or Netpbm file; `None` for others, and for what
    /// cannot be read. It must be a regular file: opening a pipe could wait for ever.
    ///
    /// # Complexity
    /// At most 128 KiB are read.
    pub fn at(path: &Path) -> Option<Self> {
        let mut head = Vec::new();
        File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
        Self::of(&head)
    }

    /// What the first bytes of a file say. O(bytes).
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', ..] => png(head),
            [0xFF, 0xD8, ..] => jpeg(head),
            [b'G', b'I', b'F', b'8', ..] => exact((le(head, 6, 2)?, le(head, 8, 2)?), Colours::Table),
            [b'B', b'M', ..] => bmp(head),
            [b'P', b'1'..=b'7', ..] => netpbm(head),
            _ => None,
        }
    }
}

fn exact(size: (u32, u32), colours: Colours) -> Option<Glance> {
    Some(Glance { size, colours, is_exact: true })
}

/// A number of `n` bytes, the highest first.
fn be(bytes: &[u8], at: usize, n: usize) -> Option<u32> {
    Some(bytes.get(at..at + n)?.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

/// A number of `n` bytes, the lowest first.
fn le(bytes: &[u8], at: usize, n: usize) -> Option<u32> {
    Some(bytes.get(at..at + n)?.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn png(head: &[u8]) -> Option<Glance> {
    let colours = match head.get(25)? {
        0 | 4 => Colours::Grey,
        3 => Colours::Table,
        _ => Colours::Full,
    };
    exact((be(head, 16, 4)?, be(head, 20, 4)?), colours)
}

fn bmp(head: &[u8]) -> Option<Glance> {
    let side = |at| Some((le(head, at, 4)? as i32).unsigned_abs());
    let colours = if le(head, 28, 2)? <= 8 { Colours::Table } else { Colours::Full };
    exact((side(18)?, side(22)?), colours)
}

/// Goes from segment to segment up to the one with the size.
fn jpeg(head: &[u8]) -> Option<Glance> {
    let mut at = 2;
    loop {
        match head.get(at..at + 2)? {
            [0xFF, 0xFF] => at += 1,
            [0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF] => {
                let colours = if *head.get(at + 9)? == 1 { Colours::Grey } else { Colours::Full };
                return Some(Glance { size: (be(head, at + 7, 2)?, be(head, at + 5, 2)?), colours, is_exact: false });
            }
            [0xFF, _] => at += 2 + be(head, at + 2, 2)?.max(2) as usize,
            _ => return None,
        }
    }
}

fn netpbm(head: &[u8]) -> Option<Glance> {
    let text = String::from_utf8_lossy(&head[..head.len().min(1024)]);
    if head[1] == b'7' {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u32>().ok());
        let colours = if value("DEPTH ")? <= 2 { Colours::Grey } else { Colours::Full };
        return exact((value("WIDTH ")?, value("HEIGHT ")?), colours);
    }
    let words = text.lines().map(|line| line.split('#').next().unwrap_or_default()).flat_map(str::split_ascii_whitespace);
    let mut numbers = words.skip(1).map(str::parse::<u32>);
    let mut side = || numbers.next()?.ok();
    let colours = if matches!(head[1], b'3' | b'6') { Colours::Full } else { Colours::Grey };
    exact((side()?, side()?), colours)
}
