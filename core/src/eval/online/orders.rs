//! Orders in which people label: at random, folder by folder, object by object, in runs of photos.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::error::{Error, Result};
use crate::random::Rng;

/// An order in which all items are labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamOrder {
    /// Uniformly at random.
    Random,
    /// Class after class, the classes in random order; within a class in the order of the files.
    Folder,
    /// Object after object, the objects in random order; within an object in the order of the
    /// files.
    Instance,
    /// As photos are taken: a run of pictures of one object in the order of the files, then of
    /// another, until all are labelled. Where objects are not known, runs of one class in random
    /// order. A run ends with chance 1/8 after each picture.
    Runs,
}

/// The chance that a run ends.
const END: f64 = 1.0 / 8.0;

impl StreamOrder {
    /// A random order of examples of these classes, and objects if they are known, both numbered
    /// from 0. O(examples).
    ///
    /// # Errors
    /// [`Error::Option`] when objects must be known and are not.
    pub fn draw(self, classes: &[usize], objects: Option<&[usize]>, rng: &mut Rng) -> Result<Vec<usize>> {
        let by = |of: &[usize]| {
            let mut parts = vec![Vec::new(); of.iter().max().map_or(0, |most| most + 1)];
            of.iter().enumerate().for_each(|(place, &part)| parts[part].push(place));
            parts
        };
        match (self, objects) {
            (Self::Random, _) => {
                let mut places: Vec<usize> = (0..classes.len()).collect();
                places.shuffle(rng);
                Ok(places)
            }
            (Self::Folder, _) => {
                let mut parts = by(classes);
                parts.shuffle(rng);
                Ok(parts.concat())
            }
            (Self::Instance, Some(objects)) => {
                let mut parts = by(objects);
                parts.shuffle(rng);
                Ok(parts.concat())
            }
            (Self::Instance, None) => Err(Error::Option {
                name: "order",
                found: "instance".into(),
                expected: "one of random, folder and runs where objects are not known (--groups tells them)",
            }),
            (Self::Runs, Some(objects)) => Ok(runs(by(objects), classes.len(), rng)),
            (Self::Runs, None) => {
                let mut parts = by(classes);
                parts.iter_mut().for_each(|part| part.shuffle(rng));
                Ok(runs(parts, classes.len(), rng))
            }
        }
    }
}

/// Takes runs from parts, each drawn in proportion to what is left of it.
fn runs(mut parts: Vec<Vec<usize>>, n: usize, rng: &mut Rng) -> Vec<usize> {
    parts.iter_mut().for_each(|part| part.reverse());
    let mut places = Vec::with_capacity(n);
    while places.len() < n {
        let mut at = rng.random_range(0..n - places.len());
        let is_it = |part: &&mut Vec<usize>| {
            let here = at < part.len();
            at = at.saturating_sub(part.len());
            here
        };
        let Some(part) = parts.iter_mut().find(is_it) else { break };
        while let Some(place) = part.pop() {
            places.push(place);
            if rng.random::<f64>() < END {
                break;
            }
        }
    }
    places
}
