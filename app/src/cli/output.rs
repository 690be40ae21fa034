//! Where words and JSON go: answers to stdout, everything else to stderr.

use std::io::{self, Write};

use serde_json::Value;

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
            // Whoever read our answers has gone.
            std::process::exit(0);
        }
    }

    /// Something worth knowing beside the answer.
    pub(super) fn note(&self, words: &str) {
        if !self.quiet {
            self.complain(words);
        }
    }

    /// Something that went wrong.
    pub(super) fn complain(&self, words: &str) {
        let _ = writeln!(io::stderr().lock(), "tessera: {words}");
    }
}
