//! Output in words or JSON: answers go to stdout, everything else to stderr.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::Value;
use tessera_core::Error;
use tessera_core::data::Skipped;
use tessera_core::error::display;
use tessera_core::plural::count;
use tessera_core::progress::{Progress, ProgressSnapshot};

use super::args::Global;
use super::{AlreadyPrinted, Done};
use crate::session::file_report;

/// Names that are printed one by one; the rest are counted.
pub(super) const TOLD: usize = 5;
/// What a name means that cannot be used.
pub(super) const NO_IMAGE: &str = "no image of the library";
/// As [`NO_IMAGE`], where many have it.
pub(super) const SEVERAL_IMAGES: &str = "several images of the library";

/// The two output streams, and what is written to which.
pub(super) struct Output {
    json: bool,
    quiet: bool,
    with_head: bool,
    /// Whether a file has failed so far.
    has_failed: AtomicBool,
}

impl Output {
    pub(super) fn new(global: &Global) -> Self {
        Self { json: global.json, quiet: global.quiet, with_head: global.with_head, has_failed: AtomicBool::new(false) }
    }

    /// Whether `--json` was given.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether `--with-head` was given.
    pub(super) fn wants_head(&self) -> bool {
        self.with_head
    }

    /// Prints the answer: as one line of JSON with `--json`, otherwise in words.
    pub(super) fn answer(&self, json: impl FnOnce() -> Value, words: impl FnOnce() -> String) {
        self.print(&if self.json { json().to_string() } else { words() });
    }

    /// Prints an answer only with `--json`.
    pub(super) fn json(&self, json: impl FnOnce() -> Value) {
        if self.json {
            self.print(&json().to_string());
        }
    }

    /// Prints words only without `--json`.
    pub(super) fn words(&self, words: impl FnOnce() -> String) {
        if !self.json {
            self.print(&words());
        }
    }

    /// Prints a line of JSON with `--json`.
    pub(super) fn line(&self, json: &Value) {
        self.print(&json.to_string());
    }

    /// Prints a line on stdout and flushes it.
    fn print(&self, line: &str) {
        if let Err(error) = writeln!(io::stdout().lock(), "{line}") {
            if error.kind() == io::ErrorKind::BrokenPipe {
                // The reader of stdout has gone, so the program ends; the report is on disk line by
                // line.
                std::process::exit(i32::from(self.has_failed.load(Ordering::Relaxed)));
            }
            self.complain(&format!("cannot write the answer: {error}; give it another place"));
            std::process::exit(74);
        }
    }

    /// Prints a note on stderr.
    pub(super) fn note(&self, words: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{}", words.trim_end());
        }
    }

    /// Prints an error on stderr.
    pub(super) fn complain(&self, words: &str) {
        let _ = writeln!(io::stderr().lock(), "tessera: {words}");
    }

    /// Notes the names in a file that are not those of one image of the library.
    pub(super) fn note_names(&self, file: &Path, unmatched: &[String], ambiguous: &[String]) {
        let file = display(file);
        for (names, what) in [(unmatched, NO_IMAGE), (ambiguous, SEVERAL_IMAGES)] {
            for name in names.iter().take(TOLD) {
                self.note(&format!("{file}: `{}` is the name of {what}", display(Path::new(name))));
            }
            if names.len() > TOLD {
                self.note(&format!("{file}: {} more are names of {what}", names.len() - TOLD));
            }
        }
    }

    /// Runs `work`, and meanwhile shows its progress on a terminal.
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

/// A stage of work, and when it was first seen.
struct Stage {
    first: ProgressSnapshot,
    last: ProgressSnapshot,
    since: Instant,
}

impl Stage {
    fn begin(now: ProgressSnapshot) -> Self {
        Self { first: now, last: now, since: Instant::now() }
    }

    /// The progress in words: the count, the rate and the time left.
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

/// Files that failed: each is printed on stderr, and listed in the report if there is one.
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
        let report = path.map(file_report::create).transpose()?;
        Ok(Self { out, report, failed: 0, passed_over: 0, first: None })
    }

    /// Adds a file that failed.
    pub(super) fn file(&mut self, path: &Path, error: Error) -> anyhow::Result<()> {
        self.out.complain(&error.to_string());
        self.count();
        self.line(path, error.reason(), &error.to_string())?;
        self.first.get_or_insert(error);
        Ok(())
    }

    /// Adds a file that failed, with the reason in words.
    pub(super) fn line_of(&mut self, path: &Path, reason: &str, detail: &str) -> anyhow::Result<()> {
        self.out.complain(&if detail.contains(&*display(path)) { detail.to_owned() } else { format!("{}: {detail}", display(path)) });
        self.count();
        self.line(path, reason, detail)
    }

    /// Adds a line of a file that could not be used, wholly or in part; a note tells of the first.
    pub(super) fn bad_line(&mut self, path: &Path, line: usize, detail: &str) -> anyhow::Result<()> {
        self.count();
        let detail = if line > 0 { format!("line {line}: {detail}") } else { detail.to_owned() };
        self.line(path, "line", &detail)
    }

    fn count(&mut self) {
        self.failed += 1;
        self.out.has_failed.store(true, Ordering::Relaxed);
    }

    /// How many files have failed so far.
    pub(super) fn failed(&self) -> usize {
        self.failed
    }

    /// Adds files that were skipped. Those that could not be read have failed; the others only get
    /// a note.
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

    /// Writes a line of the report.
    pub(super) fn line(&mut self, path: &Path, reason: &str, detail: &str) -> anyhow::Result<()> {
        match &mut self.report {
            Some(file) => file_report::line(file, path, reason, detail).context("cannot write the report"),
            None => Ok(()),
        }
    }

    /// Ends a command that has imported what it could: done except for the files that failed.
    pub(super) fn end(self) -> anyhow::Result<Done> {
        Ok(if self.failed == 0 { Done::Whole } else { Done::Partly })
    }

    /// Ends a command that has answered for `answered` files. If there are none, the first file's
    /// error is the command's own.
    pub(super) fn finish(self, answered: usize) -> anyhow::Result<Done> {
        if self.failed + self.passed_over > 0 {
            let (failed, passed_over) = (self.failed, self.passed_over);
            let (done, passed_over) = (count(answered, "image"), count(passed_over, "file"));
            self.out.note(&format!("{done} done, {failed} failed, {passed_over} passed over (--report FILE lists them)"));
        }
        match self.first {
            None => Ok(Done::Whole),
            Some(_) if answered > 0 => Ok(Done::Partly),
            Some(error) => Err(AlreadyPrinted(error).into()),
        }
    }
}
