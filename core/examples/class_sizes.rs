//! Measures what a class that is larger than the others does to them.
//!
//! usage: class_sizes [TRAIN TEST IMAGES DRAWS]
//!
//! IMAGES of each class are learned, drawn at random from a third of its objects where these are
//! known; then each class in turn gets 3 and 10 times as many, by images of other objects. A line
//! is printed for each factor: the change of the mean recall of the other classes, of the large
//! class's recall and of the mean over all classes, in points, with and without class terms; means
//! over all classes and draws, with standard errors where there are several draws. Without folders,
//! toys are painted into temporary ones.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::collections::BTreeSet;

use rand::seq::SliceRandom as _;
use tessera_core::Result;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, Example};
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::error::Error;
use tessera_core::eval::recognition::{learn, test};
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;
use tessera_core::random;

/// Recalls of all classes without and with class terms, by a machine of some of the images.
fn recalls(all: &Ckm, chosen: &[(String, Vec<Example>)], test_set: &Dataset) -> Result<[Vec<f64>; 2]> {
    let progress = Progress::default();
    let mut ckm = Ckm::new(all.options().clone())?;
    for (class, examples) in chosen {
        examples.iter().try_for_each(|example| ckm.add(class, example.clone()))?;
    }
    let of = |ckm: &Ckm| -> Result<Vec<f64>> {
        let estimate = test(ckm, test_set, |_| true, &InProcess::default(), &progress)?.estimate().unwrap_or_default();
        Ok(estimate.recalls.into_iter().map(|recall| recall.map_or(0.0, |recall| recall.value)).collect())
    };
    let without = of(&ckm)?;
    let terms = judge(&ckm, 400, &mut random::seeded(0), Vec::new(), &progress)?.terms;
    ckm.set_terms(terms);
    Ok([without, of(&ckm)?])
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let progress = Progress::default();
    let (train, tests, images, draws) = match arguments.as_slice() {
        [train, tests, images, draws] => (train.into(), tests.into(), images.parse().unwrap_or(10), draws.parse().unwrap_or(1)),
        _ => {
            let options = ToyOptions { instances: 12, views: 3, side: 64, format: ToyFormat::NorbNames, ..ToyOptions::default() };
            generate(&options, folder.path(), &progress)?;
            (folder.path().join("train"), folder.path().join("test"), 3, 1)
        }
    };
    let (train, tests) =
        (Dataset::open(&train, &OpenOptions::default(), &progress)?, Dataset::open(&tests, &OpenOptions::default(), &progress)?);
    let all = learn(&train, |_| true, &Preset::Mixed.options(), &InProcess::default(), &progress)?.ckm;
    let n = all.classes().len();
    let mut changes = vec![[[[0.0; 3]; 2]; 2]; draws as usize];
    let mut means = [0.0; 2];
    for draw in 0..draws {
        let mut rng = random::seeded(draw);
        let mut order: Vec<(String, Vec<Example>)> = Vec::new();
        for class in all.classes() {
            let mut groups: Vec<String> = class.examples.iter().filter_map(|example| example.group.clone()).collect();
            groups.sort();
            groups.dedup();
            groups.shuffle(&mut rng);
            let first: BTreeSet<&String> = groups.iter().take(groups.len().div_ceil(3).max(2)).collect();
            let mut examples: Vec<Example> = class.examples.iter().map(|example| (**example).clone()).collect();
            examples.shuffle(&mut rng);
            examples.sort_by_key(|example| !example.group.as_ref().is_none_or(|group| first.contains(group)));
            let rest = examples.split_off(images.min(examples.len()));
            let (again, other): (Vec<_>, Vec<_>) =
                rest.into_iter().partition(|e| e.group.as_ref().is_some_and(|group| first.contains(group)));
            order.push((class.name.clone(), examples.into_iter().chain(other).chain(again).collect()));
        }
        let of_size = |large: usize, times: usize| -> Vec<(String, Vec<Example>)> {
            let take = |(c, (class, examples)): (usize, &(String, Vec<Example>))| {
                (class.clone(), examples.iter().take(if c == large { times * images } else { images }).cloned().collect())
            };
            order.iter().enumerate().map(take).collect()
        };
        let base = recalls(&all, &of_size(0, 1), &tests)?;
        let mean = |recalls: &[f64]| recalls.iter().sum::<f64>() / n as f64;
        for large in 0..n {
            for (f, times) in [3, 10].into_iter().enumerate() {
                let found = recalls(&all, &of_size(large, times), &tests)?;
                for kind in 0..2 {
                    let others = |recalls: &[f64]| (recalls.iter().sum::<f64>() - recalls[large]) / (n - 1) as f64;
                    let change = [
                        others(&found[kind]) - others(&base[kind]),
                        found[kind][large] - base[kind][large],
                        mean(&found[kind]) - mean(&base[kind]),
                    ];
                    for (sum, change) in changes[draw as usize][f][kind].iter_mut().zip(change) {
                        *sum += 100.0 * change / n as f64;
                    }
                }
            }
        }
        for kind in 0..2 {
            means[kind] += mean(&base[kind]) / draws as f64;
        }
    }
    println!("{n} classes of {images}: mean recall {:.3} without terms, {:.3} with", means[0], means[1]);
    for (f, times) in [3, 10].into_iter().enumerate() {
        for (k, kind) in ["without terms", "with terms"].into_iter().enumerate() {
            let [others, large, mean] = [0, 1, 2].map(|what| {
                let of_draws: Vec<f64> = changes.iter().map(|changes| changes[f][k][what]).collect();
                let mean = of_draws.iter().sum::<f64>() / of_draws.len() as f64;
                let squares: f64 = of_draws.iter().map(|change| (change - mean).powi(2)).sum();
                match of_draws.len() {
                    1 => format!("{mean:+.1}"),
                    n => format!("{mean:+.1} ± {:.1}", (squares / (n * (n - 1)) as f64).sqrt()),
                }
            });
            println!("one {times} times as large, {kind}: others {others}, the large one {large}, mean {mean}");
        }
    }
    Ok(())
}
