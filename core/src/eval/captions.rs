//! Photos found by words: a memory a photo, found by the words of its captions, rewarded by how alike photos are (Sun et al. 2019,
//! section 4.4).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::Failed;
use super::dense::dot;
use super::kd_tree::KdTree;
use super::pca::Pca;
use super::scan::{Measure, Scan};
use crate::cmt::{Cmt, CmtOptions, Shape};
use crate::data::tables::Table;
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::picture::Decoder;
use crate::picture::hog::{HogOptions, dense_hog};
use crate::picture::resize::resize_rgb;
use crate::progress::Progress;
use crate::random;
use crate::sparse::SparseVec;
use crate::text::hashing::{Idf, Stemming, counts};
use crate::text::{TextIndex, TextKey, TextQuery, words};

/// Pixels of the sides that photos are brought to.
const SIDE: u32 = 128;
/// Pixels of a cell's side.
const CELL: u32 = 16;
/// The most principal components.
const COMPONENTS: usize = 200;

/// A photo, what is said of it, and how it looks.
#[derive(Clone, Debug)]
pub struct Photo {
    /// Its file's name.
    pub name: String,
    /// Its captions.
    pub captions: Vec<String>,
    /// Its histograms of gradients, a vector of length 1.
    pub look: Vec<f32>,
}

/// Reads the photos of these names from a folder. Those that fail are left out and told of.
///
/// # Errors
/// [`Error::Data`] for a name without captions; [`Error::Cancelled`].
pub fn photos(
    folder: &Path,
    table: &Table,
    names: &[String],
    decoder: &dyn Decoder,
    progress: &Progress,
) -> Result<(Vec<Photo>, Vec<Failed>)> {
    let captions: BTreeMap<&str, &Vec<String>> = table.rows.iter().map(|row| (row.path.as_str(), &row.captions)).collect();
    progress.begin("Looking at photos", names.len() as u64);
    let looked: Vec<Result<Photo>> = names
        .par_iter()
        .map(|name| {
            progress.step()?;
            let path = folder.join(name);
            let captions = captions.get(name.as_str()).filter(|captions| !captions.is_empty());
            let captions = captions.ok_or_else(|| Error::data(&path, "captions", "none", "add them to the file of captions"))?;
            let look = look(&decoder.decode(&path, 1024, progress)?.pixels);
            Ok(Photo { name: name.clone(), captions: captions.to_vec(), look })
        })
        .collect();
    let (mut photos, mut failed) = (Vec::new(), Vec::new());
    for (photo, name) in looked.into_iter().zip(names) {
        match photo {
            Ok(photo) => photos.push(photo),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => failed.push(Failed { path: folder.join(name), error }),
        }
    }
    Ok((photos, failed))
}

/// The gradients of a picture brought to 128 x 128 pixels, as a vector of length 1.
fn look(picture: &image::RgbImage) -> Vec<f32> {
    let options = HogOptions { cell: CELL, ..HogOptions::default() };
    let mut look: Vec<f32> = dense_hog(&resize_rgb(picture, SIDE, SIDE), &options).iter().flat_map(|block| block.values).collect();
    let length = look.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        look.iter_mut().for_each(|value| *value /= length);
    }
    look
}

/// How alike two photos are: the cosine of their gradients.
fn likeness(a: &Photo, b: &Photo) -> f32 {
    dot(&a.look, &b.look)
}

/// The counts of the words of all captions of a photo.
fn vector(photo: &Photo) -> SparseVec {
    counts(&photo.captions.join(" "), Stemming::None)
}

/// How a way of finding photos did: one photo found for each query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RetrievalScore {
    /// How alike the photo found and the right one are, on average; 0 where none was found.
    pub reward: f64,
    /// Time of an answer.
    pub time: Duration,
    /// Memories scored for an answer, on average.
    pub memories: f64,
}

/// The rewards and times of all ways.
#[derive(Clone, Debug, Default)]
pub struct Retrieval {
    /// The memory when all photos are inserted.
    pub unsupervised: RetrievalScore,
    /// The memory after passes with rewards.
    pub supervised: RetrievalScore,
    /// The scan for the nearest by Euclidean distance.
    pub nearest: RetrievalScore,
    /// The scan for the nearest by cosine.
    pub nearest_cosine: RetrievalScore,
    /// The kd-tree over principal components; its time has the projection in it.
    pub kd: RetrievalScore,
    /// Principal components.
    pub components: usize,
    /// The inverted index, by cosine of tf-idf.
    pub index: RetrievalScore,
    /// Time of an insertion, and of a rewarded query.
    pub train: [Duration; 2],
    /// The trees.
    pub shapes: Vec<Shape>,
}

/// How the memory is trained and asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetrievalSetting {
    /// How trees are grown and taught.
    pub options: CmtOptions,
    /// Passes with rewards.
    pub supervised_passes: u32,
    /// Taken from each reward before it is learned, so that what is learned is which answers are better than usual. `None`: the mean
    /// of the rewards so far. The paper has 0.
    pub baseline: Option<f32>,
    /// Leaves looked at for each tree.
    pub leaves: usize,
}

/// Remembers the photos of `train` and asks for those of `test` by all their captions, in each way on one thread.
///
/// As the paper: a memory is found by the counts of its words, and in passes with rewards all memories of a leaf are rewarded by how
/// alike they are to the photo asked for. Unlike the paper a baseline is taken from rewards: all photos are alike to some degree, and a
/// scorer that learns this much of every word ranks no better than before.
///
/// # Errors
/// [`Error::Option`], [`Error::Cancelled`].
pub fn retrieve(train: &[Photo], test: &[Photo], setting: &RetrievalSetting, progress: &Progress) -> Result<Retrieval> {
    let vectors: Vec<SparseVec> = train.iter().map(vector).collect();
    let queries: Vec<SparseVec> = test.iter().map(vector).collect();
    let mut done = Retrieval::default();
    let n = train.len().max(1) as u32;

    let mut memory: Cmt<u32> = Cmt::new(&setting.options)?;
    progress.begin("Inserting photos", train.len() as u64);
    let start = Instant::now();
    for (x, i) in vectors.iter().zip(0..) {
        progress.step()?;
        memory.insert(ItemId(i), x.clone(), i)?;
    }
    done.train[0] = start.elapsed() / n;
    let untaught = memory.clone();

    progress.begin("Rewarding answers", train.len() as u64 * u64::from(setting.supervised_passes));
    let start = Instant::now();
    let (mut sum, mut n_rewards) = (0.0, 0.0);
    for _ in 0..setting.supervised_passes {
        for i in 0..train.len() as u32 {
            progress.step()?;
            for tree in 0..memory.n_trees() {
                memory.replay(tree, ItemId(i), usize::MAX, 1.0, |own, other| {
                    let reward = likeness(&train[*own as usize], &train[*other as usize]);
                    (sum, n_rewards) = (sum + f64::from(reward), n_rewards + 1.0);
                    reward - setting.baseline.unwrap_or((sum / n_rewards) as f32)
                })?;
            }
        }
    }
    done.train[1] = start.elapsed() / n / setting.supervised_passes.max(1);
    done.shapes = memory.shapes();

    progress.begin("Finding principal components", 0);
    let pca = Pca::new(&vectors, COMPONENTS, &mut random::seeded(setting.options.seed));
    let projected: Vec<f32> = vectors.iter().flat_map(|x| pca.project(x)).collect();
    let tree = KdTree::new(&projected, pca.dimensions());
    done.components = pca.dimensions();
    let mut index = TextIndex::default();
    for (photo, i) in train.iter().zip(0..) {
        index.insert(TextKey { item: ItemId(i), part: 0 }, &photo.captions.join(" "));
    }
    let asked: Vec<TextQuery> = test.iter().map(|photo| query(&photo.captions.join(" "))).collect();

    let (queries, vectors) = (&queries, &vectors);
    let ask = |memory: Cmt<u32>| -> Way<'_> {
        Box::new(move |i| {
            let answer = memory.query_budget(&queries[i], 1, setting.leaves);
            (answer.hits.first().map(|hit| hit.id.0 as usize), answer.operations.memories)
        })
    };
    let scan = |by: Measure| -> Way<'_> {
        let mut scan = Scan::default();
        Box::new(move |i| (scan.nearest(vectors, &queries[i], 1, by).0.first().copied(), vectors.len() as u64))
    };
    let kd: Way<'_> = Box::new(|i| match tree.nearest(&pca.project(&queries[i])) {
        Some((row, looked_at)) => (Some(row), looked_at as u64),
        None => (None, 0),
    });
    let words: Way<'_> = Box::new(|i| (index.search(&asked[i], 1).first().map(|hit| hit.key.item.0 as usize), 0));
    let ways = [ask(untaught), ask(memory), scan(Measure::Euclid), scan(Measure::Cosine), kd, words];
    let found = measure(train, test, progress, ways)?;
    [done.unsupervised, done.supervised, done.nearest, done.nearest_cosine, done.kd, done.index] = found;
    Ok(done)
}

/// Finds a photo for a query; says how many it looked at.
type Way<'a> = Box<dyn FnMut(usize) -> (Option<usize>, u64) + 'a>;

/// All words of a text as wanted ones.
fn query(text: &str) -> TextQuery {
    TextQuery { words: words(text).collect(), ..TextQuery::default() }
}

/// Seconds after which no further round begins.
const PATIENCE: f64 = 20.0;

/// Asks each way for each photo of `test` by its position. The ways take turns, round by round, so that all of them meet the machine
/// in the same states: in a round that warms it up, and in seven more or as many as there is patience for, of which the median
/// time counts.
fn measure<const N: usize>(train: &[Photo], test: &[Photo], progress: &Progress, mut ways: [Way<'_>; N]) -> Result<[RetrievalScore; N]> {
    let n = test.len().max(1);
    let begin = Instant::now();
    let mut times = vec![Vec::new(); N];
    let mut answers = vec![Vec::new(); N];
    for round in 0..8 {
        if round > 1 && begin.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
        progress.begin("Asking", (test.len() * N) as u64);
        for ((ask, times), answers) in ways.iter_mut().zip(&mut times).zip(&mut answers) {
            answers.clear();
            let start = Instant::now();
            for i in 0..test.len() {
                progress.step()?;
                answers.push(ask(i));
            }
            times.push(start.elapsed() / n as u32);
        }
    }
    Ok(std::array::from_fn(|way| {
        let timed = &mut times[way][1..];
        timed.sort_unstable();
        let rewards = answers[way].iter().zip(test).map(|(answer, photo)| answer.0.map_or(0.0, |i| f64::from(likeness(&train[i], photo))));
        RetrievalScore {
            reward: rewards.sum::<f64>() / n as f64,
            time: timed[timed.len() / 2],
            memories: answers[way].iter().map(|answer| answer.1 as f64).sum::<f64>() / n as f64,
        }
    }))
}

/// How often the photo asked for is found: as shares of the queries, and the time of one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecallScore {
    /// It is the first.
    pub at_1: f64,
    /// It is among the first ten photos.
    pub at_10: f64,
    /// Time of an answer.
    pub time: Duration,
    /// Features gone through for an answer, on average.
    pub features: f64,
}

/// The recall of the memory, of the scan for the nearest by cosine, and of the inverted index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recalls {
    /// The memory.
    pub memory: RecallScore,
    /// The scan of the same vectors.
    pub nearest: RecallScore,
    /// The inverted index; its features are the postings of the query's words.
    pub index: RecallScore,
}

/// What a memory of the recall experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUnit {
    /// Each caption by itself.
    Captions,
    /// All captions of a photo together.
    Photos,
}

/// Remembers all captions but the fifth of each photo, weighed by tf-idf, and asks for the photos of `test` by their fifth.
/// Photos without five captions are remembered with all they have, and not asked for. Nothing is rewarded.
///
/// # Errors
/// [`Error::Option`], [`Error::Cancelled`].
pub fn recall(train: &[Photo], test: &[Photo], what: MemoryUnit, setting: &RetrievalSetting, progress: &Progress) -> Result<Recalls> {
    let mut texts: Vec<(u32, String)> = Vec::new();
    for (photo, i) in train.iter().chain(test).zip(0..) {
        let kept = &photo.captions[..photo.captions.len().min(4)];
        match what {
            MemoryUnit::Captions => texts.extend(kept.iter().map(|caption| (i, caption.clone()))),
            MemoryUnit::Photos => texts.push((i, kept.join(" "))),
        }
    }
    let asked = (train.len() as u32..).zip(test).filter_map(|(i, photo)| Some((i, photo.captions.get(4)?.clone())));
    let asked: Vec<(u32, String)> = asked.collect();

    let mut idf = Idf::default();
    let counted: Vec<SparseVec> = texts.iter().map(|(_, text)| counts(text, Stemming::English)).collect();
    counted.iter().for_each(|counts| idf.add(counts));
    let vectors: Vec<SparseVec> = counted.iter().map(|counts| idf.weigh(counts)).collect();
    let queries: Vec<SparseVec> = asked.iter().map(|(_, text)| idf.weigh(&counts(text, Stemming::English))).collect();

    let mut memory: Cmt<u32> = Cmt::new(&setting.options)?;
    progress.begin("Inserting captions", texts.len() as u64);
    for ((x, (photo, _)), i) in vectors.iter().zip(&texts).zip(0..) {
        progress.step()?;
        memory.insert(ItemId(i), x.clone(), *photo)?;
    }
    // A photo has at most four memories, so that ten photos are among forty.
    let k = if what == MemoryUnit::Captions { 40 } else { 10 };
    let truth: Vec<u32> = asked.iter().map(|(photo, _)| *photo).collect();
    let remembered = judge(&truth, progress, |i| {
        let answer = memory.query_budget(&queries[i], k, setting.leaves);
        let photos = answer.hits.iter().filter_map(|hit| Some(memory.get(hit.id)?.value));
        (photos.collect(), answer.operations.features)
    })?;
    let mut scan = Scan::default();
    let nearest = judge(&truth, progress, |i| {
        let (found, work) = scan.nearest(&vectors, &queries[i], k, Measure::Cosine);
        (found.into_iter().map(|row| texts[row].0).collect(), work)
    })?;
    let mut texts_index = TextIndex::default();
    for ((photo, text), part) in texts.iter().zip(0..) {
        texts_index.insert(TextKey { item: ItemId(*photo), part }, text);
    }
    let mut having: BTreeMap<String, u64> = BTreeMap::new();
    for (_, text) in &texts {
        for word in words(text).collect::<BTreeSet<String>>() {
            *having.entry(word).or_default() += 1;
        }
    }
    let postings = |text: &str| words(text).collect::<BTreeSet<String>>().iter().filter_map(|word| having.get(word)).sum();
    let wanted: Vec<(TextQuery, u64)> = asked.iter().map(|(_, text)| (query(text), postings(text))).collect();
    let index = judge(&truth, progress, |i| {
        let hits = texts_index.search(&wanted[i].0, k);
        (hits.iter().map(|hit| hit.key.item.0).collect(), wanted[i].1)
    })?;
    Ok(Recalls { memory: remembered, nearest, index })
}

/// `ask` gives photos, best first, each perhaps several times.
fn judge(truth: &[u32], progress: &Progress, mut ask: impl FnMut(usize) -> (Vec<u32>, u64)) -> Result<RecallScore> {
    let mut recall = RecallScore::default();
    for i in 0..truth.len().min(50) {
        ask(i);
    }
    progress.begin("Asking", truth.len() as u64);
    for (i, own) in truth.iter().enumerate() {
        progress.step()?;
        let start = Instant::now();
        let (photos, work) = ask(i);
        recall.time += start.elapsed();
        let mut seen = BTreeSet::new();
        let distinct: Vec<u32> = photos.into_iter().filter(|photo| seen.insert(*photo)).take(10).collect();
        recall.at_1 += f64::from(u8::from(distinct.first() == Some(own)));
        recall.at_10 += f64::from(u8::from(distinct.contains(own)));
        recall.features += work as f64;
    }
    let n = truth.len().max(1);
    Ok(RecallScore {
        at_1: recall.at_1 / n as f64,
        at_10: recall.at_10 / n as f64,
        time: recall.time / n as u32,
        features: recall.features / n as f64,
    })
}
