//! Jobs: long work that runs concurrently, each on a thread of its own.

use std::collections::BTreeMap;

use tessera_core::progress::Progress;

use super::Message;
use super::notices::problem;
use super::view::JobView;
use crate::command::JobId;
use crate::job::{Job, JobKind};

/// The running jobs.
#[derive(Default)]
pub struct Jobs {
    running: BTreeMap<JobId, Job<Message>>,
    last: u64,
}

impl Jobs {
    /// The running jobs, the oldest first.
    pub fn list(&self) -> Vec<JobView> {
        self.running.iter().map(view).collect()
    }

    /// The running job of a kind.
    pub fn of(&self, kind: &JobKind) -> Option<JobView> {
        self.running.iter().find(|(_, job)| job.kind() == kind).map(view)
    }

    /// Whether a job of a kind is running.
    pub fn is_running(&self, kind: &JobKind) -> bool {
        self.running.values().any(|job| job.kind() == kind)
    }

    /// Whether images are being imported.
    pub fn is_importing(&self) -> bool {
        self.running.values().any(|job| job.kind().is_import())
    }

    /// Whether any job is running whose work would be lost by closing the program: those of
    /// [`Jobs::is_busy`] but for the reading of words and pieces.
    pub fn would_lose_work(&self) -> bool {
        self.is_busy() && self.running.values().any(|job| *job.kind() != JobKind::CatchUp)
    }

    /// Whether any job is running that the user waits for. What the network has looked at is kept,
    /// an index or a map is made when it is next needed, and new images get clusters when these are
    /// next looked at.
    pub fn is_busy(&self) -> bool {
        let can_wait = |job: &JobKind| {
            use JobKind::{AssignClusters, GrowLooks, LayOutMap, LookWithNetwork, PlanImport};
            matches!(job, LookWithNetwork | GrowLooks | LayOutMap | AssignClusters | PlanImport)
        };
        self.running.values().any(|job| !can_wait(job.kind()))
    }

    /// Starts a job. A running one of the same kind is cancelled first if the kind is replaced
    /// ([`JobKind::is_replaced`]); otherwise the new one is not started. Returns whether it was.
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

    /// Cancels the job of a kind and drops its result.
    pub(super) fn stop(&mut self, kind: &JobKind) {
        self.running.retain(|_, job| job.kind() != kind);
    }

    /// Cancels all jobs and drops their results.
    pub(super) fn stop_all(&mut self) {
        self.running.clear();
    }

    /// Cancels a job; its result is still delivered.
    pub(super) fn cancel(&self, id: JobId) {
        if let Some(job) = self.running.get(&id) {
            job.cancel();
        }
    }

    /// The results of the jobs that have ended since the last call.
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
