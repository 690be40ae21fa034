//! NORB sets in their original form: triples of matrix files `-dat.mat`, `-cat.mat` and
//! `-info.mat`.
//!
//! `dat` holds the bytes of pairs x 2 cameras x height x width; `cat` one category for each pair;
//! `info` four numbers for each pair (instance, elevation, azimuth, lighting), or ten in the
//! jittered-cluttered sets.
//!
//! Y. LeCun, F. J. Huang, L. Bottou, "Learning Methods for Generic Object Recognition with
//! Invariance to Pose and Lighting", CVPR 2004: what was photographed, and how the angles are
//! numbered.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use image::{GrayImage, RgbImage};

use super::mat::{Element, Header, MAX_BYTES, Matrix, broken};
use super::shot::{Camera, Meta};
use crate::error::{self, Error, Result};
use crate::progress::Progress;

/// The categories in the order of their numbers. Only the jittered-cluttered sets have the last
/// one.
pub const CATEGORIES: [&str; 6] = ["animal", "human", "airplane", "truck", "car", "none"];

const CAMERAS: u32 = 2;
/// Most pixels on one side of a frame.
const MAX_SIDE: u32 = 4096;
/// The suffix of an optional text file beside a triple: the names of its categories, one a line, in
/// the order of their numbers.
pub const NAMES: &str = "-names.txt";
/// Most bytes of that file.
const MAX_NAMES: u64 = 64 << 10;
const SUFFIXES: [&str; 3] = ["-dat.mat", "-cat.mat", "-info.mat"];

/// A NORB set in memory. Pair `p` has the frames `2 p` (left camera) and `2 p + 1` (right camera).
pub struct NorbSet {
    dat: PathBuf,
    width: u32,
    height: u32,
    pixels: Vec<u8>,
    categories: Vec<u8>,
    names: Vec<String>,
    info: Vec<i32>,
    n_columns: usize,
}

impl fmt::Debug for NorbSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NorbSet({}, {} pairs of {} x {})", error::display(&self.dat), self.n_pairs(), self.width, self.height)
    }
}

impl NorbSet {
    /// Reads the triple that the `-dat.mat` file `dat` belongs to.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Data`] that names the file: a header that is none, a file too
    /// short or too long, matrices that do not belong together, an unknown category.
    /// [`Error::Cancelled`].
    ///
    /// # Complexity
    /// Reads each byte once; keeps one byte a pixel and, for each pair, one byte and the numbers of
    /// `info`.
    pub fn open(dat: &Path, progress: &Progress) -> Result<Self> {
        Self::read(dat, true, progress)
    }

    /// As [`NorbSet::open`], but without the pixels: its frames cannot be asked for.
    pub(super) fn without_pixels(dat: &Path, progress: &Progress) -> Result<Self> {
        Self::read(dat, false, progress)
    }

    fn read(dat: &Path, with_pixels: bool, progress: &Progress) -> Result<Self> {
        let (cat, info) = (member(dat, 1), member(dat, 2));
        for (path, what) in [(&cat, "the categories of this set"), (&info, "the poses of this set")] {
            if !path.exists() {
                return Err(Error::data(path, what, "no such file", "put the -dat, -cat and -info files of a set into one folder"));
            }
        }
        let pixels = Matrix::open(dat)?;
        let [n_pairs, CAMERAS, height, width] = pixels.header.dims[..] else {
            return Err(broken(dat, "pairs x 2 cameras x height x width", dims(&pixels.header)));
        };
        if pixels.header.element != Element::U8 {
            return Err(broken(dat, "a matrix of bytes", format!("{:?} elements", pixels.header.element)));
        }
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(broken(dat, format!("frames of at most {MAX_SIDE} x {MAX_SIDE}"), format!("{width} x {height}")));
        }
        let categories = Matrix::open(&cat)?;
        if categories.header.dims != [n_pairs] {
            return Err(broken(&cat, format!("{n_pairs} categories, one for each pair"), dims(&categories.header)));
        }
        let poses = Matrix::open(&info)?;
        let n_columns = match poses.header.dims[..] {
            [n, columns @ (4 | 10)] if n == n_pairs => columns as usize,
            _ => return Err(broken(&info, format!("{n_pairs} x 4 or {n_pairs} x 10 numbers"), dims(&poses.header))),
        };

        let categories = categories.integers(progress)?.into_iter().map(|category| match u8::try_from(category) {
            Ok(category) if usize::from(category) < CATEGORIES.len() => Ok(category),
            _ => Err(broken(&cat, "categories 0 to 5", category.to_string())),
        });
        Ok(Self {
            dat: dat.to_owned(),
            width,
            height,
            categories: categories.collect::<Result<_>>()?,
            names: names_beside(dat)?,
            info: poses.integers(progress)?,
            n_columns,
            pixels: if with_pixels { pixels.bytes(progress)? } else { Vec::new() },
        })
    }

    /// The `-dat.mat` file.
    pub fn path(&self) -> &Path {
        &self.dat
    }

    /// Pixels of a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows of a frame.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Stereo pairs, 1 or more.
    pub fn n_pairs(&self) -> u32 {
        self.categories.len() as u32
    }

    /// The grey values of a frame, row by row.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn frame(&self, index: u32) -> &[u8] {
        let size = self.width as usize * self.height as usize;
        &self.pixels[index as usize * size..][..size]
    }

    /// A frame as a picture.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn rgb(&self, index: u32) -> RgbImage {
        let grey = self.frame(index);
        RgbImage::from_fn(self.width, self.height, |x, y| image::Rgb([grey[(y * self.width + x) as usize]; 3]))
    }

    /// The name of a pair's category: one of [`CATEGORIES`], or of the file that [`NAMES`] tells
    /// of.
    ///
    /// # Panics
    /// When there is no such pair.
    pub fn category_name(&self, pair: u32) -> &str {
        &self.names[usize::from(self.category(pair))]
    }

    /// The category of a pair, a position in [`CATEGORIES`].
    ///
    /// # Panics
    /// When there is no such pair.
    pub fn category(&self, pair: u32) -> u8 {
        self.categories[pair as usize]
    }

    /// The numbers that are known of a pair, 4 or 10: instance, elevation, azimuth, lighting, then
    /// for jittered sets the shifts in pixels, the change of luminance and of contrast, the scale
    /// and the rotation.
    ///
    /// # Panics
    /// When there is no such pair.
    pub fn info(&self, pair: u32) -> &[i32] {
        &self.info[pair as usize * self.n_columns..][..self.n_columns]
    }

    /// What is known about a frame. A negative number in the file means not known.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn meta(&self, index: u32) -> Meta {
        let info = self.info(index / CAMERAS);
        let number = |column: usize| u32::try_from(info[column]).ok();
        Meta {
            instance: number(0),
            elevation: number(1),
            azimuth: number(2),
            lighting: number(3),
            camera: Some(camera_of(index)),
            partner: None,
        }
    }

    /// A name of the form that [`super::names`] reads, such as `000123_truck_07_3_12_4_lt`; what is
    /// not known is 0.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn name(&self, index: u32) -> String {
        let pair = index / CAMERAS;
        let category = self.category_name(pair);
        let numbers = self.info(pair).iter().map(|n| *n.max(&0)).collect::<Vec<_>>();
        let (instance, elevation, azimuth, lighting) = (numbers[0], numbers[1], numbers[2], numbers[3]);
        format!("{pair:06}_{category}_{instance:02}_{elevation}_{azimuth}_{lighting}_{}", camera_of(index).short())
    }
}

fn camera_of(index: u32) -> Camera {
    if index.is_multiple_of(CAMERAS) { Camera::Left } else { Camera::Right }
}

fn dims(header: &Header) -> String {
    header.dims.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ")
}

/// The `-dat.mat` files that lie directly in a folder, sorted.
///
/// # Errors
/// [`Error::Io`] when the folder cannot be read.
pub fn find(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let mut out: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| suffix(path) == Some(SUFFIXES[0])).collect();
    out.sort();
    Ok(out)
}

pub(super) fn ambiguous(folder: &Path, dats: &[PathBuf]) -> Error {
    let names = dats.iter().map(|dat| error::display(Path::new(dat.file_name().unwrap_or_default())));
    let prefixes: Vec<String> = names.map(|name| name.trim_end_matches(SUFFIXES[0]).to_owned()).collect();
    let found = format!("{}: {}", dats.len(), prefixes.join(", "));
    Error::data(folder, "one NORB set", found, "name one of the -dat.mat files instead of the folder")
}

/// The names in the file beside `dat`, or the usual ones when there is none.
fn names_beside(dat: &Path) -> Result<Vec<String>> {
    let path = with(&dat.with_file_name(prefix_of(dat)), NAMES);
    let refuse = |found: String| Err(Error::data(&path, "the names of six categories, one a line", found, "mend the file or delete it"));
    let meta = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(CATEGORIES.map(str::to_owned).to_vec()),
        meta => meta.map_err(Error::io("read", &path))?,
    };
    if !meta.is_file() {
        return refuse("something that is not a file".into());
    }
    if meta.len() > MAX_NAMES {
        return refuse(format!("{} bytes", meta.len()));
    }
    let Ok(text) = String::from_utf8(fs::read(&path).map_err(Error::io("read", &path))?) else {
        return refuse("bytes that are not text".into());
    };
    let names: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    if names.len() != CATEGORIES.len() || names.iter().any(String::is_empty) {
        return refuse(format!("{} lines", names.len()));
    }
    Ok(names)
}

/// The `-dat.mat` file of the triple that `path` is one of.
pub(super) fn dat_of_member(path: &Path) -> Option<PathBuf> {
    suffix(path).map(|_| member(path, 0))
}

/// The `-dat.mat` file that begins with `prefix`.
pub(super) fn dat_of_prefix(prefix: &Path) -> PathBuf {
    with(prefix, SUFFIXES[0])
}

fn suffix(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    SUFFIXES.into_iter().find(|suffix| name.ends_with(suffix))
}

/// The file of the same triple as `path` with another suffix.
fn member(path: &Path, which: usize) -> PathBuf {
    with(&path.with_file_name(prefix_of(path)), SUFFIXES[which])
}

/// What the names of a triple's files begin with.
fn prefix_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    suffix(path).and_then(|suffix| name.strip_suffix(suffix)).unwrap_or(&name).to_owned()
}

fn with(prefix: &Path, suffix: &str) -> PathBuf {
    let mut out = OsString::from(prefix);
    out.push(suffix);
    out.into()
}

/// Writes a triple, pair by pair. Until [`NorbWriter::finish`] the files are refused by
/// [`NorbSet::open`].
#[derive(Debug)]
pub struct NorbWriter {
    prefix: PathBuf,
    dat: BufWriter<File>,
    width: u32,
    height: u32,
    categories: Vec<i32>,
    info: Vec<i32>,
}

impl NorbWriter {
    /// Begins the files `prefix-dat.mat`, `prefix-cat.mat` and `prefix-info.mat`; such files are
    /// overwritten.
    ///
    /// # Errors
    /// [`Error::Data`] for frames without pixels or larger than [`NorbSet::open`] reads;
    /// [`Error::Io`].
    pub fn create(prefix: &Path, width: u32, height: u32) -> Result<Self> {
        let path = with(prefix, SUFFIXES[0]);
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            let expected = format!("frames of 1 x 1 to {MAX_SIDE} x {MAX_SIDE}");
            return Err(Error::data(&path, expected, format!("{width} x {height}"), "give frames of such a size"));
        }
        let mut dat = BufWriter::new(File::create(&path).map_err(Error::io("create", &path))?);
        let header = Header { element: Element::U8, dims: vec![0, CAMERAS, height, width] };
        header.write(&mut dat).map_err(Error::io("write", &path))?;
        Ok(Self { prefix: prefix.to_owned(), dat, width, height, categories: Vec::new(), info: Vec::new() })
    }

    /// Appends a pair; `info` holds 4 or 10 numbers, as many in every pair.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] when the pair does not fit to the set or makes it too large
    /// to be read, and the set then stays as it was.
    pub fn push(&mut self, category: u8, info: &[i32], left: &GrayImage, right: &GrayImage) -> Result<()> {
        let path = with(&self.prefix, SUFFIXES[0]);
        let refuse = |expected: String, found: String| Err(Error::data(&path, expected, found, "give every pair the same form"));
        let size = (self.width, self.height);
        if let Some(wrong) = [left, right].into_iter().find(|frame| frame.dimensions() != size) {
            return refuse(format!("frames of {} x {}", self.width, self.height), format!("{} x {}", wrong.width(), wrong.height()));
        }
        if usize::from(category) >= CATEGORIES.len() {
            return refuse("a category of 0 to 5".into(), category.to_string());
        }
        let fits = matches!(info.len(), 4 | 10) && info.len() * self.categories.len() == self.info.len();
        if !fits {
            return refuse("4 or 10 numbers, as many in every pair".into(), info.len().to_string());
        }
        let n_pairs = self.categories.len() as u64 + 1;
        if n_bytes(n_pairs, self.width, self.height).max(4 * info.len() as u64 * n_pairs) > MAX_BYTES {
            let found = format!("pair {n_pairs} of {} x {}", self.width, self.height);
            return Err(Error::data(&path, format!("at most {MAX_BYTES} bytes"), found, "begin another set"));
        }
        for frame in [left, right] {
            self.dat.write_all(frame).map_err(Error::io("write", &path))?;
        }
        self.categories.push(category.into());
        self.info.extend_from_slice(info);
        Ok(())
    }

    /// Completes the three files and returns the path of the `-dat.mat` file.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] when no pair was written.
    pub fn finish(mut self) -> Result<PathBuf> {
        let [path, cat, info] = SUFFIXES.map(|suffix| with(&self.prefix, suffix));
        let n_pairs = self.categories.len();
        if n_pairs == 0 {
            return Err(Error::data(&path, "at least one pair", "none", "write a pair before finishing"));
        }
        let n = n_pairs as u32;
        integers(&cat, &[n], &self.categories)?;
        integers(&info, &[n, (self.info.len() / n_pairs) as u32], &self.info)?;
        // The count is the first dimension, behind the magic number and the number of dimensions.
        self.dat.seek(SeekFrom::Start(8)).map_err(Error::io("write", &path))?;
        self.dat.write_all(&n.to_le_bytes()).map_err(Error::io("write", &path))?;
        self.dat.flush().map_err(Error::io("write", &path))?;
        Ok(path)
    }
}

/// The bytes of the frames of a set.
pub(super) fn n_bytes(n_pairs: u64, width: u32, height: u32) -> u64 {
    n_pairs * u64::from(CAMERAS) * u64::from(width) * u64::from(height)
}

fn integers(path: &Path, dims: &[u32], values: &[i32]) -> Result<()> {
    let mut bytes = Vec::with_capacity(20 + 4 * values.len());
    Header { element: Element::I32, dims: dims.to_vec() }.write(&mut bytes).map_err(Error::io("write", path))?;
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).map_err(Error::io("write", path))
}
