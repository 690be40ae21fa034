//! The protocol between this program and a worker that decodes for it: bytes on two pipes.
//!
//! The worker sends a greeting. Then, for each picture: one request, with the bytes of the file,
//! for a worker may open none; any number of requests of the worker for memory, each answered by
//! one byte when it is granted; one reply. All numbers are little-endian. Everything that a worker
//! sends is checked before it is used.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use image::RgbImage;

use super::super::decode::{Limits, Picture};
use crate::error::{Error, Result};

/// The first bytes that a worker sends: its kind and the version of the protocol.
pub const GREETING: &[u8; 8] = b"TESSERA2";
/// The answer to a need for memory.
pub(super) const GRANTED: u8 = b'+';

const WORDS_LIMIT: usize = 1 << 12;
/// Pixels on one side that a picture may claim.
const SIDE_LIMIT: u32 = 65_535;
/// Pixels that a reply may bring.
const PIXEL_LIMIT: u64 = 100_000_000;

/// The advice of errors, which is sent as a position in this list.
const ADVICE: [&str; 2] = ["convert it to one of these or leave it out", "copy it again from its source or leave it out"];

/// A worker's reply to a request.
#[derive(Debug)]
pub enum Reply {
    /// It needs so many bytes of memory, and waits until they are granted.
    Need(u64),
    /// The picture.
    Picture(Picture),
    /// There is none.
    Refused(Error),
}

/// Asks for the picture in the first `length` bytes of a file, at most `side` pixels on its longer
/// side. Returns why the file could not be read, if it could not: zeros are sent then, and where it
/// has become shorter.
pub(super) fn ask(pipe: &mut impl Write, side: u32, length: u64, mut file: impl Read) -> io::Result<Option<io::Error>> {
    pipe.write_all(&side.to_le_bytes())?;
    pipe.write_all(&length.to_le_bytes())?;
    let (mut left, mut unread) = (length, None);
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let n = match file.read(&mut buffer[..room]) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                unread = Some(error);
                break;
            }
        };
        pipe.write_all(&buffer[..n])?;
        left -= n as u64;
    }
    io::copy(&mut io::repeat(0).take(left), pipe)?;
    pipe.flush()?;
    Ok(unread)
}

/// Reads a request: the bytes of a file, and the longest side wanted; none when there will be no
/// more.
pub(super) fn read_request(pipe: &mut impl Read) -> io::Result<Option<(Vec<u8>, u32)>> {
    let mut side = [0; 4];
    match pipe.read_exact(&mut side) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    let mut length = [0; 8];
    pipe.read_exact(&mut length)?;
    let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
    let limit = usize::try_from(Limits::default().file_bytes).unwrap_or(usize::MAX);
    Ok(Some((bytes(pipe, length, limit)?, u32::from_le_bytes(side))))
}

/// Requests memory, and waits until it is granted.
pub(super) fn need(to: &mut impl Write, from: &mut impl Read, bytes: u64) -> io::Result<()> {
    to.write_all(b"N")?;
    to.write_all(&bytes.to_le_bytes())?;
    to.flush()?;
    let mut answer = [0];
    from.read_exact(&mut answer)?;
    if answer[0] == GRANTED { Ok(()) } else { Err(broken("an answer of another kind")) }
}

/// Sends the outcome of decoding.
pub(super) fn reply(pipe: &mut impl Write, outcome: &Result<Picture>) -> io::Result<()> {
    match outcome {
        Ok(picture) => {
            pipe.write_all(b"P")?;
            let (width, height) = picture.pixels.dimensions();
            for number in [picture.size.0, picture.size.1, width, height] {
                pipe.write_all(&number.to_le_bytes())?;
            }
            pipe.write_all(picture.pixels.as_raw())?;
        }
        Err(error) => {
            let (kind, number, words): (u8, u32, [&str; 2]) = match error {
                Error::Data { expected, found, advice, .. } => {
                    let advice = ADVICE.iter().position(|other| other == advice).unwrap_or(ADVICE.len() - 1);
                    (b'D', advice as u32, [expected, found])
                }
                Error::TooLarge { expected, found, .. } => (b'L', 0, [expected, found]),
                Error::Crashed { found, .. } => (b'C', 0, [found, ""]),
                Error::Io { cause, action, .. } => (b'I', cause.raw_os_error().unwrap_or(0) as u32, [action, ""]),
                other => (b'C', 0, [&other.to_string(), ""]),
            };
            pipe.write_all(&[b'E', kind])?;
            pipe.write_all(&number.to_le_bytes())?;
            for text in words {
                let text = &text.as_bytes()[..text.len().min(WORDS_LIMIT)];
                pipe.write_all(&(text.len() as u32).to_le_bytes())?;
                pipe.write_all(text)?;
            }
        }
    }
    pipe.flush()
}

/// Reads a worker's reply to the request for the picture at `path` of at most `side` pixels. Memory
/// is allocated only for lengths that were checked.
///
/// # Errors
/// When it is not of this protocol, or the pipe has ended.
pub fn read_reply(pipe: &mut impl Read, path: &Path, side: u32) -> io::Result<Reply> {
    let mut kind = [0];
    pipe.read_exact(&mut kind)?;
    match kind[0] {
        b'N' => {
            let mut bytes = [0; 8];
            pipe.read_exact(&mut bytes)?;
            Ok(Reply::Need(u64::from_le_bytes(bytes)))
        }
        b'P' => {
            let size = (number(pipe)?, number(pipe)?);
            let (width, height) = (number(pipe)?, number(pipe)?);
            let is_side = |length: u32| (1..=SIDE_LIMIT).contains(&length);
            let fits = width <= size.0 && height <= size.1 && width.max(height) <= side;
            if !(is_side(size.0) && is_side(size.1) && is_side(width) && is_side(height) && fits) {
                return Err(broken("a picture of a size that was not asked for"));
            }
            let pixels = u64::from(width) * u64::from(height);
            if pixels > PIXEL_LIMIT {
                return Err(broken("a picture that is too large"));
            }
            let raw = bytes(pipe, pixels as usize * 3, PIXEL_LIMIT as usize * 3)?;
            let pixels = RgbImage::from_raw(width, height, raw).ok_or_else(|| broken("too few pixels"))?;
            Ok(Reply::Picture(Picture { pixels, size }))
        }
        b'E' => {
            let mut kind = [0];
            pipe.read_exact(&mut kind)?;
            let code = number(pipe)?;
            let mut words = || -> io::Result<String> {
                let length = number(pipe)? as usize;
                Ok(String::from_utf8_lossy(&bytes(pipe, length, WORDS_LIMIT)?).into_owned())
            };
            let (first, second) = (words()?, words()?);
            let path = path.to_owned();
            Ok(Reply::Refused(match kind[0] {
                b'D' => {
                    let advice = ADVICE.get(code as usize).ok_or_else(|| broken("advice of no known kind"))?;
                    Error::Data { path, expected: first, found: second, advice }
                }
                b'L' => Error::TooLarge { path, expected: first, found: second },
                b'C' => Error::Crashed { path, found: first },
                b'I' => {
                    let action = if first == "open" { "open" } else { "read" };
                    let cause = if code == 0 { io::Error::other("no reason given") } else { io::Error::from_raw_os_error(code as i32) };
                    Error::Io { action, path, cause }
                }
                _ => return Err(broken("an error of no known kind")),
            }))
        }
        _ => Err(broken("something of no known kind")),
    }
}

fn number(pipe: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    pipe.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// `length` bytes, a piece at a time: a claim alone takes no memory.
fn bytes(pipe: &mut impl Read, length: usize, limit: usize) -> io::Result<Vec<u8>> {
    if length > limit {
        return Err(broken("a length beyond all limits"));
    }
    let mut bytes = Vec::with_capacity(length.min(1 << 20));
    pipe.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn broken(found: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, found.to_owned())
}
