//! The matrix files of NORB: a magic number, the dimensions, the elements, all little-endian.
//!
//! A file is `magic: u32`, `n: i32` (1 to 8), `max(n, 3)` dimensions as `i32` (those beyond `n` are
//! 1), and the elements, the last dimension running fastest. Nothing may follow them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::progress::Progress;

/// Most bytes that the elements of one matrix may take, so that a frame's number fits into `u32`.
pub(super) const MAX_BYTES: u64 = u32::MAX as u64;
/// Most dimensions of a matrix.
const MAX_DIMS: u32 = 8;
/// Bytes read between two checks for cancellation.
const STEP: u64 = 8 << 20;

/// What a matrix is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// 32-bit floating point, magic number `1E3D4C51`.
    F32,
    /// 64-bit floating point, magic number `1E3D4C53`.
    F64,
    /// 32-bit integers, magic number `1E3D4C54`.
    I32,
    /// Bytes, magic number `1E3D4C55`.
    U8,
    /// 16-bit integers, magic number `1E3D4C56`.
    I16,
}

/// Packed matrices have this magic number; their elements are not documented, so they are refused.
const PACKED: u32 = 0x1E3D_4C52;

impl Element {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::F32, Self::F64, Self::I32, Self::U8, Self::I16];

    /// The first four bytes of a file of this kind.
    pub fn magic(self) -> u32 {
        match self {
            Self::F32 => 0x1E3D_4C51,
            Self::F64 => 0x1E3D_4C53,
            Self::I32 => 0x1E3D_4C54,
            Self::U8 => 0x1E3D_4C55,
            Self::I16 => 0x1E3D_4C56,
        }
    }

    /// Bytes of one element.
    pub fn size(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 => 8,
        }
    }
}

/// The head of a matrix file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the matrix is made of.
    pub element: Element,
    /// Its dimensions, 1 to 8 of them, each 1 or more.
    pub dims: Vec<u32>,
}

impl Header {
    /// Reads a header; `path` is for the errors.
    ///
    /// # Errors
    /// [`Error::Data`] when these bytes are no such header, [`Error::Io`].
    pub fn read(path: &Path, from: &mut impl Read) -> Result<Self> {
        let mut word = || {
            let mut bytes = [0; 4];
            from.read_exact(&mut bytes).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => broken(path, "a whole header", "a file that ends inside it"),
                _ => Error::io("read", path)(error),
            })?;
            Ok(u32::from_le_bytes(bytes))
        };
        let magic = word()?;
        let Some(element) = Element::ALL.into_iter().find(|element| element.magic() == magic) else {
            return Err(wrong_magic(path, magic));
        };
        let n_dims = word()?;
        if !(1..=MAX_DIMS).contains(&n_dims) {
            return Err(broken(path, format!("1 to {MAX_DIMS} dimensions"), (n_dims as i32).to_string()));
        }
        let mut dims = Vec::new();
        for i in 0..n_dims.max(3) {
            let dim = word()?;
            if dim == 0 || i32::try_from(dim).is_err() {
                return Err(broken(path, "dimensions of 1 or more", (dim as i32).to_string()));
            }
            if i < n_dims {
                dims.push(dim);
            } else if dim != 1 {
                return Err(broken(path, format!("1 in place of a dimension beyond the {n_dims} in use"), dim.to_string()));
            }
        }
        Ok(Self { element, dims })
    }

    /// Writes the header.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.element.magic().to_le_bytes())?;
        to.write_all(&(self.dims.len() as u32).to_le_bytes())?;
        for i in 0..self.dims.len().max(3) {
            to.write_all(&self.dims.get(i).unwrap_or(&1).to_le_bytes())?;
        }
        Ok(())
    }

    /// Bytes of the header itself.
    pub fn size(&self) -> u64 {
        8 + 4 * self.dims.len().max(3) as u64
    }

    /// Bytes of the elements; `None` when they are more than 64 bits can count.
    pub fn data_size(&self) -> Option<u64> {
        self.dims.iter().try_fold(self.element.size(), |product, dim| product.checked_mul(u64::from(*dim)))
    }

    fn words(&self) -> String {
        self.dims.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ")
    }
}

/// A matrix file whose header was read and whose length is right.
#[derive(Debug)]
pub(super) struct Matrix<'a> {
    pub(super) header: Header,
    path: &'a Path,
    file: File,
    n_bytes: u64,
}

impl<'a> Matrix<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        // Opening a pipe or a device could wait for ever, so the kind of file is checked first.
        let meta = std::fs::metadata(path).map_err(Error::io("read", path))?;
        if !meta.is_file() {
            return Err(broken(path, "a NORB matrix", "something that is not a file"));
        }
        let mut file = File::open(path).map_err(Error::io("open", path))?;
        let header = Header::read(path, &mut file)?;
        let Some(n_bytes) = header.data_size().filter(|bytes| *bytes <= MAX_BYTES) else {
            return Err(broken(path, format!("at most {MAX_BYTES} bytes of elements"), header.words()));
        };
        let (whole, found) = (header.size() + n_bytes, meta.len());
        if whole != found {
            return Err(broken(path, format!("{whole} bytes for a matrix of {}", header.words()), format!("{found} bytes")));
        }
        Ok(Self { header, path, file, n_bytes })
    }

    /// The elements' bytes, read once into memory of just their size.
    pub(super) fn bytes(mut self, progress: &Progress) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        if out.try_reserve_exact(self.n_bytes as usize).is_err() {
            return Err(Error::TooLarge {
                path: self.path.to_owned(),
                expected: "a size that fits into memory".into(),
                found: format!("{} bytes", self.n_bytes),
            });
        }
        progress.begin("Reading pixels", self.n_bytes.div_ceil(STEP));
        while (out.len() as u64) < self.n_bytes {
            progress.step()?;
            let left = self.n_bytes - out.len() as u64;
            let n_read = (&mut self.file).take(left.min(STEP)).read_to_end(&mut out).map_err(Error::io("read", self.path))?;
            if n_read == 0 {
                return Err(broken(self.path, format!("{left} more bytes"), "a file that became shorter meanwhile"));
            }
        }
        Ok(out)
    }

    /// The elements as whole numbers.
    pub(super) fn integers(self, progress: &Progress) -> Result<Vec<i32>> {
        let (path, element) = (self.path, self.header.element);
        let bytes = self.bytes(progress)?;
        let whole = |value: f64| {
            let fits = value.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value);
            if fits { Ok(value as i32) } else { Err(broken(path, "whole numbers", value.to_string())) }
        };
        match element {
            Element::U8 => Ok(bytes.into_iter().map(i32::from).collect()),
            Element::I16 => Ok(chunks(&bytes).map(i16::from_le_bytes).map(i32::from).collect()),
            Element::I32 => Ok(chunks(&bytes).map(i32::from_le_bytes).collect()),
            Element::F32 => chunks(&bytes).map(f32::from_le_bytes).map(|value| whole(value.into())).collect(),
            Element::F64 => chunks(&bytes).map(f64::from_le_bytes).map(whole).collect(),
        }
    }
}

fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks().0.iter().copied()
}

pub(super) fn broken(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Error {
    Error::data(path, expected, found, "copy or download the file again, and unpack it again")
}

fn wrong_magic(path: &Path, magic: u32) -> Error {
    let expected = "a NORB matrix (magic number 1E3D4C51 to 1E3D4C56)";
    if magic & 0xFFFF == 0x8B1F {
        return Error::data(path, expected, "a gzip file", "unpack it first");
    }
    if magic == PACKED {
        return Error::data(path, expected, "a packed matrix (1E3D4C52)", "save it again as a matrix of bytes or integers");
    }
    if magic.swap_bytes() >> 8 == PACKED >> 8 {
        return Error::data(path, expected, "the bytes in reverse order", "save it again on a little-endian machine");
    }
    broken(path, expected, format!("{magic:08X}"))
}
