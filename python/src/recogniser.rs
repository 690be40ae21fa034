//! Recognising images by compositional kernel machines.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use image::RgbImage;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use tessera_core::ckm::accuracy::Accuracy;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::explain::{Contribution, Explanation};
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::model::{Metrics, RecogniserModel};
use tessera_core::ckm::own::{OwnElements, OwnValues};
use tessera_core::ckm::presets::{Preset, Subject};
use tessera_core::ckm::unknown::UnknownBars;
use tessera_core::ckm::weights::{self, LearnOptions};
use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, ElementKind, ElementSource, Example, OwnSource, Search, Without, fit};
use tessera_core::descriptor::Descriptor;
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
    /// Who asks takes the model as it is, and keeps it while he works.
    model: RwLock<Arc<RecogniserModel>>,
    /// Held by whoever changes the model, while he works on a copy.
    changing: Mutex<()>,
    /// Which training images are compared; nothing leaves it to their number.
    search: Option<Search>,
    decoder: InProcess,
}

/// Elements of one kind that the caller brings: positions, row by row, and vectors or the bytes of
/// binary descriptors.
#[derive(FromPyObject)]
pub(crate) enum OwnPart<'py> {
    Dense(PyReadonlyArray2<'py, f32>, PyReadonlyArray2<'py, f32>),
    Binary(PyReadonlyArray2<'py, f32>, PyReadonlyArray2<'py, u8>),
}

/// An image as it is given.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// Height, width and three colours of 8 bits.
    Pixels(PyReadonlyArray3<'py, u8>),
    /// Elements of its own, with width and height.
    Own((u32, u32), Vec<OwnPart<'py>>),
    /// A file.
    File(PathBuf),
}

/// The same without the interpreter.
pub(crate) enum Source<'a> {
    Pixels { width: u32, height: u32, values: &'a [u8] },
    Own { size: (u32, u32), parts: Vec<(Vec<[f32; 2]>, Values<'a>)> },
    File(&'a Path),
}

pub(crate) enum Values<'a> {
    Dense(&'a [f32]),
    Binary(Vec<Descriptor>),
}

/// A kind of elements that the caller brings: its name, the number, the least and the largest of
/// its values (0 values are 256 bits), and its kernel: rho, cost, reach, pair bonus and weight.
type OwnKind = (String, (usize, f32, f32), [f32; 5]);
/// A piece of an image: its kind, its position, the training image it was matched with and the
/// position there, and what it adds to the score.
type Piece = (String, (f32, f32), Option<(u32, String, (f32, f32))>, f64);
/// A class, its score, its term, what whole images add, and the pieces.
type Explained = (String, f64, f64, f64, Vec<Piece>);

/// The parts of a list of rows of two values.
fn positions(array: &PyReadonlyArray2<'_, f32>) -> PyResult<Vec<[f32; 2]>> {
    match array.shape() {
        [_, 2] => Ok(array.as_slice()?.as_chunks::<2>().0.to_vec()),
        other => Err(exception(Error::value("positions", "rows of x and y", format!("rows of {}", other[1])))),
    }
}

/// Binary descriptors of up to 256 bits, filled up with zeros.
fn descriptors(array: &PyReadonlyArray2<'_, u8>) -> PyResult<Vec<Descriptor>> {
    let bytes = array.shape()[1];
    if !(1..=32).contains(&bytes) {
        return Err(exception(Error::value("values", "descriptors of 1 to 32 bytes", bytes.to_string())));
    }
    let one = |row: &[u8]| {
        let mut all = [0; 32];
        all[..row.len()].copy_from_slice(row);
        Descriptor::from_bytes(&all)
    };
    Ok(array.as_slice()?.chunks_exact(bytes).map(one).collect())
}

pub(crate) fn sources<'a>(images: &'a [Given<'_>]) -> PyResult<Vec<Source<'a>>> {
    let source = |image: &'a Given<'_>| match image {
        Given::File(path) => Ok(Source::File(path)),
        Given::Own(size, parts) => {
            let part = |part: &'a OwnPart<'_>| -> PyResult<(Vec<[f32; 2]>, Values<'a>)> {
                match part {
                    OwnPart::Dense(places, values) => Ok((positions(places)?, Values::Dense(values.as_slice()?))),
                    OwnPart::Binary(places, values) => Ok((positions(places)?, Values::Binary(descriptors(values)?))),
                }
            };
            Ok(Source::Own { size: *size, parts: parts.iter().map(part).collect::<PyResult<_>>()? })
        }
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
    /// The picture, shrunk to the size that all is done with.
    pub(crate) fn picture(&self, decoder: &InProcess, progress: &Progress) -> Result<Picture> {
        match self {
            Self::File(path) => decoder.decode(path, SIDE, progress),
            Self::Pixels { width, height, values } => {
                let pixels = RgbImage::from_raw(*width, *height, values.to_vec());
                let wrong = || Error::value("image", format!("{} values", 3 * width * height), values.len().to_string());
                Ok(Picture::shrunk(pixels.ok_or_else(wrong)?, SIDE))
            }
            Self::Own { .. } => Err(Error::value("image", "a picture, for elements are cut from it", "elements without one")),
        }
    }

    fn elements(&self, ckm: &Ckm, decoder: &InProcess, progress: &Progress) -> Result<Elements> {
        let Self::Own { size, parts } = self else { return ckm.elements(&self.picture(decoder, progress)?) };
        let own: Vec<OwnElements<'_>> = parts
            .iter()
            .map(|(positions, values)| OwnElements {
                positions,
                values: match values {
                    Values::Dense(values) => OwnValues::Dense(values),
                    Values::Binary(descriptors) => OwnValues::Binary(descriptors),
                },
            })
            .collect();
        ckm.elements_from_own(*size, &own)
    }

    /// The name of an image of this number.
    fn name(&self, id: u32) -> String {
        match self {
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Pixels { .. } | Self::Own { .. } => format!("#{id}"),
        }
    }
}

/// Which training images are compared; nothing for what depends on their number.
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

fn own_options(kinds: Vec<OwnKind>) -> Option<CkmOptions> {
    let kind = |(name, (dimension, low, high), [rho, cost, reach, pair_bonus, weight]): OwnKind| {
        let form = if dimension == 0 { ElementForm::Binary } else { ElementForm::Dense { dimension, low, high } };
        let kernel = LeafKernel { rho, cost, reach, pair_bonus, weight };
        ElementKind { source: ElementSource::Own(OwnSource { name, form }), kernel }
    };
    let kinds: Vec<ElementKind> = kinds.into_iter().map(kind).collect();
    let first = kinds.first()?.clone();
    let ElementSource::Own(OwnSource { name, form }) = &first.source else { return None };
    Some(CkmOptions { kinds, ..CkmOptions::own(name, *form, first.kernel) })
}

fn first_free(ckm: &Ckm) -> u64 {
    ckm.examples().map(|(_, example)| u64::from(example.id.0) + 1).max().unwrap_or(0)
}

fn names(ckm: &Ckm) -> Vec<String> {
    ckm.classes().iter().map(|class| class.name.clone()).collect()
}

fn explained(ckm: &Ckm, explanation: Explanation) -> Explained {
    let pair = |[x, y]: [f32; 2]| (x, y);
    let piece = |part: Contribution| {
        let matched = part.matched.map(|matched| (matched.image.0, matched.name, pair(matched.position)));
        (ckm.options().kinds[part.kind].source.name().to_owned(), pair(part.position), matched, part.value)
    };
    let pieces = explanation.contributions.into_iter().map(piece).collect();
    let name = ckm.classes()[explanation.class.index()].name.clone();
    (name, explanation.score, explanation.term, explanation.whole, pieces)
}

/// The classes of those names, all without any.
fn classes_of(ckm: &Ckm, names: Option<&[String]>) -> Result<Vec<ClassId>> {
    let Some(names) = names else { return Ok((0..ckm.classes().len() as u32).map(ClassId).collect()) };
    let id = |name: &String| {
        let known = || ckm.classes().iter().map(|class| class.name.as_str()).collect::<Vec<_>>().join(", ");
        ckm.class_id(name).ok_or_else(|| Error::value("classes", format!("some of {}", known()), name.as_str()))
    };
    names.iter().map(id).collect()
}

impl Recogniser {
    fn with(model: RecogniserModel, search: Option<Search>) -> Self {
        Self { model: RwLock::new(Arc::new(model)), changing: Mutex::default(), search, decoder: InProcess::default() }
    }

    /// The model as it is.
    fn now(&self, py: Python<'_>) -> Arc<RecogniserModel> {
        py.detach(|| self.model_now())
    }

    fn model_now(&self) -> Arc<RecogniserModel> {
        Arc::clone(&self.model.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes a copy of the model, one call after another, and puts it in the place of the model
    /// once all is done. Who asks meanwhile is answered by the model of before.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        told: Option<Py<PyAny>>,
        change: impl FnOnce(&mut RecogniserModel, &Progress) -> Result<T> + Send,
    ) -> PyResult<T> {
        run(py, told, |progress| {
            let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut model = RecogniserModel::clone(&self.model_now());
            let value = change(&mut model, progress)?;
            // Whoever cancelled finds the model as it was.
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            *self.model.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(model);
            Ok(value)
        })
    }

    fn choose_search(&self, ckm: &mut Ckm, progress: &Progress) -> Result<()> {
        let search = self.search.unwrap_or_else(|| Search::for_images(ckm.examples().count()));
        ckm.set_search_watched(search, progress)
    }

    /// What `answer` gives for each image, asked on all threads.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        model: &RecogniserModel,
        images: &[Given<'_>],
        told: Option<Py<PyAny>>,
        answer: impl Fn(&Elements) -> T + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let sources = sources(images)?;
        run(py, told, |progress| {
            progress.begin("Recognising", sources.len() as u64);
            model.ckm.prepare();
            let one = |source: &Source<'_>| {
                progress.step()?;
                Ok(answer(&source.elements(&model.ckm, &self.decoder, progress)?))
            };
            sources.par_iter().map(one).collect()
        })
    }
}

#[pymethods]
impl Recogniser {
    /// A machine over elements of this preset, or of the caller's own kinds where there are some.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the options of the estimator")]
    fn new(
        elements: &str,
        own: Vec<OwnKind>,
        subject: &str,
        side: u32,
        decompositions: usize,
        neighbours: usize,
        search: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let named = options(elements, subject, side, decompositions, neighbours, seed)?;
        let options = own_options(own).map_or(named, |own| CkmOptions { side, decompositions, neighbours, seed, ..own });
        let ckm = Arc::new(Ckm::new(options).map_err(exception)?);
        let model = RecogniserModel { ckm, calibration: Calibration::default(), metrics: Metrics::default(), root: String::new() };
        Ok(Self::with(model, search_of(search)?))
    }

    /// The model that the program or [`Recogniser::save`] wrote to a folder. Without a `search` it
    /// is left to the number of images where the model's is the one for its number.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf, search: Option<&str>) -> PyResult<Self> {
        let model = run(py, None, |_| RecogniserModel::load(&folder))?;
        let own = model.ckm.search();
        let usual = Search::for_images(model.ckm.examples().count());
        let search = search.map(search_of).transpose()?.unwrap_or((own != usual).then_some(own));
        Ok(Self::with(model, search))
    }

    /// Writes the model to a folder, in place of an older one.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<u64> {
        run(py, None, |_| self.model_now().save(&folder))
    }

    /// What was asked to be compared, and what is.
    fn search(&self, py: Python<'_>) -> (&'static str, &'static str) {
        let name = |search: Search| match search {
            Search::Exact => "exact",
            Search::Shortlist { .. } => "shortlist",
            Search::Index { .. } => "index",
        };
        (self.search.map_or("auto", name), name(self.now(py).ckm.search()))
    }

    /// Learns images, each with a class and the object that it shows if that is known, and with a
    /// number, by default those that follow the largest. Nothing is learned where one of them
    /// cannot be read.
    fn learn(
        &self,
        py: Python<'_>,
        images: Vec<Given<'_>>,
        ids: Option<Vec<u32>>,
        classes: Vec<String>,
        objects: Vec<Option<String>>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let sources = sources(&images)?;
        self.change(py, told, |model, progress| {
            progress.begin("Learning images", sources.len() as u64);
            let one = |source: &Source<'_>| {
                progress.step()?;
                source.elements(&model.ckm, &self.decoder, progress)
            };
            let all: Vec<Elements> = sources.par_iter().map(one).collect::<Result<_>>()?;
            let ckm = Arc::make_mut(&mut model.ckm);
            let ids = match ids {
                Some(ids) => ids,
                None => {
                    let first = first_free(ckm);
                    let number = |id| u32::try_from(id).map_err(|_| Error::value("ids", "numbers below 2^32", format!("{id}; give them")));
                    (first..first + sources.len() as u64).map(number).collect::<Result<_>>()?
                }
            };
            let known = sources.iter().zip(ids).zip(classes.iter().zip(objects));
            for (elements, ((source, id), (class, group))) in all.into_iter().zip(known) {
                ckm.add(class, Example { id: ItemId(id), name: source.name(id), group, elements: elements.into() })?;
            }
            self.choose_search(ckm, progress)
        })
    }

    /// Fits how much kinds of elements count, if that is wanted, learns weights of elements, if
    /// these are, and fits the terms of classes and the curve of confidence, on training images
    /// whose objects are left out, all as the program trains; their accuracy.
    fn judge(&self, py: Python<'_>, fits_kinds: bool, learns_weights: bool, seed: u64, told: Option<Py<PyAny>>) -> PyResult<Option<f64>> {
        self.change(py, told, |model, progress| {
            if fits_kinds {
                let found = fit::fit(&model.ckm, fit::JUDGED, false, seed, progress)?;
                if found.is_other() {
                    model.ckm = Arc::new(model.ckm.with_kernels(&found.kernels)?);
                }
            }
            let judgement = if learns_weights {
                weights::learn(Arc::make_mut(&mut model.ckm), &LearnOptions::default(), seed, progress)?.judgement
            } else {
                judge(&model.ckm, JUDGED, &mut random::seeded(seed), Vec::new(), progress)?
            };
            let held_out = &judgement.held_out;
            let accuracy = Accuracy::of(&model.ckm, held_out);
            let unknown = model.ckm.examples().filter(|(_, example)| example.group.is_none()).count();
            model.calibration = Calibration::fit(held_out);
            let measured = Metrics::new(accuracy.as_ref(), held_out.len(), unknown);
            let measured = measured.with_unknown(UnknownBars::fit(held_out, &judgement.terms));
            model.metrics = Metrics { not_told_apart: judgement.not_told_apart.clone(), ..measured };
            Arc::make_mut(&mut model.ckm).set_terms(judgement.terms);
            Ok(accuracy.map(|accuracy| accuracy.overall.value))
        })
    }

    /// Forgets images; how many of them there were.
    fn forget(&self, py: Python<'_>, ids: Vec<u32>) -> PyResult<usize> {
        self.change(py, None, |model, progress| {
            let ckm = Arc::make_mut(&mut model.ckm);
            let gone = ids.into_iter().filter(|id| ckm.remove(ItemId(*id))).count();
            self.choose_search(ckm, progress)?;
            Ok(gone)
        })
    }

    /// The names of the classes, sorted.
    fn classes(&self, py: Python<'_>) -> Vec<String> {
        names(&self.now(py).ckm)
    }

    /// The identifier, name and class of each training image.
    fn images(&self, py: Python<'_>) -> Vec<(u32, String, String)> {
        let model = self.now(py);
        let image =
            |(class, example): (ClassId, &Example)| (example.id.0, example.name.clone(), model.ckm.classes()[class.index()].name.clone());
        model.ckm.examples().map(image).collect()
    }

    /// The accuracy on left-out training images, where it was measured.
    fn accuracy(&self, py: Python<'_>) -> Option<f64> {
        self.now(py).metrics.held_out_accuracy
    }

    /// The weight of each kind of elements.
    fn weights(&self, py: Python<'_>) -> Vec<(String, f64)> {
        let model = self.now(py);
        model.ckm.options().kinds_with_pieces().map(|(_, kind)| (kind.source.name().to_owned(), f64::from(kind.kernel.weight))).collect()
    }

    /// The names of the classes, and the scores of all of them for each image, one image after
    /// another.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        images: Vec<Given<'py>>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<String>, Bound<'py, PyArray1<f64>>)> {
        let model = self.now(py);
        let all = self.ask(py, &model, &images, told, |elements| {
            let scores = model.ckm.scores(elements, Without::Nothing);
            scores.of.into_iter().map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect::<Vec<f64>>()
        })?;
        Ok((names(&model.ckm), all.concat().into_pyarray(py)))
    }

    /// The names of the classes, and of each image the best, as a position among them, and how sure
    /// that is; -1 without classes, and no number of images that judged how sure.
    #[expect(clippy::type_complexity, reason = "one row each")]
    fn predict(&self, py: Python<'_>, images: Vec<Given<'_>>, told: Option<Py<PyAny>>) -> PyResult<(Vec<String>, Vec<(i64, f64)>, usize)> {
        let model = self.now(py);
        let all = self.ask(py, &model, &images, told, |elements| {
            let scores = model.ckm.scores(elements, Without::Nothing);
            let best = scores.ranking().first().map_or(-1, |(class, _)| i64::from(class.0));
            (best, model.calibration.confidence(&scores))
        })?;
        Ok((names(&model.ckm), all, model.calibration.n))
    }

    /// What the scores of these classes for an image are made of; without any, of all.
    fn explain(&self, py: Python<'_>, image: Given<'_>, classes: Option<Vec<String>>, told: Option<Py<PyAny>>) -> PyResult<Vec<Explained>> {
        let model = self.now(py);
        let classes = classes_of(&model.ckm, classes.as_deref()).map_err(exception)?;
        let all = self.ask(py, &model, &[image], told, |elements| {
            let all = model.ckm.explain(elements, Without::Nothing, &classes);
            all.into_iter().map(|explanation| explained(&model.ckm, explanation)).collect::<Vec<Explained>>()
        })?;
        Ok(all.into_iter().flatten().collect())
    }
}
