//! A thread that runs short tasks in the order in which they were queued.

use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use tessera_core::error::contained;

use crate::job::mistake;

type Task = Box<dyn FnOnce() + Send>;

/// The thread; it ends when this is finished or dropped and its last task is done.
pub(super) struct Worker {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread. `complain` is called with a message when a task panics.
    pub(super) fn new(name: &str, complain: impl Fn(String) + Send + 'static) -> std::io::Result<Self> {
        let (tasks, queue) = mpsc::channel::<Task>();
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            for task in queue {
                if let Err(words) = contained(task) {
                    complain(mistake(&words));
                }
            }
        })?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Queues a task.
    pub(super) fn run(&self, task: impl FnOnce() + Send + 'static) {
        if let Some(tasks) = &self.tasks {
            // The thread ends only after the sender is dropped.
            let _ = tasks.send(Box::new(task));
        }
    }

    /// Waits until every task is done; later ones are not run.
    pub(super) fn finish(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // Its tasks catch their own panics.
            let _ = thread.join();
        }
    }
}
