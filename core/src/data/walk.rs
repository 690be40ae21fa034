//! Lists every image file under a folder, and everything that was left out with the reason.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use super::dataset::Skipped;
use crate::error::{Error, Result};
use crate::picture::decode;
use crate::progress::Progress;

/// Folders inside folders that are followed.
const DEPTH: usize = 64;

/// Endings of pictures that are not decoded, in lower case.
const UNSUPPORTED: [&str; 36] = [
    "3fr", "arw", "avif", "cr2", "cr3", "crw", "dcm", "dds", "dng", "erf", "exr", "ff", "hdr", "heic", "heif", "hif", "ico", "j2k", "jp2",
    "jxl", "kdc", "mef", "mrw", "nef", "nrw", "orf", "pef", "pfm", "psd", "qoi", "raf", "raw", "rw2", "srw", "svg", "tga",
];

/// Endings of files that often lie beside pictures, in lower case.
const COMPANIONS: [&str; 12] = ["csv", "db", "gz", "htm", "html", "ini", "json", "jsonl", "mat", "md", "tsv", "txt"];

/// What a folder holds.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// Files that are pictures by their ending, or by their first bytes where the ending tells
    /// nothing; sorted.
    pub(super) pictures: Vec<PathBuf>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) ignored: usize,
    pub(super) hidden: usize,
    /// The first NORB matrix that was passed over, packed or not.
    pub(super) matrix: Option<PathBuf>,
}

/// Looks through `root`, which may be a link. Links to files below it are files; links to folders
/// are not followed, so that no loop can hold the walk.
pub(super) fn walk(root: &Path, exclude: &[String], progress: &Progress) -> Result<Walk> {
    progress.begin("Reading folders", 0);
    fs::read_dir(root).map_err(Error::io("read", root))?;
    let exclude = Exclude::new(exclude)?;
    let mut out = Walk::default();
    let mut entries = WalkDir::new(root).max_depth(DEPTH).into_iter();
    while let Some(entry) = entries.next() {
        progress.step()?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(root).to_owned();
                let detail = error.io_error().map_or_else(|| error.to_string(), io::Error::to_string);
                out.skipped.push(Skipped { path, reason: "io", detail });
                continue;
            }
        };
        let (depth, kind) = (entry.depth(), entry.file_type());
        if depth == 0 {
            continue;
        }
        let name = entry.file_name().as_encoded_bytes();
        let is_excluded = exclude.takes(root, entry.path());
        if is_excluded || name.starts_with(b".") || name == b"__MACOSX" {
            out.hidden += usize::from(!is_excluded);
            if kind.is_dir() {
                entries.skip_current_dir();
            }
        } else if kind.is_dir() {
            if depth == DEPTH {
                let detail = format!("lies more than {DEPTH} folders deep");
                out.skipped.push(Skipped { path: entry.into_path(), reason: "too_deep", detail });
            }
        } else {
            out.file(entry.into_path(), kind);
        }
    }
    out.pictures.sort();
    Ok(out)
}

/// Patterns of what is left out.
struct Exclude {
    names: GlobSet,
    paths: GlobSet,
}

impl Exclude {
    fn new(patterns: &[String]) -> Result<Self> {
        let set = |with_folders: bool| -> Result<GlobSet, globset::Error> {
            let mut set = GlobSetBuilder::new();
            for pattern in patterns.iter().map(|pattern| pattern.trim_end_matches('/')).filter(|p| p.contains('/') == with_folders) {
                set.add(GlobBuilder::new(pattern).literal_separator(true).build()?);
            }
            set.build()
        };
        let wrong = |error: globset::Error| Error::Option {
            name: "exclude",
            found: format!("`{}` ({})", error.glob().unwrap_or_default(), error.kind()),
            expected: "a pattern such as *.tmp or drafts/**",
        };
        Ok(Self { names: set(false).map_err(wrong)?, paths: set(true).map_err(wrong)? })
    }

    fn takes(&self, root: &Path, path: &Path) -> bool {
        let relative = path.strip_prefix(root).unwrap_or(path);
        path.file_name().is_some_and(|name| self.names.is_match(name)) || self.paths.is_match(relative)
    }
}

impl Walk {
    fn file(&mut self, path: PathBuf, kind: fs::FileType) {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
        let mut skip = |path, reason, detail: String| self.skipped.push(Skipped { path, reason, detail });
        let kind = match fs::metadata(&path) {
            Ok(target) if kind.is_symlink() && target.is_file() => target.file_type(),
            _ => kind,
        };
        if kind.is_symlink() {
            skip(path, "link", "links that do not lead to a file are not followed".into());
        } else if UNSUPPORTED.contains(&ending.as_str()) {
            skip(path, "unsupported", format!("{} pictures cannot be read", ending.to_uppercase()));
        } else if COMPANIONS.contains(&ending.as_str()) {
            self.ignored += 1;
            let name = path.to_string_lossy();
            if self.matrix.is_none() && (name.ends_with(".mat") || name.ends_with(".mat.gz")) {
                self.matrix = Some(path);
            }
        } else if !kind.is_file() {
            skip(path, "special", "neither a file nor a folder".into());
        } else if decode::EXTENSIONS.contains(&ending.as_str()) || decode::has_known_head(&path) {
            self.pictures.push(path);
        } else {
            skip(path, "unsupported", "no picture of a known format".into());
        }
    }
}
