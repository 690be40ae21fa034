//! From a file to upright pixels, with explicit limits, and a typed error for everything that is
//! not a picture.

use std::cell::Cell;
use std::error::Error as _;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, RgbImage};

use super::budget::{Budget, MemoryBudget, Share};
use super::{netpbm, resize};
use crate::error::{self, Error, Result};
use crate::progress::Progress;

/// File name endings that are taken for pictures, in lower case.
pub const EXTENSIONS: [&str; 14] = ["png", "jpg", "jpeg", "jpe", "gif", "webp", "bmp", "tif", "tiff", "pbm", "pgm", "ppm", "pnm", "pam"];

/// Whether the first bytes of a file are those of a picture that can be read. It must be a regular
/// file: opening a pipe could wait for ever.
pub fn has_known_head(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = File::open(path).and_then(|mut file| file.read(&mut head));
    read.is_ok_and(|n| match image::guess_format(&head[..n]) {
        // Two letters are too few: a text may begin with them.
        Ok(ImageFormat::Pnm) => netpbm::is_head(&head[..n]),
        format => format.is_ok_and(is_readable),
    })
}

fn is_readable(format: ImageFormat) -> bool {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, Pnm, Tiff, WebP};
    matches!(format, Png | Jpeg | Gif | WebP | Bmp | Tiff | Pnm)
}

/// The longer side, in pixels, to which pictures are decoded to be learned or shown small. No
/// machine works at a larger size.
pub const SIDE: u32 = 1024;
/// The side to ask for when a picture is wanted at full size.
pub const WHOLE: u32 = u32::MAX;

/// A decoded picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its pixels, upright, shrunk where there were more than were asked for.
    pub pixels: RgbImage,
    /// Its own width and height, upright, before it was shrunk.
    pub size: (u32, u32),
}

impl Picture {
    /// A picture brought to at most `side` pixels on its longer side; never enlarged. O(pixels).
    pub fn shrunk(pixels: RgbImage, side: u32) -> Self {
        let size = pixels.dimensions();
        if size.0.max(size.1) <= side {
            return Self { pixels, size };
        }
        let (width, height) = resize::fit(size.0, size.1, side);
        Self { pixels: resize::resize_rgb(&pixels, width, height), size }
    }
}

impl From<RgbImage> for Picture {
    fn from(pixels: RgbImage) -> Self {
        Self::shrunk(pixels, WHOLE)
    }
}

/// Decodes image files.
///
/// Every implementation upholds: the picture is upright (its EXIF orientation was applied),
/// transparent parts lie on white, animations give their first frame, no file makes it panic, and
/// the pixels are the same to the last bit.
pub trait Decoder: Send + Sync {
    /// Decodes the picture at `path`, and brings its longer side to at most `side` pixels.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read, [`Error::TooLarge`] beyond the limits,
    /// [`Error::Crashed`] when the codec broke, [`Error::Fatal`] when it took its process with it
    /// or took too long, and [`Error::Data`] for everything else that is not a picture; each names
    /// the file. [`Error::Cancelled`] while it waits for memory or for a process, and where a
    /// decoder can stop in the middle.
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> Result<Picture>;

    /// The number of worker processes that files have crashed so far.
    fn deaths(&self) -> u64 {
        0
    }

    /// The memory reserved for pictures being decoded; zeros where it is not counted.
    fn memory(&self) -> MemoryBudget {
        MemoryBudget::default()
    }

    /// Sets how many bytes pictures being decoded may reserve from now on.
    fn limit_memory(&self, _bytes: u64) {}

    /// A sentence for users when decoding works only in part, such as without worker processes;
    /// `None` when all is well.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Limits on the size of pictures. By default the largest picture of 8 bits a channel fits, also as
/// a TIFF, which is held twice while it is decoded, beside one of its strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pixels on one side.
    pub side: u32,
    /// Pixels in all.
    pub pixels: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes a codec may ask for, those of the pixels it gives among them. Not every codec keeps to
    /// it.
    pub codec_bytes: u64,
    /// Bytes that all pictures being decoded at one time may need, reckoned at the length of the
    /// file and twelve bytes a pixel, or twice what the file has for a pixel if that is more. One
    /// picture alone may need more.
    pub total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let pixels = 100_000_000;
        Self { side: 65_535, pixels, file_bytes: 512 << 20, codec_bytes: pixels * BYTES_PER_PIXEL, total_bytes: 2 << 30 }
    }
}

impl Limits {
    /// Makes sure that a file is not too large to be read.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn check_bytes(&self, path: &Path, bytes: u64) -> Result<()> {
        if bytes <= self.file_bytes {
            return Ok(());
        }
        let expected = format!("at most {} bytes", self.file_bytes);
        Err(Error::TooLarge { path: path.to_owned(), expected, found: format!("{bytes} bytes") })
    }
}

/// Decodes in this process; a codec's panic is caught and reported as [`Error::Crashed`].
#[derive(Debug)]
pub struct InProcess {
    limits: Limits,
    budget: Budget,
}

impl Default for InProcess {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a codec. A panic there is caught, so a program's panic hook may
/// keep silent about it.
pub fn is_decoding() -> bool {
    DECODING.get()
}

const BYTES_PER_PIXEL: u64 = 12;

/// Grants memory for a picture.
pub(super) trait Room {
    /// Releases what was granted, and waits for room for `bytes`.
    fn wait_for(&mut self, bytes: u64) -> Result<()>;
    /// Room for `bytes` in all; false when all must be given back before waiting for it.
    fn grow(&mut self, bytes: u64) -> Result<bool>;
}

impl Room for Share<'_> {
    fn wait_for(&mut self, bytes: u64) -> Result<()> {
        Share::wait_for(self, bytes)
    }

    fn grow(&mut self, bytes: u64) -> Result<bool> {
        Ok(Share::grow(self, bytes))
    }
}

impl InProcess {
    /// A decoder with these limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, budget: Budget::new(limits.total_bytes) }
    }

    /// Decodes a picture that lies in memory; `name` stands for its path in errors.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_bytes(&self, name: &Path, bytes: &[u8]) -> Result<RgbImage> {
        contained(name, || self.read(name, Cursor::new(bytes), bytes.len() as u64, &mut self.budget.share(&Progress::default())))
    }

    /// Decodes the bytes of a file that another process has read, with memory that `room` grants.
    /// That process knows the path.
    pub(super) fn decode_sent(&self, bytes: &[u8], side: u32, room: &mut dyn Room) -> Result<Picture> {
        let path = Path::new("");
        let pixels = contained(path, || self.read(path, Cursor::new(bytes), bytes.len() as u64, room))?;
        Ok(Picture::shrunk(pixels, side))
    }

    /// Reads a picture from a source of `length` bytes. Some codecs read all of these to tell the
    /// size of the picture, so room for them comes first.
    fn read(&self, path: &Path, mut source: impl BufRead + Seek, length: u64, room: &mut dyn Room) -> Result<RgbImage> {
        let mut needed = length;
        loop {
            room.wait_for(needed)?;
            source.rewind().map_err(Error::io("read", path))?;
            let (decoder, limits) = self.open(path, &mut source, length)?;
            let (width, height) = decoder.dimensions();
            let per_pixel = BYTES_PER_PIXEL.max(2 * u64::from(decoder.color_type().bytes_per_pixel()));
            needed = length.saturating_add((u64::from(width) * u64::from(height)).saturating_mul(per_pixel));
            if room.grow(needed)? {
                return decode(decoder, limits).map_err(|error| refusal(path, error));
            }
        }
    }

    /// A decoder that has read the size of the picture, and the memory that it may still allocate.
    fn open<'a>(&self, path: &Path, source: impl BufRead + Seek + 'a, length: u64) -> Result<(impl ImageDecoder + 'a, image::Limits)> {
        let broken = |error: ImageError| refusal(path, error);
        let mut reader = ImageReader::new(source).with_guessed_format().map_err(Error::io("read", path))?;
        check_format(path, reader.format())?;
        if reader.format() == Some(ImageFormat::Pnm) {
            let mut source = reader.into_inner();
            if let Some(found) = netpbm::fault(&mut source, length).map_err(broken)? {
                return Err(not_whole(path, found));
            }
            source.rewind().map_err(Error::io("read", path))?;
            reader = ImageReader::with_format(source, ImageFormat::Pnm);
        }
        let mut limits = image::Limits::default();
        limits.max_image_width = Some(self.limits.side);
        limits.max_image_height = Some(self.limits.side);
        limits.max_alloc = Some(self.limits.codec_bytes);
        reader.limits(limits.clone());
        let decoder = reader.into_decoder().map_err(broken)?;
        let (width, height) = decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        if width > self.limits.side || height > self.limits.side || pixels > self.limits.pixels {
            return Err(Error::TooLarge {
                path: path.to_owned(),
                expected: format!("at most {} million pixels", self.limits.pixels / 1_000_000),
                found: format!("{width} x {height}"),
            });
        }
        limits.reserve(decoder.total_bytes()).map_err(broken)?;
        Ok((decoder, limits))
    }
}

/// Opens a file that may be a picture, by its kind, its length and its first bytes; returns its
/// length too.
pub(super) fn open_file(path: &Path, limits: &Limits) -> Result<(File, u64)> {
    // Opening a pipe or a device could wait for ever, so the kind of file is checked first.
    let meta = fs::metadata(path).map_err(Error::io("read", path))?;
    if !meta.is_file() {
        return Err(not_a_picture(path, if meta.is_dir() { "a folder" } else { "a device or pipe" }));
    }
    limits.check_bytes(path, meta.len())?;
    if meta.len() == 0 {
        return Err(not_whole(path, "an empty file".into()));
    }
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let mut head = [0; 16];
    let n = file.read(&mut head).map_err(Error::io("read", path))?;
    check_format(path, image::guess_format(&head[..n]).ok())?;
    file.rewind().map_err(Error::io("read", path))?;
    Ok((file, meta.len()))
}

fn check_format(path: &Path, format: Option<ImageFormat>) -> Result<()> {
    match format {
        Some(format) if is_readable(format) => Ok(()),
        Some(format) => Err(not_a_picture(path, format!("a {} file", format.extensions_str().first().unwrap_or(&"foreign")))),
        None => Err(not_a_picture(path, "data of another kind")),
    }
}

fn contained(path: &Path, work: impl FnOnce() -> Result<RgbImage>) -> Result<RgbImage> {
    DECODING.set(true);
    let outcome = error::contained(work);
    DECODING.set(false);
    outcome.unwrap_or_else(|found| Err(Error::Crashed { path: path.to_owned(), found }))
}

fn decode(mut decoder: impl ImageDecoder, limits: image::Limits) -> Result<RgbImage, ImageError> {
    decoder.set_limits(limits)?;
    // A picture is whole without its EXIF block.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok(if picture.color().has_alpha() { on_white(picture) } else { picture.into_rgb8() })
}

impl Decoder for InProcess {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> Result<Picture> {
        let (file, length) = open_file(path, &self.limits)?;
        let pixels = contained(path, || self.read(path, BufReader::new(file), length, &mut self.budget.share(progress)))?;
        Ok(Picture::shrunk(pixels, side))
    }

    fn memory(&self) -> MemoryBudget {
        self.budget.memory()
    }

    fn limit_memory(&self, bytes: u64) {
        self.budget.limit(bytes);
    }
}

fn on_white(picture: DynamicImage) -> RgbImage {
    let rgba = picture.into_rgba8();
    RgbImage::from_fn(rgba.width(), rgba.height(), |x, y| {
        let [r, g, b, a] = rgba.get_pixel(x, y).0.map(u32::from);
        image::Rgb([r, g, b].map(|v| ((v * a + 255 * (255 - a) + 127) / 255) as u8))
    })
}

/// A codec's message on one line.
fn words(error: &impl std::fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn not_a_picture(path: &Path, found: impl Into<String>) -> Error {
    Error::data(path, "a PNG, JPEG, GIF, WebP, BMP, TIFF or Netpbm picture", found, "convert it to one of these or leave it out")
}

fn refusal(path: &Path, error: ImageError) -> Error {
    match error {
        ImageError::Limits(limit) => {
            Error::TooLarge { path: path.to_owned(), expected: "a size that fits into memory".into(), found: words(&limit) }
        }
        ImageError::Unsupported(what) => not_a_picture(path, words(&what)),
        ImageError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => not_whole(path, "a file that ends too early".into()),
        ImageError::Decoding(error) => {
            let said = error.source().map_or_else(String::new, |codec| format!(" ({})", words(&codec).trim_end_matches('.')));
            not_whole(path, format!("damaged data{said}"))
        }
        other => not_whole(path, words(&other)),
    }
}

fn not_whole(path: &Path, found: String) -> Error {
    Error::data(path, "a whole picture", found, "copy it again from its source or leave it out")
}
