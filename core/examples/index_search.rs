//! Compares what an index of pieces and a shortlist find with exact search.
//!
//! usage: index_search [TRAIN orb|hog|colour|mixed|OPTIONS.ron PROBES[,PROBES...] [TEST]]
//!
//! Images of TEST are recognised by a machine of those of TRAIN; without TEST each third of TRAIN's
//! objects by one of the other two thirds. A line for each search: the share of right answers
//! without and with class terms, answers (without terms) that differ from exact search's, the share
//! of pairs of elements that are compared (centres of lists included), the recall of the best piece
//! of each element in each class, and milliseconds of wall time. Without arguments toys are painted
//! into a temporary folder.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::Arc;
use std::time::Instant;

use tessera_core::Result;
use tessera_core::ckm::judge::judge;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, Example, Scores, Search, Without};
use tessera_core::data::toys::{ToyFormat, ToyOptions, generate};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::error::Error;
use tessera_core::eval::recognition::learn;
use tessera_core::ids::ClassId;
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;
use tessera_core::random;

/// Queries whose best pieces are looked at one by one.
const TRACED: usize = 24;

/// Training images that class terms are fitted to.
const JUDGED: usize = 400;

/// Of so many queries one has its comparisons counted.
const COUNTED: usize = 10;

/// Images with the names of their classes.
type Images = Vec<(String, Arc<Example>)>;

/// What one search came to, summed over queries.
#[derive(Clone, Default)]
struct Outcome {
    answers: Vec<Option<String>>,
    right: [usize; 2],
    points: u64,
    found: usize,
    looked: usize,
    seconds: f64,
}

fn machine(options: &CkmOptions, images: &Images, search: Search) -> Result<Ckm> {
    let mut ckm = Ckm::new(options.clone())?;
    images.iter().try_for_each(|(class, example)| ckm.add(class, Arc::clone(example)))?;
    ckm.set_search(search)?;
    Ok(ckm)
}

/// For each class and element of some queries the value of its best piece.
fn bests(options: &CkmOptions, train: &Images, tests: &Images, search: Search) -> Result<Vec<f64>> {
    let alone = CkmOptions { neighbours: 0, decompositions: 1, ..options.clone() };
    let ckm = machine(&alone, train, search)?;
    let classes: Vec<ClassId> = (0..ckm.classes().len() as u32).map(ClassId).collect();
    let mut bests = Vec::new();
    for (_, example) in tests.iter().step_by(tests.len().div_ceil(TRACED)) {
        for explanation in ckm.explain(&example.elements.get(), Without::Nothing, &classes) {
            let mut own: Vec<_> = explanation.contributions.iter().map(|c| (c.kind, c.element, c.value)).collect();
            own.sort_by_key(|(kind, element, _)| (*kind, *element));
            bests.extend(own.into_iter().map(|(.., value)| value));
        }
    }
    Ok(bests)
}

fn run(options: &CkmOptions, train: &Images, tests: &Images, searches: &[Search], outcomes: &mut [Outcome]) -> Result<()> {
    let exact = bests(options, train, tests, Search::Exact)?;
    let mut ckm = machine(options, train, Search::Exact)?;
    for (search, outcome) in searches.iter().zip(outcomes) {
        ckm.set_search(*search)?;
        let start = Instant::now();
        let scores: Vec<_> = tests.iter().map(|(_, example)| ckm.scores(&example.elements.get(), Without::Nothing)).collect();
        outcome.seconds += start.elapsed().as_secs_f64();
        let terms = judge(&ckm, JUDGED, &mut random::seeded(0), Vec::new(), &Progress::default())?.terms;
        for (i, ((class, example), mut scores)) in tests.iter().zip(scores).enumerate() {
            let name = |scores: &Scores| scores.ranking().first().map(|(c, _)| ckm.classes()[c.index()].name.clone());
            let answer = name(&scores);
            outcome.right[0] += usize::from(answer.as_ref() == Some(class));
            outcome.answers.push(answer);
            for (score, class) in scores.of.iter_mut().zip(ckm.classes()) {
                *score = score.map(|score| score + scores.mass * terms.of(&class.name));
            }
            outcome.right[1] += usize::from(name(&scores).as_ref() == Some(class));
            if i.is_multiple_of(COUNTED) {
                let cost = ckm.comparisons(&example.elements.get(), Without::Nothing);
                outcome.points += cost.points + cost.nodes;
            }
        }
        let found = bests(options, train, tests, *search)?;
        outcome.looked += exact.len();
        outcome.found += exact.iter().zip(&found).filter(|(exact, found)| (*exact - *found).abs() < 1e-6).count();
    }
    Ok(())
}

fn images(folder: &std::path::Path, options: &CkmOptions) -> Result<Images> {
    let progress = Progress::default();
    let data = Dataset::open(folder, &OpenOptions::default(), &progress)?;
    let ckm = learn(&data, |_| true, options, &InProcess::default(), &progress)?.ckm;
    let of_class =
        |class: &tessera_core::ckm::Class| class.examples.iter().map(|e| (class.name.clone(), Arc::clone(e))).collect::<Images>();
    Ok(ckm.classes().iter().flat_map(of_class).collect())
}

/// A preset, or the options in a file as `tessera eval ckm --print-options` writes them.
fn options(kind: &str) -> Result<CkmOptions> {
    let preset = match kind {
        "orb" => Preset::Orb,
        "hog" => Preset::Hog,
        "colour" => Preset::Colour,
        "mixed" => Preset::Mixed,
        path => {
            let path = std::path::Path::new(path);
            let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
            return ron::from_str(&text)
                .map_err(|error| Error::data(std::path::Path::new(path), "options of a recogniser", error.to_string(), "mend that line"));
        }
    };
    Ok(preset.options())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let (train, kind, probes, tests) = match arguments.as_slice() {
        [train, kind, probes] => (train.into(), kind.as_str(), probes.as_str(), None),
        [train, kind, probes, tests] => (train.into(), kind.as_str(), probes.as_str(), Some(tests.into())),
        _ => {
            let options = ToyOptions { instances: 4, views: 3, side: 64, format: ToyFormat::NorbNames, ..ToyOptions::default() };
            generate(&options, folder.path(), &Progress::default())?;
            (folder.path().join("train"), "mixed", "1,2,8", Some(folder.path().join("test")))
        }
    };
    let options = options(kind)?;
    let probes = probes.split(',').filter_map(|n| n.parse().ok()).map(|probes| Search::Index { probes });
    let searches: Vec<Search> = [Search::Exact, Search::SHORTLIST].into_iter().chain(probes).collect();
    let mut outcomes = vec![Outcome::default(); searches.len()];
    let all = images(&train, &options)?;
    match tests {
        Some(tests) => run(&options, &all, &images(&tests, &options)?, &searches, &mut outcomes)?,
        None => {
            // Objects in the order in which they come, so that each third has some of each class.
            let mut objects: Vec<(String, Option<String>, u32)> = Vec::new();
            for third in 0..3 {
                objects.clear();
                let mut object = |class: &str, example: &Example| {
                    let key = (class.to_owned(), example.group.clone(), if example.group.is_some() { 0 } else { example.id.0 });
                    let at = objects.iter().position(|other| *other == key).unwrap_or(objects.len());
                    if at == objects.len() {
                        objects.push(key);
                    }
                    at % 3
                };
                let (held, rest): (Images, Images) = all.iter().cloned().partition(|(class, example)| object(class, example) == third);
                run(&options, &rest, &held, &searches, &mut outcomes)?;
            }
        }
    }
    println!("{:>30} {:>9} {:>9} {:>8} {:>9} {:>8} {:>8}", "search", "no terms", "terms", "differ", "compared", "recall", "ms");
    let exact = outcomes[0].clone();
    let n = exact.answers.len() as f64;
    for (search, outcome) in searches.iter().zip(&outcomes) {
        println!(
            "{:>30} {:>9.4} {:>9.4} {:>8.4} {:>9.4} {:>8.3} {:>8.2}",
            format!("{search:?}"),
            outcome.right[0] as f64 / n,
            outcome.right[1] as f64 / n,
            exact.answers.iter().zip(&outcome.answers).filter(|(a, b)| a != b).count() as f64 / n,
            outcome.points as f64 / exact.points as f64,
            outcome.found as f64 / outcome.looked as f64,
            1e3 * outcome.seconds / n
        );
    }
    Ok(())
}
