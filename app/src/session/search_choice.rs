//! Which training images the recogniser of a library compares: a choice that stays with the
//! library.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tessera_core::Result;
use tessera_core::ckm::{Ckm, Search};
use tessera_core::library::Library;

/// The name under which a library keeps the choice.
const CHOICE: &str = "search";

/// Which training images are compared with an image to be recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchChoice {
    /// All of a small library, a shortlist of a large one.
    #[default]
    Automatic,
    /// All.
    Exact,
    /// Of each class those most like the image as a whole.
    Shortlist,
}

impl SearchChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Automatic, Self::Exact, Self::Shortlist];

    /// Its name, and what it means in a sentence.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Automatic => ("Automatic", "Compares with all training images of a small library, with a shortlist of a large one"),
            Self::Exact => ("All images", "Compares with all training images: exact, and slower the more there are"),
            Self::Shortlist => ("Shortlist", "Compares with the 32 training images of each class that are most like the image as a whole"),
        }
    }

    fn search(self, images: usize) -> Search {
        match self {
            Self::Automatic => Search::for_images(images),
            Self::Exact => Search::Exact,
            Self::Shortlist => Search::SHORTLIST,
        }
    }
}

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
    library.keep_result(CHOICE, &format!("\"{choice:?}\""))
}

/// The machine of a library, which compares as was chosen. It has no class terms.
pub(super) fn machine(library: &Library) -> Result<Arc<Ckm>> {
    let mut ckm = Arc::clone(library.recogniser().ckm());
    let wanted = search_choice(library).search(ckm.examples().count());
    if ckm.search() != wanted {
        Arc::make_mut(&mut ckm).set_search(wanted)?;
    }
    Ok(ckm)
}
