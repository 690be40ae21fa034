//! Jobs on collections: bytes in, bytes out, so that any scheduler can carry them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use tessera_core::canopy::{Covariance, MixtureOptions, Prior};
use tessera_core::ckm::Ckm;
use tessera_core::ckm::class_terms::ClassTerms;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::collection::jobs::{
    self, AskedImage, CollectionLook, CopyPairs, ImageChoice, IndexedNearest, MixtureBegin, MixtureRound, NearestImages, NeededWords,
    RecognitionJob, RememberedWords, ShardJob, TakenImages, WordCounts, WordFound, WordsFound,
};
use tessera_core::collection::{self, ImageHash, Shard, ShardEntry, ShardImage, write_shard};
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::{InProcess, Picture};
use tessera_core::{Error, Result};

use crate::errors::{exception, refused};
use crate::recogniser::{Given, Source, options, sources};
use crate::work::run;

/// The name of a shard's file, its hash, its images and bytes.
type Entry = (String, String, u64, u64);
/// What a file holds: bytes, or the path of the file with them.
#[derive(FromPyObject)]
pub(crate) enum Held {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

/// The name, the content and the hash of a shard.
type ShardFile = (String, Held, String);
/// What is known of an image that is to be added: its place, file, class, object and captions.
type File = (String, Held, Option<String>, Option<String>, Vec<String>);
/// The hash, place, class, elements and appearance of an image.
type Known = (String, String, Option<String>, Vec<u8>, Vec<u8>);
/// An image that was found by words: its hash, score, place, best caption, and what words add.
type Worded = (String, f64, String, Option<String>, Vec<(String, f64)>);
/// A job and its joined state.
type Asked = (PyBackedBytes, PyBackedBytes);
/// The classes with their scores, the best first, and the confidence.
type Recognised = (Vec<(String, f64)>, f64);

fn told(entry: ShardEntry) -> Entry {
    (entry.file, entry.hash, entry.images, entry.bytes)
}

fn entry((file, hash, images, bytes): Entry) -> ShardEntry {
    ShardEntry { file, hash, images, bytes }
}

fn opened((name, held, hash): ShardFile) -> Result<Shard> {
    let bytes = match held {
        Held::Bytes(bytes) => Bytes::from_owner(bytes),
        Held::Path(path) => std::fs::read(&path).map_err(Error::io("read", path))?.into(),
    };
    Shard::open(&name, bytes, Some(&hash))
}

fn hashes(texts: &[String]) -> PyResult<BTreeSet<ImageHash>> {
    texts.iter().map(|text| ImageHash::from_hex(text)).collect::<Result<_>>().map_err(exception)
}

/// A job and its joined state.
fn both<J: ShardJob>(job: &[u8], state: &[u8]) -> Result<(J, J::State)> {
    let job: J = jobs::read_job(job)?;
    let state = jobs::read_state(&job, state)?;
    Ok((job, state))
}

fn packed<'py, J: ShardJob>(py: Python<'py>, job: &J) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &jobs::job_bytes(job))
}

/// As [`packed`], of a job that is made without the interpreter.
fn made<J: ShardJob>(py: Python<'_>, make: impl FnOnce() -> Result<J> + Send) -> PyResult<Bound<'_, PyBytes>> {
    let job = run(py, None, |_| Ok(jobs::job_bytes(&make()?)))?;
    Ok(PyBytes::new(py, &job))
}

/// The shards of a version of a collection.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Manifest(collection::Manifest);

#[pymethods]
impl Manifest {
    /// That of a collection without shards.
    #[new]
    fn new(elements: &str, subject: &str, side: u32, decompositions: usize, neighbours: usize, seed: u64) -> PyResult<Self> {
        let options = options(elements, subject, side, decompositions, neighbours, seed)?;
        options.check().map_err(exception)?;
        Ok(Self(collection::Manifest::new(options)))
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        collection::Manifest::from_json(text).map(Self).map_err(exception)
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    fn version(&self) -> u64 {
        self.0.version
    }

    fn images(&self) -> u64 {
        self.0.images()
    }

    fn shards(&self) -> Vec<Entry> {
        self.0.shards().iter().cloned().map(told).collect()
    }

    /// The next version: without shards of these names, and with others.
    fn changed(&self, without: Vec<String>, with_shards: Vec<Entry>) -> Self {
        Self(self.0.changed(&without, with_shards.into_iter().map(entry)))
    }
}

/// The state that a job makes of one shard, or of two. `index` is the state of the shard that the
/// job of [`shards_of`] made; without one it is made first.
#[pyfunction]
#[pyo3(signature = (job, shards, index=None))]
pub(crate) fn state_of<'py>(
    py: Python<'py>,
    job: PyBackedBytes,
    shards: Vec<ShardFile>,
    index: Option<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = run(py, None, |progress| {
        let shards: Vec<Shard> = shards.into_iter().map(opened).collect::<Result<_>>()?;
        let shards: Vec<&Shard> = shards.iter().collect();
        match &index {
            Some(index) => jobs::state_by(&job, &shards, index, progress),
            None => jobs::state(&job, &shards, progress),
        }
    })?;
    Ok(PyBytes::new(py, &state))
}

/// The state of all shards that some states are of.
#[pyfunction]
pub(crate) fn joined<'py>(py: Python<'py>, job: PyBackedBytes, states: Vec<PyBackedBytes>) -> PyResult<Bound<'py, PyBytes>> {
    let state = run(py, None, |_| jobs::joined(&job, &states.iter().map(|state| &state[..]).collect::<Vec<_>>()))?;
    Ok(PyBytes::new(py, &state))
}

/// How many shards a state of a job is of, and the job that makes the index of a shard which its
/// states are made by, where it has any.
#[pyfunction]
pub(crate) fn shards_of<'py>(py: Python<'py>, job: PyBackedBytes) -> PyResult<(usize, Option<Bound<'py, PyBytes>>)> {
    let index = jobs::index_of(&job).map_err(exception)?;
    Ok((jobs::shards_of(&job).map_err(exception)?, index.map(|index| PyBytes::new(py, &index))))
}

/// The bytes of a shard of these files, with its entry, and the files that could not be read. The
/// images of shards that were made `before`, without an entry, come first.
#[pyfunction]
#[pyo3(signature = (manifest, files, before=None))]
#[expect(clippy::type_complexity, reason = "Python names the parts")]
pub(crate) fn shard_of<'py>(
    py: Python<'py>,
    manifest: &Manifest,
    files: Vec<File>,
    before: Option<Vec<PyBackedBytes>>,
) -> PyResult<(Option<(Bound<'py, PyBytes>, Entry)>, Vec<(String, String)>)> {
    let (bytes, images, failed) = run(py, None, |progress| {
        let (machine, decoder) = (Ckm::new(manifest.0.options.clone())?, InProcess::default());
        progress.begin("Making shards", files.len() as u64);
        let row = |(place, held, class, object, captions): &File| {
            progress.step()?;
            let made = || -> Result<ShardImage> {
                // Files of this machine are in memory one for each thread.
                let bytes = match held {
                    Held::Bytes(bytes) => Cow::Borrowed(&bytes[..]),
                    Held::Path(path) => Cow::Owned(std::fs::read(path).map_err(Error::io("read", path))?),
                };
                let picture = Picture::shrunk(decoder.decode_bytes(Path::new(place), &bytes)?, SIDE);
                let image = ShardImage::of(ImageHash::of(&bytes), place.clone(), &picture, &machine)?;
                Ok(ShardImage { class: class.clone(), object: object.clone(), captions: captions.clone(), ..image })
            };
            Ok(made().map_err(|error| (place.clone(), error.to_string())))
        };
        let rows: Vec<std::result::Result<ShardImage, (String, String)>> = files.par_iter().map(row).collect::<Result<_>>()?;
        let (mut images, mut failed, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        for bytes in before.into_iter().flatten() {
            let part = Shard::open("the part before", Bytes::from_owner(bytes), None)?;
            images.extend(part.images()?.into_iter().filter(|image| seen.insert(image.hash)));
        }
        for row in rows {
            match row {
                Ok(image) if seen.insert(image.hash) => images.push(image),
                Ok(_) => {}
                Err(why) => failed.push(why),
            }
        }
        let bytes = if images.is_empty() { Vec::new() } else { write_shard(&manifest.0.options, &images)? };
        Ok((bytes, images.len(), failed))
    })?;
    let shard = (images > 0).then(|| (PyBytes::new(py, &bytes), told(ShardEntry::of(&bytes, images))));
    Ok((shard, failed))
}

/// The bytes of a shard of images of which elements and appearances are known, each with its hash,
/// place and class: for experiments.
#[pyfunction]
pub(crate) fn shard_of_known<'py>(py: Python<'py>, manifest: &Manifest, images: Vec<Known>) -> PyResult<(Bound<'py, PyBytes>, Entry)> {
    let (bytes, n) = run(py, None, |_| {
        let image = |(hash, place, class, elements, appearance): Known| {
            let hash = ImageHash::from_hex(&hash)?;
            let (folder, object, captions, signature, thumbnail) = (String::new(), None, Vec::new(), Vec::new(), Vec::new());
            Ok(ShardImage { hash, place, folder, class, object, captions, elements, appearance, signature, thumbnail })
        };
        let images: Vec<ShardImage> = images.into_iter().map(image).collect::<Result<_>>()?;
        Ok((write_shard(&manifest.0.options, &images)?, images.len()))
    })?;
    Ok((PyBytes::new(py, &bytes), told(ShardEntry::of(&bytes, n))))
}

/// The hashes of a shard's images.
#[pyfunction]
pub(crate) fn hashes_of(py: Python<'_>, shard: ShardFile) -> PyResult<Vec<String>> {
    run(py, None, |_| Ok(opened(shard)?.hashes().iter().map(ToString::to_string).collect()))
}

/// A shard without some images, which is `None` where it has only these, and how many it had.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "Python names the parts")]
pub(crate) fn shard_without<'py>(
    py: Python<'py>,
    shard: ShardFile,
    images: Vec<String>,
) -> PyResult<(usize, Option<(Bound<'py, PyBytes>, Entry)>)> {
    let gone = hashes(&images)?;
    let (n, left) = run(py, None, |_| {
        let shard = opened(shard)?;
        let n = shard.hashes().iter().filter(|hash| gone.contains(hash)).count();
        let mut images = if n > 0 { shard.images()? } else { Vec::new() };
        images.retain(|image| !gone.contains(&image.hash));
        let left = if images.is_empty() { None } else { Some((write_shard(shard.options(), &images)?, images.len())) };
        Ok((n, left))
    })?;
    Ok((n, left.map(|(bytes, images)| (PyBytes::new(py, &bytes), told(ShardEntry::of(&bytes, images))))))
}

/// The elements and the appearance of images as bytes, as shards have them.
#[pyfunction]
pub(crate) fn features_of<'py>(
    py: Python<'py>,
    manifest: &Manifest,
    images: Vec<Given<'py>>,
) -> PyResult<Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
    let sources = sources(&images)?;
    let made: Vec<(Vec<u8>, Vec<u8>)> = run(py, None, |progress| {
        let (machine, decoder) = (Ckm::new(manifest.0.options.clone())?, InProcess::default());
        progress.begin("Looking at images", sources.len() as u64);
        let one = |source: &Source<'_>| {
            progress.step()?;
            let picture = source.picture(&decoder, progress)?;
            Ok((machine.elements(&picture)?.to_bytes(), Appearance::of(&picture.pixels).to_bytes()))
        };
        sources.par_iter().map(one).collect()
    })?;
    Ok(made.iter().map(|(elements, appearance)| (PyBytes::new(py, elements), PyBytes::new(py, appearance))).collect())
}

/// The job that recognises images of these elements.
#[pyfunction]
pub(crate) fn recognition<'py>(py: Python<'py>, manifest: &Manifest, elements: Vec<Vec<u8>>) -> Bound<'py, PyBytes> {
    let images = elements.into_iter().map(|elements| AskedImage { elements, itself: None, object: None }).collect();
    packed(py, &RecognitionJob { options: manifest.0.options.clone(), images })
}

/// For each image all classes with their scores, the best first, and the confidence in that.
/// `report` is what [`judged`] wrote.
#[pyfunction]
pub(crate) fn recognised(py: Python<'_>, job: PyBackedBytes, state: PyBackedBytes, report: Option<&str>) -> PyResult<Vec<Recognised>> {
    let read = |text: &str| serde_json::from_str::<(ClassTerms, Calibration)>(text);
    let wrong = |error: serde_json::Error| exception(Error::value("report", "one of `evaluate`", error.to_string()));
    let (terms, calibration) = report.map(read).transpose().map_err(wrong)?.unwrap_or_default();
    run(py, None, |_| {
        let (job, state) = both::<RecognitionJob>(&job, &state)?;
        let answer = |answer: jobs::RecognitionAnswer| {
            let ranking = answer.scores.ranking().into_iter().map(|(class, score)| (answer.classes[class.index()].clone(), score));
            (ranking.collect(), calibration.confidence(&answer.scores))
        };
        Ok(job.answers(&state, &terms)?.into_iter().map(answer).collect())
    })
}

/// The job that looks for the images nearest to these appearances: all are compared, or with a
/// recall below 1 those that the indexes of shards name.
#[pyfunction]
#[pyo3(signature = (k, look, like, recall=None))]
pub(crate) fn nearest<'py>(
    py: Python<'py>,
    k: usize,
    look: &str,
    like: Vec<Vec<u8>>,
    recall: Option<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let look = match look {
        "appearance" => CollectionLook::Appearance,
        "edges" => CollectionLook::Edges,
        "colours" => CollectionLook::Colours,
        _ => return Err(refused("look", look, "appearance, edges or colours")),
    };
    let nearest = NearestImages { k, look, like };
    match recall {
        Some(recall) => Ok(packed(py, &IndexedNearest { nearest, recall: below_one(recall)? })),
        None => Ok(packed(py, &nearest)),
    }
}

fn below_one(recall: f64) -> PyResult<f64> {
    if recall > 0.0 && recall < 1.0 { Ok(recall) } else { Err(refused("recall", &recall.to_string(), "above 0 and at most 1")) }
}

/// For each image those found, with their likeness; and the recall, where it was measured.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "Python names the parts")]
pub(crate) fn nearest_found(py: Python<'_>, job: PyBackedBytes, state: PyBackedBytes) -> PyResult<(Vec<Vec<(String, f64)>>, f64)> {
    run(py, None, |_| {
        let (found, recall) = if jobs::read_job::<NearestImages>(&job).is_ok() {
            (both::<NearestImages>(&job, &state)?.1, 1.0)
        } else {
            let (_, state) = both::<IndexedNearest>(&job, &state)?;
            (state.found, state.recall.share())
        };
        let found = found.into_iter().map(|found| found.into_iter().map(|one| (one.image.to_string(), one.likeness)).collect());
        Ok((found.collect(), recall))
    })
}

/// The job that asks which words matter to a query; and, with what that or the job that asks memory
/// trees was answered, the job that counts these words.
#[pyfunction]
#[pyo3(signature = (query, needed=None))]
pub(crate) fn word_counts<'py>(py: Python<'py>, query: String, needed: Option<Asked>) -> PyResult<Bound<'py, PyBytes>> {
    let Some((job, state)) = needed else { return Ok(packed(py, &NeededWords { query })) };
    made(py, || {
        let needed = if jobs::read_job::<NeededWords>(&job).is_ok() {
            both::<NeededWords>(&job, &state)?.1
        } else {
            let (job, state) = both::<RememberedWords>(&job, &state)?;
            job.needed(&state)
        };
        Ok(WordCounts::of(&query, &needed))
    })
}

/// The job that looks for words, with what the job that counted them was answered; or with a recall
/// below 1 the job that asks the memory trees of shards, which comes before words are counted.
#[pyfunction]
#[pyo3(signature = (query, k, counted=None, recall=None))]
pub(crate) fn words<'py>(
    py: Python<'py>,
    query: String,
    k: usize,
    counted: Option<Asked>,
    recall: Option<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    if let Some(recall) = recall {
        return Ok(packed(py, &RememberedWords { query, k, recall: below_one(recall)? }));
    }
    let Some((job, state)) = counted else { return Err(refused("counted", "nothing", "the counts of words, or a recall")) };
    made(py, || {
        let (_, counted) = both::<WordCounts>(&job, &state)?;
        Ok(WordsFound::of(&query, k, &counted))
    })
}

/// The images found, and the recall, where it was measured: what memory trees named is weighed by
/// what the job that counted words was answered.
#[pyfunction]
#[pyo3(signature = (job, state, counted=None))]
pub(crate) fn words_found(
    py: Python<'_>,
    job: PyBackedBytes,
    state: PyBackedBytes,
    counted: Option<Asked>,
) -> PyResult<(Vec<Worded>, f64)> {
    run(py, None, |_| {
        let (found, recall) = match &counted {
            None => (both::<WordsFound>(&job, &state)?.1, 1.0),
            Some((counting, counted)) => {
                let (_, counted) = both::<WordCounts>(counting, counted)?;
                let (job, state) = both::<RememberedWords>(&job, &state)?;
                (job.answers(&state, &counted), state.recall.share())
            }
        };
        let told = |hit: WordFound| (hit.image.to_string(), hit.score, hit.place, hit.caption, hit.terms);
        Ok((found.into_iter().map(told).collect(), recall))
    })
}

/// The job that chooses images among which clusters begin.
#[pyfunction]
pub(crate) fn mixture_begin(py: Python<'_>, sample: usize, seed: u64) -> Bound<'_, PyBytes> {
    packed(py, &MixtureBegin { sample, seed })
}

/// The job that is the first iteration.
#[pyfunction]
pub(crate) fn mixture_first<'py>(
    py: Python<'py>,
    job: PyBackedBytes,
    state: PyBackedBytes,
    clusters: usize,
    covariance: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let covariance = match covariance {
        "diagonal" => Covariance::Diagonal,
        "isotropic" => Covariance::Isotropic,
        _ => return Err(refused("covariance", covariance, "diagonal or isotropic")),
    };
    made(py, || {
        let (begin, state) = both::<MixtureBegin>(&job, &state)?;
        let options = MixtureOptions { clusters, covariance, seed: begin.seed, ..MixtureOptions::default() };
        begin.round(&state, &options)
    })
}

/// The job that is the next iteration; and of the last one the number of images, their mean
/// logarithm of density before it, the sizes of clusters, and the images that fit each best.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "Python names the parts")]
pub(crate) fn mixture_next<'py>(
    py: Python<'py>,
    job: PyBackedBytes,
    state: PyBackedBytes,
) -> PyResult<(Bound<'py, PyBytes>, (u64, f64, Vec<u64>, Vec<Vec<String>>))> {
    let (next, report) = run(py, None, |_| {
        let (round, state) = both::<MixtureRound>(&job, &state)?;
        let (next, report) = round.next(&state, &Prior::default());
        Ok((jobs::job_bytes(&next), report))
    })?;
    let examples = report.examples.iter().map(|images| images.iter().map(ToString::to_string).collect()).collect();
    Ok((PyBytes::new(py, &next), (report.points, report.likelihood, report.sizes, examples)))
}

/// The means of a mixture's clusters and their shares.
#[pyfunction]
pub(crate) fn mixture_clusters<'py>(py: Python<'py>, job: PyBackedBytes) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<f64>)> {
    let model = jobs::read_job::<MixtureRound>(&job).map_err(exception)?.model;
    let means: Vec<f64> = (0..model.clusters()).flat_map(|cluster| model.mean(cluster)).collect();
    Ok((means.into_pyarray(py).reshape([model.clusters(), model.centre().len()])?, model.shares()))
}

/// The most probable cluster of each image of a shard.
#[pyfunction]
pub(crate) fn mixture_assigned(py: Python<'_>, job: PyBackedBytes, shard: ShardFile) -> PyResult<Vec<(String, u32)>> {
    run(py, None, |_| {
        let round = jobs::read_job::<MixtureRound>(&job)?;
        let assigned = round.assigned(&opened(shard)?)?;
        Ok(assigned.into_iter().map(|(image, cluster)| (image.to_string(), cluster)).collect())
    })
}

/// The job that looks for pairs of near copies.
#[pyfunction]
pub(crate) fn copies(py: Python<'_>, distance: f64) -> PyResult<Bound<'_, PyBytes>> {
    if !(0.0..=100.0).contains(&distance) {
        return Err(refused("distance", &distance.to_string(), "0 to 100"));
    }
    Ok(packed(py, &CopyPairs { distance }))
}

/// How many pairs there are, and groups of image, place and distance from the first.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "Python names the parts")]
pub(crate) fn copies_found(py: Python<'_>, job: PyBackedBytes, state: PyBackedBytes) -> PyResult<(usize, Vec<Vec<(String, String, f64)>>)> {
    run(py, None, |_| {
        let (job, state) = both::<CopyPairs>(&job, &state)?;
        let copy = |copy: jobs::SharedCopy| (copy.image.to_string(), copy.place, copy.distance);
        Ok((state.len(), job.groups(&state).into_iter().map(|group| group.into_iter().map(copy).collect()).collect()))
    })
}

/// The job that chooses images of each class.
#[pyfunction]
pub(crate) fn choice(py: Python<'_>, limit: usize, seed: u64) -> Bound<'_, PyBytes> {
    packed(py, &ImageChoice { limit, seed })
}

/// The chosen images.
#[pyfunction]
pub(crate) fn chosen(py: Python<'_>, job: PyBackedBytes, state: PyBackedBytes) -> PyResult<Vec<String>> {
    run(py, None, |_| {
        let (job, state) = both::<ImageChoice>(&job, &state)?;
        Ok(job.chosen(&state, job.limit).iter().map(ToString::to_string).collect())
    })
}

/// The job that takes what is known of some images.
#[pyfunction]
pub(crate) fn taking(py: Python<'_>, images: Vec<String>) -> PyResult<Bound<'_, PyBytes>> {
    Ok(packed(py, &TakenImages { images: hashes(&images)? }))
}

/// What was taken: hash, place, class, object, elements and appearance.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "Python names the parts")]
pub(crate) fn taken<'py>(
    py: Python<'py>,
    job: PyBackedBytes,
    state: PyBackedBytes,
) -> PyResult<Vec<(String, String, Option<String>, Option<String>, Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
    let (_, state) = run(py, None, |_| both::<TakenImages>(&job, &state))?;
    let image = |(hash, image): (ImageHash, jobs::TakenImage)| {
        let (elements, appearance) = (PyBytes::new(py, &image.elements), PyBytes::new(py, &image.appearance));
        (hash.to_string(), image.place, image.class, image.object, elements, appearance)
    };
    Ok(state.into_iter().map(image).collect())
}

/// Jobs that recognise taken images without themselves and their objects, each of at most so many.
#[pyfunction]
pub(crate) fn judging<'py>(
    py: Python<'py>,
    manifest: &Manifest,
    job: PyBackedBytes,
    state: PyBackedBytes,
    at_once: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let made = run(py, None, |_| {
        let (_, state) = both::<TakenImages>(&job, &state)?;
        let of = |images| jobs::job_bytes(&RecognitionJob::of_taken(manifest.0.options.clone(), images));
        Ok(state.chunks(at_once.max(1)).map(of).collect::<Vec<_>>())
    })?;
    Ok(made.iter().map(|job| PyBytes::new(py, job)).collect())
}

/// The report: classes with their images, images judged, accuracy and recalls with their spreads,
/// the confusion, and what [`recognised`] takes.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "Python names the parts")]
pub(crate) fn judged(
    py: Python<'_>,
    choice: Asked,
    taken: Asked,
    recognitions: Vec<Asked>,
) -> PyResult<(Vec<(String, u64)>, usize, Option<(f64, f64)>, Vec<Option<(f64, f64)>>, Vec<Vec<u32>>, String)> {
    run(py, None, |_| {
        let (_, chosen) = both::<ImageChoice>(&choice.0, &choice.1)?;
        let (_, images) = both::<TakenImages>(&taken.0, &taken.1)?;
        let mut answers = Vec::new();
        for (job, state) in &recognitions {
            let (job, state) = both::<RecognitionJob>(job, state)?;
            answers.extend(job.answers(&state, &ClassTerms::default())?);
        }
        let report = jobs::judged(&chosen, &images, &answers)?;
        let estimate = |own: tessera_core::ckm::accuracy::Estimate| (own.value, own.spread);
        let recalls = report.accuracy.as_ref().map_or_else(Vec::new, |own| own.recalls.iter().map(|one| one.map(estimate)).collect());
        let learned = serde_json::to_string(&(&report.terms, &report.calibration));
        let learned = learned.map_err(|error| Error::value("report", "numbers", error.to_string()))?;
        let overall = report.accuracy.map(|own| estimate(own.overall));
        Ok((report.classes.into_iter().zip(report.images).collect(), report.judged, overall, recalls, report.confusion, learned))
    })
}
