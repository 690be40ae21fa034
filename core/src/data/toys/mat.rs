//! Toys as NORB sets, with a list of their own categories.

use std::path::Path;

use rayon::prelude::*;

use super::category::Category;
use super::options::ToyOptions;
use super::plan::{Job, plan};
use super::save::{ToyReport, save};
use super::toy::render;
use crate::data::norb::{NAMES, NorbWriter};
use crate::error::{Error, Result};
use crate::picture::grey;
use crate::progress::Progress;

/// Pairs that are painted in parallel and then written in order.
const CHUNK: usize = 64;

/// Writes both triples, `toys-training` and (with more than one instance) `toys-testing`, and the
/// captions. Pairs painted before a cancellation are kept.
pub(super) fn write(options: &ToyOptions, to: &Path, progress: &Progress) -> Result<ToyReport> {
    let options = ToyOptions { stereo: true, ..*options };
    let (train, test): (Vec<_>, Vec<_>) = plan(&options).into_iter().partition(|job| job.instance <= options.n_train());
    let mut report = ToyReport::default();
    let mut captions = String::new();
    let mut outcome = Ok(());
    for (name, jobs) in [("toys-training", train), ("toys-testing", test)] {
        if jobs.is_empty() || outcome.is_err() {
            continue;
        }
        let mut pairs = 0u64;
        let mut writer = NorbWriter::create(&to.join(name), options.side, options.side)?;
        let names: Vec<&str> = Category::ALL.iter().map(|category| category.name()).collect();
        save(&to.join(format!("{name}{NAMES}")), (names.join("\n") + "\n").as_bytes())?;
        for chunk in jobs.chunks(CHUNK) {
            let paint = |job: &Job| progress.step().map(|()| render(job.category, job.instance, job.number, &options));
            let toys: Vec<Result<_>> = chunk.par_iter().map(paint).collect();
            for toy in toys {
                let toy = match toy {
                    Ok(toy) => toy,
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                };
                for caption in &toy.captions {
                    captions.push_str(&format!("{name}-dat.mat#{pairs}\t{caption}\n"));
                }
                let info = [toy.instance, toy.view.elevation, toy.view.azimuth, toy.view.lighting].map(|v| v as i32);
                let right = toy.right.as_ref().unwrap_or(&toy.picture);
                writer.push(toy.category.index() as u8, &info, &grey(&toy.picture), &grey(right))?;
                pairs += 1;
            }
            if outcome.is_err() {
                break;
            }
        }
        if pairs > 0 {
            let dat = writer.finish()?;
            report.images += 2 * pairs;
            report.bytes += std::fs::metadata(&dat).map_err(Error::io("read", &dat))?.len();
        }
    }
    save(&to.join("captions.tsv"), captions.as_bytes())?;
    outcome.map(|()| report)
}
