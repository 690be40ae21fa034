//! Jobs: long work that runs concurrently, each on a thread of its own.

use std::collections::BTreeMap;

use tessera_core::progress::Progress;

use super::Message;
use super::notices::problem;
use super::view::JobView;
use crate::command::JobId;
use crate::job::{Job, JobKind};

/// Whether nobody waits for a job: what the network has looked at is kept, an index or a map is
/// made when it is next needed, and new images get clusters when these are next looked at.
fn can_wait(job: &JobKind) -> bool {
    use JobKind::{AssignClusters, GrowLooks, LayOutMap, LookWithNetwork, PlanImport};
    matches!(job, LookWithNetwork | GrowLooks | LayOutMap | AssignClusters | PlanImport)
}

/// The running jobs.
#[derive(Default)]
pub struct Jobs {
    running: BTreeMap<JobId, Job<Message>>,
    /// Those that the program does by itself, and whether the user has put each off.
    own: BTreeMap<JobId, bool>,
    last: u64,
}

impl Jobs {
    /// The running jobs, the oldest first.
    pub fn list(&self) -> Vec<JobView> {
        self.running.iter().map(|job| self.view(job)).collect()
    }

    /// The running job of a kind.
    pub fn of(&self, kind: &JobKind) -> Option<JobView> {
        self.running.iter().find(|(_, job)| job.kind() == kind).map(|job| self.view(job))
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
    /// [`Jobs::is_busy`] but for the reading of words and pieces, and what the program does by
    /// itself, which it does again.
    pub fn would_lose_work(&self) -> bool {
        let is_lost =
            |(id, job): (&JobId, &Job<Message>)| !can_wait(job.kind()) && *job.kind() != JobKind::CatchUp && !self.own.contains_key(id);
        self.running.iter().any(is_lost)
    }

    /// Whether any job is running that the user waits for, and none of those that were put off.
    pub fn is_busy(&self) -> bool {
        let is_put_off = |id: &JobId| self.own.get(id).copied().unwrap_or_default();
        self.running.iter().any(|(id, job)| !can_wait(job.kind()) && !is_put_off(id))
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

    /// Lets the job of a kind wait whenever something that was asked for is running.
    pub(super) fn let_give_way(&mut self, kind: &JobKind) {
        self.own.extend(self.running.iter().filter(|(_, job)| job.kind() == kind).map(|(id, _)| (*id, false)));
    }

    /// Notes that the user asks for what a job of this kind does by itself.
    pub(super) fn ask_for(&mut self, kind: &JobKind) {
        for (id, job) in self.running.iter().filter(|(_, job)| job.kind() == kind) {
            self.own.remove(id);
            job.pause(false);
        }
    }

    /// Puts off a job that the program does by itself, or lets it go on.
    pub(super) fn put_off(&mut self, id: JobId, is_put_off: bool) {
        if let Some(own) = self.own.get_mut(&id) {
            *own = is_put_off;
        }
    }

    /// Lets what the program does by itself wait while something else is running, and go on after
    /// that unless it was put off.
    pub(super) fn give_way(&mut self) {
        let Self { running, own, .. } = self;
        own.retain(|id, _| running.contains_key(id));
        let is_asked = running.keys().any(|id| !own.contains_key(id));
        for (id, is_put_off) in own {
            if let Some(job) = running.get(id) {
                job.pause(is_asked || *is_put_off);
            }
        }
    }

    /// Cancels the job of a kind and drops its result.
    pub(super) fn stop(&mut self, kind: &JobKind) {
        self.running.retain(|_, job| job.kind() != kind);
    }

    /// Cancels all jobs and drops their results.
    pub(super) fn stop_all(&mut self) {
        self.running.clear();
        self.own.clear();
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

    fn view(&self, (id, job): (&JobId, &Job<Message>)) -> JobView {
        JobView {
            id: *id,
            kind: job.kind().clone(),
            name: job.kind().words().into_owned(),
            snapshot: job.snapshot(),
            elapsed: job.elapsed(),
            stage_elapsed: job.stage_elapsed(),
            stopping: job.is_cancelled(),
            waits: job.is_paused(),
            put_off: self.own.get(id).copied(),
        }
    }
}
