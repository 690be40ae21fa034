//! Which training images the recogniser of a library compares: a choice that stays with the
//! library.

use tessera_core::Result;
use tessera_core::library::Library;
use tessera_core::progress::Progress;

use crate::command::SearchChoice;

/// The name under which a library keeps the choice.
const CHOICE: &str = "search";

/// The choice that a library keeps; the usual one if there is none that can be read.
pub fn search_choice(library: &Library) -> SearchChoice {
    let kept = library.result(CHOICE).ok().flatten();
    kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Lets the recogniser of a library compare as chosen, and keeps the choice.
///
/// # Errors
/// As [`Library::set_search`]; [`tessera_core::Error::Io`].
pub(super) fn choose(library: &mut Library, choice: SearchChoice, progress: &Progress) -> Result<()> {
    library.set_search(choice.search(), progress)?;
    keep(library, choice)
}

/// Keeps a choice with a library.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub(super) fn keep(library: &Library, choice: SearchChoice) -> Result<()> {
    library.keep_result(CHOICE, &serde_json::to_string(&choice).unwrap_or_default())
}

/// Lets the recogniser of a library that was opened compare as was chosen.
///
/// # Errors
/// As [`Library::set_search`].
pub(super) fn restore(library: &mut Library, progress: &Progress) -> Result<()> {
    library.set_search(search_choice(library).search(), progress)
}
