//! Learned weights of a library's recogniser: learned on request, kept with the library's cache,
//! and in use or not.

use serde::{Deserialize, Serialize};

use tessera_core::Result;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::weights::LearnReport;
use tessera_core::ckm::{Ckm, Example};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::library::Library;
use tessera_core::library::event::ContentHash;

use super::kept_as::KeptOf;
use crate::command::WeightChoice;

/// The names under which a library keeps the weights, and how they are used.
const WEIGHTS: &str = "weights";
const USE: &str = "weights_use";

/// Whether learned weights are in use, and what they are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WeightUse {
    /// The weights that are in use.
    pub choice: WeightChoice,
    /// The share of held-out objects' images that were right when weights were last learned, with
    /// uniform and with learned ones.
    pub right: Option<[f64; 2]>,
}

/// How weights are used, as a library stores it.
#[derive(Default, Serialize, Deserialize)]
struct KeptUse {
    #[serde(flatten)]
    used: WeightUse,
    /// How kinds counted when weights were learned; none where none were, or a program did not
    /// tell.
    #[serde(default)]
    kernels: Option<Vec<LeafKernel>>,
}

/// The weights of an image's elements, by kind, and what they were learned for: they do not fit
/// another content or class.
#[derive(Serialize, Deserialize)]
struct OfImage {
    image: ItemId,
    content: ContentHash,
    class: String,
    weights: Vec<Vec<f32>>,
}

/// Keeps what learning the weights of a recogniser came to with its library, and chooses the
/// machine's weights if they are better than uniform ones. They are put into use if that
/// recogniser still is.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub(super) fn keep(library: &mut Library, of: &KeptOf, ckm: &Ckm, learned: &LearnReport) -> Result<()> {
    let better = if learned.epochs > 0 { weights_of(ckm, library) } else { Vec::new() };
    library.keep_result(&of.name(WEIGHTS), &serde_json::to_string(&better).unwrap_or_default())?;
    let choice = if better.is_empty() { WeightChoice::Uniform } else { WeightChoice::Learned };
    let right = |epochs: usize| learned.held_out.get(epochs).copied();
    let right = right(0).zip(right(learned.epochs)).map(Into::into);
    let kept = KeptUse { used: WeightUse { choice, right }, kernels: Some(of.kernels.clone()) };
    keep_use(library, &of.name(USE), &kept)?;
    if KeptOf::now(library).counts_as(of) && !choose(library, choice)? {
        choose(library, WeightChoice::Uniform)?;
    }
    Ok(())
}

/// The weights of a machine's images.
fn weights_of(ckm: &Ckm, library: &Library) -> Vec<OfImage> {
    let of_image = |(class, example): (ClassId, &Example)| {
        let content = library.state().image(example.id)?.content?.hash;
        let class = ckm.classes()[class.index()].name.clone();
        Some(OfImage { image: example.id, content, class, weights: example.elements.weights() })
    };
    ckm.examples().filter_map(of_image).collect()
}

/// Whether a library's recogniser answers with learned weights.
pub fn weight_choice(library: &Library) -> WeightChoice {
    if library.recogniser().weighted().is_some() { WeightChoice::Learned } else { WeightChoice::Uniform }
}

/// Whether a library's recogniser answers with learned weights, and what they are worth.
pub fn weight_use(library: &Library) -> WeightUse {
    let used = kept_use(library).map(|kept| kept.used).unwrap_or_default();
    WeightUse { choice: weight_choice(library), ..used }
}

/// How weights of the recogniser in use are used; none where those that are kept were learned with
/// kinds that counted otherwise.
fn kept_use(library: &Library) -> Option<KeptUse> {
    let now = KeptOf::now(library);
    let text = library.result(&now.name(USE)).ok().flatten();
    let kept: KeptUse = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    kept.kernels.as_ref().is_none_or(|of| *of == now.kernels).then_some(kept)
}

fn keep_use(library: &Library, name: &str, kept: &KeptUse) -> Result<()> {
    library.keep_result(name, &serde_json::to_string(kept).unwrap_or_default())
}

/// Puts the weights that a library keeps into use, or takes weights out of use, and remembers the
/// choice. Returns whether that could be done: not if no weights are kept that were learned with
/// the kinds as they count now.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub fn choose(library: &mut Library, choice: WeightChoice) -> Result<bool> {
    let used = kept_use(library);
    match choice {
        WeightChoice::Uniform => library.set_weights(None)?,
        WeightChoice::Learned if used.is_none() => return Ok(false),
        WeightChoice::Learned => {
            let Some(kept) = kept(library).filter(|kept| !kept.is_empty()) else { return Ok(false) };
            let state = library.state();
            let fits = |of: &OfImage| {
                let image = state.image(of.image);
                image.is_some_and(|image| {
                    image.label() == Some(&of.class) && image.content.is_some_and(|content| content.hash == of.content)
                })
            };
            let fitting: Vec<_> = kept.into_iter().filter(fits).map(|of| (of.image, of.weights)).collect();
            // Other elements of the same images are those of another version of the program.
            if library.set_weights(Some(&fitting)).is_err() {
                return Ok(false);
            }
        }
    }
    if let Some(KeptUse { used, kernels }) = used {
        let kept = KeptUse { used: WeightUse { choice, ..used }, kernels };
        keep_use(library, &KeptOf::now(library).name(USE), &kept)?;
    }
    Ok(true)
}

/// Puts learned weights into use in a library that was opened, if they were in use when it was
/// closed. What cannot be read is as if it were not there.
pub(super) fn restore(library: &mut Library) {
    if kept_use(library).is_some_and(|kept| kept.used.choice == WeightChoice::Learned) {
        let _ = choose(library, WeightChoice::Learned);
    }
}

/// The weights that a library keeps; none if it keeps none that can be read.
fn kept(library: &Library) -> Option<Vec<OfImage>> {
    serde_json::from_str(&library.result(&KeptOf::now(library).name(WEIGHTS)).ok()??).ok()
}
