//! What the header of a Netpbm picture (PBM, PGM, PPM, PAM) promises, compared with the length of
//! the file before any memory is taken for its pixels.

use std::io::Read;

use image::ImageError;
use image::codecs::pnm::{PnmDecoder, PnmSubtype, SampleEncoding};

/// Whether a file that begins like this may be a Netpbm picture.
pub(super) fn is_head(head: &[u8]) -> bool {
    match head {
        [b'P', b'7', b'\n', ..] => true,
        [b'P', b'1'..=b'6', space, next, ..] => {
            space.is_ascii_whitespace() && (next.is_ascii_whitespace() || next.is_ascii_digit() || *next == b'#') || *space == b'#'
        }
        _ => false,
    }
}

/// What is wrong with a source of `length` bytes whose header promises other pixels than it can
/// hold. Reads the header only.
pub(super) fn fault(source: impl Read, length: u64) -> Result<Option<String>, ImageError> {
    let decoder = PnmDecoder::new(source)?;
    let header = decoder.header();
    let (width, height) = (u64::from(header.width()), u64::from(header.height()));
    let samples = |depth: u64| width.saturating_mul(height).saturating_mul(depth);
    let bytes = if header.maximal_sample() > 0xFF { 2 } else { 1 };
    let depth = match header.subtype() {
        PnmSubtype::Bitmap(_) | PnmSubtype::Graymap(_) => 1,
        PnmSubtype::Pixmap(_) => 3,
        PnmSubtype::ArbitraryMap => u64::from(header.as_arbitrary().map_or(1, |arbitrary| arbitrary.depth)),
    };
    let needed = match header.subtype() {
        PnmSubtype::Bitmap(SampleEncoding::Binary) => width.div_ceil(8).saturating_mul(height),
        PnmSubtype::Bitmap(SampleEncoding::Ascii) => samples(1),
        // A digit for each, and something between them.
        PnmSubtype::Graymap(SampleEncoding::Ascii) | PnmSubtype::Pixmap(SampleEncoding::Ascii) => {
            samples(depth).saturating_mul(2).saturating_sub(1)
        }
        _ => samples(depth).saturating_mul(bytes),
    };
    if needed > length || width == 0 || height == 0 {
        return Ok(Some(format!("{length} bytes for {width} x {height} pixels")));
    }
    // The codec would read samples of one byte each.
    if bytes > 1 && header.as_arbitrary().is_some_and(|arbitrary| arbitrary.tupltype.is_none()) {
        return Ok(Some("a PAM picture of 16 bits without TUPLTYPE".into()));
    }
    Ok(None)
}
