//! Long work away from the interpreter.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tessera_core::progress::Progress;

use crate::errors::exception;

/// Time between looks at signals and progress.
const LOOK: Duration = Duration::from_millis(50);

/// Works on a thread of its own, without the interpreter, which is asked for signals meanwhile and
/// told the progress: `told(stage, done, total)`. Ctrl+C, and whatever `told` raises, cancels the
/// work at its next step.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    told: Option<Py<PyAny>>,
    work: impl FnOnce(&Progress) -> tessera_core::Result<T> + Send,
) -> PyResult<T> {
    let progress = Progress::default();
    thread::scope(|scope| {
        let (done, mut waiting) = channel::<()>();
        let worker = scope.spawn(|| {
            // Dropped at the end, after a panic too.
            let _done = done;
            work(&progress)
        });
        let (mut stopped, mut last) = (None, None);
        loop {
            // A receiver may be lent to another thread only as a whole.
            let waiting = &mut waiting;
            let ended = py.detach(move || waiting.recv_timeout(LOOK)) == Err(RecvTimeoutError::Disconnected);
            let now = progress.snapshot();
            if stopped.is_none() {
                let mut look = py.check_signals();
                if let (Ok(()), Some(told)) = (&look, &told)
                    && !now.stage.is_empty()
                    && last != Some(now)
                {
                    look = told.call1(py, (now.stage, now.done, now.total)).map(drop);
                    last = Some(now);
                }
                if let Err(error) = look {
                    progress.cancel();
                    stopped = Some(error);
                }
            }
            if ended {
                break;
            }
        }
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        match stopped {
            Some(error) => Err(error),
            None => result.map_err(exception),
        }
    })
}
