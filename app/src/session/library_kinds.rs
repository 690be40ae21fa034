//! How much kinds of elements and their places count for a library's recogniser: fitted to its own
//! images on request, kept with its cache, and in use or not.

use std::sync::{Arc, Mutex};

use tessera_core::Result;
use tessera_core::ckm::fit::{JUDGED, fit};
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::{Ckm, CkmOptions, ElementSource};
use tessera_core::library::Library;
use tessera_core::library::import::hold;

use super::Session;
use super::harm;
use super::kept_as::{KeptOf, check_remembered, name_places_apart};
use super::kinds_kept::{KeptKinds, KindFit, KindSetting, kinds_name, preset_kernels};
use super::library_weights;
use crate::command::KindChoice;

/// How kinds count in a library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindUse {
    /// The setting.
    pub setting: KindSetting,
    /// The mean log loss of left-out images, with the preset's and with fitted ones, if these were
    /// fitted.
    pub loss: Option<[f64; 2]>,
    /// The weights in use, in words.
    pub words: String,
    /// What they were before the last change, in words, if there was one.
    pub before: Option<String>,
}

/// What was fitted to a library.
struct Fitted {
    /// The machine it was fitted to, and the name under which the library keeps it.
    ckm: Arc<Ckm>,
    name: String,
    /// None where it was cut short.
    fit: Option<KindFit>,
}

impl Session {
    /// Chooses how much kinds and places count for the recogniser of a library. What is not the
    /// preset's is fitted to its images, kept with it and put into use; with fewer than two classes
    /// nothing is. When cancelled, it is the best so far; where too few images were judged by then,
    /// what was last fitted so, or else the preset's, until it is next judged. Returns whether it
    /// was not cut short so.
    ///
    /// # Errors
    /// As [`fit`]; [`tessera_core::Error::Data`] when images were forgotten meanwhile;
    /// [`tessera_core::Error::Io`].
    pub fn fit_kinds(&self, library: &Mutex<Library>, setting: KindSetting) -> Result<bool> {
        let Some(Fitted { ckm, name, fit }) = self.fitted(library, setting)? else { return self.choose_kinds(library, setting) };
        let library = &mut *hold(library);
        check_remembered(library, &ckm, "kinds were fitted to", "fit them again")?;
        let is_fitted = fit.is_some();
        change(library, &name, |kept, library| kept.change(library, setting, fit))?;
        Ok(is_fitted)
    }

    /// Fits kinds, but puts nothing into use; none where the setting is the preset's.
    fn fitted(&self, library: &Mutex<Library>, setting: KindSetting) -> Result<Option<Fitted>> {
        let KindSetting { subject, choice } = setting;
        let Some(with_places) = choice.fit() else { return Ok(None) };
        let (ckm, usual, name) = {
            let library = hold(library);
            (Arc::clone(library.recogniser().ckm()), preset_kernels(&library, subject), kinds_name(&library))
        };
        // What was fitted before takes no part, so that a seed and the images give the answer.
        let found = self.pool.install(|| fit(&ckm.with_kernels(&usual)?, JUDGED, with_places, self.seed, &self.progress))?;
        let images = ckm.examples().count();
        let is_fitted = !found.is_cut_short() && ckm.classes().len() >= 2;
        let fit = is_fitted.then_some(KindFit { subject, choice, usual, kernels: found.kernels, images, loss: Some(found.loss) });
        Ok(Some(Fitted { ckm, name, fit }))
    }

    /// Puts what was fitted before into use, or takes it out of use, and remembers the choice.
    /// Returns whether that could be done: not if nothing was fitted so to the library's kinds of
    /// elements.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`].
    pub fn choose_kinds(&self, library: &Mutex<Library>, setting: KindSetting) -> Result<bool> {
        let library = &mut *hold(library);
        if setting.choice != KindChoice::Preset && KeptKinds::of(library).fit(library, setting).is_none() {
            return Ok(false);
        }
        let name = kinds_name(library);
        change(library, &name, |kept, library| kept.change(library, setting, None))?;
        Ok(true)
    }

    /// Lets kinds count as they did before the last change, with the same kernels; what is taken
    /// back comes by the next call. What was fitted is not fitted anew before the labelled images
    /// have doubled from now on. Returns whether there was a change.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`].
    pub fn kinds_back(&self, library: &Mutex<Library>) -> Result<bool> {
        let library = &mut *hold(library);
        let images = library.recogniser().ckm().examples().count();
        if KeptKinds::of(library).before.is_none() {
            return Ok(false);
        }
        let name = kinds_name(library);
        change(library, &name, |kept, library| kept.back(library, images))?;
        Ok(true)
    }

    /// Fits them, or fits them anew, where that is chosen and the labelled images have doubled
    /// since. What was chosen by the time it ends stays chosen; what was fitted to an image that
    /// was forgotten by then is dropped, and stays due.
    ///
    /// # Errors
    /// As [`fit`]; [`tessera_core::Error::Io`].
    pub(super) fn fit_kinds_if_due(&self, library: &Mutex<Library>) -> Result<()> {
        let (setting, fitted, images) = {
            let library = hold(library);
            let kept = KeptKinds::of(&library);
            let fitted = kept.fit(&library, kept.setting).map_or(0, |fit| fit.images);
            (kept.setting, fitted, library.recogniser().ckm().examples().count())
        };
        let is_due = setting.choice != KindChoice::Preset && images >= 2 * fitted;
        let Some(Fitted { ckm, name, fit: Some(fit) }) = (if is_due { self.fitted(library, setting)? } else { None }) else {
            return Ok(());
        };
        let library = &mut *hold(library);
        if check_remembered(library, &ckm, "kinds were fitted to", "fit them again").is_err() {
            return Ok(());
        }
        change(library, &name, |kept, library| kept.change(library, kept.setting, Some(fit)))
    }
}

/// How kinds count in a library, with the weights in words.
pub fn kind_use(library: &Library) -> KindUse {
    let kept = KeptKinds::of(library);
    let before = kept.before.as_ref().map(|before| {
        let weights = kinds_in_words(&library.recogniser().ckm().options().with_kernels(&before.kernels(library)));
        format!("{}: {weights}", before.setting.words())
    });
    KindUse {
        setting: kept.setting,
        loss: kept.fit(library, kept.setting).and_then(|fit| fit.loss),
        words: kinds_in_words(library.recogniser().ckm().options()),
        before,
    }
}

/// Puts what was chosen into use in a library that was opened, or whose recogniser was made anew,
/// with the learned weights that go with it. What cannot be read is as if it were not there.
pub(super) fn restore(library: &mut Library) {
    let _ = name_places_apart(library);
    let _ = put_to_use(library);
}

/// Keeps the setting with a library of which images were forgotten, but nothing that was fitted to
/// them: that is fitted anew when it is next judged.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub(super) fn keep_setting(library: &mut Library, setting: KindSetting) -> Result<()> {
    KeptKinds::with(setting).keep(library)?;
    put_to_use(library)
}

/// Changes what is kept under a name as `change` does, and puts what is chosen now into use. A
/// report on harm under the same name is of other kernels then.
fn change(library: &mut Library, name: &str, change: impl FnOnce(&mut KeptKinds, &Library)) -> Result<()> {
    let before = KeptOf::now(library);
    let mut kept = KeptKinds::named(library, name);
    change(&mut kept, library);
    kept.keep_as(library, name)?;
    put_to_use(library)?;
    let now = KeptOf::now(library);
    if now.name("") == before.name("") && now.kernels != before.kernels {
        harm::forget(library)?;
    }
    Ok(())
}

fn put_to_use(library: &mut Library) -> Result<()> {
    let kernels = KeptKinds::of(library).kernels(library);
    if library.recogniser().ckm().options().kernels() != kernels {
        library.set_kernels(&kernels)?;
    }
    library_weights::restore(library);
    Ok(())
}

/// How much the kinds of a machine count, in words, the heaviest first.
pub fn kinds_in_words(options: &CkmOptions) -> String {
    let mut kinds: Vec<(f32, String)> = options
        .kinds_with_pieces()
        .map(|(_, kind)| {
            let LeafKernel { weight, cost, .. } = kind.kernel;
            let name = kind_in_words(&kind.source);
            let place = if cost == 0.0 && weight > 0.0 { " wherever they lie" } else { "" };
            (weight, format!("{name} {}{place}", (1000.0 * weight).round() / 1000.0))
        })
        .collect();
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    kinds.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join(", ")
}

/// A kind of elements in a word.
pub fn kind_in_words(source: &ElementSource) -> &str {
    match source.name() {
        "orb" => "corners",
        "hog" => "edges",
        "network" | "encoder" => "network",
        name => name,
    }
}

/// The scale at which elements are cut, in words.
pub fn scale_in_words(source: &ElementSource) -> String {
    match source {
        ElementSource::Orb(features) => format!("patches of {} pixels", features.patch),
        ElementSource::Hog(features) => format!("cells of {} pixels", features.cell),
        ElementSource::Colour(features) => format!("{} squares along the longer side", features.grid),
        ElementSource::Network(features) => format!("{} cells along each side", features.grid),
        ElementSource::Encoder(features) => format!("{} cells along each side", features.grid),
        _ => "as they are brought".into(),
    }
}
