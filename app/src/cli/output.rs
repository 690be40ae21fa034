//! Where words and JSON go: answers to stdout, everything else to stderr.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::error::display;
use tessera_core::progress::Progress;

use super::args::Global;

/// The two streams and who gets what.
pub(super) struct Output {
    json: bool,
    quiet: bool,
}

impl Output {
    pub(super) fn new(global: &Global) -> Self {
        Self { json: global.json, quiet: global.quiet }
    }

    /// The answer: as one line of JSON where that was asked for, otherwise in words.
    pub(super) fn answer(&self, json: impl FnOnce() -> Value, words: impl FnOnce() -> String) {
        let line = if self.json { json().to_string() } else { words() };
        if writeln!(io::stdout().lock(), "{line}").is_err() {
            // Whoever read the answers has gone.
            std::process::exit(0);
        }
    }

    /// Something worth knowing beside the answer.
    pub(super) fn note(&self, words: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{}", words.trim_end());
        }
    }

    /// Something that went wrong.
    pub(super) fn complain(&self, words: &str) {
        let _ = writeln!(io::stderr().lock(), "tessera: {words}");
    }

    /// Does `work` and meanwhile shows on a terminal how far it has come.
    pub(super) fn watched<T>(&self, progress: &Progress, work: impl FnOnce() -> T) -> T {
        if self.quiet || !io::stderr().is_terminal() {
            return work();
        }
        let (done, is_done) = mpsc::channel::<()>();
        let progress = progress.clone();
        let watcher = thread::spawn(move || {
            let mut shown = false;
            while is_done.recv_timeout(Duration::from_millis(250)) == Err(RecvTimeoutError::Timeout) {
                let now = progress.snapshot();
                let _ = match now.total {
                    0 => write!(io::stderr().lock(), "\r\x1b[K{} {}", now.stage, now.done),
                    total => write!(io::stderr().lock(), "\r\x1b[K{} {} of {total}", now.stage, now.done),
                };
                shown = true;
            }
            if shown {
                let _ = write!(io::stderr().lock(), "\r\x1b[K");
            }
        });
        let result = work();
        drop(done);
        let _ = watcher.join();
        result
    }
}

/// Files that failed: each is complained about, and listed in the report where one was asked for.
pub(super) struct Failures<'a> {
    out: &'a Output,
    report: Option<BufWriter<File>>,
    n: usize,
}

impl<'a> Failures<'a> {
    /// Starts the list, and the report file at `path`.
    pub(super) fn new(out: &'a Output, path: Option<&Path>) -> anyhow::Result<Self> {
        let create = |path: &Path| File::create(path).map_err(Error::io("write", path)).map(BufWriter::new);
        Ok(Self { out, report: path.map(create).transpose()?, n: 0 })
    }

    /// A file that failed.
    pub(super) fn file(&mut self, path: &Path, error: &Error) -> anyhow::Result<()> {
        self.out.complain(&error.to_string());
        self.n += 1;
        self.line(path, error.reason(), &error.to_string())
    }

    /// A file that was passed over, which is worth a line but is no failure.
    pub(super) fn passed_over(&mut self, path: &Path, reason: &str, detail: &str) -> anyhow::Result<()> {
        self.line(path, reason, detail)
    }

    /// How many failed.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    fn line(&mut self, path: &Path, reason: &str, detail: &str) -> anyhow::Result<()> {
        match &mut self.report {
            Some(file) => {
                writeln!(file, "{}", json!({"path": display(path), "reason": reason, "detail": detail})).context("cannot write the report")
            }
            None => Ok(()),
        }
    }

    /// Puts the report on disk.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.report.map_or(Ok(()), |mut file| file.flush().context("cannot write the report"))
    }
}
