//! Recognising images by compositional kernel machines.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use image::RgbImage;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use tessera_core::ckm::accuracy::Accuracy;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::presets::{Preset, Subject};
use tessera_core::ckm::unknown::{UnknownBar, UnknownCurve};
use tessera_core::ckm::{Ckm, CkmOptions, Example, Search, Without, fit};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::{Decoder as _, InProcess, Picture};
use tessera_core::progress::Progress;
use tessera_core::random;
use tessera_core::{Error, Result};

use crate::errors::{exception, refused};
use crate::work::run;

/// Images that judge a machine at most, as many as the program takes.
const JUDGED: usize = 400;

/// A recogniser of images: a machine with its calibration.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Recogniser {
    model: RwLock<RecogniserModel>,
    /// Which training images are compared; nothing leaves it to their number.
    search: Option<Search>,
    decoder: InProcess,
}

/// An image as it is given.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// Height, width and three colours of 8 bits.
    Pixels(PyReadonlyArray3<'py, u8>),
    /// A file.
    File(PathBuf),
}

/// The same without the interpreter.
pub(crate) enum Source<'a> {
    Pixels { width: u32, height: u32, values: &'a [u8] },
    File(&'a Path),
}

/// A piece of an image: its kind, its position, the training image it was matched with and the
/// position there, and what it adds to the score.
type Piece = (String, (f32, f32), Option<(u32, String, (f32, f32))>, f64);
/// A class, its score, its term, what whole images add, and the pieces.
type Explained = (String, f64, f64, f64, Vec<Piece>);

pub(crate) fn sources<'a>(images: &'a [Given<'_>]) -> PyResult<Vec<Source<'a>>> {
    let source = |image: &'a Given<'_>| match image {
        Given::File(path) => Ok(Source::File(path)),
        Given::Pixels(array) => {
            let [height, width, colours] = [array.shape()[0], array.shape()[1], array.shape()[2]];
            let side = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0);
            match (side(width), side(height), colours) {
                (Some(width), Some(height), 3) => Ok(Source::Pixels { width, height, values: array.as_slice()? }),
                _ => {
                    let expected = "an array of height, width and 3 colours, none of them 0";
                    Err(exception(Error::value("image", expected, format!("{height} x {width} x {colours}"))))
                }
            }
        }
    };
    images.iter().map(source).collect()
}

impl Source<'_> {
    pub(crate) fn picture(&self, decoder: &InProcess, progress: &Progress) -> Result<Picture> {
        match self {
            Self::File(path) => decoder.decode(path, SIDE, progress),
            Self::Pixels { width, height, values } => {
                let pixels = RgbImage::from_raw(*width, *height, values.to_vec());
                let wrong = || Error::value("image", format!("{} values", 3 * width * height), values.len().to_string());
                Ok(Picture::shrunk(pixels.ok_or_else(wrong)?, SIDE))
            }
        }
    }
}

fn search_of(search: &str) -> PyResult<Option<Search>> {
    match search {
        "auto" => Ok(None),
        "exact" => Ok(Some(Search::Exact)),
        "shortlist" => Ok(Some(Search::SHORTLIST)),
        "index" => Ok(Some(Search::INDEX)),
        _ => Err(refused("search", search, "auto, exact, shortlist or index")),
    }
}

/// The options of a machine whose elements and subject have these names.
pub(crate) fn options(
    elements: &str,
    subject: &str,
    side: u32,
    decompositions: usize,
    neighbours: usize,
    seed: u64,
) -> PyResult<CkmOptions> {
    let preset = match elements {
        "orb" => Preset::Orb,
        "hog" => Preset::Hog,
        "colour" => Preset::Colour,
        "mixed" => Preset::Mixed,
        "network" => Preset::Network,
        "all" => Preset::All,
        _ => return Err(refused("elements", elements, "orb, hog, colour, mixed, network or all")),
    };
    let subject = match subject {
        "object" => Subject::Object,
        "scene" => Subject::Scene,
        "texture" => Subject::Texture,
        _ => return Err(refused("subject", subject, "object, scene or texture")),
    };
    let mut options = preset.options();
    subject.set(&mut options);
    (options.side, options.decompositions, options.neighbours, options.seed) = (side, decompositions, neighbours, seed);
    Ok(options)
}

impl Recogniser {
    /// What `answer` gives for each image, asked on all threads.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        images: &[Given<'_>],
        told: Option<Py<PyAny>>,
        answer: impl Fn(&RecogniserModel, &Elements) -> T + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let sources = sources(images)?;
        run(py, told, |progress| {
            let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
            progress.begin("Recognising", sources.len() as u64);
            let one = |source: &Source<'_>| {
                progress.step()?;
                let elements = model.ckm.elements(&source.picture(&self.decoder, progress)?)?;
                Ok(answer(&model, &elements))
            };
            sources.par_iter().map(one).collect()
        })
    }
}

#[pymethods]
impl Recogniser {
    #[new]
    fn new(elements: &str, subject: &str, side: u32, decompositions: usize, neighbours: usize, search: &str, seed: u64) -> PyResult<Self> {
        let options = options(elements, subject, side, decompositions, neighbours, seed)?;
        let ckm = Arc::new(Ckm::new(options).map_err(exception)?);
        let model = RecogniserModel { ckm, calibration: Calibration::default(), metrics: Metrics::default(), root: String::new() };
        Ok(Self { model: RwLock::new(model), search: search_of(search)?, decoder: InProcess::default() })
    }

    /// The model that the program or [`Recogniser::save`] wrote to a folder.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let model = run(py, None, |_| RecogniserModel::load(&folder))?;
        let search = Some(model.ckm.search());
        Ok(Self { model: RwLock::new(model), search, decoder: InProcess::default() })
    }

    /// Writes the model to a folder, in place of an older one.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<u64> {
        run(py, None, |_| self.model.read().unwrap_or_else(PoisonError::into_inner).save(&folder))
    }

    /// Learns images, each with an identifier, a name, a class and the object that it shows if that
    /// is known. Nothing is learned where one of them cannot be read.
    #[expect(clippy::too_many_arguments, reason = "what is known of images comes in lists")]
    fn learn(
        &self,
        py: Python<'_>,
        images: Vec<Given<'_>>,
        ids: Vec<u32>,
        names: Vec<String>,
        classes: Vec<String>,
        objects: Vec<Option<String>>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let sources = sources(&images)?;
        run(py, told, |progress| {
            let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
            progress.begin("Learning images", sources.len() as u64);
            let one = |source: &Source<'_>| {
                progress.step()?;
                model.ckm.elements(&source.picture(&self.decoder, progress)?)
            };
            let all: Vec<Elements> = sources.par_iter().map(one).collect::<Result<_>>()?;
            let mut ckm = Ckm::clone(&model.ckm);
            let known = ids.into_iter().zip(names).zip(classes.iter().zip(objects));
            for (elements, ((id, name), (class, group))) in all.into_iter().zip(known) {
                ckm.add(class, Example { id: ItemId(id), name, group, elements: elements.into() })?;
            }
            let search = self.search.unwrap_or_else(|| Search::for_images(ckm.examples().count()));
            ckm.set_search_watched(search, progress)?;
            model.ckm = Arc::new(ckm);
            Ok(())
        })
    }

    /// Fits how much kinds of elements count, if that is wanted, the terms of classes and the
    /// curve of confidence, on training images whose objects are left out; their accuracy.
    fn judge(&self, py: Python<'_>, fits_kinds: bool, seed: u64, told: Option<Py<PyAny>>) -> PyResult<Option<f64>> {
        run(py, told, |progress| {
            let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
            let mut judged = model.clone();
            if fits_kinds {
                let found = fit::fit(&judged.ckm, fit::JUDGED, true, seed, progress)?;
                if found.is_other() {
                    judged.ckm = Arc::new(judged.ckm.with_kernels(&found.kernels)?);
                }
            }
            let judgement = judge(&judged.ckm, JUDGED, &mut random::seeded(seed), Vec::new(), progress)?;
            let held_out = &judgement.held_out;
            let accuracy = Accuracy::of(&judged.ckm, held_out);
            let unknown = judged.ckm.examples().filter(|(_, example)| example.group.is_none()).count();
            judged.calibration = Calibration::fit(held_out);
            judged.metrics = Metrics {
                not_told_apart: judgement.not_told_apart.clone(),
                unknown: UnknownBar::fit(held_out),
                unknown_curve: UnknownCurve::fit(held_out),
                ..Metrics::new(accuracy.as_ref(), held_out.len(), unknown)
            };
            Arc::make_mut(&mut judged.ckm).set_terms(judgement.terms);
            *model = judged;
            Ok(accuracy.map(|accuracy| accuracy.overall.value))
        })
    }

    /// Forgets images; how many of them there were.
    fn forget(&self, py: Python<'_>, ids: Vec<u32>) -> PyResult<usize> {
        run(py, None, |_| {
            let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
            let ckm = Arc::make_mut(&mut model.ckm);
            Ok(ids.into_iter().filter(|id| ckm.remove(ItemId(*id))).count())
        })
    }

    /// The names of the classes, sorted.
    fn classes(&self) -> Vec<String> {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        model.ckm.classes().iter().map(|class| class.name.clone()).collect()
    }

    /// The identifier, name and class of each training image.
    fn images(&self) -> Vec<(u32, String, String)> {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        let image =
            |(class, example): (ClassId, &Example)| (example.id.0, example.name.clone(), model.ckm.classes()[class.index()].name.clone());
        model.ckm.examples().map(image).collect()
    }

    /// The accuracy on left-out training images, where it was measured.
    fn accuracy(&self) -> Option<f64> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).metrics.held_out_accuracy
    }

    /// The scores of all classes for each image, one image after another.
    fn scores<'py>(&self, py: Python<'py>, images: Vec<Given<'py>>, told: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let all = self.ask(py, &images, told, |model, elements| {
            let scores = model.ckm.scores(elements, Without::Nothing);
            scores.of.into_iter().map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect::<Vec<f64>>()
        })?;
        Ok(all.concat().into_pyarray(py))
    }

    /// The best class of each image, as a position in [`Recogniser::classes`], and how sure that
    /// is; -1 without classes.
    fn predict(&self, py: Python<'_>, images: Vec<Given<'_>>, told: Option<Py<PyAny>>) -> PyResult<Vec<(i64, f64)>> {
        self.ask(py, &images, told, |model, elements| {
            let scores = model.ckm.scores(elements, Without::Nothing);
            let best = scores.ranking().first().map_or(-1, |(class, _)| i64::from(class.0));
            (best, model.calibration.confidence(&scores))
        })
    }

    /// What the scores of these classes for an image are made of.
    fn explain(&self, py: Python<'_>, image: Given<'_>, classes: Vec<u32>) -> PyResult<Vec<Explained>> {
        let pair = |[x, y]: [f32; 2]| (x, y);
        let all = self.ask(py, &[image], None, |model, elements| {
            let classes: Vec<ClassId> = classes.iter().copied().map(ClassId).collect();
            let explained = model.ckm.explain(elements, Without::Nothing, &classes);
            let kinds = &model.ckm.options().kinds;
            let of_class = |explanation: tessera_core::ckm::explain::Explanation| {
                let piece = |part: tessera_core::ckm::explain::Contribution| {
                    let matched = part.matched.map(|matched| (matched.image.0, matched.name, pair(matched.position)));
                    (kinds[part.kind].source.name().to_owned(), pair(part.position), matched, part.value)
                };
                let pieces = explanation.contributions.into_iter().map(piece).collect();
                let name = model.ckm.classes()[explanation.class.index()].name.clone();
                (name, explanation.score, explanation.term, explanation.whole, pieces)
            };
            explained.into_iter().map(of_class).collect::<Vec<Explained>>()
        })?;
        Ok(all.into_iter().flatten().collect())
    }
}
