//! Descent on the squared hinge of leave-object-out scores, by candidate lists.
//!
//! The loss of an image is `max(0, margin + S' - S)^2`, where S is the score of its own class and
//! S' the best of another, both without the image's object.

use rand::seq::SliceRandom;

use super::lists::Lists;
use crate::error::Result;
use crate::progress::Progress;
use crate::random::Rng;

/// The order and the size of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A step after each image, images in random order.
    Stochastic,
    /// The paper's: a step in the weights of one training image at a time, by the losses of all
    /// images. O(images^2) an epoch, so for small sets.
    Blocks,
}

/// What descent minimises and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// The lead that an image's own class should have, in units of scores.
    pub margin: f64,
    /// The weights' step along the gradient.
    pub step: f64,
    /// The lowest weight, 0 or less.
    pub lowest: f32,
    /// The highest weight, 0 or more. Above 0 an element may be raised so far that it is the best
    /// for images in whose lists it is not, which neither loss nor gradient can see.
    pub highest: f32,
}

/// Elements, and how much a loss grows with their weights; an element may come more than once.
type Gradient = Vec<(u32, f64)>;

/// The loss of image `i` at `weights`; `gradient` is told of each element that the loss grows with,
/// and by how much.
pub fn loss(lists: &Lists, i: usize, weights: &[f32], margin: f64, gradient: &mut dyn FnMut(u32, f64)) -> f64 {
    let scores = lists.scores(i, weights);
    let others = (1..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)));
    let Some(other) = others else { return 0.0 };
    let short = margin + scores[other] - scores[0];
    if short <= 0.0 {
        return 0.0;
    }
    for (class, sign) in [(other, 2.0), (0, -2.0)] {
        lists.score(i, class, weights, Some(&mut |element, slope| gradient(element, sign * short * f64::from(slope))));
    }
    short * short
}

/// Weights on their way down, and their mean over all steps so far.
#[derive(Debug)]
pub struct Descent {
    lists: Lists,
    options: StepOptions,
    weights: Vec<f32>,
    /// For each weight, the sum of its changes times the number of steps that came before: the mean
    /// over steps follows from it without a pass over all weights at every step.
    late: Vec<f64>,
    steps: u64,
    /// For each training image, the images whose lists have elements of it; made when first needed.
    mentions: Option<Vec<Vec<u32>>>,
}

impl Descent {
    /// Begins at `weights`, one for each element that `lists` number.
    pub fn new(lists: Lists, weights: Vec<f32>, options: StepOptions) -> Self {
        let late = vec![0.0; weights.len()];
        Self { lists, options, weights, late, steps: 0, mentions: None }
    }

    /// Goes on with other lists of the same images and the same machine.
    pub fn refresh(&mut self, lists: Lists) {
        (self.lists, self.mentions) = (lists, None);
    }

    /// The lists that it goes by.
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// The weights now.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The mean of the weights over all steps.
    pub fn mean(&self) -> Vec<f32> {
        let steps = self.steps.max(1) as f64;
        self.weights.iter().zip(&self.late).map(|(w, late)| (f64::from(*w) - late / steps) as f32).collect()
    }

    /// One pass over all images. Equal on any number of threads. Returns the mean loss as images
    /// met it.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub fn epoch(&mut self, method: Method, rng: &mut Rng, progress: &Progress) -> Result<f64> {
        match method {
            Method::Stochastic => self.images_in_turn(rng, progress),
            Method::Blocks => self.blocks_in_turn(progress),
        }
    }

    fn images_in_turn(&mut self, rng: &mut Rng, progress: &Progress) -> Result<f64> {
        let mut order: Vec<usize> = (0..self.lists.images.len()).collect();
        order.shuffle(rng);
        let mut total = 0.0;
        let mut gradient = Gradient::new();
        for i in order {
            progress.step()?;
            gradient.clear();
            total += loss(&self.lists, i, &self.weights, self.options.margin, &mut |element, slope| gradient.push((element, slope)));
            // An element may be the best of several query elements.
            for &(element, slope) in &gradient {
                self.change(element, slope);
            }
            self.steps += 1;
        }
        Ok(total / self.lists.images.len().max(1) as f64)
    }

    fn blocks_in_turn(&mut self, progress: &Progress) -> Result<f64> {
        let mentions = self.mentions.take().unwrap_or_else(|| self.lists.mentions());
        let mut known: Vec<Option<(f64, Gradient)>> = vec![None; self.lists.images.len()];
        let mut block = Gradient::new();
        for (image, mentions) in mentions.iter().enumerate() {
            progress.step()?;
            block.clear();
            for &i in mentions {
                let (_, gradient) = &*known[i as usize].get_or_insert_with(|| self.loss_and_gradient(i as usize));
                block.extend(gradient.iter().filter(|(element, _)| self.lists.numbering().image(*element) as usize == image));
            }
            for &(element, slope) in &block {
                self.change(element, slope);
            }
            if !block.is_empty() {
                mentions.iter().for_each(|&i| known[i as usize] = None);
            }
            self.steps += 1;
        }
        self.mentions = Some(mentions);
        let losses = known.into_iter().enumerate().map(|(i, known)| known.unwrap_or_else(|| self.loss_and_gradient(i)).0);
        Ok(losses.sum::<f64>() / self.lists.images.len().max(1) as f64)
    }

    fn loss_and_gradient(&self, i: usize) -> (f64, Gradient) {
        let mut gradient = Gradient::new();
        let loss = loss(&self.lists, i, &self.weights, self.options.margin, &mut |element, slope| gradient.push((element, slope)));
        (loss, gradient)
    }

    fn change(&mut self, element: u32, slope: f64) {
        let weight = &mut self.weights[element as usize];
        let before = *weight;
        let StepOptions { step, lowest, highest, .. } = self.options;
        *weight = ((f64::from(before) - step * slope) as f32).clamp(lowest, highest);
        self.late[element as usize] += f64::from(*weight - before) * self.steps as f64;
    }
}
