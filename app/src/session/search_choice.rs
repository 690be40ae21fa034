//! Which training images the recogniser of a library compares: a choice that stays with the
//! library.

use std::sync::Arc;

use tessera_core::Result;
use tessera_core::ckm::Ckm;
use tessera_core::library::Library;

use crate::command::SearchChoice;

/// The name under which a library keeps the choice.
const CHOICE: &str = "search";

/// The choice that a library keeps; the usual one if there is none that can be read.
pub fn search_choice(library: &Library) -> SearchChoice {
    let kept = library.result(CHOICE).ok().flatten();
    kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Keeps a choice with a library.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub(super) fn keep(library: &Library, choice: SearchChoice) -> Result<()> {
    library.keep_result(CHOICE, &serde_json::to_string(&choice).unwrap_or_default())
}

/// The machine of a library, which compares as was chosen, with learned weights if these are in
/// use. It has no class terms.
pub(super) fn machine(library: &Library) -> Result<Arc<Ckm>> {
    let recogniser = library.recogniser();
    searching(library, recogniser.weighted().unwrap_or(recogniser.ckm()))
}

/// The machine of a library with uniform weights, which compares as was chosen. It has no class
/// terms.
pub(super) fn uniform_machine(library: &Library) -> Result<Arc<Ckm>> {
    searching(library, library.recogniser().ckm())
}

fn searching(library: &Library, ckm: &Arc<Ckm>) -> Result<Arc<Ckm>> {
    let mut ckm = Arc::clone(ckm);
    let wanted = search_choice(library).search(ckm.examples().count());
    if ckm.search() != wanted {
        Arc::make_mut(&mut ckm).set_search(wanted)?;
    }
    Ok(ckm)
}
