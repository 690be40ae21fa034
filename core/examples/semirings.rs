//! Compares the max-sum semiring with the sum-product semiring on folders such as ETH-80: trains on
//! instances 1 to 4, tests on 5 and 6. The temperature of sum-product is chosen on 1 to 4, each
//! image judged without its object.
//!
//! usage: semirings [FOLDER [hog|orb|colour|mixed] [N] [M]]
//!
//! Tests on every Nth image (1) and chooses on every Mth (12). Without a folder, toys are painted
//! into a temporary one.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::path::PathBuf;

use rayon::prelude::*;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::spf::semiring::LogSumProduct;
use tessera_core::ckm::{Ckm, Scores, Without};
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::error::{Error, Result};
use tessera_core::eval::recognition::learn;
use tessera_core::picture::InProcess;
use tessera_core::picture::decode::SIDE;
use tessera_core::progress::Progress;

const TEMPERATURES: [f64; 5] = [0.003, 0.01, 0.03, 0.1, 0.3];

fn is_right(scores: &Scores, ckm: &Ckm, class: &str) -> usize {
    let best = scores.ranking().first().map(|best| best.0);
    usize::from(best.is_some_and(|best| ckm.classes()[best.index()].name == class))
}

/// Scores by the sum-product semiring where the weights of a class's elements sum to one: a class
/// with more elements would otherwise have the larger sum, more so the warmer it is. A weight that
/// all of a class's elements share is a factor of each query element's sum, so of the score.
fn sum_product(ckm: &Ckm, query: &Elements, without: Without<'_>, semiring: &LogSumProduct) -> Scores {
    let mut scores = ckm.sum_product_scores(query, without, semiring);
    for (class, score) in ckm.classes().iter().zip(&mut scores.of) {
        for (k, kind) in ckm.options().kinds.iter().enumerate() {
            let stays = class.examples.iter().filter(|e| without == Without::Nothing || e.without_itself() != without);
            let elements: usize = stays.map(|example| example.elements.get().sets[k].len()).sum();
            let weight = -semiring.temperature() * (elements.max(1) as f64).ln();
            *score = score.map(|score| score + f64::from(kind.kernel.weight) * query.sets[k].len() as f64 * weight);
        }
    }
    scores
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (decoder, progress) = (InProcess::default(), Progress::default());
    let toys = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let (folder, rest) = match arguments.as_slice() {
        [folder, rest @ ..] => (PathBuf::from(folder), rest),
        [] => {
            let options = ToyOptions { instances: 16, views: 3, side: 64, format: ToyFormat::NorbNames, ..ToyOptions::default() };
            generate(&options, toys.path(), &progress)?;
            (toys.path().join("train"), arguments.as_slice())
        }
    };
    let preset = match rest.first().map(String::as_str) {
        None | Some("hog") => Preset::Hog,
        Some("orb") => Preset::Orb,
        Some("colour") => Preset::Colour,
        Some("mixed") => Preset::Mixed,
        Some(other) => return Err(Error::value("elements", "hog, orb, colour or mixed", other)),
    };
    let every = |place: usize, otherwise: usize| rest.get(place).and_then(|n| n.parse().ok()).unwrap_or(otherwise).max(1);
    let data = Dataset::open(&folder, &OpenOptions::default(), &progress)?;
    let is_tested = |i: usize| data.items[i].meta.instance.is_some_and(|instance| instance > 4);
    let options = preset.options();
    let ckm = learn(&data, |i| !is_tested(i), &options, &decoder, &progress)?.ckm;
    println!("{preset:?}, {} training images", ckm.examples().count());

    let judged: Vec<_> = ckm.examples().step_by(every(2, 12)).collect();
    let held_out = |scores: &dyn Fn(&Elements, Without<'_>) -> Scores| {
        let right = judged.iter().map(|(class, example)| {
            is_right(&scores(&example.elements.get(), example.without_itself()), &ckm, &ckm.classes()[class.index()].name)
        });
        right.sum::<usize>() as f64 / judged.len() as f64
    };
    println!("held-out objects of 1 to 4, {} images: max-sum {:.3}", judged.len(), held_out(&|query, without| ckm.scores(query, without)));
    let mut best = (0.0, TEMPERATURES[0]);
    for temperature in TEMPERATURES {
        let semiring = LogSumProduct::at(temperature)?;
        let accuracy = held_out(&|query, without| sum_product(&ckm, query, without, &semiring));
        println!("  sum-product at {temperature}: {accuracy:.3}");
        if accuracy > best.0 {
            best = (accuracy, temperature);
        }
    }

    let tested: Vec<usize> = (0..data.items.len()).filter(|&i| is_tested(i)).step_by(every(1, 1)).collect();
    let cut = |&i: &usize| Elements::of(&data.picture(i, &decoder, SIDE, &progress)?, options.side, &options.kinds).map(|e| (i, e));
    let queries: Vec<(usize, Elements)> = tested.par_iter().map(cut).collect::<Result<_>>()?;
    let accuracy = |scores: &dyn Fn(&Elements) -> Scores| {
        let right = queries.iter().map(|(i, elements)| is_right(&scores(elements), &ckm, data.class_name(data.items[*i].class)));
        right.sum::<usize>() as f64 / queries.len() as f64
    };
    println!("instances 5 and 6, {} images: max-sum {:.3}", queries.len(), accuracy(&|query| ckm.scores(query, Without::Nothing)));
    let semiring = LogSumProduct::at(best.1)?;
    let warm = accuracy(&|query| sum_product(&ckm, query, Without::Nothing, &semiring));
    println!("  sum-product at {}: {warm:.3}", best.1);
    Ok(())
}
