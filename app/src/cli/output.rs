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
use tessera_core::data::Skipped;
use tessera_core::progress::Progress;

use super::args::Global;
use super::{Done, Told};

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
        if let Err(error) = writeln!(io::stdout().lock(), "{line}") {
            if error.kind() == io::ErrorKind::BrokenPipe {
                // Whoever read the answers has seen enough.
                std::process::exit(0);
            }
            self.complain(&format!("cannot write the answer: {error}; give it another place"));
            std::process::exit(74);
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
    failed: usize,
    passed_over: usize,
    first: Option<Error>,
}

impl<'a> Failures<'a> {
    /// Starts the list, and the report file at `path`: a new file, or an older report.
    pub(super) fn new(out: &'a Output, path: Option<&Path>) -> anyhow::Result<Self> {
        let report = path.map(create_report).transpose()?;
        Ok(Self { out, report, failed: 0, passed_over: 0, first: None })
    }

    /// A file that failed.
    pub(super) fn file(&mut self, path: &Path, error: Error) -> anyhow::Result<()> {
        self.out.complain(&error.to_string());
        self.line(path, error.reason(), &error.to_string())?;
        self.failed += 1;
        self.first.get_or_insert(error);
        Ok(())
    }

    /// Files that were passed over. What could not be read has failed; the rest is worth a line, no more.
    pub(super) fn skipped(&mut self, skipped: &[Skipped]) -> anyhow::Result<()> {
        for Skipped { path, reason, detail } in skipped {
            if *reason == "io" {
                self.file(path, Error::io("read", path)(io::Error::other(detail.clone())))?;
            } else {
                self.line(path, reason, detail)?;
                self.passed_over += 1;
            }
        }
        Ok(())
    }

    fn line(&mut self, path: &Path, reason: &str, detail: &str) -> anyhow::Result<()> {
        match &mut self.report {
            Some(file) => {
                let line = json!({"path": path.to_string_lossy(), "reason": reason, "detail": detail});
                writeln!(file, "{line}").context("cannot write the report")
            }
            None => Ok(()),
        }
    }

    /// Puts the report on disk and says how a command ended that answered for `answered` files: when there are none, the
    /// first error is its own.
    pub(super) fn finish(self, answered: usize) -> anyhow::Result<Done> {
        if let Some(mut file) = self.report {
            file.flush().context("cannot write the report")?;
        }
        if self.failed + self.passed_over > 0 {
            let (failed, passed_over) = (self.failed, self.passed_over);
            self.out.note(&format!("{answered} images done, {failed} failed, {passed_over} files passed over (--report FILE lists them)"));
        }
        match self.first {
            None => Ok(Done::Whole),
            Some(_) if answered > 0 => Ok(Done::Partly),
            Some(error) => Err(Told(error).into()),
        }
    }
}

fn create_report(path: &Path) -> Result<BufWriter<File>, Error> {
    let is_other = std::fs::read(path).is_ok_and(|bytes| !bytes.is_empty() && !bytes.starts_with(b"{\"path\":"));
    if is_other {
        return Err(Error::data(path, "a new file or an older report to replace", "another file", "choose another name for the report"));
    }
    File::create(path).map(BufWriter::new).map_err(Error::io("write", path))
}
