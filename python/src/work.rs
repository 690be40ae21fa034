//! Long work away from the interpreter.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tessera_core::Error;
use tessera_core::progress::Progress;

use crate::errors::exception;

/// Time between looks at signals and progress.
const LOOK: Duration = Duration::from_millis(50);

/// The process whose threads work.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Refuses to go on in a process that was forked from `process`: only the thread that forked is
/// there, and locks that others held stay locked for ever.
///
/// # Errors
/// `InvalidValueError`.
pub(crate) fn check_process(process: u32) -> PyResult<()> {
    let own = std::process::id();
    if own == process {
        return Ok(());
    }
    let expected = format!("the one that tessera was used in before, {process}");
    let advice = "start processes by `multiprocessing.get_context(\"spawn\")`, or use threads";
    Err(exception(Error::value("process", expected, format!("{own}, which was forked from it; {advice}"))))
}

/// Works on a thread of its own, without the interpreter, which is asked for signals meanwhile and
/// told the progress: `told(stage, done, total)`. Ctrl+C, and whatever `told` raises, cancels the
/// work at its next step. Once it has ended nothing cancels it any more: `told` is told the end,
/// and what it then raises is only reported.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    told: Option<Py<PyAny>>,
    work: impl FnOnce(&Progress) -> tessera_core::Result<T> + Send,
) -> PyResult<T> {
    check_process(*PROCESS.get_or_init(std::process::id))?;
    let progress = Progress::default();
    thread::scope(|scope| {
        let (done, mut waiting) = channel::<()>();
        let worker = scope.spawn(|| {
            // Dropped at the end, after a panic too.
            let _done = done;
            work(&progress)
        });
        let (mut stopped, mut last) = (None, None);
        let mut tell = || {
            let now = progress.snapshot();
            match &told {
                Some(told) if !now.stage.is_empty() && last != Some(now) => {
                    last = Some(now);
                    told.call1(py, (now.stage, now.done, now.total)).map(drop)
                }
                _ => Ok(()),
            }
        };
        loop {
            // A receiver may be lent to another thread only as a whole.
            let waiting = &mut waiting;
            if py.detach(move || waiting.recv_timeout(LOOK)) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            if stopped.is_none()
                && let Err(error) = py.check_signals().and_then(|()| tell())
            {
                progress.cancel();
                stopped = Some(error);
            }
        }
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        if let Some(error) = stopped {
            return Err(error);
        }
        let value = result.map_err(exception)?;
        if let Err(error) = tell() {
            report(py, error, told.as_ref());
        }
        Ok(value)
    })
}

/// Reports an error that came too late to cancel anything. Ctrl+C is raised again, by the
/// interpreter.
fn report(py: Python<'_>, error: PyErr, told: Option<&Py<PyAny>>) {
    let again = || py.import("_thread")?.call_method0("interrupt_main").map(drop);
    if error.is_instance_of::<PyException>(py) || again().is_err() {
        error.write_unraisable(py, told.map(|told| told.bind(py).as_any()));
    }
}
