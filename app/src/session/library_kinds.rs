//! How much kinds of elements and their places count for a library's recogniser: fitted to its own
//! images on request, kept with its cache, and in use or not.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use tessera_core::Result;
use tessera_core::ckm::CkmOptions;
use tessera_core::ckm::fit::{JUDGED, fit};
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::library::Library;
use tessera_core::library::import::hold;

use super::Session;
use super::kept_as::kept_for_elements;
use super::library_weights;
use crate::command::KindChoice;

/// The name under which a library keeps them.
const KINDS: &str = "kinds";

/// What a library keeps of its kinds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindUse {
    /// The choice.
    pub choice: KindChoice,
    /// What was last fitted.
    fitted: Option<Fitted>,
    /// Labelled images when they were fitted.
    images: usize,
    /// The mean log loss of left-out images, with usual and with fitted ones.
    pub loss: Option<[f64; 2]>,
    /// The weights in use, in words.
    #[serde(skip)]
    pub words: String,
}

/// Kernels that were fitted, one for each kind, in place of the usual ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Fitted {
    choice: KindChoice,
    usual: Vec<LeafKernel>,
    kernels: Vec<LeafKernel>,
}

impl Fitted {
    /// Whether they were fitted so, to the kinds that the library's recogniser has.
    fn is_of(&self, library: &Library, choice: KindChoice) -> bool {
        self.choice == choice && self.usual == library.recogniser().usual_kernels()
    }
}

impl Session {
    /// Chooses how much kinds and places count for the recogniser of a library. What is not the
    /// preset's is fitted to its images, kept with it and put into use; with fewer than two classes
    /// nothing is. When cancelled, it is the best so far; the preset's, until it is next judged,
    /// where too few images were judged by then. Returns whether it was not cut short so.
    ///
    /// # Errors
    /// As [`fit`]; [`tessera_core::Error::Io`].
    pub fn fit_kinds(&self, library: &Mutex<Library>, choice: KindChoice) -> Result<bool> {
        let Some(with_places) = choice.fit() else { return self.choose_kinds(library, choice) };
        let (ckm, usual) = {
            let library = hold(library);
            (Arc::clone(library.recogniser().ckm()), library.recogniser().usual_kernels().to_vec())
        };
        // What was fitted before takes no part, so that a seed and the images give the answer.
        let found = self.pool.install(|| fit(&ckm.with_kernels(&usual)?, JUDGED, with_places, self.seed, &self.progress))?;
        let library = &mut *hold(library);
        let is_fitted = !found.is_cut_short();
        let images = if is_fitted { ckm.examples().count() } else { 0 };
        let loss = Some(found.loss).filter(|_| is_fitted);
        let fitted = Some(Fitted { choice, usual, kernels: found.kernels });
        keep(library, &KindUse { choice, fitted, images, loss, words: String::new() })?;
        put_to_use(library)?;
        Ok(is_fitted)
    }

    /// Puts what was fitted before into use, or takes it out of use, and remembers the choice.
    /// Returns whether that could be done: not if nothing was fitted so to the library's kinds of
    /// elements.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`].
    pub fn choose_kinds(&self, library: &Mutex<Library>, choice: KindChoice) -> Result<bool> {
        let library = &mut *hold(library);
        let before = kept(library);
        if choice != KindChoice::Preset && !before.fitted.as_ref().is_some_and(|fitted| fitted.is_of(library, choice)) {
            return Ok(false);
        }
        keep(library, &KindUse { choice, ..before })?;
        put_to_use(library)?;
        Ok(true)
    }

    /// Fits them, or fits them anew, where that is chosen and the labelled images have doubled
    /// since.
    ///
    /// # Errors
    /// As [`Session::fit_kinds`].
    pub(super) fn fit_kinds_if_due(&self, library: &Mutex<Library>) -> Result<()> {
        let (kept, images) = {
            let library = hold(library);
            (kept(&library), library.recogniser().ckm().examples().count())
        };
        let is_due = kept.choice != KindChoice::Preset && images >= 2 * kept.images;
        if is_due { self.fit_kinds(library, kept.choice).map(drop) } else { Ok(()) }
    }
}

/// The choice of a library, with the weights in words.
pub fn kind_use(library: &Library) -> KindUse {
    KindUse { words: kinds_in_words(library.recogniser().ckm().options()), ..kept(library) }
}

fn kept(library: &Library) -> KindUse {
    let text = library.result(&kept_for_elements(library, KINDS)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn keep(library: &Library, used: &KindUse) -> Result<()> {
    library.keep_result(&kept_for_elements(library, KINDS), &serde_json::to_string(used).unwrap_or_default())
}

/// Puts what was chosen into use in a library that was opened, or whose recogniser was made anew,
/// with the learned weights that go with it. What cannot be read is as if it were not there.
pub(super) fn restore(library: &mut Library) {
    let _ = put_to_use(library);
}

/// Keeps the choice with a library of which images were forgotten, but nothing that was fitted to
/// them: that is fitted anew when it is next judged.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub(super) fn keep_choice(library: &mut Library, choice: KindChoice) -> Result<()> {
    keep(library, &KindUse { choice, ..KindUse::default() })?;
    put_to_use(library)
}

fn put_to_use(library: &mut Library) -> Result<()> {
    let KindUse { choice, fitted, .. } = kept(library);
    let kernels = fitted.filter(|fitted| fitted.is_of(library, choice)).map(|fitted| fitted.kernels);
    let now = library.recogniser().ckm().options().kinds.iter().map(|kind| kind.kernel);
    if !now.eq(kernels.as_deref().unwrap_or(library.recogniser().usual_kernels()).iter().copied()) {
        library.set_kernels(kernels.as_deref())?;
    }
    library_weights::restore(library);
    Ok(())
}

/// How much the kinds of a machine count, in words, the heaviest first.
pub fn kinds_in_words(options: &CkmOptions) -> String {
    let mut kinds: Vec<(f32, String)> = options
        .kinds
        .iter()
        .map(|kind| {
            let LeafKernel { weight, cost, .. } = kind.kernel;
            let name = match kind.source.name() {
                "orb" => "corners",
                "hog" => "edges",
                "network" | "encoder" => "network",
                name => name,
            };
            let place = if cost == 0.0 && weight > 0.0 { " wherever they lie" } else { "" };
            (weight, format!("{name} {}{place}", (1000.0 * weight).round() / 1000.0))
        })
        .collect();
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    kinds.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join(", ")
}
