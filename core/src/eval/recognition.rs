//! Train a recogniser on a data set, and test it on another.

use std::time::{Duration, Instant};

use image::RgbImage;
use rayon::prelude::*;

use super::Failed;
use crate::ckm::element::Elements;
use crate::ckm::{Ckm, CkmOptions, Example, Without};
use crate::data::{Dataset, Item, Source};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::picture::Decoder;
use crate::progress::Progress;

/// A machine fresh from its one pass over the images.
#[derive(Debug)]
pub struct Learned {
    /// The machine; its identifiers are positions in the data set.
    pub ckm: Ckm,
    /// Images that could not be used.
    pub failed: Vec<Failed>,
    /// Images without a single element.
    pub featureless: usize,
    /// Wall time of turning decoded images into stored elements.
    pub time: Duration,
}

impl Learned {
    /// Milliseconds of training for each image that was learned.
    pub fn ms_per_image(&self) -> f64 {
        per_image(self.time, self.ckm.examples().count())
    }
}

/// Trains a machine on every image of `data` that can be decoded and that `keep` says yes to.
///
/// # Errors
/// [`Error::Cancelled`], [`Error::Option`]; [`Error::Data`] when fewer than two classes have images.
pub fn learn(
    data: &Dataset,
    keep: impl Fn(usize) -> bool,
    options: &CkmOptions,
    decoder: &dyn Decoder,
    progress: &Progress,
) -> Result<Learned> {
    let mut learned = Learned { ckm: Ckm::new(options.clone())?, failed: Vec::new(), featureless: 0, time: Duration::ZERO };
    let chosen: Vec<usize> = (0..data.items.len()).filter(|&i| keep(i)).collect();
    progress.begin("Training", chosen.len() as u64);
    let mut failed = Vec::new();
    in_turns(data, &chosen, decoder, progress, &mut failed, |pictures, failed| {
        let start = Instant::now();
        let elements: Vec<Result<Elements>> = pictures.par_iter().map(|(_, picture)| learned.ckm.elements(picture)).collect();
        for ((i, _), elements) in pictures.iter().zip(elements) {
            let item = &data.items[*i];
            let added = elements.and_then(|elements| {
                learned.featureless += usize::from(elements.is_empty());
                let example = Example { id: ItemId(*i as u32), name: name_in(data, item), group: item.group.clone(), elements };
                learned.ckm.add(&data.classes[item.class.index()], example)
            });
            if let Err(error) = added {
                failed.push(Failed { path: item.path().to_owned(), error });
            }
        }
        learned.time += start.elapsed();
    })?;
    learned.failed = failed;
    if learned.ckm.classes().len() < 2 {
        let found = match learned.ckm.classes() {
            [] => "no image that can be read".to_owned(),
            classes => format!("only `{}`", classes[0].name),
        };
        return Err(Error::data(
            &data.root,
            "images of two classes or more",
            found,
            "put the images of each class into a folder of its own",
        ));
    }
    Ok(learned)
}

/// What an example is known by: its path from the folder that was opened, or its name in a NORB set.
fn name_in(data: &Dataset, item: &Item) -> String {
    match &item.source {
        Source::File(path) => path.strip_prefix(&data.root).unwrap_or(path).to_string_lossy().into_owned(),
        Source::Frame { .. } => item.name(),
    }
}

/// How a machine did on images whose classes are known.
#[derive(Debug)]
pub struct Tested {
    /// Names of all classes of machine and test data, in order; rows and columns of `confusion`.
    pub classes: Vec<String>,
    /// `confusion[true][predicted]`, in images.
    pub confusion: Vec<Vec<u32>>,
    /// Images that could not be used.
    pub failed: Vec<Failed>,
    /// Wall time from decoded image to answer, elements included.
    pub time: Duration,
}

impl Tested {
    /// Nothing tested yet, on these classes.
    pub fn new(mut classes: Vec<String>) -> Self {
        classes.sort();
        classes.dedup();
        let confusion = vec![vec![0; classes.len()]; classes.len()];
        Self { classes, confusion, failed: Vec::new(), time: Duration::ZERO }
    }

    /// Counts an answer.
    pub fn count(&mut self, truth: &str, answer: &str) {
        let at = |name: &str| self.classes.binary_search_by(|class| class.as_str().cmp(name));
        if let (Ok(row), Ok(column)) = (at(truth), at(answer)) {
            self.confusion[row][column] += 1;
        }
    }

    /// Images that were answered.
    pub fn n(&self) -> usize {
        self.confusion.iter().flatten().map(|&n| n as usize).sum()
    }

    /// The share of right answers; 0 when there are none.
    pub fn accuracy(&self) -> f64 {
        let right: u32 = (0..self.classes.len()).map(|c| self.confusion[c][c]).sum();
        if self.n() == 0 { 0.0 } else { f64::from(right) / self.n() as f64 }
    }

    /// Milliseconds for each image that was answered.
    pub fn ms_per_image(&self) -> f64 {
        per_image(self.time, self.n())
    }
}

/// Classifies every image of `data` that can be decoded and that `keep` says yes to.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Data`] when no image could be classified.
pub fn test(ckm: &Ckm, data: &Dataset, keep: impl Fn(usize) -> bool, decoder: &dyn Decoder, progress: &Progress) -> Result<Tested> {
    let names = ckm.classes().iter().map(|class| class.name.clone()).chain(data.classes.iter().cloned());
    let mut tested = Tested::new(names.collect());
    let chosen: Vec<usize> = (0..data.items.len()).filter(|&i| keep(i)).collect();
    progress.begin("Testing", chosen.len() as u64);
    let mut failed = Vec::new();
    in_turns(data, &chosen, decoder, progress, &mut failed, |pictures, failed| {
        let start = Instant::now();
        let answer =
            |(_, picture): &(usize, RgbImage)| ckm.elements(picture).map(|elements| ckm.scores(&elements, Without::Nothing).ranking());
        let answers: Vec<_> = pictures.par_iter().map(answer).collect();
        tested.time += start.elapsed();
        for ((i, _), answer) in pictures.iter().zip(answers) {
            let item = &data.items[*i];
            match answer {
                Ok(ranking) => {
                    if let Some((best, _)) = ranking.first() {
                        tested.count(&data.classes[item.class.index()], &ckm.classes()[best.index()].name);
                    }
                }
                Err(error) => failed.push(Failed { path: item.path().to_owned(), error }),
            }
        }
    })?;
    tested.failed = failed;
    if tested.n() == 0 {
        return Err(Error::data(&data.root, "images to test on", "none that can be read", "name a folder of labelled images"));
    }
    Ok(tested)
}

/// Decodes the chosen items a few at a time, so that only a few full pictures are in memory, and hands each few on.
fn in_turns(
    data: &Dataset,
    chosen: &[usize],
    decoder: &dyn Decoder,
    progress: &Progress,
    failed: &mut Vec<Failed>,
    mut work: impl FnMut(&[(usize, RgbImage)], &mut Vec<Failed>),
) -> Result<()> {
    for turn in chosen.chunks(8 * rayon::current_num_threads()) {
        let decode = |&i: &usize| progress.step().map(|()| (i, data.picture(i, decoder)));
        let decoded: Vec<_> = turn.par_iter().map(decode).collect::<Result<_>>()?;
        let mut pictures = Vec::with_capacity(decoded.len());
        for (i, picture) in decoded {
            match picture {
                Ok(picture) => pictures.push((i, picture)),
                Err(error) => failed.push(Failed { path: data.items[i].path().to_owned(), error }),
            }
        }
        work(&pictures, failed);
    }
    Ok(())
}

fn per_image(time: Duration, n: usize) -> f64 {
    if n == 0 { 0.0 } else { time.as_secs_f64() * 1e3 / n as f64 }
}
