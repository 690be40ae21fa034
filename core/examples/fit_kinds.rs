//! Measures what choosing the weights of kinds on training images is worth on other images.
//!
//! usage: fit_kinds TRAIN TEST [mixed|all] [places]
//!
//! Trains on one folder with the usual kernels and with those that were chosen on its own images,
//! and prints what both come to on the other folder.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::time::Instant;

use tessera_core::Result;
use tessera_core::ckm::Ckm;
use tessera_core::ckm::fit::{JUDGED, fit};
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::eval::recognition::{learn, test};
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;
use tessera_core::random;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, test_set, rest @ ..] = arguments.as_slice() else {
        println!("usage: fit_kinds TRAIN TEST [mixed|all] [places]");
        return Ok(());
    };
    let progress = Progress::default();
    let open = |folder: &String| Dataset::open(folder.as_ref(), &OpenOptions::default(), &progress);
    let (train, test_set) = (open(train)?, open(test_set)?);
    let preset = if rest.iter().any(|word| word == "all") { Preset::All } else { Preset::Mixed };
    let usual = learn(&train, |_| true, &preset.options(), &InProcess::default(), &progress)?.ckm;
    let accuracy = |mut ckm: Ckm| -> Result<(f64, f64)> {
        let start = Instant::now();
        let terms = judge(&ckm, 400, &mut random::seeded(0), Vec::new(), &progress)?.terms;
        let seconds = start.elapsed().as_secs_f64();
        ckm.set_terms(terms);
        Ok((test(&ckm, &test_set, |_| true, &InProcess::default(), &progress)?.accuracy(), seconds))
    };
    let (before, judging) = accuracy(usual.clone())?;
    let start = Instant::now();
    let found = fit(&usual, JUDGED, rest.iter().any(|word| word == "places"), 0, &progress)?;
    let fitting = start.elapsed().as_secs_f64();
    let after = if found.is_other() { accuracy(usual.with_kernels(&found.kernels)?)?.0 } else { before };
    println!("{before:.3} {after:.3}; loss {:.3} {:.3} on {} images", found.loss[0], found.loss[1], found.judged);
    for (kind, kernel) in usual.options().kinds.iter().zip(&found.kernels) {
        println!("{} {} (cost {}, reach {})", kind.source.name(), kernel.weight, kernel.cost, kernel.reach);
    }
    println!("{fitting:.1} s; judging 400 images {judging:.1} s");
    Ok(())
}
