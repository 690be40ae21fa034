//! Numbers as little-endian bytes and back, for models that go on after saving exactly as they
//! would have without it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// What can be written as bytes and read back, bit for bit. Every value takes at least one byte.
pub trait Stored: Sized {
    /// Appends the value.
    fn write(&self, out: &mut Writer);

    /// Reads the next value. Any bytes are safe to read.
    ///
    /// # Errors
    /// [`Error::Value`] when the bytes end too early or are no such value.
    fn read(from: &mut Reader<'_>) -> Result<Self>;
}

/// A value as bytes.
pub fn stored<T: Stored>(value: &T) -> Vec<u8> {
    let mut out = Writer::default();
    out.put(value);
    out.finish()
}

/// The value that [`stored`] wrote. `name` is what errors call it.
///
/// # Errors
/// [`Error::Value`] when the bytes are no such value, or more than one.
pub fn restored<T: Stored>(name: &'static str, bytes: &[u8]) -> Result<T> {
    let mut from = Reader::new(name, bytes);
    let value = from.get()?;
    from.end()?;
    Ok(value)
}

/// Options as RON text, which is the same for the same values in every version of the program.
/// Models store it, and keys of caches are hashes of it. Empty for a type that has no form in RON,
/// which [`Reader::options`] refuses.
pub fn options_text<T: Serialize>(options: &T) -> String {
    ron::to_string(options).unwrap_or_default()
}

/// Writes values one after another as bytes.
#[derive(Clone, Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Appends a value.
    pub fn put<T: Stored>(&mut self, value: &T) {
        value.write(self);
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends options, as [`options_text`].
    pub fn options<T: Serialize>(&mut self, options: &T) {
        self.put(&options_text(options));
    }

    /// Appends the length of a list that follows; [`Reader::count`] reads it.
    pub fn count(&mut self, n: usize) {
        self.put(&(n as u64));
    }

    /// The bytes written.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads values from bytes, one after another.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    name: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of `bytes`, which are called `name` in errors.
    pub fn new(name: &'static str, bytes: &'a [u8]) -> Self {
        Self { name, rest: bytes }
    }

    /// The error for bytes that are not what was expected.
    pub fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::value(self.name, expected, found)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// [`Error::Value`] when there are fewer.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.short(N))?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// The next value.
    ///
    /// # Errors
    /// As [`Stored::read`].
    pub fn get<T: Stored>(&mut self) -> Result<T> {
        T::read(self)
    }

    /// The options that [`Writer::options`] wrote. Whether they are in range is for the caller to
    /// check.
    ///
    /// # Errors
    /// [`Error::Value`] when the text is not of such options.
    pub fn options<T: DeserializeOwned>(&mut self) -> Result<T> {
        let text: String = self.get()?;
        ron::from_str(&text).map_err(|error| self.wrong("options", error.to_string()))
    }

    /// The length of a list that follows. As each element takes at least one byte, a length beyond
    /// the bytes left is refused: memory for so many elements can be allocated safely.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub fn count(&mut self) -> Result<usize> {
        let n: u64 = self.get()?;
        match usize::try_from(n) {
            Ok(n) if n <= self.rest.len() => Ok(n),
            _ => Err(self.wrong(format!("at most {} more things", self.rest.len()), n.to_string())),
        }
    }

    /// The next number, if it is finite.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub fn finite(&mut self) -> Result<f32> {
        let value: f32 = self.get()?;
        if value.is_finite() { Ok(value) } else { Err(self.wrong("a finite number", value.to_string())) }
    }

    /// The next list of numbers, if all are finite.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub fn finite_values(&mut self) -> Result<Vec<f32>> {
        let n = self.count()?;
        (0..n).map(|_| self.finite()).collect()
    }

    /// Checks that everything was read.
    ///
    /// # Errors
    /// [`Error::Value`] when bytes are left.
    pub fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.wrong("no more bytes", format!("{} more", self.rest.len()))) }
    }

    fn short(&self, wanted: usize) -> Error {
        self.wrong(format!("{wanted} bytes or more"), format!("{}, the last", self.rest.len()))
    }
}

macro_rules! stored_number {
    ($($number:ty),*) => {$(
        impl Stored for $number {
            fn write(&self, out: &mut Writer) {
                out.bytes(&self.to_le_bytes());
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                Ok(Self::from_le_bytes(from.bytes()?))
            }
        }
    )*};
}

stored_number!(u8, u32, u64, u128, i16, i64, i128, f32, f64);

impl Stored for bool {
    fn write(&self, out: &mut Writer) {
        out.put(&u8::from(*self));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.get::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(from.wrong("0 or 1", other.to_string())),
        }
    }
}

impl Stored for () {
    fn write(&self, out: &mut Writer) {
        out.put(&0u8);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.get::<u8>()? {
            0 => Ok(()),
            other => Err(from.wrong("0", other.to_string())),
        }
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Writer) {
        out.put(&self.is_some());
        if let Some(value) = self {
            out.put(value);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        if from.get()? { from.get().map(Some) } else { Ok(None) }
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
        out.put(&self.1);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok((from.get()?, from.get()?))
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Writer) {
        out.count(self.len());
        for value in self {
            out.put(value);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let n = from.count()?;
        (0..n).map(|_| from.get()).collect()
    }
}

impl Stored for String {
    fn write(&self, out: &mut Writer) {
        out.count(self.len());
        out.bytes(self.as_bytes());
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let n = from.count()?;
        let (text, rest) = from.rest.split_at(n);
        from.rest = rest;
        Self::from_utf8(text.to_vec()).map_err(|_| from.wrong("text", "bytes that are not text"))
    }
}
