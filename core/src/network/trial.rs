//! Networks are tried out in a worker process: one that crashes, hangs or takes all memory does so
//! there.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::advice;
use super::brought::{BroughtNetwork, NetworkParts, explore};
use super::encoder::ImageWishes;
use crate::error::{Error, Result, contained};
use crate::progress::Progress;

/// How long a trial may take.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of a request or a reply.
const LONGEST: u64 = 1 << 20;

/// What a worker is asked.
#[derive(Serialize, Deserialize)]
struct Request {
    files: Vec<PathBuf>,
    wishes: ImageWishes,
}

/// What it answers.
#[derive(Serialize, Deserialize)]
enum Reply {
    Explored(Box<(NetworkParts, BroughtNetwork)>),
    Refused { path: PathBuf, expected: String, found: String, advice: String },
}

/// The work of a worker: reads one request, tries the network, writes one reply.
///
/// # Errors
/// When the pipes fail, or the request is none.
pub fn serve(input: impl Read, mut output: impl Write) -> io::Result<()> {
    let request: Request = serde_json::from_reader(input.take(LONGEST))?;
    let first = request.files.first().cloned().unwrap_or_default();
    let refused =
        |path: PathBuf, expected: String, found: String, advice: &str| Reply::Refused { path, expected, found, advice: advice.into() };
    let reply = match contained(|| explore(&request.files, &request.wishes)) {
        Ok(Ok(explored)) => Reply::Explored(Box::new(explored)),
        Ok(Err(Error::Data { path, expected, found, advice })) => refused(path, expected, found, advice),
        Ok(Err(error)) => refused(first, RUNS.into(), error.to_string(), advice::CHOOSE_OTHER),
        Err(panic) => refused(first, RUNS.into(), format!("one that broke ({panic})"), advice::CHOOSE_OTHER),
    };
    output.write_all(&serde_json::to_vec(&reply)?)?;
    output.flush()
}

const RUNS: &str = "a network that runs";

/// Tries a network in a process that runs `program` with `arguments`, which must lead it to
/// [`serve`] within limits of its own.
///
/// # Errors
/// [`Error::Io`]; [`Error::Data`] with what was expected, what was found, and the way out;
/// [`Error::Cancelled`].
pub fn run(
    program: &Path,
    arguments: &[OsString],
    files: &[PathBuf],
    wishes: &ImageWishes,
    progress: &Progress,
) -> Result<(NetworkParts, BroughtNetwork)> {
    let Some(first) = files.first() else {
        return Err(Error::Option { name: "FILES", found: "none".into(), expected: "an ONNX file, or more files of one network" });
    };
    for path in files {
        std::fs::File::open(path).map_err(Error::io("open", path))?;
    }
    // The worker has this folder as its own, but paths that are not text do not get through.
    let request = serde_json::to_vec(&Request { files: files.to_vec(), wishes: wishes.clone() })
        .map_err(|error| Error::data(first, "files with names that are text", error.to_string(), "rename them"))?;
    let failed = |cause: io::Error| Error::Io { action: "try", path: first.clone(), cause };
    // Layers that break print to stderr.
    let mut command = Command::new(program);
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let reader = thread::spawn(move || {
        let mut reply = Vec::new();
        let outcome = output.map(|output| output.take(LONGEST).read_to_end(&mut reply));
        outcome.map(|_| reply).unwrap_or_default()
    });
    // One that has ended reads nothing; how it ended tells more than the broken pipe.
    let _ = input.map(|mut input| input.write_all(&request));
    let began = Instant::now();
    let end = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break Ok(status);
        }
        let is_overdue = began.elapsed() > PATIENCE;
        if is_overdue || progress.is_cancelled() {
            // It may have ended meanwhile.
            let _ = child.kill();
            let _ = child.wait();
            break Err(is_overdue);
        }
        thread::sleep(LOOK);
    };
    let reply = reader.join().unwrap_or_default();
    let limits = || format!("a network that runs within {} seconds and the memory of a worker process", PATIENCE.as_secs());
    let status = match end {
        Ok(status) => status,
        Err(true) => return Err(Error::data(first, limits(), "one that was not done by then", advice::CHOOSE_SMALLER)),
        Err(false) => return Err(Error::Cancelled),
    };
    match serde_json::from_slice(&reply) {
        Ok(Reply::Explored(explored)) => Ok(*explored),
        Ok(Reply::Refused { path, expected, found, advice: words }) => Err(Error::data(&path, expected, found, advice::known(&words))),
        Err(_) => Err(Error::data(first, limits(), format!("one whose process ended ({status})"), advice::CHOOSE_SMALLER)),
    }
}
