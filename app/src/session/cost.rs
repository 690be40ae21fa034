//! The time of learning an image, measured on images that a library has learned already.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tessera_core::Result;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::{Ckm, Example};
use tessera_core::library::Library;
use tessera_core::picture::decode::SIDE;

use super::Session;

/// Images that are learned again for the measurement.
const SAMPLE: usize = 50;

impl Session {
    /// Milliseconds of learning an image, without decoding, and what networks took of that: some
    /// images of the library, spread over all that its recogniser holds, are decoded and learned
    /// once more by a machine that is thrown away. None when no file of them is there.
    ///
    /// # Errors
    /// As [`Ckm::elements`].
    pub fn train_ms_per_image(&self, library: &Library) -> Result<Option<[f64; 2]>> {
        let (ckm, state) = (Arc::clone(library.recogniser().ckm()), library.state().clone());
        self.pool.install(|| {
            let mut again = Ckm::new(ckm.options().clone())?;
            let every = (ckm.examples().count() / SAMPLE).max(1);
            let chosen: Vec<_> = ckm.examples().step_by(every).take(SAMPLE).collect();
            let path = |id| state.image(id).and_then(|image| state.path_of(image));
            let decode = |example: &Example| self.decoder.decode(&path(example.id)?, SIDE, &self.progress).ok();
            let decoded = chosen.into_par_iter().map(|(class, example)| Some((class, example, decode(example)?)));
            let pictures: Vec<_> = decoded.flatten().collect();
            let Some((_, _, first)) = pictures.first() else { return Ok(None) };
            // The first image warms the caches and is not timed.
            again.elements(first)?;
            let start = Instant::now();
            let cut: Vec<(Elements, Duration)> =
                pictures.par_iter().map(|(.., picture)| again.elements_timed(picture)).collect::<Result<_>>()?;
            let sharing = rayon::current_num_threads().min(cut.len()).max(1);
            let network = cut.iter().map(|(_, network)| *network).sum::<Duration>() / sharing as u32;
            for ((class, example, _), (elements, _)) in pictures.iter().zip(cut) {
                let example =
                    Example { id: example.id, name: example.name.clone(), group: example.group.clone(), elements: elements.into() };
                again.add(&ckm.classes()[class.index()].name, example)?;
            }
            Ok(Some([start.elapsed(), network].map(|time| time.as_secs_f64() * 1e3 / pictures.len() as f64)))
        })
    }
}
