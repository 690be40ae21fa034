//! Paths as bytes, so that names that are not valid text survive being stored.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A path that can be written to JSON: as text where it is text, otherwise as its bytes in
/// hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPath(pub PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

impl Serialize for RawPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => Form::Text(text.into()).serialize(serializer),
            None => Form::Bytes { bytes: to_bytes(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RawPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Form::deserialize(deserializer)? {
            Form::Text(text) => PathBuf::from(text),
            Form::Bytes { bytes } => from_bytes(bytes),
        }))
    }
}

/// The bytes of a path.
#[cfg(unix)]
pub(crate) fn to_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_owned()
}

/// The bytes of a path.
#[cfg(not(unix))]
pub(crate) fn to_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// The path of some bytes.
#[cfg(unix)]
pub(crate) fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

/// The path of some bytes.
#[cfg(not(unix))]
pub(crate) fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
