//! Vectors in the files that programs of nearest neighbours exchange: NumPy's `.npy`, `.fvecs` and
//! the `idx` files of handwritten digits, plain or compressed.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};

/// Most values of a file: 16 GB.
const MAX_VALUES: u64 = 1 << 32;

/// Most bytes that a compressed file may hold: it may be much smaller than these.
const MAX_PACKED: u64 = 1 << 30;

/// Most bytes of the header of an `.npy` file.
const MAX_HEADER: usize = 1 << 16;

/// A matrix of f32 `(rows, dimension)`.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorFile {
    /// Values in each row.
    pub dimension: usize,
    /// Row by row.
    pub values: Vec<f32>,
}

impl VectorFile {
    /// Reads a file: by what it begins with one of NumPy (f2, f4, f8, i1 to i8 or
    /// u1 to u4 values, little-endian, one or more axes of which those after the first make up a
    /// row) or `idx` (bytes), plain or compressed by gzip; by its name `.fvecs`.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read; [`Error::Data`] when it is none of these or ends
    /// before all values. No more memory is taken than the file has values.
    pub fn read(path: &Path) -> Result<Self> {
        let (file, is_column) = Self::any(path)?;
        if is_column {
            return Err(broken(path, "no rows of several values"));
        }
        Ok(file)
    }

    /// Reads classes as numbers: one whole number of 0 or more for each row, in files as
    /// [`VectorFile::read`] takes them, of one axis or of rows of one value.
    ///
    /// # Errors
    /// As [`VectorFile::read`]; [`Error::Data`] for rows of more values and other numbers.
    pub fn read_classes(path: &Path) -> Result<Vec<u32>> {
        let (file, _) = Self::any(path)?;
        let wrong = |found| {
            Error::data(path, "a whole number from 0 to 16,777,216 for each row", found, "save the classes as numbers, with numpy.save")
        };
        if file.dimension != 1 && !file.values.is_empty() {
            return Err(wrong(format!("rows of {} values", file.dimension)));
        }
        let class = |value: &f32| {
            let is_class = value.fract() == 0.0 && (0.0..=16_777_216.0).contains(value);
            if is_class { Ok(*value as u32) } else { Err(wrong(value.to_string())) }
        };
        file.values.iter().map(class).collect()
    }

    /// The values of a file, and whether it has one axis alone.
    fn any(path: &Path) -> Result<(Self, bool)> {
        let mut file = BufReader::new(File::open(path).map_err(Error::io("open", path))?);
        let start = fill(&mut file, 2, path)?;
        if start == [0x1f, 0x8b] {
            let rest = std::io::Cursor::new(start).chain(file);
            let mut plain = BufReader::new(MultiGzDecoder::new(rest).take(MAX_PACKED));
            let start = fill(&mut plain, 2, path)?;
            return Self::of(start, plain, path);
        }
        Self::of(start, file, path)
    }

    fn of(start: Vec<u8>, rest: impl Read, path: &Path) -> Result<(Self, bool)> {
        let mut input = std::io::Cursor::new(start.clone()).chain(rest);
        match start.as_slice() {
            _ if path.extension().is_some_and(|ending| ending == "fvecs") => fvecs(&mut input, path).map(|file| (file, false)),
            b"\x93N" => numpy(&mut input, path),
            [0, 0] => idx(&mut input, path),
            _ => Err(broken(path, format!("a file that begins with {start:02x?}"))),
        }
    }

    /// The rows.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.dimension.max(1))
    }
}

fn broken(path: &Path, found: impl Into<String>) -> Error {
    let advice = "save it as .npy with numpy.save(path, numpy.ascontiguousarray(matrix, 'float32')), a row for each vector";
    Error::data(path, "vectors as .npy (rows of numbers), .fvecs or idx", found.into(), advice)
}

/// The next bytes.
fn fill(input: &mut impl Read, n: usize, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = vec![0; n];
    input.read_exact(&mut bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => broken(path, "one that ends before its values do, or a compressed one of more than 1 GiB"),
        _ => Error::io("read", path)(error),
    })?;
    Ok(bytes)
}

/// Values of so many bytes each; memory is taken as they come.
fn values(input: &mut impl Read, count: u64, size: usize, path: &Path, value: impl Fn(&[u8]) -> f32) -> Result<Vec<f32>> {
    if count > MAX_VALUES {
        return Err(broken(path, format!("{count} values, more than {MAX_VALUES}")));
    }
    let mut values = Vec::new();
    let mut left = count as usize;
    while left > 0 {
        let n = left.min(1 << 16);
        values.extend(fill(input, n * size, path)?.chunks_exact(size).map(&value));
        left -= n;
    }
    Ok(values)
}

fn numpy(input: &mut impl Read, path: &Path) -> Result<(VectorFile, bool)> {
    let start = fill(input, 8, path)?;
    if start[..6] != *b"\x93NUMPY" {
        return Err(broken(path, "another beginning than that of .npy"));
    }
    let length = match start[6] {
        1 => fill(input, 2, path)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
        2 | 3 => fill(input, 4, path)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
        version => return Err(broken(path, format!("version {version} of .npy"))),
    };
    if length > MAX_HEADER {
        return Err(broken(path, format!("a header of {length} bytes")));
    }
    let header = String::from_utf8_lossy(&fill(input, length, path)?).into_owned();
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest.trim_start_matches([' ', ':']));
    if after("'fortran_order'").is_none_or(|rest| !rest.starts_with("False")) {
        return Err(broken(path, "values column by column"));
    }
    let shape = after("'shape'").and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')')).map(|(shape, _)| shape);
    let shape: Option<Vec<u64>> =
        shape.and_then(|shape| shape.split(',').map(str::trim).filter(|text| !text.is_empty()).map(|text| text.parse().ok()).collect());
    let is_column = shape.as_ref().is_some_and(|shape| shape.len() == 1);
    let (rows, row) = match shape.as_deref() {
        Some([rows, row @ ..]) => (*rows, row.iter().try_fold(1u64, |product, axis| product.checked_mul(*axis))),
        _ => return Err(broken(path, "no rows of several values")),
    };
    let Some((dimension, count)) = row.and_then(|row| Some((row, rows.checked_mul(row)?))) else {
        return Err(broken(path, "more values than can be counted"));
    };
    let kind = after("'descr'").map(|rest| rest.trim_start_matches('\'').chars().take(3).collect::<String>()).unwrap_or_default();
    let values = match kind.as_str() {
        "<f4" => values(input, count, 4, path, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))?,
        "<f8" => values(input, count, 8, path, |b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32)?,
        "<f2" => values(input, count, 2, path, |b| half::f16::from_le_bytes([b[0], b[1]]).to_f32())?,
        "<i4" => values(input, count, 4, path, |b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32)?,
        "<i8" => values(input, count, 8, path, |b| i64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32)?,
        "<u4" => values(input, count, 4, path, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32)?,
        "<i2" => values(input, count, 2, path, |b| f32::from(i16::from_le_bytes([b[0], b[1]])))?,
        "<u2" => values(input, count, 2, path, |b| f32::from(u16::from_le_bytes([b[0], b[1]])))?,
        "|u1" => values(input, count, 1, path, |b| f32::from(b[0]))?,
        "|i1" => values(input, count, 1, path, |b| f32::from(b[0] as i8))?,
        other => return Err(broken(path, format!("values of the kind `{other}`"))),
    };
    Ok((VectorFile { dimension: dimension as usize, values }, is_column))
}

fn idx(input: &mut impl Read, path: &Path) -> Result<(VectorFile, bool)> {
    let start = fill(input, 4, path)?;
    let axes = usize::from(start[3]);
    if start[2] != 8 || !(1..=4).contains(&axes) {
        return Err(broken(path, "an idx file of other values than bytes, or of no rows"));
    }
    let mut shape = Vec::new();
    for _ in 0..axes {
        let bytes = fill(input, 4, path)?;
        shape.push(u64::from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])));
    }
    let row = shape[1..].iter().try_fold(1u64, |product, axis| product.checked_mul(*axis));
    let Some((dimension, count)) = row.and_then(|row| Some((row, shape[0].checked_mul(row)?))) else {
        return Err(broken(path, "more values than can be counted"));
    };
    let values = values(input, count, 1, path, |b| f32::from(b[0]))?;
    Ok((VectorFile { dimension: dimension as usize, values }, axes == 1))
}

fn fvecs(input: &mut impl Read, path: &Path) -> Result<VectorFile> {
    let mut file = VectorFile { dimension: 0, values: Vec::new() };
    loop {
        let mut start = [0; 4];
        let n = input.read(&mut start).map_err(Error::io("read", path))?;
        if n == 0 {
            return Ok(file);
        }
        start[n..].copy_from_slice(&fill(input, 4 - n, path)?);
        let dimension = i32::from_le_bytes(start);
        if dimension <= 0 || (!file.values.is_empty() && dimension as usize != file.dimension) {
            return Err(broken(path, format!("a row of {dimension} values after rows of {}", file.dimension)));
        }
        file.dimension = dimension as usize;
        file.values.extend(values(input, dimension as u64, 4, path, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))?);
    }
}
