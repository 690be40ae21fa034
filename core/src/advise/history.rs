//! An ensemble that can unlearn: it goes back to a checkpoint and learns again from there what
//! still holds.

use super::ensemble::Ensemble;
use super::views::Views;
use crate::error::Result;
use crate::ids::{ClassId, ItemId};

/// Labels between checkpoints.
const STEP: usize = 32;
/// The most checkpoints that are kept.
const CHECKPOINTS: usize = 8;

/// A label that was learned.
#[derive(Clone, Debug)]
pub struct LearnedLabel {
    /// The item.
    pub item: ItemId,
    /// Its class.
    pub class: ClassId,
    /// Its views as they were then.
    pub views: Views,
}

/// The ensemble after so many lessons.
struct Checkpoint {
    lessons: usize,
    ensemble: Ensemble,
}

/// An ensemble, the lessons it learned, and checkpoints: one every 32 lessons, 8 at most, the older
/// ones farther apart.
pub struct CheckpointedEnsemble {
    fresh: Ensemble,
    ensemble: Ensemble,
    lessons: Vec<LearnedLabel>,
    checkpoints: Vec<Checkpoint>,
}

impl CheckpointedEnsemble {
    /// A history without lessons, of an ensemble that has learned nothing yet.
    pub fn new(fresh: Ensemble) -> Self {
        Self { ensemble: fresh.clone(), fresh, lessons: Vec::new(), checkpoints: Vec::new() }
    }

    /// The labels that were learned, in order.
    pub fn lessons(&self) -> &[LearnedLabel] {
        &self.lessons
    }

    /// The ensemble as it is now.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// As [`Ensemble::advise`].
    ///
    /// # Errors
    /// As [`Ensemble::advise`].
    pub fn advise(&mut self, views: &Views) -> Result<super::mixture::Advice> {
        self.ensemble.advise(views)
    }

    /// Learns a label.
    ///
    /// # Errors
    /// As [`Ensemble::learn`].
    pub fn learn(&mut self, lesson: LearnedLabel) -> Result<()> {
        let n = self.lessons.len();
        if n.is_multiple_of(STEP) {
            self.checkpoints.push(Checkpoint { lessons: n, ensemble: self.ensemble.clone() });
            if self.checkpoints.len() > CHECKPOINTS {
                self.drop_one();
            }
        }
        self.ensemble.learn(&lesson.views, lesson.class)?;
        self.lessons.push(lesson);
        Ok(())
    }

    /// Goes back to the last checkpoint from before lesson `n`, and returns the lessons learned
    /// since, of which those that still hold are to be learned again.
    pub fn go_back(&mut self, n: usize) -> Vec<LearnedLabel> {
        self.checkpoints.retain(|checkpoint| checkpoint.lessons <= n);
        let last = self.checkpoints.pop().unwrap_or_else(|| Checkpoint { lessons: 0, ensemble: self.fresh.clone() });
        self.ensemble = last.ensemble;
        self.lessons.split_off(last.lessons)
    }

    /// Drops the checkpoint whose loss costs least: that with the smallest ratio of the gap it
    /// leaves to its age, both in lessons.
    fn drop_one(&mut self) {
        let n = self.lessons.len() + 1;
        let gap = |at: usize| {
            let before = at.checked_sub(1).map_or(0, |before| self.checkpoints[before].lessons);
            (self.checkpoints[at + 1].lessons - before) as f64 / (n - self.checkpoints[at].lessons) as f64
        };
        let least = (0..self.checkpoints.len() - 1).min_by(|&a, &b| gap(a).total_cmp(&gap(b)));
        if let Some(least) = least {
            self.checkpoints.remove(least);
        }
    }
}
