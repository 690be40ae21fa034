//! Why a class got its score: the winning decomposition traced back to pieces of training images.

use std::collections::BTreeMap;

use super::compare::Queries;
use super::element::Elements;
use super::spf::{NO_IMAGE, Node};
use super::whole::Alike;
use super::{Ckm, Without};
use crate::ids::{ClassId, ItemId};

/// The training element that a query element was matched with.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The training image.
    pub image: ItemId,
    /// Its name.
    pub name: String,
    /// Which of its kind's elements in that image.
    pub element: usize,
    /// Its position in the training image's own pixels.
    pub position: [f32; 2],
    /// Feature distance: bits, or units of the dense kind's feature.
    pub distance: f32,
}

/// One query element's part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// The kind of element, as a position in the machine's list.
    pub kind: usize,
    /// Which of the query's elements of that kind.
    pub element: usize,
    /// Its position in the query's own pixels.
    pub position: [f32; 2],
    /// The training element it was matched with; `None` when the class has no element of the kind.
    pub matched: Option<Match>,
    /// The leaf kernel's likeness, in 0..=1.
    pub likeness: f32,
    /// The leaf kernel's part for position, 0 or less.
    pub nearness: f32,
    /// The learned weight of the training element; 0 where none was learned.
    pub weight: f32,
    /// Half of the pair bonus, where this element and a neighbour were matched within one training
    /// image; else 0.
    pub bonus: f32,
    /// What all this adds to the score: the kind's weight times the sum of the four.
    pub value: f64,
}

/// Why a class got its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The class.
    pub class: ClassId,
    /// Its score.
    pub score: f64,
    /// The class's term (see [`super::class_terms`]), which is part of the score.
    pub term: f64,
    /// What the likeness of whole images adds to the score.
    pub whole: f64,
    /// The training images of the class that add most to that, the largest first.
    pub alike: Vec<Alike>,
    /// One for each piece of the query, the largest first; their values, the term and what the
    /// whole adds sum to the score.
    pub contributions: Vec<Contribution>,
}

impl Explanation {
    /// What favours this class over another: each contribution with its lead over the same query
    /// element's value for `other`, the largest lead first. The leads sum to the difference of the
    /// scores less those of the terms and of the wholes.
    pub fn against<'a>(&'a self, other: &Self) -> Vec<(&'a Contribution, f64)> {
        let theirs: BTreeMap<(usize, usize), f64> = other.contributions.iter().map(|c| ((c.kind, c.element), c.value)).collect();
        let lead = |c: &'a Contribution| (c, c.value - theirs.get(&(c.kind, c.element)).copied().unwrap_or(0.0));
        let mut leads: Vec<_> = self.contributions.iter().map(lead).collect();
        leads.sort_by(|a, b| b.1.total_cmp(&a.1).then((a.0.kind, a.0.element).cmp(&(b.0.kind, b.0.element))));
        leads
    }
}

/// Training images that are named as like the whole query.
const ALIKE: usize = 8;

impl Ckm {
    /// Explains the score of each of `classes` (those that have one) for `query`.
    /// O(query elements * training elements).
    pub fn explain(&self, query: &Elements, without: Without<'_>, classes: &[ClassId]) -> Vec<Explanation> {
        if query.cut != self.cut {
            return Vec::new();
        }
        let evidence = self.evidence(query, without);
        let counts = self.counts(without);
        let mut explanations = Vec::new();
        let classes: Vec<ClassId> = classes.iter().copied().filter(|class| counts.get(class.index()).is_some_and(|&n| n > 0)).collect();
        let parts = self.whole_parts(query, without, &classes, ALIKE);
        for (class, (whole, alike)) in classes.into_iter().zip(parts) {
            let mut contributions = Vec::new();
            let term = self.mass(query) * self.terms.of(&self.classes[class.index()].name);
            let mut score = term + whole;
            for (k, (value, decomposition)) in self.roots(&evidence, class.index()).enumerate() {
                score += value;
                if !self.options.kinds[k].source.has_pieces() {
                    continue;
                }
                let kernel = self.options.kinds[k].kernel;
                let found = &evidence[k].classes[class.index()];
                let architecture = &evidence[k].architecture;
                let queries = self.queries(k, query);
                let value = |j: u32, image: u32| evidence[k].found(class.index(), j as usize, image);
                for node in &architecture.decompositions[decomposition] {
                    match *node {
                        Node::Single(j) => {
                            let (_, image) = found.single(j, kernel.floor());
                            contributions.push(self.contribution(k, query, &queries, class, j as usize, image, value(j, image), 0.0));
                        }
                        Node::Pair(edge) => {
                            let (_, images) = found.pair(edge, &architecture.edges, kernel.pair_bonus, kernel.floor());
                            let bonus = if images[0] == images[1] && images[0] != NO_IMAGE { kernel.pair_bonus / 2.0 } else { 0.0 };
                            let (a, b) = architecture.edges[edge as usize];
                            for (j, image) in [(a, images[0]), (b, images[1])] {
                                contributions.push(self.contribution(k, query, &queries, class, j as usize, image, value(j, image), bonus));
                            }
                        }
                    }
                }
            }
            contributions.sort_by(|a, b| b.value.total_cmp(&a.value).then((a.kind, a.element).cmp(&(b.kind, b.element))));
            explanations.push(Explanation { class, score, term, whole, alike, contributions });
        }
        explanations
    }

    fn queries<'a>(&self, k: usize, query: &'a Elements) -> Queries<'a> {
        Queries::new(&query.sets[k], &self.options.kinds[k])
    }

    #[expect(clippy::too_many_arguments, reason = "a private step of explain, which holds all of these")]
    fn contribution(
        &self,
        kind: usize,
        query: &Elements,
        queries: &Queries<'_>,
        class: ClassId,
        element: usize,
        image: u32,
        value: Option<f32>,
        bonus: f32,
    ) -> Contribution {
        let kernel = self.options.kinds[kind].kernel;
        let example = self.classes[class.index()].examples.get(image as usize);
        let found = example.and_then(|example| {
            let elements = example.elements.get();
            let set = &elements.sets[kind];
            let traced = queries.trace(set, element, value)?;
            let position = elements.to_picture(set.position(traced.element));
            let (image, name) = (example.id, example.name.clone());
            Some((Match { image, name, element: traced.element, position, distance: traced.distance }, traced))
        });
        let (matched, likeness, nearness, weight) = match found {
            Some((matched, traced)) => (Some(matched), traced.likeness, traced.nearness, traced.weight),
            None => (None, 0.0, kernel.floor(), 0.0),
        };
        let sum = f64::from(likeness + nearness + weight) + f64::from(bonus);
        Contribution {
            kind,
            element,
            position: query.to_picture(query.sets[kind].position(element)),
            matched,
            likeness,
            nearness,
            weight,
            bonus,
            value: f64::from(kernel.weight) * sum,
        }
    }
}
