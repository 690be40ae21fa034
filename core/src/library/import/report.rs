//! What an import did.

use std::path::{Path, PathBuf};

use crate::data::plan::{NO_PICTURE, not_a_picture};
use crate::data::{Mask, Skipped};
use crate::error::{self, Error};

/// The reason, in one word, for pictures that are masks of others.
pub const MASK: &str = "mask";
/// The reason, in one word, for files with the bytes of an image.
pub const DUPLICATE: &str = "duplicate";

/// The reason, in one word, for pictures that were taken in though part of them is missing.
pub const CUT_OFF: &str = "cut_off";

/// What an import did. Every image file found is counted once: `found` is the sum of the five that
/// follow it.
#[derive(Debug, Default)]
pub struct Imported {
    /// Image files; the two halves of a stereo pair are one.
    pub found: usize,
    /// New images, and known files with other bytes than before.
    pub imported: usize,
    /// Files that are known and have not changed.
    pub unchanged: usize,
    /// Files whose bytes are already there under another name.
    pub duplicate: usize,
    /// Of these: files whose bytes no other place has any more, for they were moved.
    pub moved: usize,
    /// The others, each with a file that has its bytes.
    pub copies: Vec<(PathBuf, PathBuf)>,
    /// Of these: files in the folder of another class than the image has. It keeps its class; only
    /// one without a class gets that of a copy.
    pub conflicts: Vec<ClassConflict>,
    /// Pictures of a format that cannot be read.
    pub unsupported: usize,
    /// Those files.
    pub unsupported_files: Vec<FailedFile>,
    /// Not in `found`: pictures left out because they are masks of others.
    pub masks: Vec<Mask>,
    /// Not in `found`: files that are no pictures by their ending, without captions beside images.
    pub others: Vec<PathBuf>,
    /// Files that could not be taken in.
    pub failed: Vec<FailedFile>,
    /// Of `imported`: known files with other bytes than before.
    pub changed: usize,
    /// Of `unchanged` and `duplicate`: images that were there before and whose folder, or that of a
    /// copy, says another class than it did.
    pub relabelled: usize,
    /// Of `imported`: JPEG files without the end mark of their picture, of which a part may be
    /// missing.
    pub cut_off: Vec<PathBuf>,
    /// Of `unchanged`: files that the user wanted forgotten.
    pub forgotten: usize,
    /// Text files beside images of which captions were left out.
    pub texts_left_out: Vec<TextLeftOut>,
    /// Images of the folder that have no file any more, here or elsewhere; they stay.
    pub missing: usize,
    /// Processes that files brought down while they were decoded.
    pub worker_deaths: u64,
    /// How the folder was understood, in words.
    pub layout: String,
    /// Whether it was cancelled; what was done till then stays.
    pub cancelled: bool,
}

impl Imported {
    /// Every file that was not taken in, is a copy of an image or is cut off, with the reason;
    /// without those that failed and those that the user wanted forgotten.
    pub fn left_out(&self) -> Vec<FailedFile> {
        let detail = |of: &Path| format!("a mask or map of {}", error::display(of));
        let mask = |mask: &Mask| FailedFile { path: mask.path.clone(), reason: MASK, detail: detail(&mask.of) };
        let other = |path: &PathBuf| FailedFile { path: path.clone(), reason: NO_PICTURE, detail: not_a_picture(path) };
        let copy = |(path, first): &(PathBuf, PathBuf)| FailedFile { path: path.clone(), reason: DUPLICATE, detail: copy_of(first) };
        let left_out = self.unsupported_files.iter().cloned().chain(self.masks.iter().map(mask)).chain(self.others.iter().map(other));
        let cut_off = |path: &PathBuf| FailedFile {
            path: path.clone(),
            reason: CUT_OFF,
            detail: "the file has no end mark: a part of its picture may be missing, which is grey then; it is taken in all the same"
                .into(),
        };
        left_out.chain(self.copies.iter().map(copy)).chain(self.cut_off.iter().map(cut_off)).collect()
    }
}

/// What is said of a file with the bytes of an image, of which `first` is another file.
pub(in crate::library) fn copy_of(first: &Path) -> String {
    format!("has the bytes of {}", error::display(first))
}

/// A file with the bytes of an image, in the folder of another class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassConflict {
    /// The file.
    pub path: PathBuf,
    /// The class that its folder or name says.
    pub class: String,
    /// A file of the image that was there before.
    pub first: PathBuf,
    /// The class that this one's folder or name says, which the image keeps.
    pub kept: String,
}

/// A text file beside an image that was left out, wholly or in part.
#[derive(Clone, Debug)]
pub struct TextLeftOut {
    /// The text file.
    pub path: PathBuf,
    /// How many captions were left out; `None` where it was not read at all.
    pub captions: Option<usize>,
    /// The reason in words.
    pub detail: String,
}

/// A file that could not be taken in.
#[derive(Clone, Debug)]
pub struct FailedFile {
    /// The file.
    pub path: PathBuf,
    /// One word for programs.
    pub reason: &'static str,
    /// The reason in words.
    pub detail: String,
}

impl FailedFile {
    pub(super) fn skipped(skipped: &Skipped) -> Self {
        Self { path: skipped.path.clone(), reason: skipped.reason, detail: skipped.detail.clone() }
    }

    pub(super) fn new(path: &Path, error: &Error) -> Self {
        Self { path: path.to_owned(), reason: error.reason(), detail: error.to_string() }
    }
}
