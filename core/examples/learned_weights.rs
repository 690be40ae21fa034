//! Compares options of learned weights on held-out objects of a folder of images.
//!
//! usage: learned_weights [FOLDER KIND FOLDS MARGINS STEPS EPOCHS
//!     [IMAGES PAIR_IMAGES RIVALS REFRESH blocks|stochastic]]
//!
//! Without a folder, toys are painted into a temporary one. KIND is `hog`, `orb`, `colour` or
//! `mixed`. FOLDS are instance numbers: `1,2/3,4` tests objects 1 and 2 after learning on 3 and 4,
//! and the other way round; instances in no fold are never looked at. A line is printed for each
//! margin and step: the share of right answers after 0, 1, 2 ... epochs, over all folds and for
//! each of them. REFRESH is the number of epochs after which lists are made anew, 0 for never. With
//! the word `learn` for EPOCHS, their number is chosen on folds of the objects that are learned
//! from, as `tessera train --weights learned` does.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::weights::descent::{Descent, Method, StepOptions};
use tessera_core::ckm::weights::lists::{ListSize, Lists};
use tessera_core::ckm::weights::{self, LearnOptions};
use tessera_core::ckm::{Ckm, Example, Without};
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::error::Error;
use tessera_core::eval::recognition::learn;
use tessera_core::ids::ClassId;
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;
use tessera_core::{Result, random};

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    text.split(',').filter_map(|part| part.parse().ok()).collect()
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let word = |i: usize, usual: &str| words.get(i).cloned().unwrap_or_else(|| usual.to_owned());
    let number = |i: usize, usual: usize| word(i, "").parse().unwrap_or(usual);
    let preset = match word(2, "mixed").as_str() {
        "orb" => Preset::Orb,
        "hog" => Preset::Hog,
        "colour" => Preset::Colour,
        _ => Preset::Mixed,
    };
    let (margins, steps): (Vec<f64>, Vec<f64>) = (numbers(&word(4, "0.3")), numbers(&word(5, "0.001")));
    let epochs = number(6, 5);
    let size = ListSize { images: number(7, 8), pair_images: number(8, 2), rivals: number(9, 4) };
    let refresh = number(10, 0);
    let method = if word(11, "stochastic") == "blocks" { Method::Blocks } else { Method::Stochastic };
    let method_options = LearnOptions { lists: size, method, judged: usize::MAX, ..LearnOptions::default() };
    let progress = Progress::default();

    let painted = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let folder = words.get(1).map_or_else(|| painted.path().join("train"), PathBuf::from);
    if words.len() < 2 {
        let options = ToyOptions { instances: 8, views: 3, side: 64, format: ToyFormat::NorbNames, ..ToyOptions::default() };
        generate(&options, painted.path(), &progress)?;
    }
    let data = Dataset::open(&folder, &OpenOptions::default(), &progress)?;
    let instance = |i: usize| data.items[i].meta.instance.unwrap_or(0);
    let folds_of: Vec<Vec<u32>> = match words.get(3) {
        Some(folds) => folds.split('/').map(numbers).collect(),
        // Every other object.
        None => {
            let numbers: BTreeSet<u32> = (0..data.items.len()).map(instance).collect();
            (0..2).map(|half| numbers.iter().copied().skip(half).step_by(2).collect()).collect()
        }
    };
    let whole =
        learn(&data, |i| folds_of.iter().flatten().any(|&one| one == instance(i)), &preset.options(), &InProcess::default(), &progress)?
            .ckm;
    let settings: Vec<(f64, f64)> = margins.iter().flat_map(|&margin| steps.iter().map(move |&step| (margin, step))).collect();
    // Right answers by setting, fold and epoch.
    let mut right = vec![Vec::new(); settings.len()];
    let mut tested = Vec::new();
    for fold in &folds_of {
        let is_held = |example: &Example| fold.contains(&instance(example.id.0 as usize));
        let mut part = whole.clone();
        for (_, example) in whole.examples().filter(|(_, e)| is_held(e)) {
            part.remove(example.id);
        }
        if word(6, "") == "learn" {
            let uniform = accuracy(&part, &whole, &is_held);
            let mut with_terms = part.clone();
            with_terms.set_terms(judge(&part, 400, &mut random::seeded(0), Vec::new(), &progress)?.terms);
            for &(margin, step) in &settings {
                let options = LearnOptions { steps: StepOptions { margin, step, ..method_options.steps }, ..method_options };
                let mut machine = part.clone();
                let start = Instant::now();
                let report = weights::learn(&mut machine, &options, 0, &progress)?;
                let ms = start.elapsed().as_secs_f64() * 1e3 / part.examples().count() as f64;
                let learned = accuracy(&machine, &whole, &is_held);
                machine.set_terms(report.judgement.terms);
                let [plain, weighted] = [&with_terms, &machine].map(|machine| accuracy(machine, &whole, &is_held));
                println!(
                    "fold {fold:?} margin {margin} step {step}: {uniform:.4} -> {learned:.4}, with class terms {plain:.4} -> {weighted:.4}, after {} epochs, {ms:.1} ms an image; inner folds {:.4?}",
                    report.epochs, report.held_out
                );
            }
            continue;
        }
        let start = Instant::now();
        let own = own_lists(&part, size)?;
        let held: Vec<(ClassId, &Example)> = whole.examples().filter(|(_, e)| is_held(e)).collect();
        let judging_first = held_lists(&part, &held, size)?;
        let list_ms = start.elapsed().as_secs_f64() * 1e3 / whole.examples().count() as f64;
        for (setting, &(margin, step)) in settings.iter().enumerate() {
            let mut machine = part.clone();
            let weights = own.numbering().weights(&machine);
            let mut judging = judging_first.clone();
            let mut counts = vec![correct(&judging, &weights)];
            let mut descent = Descent::new(own.clone(), weights, StepOptions { margin, step, ..method_options.steps });
            let mut rng = random::seeded(1);
            let mut fastest = f64::INFINITY;
            let mut loss = 0.0;
            for epoch in 1..=epochs {
                let start = Instant::now();
                loss = descent.epoch(method, &mut rng, &progress)?;
                fastest = fastest.min(start.elapsed().as_secs_f64());
                counts.push(correct(&judging, &descent.mean()));
                if refresh > 0 && epoch % refresh == 0 && epoch < epochs {
                    set(&mut machine, &descent.lists().numbering().split(descent.weights()))?;
                    descent.refresh(own_lists(&machine, size)?);
                    judging = held_lists(&machine, &held, size)?;
                }
            }
            let epoch_ms = fastest * 1e3 / descent.lists().images.len() as f64;
            let changed = descent.mean().iter().filter(|weight| **weight != 0.0).count();
            println!(
                "# fold {fold:?} margin {margin} step {step}: lists {list_ms:.1} ms an image, epochs {epoch_ms:.3} ms an image, last loss {loss:.4}, {changed} weights, right {counts:?} of {}",
                held.len()
            );
            if settings.len() == 1 {
                set(&mut machine, &descent.lists().numbering().split(&descent.mean()))?;
                println!("# fold {fold:?}: full scores {:.4}", accuracy(&machine, &whole, &is_held));
                let (unused, weights) = without_unused(descent.lists(), &descent.mean());
                set(&mut machine, &descent.lists().numbering().split(&weights))?;
                println!(
                    "# fold {fold:?}: full scores {:.4} without {unused} of {} elements that were never the best",
                    accuracy(&machine, &whole, &is_held),
                    weights.len()
                );
            }
            right[setting].push(counts);
        }
        tested.push(held.len());
    }
    let all: usize = tested.iter().sum();
    if all == 0 {
        return Ok(());
    }
    for ((margin, step), folds) in settings.iter().zip(&right) {
        let by_epoch: Vec<String> =
            (0..=epochs).map(|e| format!("{:.4}", folds.iter().map(|counts| counts[e]).sum::<usize>() as f64 / all as f64)).collect();
        println!("margin {margin} step {step}: all folds {}", by_epoch.join(" "));
        for ((fold, counts), n) in folds_of.iter().zip(folds).zip(&tested) {
            let shares: Vec<String> = counts.iter().map(|count| format!("{:.4}", *count as f64 / *n as f64)).collect();
            println!("margin {margin} step {step}: fold {fold:?} {}", shares.join(" "));
        }
    }
    Ok(())
}

/// The share of right answers on the images of `whole` that were held back from `machine`.
fn accuracy(machine: &Ckm, whole: &Ckm, is_held: &dyn Fn(&Example) -> bool) -> f64 {
    let held: Vec<_> = whole.examples().filter(|(_, e)| is_held(e)).collect();
    let is_right = |(class, e): &&(ClassId, &Example)| {
        let best = machine.scores(&e.elements.get(), Without::Nothing).ranking()[0].0;
        machine.classes()[best.index()].name == whole.classes()[class.index()].name
    };
    held.iter().filter(is_right).count() as f64 / held.len().max(1) as f64
}

fn own_lists(ckm: &Ckm, size: ListSize) -> Result<Lists> {
    let own: Vec<_> = ckm.examples().map(|(class, e)| (class, e.elements.get(), e.without_itself())).collect();
    let queries: Vec<_> = own.iter().map(|(class, elements, without)| (*class, &**elements, *without)).collect();
    Lists::make(ckm, &queries, size, &Progress::default())
}

fn held_lists(ckm: &Ckm, held: &[(ClassId, &Example)], size: ListSize) -> Result<Lists> {
    let held: Vec<_> = held.iter().map(|(class, e)| (*class, e.elements.get())).collect();
    let queries: Vec<_> = held.iter().map(|(class, elements)| (*class, &**elements, Without::Nothing)).collect();
    Lists::make(ckm, &queries, size, &Progress::default())
}

fn correct(lists: &Lists, weights: &[f32]) -> usize {
    (0..lists.images.len())
        .filter(|&i| {
            let scores = lists.scores(i, weights);
            scores[1..].iter().all(|score| *score < scores[0])
        })
        .count()
}

/// The weights with those elements pushed out of reach that make no score of a training image by
/// its class or a rival, and how many these are.
fn without_unused(lists: &Lists, weights: &[f32]) -> (usize, Vec<f32>) {
    let mut is_used = vec![false; weights.len()];
    for (i, image) in lists.images.iter().enumerate() {
        for c in 0..image.classes.len() {
            lists.score(i, c, weights, Some(&mut |element, _| is_used[element as usize] = true));
        }
    }
    let unused = is_used.iter().filter(|used| !**used).count();
    (unused, weights.iter().zip(is_used).map(|(weight, used)| if used { *weight } else { -1e3 }).collect())
}

fn set(ckm: &mut Ckm, weights: &[Vec<Vec<f32>>]) -> Result<()> {
    let ids: Vec<_> = ckm.examples().map(|(_, e)| e.id).collect();
    for (id, weights) in ids.into_iter().zip(weights) {
        ckm.set_weights(id, weights)?;
    }
    Ok(())
}
