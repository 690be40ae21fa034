//! Where words and JSON go: answers to stdout, everything else to stderr.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};
use tessera_core::Error;
use tessera_core::data::Skipped;
use tessera_core::error::display;
use tessera_core::progress::{Progress, ProgressSnapshot};

use super::args::Global;
use super::{Done, Told};

/// The two streams and who gets what.
pub(super) struct Output {
    json: bool,
    quiet: bool,
    /// Whether a file has failed so far.
    has_failed: AtomicBool,
}

impl Output {
    pub(super) fn new(global: &Global) -> Self {
        Self { json: global.json, quiet: global.quiet, has_failed: AtomicBool::new(false) }
    }

    /// Whether JSON was asked for.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// The answer: as one line of JSON where that was asked for, otherwise in words.
    pub(super) fn answer(&self, json: impl FnOnce() -> Value, words: impl FnOnce() -> String) {
        self.print(&if self.json { json().to_string() } else { words() });
    }

    /// An answer that is there only where JSON was asked for.
    pub(super) fn json(&self, json: impl FnOnce() -> Value) {
        if self.json {
            self.print(&json().to_string());
        }
    }

    /// A line of JSON for whoever asked in JSON.
    pub(super) fn line(&self, json: &Value) {
        self.print(&json.to_string());
    }

    /// A line on stdout, which is written at once.
    fn print(&self, line: &str) {
        if let Err(error) = writeln!(io::stdout().lock(), "{line}") {
            if error.kind() == io::ErrorKind::BrokenPipe {
                // Whoever read the answers has seen enough; the report is on disk line by line.
                std::process::exit(i32::from(self.has_failed.load(Ordering::Relaxed)));
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
            let mut stage = Stage::begin(progress.snapshot());
            while is_done.recv_timeout(Duration::from_millis(250)) == Err(RecvTimeoutError::Timeout) {
                let _ = write!(io::stderr().lock(), "\r\x1b[K{}", stage.look(progress.snapshot()));
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

/// A stage of work and when it began, as far as a watcher can tell.
struct Stage {
    first: ProgressSnapshot,
    last: ProgressSnapshot,
    since: Instant,
}

impl Stage {
    fn begin(now: ProgressSnapshot) -> Self {
        Self { first: now, last: now, since: Instant::now() }
    }

    /// How far the work has come, in words: the count, the rate and the time left.
    fn look(&mut self, now: ProgressSnapshot) -> String {
        if (now.stage, now.total) != (self.last.stage, self.last.total) || now.done < self.last.done {
            *self = Self::begin(ProgressSnapshot { done: 0, ..now });
        }
        self.last = now;
        let mut words = match now.total {
            0 => format!("{} {}", now.stage, now.done),
            total => format!("{} {} of {total}", now.stage, now.done),
        };
        let rate = (now.done - self.first.done) as f64 / self.since.elapsed().as_secs_f64().max(1e-3);
        if rate > 0.0 && self.since.elapsed() > Duration::from_secs(1) {
            words.push_str(&format!(", {rate:.*} a second", usize::from(rate < 10.0)));
            if now.total > now.done {
                let left = ((now.total - now.done) as f64 / rate).ceil() as u64;
                words.push_str(&format!(", {}:{:02} left", left / 60, left % 60));
            }
        }
        words
    }
}

/// Files that failed: each is complained about, and listed in the report where one was asked for.
pub(super) struct Failures<'a> {
    out: &'a Output,
    report: Option<File>,
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
        self.count();
        self.line(path, error.reason(), &error.to_string())?;
        self.first.get_or_insert(error);
        Ok(())
    }

    /// A file that failed for a reason told in words.
    pub(super) fn line_of(&mut self, path: &Path, reason: &str, detail: &str) -> anyhow::Result<()> {
        self.out.complain(&if detail.contains(&*display(path)) { detail.to_owned() } else { format!("{}: {detail}", display(path)) });
        self.count();
        self.line(path, reason, detail)
    }

    fn count(&mut self) {
        self.failed += 1;
        self.out.has_failed.store(true, Ordering::Relaxed);
    }

    /// How many files have failed so far.
    pub(super) fn failed(&self) -> usize {
        self.failed
    }

    /// Files that were passed over. What could not be read has failed; the rest is worth a line, no
    /// more.
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

    /// A line of the report.
    pub(super) fn line(&mut self, path: &Path, reason: &str, detail: &str) -> anyhow::Result<()> {
        match &mut self.report {
            Some(file) => {
                let line = json!({"path": path.to_string_lossy(), "reason": reason, "detail": detail}).to_string() + "\n";
                file.write_all(line.as_bytes()).context("cannot write the report")
            }
            None => Ok(()),
        }
    }

    /// A command that took in what it could is done, but for the files that failed.
    pub(super) fn end(self) -> anyhow::Result<Done> {
        Ok(if self.failed == 0 { Done::Whole } else { Done::Partly })
    }

    /// Says how a command ended that answered for `answered` files: when there are none, the first
    /// error is its own.
    pub(super) fn finish(self, answered: usize) -> anyhow::Result<Done> {
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

fn create_report(path: &Path) -> Result<File, Error> {
    // Looking into a pipe or a device could wait for ever, and nothing in it can be lost.
    if path.metadata().is_ok_and(|meta| meta.is_file()) && !is_report(path).map_err(Error::io("read", path))? {
        return Err(Error::data(path, "a new file or an older report to replace", "another file", "choose another name for the report"));
    }
    File::create(path).map_err(Error::io("write", path))
}

/// The longest line of a report.
const LONGEST: u64 = 1 << 16;

/// Whether a file is empty or begins as a report does.
fn is_report(path: &Path) -> io::Result<bool> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?.take(LONGEST)).read_until(b'\n', &mut line)?;
    let keys = |value: Value| value.as_object().map(|object| object.keys().cloned().collect::<Vec<_>>());
    let is_line = serde_json::from_slice(&line).ok().and_then(keys).is_some_and(|keys| keys == ["path", "reason", "detail"]);
    Ok(line.is_empty() || is_line)
}
