//! A labelling desk without a person: how many suggestions must be corrected until everything is labelled.

use rand::seq::SliceRandom;

use crate::advise::{Adviser, Contextually, Linearly, Mixture, Nearest};
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::online_linear::Rule;
use crate::progress::Progress;
use crate::random;

/// Corrections by one adviser, or by the mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Corrections {
    /// Who suggested.
    pub name: &'static str,
    /// For each order: corrections until everything was labelled. The first example of each class is one in any case.
    pub of: Vec<f64>,
}

impl Corrections {
    /// The mean over orders.
    pub fn mean(&self) -> f64 {
        self.of.iter().sum::<f64>() / self.of.len().max(1) as f64
    }

    /// The standard deviation over orders; 0 of a single one.
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.of.iter().map(|x| (x - mean) * (x - mean)).sum();
        (squares / self.of.len().saturating_sub(1).max(1) as f64).sqrt()
    }
}

/// What came of desks in several orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Desks {
    /// Examples labelled in each order, and their classes.
    pub examples: usize,
    /// Classes.
    pub classes: usize,
    /// The mixture.
    pub mixture: Corrections,
    /// Each adviser alone.
    pub advisers: Vec<Corrections>,
    /// The mixture's trust in each adviser at the end, on average.
    pub trust: Vec<f64>,
    /// The most, over orders, of the mixture's log loss beyond that of the best adviser, and the bound on it.
    pub regret: [f64; 2],
}

impl Desks {
    /// The mixture's corrections over those of the adviser that was best on average.
    pub fn ratio(&self) -> f64 {
        let best = self.advisers.iter().map(Corrections::mean).fold(f64::INFINITY, f64::min);
        self.mixture.mean() / best
    }
}

/// Labels all examples, in each of `orders` orders drawn from `seed`. All advisers hear every label.
///
/// # Errors
/// [`Error::Value`] when there are no examples; [`Error::Cancelled`].
pub fn desks(examples: &[(ClassId, Vec<f64>)], orders: usize, seed: u64, progress: &Progress) -> Result<Desks> {
    let Some((_, first)) = examples.first() else {
        return Err(Error::value("desk", "examples to label", "none"));
    };
    let d = first.len();
    let mut classes: Vec<ClassId> = examples.iter().map(|(class, _)| *class).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut made: Option<Desks> = None;
    progress.begin("Labelling", (examples.len() * orders) as u64);
    for order in 0..orders as u64 {
        let mut rng = random::stream(seed, order);
        let mut places: Vec<usize> = (0..examples.len()).collect();
        places.shuffle(&mut rng);
        let mut advisers: Vec<Box<dyn Adviser<[f64]>>> = vec![
            Box::new(Contextually::new(d)?),
            Box::new(Nearest::new(d)),
            Box::new(Linearly::new(Rule::PassiveAggressive { aggressiveness: 1.0 }, d)),
            Box::new(Linearly::new(Rule::Perceptron, d)),
            Box::new(Linearly::new(Rule::SecondOrder { ridge: 1.0 }, d)),
        ];
        // Nearest neighbours need but one example of a class.
        let mut mixture = Mixture::favouring(1, advisers.len())?;
        let (mut own, mut each) = (0.0, vec![0.0; advisers.len()]);
        // Classes are numbered as they come: one that nobody has seen must not be a candidate.
        let mut known: Vec<ClassId> = Vec::new();
        for place in places {
            progress.step()?;
            let (class, x) = &examples[place];
            let number = known.iter().position(|known| known == class).unwrap_or_else(|| {
                known.push(*class);
                known.len() - 1
            });
            let truth = &ClassId(number as u32);
            let opinions = advisers.iter_mut().map(|adviser| adviser.opinion(x, &mut rng)).collect::<Result<Vec<_>>>()?;
            let advice = mixture.combine(&opinions);
            let corrected = |suggested: Option<ClassId>| f64::from(u8::from(suggested != Some(*truth)));
            own += corrected(advice.suggestion());
            each.iter_mut().zip(&advice.each).for_each(|(sum, suggested)| *sum += corrected(*suggested));
            mixture.learn(&advice, *truth)?;
            for adviser in &mut advisers {
                adviser.learn(x, *truth, &mut rng)?;
            }
        }
        let (log_loss, log_losses) = mixture.log_losses();
        let best = log_losses.iter().take(advisers.len()).copied().fold(f64::INFINITY, f64::min);
        let total = made.get_or_insert_with(|| Desks {
            examples: examples.len(),
            classes: classes.len(),
            mixture: Corrections { name: "mixture", of: Vec::new() },
            advisers: advisers.iter().map(|adviser| Corrections { name: adviser.name(), of: Vec::new() }).collect(),
            trust: vec![0.0; advisers.len()],
            regret: [f64::NEG_INFINITY, mixture.regret_bound(0)],
        });
        total.mixture.of.push(own);
        total.advisers.iter_mut().zip(&each).for_each(|(corrections, n)| corrections.of.push(*n));
        total.trust.iter_mut().zip(mixture.trust()).for_each(|(sum, trust)| *sum += trust / orders as f64);
        total.regret[0] = total.regret[0].max(log_loss - best);
    }
    made.ok_or_else(|| Error::Option { name: "orders", found: "0".into(), expected: "1 or more" })
}
