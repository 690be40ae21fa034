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
    /// Files that are no pictures by their ending; sorted.
    pub(super) others: Vec<PathBuf>,
    pub(super) hidden: usize,
    /// How many files each pattern takes out; counted only where that is asked for.
    pub(super) excluded: Vec<usize>,
    /// The first NORB matrix that was passed over, packed or not.
    pub(super) matrix: Option<PathBuf>,
}

/// Looks through `root`, which may be a link. Links to files below it are files; links to folders
/// are not followed, so that no loop can hold the walk. `counts` looks into folders that a pattern
/// takes out, too, to count the files in them.
pub(super) fn walk(root: &Path, patterns: &[String], counts: bool, progress: &Progress) -> Result<Walk> {
    progress.begin("Reading folders", 0);
    fs::read_dir(root).map_err(Error::io("read", root))?;
    let exclude = Exclude::new(patterns)?;
    let mut out = Walk { excluded: vec![0; patterns.len()], ..Walk::default() };
    // The folders around an entry that patterns take out: how deep they lie, and by which patterns.
    let mut around: Vec<(usize, Vec<usize>)> = Vec::new();
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
        let is_hidden = name.starts_with(b".") || name == b"__MACOSX";
        while around.last().is_some_and(|(folder, _)| *folder >= depth) {
            around.pop();
        }
        let mut taken = exclude.taken(root, entry.path());
        taken.extend(around.last().into_iter().flat_map(|(_, patterns)| patterns));
        if !taken.is_empty() || is_hidden {
            out.hidden += usize::from(taken.is_empty());
            taken.sort_unstable();
            taken.dedup();
            if !kind.is_dir() {
                taken.into_iter().for_each(|pattern| out.excluded[pattern] += 1);
            } else if counts && !is_hidden {
                around.push((depth, taken));
            } else {
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
    out.others.sort();
    Ok(out)
}

/// Patterns of what is left out.
struct Exclude {
    /// Each with the positions of its patterns.
    names: (GlobSet, Vec<usize>),
    paths: (GlobSet, Vec<usize>),
}

impl Exclude {
    fn new(patterns: &[String]) -> Result<Self> {
        let set = |with_folders: bool| -> Result<(GlobSet, Vec<usize>), globset::Error> {
            let (mut set, mut places) = (GlobSetBuilder::new(), Vec::new());
            for (i, pattern) in patterns.iter().map(|pattern| pattern.trim_end_matches('/')).enumerate() {
                if pattern.contains('/') == with_folders {
                    set.add(GlobBuilder::new(pattern).literal_separator(true).build()?);
                    places.push(i);
                }
            }
            Ok((set.build()?, places))
        };
        let wrong = |error: globset::Error| Error::Option {
            name: "exclude",
            found: format!("`{}` ({})", error.glob().unwrap_or_default(), error.kind()),
            expected: "a pattern such as *.tmp or drafts/**",
        };
        Ok(Self { names: set(false).map_err(wrong)?, paths: set(true).map_err(wrong)? })
    }

    /// The positions of the patterns that a path fits.
    fn taken(&self, root: &Path, path: &Path) -> Vec<usize> {
        let relative = path.strip_prefix(root).unwrap_or(path);
        let name = Path::new(path.file_name().unwrap_or_default());
        let fits = |(set, places): &(GlobSet, Vec<usize>), path| set.matches(path).into_iter().map(|i| places[i]).collect::<Vec<_>>();
        [fits(&self.names, name), fits(&self.paths, relative)].concat()
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
            let name = path.to_string_lossy();
            if self.matrix.is_none() && (name.ends_with(".mat") || name.ends_with(".mat.gz")) {
                self.matrix = Some(path.clone());
            }
            self.others.push(path);
        } else if !kind.is_file() {
            skip(path, "special", "neither a file nor a folder".into());
        } else if decode::EXTENSIONS.contains(&ending.as_str()) || decode::has_known_head(&path) {
            self.pictures.push(path);
        } else {
            skip(path, "unsupported", "no picture of a known format".into());
        }
    }
}
