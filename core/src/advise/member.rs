//! The kinds of advisers that an ensemble may have, and one adviser of any kind.

use std::sync::Arc;

use super::advisers::{Adviser, ContextualAdviser, LinearAdviser, MemoryAdviser};
use super::mixture::Opinion;
use super::neighbours::{LocalMeans, Nearest, NeighbourVote};
use super::views::{Views, small_dimension};
use crate::bytes::{Reader, Writer};
use crate::cmt::{Cmt, CmtOptions};
use crate::error::Result;
use crate::ids::ClassId;
use crate::online_linear::Rule;
use crate::random::Rng;

/// Leaves of the memory of captions that are searched for each query.
const LEAVES: usize = 8;
/// The most classes that contextual search learns: it keeps a knowledge set for each pair of them,
/// in every checkpoint.
const APART: usize = 64;

/// A kind of adviser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviserKind {
    /// Contextual search, or the averaged Perceptron while that errs less, over the small view.
    Contextual,
    /// Passive-aggressive, PA-I with C = 1, over the whole vector.
    PassiveAggressive,
    /// The nearest example of each class.
    Nearest,
    /// The five nearest examples.
    NeighbourVote,
    /// The mean of the three nearest examples of each class.
    LocalMeans,
    /// The Perceptron over the whole vector.
    Perceptron,
    /// The second-order Perceptron over the whole vector.
    SecondOrder,
    /// A memory tree of words; it has no opinion on an item without words.
    Captions,
    /// The recogniser, whose opinion comes with the views.
    Recogniser,
    /// The recogniser's likeness of whole images, a ridge regression; it comes with the views, too.
    WholeImages,
}

impl AdviserKind {
    /// The advisers that a library's images are labelled with.
    pub const SERVED: [Self; 6] =
        [Self::Contextual, Self::PassiveAggressive, Self::Nearest, Self::Captions, Self::Recogniser, Self::WholeImages];

    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Nearest,
        Self::Contextual,
        Self::NeighbourVote,
        Self::LocalMeans,
        Self::PassiveAggressive,
        Self::Perceptron,
        Self::SecondOrder,
        Self::Captions,
        Self::Recogniser,
        Self::WholeImages,
    ];

    /// Its name in tables, in JSON and in the window.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contextual => "contextual",
            Self::PassiveAggressive => "pa",
            Self::Nearest => "nearest",
            Self::NeighbourVote => "neighbours",
            Self::LocalMeans => "local-means",
            Self::Perceptron => "perceptron",
            Self::SecondOrder => "second-order",
            Self::Captions => "captions",
            Self::Recogniser => "recogniser",
            Self::WholeImages => "whole-images",
        }
    }
}

/// An adviser of any kind.
#[derive(Clone, Debug)]
pub(super) enum Member {
    Contextual(ContextualAdviser),
    Linear(LinearAdviser),
    Nearest(Nearest),
    NeighbourVote(NeighbourVote),
    LocalMeans(LocalMeans),
    Captions(MemoryAdviser),
    Recogniser,
    WholeImages,
}

impl Member {
    /// An untrained adviser, for whole vectors of `dimension` components.
    pub(super) fn new(kind: AdviserKind, dimension: usize) -> Result<Self> {
        Ok(match kind {
            AdviserKind::Contextual => Self::Contextual(ContextualAdviser::new(small_dimension(dimension))?),
            AdviserKind::PassiveAggressive => Self::Linear(LinearAdviser::new(Rule::PassiveAggressive { aggressiveness: 1.0 }, dimension)),
            AdviserKind::Nearest => Self::Nearest(Nearest::new(dimension)),
            AdviserKind::NeighbourVote => Self::NeighbourVote(NeighbourVote::new(dimension)),
            AdviserKind::LocalMeans => Self::LocalMeans(LocalMeans::new(dimension)),
            AdviserKind::Perceptron => Self::Linear(LinearAdviser::new(Rule::Perceptron, dimension)),
            AdviserKind::SecondOrder => Self::Linear(LinearAdviser::new(Rule::SecondOrder { ridge: 1.0 }, dimension)),
            AdviserKind::Captions => Self::Captions(MemoryAdviser::new(Cmt::new(&CmtOptions::default())?, LEAVES)),
            AdviserKind::Recogniser => Self::Recogniser,
            AdviserKind::WholeImages => Self::WholeImages,
        })
    }

    pub(super) fn write(&self, out: &mut Writer) {
        match self {
            Self::Contextual(own) => out.put(own),
            Self::Linear(own) => out.put(own),
            Self::Nearest(own) => out.put(own),
            Self::NeighbourVote(own) => out.put(own),
            Self::LocalMeans(own) => out.put(own),
            Self::Captions(own) => out.put(own),
            Self::Recogniser | Self::WholeImages => {}
        }
    }

    pub(super) fn read(kind: AdviserKind, from: &mut Reader<'_>) -> Result<Self> {
        Ok(match kind {
            AdviserKind::Contextual => Self::Contextual(from.get()?),
            AdviserKind::PassiveAggressive | AdviserKind::Perceptron | AdviserKind::SecondOrder => Self::Linear(from.get()?),
            AdviserKind::Nearest => Self::Nearest(from.get()?),
            AdviserKind::NeighbourVote => Self::NeighbourVote(from.get()?),
            AdviserKind::LocalMeans => Self::LocalMeans(from.get()?),
            AdviserKind::Captions => Self::Captions(from.get()?),
            AdviserKind::Recogniser => Self::Recogniser,
            AdviserKind::WholeImages => Self::WholeImages,
        })
    }

    pub(super) fn opinion(&mut self, views: &Views, rng: &mut Rng) -> Result<Opinion> {
        match self {
            Self::Contextual(own) => own.opinion(&views.small, rng),
            Self::Linear(own) => own.opinion(&views.whole, rng),
            Self::Nearest(own) => own.opinion(&views.whole, rng),
            Self::NeighbourVote(own) => own.opinion(&views.whole, rng),
            Self::LocalMeans(own) => own.opinion(&views.whole, rng),
            Self::Captions(_) if views.words.is_empty() => Ok(Opinion::None),
            Self::Captions(own) => own.opinion(&views.words, rng),
            Self::Recogniser => Ok(views.recognised.scores.clone()),
            Self::WholeImages => Ok(views.recognised.whole.clone()),
        }
    }

    pub(super) fn learn(&mut self, views: &Views, truth: ClassId, rng: &mut Rng) -> Result<()> {
        match self {
            Self::Contextual(_) if truth.index() >= APART => Ok(()),
            Self::Contextual(own) => own.learn(&views.small, truth, rng),
            Self::Linear(own) => own.learn(&views.whole, truth, rng),
            Self::Nearest(Nearest(own)) | Self::NeighbourVote(NeighbourVote(own)) | Self::LocalMeans(LocalMeans(own)) => {
                own.learn(Arc::clone(&views.whole), truth)
            }
            Self::Captions(_) if views.words.is_empty() => Ok(()),
            Self::Captions(own) => own.learn(&views.words, truth, rng),
            // They learn outside of the ensemble.
            Self::Recogniser | Self::WholeImages => Ok(()),
        }
    }
}
