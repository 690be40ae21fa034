//! The names under which a library keeps what belongs to one of its recognisers.

use std::sync::Arc;

use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::presets::Subject;
use tessera_core::ckm::{Ckm, Search};
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::{Error, Result};

use super::kinds_kept::{KeptKinds, KindSetting, kept_for_elements, preset_kernels};
use crate::command::KindChoice;

/// One of a library's recognisers: the name of what is kept of it, and what that depends on. It is
/// taken before something long begins, for the library may have another one in use at the end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeptOf {
    ending: String,
    pub(super) kernels: Vec<LeafKernel>,
    pub(super) search: Search,
}

impl KeptOf {
    /// The one in use: its name depends on whether learned features are on, on what the images
    /// show, and on which fitted kernels are in use.
    pub(super) fn now(library: &Library) -> Self {
        let ckm = library.recogniser().ckm();
        let kernels = ckm.options().kernels();
        Self { ending: ending(library, &kernels), kernels, search: ckm.search() }
    }

    /// The name under which the library keeps something of it.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{name}{}", self.ending)
    }

    /// Whether it has the name and the kernels of another.
    pub(super) fn counts_as(&self, other: &Self) -> bool {
        self.ending == other.ending && self.kernels == other.kernels
    }
}

/// The recogniser of a library, with uniform weights, as it was when something long began.
pub(super) struct Taken {
    pub(super) ckm: Arc<Ckm>,
    /// The last event of the library.
    pub(super) event: Option<EventId>,
    /// The name of what is kept of it.
    pub(super) of: KeptOf,
}

impl Taken {
    /// As it is now.
    pub(super) fn now(library: &Library) -> Self {
        Self { ckm: Arc::clone(library.recogniser().ckm()), event: library.state().last_event(), of: KeptOf::now(library) }
    }
}

fn ending(library: &Library, now: &[LeafKernel]) -> String {
    let elements = kept_for_elements(library, "");
    if now == library.recogniser().usual_kernels() {
        return elements;
    }
    let kept = KeptKinds::of(library);
    let subject = kept.setting.subject;
    let without_places = KindSetting { subject, choice: KindChoice::Fitted };
    let fitted = if now == preset_kernels(library, subject) {
        ""
    } else if kept.setting.choice == KindChoice::Places && kept.fit(library, without_places).is_none_or(|fit| fit.kernels != now) {
        PLACES
    } else {
        KINDS
    };
    let of = if subject == Subject::Object { String::new() } else { format!(", {}", subject.name()) };
    format!("{elements}{fitted}{of}")
}

const KINDS: &str = ", fitted kinds";
const PLACES: &str = ", fitted places";

/// What older programs kept of a recogniser.
const BEFORE: [&str; 5] = ["report", "report_weights", "weights", "weights_use", "harm"];

/// Brings what an older program kept of a recogniser with fitted places, which had the name of one
/// with fitted kinds, to its own name, once.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub(super) fn name_places_apart(library: &Library) -> Result<()> {
    if !KeptKinds::is_of_places_before(library) {
        return Ok(());
    }
    for name in BEFORE {
        let name = kept_for_elements(library, name);
        let old = format!("{name}{KINDS}");
        if let Some(text) = library.result(&old)?.filter(|text| text != NOTHING) {
            library.keep_result(&format!("{name}{PLACES}"), &text)?;
            library.keep_result(&old, NOTHING)?;
        }
    }
    // As it is written now, so that this is done.
    KeptKinds::of(library).keep(library)
}

/// What is kept in place of something that no longer holds.
pub(super) const NOTHING: &str = "null";

/// Checks that no training image of a machine was forgotten while something was made of them: that
/// is not to be kept then. `what` it was made for follows "the images that", `again` is the way
/// out.
///
/// # Errors
/// [`Error::Data`].
pub(super) fn check_remembered(library: &Library, ckm: &Ckm, what: &str, again: &'static str) -> Result<()> {
    let is_there = |id: ItemId| library.state().image(id).is_some();
    if ckm.examples().all(|(_, example)| is_there(example.id)) {
        return Ok(());
    }
    Err(Error::data(library.folder(), format!("the images that {what}"), "some that were forgotten meanwhile", again))
}
