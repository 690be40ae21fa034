//! Learned weights of a library's recogniser: learned on request, kept with the library's cache, and
//! in use or not.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use tessera_core::Result;
use tessera_core::ckm::Ckm;
use tessera_core::ckm::weights::{LearnOptions, LearnReport};
use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::ContentHash;
use tessera_core::library::import::hold;

use super::Session;
use super::models::{check_classes, keep_weighted_report};
use super::search_choice;
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

/// The weights of an image's elements, by kind, and what they were learned for: they do not fit
/// another content or class.
#[derive(Serialize, Deserialize)]
struct OfImage {
    image: ItemId,
    content: ContentHash,
    class: String,
    weights: Vec<Vec<f32>>,
}

impl Session {
    /// Learns the weights of a library's recogniser, puts them into use, and stores them with a
    /// report by the objects of folds. Where no weights are better than uniform ones these stay in
    /// use, and the report of before stays. Also returns the milliseconds it took an image.
    ///
    /// # Errors
    /// [`tessera_core::Error::Data`] with fewer than two classes, and as
    /// [`tessera_core::ckm::weights::learn`].
    pub fn learn_library_weights(&self, library: &Mutex<Library>, options: &LearnOptions) -> Result<(LearnReport, f64)> {
        let (mut ckm, looks, event) = {
            let library = hold(library);
            let ckm = search_choice::uniform_machine(&library)?;
            check_classes(&ckm, library.folder())?;
            (ckm, library.perceptual_hashes()?, library.state().last_event())
        };
        let start = Instant::now();
        let learned = self.learn_weights(Arc::make_mut(&mut ckm), options)?;
        let ms = start.elapsed().as_secs_f64() * 1e3 / ckm.examples().count().max(1) as f64;
        let mut library = hold(library);
        let right = |epochs: usize| learned.0.held_out.get(epochs).copied();
        let right = right(0).zip(right(learned.0.epochs)).map(Into::into);
        keep_use(&library, WeightUse { right, ..WeightUse::default() })?;
        if learned.0.epochs == 0 {
            choose(&mut library, WeightChoice::Uniform)?;
            return Ok((learned.0, ms));
        }
        let weights = weights_of(&ckm, &library);
        library.keep_result(WEIGHTS, &serde_json::to_string(&weights).unwrap_or_default())?;
        choose(&mut library, WeightChoice::Learned)?;
        let report = self.pool.install(|| Report::new(&ckm, learned.0.judgement.clone(), &looks));
        keep_weighted_report(&library, event, &report);
        Ok((learned.0, ms))
    }
}

/// The weights of a machine's images.
fn weights_of(ckm: &Ckm, library: &Library) -> Vec<OfImage> {
    let of_image = |(class, example): (tessera_core::ids::ClassId, &tessera_core::ckm::Example)| {
        let content = library.state().image(example.id)?.content?.hash;
        let sets = example.elements.sets.iter();
        let weights = sets.map(|set| (0..set.len()).map(|i| set.weight(i)).collect()).collect();
        Some(OfImage { image: example.id, content, class: ckm.classes()[class.index()].name.clone(), weights })
    };
    ckm.examples().filter_map(of_image).collect()
}

/// Whether a library's recogniser answers with learned weights.
pub fn weight_choice(library: &Library) -> WeightChoice {
    if library.recogniser().weighted().is_some() { WeightChoice::Learned } else { WeightChoice::Uniform }
}

/// Whether a library's recogniser answers with learned weights, and what they are worth.
pub fn weight_use(library: &Library) -> WeightUse {
    WeightUse { choice: weight_choice(library), ..kept_use(library) }
}

fn kept_use(library: &Library) -> WeightUse {
    let text = library.result(USE).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn keep_use(library: &Library, used: WeightUse) -> Result<()> {
    library.keep_result(USE, &serde_json::to_string(&used).unwrap_or_default())
}

/// Puts the weights that a library keeps into use, or takes weights out of use, and remembers the
/// choice. Returns whether that could be done: not if no weights are kept.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub fn choose(library: &mut Library, choice: WeightChoice) -> Result<bool> {
    match choice {
        WeightChoice::Uniform => library.set_weights(None)?,
        WeightChoice::Learned => {
            let Some(kept) = kept(library) else { return Ok(false) };
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
    keep_use(library, WeightUse { choice, ..kept_use(library) })?;
    Ok(true)
}

/// Puts learned weights into use in a library that was opened, if they were in use when it was
/// closed. What cannot be read is as if it were not there.
pub(super) fn restore(library: &mut Library) {
    if kept_use(library).choice == WeightChoice::Learned {
        let _ = choose(library, WeightChoice::Learned);
    }
}

/// The weights that a library keeps; none if it keeps none that can be read.
fn kept(library: &Library) -> Option<Vec<OfImage>> {
    serde_json::from_str(&library.result(WEIGHTS).ok()??).ok()
}
