//! Long work: jobs that run side by side, each on a thread of its own.

use std::collections::BTreeMap;

use tessera_core::progress::Progress;

use super::Message;
use super::notices::problem;
use super::view::JobView;
use crate::command::JobId;
use crate::job::{Job, JobKind};

/// The jobs under way.
#[derive(Default)]
pub struct Jobs {
    running: BTreeMap<JobId, Job<Message>>,
    last: u64,
}

impl Jobs {
    /// Jobs under way, the oldest first.
    pub fn list(&self) -> Vec<JobView> {
        self.running.iter().map(view).collect()
    }

    /// The job of a kind that is under way.
    pub fn of(&self, kind: &JobKind) -> Option<JobView> {
        self.running.iter().find(|(_, job)| job.kind() == kind).map(view)
    }

    /// Whether a job of a kind is under way.
    pub fn is_running(&self, kind: &JobKind) -> bool {
        self.running.values().any(|job| job.kind() == kind)
    }

    /// Whether images are being imported.
    pub fn is_importing(&self) -> bool {
        self.running.values().any(|job| job.kind().is_import())
    }

    /// Whether anything is under way that would be lost by leaving.
    pub fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Starts a job; one of the same kind that is running makes way for it if that kind is
    /// replaced. Returns whether it was started.
    pub(super) fn start(
        &mut self,
        kind: JobKind,
        progress: Progress,
        wake: impl FnOnce() + Send + 'static,
        work: impl FnOnce(&Progress) -> Result<Message, String> + Send + 'static,
    ) -> bool {
        if kind.is_replaced() {
            self.stop(&kind);
        } else if self.is_running(&kind) {
            return false;
        }
        self.last += 1;
        self.running.insert(JobId(self.last), Job::spawn(kind, progress, wake, work));
        true
    }

    /// Stops the job of a kind, and forgets it.
    pub(super) fn stop(&mut self, kind: &JobKind) {
        self.running.retain(|_, job| job.kind() != kind);
    }

    /// Stops all jobs, and forgets them.
    pub(super) fn stop_all(&mut self) {
        self.running.clear();
    }

    /// Asks a job to stop; what it says of that is heard.
    pub(super) fn cancel(&self, id: JobId) {
        if let Some(job) = self.running.get(&id) {
            job.cancel();
        }
    }

    /// What came of those that have ended since this was last asked.
    pub(super) fn ended(&mut self) -> Vec<Message> {
        let mut outcomes = Vec::new();
        self.running.retain(|_, job| {
            let Some(outcome) = job.poll() else { return true };
            outcomes.push(outcome.unwrap_or_else(|words| problem(format!("{}: {words}", job.kind().words())).into()));
            false
        });
        outcomes
    }
}

fn view((id, job): (&JobId, &Job<Message>)) -> JobView {
    JobView {
        id: *id,
        kind: job.kind().clone(),
        name: job.kind().words().into_owned(),
        snapshot: job.snapshot(),
        elapsed: job.elapsed(),
        stopping: job.is_cancelled(),
    }
}
