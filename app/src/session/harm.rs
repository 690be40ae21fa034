//! The training images of a library that mislead its recogniser.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tessera_core::ckm::harm::{Harm, harm};
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::{Result, random};

use super::Session;
use super::kept_as::{KeptOf, NOTHING, Taken, check_remembered};
use super::reports::kept_report;
use crate::command::WeightChoice;

/// The name under which a library keeps its last report on harm.
const HARM: &str = "harm";

/// What each training image does to the answers about judged images of other objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HarmReport {
    /// The last event of the library when this was found; none if the recogniser has compared
    /// otherwise since.
    pub event: Option<EventId>,
    /// Images that were judged.
    pub judged: usize,
    /// Training images, the most harmful first.
    pub images: Vec<Harm>,
    /// How kinds counted; none in reports of programs that did not tell.
    #[serde(default)]
    kernels: Option<Vec<LeafKernel>>,
}

impl HarmReport {
    /// What a training image does; `None` if it has no part in any score.
    pub fn of(&self, image: ItemId) -> Option<&Harm> {
        self.images.iter().find(|harm| harm.image == image)
    }
}

impl Session {
    /// Finds what each training image of a library, with uniform weights, does to the answers about
    /// the images that the recogniser is judged by, and stores it. Judges first if the library has
    /// changed since.
    ///
    /// # Errors
    /// As [`Session::judge_uniform`].
    pub fn harm(&self, library: &Mutex<Library>) -> Result<HarmReport> {
        let known = {
            let library = hold(library);
            let taken = Taken::now(&library);
            let kept = kept_report(&library, WeightChoice::Uniform).filter(|(event, _)| *event == taken.event);
            kept.map(|(_, report)| (taken, report))
        };
        let (taken, known) = match known {
            Some((taken, report)) => (taken, report.raw),
            None => self.judge_taken(library).map(|(taken, report)| (taken, report.raw))?,
        };
        let Taken { mut ckm, event, of } = taken;
        let mut report = self.pool.install(|| -> Result<HarmReport> {
            // What was judged is not scored again: this fits the terms of the classes alone.
            let judgement = judge(&ckm, known.len(), &mut random::seeded(self.seed), known, &self.progress)?;
            Arc::make_mut(&mut ckm).set_terms(judgement.terms);
            let images = harm(&ckm, &judgement.held_out, &self.progress)?;
            Ok(HarmReport { event, judged: judgement.held_out.len(), images, kernels: Some(of.kernels.clone()) })
        })?;
        let library = hold(library);
        check_remembered(&library, &ckm, "were left out", "find them again")?;
        if KeptOf::now(&library) != of {
            report.event = None;
            return Ok(report);
        }
        // A report that cannot be stored is still returned.
        let _ = serde_json::to_string(&report).map(|text| library.keep_result(&of.name(HARM), &text));
        Ok(report)
    }
}

/// Drops the report on harm that a library keeps: it was made by a machine that compares otherwise.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub fn forget(library: &Library) -> Result<()> {
    library.keep_result(&KeptOf::now(library).name(HARM), NOTHING)
}

/// The last report on harm that a library keeps; none if there is none that can be read, or kinds
/// counted otherwise.
pub fn last_harm(library: &Library) -> Option<HarmReport> {
    let now = KeptOf::now(library);
    let report: HarmReport = serde_json::from_str(&library.result(&now.name(HARM)).ok()??).ok()?;
    report.kernels.as_ref().is_none_or(|of| *of == now.kernels).then_some(report)
}
