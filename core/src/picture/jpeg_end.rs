//! Whether a JPEG file ends without the end mark of its picture, as one does that was cut off.
//! Decoders fill what is missing with grey and say nothing.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Files of so many bytes are not looked through.
const MOST: u64 = 1 << 28;

/// Whether a file is a JPEG without the end mark of its picture. A file that cannot be read is not.
///
/// # Complexity
/// O(1) for a file that ends with its picture, as nearly all do; otherwise O(bytes).
pub fn is_cut_off(path: &Path) -> bool {
    read(path).unwrap_or(false)
}

fn read(path: &Path) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let mut ends = [0; 4];
    file.read_exact(&mut ends[..2])?;
    if ends[..2] != [0xff, 0xd8] {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-2))?;
    file.read_exact(&mut ends[2..])?;
    if ends[2..] == [0xff, 0xd9] {
        return Ok(false);
    }
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64) < MOST && ends_early(&bytes))
}

/// Walks through the segments of a JPEG (ITU-T T.81, annex B) up to the end of its picture; bytes
/// behind that, which cameras add, do not matter. What is no JPEG is not cut off.
fn ends_early(bytes: &[u8]) -> bool {
    let mut at = 2;
    loop {
        match bytes.get(at) {
            None => return true,
            Some(0xff) => {}
            Some(_) => return false,
        }
        while bytes.get(at) == Some(&0xff) {
            at += 1;
        }
        let Some(marker) = bytes.get(at) else { return true };
        at += 1;
        match marker {
            0xd9 => return false,
            0x01 | 0xd0..=0xd8 => {}
            _ => {
                let Some(length) = bytes.get(at..at + 2) else { return true };
                at += usize::from(u16::from_be_bytes([length[0], length[1]]));
                if *marker == 0xda {
                    // Behind a scan's head come its bits, where 0xff stands before 0 or a restart.
                    while let Some(next) = bytes.get(at..at + 2) {
                        if next[0] == 0xff && !matches!(next[1], 0x00 | 0xd0..=0xd7) {
                            break;
                        }
                        at += 1;
                    }
                    if bytes.len() < at + 2 {
                        return true;
                    }
                }
            }
        }
    }
}
