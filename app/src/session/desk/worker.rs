//! A thread that does short tasks in the order in which they were asked for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::thread;

use crate::job::last_words;

type Task = Box<dyn FnOnce() + Send>;

/// The thread; it ends when this is dropped and its last task is done.
pub(super) struct Worker {
    tasks: Sender<Task>,
}

impl Worker {
    /// Starts the thread. `complain` hears of tasks that panicked.
    pub(super) fn new(name: &str, complain: impl Fn(String) + Send + 'static) -> std::io::Result<Self> {
        let (tasks, queue) = mpsc::channel::<Task>();
        thread::Builder::new().name(name.into()).spawn(move || {
            for task in queue {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(task)) {
                    complain(last_words(&*panic));
                }
            }
        })?;
        Ok(Self { tasks })
    }

    /// Asks for a task.
    pub(super) fn run(&self, task: impl FnOnce() + Send + 'static) {
        // The thread outlives every sender.
        let _ = self.tasks.send(Box::new(task));
    }
}
