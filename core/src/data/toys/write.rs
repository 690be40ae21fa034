//! Folders of toys: the pictures, the planted faults and the lists beside them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage, imageops};
use rayon::prelude::*;

use super::mat;
use super::options::{Faults, ToyFormat, ToyOptions};
use super::plan::{Fault, Job, plan};
use super::save::{Planted, ToyReport, claim, save};
use super::toy::{Toy, render};
use crate::error::{Error, Result};
use crate::picture::resize::resize_rgb;
use crate::progress::Progress;

/// Where a corrupt file breaks off: among the tables, for decoders paint over missing picture data
/// without a word.
const HEAD: usize = 320;

/// One file.
struct Written {
    path: String,
    bytes: u64,
    captions: Option<[String; 3]>,
    planted: Option<Planted>,
}

/// Writes pictures of toys into the new or empty folder `to`, in parallel on rayon's current pool,
/// and beside them `captions.tsv` (path, tab, caption; three lines for each picture that can be
/// opened) and, with faults, `planted.tsv` (path, kind, detail). The files do not depend on the
/// number of threads.
///
/// # Errors
/// [`Error::Option`] for options that cannot be met, [`Error::Data`] when the folder is not empty
/// or not a folder, [`Error::Io`] for the first file that cannot be written, after which no more
/// are begun, [`Error::Cancelled`]; what was written by then stays and is whole, lists included.
pub fn generate(options: &ToyOptions, to: &Path, progress: &Progress) -> Result<ToyReport> {
    options.check()?;
    claim(to)?;
    let jobs = plan(options);
    progress.begin("Painting toys", jobs.len() as u64);
    if options.format == ToyFormat::Mat {
        return mat::write(options, to, progress);
    }
    for folder in jobs.iter().filter_map(|job| Path::new(&job.stem).parent()).collect::<BTreeSet<_>>() {
        let folder = to.join(folder);
        fs::create_dir_all(&folder).map_err(Error::io("create", folder))?;
    }
    let failed = AtomicBool::new(false);
    let outcomes: Vec<Result<Vec<Written>>> = jobs
        .par_iter()
        .map(|job| {
            if failed.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            progress.step()?;
            write(options, to, job).map_err(|error| {
                discard(to, job);
                // Only the first failure is returned.
                if failed.swap(true, Ordering::Relaxed) { Error::Cancelled } else { error }
            })
        })
        .collect();
    let mut report = ToyReport::default();
    let (mut captions, mut planted) = (String::new(), String::new());
    let mut failure = None;
    for outcome in outcomes {
        let files = match outcome {
            Ok(files) => files,
            Err(error) => {
                // A cancelled job says less than one that failed.
                if failure.is_none() || matches!(failure, Some(Error::Cancelled)) {
                    failure = Some(error);
                }
                continue;
            }
        };
        for file in files {
            report.images += 1;
            report.bytes += file.bytes;
            for caption in file.captions.iter().flatten() {
                captions.push_str(&format!("{}\t{caption}\n", file.path));
            }
            if let Some(p) = file.planted {
                planted.push_str(&format!("{}\t{}\t{}\n", p.path, p.kind, p.detail));
                report.planted.push(p);
            }
        }
    }
    save(&to.join("captions.tsv"), captions.as_bytes())?;
    if options.faults != Faults::default() {
        save(&to.join("planted.tsv"), planted.as_bytes())?;
    }
    failure.map_or(Ok(report), Err)
}

/// Removes the files of a job that failed: one eye without the other is not in the lists.
fn discard(to: &Path, job: &Job) {
    for ending in ["_lt.jpg", "_rt.jpg", ".jpg"] {
        let _ = fs::remove_file(to.join(format!("{}{ending}", job.stem)));
    }
}

fn write(options: &ToyOptions, to: &Path, job: &Job) -> Result<Vec<Written>> {
    let toy = render(job.category, job.instance, job.number, options);
    match job.fault {
        Fault::None | Fault::WrongLabel => {
            let mut files = vec![write_eye(options, to, job, &toy, "_lt.jpg", &toy.picture)?];
            if let Some(right) = &toy.right {
                files.push(write_eye(options, to, job, &toy, "_rt.jpg", right)?);
            }
            Ok(files)
        }
        Fault::Copy(n) => {
            let (picture, quality, what) = altered(&toy.picture, n, options.jpeg_quality);
            let bytes = jpeg(&picture, quality, Path::new(&job.stem))?;
            let detail = format!("{}_lt.jpg {what}", job.truth);
            Ok(vec![put(to, format!("{}.jpg", job.stem), &bytes, Some(&toy), Some(("near-duplicate", detail)))?])
        }
        Fault::Corrupt => {
            let bytes = jpeg(&toy.picture, options.jpeg_quality, Path::new(&job.stem))?;
            let cut = &bytes[..bytes.len().min(HEAD)];
            let detail = format!("breaks off after {} of {} bytes", cut.len(), bytes.len());
            Ok(vec![put(to, format!("{}.jpg", job.stem), cut, None, Some(("corrupt", detail)))?])
        }
    }
}

fn write_eye(options: &ToyOptions, to: &Path, job: &Job, toy: &Toy, ending: &str, picture: &RgbImage) -> Result<Written> {
    let path = format!("{}{ending}", job.stem);
    let bytes = jpeg(picture, options.jpeg_quality, Path::new(&path))?;
    let detail = (job.fault == Fault::WrongLabel)
        .then(|| ("wrong-label", format!("shows {}, belongs at {}{ending}", job.category.name(), job.truth)));
    put(to, path, &bytes, Some(toy), detail)
}

fn put(to: &Path, path: String, bytes: &[u8], toy: Option<&Toy>, planted: Option<(&'static str, String)>) -> Result<Written> {
    save(&to.join(&path), bytes)?;
    let planted = planted.map(|(kind, detail)| Planted { path: path.clone(), kind, detail });
    Ok(Written { path, bytes: bytes.len() as u64, captions: toy.map(|toy| toy.captions.clone()), planted })
}

/// Copy number `n` of a picture, its JPEG quality, and what was done to it.
fn altered(picture: &RgbImage, n: u32, quality: u8) -> (RgbImage, u8, &'static str) {
    let side = picture.width();
    match n % 3 {
        0 => (picture.clone(), quality.min(60), "encoded anew"),
        1 => {
            let edge = side / 24;
            let inner = imageops::crop_imm(picture, edge, edge, side - 2 * edge, side - 2 * edge).to_image();
            (resize_rgb(&inner, side, side), quality, "cropped a little")
        }
        _ => {
            let mut bright = picture.clone();
            bright.iter_mut().for_each(|v| *v = (u32::from(*v) * 28 / 25 + 4).min(255) as u8);
            (bright, quality, "brightened a little")
        }
    }
}

fn jpeg(picture: &RgbImage, quality: u8, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, quality)
        .encode(picture.as_raw(), picture.width(), picture.height(), ExtendedColorType::Rgb8)
        .map_err(|error| Error::io("encode", path)(io::Error::other(error)))?;
    Ok(bytes)
}
