//! Train a recogniser on a data set, and test it on another.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::Failed;
use crate::ckm::accuracy::Accuracy;
use crate::ckm::element::Elements;
use crate::ckm::{Ckm, CkmOptions, Example, Without};
use crate::data::{Dataset, ImageSource, Item};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::picture::Decoder;
use crate::picture::decode::SIDE;
use crate::progress::Progress;

/// Test images of which the pairs that are compared are counted, at least: an index is asked twice
/// for that.
const PAIRS_OF: usize = 64;

/// A machine fresh from its one pass over the images.
#[derive(Debug)]
pub struct Learned {
    /// The machine; its identifiers are positions in the data set.
    pub ckm: Ckm,
    /// Images that could not be used.
    pub failed: Vec<Failed>,
    /// Images without a single element.
    pub featureless: usize,
    /// Time of turning decoded images into stored elements, without decoding: that of all threads
    /// divided by their number.
    pub time: Duration,
    /// What networks took of that.
    pub network: Duration,
}

impl Learned {
    /// Milliseconds of training for each image that was learned.
    pub fn ms_per_image(&self) -> f64 {
        per_image(self.time, self.ckm.examples().count())
    }

    /// What networks took of [`Learned::ms_per_image`].
    pub fn network_ms_per_image(&self) -> f64 {
        per_image(self.network, self.ckm.examples().count())
    }
}

/// Trains a machine on every image of `data` that can be decoded and that `keep` says yes to.
///
/// # Errors
/// [`Error::Cancelled`], [`Error::Option`]; [`Error::Data`] when fewer than two classes have
/// images.
pub fn learn(
    data: &Dataset,
    keep: impl Fn(usize) -> bool,
    options: &CkmOptions,
    decoder: &dyn Decoder,
    progress: &Progress,
) -> Result<Learned> {
    let (time, network) = (Duration::ZERO, Duration::ZERO);
    let mut learned = Learned { ckm: Ckm::new(options.clone())?, failed: Vec::new(), featureless: 0, time, network };
    let chosen: Vec<usize> = (0..data.items.len()).filter(|&i| keep(i)).collect();
    progress.begin("Training", chosen.len() as u64);
    in_turns(data, &chosen, options, decoder, progress, |turn, time, network| {
        learned.time += time;
        learned.network += network;
        for (i, elements) in turn {
            let start = Instant::now();
            let item = &data.items[i];
            let added = elements.and_then(|elements| {
                learned.featureless += usize::from(elements.is_empty());
                let example =
                    Example { id: ItemId(i as u32), name: name_in(data, item), group: item.group.clone(), elements: elements.into() };
                learned.ckm.add(&data.classes[item.class.index()], example)
            });
            learned.time += start.elapsed();
            if let Err(error) = added {
                learned.failed.push(Failed { path: item.path().to_owned(), error });
            }
        }
    })?;
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

/// The name of an example: its path from the folder that was opened, or its name in a NORB set.
fn name_in(data: &Dataset, item: &Item) -> String {
    match &item.source {
        ImageSource::File(path) => path.strip_prefix(&data.root).unwrap_or(path).to_string_lossy().into_owned(),
        ImageSource::Frame { .. } => item.name(),
    }
}

/// The scores of a machine on images of known classes.
#[derive(Debug)]
pub struct RecognitionScores {
    /// Names of all classes of machine and test data, in order; rows and columns of `confusion`.
    pub classes: Vec<String>,
    /// `confusion[true][predicted]`, in images.
    pub confusion: Vec<Vec<u32>>,
    /// The lead of each answer, and whether it was right.
    pub margins: Vec<(f64, bool)>,
    /// Right answers and answers about each object, by its row and name.
    objects: BTreeMap<(usize, TestedObject), (usize, usize)>,
    /// Pairs of elements that were compared, centres of an index included, and all pairs of the
    /// queries' and the training elements of one kind; none where that was not looked at.
    pub pairs: (u64, u64),
    /// Images that could not be used.
    pub failed: Vec<Failed>,
    /// Time from decoded image to answer: for elements that of all threads divided by their number,
    /// for scores wall time.
    pub time: Duration,
    /// What networks took of that.
    pub network: Duration,
}

/// What a test image shows.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TestedObject {
    Group(String),
    /// An image of which nothing else is known counts as an object of its own.
    Image(usize),
}

impl RecognitionScores {
    /// Empty scores for these classes.
    pub fn new(mut classes: Vec<String>) -> Self {
        classes.sort();
        classes.dedup();
        let confusion = vec![vec![0; classes.len()]; classes.len()];
        let (time, network) = (Duration::ZERO, Duration::ZERO);
        Self { classes, confusion, margins: Vec::new(), objects: BTreeMap::new(), pairs: (0, 0), failed: Vec::new(), time, network }
    }

    /// Counts an answer about an image of an object, if that is known, with its lead.
    pub fn count(&mut self, truth: &str, object: Option<&str>, answer: &str, margin: f64) {
        self.margins.push((margin, truth == answer));
        let at = |name: &str| self.classes.binary_search_by(|class| class.as_str().cmp(name));
        if let (Ok(row), Ok(column)) = (at(truth), at(answer)) {
            self.confusion[row][column] += 1;
            let object = object.map_or(TestedObject::Image(self.margins.len()), |group| TestedObject::Group(group.to_owned()));
            let (right, n) = self.objects.entry((row, object)).or_default();
            (*right, *n) = (*right + usize::from(row == column), *n + 1);
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

    /// How often each class was answered, in the order of the classes.
    pub fn answered(&self) -> Vec<u32> {
        (0..self.classes.len()).map(|c| self.confusion.iter().map(|row| row[c]).sum()).collect()
    }

    /// The share of pairs of elements that were compared; `None` where that was not looked at.
    pub fn share_compared(&self) -> Option<f64> {
        (self.pairs.1 > 0).then(|| self.pairs.0 as f64 / self.pairs.1 as f64)
    }

    /// The accuracy with its spread; `None` when there are no answers. Views of one object count as
    /// one observation, images whose object is not known as independent.
    pub fn estimate(&self) -> Option<Accuracy> {
        let mut classes = vec![Vec::new(); self.classes.len()];
        self.objects.iter().for_each(|((row, _), counts)| classes[*row].push(*counts));
        Accuracy::of_objects(&classes)
    }

    /// Classes with test images of which the machine has no training image, with the number of
    /// their test images: all of these are wrong.
    pub fn untrained(&self, ckm: &Ckm) -> Vec<(&str, u32)> {
        let of = self.classes.iter().zip(&self.confusion).map(|(class, row)| (class.as_str(), row.iter().sum::<u32>()));
        of.filter(|(class, n)| *n > 0 && ckm.class_id(class).is_none()).collect()
    }

    /// Milliseconds for each image that was answered.
    pub fn ms_per_image(&self) -> f64 {
        per_image(self.time, self.n())
    }

    /// What networks took of [`RecognitionScores::ms_per_image`].
    pub fn network_ms_per_image(&self) -> f64 {
        per_image(self.network, self.n())
    }
}

/// Classifies every image of `data` that can be decoded and that `keep` says yes to.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Data`] when no image could be classified.
pub fn test(
    ckm: &Ckm,
    data: &Dataset,
    keep: impl Fn(usize) -> bool,
    decoder: &dyn Decoder,
    progress: &Progress,
) -> Result<RecognitionScores> {
    let names = ckm.classes().iter().map(|class| class.name.clone()).chain(data.classes.iter().cloned());
    let mut tested = RecognitionScores::new(names.collect());
    let chosen: Vec<usize> = (0..data.items.len()).filter(|&i| keep(i)).collect();
    progress.begin("Testing", chosen.len() as u64);
    // Training elements of each kind.
    let mut kinds = vec![0; ckm.options().kinds.len()];
    for (_, example) in ckm.examples() {
        kinds.iter_mut().zip(example.elements.counts()).for_each(|(n, count)| *n += count as u64);
    }
    in_turns(data, &chosen, ckm.options(), decoder, progress, |turn, time, network| {
        let start = Instant::now();
        let answer = |(i, elements): &(usize, Result<Elements>)| {
            let scores = elements.as_ref().ok().map(|elements| ckm.scores(elements, Without::Nothing));
            (*i, scores.and_then(|scores| Some((scores.ranking().first()?.0, scores.margin()))))
        };
        let answers: Vec<_> = turn.par_iter().map(answer).collect();
        tested.time += time + start.elapsed();
        tested.network += network;
        if tested.n() < PAIRS_OF {
            let pairs = turn.par_iter().filter_map(|(_, elements)| elements.as_ref().ok()).map(|elements| pairs(ckm, elements, &kinds));
            let (compared, all) = pairs.reduce(|| (0, 0), |one, other| (one.0 + other.0, one.1 + other.1));
            tested.pairs = (tested.pairs.0 + compared, tested.pairs.1 + all);
        }
        for ((i, answer), (_, elements)) in answers.into_iter().zip(turn) {
            let item = &data.items[i];
            match elements.map(|_| answer) {
                Ok(Some((best, margin))) => {
                    tested.count(&data.classes[item.class.index()], item.group.as_deref(), &ckm.classes()[best.index()].name, margin)
                }
                Ok(None) => {}
                Err(error) => tested.failed.push(Failed { path: item.path().to_owned(), error }),
            }
        }
    })?;
    if tested.n() == 0 {
        return Err(Error::data(&data.root, "images to test on", "none that can be read", "name a folder of labelled images"));
    }
    Ok(tested)
}

/// Pairs that are compared for an image, and all there are; `kinds` are the training elements of
/// each kind.
fn pairs(ckm: &Ckm, query: &Elements, kinds: &[u64]) -> (u64, u64) {
    let cost = ckm.comparisons(query, Without::Nothing);
    (cost.points + cost.nodes, query.sets.iter().zip(kinds).map(|(set, n)| set.len() as u64 * n).sum())
}

/// Decodes and cuts the chosen items, each in one task, so that there are no more full pictures in
/// memory than threads, and hands on the elements of a few at a time with the time that cutting
/// took, and networks of that: those of all threads divided by their number.
fn in_turns(
    data: &Dataset,
    chosen: &[usize],
    options: &CkmOptions,
    decoder: &dyn Decoder,
    progress: &Progress,
    mut work: impl FnMut(Vec<(usize, Result<Elements>)>, Duration, Duration),
) -> Result<()> {
    let threads = rayon::current_num_threads();
    for turn in chosen.chunks(8 * threads) {
        let cut = |&i: &usize| -> Result<_> {
            progress.step()?;
            let picture = data.picture(i, decoder, SIDE, progress);
            let start = Instant::now();
            let cut = picture.and_then(|picture| Elements::timed(&picture, options.side, &options.kinds));
            let network = cut.as_ref().map_or(Duration::ZERO, |(_, network)| *network);
            Ok(((i, cut.map(|(elements, _)| elements)), (start.elapsed(), network)))
        };
        let (turn, times): (Vec<_>, Vec<(Duration, Duration)>) = turn.par_iter().map(cut).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let sharing = threads.min(turn.len()).max(1) as u32;
        let (all, network): (Vec<Duration>, Vec<Duration>) = times.into_iter().unzip();
        work(turn, all.iter().sum::<Duration>() / sharing, network.iter().sum::<Duration>() / sharing);
    }
    Ok(())
}

fn per_image(time: Duration, n: usize) -> f64 {
    if n == 0 { 0.0 } else { time.as_secs_f64() * 1e3 / n as f64 }
}
