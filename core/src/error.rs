//! The errors of this crate. Each says what was expected, what was found and what to do about it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option has a value that it may not have.
    #[error("option `{name}` is {found}, but it must be {expected}")]
    Option {
        /// The option's name as the user writes it.
        name: &'static str,
        /// The value found.
        found: String,
        /// The values allowed.
        expected: &'static str,
    },
    /// A value that was passed in is not valid.
    #[error("{name}: expected {expected}, found {found}")]
    Value {
        /// What it is.
        name: &'static str,
        /// What it must be.
        expected: String,
        /// What it was.
        found: String,
    },
    /// An act on a library names something that the library does not have.
    #[error("{}: expected {expected} as {name}, found {found}; name another", display(library))]
    NotFound {
        /// The library's folder.
        library: PathBuf,
        /// What kind of thing it is, in a word.
        name: &'static str,
        /// What was named.
        found: String,
        /// What may be named.
        expected: &'static str,
    },
    /// An image that an act on a library names was removed from it.
    #[error(
        "{}: expected an image that is there; restore it first as image, found #{image}, which was removed; name another",
        display(library)
    )]
    Removed {
        /// The library's folder.
        library: PathBuf,
        /// The image's number.
        image: u32,
    },
    /// What an act on a library is given does not fit what the library holds.
    #[error("{}: expected {expected} as {name}, found {found}; name another", display(library))]
    Unfit {
        /// The library's folder.
        library: PathBuf,
        /// What it is, in a word.
        name: &'static str,
        /// The value given.
        found: String,
        /// The values allowed.
        expected: &'static str,
    },
    /// A file or folder does not hold what it should.
    #[error("{}: expected {expected}, found {found}; {advice}", display(path))]
    Data {
        /// The file or folder.
        path: PathBuf,
        /// What should have been there.
        expected: String,
        /// What was there.
        found: String,
        /// What the user can do about it.
        advice: &'static str,
    },
    /// A picture needs more memory or more pixels than the limits allow.
    #[error("{}: expected a picture of {expected}, found {found}; shrink it with an image editor and try again", display(path))]
    TooLarge {
        /// The picture.
        path: PathBuf,
        /// The limit.
        expected: String,
        /// The picture's claim.
        found: String,
    },
    /// A codec broke on a picture instead of reporting an error.
    #[error("{}: expected a picture, found data that made the decoder stop ({found}); save it again with an image editor", display(path))]
    Crashed {
        /// The picture.
        path: PathBuf,
        /// The decoder's last words.
        found: String,
    },
    /// A picture brought down every process that decoded it, or took too long.
    #[error("{}: expected a picture, found data that no decoder survived ({found}); save it again with an image editor", display(path))]
    Fatal {
        /// The picture.
        path: PathBuf,
        /// How it ended.
        found: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {cause}; {}", display(path), way_out(cause))]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// A library is only read.
    #[error("cannot write to {}: {why}; {advice}", display(path))]
    ReadOnly {
        /// What was to be written to.
        path: PathBuf,
        /// Why the library is only read.
        why: &'static str,
        /// What the user can do about it.
        advice: &'static str,
    },
    /// Something is there that writing would replace.
    #[error("{}: expected a new name, found {found}; choose another name, or agree to replacing it", display(path))]
    Exists {
        /// The file or folder.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// Another process has a library open.
    #[error("{}: expected a library that no other program has open, found it in use by {holder}; close that program first", display(path))]
    Busy {
        /// The library.
        path: PathBuf,
        /// The program that has it open.
        holder: String,
    },
    /// The work was cancelled.
    #[error("the work was cancelled")]
    Cancelled,
}

impl Error {
    /// Wraps a system error; made for `map_err`.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { action, path, cause }
    }

    /// Wraps an error of reading a text: that of the system, or that it is none in UTF-8. Made for
    /// `map_err`.
    pub fn text(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| match cause.kind() {
            io::ErrorKind::InvalidData => Self::data(&path, "a text in UTF-8", "other bytes", "name another file, or save it as UTF-8"),
            _ => Self::io("read", path)(cause),
        }
    }

    /// A file or folder that does not hold what it should.
    pub fn data(path: &Path, expected: impl Into<String>, found: impl Into<String>, advice: &'static str) -> Self {
        Self::Data { path: path.to_owned(), expected: expected.into(), found: found.into(), advice }
    }

    /// A value passed in that is not valid.
    pub fn value(name: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Value { name, expected: expected.into(), found: found.into() }
    }

    /// Something that an act on a library names and that the library does not have.
    pub fn not_found(library: &Path, name: &'static str, found: String, expected: &'static str) -> Self {
        Self::NotFound { library: library.to_owned(), name, found, expected }
    }

    /// The kind of error in one word, for programs that read reports. Whatever an act on a library
    /// is refused for is `option`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Option { .. } | Self::NotFound { .. } | Self::Removed { .. } | Self::Unfit { .. } => "option",
            Self::Value { .. } => "value",
            Self::Data { .. } | Self::Exists { .. } => "data",
            Self::TooLarge { .. } => "too_large",
            Self::Crashed { .. } => "crashed",
            Self::Fatal { .. } => "fatal",
            Self::Io { .. } | Self::ReadOnly { .. } => "io",
            Self::Busy { .. } => "busy",
            Self::Cancelled => "cancelled",
        }
    }
}

fn way_out(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::NotFound => "check the name, and that the drive is there",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "ask for access, or choose another place",
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => "choose another name",
        io::ErrorKind::StorageFull => "make room, or choose another place",
        io::ErrorKind::InvalidFilename => "choose a shorter name",
        _ => "try again, or choose another place",
    }
}

/// Checks a name that is to stand in files and on command lines, as option `option` gave it.
///
/// # Errors
/// [`Error::Option`] when it may not be one.
pub(crate) fn check_plain(option: &'static str, name: &str) -> Result<()> {
    let is_plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    if is_plain && (1..=32).contains(&name.len()) {
        return Ok(());
    }
    let expected = "1 to 32 lowercase letters, digits, `-` and `_`";
    Err(Error::Option { name: option, found: format!("`{name}`"), expected })
}

/// A path for people: control characters are escaped, bytes that are not text become replacement
/// characters.
pub fn display(path: &Path) -> String {
    path.to_string_lossy().chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

/// The name of a file or folder for people, without the folder it lies in; a path without a name is
/// shown whole.
pub fn display_name(path: &Path) -> String {
    display(Path::new(path.file_name().unwrap_or(path.as_os_str())))
}

/// Runs `work`, and catches its panic.
///
/// # Errors
/// The panic's message.
pub fn contained<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
        words.unwrap_or_else(|| "no reason given".into())
    })
}
