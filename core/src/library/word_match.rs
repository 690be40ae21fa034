//! Images found by words without captions: how well what they look like fits the words, by the pair
//! of encoders, and how much that counts beside texts, which thumbs teach.
//!
//! Cosines of images and texts are on a scale of their own in each pair, so an image is compared
//! with others of the library: z is the number of standard deviations by which its cosine lies
//! above the mean of theirs, and its standing is z / 4, 0..=1. To the score of an image with z >= 1
//! it adds its standing times a weight w, where a word that a text has adds up to 1.
//!
//! Texts and looks are two experts that exponential weights combine (Y. Freund and R. Schapire, *A
//! decision-theoretic generalization of on-line learning*, 1997): of each reward r that the user
//! gave an image as an answer to a query, an expert gains r times what it gave that image, t of
//! texts (at most 1) or the standing u. So
//!
//! ```text
//! w = 0.2 exp(Σ r (u - t)),   kept within 0.02..=1.
//! ```
//!
//! It is a function of the rewards that there are: taking one back takes it back exactly.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Library;
use super::event::{ContentHash, Reward};
use super::image_vector::ImageVector;
use super::models::caption_memory::words_of;
use super::state::Image;
use crate::ids::ItemId;
use crate::nearest::TopK;
use crate::text::TextQuery;

/// The weight before anything was taught, and the least and the largest.
const FIRST: f64 = 0.2;
const LIMITS: [f64; 2] = [0.02, 1.0];
/// Standard deviations above the mean that count wholly, and the least that count at all.
const WHOLE: f64 = 4.0;
const LEAST: f64 = 1.0;
/// Images that an image is compared with, at most: those with the smallest hashes, so that the
/// order in which images came does not matter.
const COMPARED: usize = 256;

/// How well what an image looks like fits words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordLikeness {
    /// The cosine of the vectors of the image and of the words, -1..=1.
    pub cosine: f64,
    /// What it adds to the score.
    pub value: f64,
}

/// Words, prepared to be compared with images.
struct Scale {
    text: Arc<Vec<f32>>,
    mean: f64,
    deviation: f64,
}

/// A query, prepared to be compared with what images look like.
pub(super) struct WordMatch<'a> {
    library: &'a Library,
    scale: Scale,
    weight: f64,
}

impl Scale {
    /// `None` where the pair of encoders is not there, or all images fit equally well.
    fn of(library: &Library, words: &str, others: &[&ImageVector]) -> Option<Self> {
        if words.is_empty() || others.is_empty() {
            return None;
        }
        let text = library.text_vector(words)?;
        let cosines: Vec<f64> = others.iter().map(|vector| vector.cosine(&text)).collect();
        let n = cosines.len() as f64;
        let mean = cosines.iter().sum::<f64>() / n;
        let deviation = (cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f64>() / n).sqrt();
        // Less than rounding makes of equal ones.
        (deviation > 1e-6).then_some(Self { text, mean, deviation })
    }

    /// The cosine of an image, and how many standard deviations it lies above the mean.
    fn place(&self, vector: &ImageVector) -> (f64, f64) {
        let cosine = vector.cosine(&self.text);
        (cosine, (cosine - self.mean) / self.deviation)
    }
}

fn standing(z: f64) -> f64 {
    (z / WHOLE).clamp(0.0, 1.0)
}

impl Library {
    /// Prepares a query; `None` without words, or where no pair of encoders is in use and there.
    /// O(images), and O([`COMPARED`] values) for each query that something was said about.
    pub(super) fn word_match(&self, query: &TextQuery) -> Option<WordMatch<'_>> {
        let others = self.compared();
        let scale = Scale::of(self, &words_of(query), &others)?;
        Some(WordMatch { library: self, scale, weight: self.weight_of_looks(&others) })
    }

    /// The vectors that others are compared with.
    fn compared(&self) -> Vec<&ImageVector> {
        let vector = |image: &Arc<Image>| Some((image.content?.hash, self.image_vector(image)?));
        let mut all: Vec<(ContentHash, &ImageVector)> = self.state().images().filter_map(vector).collect();
        all.sort_by_key(|(hash, _)| *hash);
        all.into_iter().take(COMPARED).map(|(_, vector)| vector).collect()
    }

    /// The weight of looks that rewards have taught.
    fn weight_of_looks(&self, others: &[&ImageVector]) -> f64 {
        let mut by_query: BTreeMap<&str, Vec<(ItemId, Reward)>> = BTreeMap::new();
        for ((image, query), reward) in self.caption_memory().rewards() {
            by_query.entry(query).or_default().push((*image, *reward));
        }
        let mut gain = 0.0;
        for (query, rewards) in by_query {
            let Some(scale) = Scale::of(self, query, others) else { continue };
            let query = TextQuery::parse(query);
            let question = self.caption_memory().ask(self.words(), &query);
            for (id, reward) in rewards {
                let Some(vector) = self.state().image(id).and_then(|image| self.image_vector(image)) else { continue };
                let weighed = question.weigh(id);
                let texts: f64 = weighed.terms.iter().map(|term| term.value).sum();
                gain += reward.value() * (standing(scale.place(vector).1) - texts.min(1.0));
            }
        }
        (FIRST * gain.exp()).clamp(LIMITS[0], LIMITS[1])
    }
}

impl WordMatch<'_> {
    /// How well an image fits; `None` where that adds nothing to its score.
    pub(super) fn of(&self, image: ItemId) -> Option<WordLikeness> {
        self.of_image(self.library.state().image(image)?)
    }

    fn of_image(&self, image: &Image) -> Option<WordLikeness> {
        let (cosine, z) = self.scale.place(self.library.image_vector(image)?);
        (z >= LEAST).then(|| WordLikeness { cosine, value: self.weight * standing(z) })
    }

    /// What it adds to the scores of the `k` images that fit best and that `fits` admits. Of equals
    /// the lower identifier comes first. O(images).
    pub(super) fn best(&self, k: usize, fits: impl Fn(ItemId) -> bool) -> BTreeMap<ItemId, f64> {
        let images = self.library.state().images().filter(|image| fits(image.id));
        // The better an image fits, the nearer.
        let distances = images.filter_map(|image| Some((image.id, -self.of_image(image)?.value)));
        TopK::of(k, distances).into_iter().map(|found| (found.id, -found.distance)).collect()
    }
}
