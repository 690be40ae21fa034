//! What a library keeps of how its kinds of elements count: what its images show, the choice, what
//! was fitted for each of these, and how it was before the last change.

use serde::{Deserialize, Serialize};

use tessera_core::Result;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::presets::Subject;
use tessera_core::library::Library;

use crate::command::{KindChoice, subject_words};

/// The names under which a library keeps it: all of it, for its kinds of elements; and what its
/// images show, whatever these are.
const KINDS: &str = "kinds";
const SUBJECT: &str = "subject";

/// How kinds of elements count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindSetting {
    /// What is in the images: the preset that it begins with.
    pub subject: Subject,
    /// As the preset has it, or what is fitted from there.
    pub choice: KindChoice,
}

impl KindSetting {
    /// In words: what the images show, and how kinds count.
    pub fn words(self) -> String {
        format!("{}, {}", subject_words(self.subject).0, self.choice.words().0.to_lowercase())
    }
}

/// What a library keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KeptKinds {
    pub(super) setting: KindSetting,
    /// What was last fitted for each setting.
    fits: Vec<KindFit>,
    /// How it was before the last change.
    pub(super) before: Option<KindsBefore>,
}

/// As it is written; what the images show is written apart.
#[derive(Serialize, Deserialize)]
struct Written {
    choice: KindChoice,
    fits: Vec<KindFit>,
    before: Option<KindsBefore>,
}

/// As programs wrote it that kept one fit alone, to the preset of single objects.
#[derive(Deserialize)]
struct WrittenBefore {
    choice: KindChoice,
    fitted: Option<KindFit>,
    images: usize,
    loss: Option<[f64; 2]>,
}

impl From<WrittenBefore> for Written {
    fn from(old: WrittenBefore) -> Self {
        let WrittenBefore { choice, fitted, images, loss } = old;
        // One that was cut short was written without images.
        let fits = fitted.filter(|_| images > 0).map(|fit| KindFit { images, loss, ..fit }).into_iter().collect();
        Self { choice, fits, before: None }
    }
}

/// Kernels that were fitted, one for each kind, in place of those of a preset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KindFit {
    #[serde(default)]
    pub(super) subject: Subject,
    pub(super) choice: KindChoice,
    /// Those of the preset.
    pub(super) usual: Vec<LeafKernel>,
    pub(super) kernels: Vec<LeafKernel>,
    /// Labelled images when they were fitted.
    #[serde(default)]
    pub(super) images: usize,
    /// The mean log loss of left-out images, with the preset's and with fitted ones.
    #[serde(default)]
    pub(super) loss: Option<[f64; 2]>,
}

impl KindFit {
    fn setting(&self) -> KindSetting {
        KindSetting { subject: self.subject, choice: self.choice }
    }
}

/// How kinds counted before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KindsBefore {
    pub(super) setting: KindSetting,
    fit: Option<KindFit>,
}

impl KeptKinds {
    /// What a library keeps; the usual where there is nothing that can be read.
    pub(super) fn of(library: &Library) -> Self {
        Self::named(library, &kinds_name(library))
    }

    /// What it keeps under a name of [`kinds_name`].
    pub(super) fn named(library: &Library, name: &str) -> Self {
        let text = |name: &str| library.result(name).ok().flatten();
        let subject = text(SUBJECT).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let written = text(name).and_then(|text| {
            let old = || Some(serde_json::from_str::<WrittenBefore>(&text).ok()?.into());
            serde_json::from_str::<Written>(&text).ok().or_else(old)
        });
        let Some(Written { choice, fits, before }) = written else {
            return Self { setting: KindSetting { subject, ..KindSetting::default() }, ..Self::default() };
        };
        Self { setting: KindSetting { subject, choice }, fits, before }
    }

    /// Whether an older program wrote it, and had fitted places last.
    pub(super) fn is_of_places_before(library: &Library) -> bool {
        let text = library.result(&kinds_name(library)).ok().flatten().unwrap_or_default();
        let old = serde_json::from_str::<WrittenBefore>(&text).ok().and_then(|old| old.fitted);
        old.is_some_and(|fit| fit.choice == KindChoice::Places)
    }

    /// Keeps a setting alone, with nothing that was fitted.
    pub(super) fn with(setting: KindSetting) -> Self {
        Self { setting, ..Self::default() }
    }

    /// Writes it down.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`].
    pub(super) fn keep(&self, library: &Library) -> Result<()> {
        self.keep_as(library, &kinds_name(library))
    }

    /// Writes it down under a name of [`kinds_name`].
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`].
    pub(super) fn keep_as(&self, library: &Library, name: &str) -> Result<()> {
        let Self { setting, fits, before } = self.clone();
        library.keep_result(SUBJECT, &serde_json::to_string(&setting.subject).unwrap_or_default())?;
        let written = Written { choice: setting.choice, fits, before };
        library.keep_result(name, &serde_json::to_string(&written).unwrap_or_default())
    }

    /// What was fitted for a setting to the library's kinds of elements.
    pub(super) fn fit(&self, library: &Library, setting: KindSetting) -> Option<&KindFit> {
        let fit = self.fits.iter().find(|fit| fit.setting() == setting)?;
        (setting.choice != KindChoice::Preset && fit.usual == preset_kernels(library, setting.subject)).then_some(fit)
    }

    /// The kernels that are to be in use.
    pub(super) fn kernels(&self, library: &Library) -> Vec<LeafKernel> {
        self.now(library).kernels(library)
    }

    /// Takes another setting, and what was fitted for it, if something was; how it was before is
    /// remembered where that makes a difference.
    pub(super) fn change(&mut self, library: &Library, setting: KindSetting, fit: Option<KindFit>) {
        let was = self.now(library);
        let kernels = was.kernels(library);
        self.put(fit);
        self.setting = setting;
        // That something is fitted for the first time is no change of what was chosen.
        let is_first = was.setting == setting && was.fit.is_none();
        if !is_first && (was.setting != setting || kernels != self.kernels(library)) {
            self.before = Some(was);
        }
    }

    /// Brings what was before the last change, which is then what was before. What was fitted comes
    /// as it was, and is not fitted anew before the `images` of now have doubled. Nothing is
    /// brought where there is nothing.
    pub(super) fn back(&mut self, library: &Library, images: usize) {
        let Some(before) = self.before.take() else { return };
        let was = self.now(library);
        self.setting = before.setting;
        self.put(before.fit.map(|fit| KindFit { images: images.max(fit.images), ..fit }));
        self.before = Some(was);
    }

    fn now(&self, library: &Library) -> KindsBefore {
        KindsBefore { setting: self.setting, fit: self.fit(library, self.setting).cloned() }
    }

    fn put(&mut self, fit: Option<KindFit>) {
        let Some(fit) = fit else { return };
        self.fits.retain(|other| other.setting() != fit.setting());
        self.fits.push(fit);
    }
}

impl KindsBefore {
    /// The kernels that were in use.
    pub(super) fn kernels(&self, library: &Library) -> Vec<LeafKernel> {
        let fit = self.fit.as_ref().map(|fit| fit.kernels.clone());
        fit.unwrap_or_else(|| preset_kernels(library, self.setting.subject))
    }
}

/// The kernels of a library's kinds that a preset has.
pub(super) fn preset_kernels(library: &Library, subject: Subject) -> Vec<LeafKernel> {
    let recogniser = library.recogniser();
    let mut options = recogniser.ckm().options().with_kernels(recogniser.usual_kernels());
    subject.set(&mut options);
    options.kernels()
}

/// The name under which a library keeps how its present kinds of elements count.
pub(super) fn kinds_name(library: &Library) -> String {
    kept_for_elements(library, KINDS)
}

/// The name under which a library keeps something that depends on the kinds of elements alone.
pub(super) fn kept_for_elements(library: &Library, name: &str) -> String {
    if library.recogniser().ckm().options().is_of_network() { format!("{name}, learned features") } else { name.to_owned() }
}
