//! Photos found by words: a memory a photo, found by the words of its captions, rewarded by the
//! similarity of photos (Sun et al. 2019, section 4.4).

mod indexes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::Failed;
use crate::cmt::{Cmt, CmtIndex, CmtOptions, TreeShape};
use crate::data::tables::Table;
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::linalg::pca::Pca;
use crate::linalg::single;
use crate::nearest::{Dynamic as _, KdTree, Metric, Neighbors, SparseScan, everything};
use crate::picture::Decoder;
use crate::picture::hog::{HogOptions, dense_hog};
use crate::picture::resize::resize_rgb;
use crate::progress::Progress;
use crate::random;
use crate::sparse::SparseVec;
use crate::text::hashing::{Idf, Stemming, counts};
use crate::text::{TextIndex, TextKey, TextQuery, words};
use indexes::{ByComponents, ByWords, CaptionIndex, CaptionQuery};

/// Pixels of the sides that photos are brought to.
const SIDE: u32 = 128;
/// Pixels of a cell's side.
const CELL: u32 = 16;
/// The most principal components.
const COMPONENTS: usize = 200;

/// A photo with its captions and its histograms of gradients.
#[derive(Clone, Debug)]
pub struct Photo {
    /// Its file's name.
    pub name: String,
    /// Its captions.
    pub captions: Vec<String>,
    /// Its histograms of gradients, a vector of length 1.
    pub look: Vec<f32>,
}

/// Reads the photos of these names from a folder. Those that fail are left out and returned with
/// their errors.
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

/// The similarity of two photos: the cosine of their gradients.
fn likeness(a: &Photo, b: &Photo) -> f32 {
    single::dot(&a.look, &b.look)
}

/// The counts of the words of all captions of a photo.
fn vector(photo: &Photo) -> SparseVec {
    counts(&photo.captions.join(" "), Stemming::None)
}

/// The scores of one index of photos: one photo is found for each query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RetrievalScore {
    /// The mean similarity of the photo found and the right one; 0 where none was found.
    pub reward: f64,
    /// Time of a query.
    pub time: Duration,
    /// Memories scored for an answer, on average.
    pub memories: f64,
}

/// The rewards and times of all indexes.
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
    pub shapes: Vec<TreeShape>,
}

/// How the memory is trained and queried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetrievalSetting {
    /// How trees are grown and taught.
    pub options: CmtOptions,
    /// Passes with rewards.
    pub supervised_passes: u32,
    /// Taken from each reward before it is learned, so that the scorer learns which answers are
    /// better than usual. `None`: the mean of the rewards so far. The paper has 0.
    pub baseline: Option<f32>,
    /// Leaves searched in each tree.
    pub leaves: usize,
}

/// Puts the photos of `train` into each index and queries for those of `test` by all their
/// captions, on one thread.
///
/// As the paper: a memory is found by the counts of its words, and in passes with rewards all
/// memories of a leaf are rewarded by their similarity to the photo asked for. Unlike the paper a
/// baseline is subtracted from rewards: all photos are similar to some degree, and a scorer that
/// learns this much of every word ranks no better than before.
///
/// # Errors
/// [`Error::Option`], [`Error::Cancelled`].
pub fn retrieve(train: &[Photo], test: &[Photo], setting: &RetrievalSetting, progress: &Progress) -> Result<Retrieval> {
    let vectors: Vec<SparseVec> = train.iter().map(vector).collect();
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
    let projected: Vec<Vec<f32>> = vectors.iter().map(|x| pca.project(x)).collect();
    let tree = KdTree::new(pca.dimensions(), (0..).map(ItemId).zip(projected.iter().map(Vec::as_slice)))?;
    done.components = pca.dimensions();
    let mut index = TextIndex::default();
    for (photo, i) in train.iter().zip(0..) {
        index.insert(TextKey { item: ItemId(i), part: 0 }, &photo.captions.join(" "));
    }
    let asked = |photo: &Photo| CaptionQuery { vector: vector(photo), words: query(&photo.captions.join(" ")), postings: 0 };
    let queries: Vec<CaptionQuery> = test.iter().map(asked).collect();
    let leaves = setting.leaves;
    let indexes = [
        indexes::memory(CmtIndex { memory: untaught, leaves }),
        indexes::memory(CmtIndex { memory, leaves }),
        indexes::scan(scan_of(&vectors, Metric::Euclidean)?),
        indexes::scan(scan_of(&vectors, Metric::Cosine)?),
        Box::new(ByComponents { pca, tree }),
        Box::new(ByWords(index)),
    ];
    let found = measure(train, test, &queries, progress, &indexes)?;
    [done.unsupervised, done.supervised, done.nearest, done.nearest_cosine, done.kd, done.index] = found;
    Ok(done)
}

/// A scan of vectors by their positions.
fn scan_of(vectors: &[SparseVec], metric: Metric) -> Result<SparseScan> {
    let mut scan = SparseScan::new(metric);
    for (x, i) in vectors.iter().zip(0..) {
        scan.insert(ItemId(i), x)?;
    }
    Ok(scan)
}

/// All words of a text as wanted ones.
fn query(text: &str) -> TextQuery {
    TextQuery { words: words(text).collect(), ..TextQuery::default() }
}

/// Seconds after which no further round begins.
const PATIENCE: f64 = 20.0;

/// Queries each index for each photo of `test`. The indexes take turns, round by round, so that all
/// of them meet the machine in the same states: first a round to warm up, then seven more, or as
/// many as begin within `PATIENCE` seconds, of which the median time counts.
fn measure<const N: usize>(
    train: &[Photo],
    test: &[Photo],
    queries: &[CaptionQuery],
    progress: &Progress,
    indexes: &[CaptionIndex<'_>; N],
) -> Result<[RetrievalScore; N]> {
    let n = test.len().max(1);
    let begin = Instant::now();
    let mut times = vec![Vec::new(); N];
    let mut answers: Vec<Vec<Neighbors>> = vec![Vec::new(); N];
    for round in 0..8 {
        if round > 1 && begin.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
        progress.begin("Asking", (test.len() * N) as u64);
        for ((index, times), answers) in indexes.iter().zip(&mut times).zip(&mut answers) {
            answers.clear();
            let start = Instant::now();
            for query in queries {
                progress.step()?;
                answers.push(index.nearest(query, 1, &everything)?);
            }
            times.push(start.elapsed() / n as u32);
        }
    }
    Ok(std::array::from_fn(|index| {
        let timed = &mut times[index][1..];
        timed.sort_unstable();
        let photo = |answer: &Neighbors| answer.list.first().map(|found| &train[found.id.0 as usize]);
        let rewards =
            answers[index].iter().zip(test).map(|(answer, wanted)| photo(answer).map_or(0.0, |photo| f64::from(likeness(photo, wanted))));
        RetrievalScore {
            reward: rewards.sum::<f64>() / n as f64,
            time: timed[timed.len() / 2],
            memories: answers[index].iter().map(|answer| answer.cost.points as f64).sum::<f64>() / n as f64,
        }
    }))
}

/// How often the right photo is found, as shares of the queries, and the time and work of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecallScore {
    /// It is the first.
    pub at_1: f64,
    /// It is among the first ten photos.
    pub at_10: f64,
    /// Time of a query.
    pub time: Duration,
    /// Mean number of features read for a query.
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

/// The texts that make a memory in the recall experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUnit {
    /// Each caption by itself.
    Captions,
    /// All captions of a photo together.
    Photos,
}

/// Indexes all captions but the fifth of each photo, weighed by tf-idf, and queries for the photos
/// of `test` by their fifth. Photos without five captions are indexed with all they have, and not
/// queried for. There are no rewards.
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
    let mut memory: Cmt<u32> = Cmt::new(&setting.options)?;
    progress.begin("Inserting captions", texts.len() as u64);
    let mut texts_index = TextIndex::default();
    let mut having: BTreeMap<String, u64> = BTreeMap::new();
    for ((x, (photo, text)), i) in vectors.iter().zip(&texts).zip(0..) {
        progress.step()?;
        memory.insert(ItemId(i), x.clone(), *photo)?;
        texts_index.insert(TextKey { item: ItemId(i), part: 0 }, text);
        for word in words(text).collect::<BTreeSet<String>>() {
            *having.entry(word).or_default() += 1;
        }
    }
    let postings = |text: &str| words(text).collect::<BTreeSet<String>>().iter().filter_map(|word| having.get(word)).sum();
    let question = |(photo, text): &(u32, String)| {
        let vector = idf.weigh(&counts(text, Stemming::English));
        (*photo, CaptionQuery { vector, words: query(text), postings: postings(text) })
    };
    let asked: Vec<(u32, CaptionQuery)> = asked.iter().map(question).collect();
    // A photo has at most four memories, so that ten photos are among forty.
    let k = if what == MemoryUnit::Captions { 40 } else { 10 };
    let photos: Vec<u32> = texts.iter().map(|(photo, _)| *photo).collect();
    let judge = |index: &CaptionIndex<'_>| judge(&asked, &photos, k, index, progress);
    Ok(Recalls {
        memory: judge(&indexes::memory(CmtIndex { memory, leaves: setting.leaves }))?,
        nearest: judge(&indexes::scan(scan_of(&vectors, Metric::Cosine)?))?,
        index: judge(&(Box::new(ByWords(texts_index)) as CaptionIndex<'_>))?,
    })
}

/// How well an index finds the photo of each query; `photos` are those of its texts, of which a
/// photo may have several.
fn judge(asked: &[(u32, CaptionQuery)], photos: &[u32], k: usize, index: &CaptionIndex<'_>, progress: &Progress) -> Result<RecallScore> {
    let mut recall = RecallScore::default();
    for (_, query) in asked.iter().take(50) {
        index.nearest(query, k, &everything)?;
    }
    progress.begin("Asking", asked.len() as u64);
    for (own, query) in asked {
        progress.step()?;
        let start = Instant::now();
        let found = index.nearest(query, k, &everything)?;
        recall.time += start.elapsed();
        let mut seen = BTreeSet::new();
        let found_photos = found.list.iter().map(|text| photos[text.id.0 as usize]);
        let distinct: Vec<u32> = found_photos.filter(|photo| seen.insert(*photo)).take(10).collect();
        recall.at_1 += f64::from(u8::from(distinct.first() == Some(own)));
        recall.at_10 += f64::from(u8::from(distinct.contains(own)));
        recall.features += found.cost.values as f64;
    }
    let n = asked.len().max(1);
    Ok(RecallScore {
        at_1: recall.at_1 / n as f64,
        at_10: recall.at_10 / n as f64,
        time: recall.time / n as u32,
        features: recall.features / n as f64,
    })
}
