//! Requests on stdin, one JSON object a line, each answered with one.

use std::io::{self, BufRead, Read};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tessera_core::Error;
use tessera_core::ids::ItemId;
use tessera_core::json;
use tessera_core::library::Library;

use super::Done;
use super::librarian::{Finder, Librarian, start};

/// The longest line, in bytes.
const LONGEST: u64 = 1 << 20;

/// Answers every line on stdin that is not blank, until the end of input. `act` performs the
/// request of one object and returns what is added to its answer.
pub(super) fn answer_each(
    librarian: &Librarian<'_>,
    library: &mut Library,
    act: impl Fn(&mut Library, ItemId, &Map<String, Value>) -> Result<Value, String>,
) -> anyhow::Result<Done> {
    // A separate thread blocks on stdin, so that this one can be cancelled.
    let (lines, queue) = mpsc::sync_channel(64);
    thread::spawn(move || read_lines(|line| lines.send(line).is_ok()));
    let (progress, mut finder, mut done) = (librarian.session.progress(), Finder::default(), Done::Whole);
    loop {
        if progress.is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        let line = match queue.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => line.map_err(Error::io("read", "stdin"))?,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(done),
        };
        if line.trim_ascii().is_empty() && (line.len() as u64) < LONGEST {
            continue;
        }
        let answer = answer(library, &mut finder, &line, &act).map(|mut answer| {
            librarian.add_head(library, &mut answer);
            answer
        });
        let answer = answer.unwrap_or_else(|error| {
            done = Done::Partly;
            json!({"ok": false, "error": error})
        });
        librarian.out.line(&answer);
    }
}

/// Reads lines and passes them on until `give` returns false.
fn read_lines(give: impl Fn(io::Result<Vec<u8>>) -> bool) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                give(Err(error));
                return;
            }
        }
        // The rest of a line that is too long is skipped.
        if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
            while let Ok(buffer) = input.fill_buf() {
                let end = buffer.iter().position(|byte| *byte == b'\n');
                let used = end.map_or(buffer.len(), |at| at + 1);
                let is_over = end.is_some() || buffer.is_empty();
                input.consume(used);
                if is_over {
                    break;
                }
            }
        }
        if !give(Ok(line)) {
            return;
        }
    }
}

fn answer(
    library: &mut Library,
    finder: &mut Finder,
    line: &[u8],
    act: &impl Fn(&mut Library, ItemId, &Map<String, Value>) -> Result<Value, String>,
) -> Result<Value, String> {
    if line.trim_ascii().is_empty() {
        return Err("expected one JSON object on a line, found only blanks".into());
    }
    let request: Value = json::parse(line).map_err(|error| format!("expected one JSON object on a line, found {error}"))?;
    let Value::Object(request) = request else { return Err("expected a JSON object, found another value".into()) };
    let image = match request.get("image") {
        Some(Value::String(image)) => PathBuf::from(image),
        Some(Value::Number(number)) if number.is_u64() => PathBuf::from(format!("#{number}")),
        Some(other) => return Err(format!("`image` is {}, but it must be a path, \"#ID\" or a number", start(&other.to_string()))),
        None => return Err("expected `image`, found none".into()),
    };
    let id = finder.find(library, &image).map_err(|error| error.to_string())?;
    let mut answer = act(library, id, &request)?;
    answer["ok"] = json!(true);
    answer["image"] = request["image"].clone();
    answer["id"] = json!(id.0);
    Ok(answer)
}
