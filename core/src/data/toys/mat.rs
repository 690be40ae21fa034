//! The binary files of small NORB: a magic number, the number of dimensions, at least three dimensions, then the data, all
//! little-endian.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::write::{ToyReport, n_train, plan, save};
use super::{ToyOptions, render};
use crate::error::{Error, Result};
use crate::picture::grey;
use crate::progress::Progress;

const BYTES: i32 = 0x1E3D_4C55;
const INTEGERS: i32 = 0x1E3D_4C54;
/// Pairs that are painted in parallel and then written in order.
const CHUNK: usize = 64;

/// Writes both triples, `toys-training` and (with more than one instance) `toys-testing`, and the captions.
pub(super) fn write(options: &ToyOptions, to: &Path, progress: &Progress) -> Result<ToyReport> {
    let options = ToyOptions { stereo: true, ..*options };
    let jobs = plan(&options);
    let (train, test): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.instance <= n_train(&options));
    let mut report = ToyReport::default();
    let mut captions = String::new();
    let mut outcome = Ok(());
    for (name, jobs) in [("toys-training", train), ("toys-testing", test)] {
        if jobs.is_empty() || outcome.is_err() {
            continue;
        }
        let path = to.join(format!("{name}-dat.mat"));
        let mut dat = Dat::create(path, options.side)?;
        let (mut cat, mut info) = (Vec::new(), Vec::new());
        for chunk in jobs.chunks(CHUNK) {
            let toys: Vec<Result<_>> = chunk
                .par_iter()
                .map(|job| {
                    progress.step()?;
                    Ok(render(job.category, job.instance, job.number, &options))
                })
                .collect();
            // The pairs before the first that is missing are kept.
            for toy in toys {
                let toy = match toy {
                    Ok(toy) => toy,
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                };
                for caption in &toy.captions {
                    captions.push_str(&format!("{name}-dat.mat#{}\t{caption}\n", dat.count));
                }
                dat.push(grey(&toy.picture).as_raw(), grey(toy.right.as_ref().unwrap_or(&toy.picture)).as_raw())?;
                cat.push(toy.category.index() as i32);
                info.extend([toy.instance, toy.view.elevation, toy.view.azimuth, toy.view.lighting].map(|v| v as i32));
            }
            if outcome.is_err() {
                break;
            }
        }
        let count = dat.count;
        report.images += 2 * u64::from(count);
        report.bytes += dat.finish()?;
        save(&to.join(format!("{name}-cat.mat")), &integers(&[count as i32], &cat))?;
        save(&to.join(format!("{name}-info.mat")), &integers(&[count as i32, 4], &info))?;
    }
    save(&to.join("captions.tsv"), captions.as_bytes())?;
    outcome.map(|()| report)
}

fn header(magic: i32, dimensions: &[i32]) -> Vec<u8> {
    let padding = std::iter::repeat_n(1, 3usize.saturating_sub(dimensions.len()));
    [magic, dimensions.len() as i32].into_iter().chain(dimensions.iter().copied()).chain(padding).flat_map(i32::to_le_bytes).collect()
}

fn integers(dimensions: &[i32], values: &[i32]) -> Vec<u8> {
    let mut bytes = header(INTEGERS, dimensions);
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

/// A file of pairs under way; its header is made true at the end.
struct Dat {
    path: PathBuf,
    out: BufWriter<File>,
    side: u32,
    count: u32,
}

impl Dat {
    fn create(path: PathBuf, side: u32) -> Result<Self> {
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let mut dat = Self { path, out: BufWriter::new(file), side, count: 0 };
        dat.head()?;
        Ok(dat)
    }

    fn head(&mut self) -> Result<()> {
        let bytes = header(BYTES, &[self.count as i32, 2, self.side as i32, self.side as i32]);
        self.out.write_all(&bytes).map_err(Error::io("write", &self.path))
    }

    fn push(&mut self, left: &[u8], right: &[u8]) -> Result<()> {
        self.out.write_all(left).and_then(|()| self.out.write_all(right)).map_err(Error::io("write", &self.path))?;
        self.count += 1;
        Ok(())
    }

    /// The number of bytes of the finished file.
    fn finish(mut self) -> Result<u64> {
        let length = self.out.stream_position().map_err(Error::io("write", &self.path))?;
        self.out.seek(SeekFrom::Start(0)).map_err(Error::io("write", &self.path))?;
        self.head()?;
        self.out.flush().map_err(Error::io("write", &self.path))?;
        Ok(length)
    }
}
