//! Libraries of images, the same as the program's.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use tessera_core::data::Labels;
use tessera_core::ids::ItemId;
use tessera_core::library::event::{Caption, UserLabel};
use tessera_core::library::import::{ImportRequest, import};
use tessera_core::library::looks::{self, Look, LookQuery};
use tessera_core::library::search::{Engine, LibraryQuery, search};
use tessera_core::library::{Glimpse, Library as Inner, LibraryOptions, hold, learned, pair, spellings};
use tessera_core::network::Network;
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::{Decoder as _, InProcess, thumbnail};
use tessera_core::progress::Progress;
use tessera_core::text::TextQuery;
use tessera_core::{Error, Result};

use crate::errors::{exception, refused};
use crate::work::{check_process, run};

/// Time between looks whether other threads are done with a library.
const LOOK: Duration = Duration::from_millis(10);

/// An open library.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Library {
    folder: PathBuf,
    /// Nothing once it was closed.
    open: Mutex<Option<Arc<Mutex<Inner>>>>,
    decoder: Arc<InProcess>,
    /// The process that opened it.
    process: u32,
}

/// An image of a library, by its number or its path, or another file.
#[derive(FromPyObject)]
pub(crate) enum Named {
    Number(u32),
    File(PathBuf),
}

/// Number, path, class and captions.
type Row = (u32, Option<PathBuf>, Option<String>, Vec<String>);
/// Number, path, score, caption and the words that were found.
type Hit = (u32, Option<PathBuf>, f64, Option<String>, Vec<String>);

/// The vectors of that name.
fn look_of(library: &Mutex<Inner>, name: &str) -> Result<Look> {
    let library = hold(library);
    let known = || Look::all(library.state());
    let names = || known().map(|look| look.name().to_owned()).collect::<Vec<_>>().join(", ");
    let look = known().find(|look| look.name() == name).ok_or_else(|| Error::value("look", format!("one of {}", names()), name))?;
    if look == Look::Network && !library.has_learned_features() {
        let way = "turn them on with `tessera train LIBRARY --learned-features on`, or compare something else";
        return Err(Error::value("look", "a library with learned features for network", format!("them off; {way}")));
    }
    Ok(look)
}

/// The images of those numbers and paths, each once.
fn find(library: &Inner, images: &[Named]) -> Result<Vec<ItemId>> {
    let by_path = if images.iter().any(|image| matches!(image, Named::File(_))) { library.by_path() } else { Default::default() };
    let find = |image: &Named| match image {
        Named::Number(id) => {
            let known = library.state().image(ItemId(*id)).filter(|image| image.content.is_some());
            known.map(|image| image.id).ok_or_else(|| Error::value("image", "a number of this library", id.to_string()))
        }
        Named::File(path) => {
            let found = spellings(path).find_map(|path| by_path.get(&path).copied());
            found.ok_or_else(|| Error::value("image", "a path of this library", path.display().to_string()))
        }
    };
    let mut found = images.iter().map(find).collect::<Result<Vec<_>>>()?;
    let mut seen = HashSet::new();
    found.retain(|id| seen.insert(*id));
    Ok(found)
}

/// Makes the indexes of look-alikes that are due. Why not, where that failed: answers are there all
/// the same.
fn grow(library: &Mutex<Inner>, also: Option<&Look>, progress: &Progress) -> Result<Option<String>> {
    let work = || -> Result<()> {
        let due = hold(library).looks_due(also)?;
        for look in due {
            looks::load(library, Some(&look), progress)?;
            looks::grow(library, &look, progress)?;
        }
        Ok(())
    };
    match work() {
        Ok(()) => Ok(None),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(error) => Ok(Some(format!("The index of look-alikes was not made: {error}"))),
    }
}

/// Warns of what went wrong beside an answer.
fn warn(py: Python<'_>, remark: Option<String>) -> PyResult<()> {
    let Some(text) = remark.and_then(|remark| std::ffi::CString::new(remark).ok()) else { return Ok(()) };
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)
}

impl Library {
    fn shared(&self) -> PyResult<Arc<Mutex<Inner>>> {
        check_process(self.process)?;
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || exception(Error::value("library", "one that is open", format!("{}, which was closed", self.folder.display())));
        open.clone().ok_or_else(closed)
    }

    /// Does something with the library that no one else may use meanwhile.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        told: Option<Py<PyAny>>,
        work: impl FnOnce(&Mutex<Inner>, &Progress) -> Result<T> + Send,
    ) -> PyResult<T> {
        let shared = self.shared()?;
        run(py, told, |progress| work(&shared, progress))
    }

    /// What images look like, as far as it was not computed when they came.
    fn complete(library: &Mutex<Inner>, progress: &Progress) -> Result<()> {
        let is_due = |library: &Inner| -> Result<bool> {
            if !library.has_learned_features() || library.read_only().is_some() {
                return Ok(false);
            }
            let learned = library.learned_features()?;
            let pair = library.words_network()?.filter(|pair| pair.name.is_some());
            Ok(learned.images > learned.seen || pair.is_some_and(|pair| pair.images > pair.seen))
        };
        let due = is_due(&hold(library))?;
        if due {
            learned::compute(library, progress)?;
            pair::compute(library, progress)?;
        }
        Ok(())
    }

    /// The query for images like one, as the program makes it, once what it compares is loaded.
    fn like(&self, library: &Mutex<Inner>, image: &Named, by: Option<&Look>, progress: &Progress) -> Result<LookQuery> {
        let known = match image {
            Named::Number(_) => find(&hold(library), std::slice::from_ref(image))?.first().copied(),
            Named::File(_) => find(&hold(library), std::slice::from_ref(image)).ok().and_then(|found| found.first().copied()),
        };
        let loaded = looks::load(library, by, progress)?;
        let query = LookQuery { by: by.cloned(), ..self.look_at(library, image, known, progress)? };
        let look = hold(library).look_of(&query);
        if look != loaded {
            looks::load(library, Some(&look), progress)?;
        }
        if let Look::Brought(set) = &look
            && !known.is_some_and(|id| hold(library).state().has_vector(id, set))
        {
            return Err(Error::value("image", format!("one of the library with a vector `{set}`"), "one without"));
        }
        Ok(query)
    }

    /// What an image looks like.
    fn look_at(&self, library: &Mutex<Inner>, image: &Named, known: Option<ItemId>, progress: &Progress) -> Result<LookQuery> {
        if let Some(id) = known {
            let held = hold(library);
            let glimpse = held.state().image(id).and_then(|image| held.glimpse_of(image));
            if let Some(small) = held.thumbnail(id)?.and_then(|jpeg| thumbnail::decode(&jpeg)) {
                return Ok(LookQuery::new(Appearance::of(&small), glimpse, Some(id)));
            }
        }
        let file = match (image, known) {
            (Named::File(path), _) => path.clone(),
            (Named::Number(_), known) => known.and_then(|id| hold(library).path(id)).unwrap_or_default(),
        };
        let small = thumbnail::shrink(&self.decoder.decode(&file, SIDE, progress)?.pixels);
        // Where the network cannot be run, appearances are compared.
        let seen = || Network::shipped()?.look_at(&small);
        let glimpse = if hold(library).has_learned_features() { seen().ok().as_ref().map(Glimpse::of) } else { None };
        Ok(LookQuery::new(Appearance::of(&small), glimpse, known))
    }
}

impl Drop for Library {
    /// In a process that was forked its files and locks are those of the one that opened it.
    fn drop(&mut self) {
        if std::process::id() != self.process {
            std::mem::forget(self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// The images of a class.
fn of_class(library: &Inner, class: &str) -> Result<Arc<HashSet<ItemId>>> {
    if library.state().class(class).is_none() {
        let names: Vec<&str> = library.state().classes().into_iter().map(|(name, _)| name).collect();
        return Err(Error::value("class", format!("one of {}", names.join(", ")), class));
    }
    Ok(Arc::new(library.state().images().filter(|image| image.label() == Some(class)).map(|image| image.id).collect()))
}

#[pymethods]
impl Library {
    /// Opens the library in a folder, or makes one there if `creates`.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, creates: bool, read_only: bool, told: Option<Py<PyAny>>) -> PyResult<Self> {
        let decoder = Arc::new(InProcess::default());
        let inner = run(py, told, |progress| {
            let opening = LibraryOptions::new(Arc::clone(&decoder) as _, progress);
            match (read_only, creates) {
                (true, _) => Inner::open_read_only(&folder, &opening),
                (false, true) => Inner::open_or_create(&folder, &opening),
                (false, false) => Inner::open(&folder, &opening),
            }
        })?;
        Ok(Self { folder, open: Mutex::new(Some(Arc::new(Mutex::new(inner)))), decoder, process: std::process::id() })
    }

    /// Closes it once other threads are done with it; after that it can be opened elsewhere.
    /// Nothing happens the second time.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        check_process(self.process)?;
        let Some(mut shared) = self.open.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        run(py, None, |progress| {
            loop {
                match Arc::try_unwrap(shared) {
                    Ok(inner) => return inner.into_inner().unwrap_or_else(PoisonError::into_inner).close(),
                    Err(used) => shared = used,
                }
                // Whoever uses it last lets it go then.
                progress.step()?;
                thread::sleep(LOOK);
            }
        })
    }

    fn is_read_only(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, None, |library, _| Ok(hold(library).read_only().is_some()))
    }

    /// Imports a folder of images. How many files were found, imported, unchanged, copies,
    /// unsupported, failed and missing; those that failed, with the reason; and whether it was
    /// cancelled.
    #[expect(clippy::type_complexity, reason = "a report in one piece")]
    fn import_folder(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        labels: Option<&str>,
        one_class: Option<String>,
        exclude: Vec<String>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<([usize; 8], Vec<(PathBuf, String)>, String)> {
        let source = |name: &str| {
            let labels = Labels::ALL.into_iter().find(|known| known.name() == name);
            labels.ok_or_else(|| refused("labels", name, "auto, class-folders, folder-paths, norb-names, whole-folder or none"))
        };
        let request = ImportRequest { labels: labels.map(source).transpose()?, one_class, exclude, masks: None };
        let report = self.with(py, told, |library, progress| {
            let options = request.options(Some(hold(library).state()), &folder)?;
            let report = import(library, &folder, &options, progress)?;
            if !report.cancelled {
                Self::complete(library, progress)?;
            }
            Ok(report)
        })?;
        let failed = report.failed.iter().map(|file| (file.path.clone(), file.detail.clone())).collect();
        let numbers = [
            report.found,
            report.imported,
            report.unchanged,
            report.duplicate,
            report.unsupported,
            report.failed.len(),
            report.missing,
            report.moved,
        ];
        Ok((numbers, failed, report.layout))
    }

    /// The images that are there.
    fn images(&self, py: Python<'_>) -> PyResult<Vec<Row>> {
        self.with(py, None, |library, _| {
            let library = hold(library);
            let row = |image: &Arc<tessera_core::library::state::Image>| {
                let captions = image.captions.iter().map(|caption| caption.text.clone()).collect();
                (image.id.0, library.state().path_of(image), image.label().map(str::to_owned), captions)
            };
            Ok(library.state().images().map(row).collect())
        })
    }

    fn classes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, None, |library, _| Ok(hold(library).state().classes().into_iter().map(|(name, _)| name.to_owned()).collect()))
    }

    /// The words of all acts that `undo` would take back, the last one last.
    fn history(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, None, |library, _| Ok(hold(library).state().history().iter().map(|act| act.words.clone()).collect()))
    }

    /// The images that answer words best, or look most like another, or both.
    #[expect(clippy::too_many_arguments, reason = "the ways to search")]
    fn search(
        &self,
        py: Python<'_>,
        words: &str,
        like: Option<Named>,
        look: Option<&str>,
        label: Option<&str>,
        k: usize,
        exact_words: bool,
        leaves: usize,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Hit>> {
        let (hits, remark) = self.with(py, told, |library, progress| {
            let text = TextQuery::parse(words);
            let by = look.map(|name| look_of(library, name)).transpose()?;
            if !text.is_empty() || (like.is_some() && by.as_ref().is_none_or(Look::takes_network)) {
                Self::complete(library, progress)?;
            }
            let look = like.map(|image| self.like(library, &image, by.as_ref(), progress)).transpose()?;
            let is_like = look.is_some();
            let mut held = hold(library);
            if !text.is_empty() {
                held.load_guesses(usize::MAX)?;
                held.load_image_vectors(usize::MAX)?;
            }
            let among = label.map(|class| of_class(&held, class)).transpose()?;
            let engine = if exact_words { Engine::Index } else { Engine::Memory };
            let query = LibraryQuery { look, among, engine, leaves, ..LibraryQuery::words(text, k) };
            let hits = search(&held, &query);
            let hits = hits.into_iter().map(|hit| (hit.image.0, hit.path, hit.score, hit.caption, hit.words)).collect();
            drop(held);
            Ok((hits, if is_like { grow(library, by.as_ref(), progress)? } else { None }))
        })?;
        warn(py, remark)?;
        Ok(hits)
    }

    /// The images that look most like one, with how alike they are and the probability that they
    /// are among the most alike of all.
    #[expect(clippy::type_complexity, reason = "one row each")]
    fn similar(
        &self,
        py: Python<'_>,
        image: Named,
        k: usize,
        look: Option<&str>,
        recall: Option<f64>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(u32, Option<PathBuf>, f64, f64)>> {
        let (alike, remark) = self.with(py, told, |library, progress| {
            let by = look.map(|name| look_of(library, name)).transpose()?;
            if by.as_ref().is_none_or(Look::takes_network) {
                Self::complete(library, progress)?;
            }
            let mut query = self.like(library, &image, by.as_ref(), progress)?;
            query.recall = recall.unwrap_or(query.recall);
            let held = hold(library);
            let found = held.look_alikes(&query, k, |image| query.of != Some(image));
            let list = found.list.into_iter().map(|one| (one.image.0, held.path(one.image), one.likeness, one.probability)).collect();
            drop(held);
            Ok((list, if query.recall < 1.0 { grow(library, by.as_ref(), progress)? } else { None }))
        })?;
        warn(py, remark)?;
        Ok(alike)
    }

    /// Labels images with a class; without one it says that they are of none.
    fn label(&self, py: Python<'_>, images: Vec<Named>, label: Option<String>) -> PyResult<bool> {
        self.with(py, None, |library, _| {
            let mut library = hold(library);
            let images = find(&library, &images)?;
            let label = label.map_or(UserLabel::NoClass, UserLabel::Class);
            Ok(library.label(&images, &label)?.is_some())
        })
    }

    /// Gives an image these captions in place of those it has.
    fn caption(&self, py: Python<'_>, image: Named, captions: Vec<String>) -> PyResult<bool> {
        self.with(py, None, |library, _| {
            let mut library = hold(library);
            let image = find(&library, &[image])?;
            let captions = captions.into_iter().map(|text| Caption { text, by_user: true }).collect();
            Ok(image.first().map(|image| library.caption(*image, captions)).transpose()?.flatten().is_some())
        })
    }

    /// Hides images and their influence, or brings them back.
    fn set_removed(&self, py: Python<'_>, images: Vec<Named>, removed: bool) -> PyResult<bool> {
        self.with(py, None, |library, _| {
            let mut library = hold(library);
            let images = find(&library, &images)?;
            Ok(library.set_removed(&images, removed)?.is_some())
        })
    }

    /// Purges images for good.
    fn forget(&self, py: Python<'_>, images: Vec<Named>, told: Option<Py<PyAny>>) -> PyResult<usize> {
        self.with(py, told, |library, progress| {
            let mut library = hold(library);
            let images = find(&library, &images)?;
            library.forget(&images, progress).map(|_| images.len())
        })
    }

    /// Takes the last act back; its words, or nothing where there is none.
    fn undo(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, None, |library, _| Ok(hold(library).undo()?.map(|(act, _)| act.words.clone())))
    }

    /// Does again what was last taken back; its words, or nothing where there is none.
    fn redo(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, None, |library, _| Ok(hold(library).redo()?.map(|(act, _)| act.words.clone())))
    }

    /// The folder of the library.
    fn folder(&self) -> &Path {
        &self.folder
    }
}
