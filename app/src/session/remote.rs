//! Questions to a collection that a cluster answers: the package for Python, in a process of its
//! own, asks the workers of a Dask scheduler and tells of its work as JSON lines.
//!
//! This program opens no connection itself. The process is told to stop by the end of its input,
//! so it stops too when this program is gone; one that does not is killed. Whoever looks at a
//! window waits for an answer, so a worker that hangs is given up after `HUNG` seconds a shard,
//! and that is told: its shard goes to another, and after three times the answer is an error. Time
//! counts from when a call is sent, so each thread of a worker has one call at a time, and none
//! waits behind another.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::Session;
use crate::command::{RemoteCluster, RemoteQuestion};

/// Time between looks whether the work was cancelled.
const LOOK: Duration = Duration::from_millis(50);
/// What a process that is to stop has to take its work back from the cluster.
const GRACE: Duration = Duration::from_secs(8);
/// Seconds after which a shard is asked of another worker.
const HUNG: &str = "600";
/// Bytes of complaints that are kept.
const COMPLAINTS: u64 = 1 << 16;
/// Images that are wanted.
const WANTED: &str = "24";

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteAnswer {
    /// Classes with their scores, the best first, and the confidence in that, where a report was
    /// there.
    Recognised(Vec<(String, f64)>, Option<f64>),
    /// Images, the best first.
    Found(Vec<RemoteHit>),
    /// How the images were recognised.
    Judged(RemoteReport),
}

/// An image that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteHit {
    /// The hash of its bytes.
    pub hash: u128,
    /// Its likeness or its score.
    pub value: f64,
}

/// How a collection's images were recognised.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteReport {
    /// How many images were judged.
    pub judged: u64,
    /// The share of right answers, and its standard error.
    pub accuracy: Option<(f64, f64)>,
    /// What later answers take terms and confidence from: the answer as JSON.
    pub text: String,
}

/// Images and what became of shards that could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteAnswered {
    /// The answer.
    pub answer: RemoteAnswer,
    /// A sentence for each shard that was left out.
    pub left_out: Vec<String>,
}

/// A line of the process.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Progress { progress: Stage },
    Log { log: String },
    Answer { answer: Value },
    Error { error: String },
}

#[derive(Deserialize)]
struct Stage {
    stage: String,
    done: u64,
    total: u64,
}

impl Session {
    /// Asks a collection. `report` is the text of a report on it, `told` is called with each
    /// message of the work: which shard failed, and why.
    ///
    /// # Errors
    /// [`Error::Io`] when the interpreter cannot be started; [`Error::Data`] with the words of the
    /// process; [`Error::Cancelled`].
    pub fn ask_cluster(
        &self,
        collection: &Path,
        cluster: &RemoteCluster,
        question: &RemoteQuestion,
        report: Option<&str>,
        told: impl Fn(String),
    ) -> Result<RemoteAnswered> {
        self.progress.begin("Starting Python", 0);
        let failed = |found: String| {
            let advice = "see that the interpreter has the package (`pip install './python[distributed]'`) and that the scheduler runs";
            Error::data(collection, "an answer from `python -m tessera.distributed`", found, advice)
        };
        let kept = report.map(kept_report).transpose().map_err(Error::io("write a file in", &std::env::temp_dir()))?;
        let python = Some(cluster.python.trim()).filter(|python| !python.is_empty()).unwrap_or("python3");
        let mut command = Command::new(python);
        command.args(["-m", "tessera.distributed", "--until-input-ends", "--timeout", HUNG]);
        if !cluster.scheduler.trim().is_empty() {
            command.args(["--scheduler", cluster.scheduler.trim()]);
        }
        command.arg(collection).args(arguments(question, kept.as_ref().map(|file| file.path())));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut asked = Asked(command.spawn().map_err(Error::io("run", Path::new(python)))?);
        let complaints = asked.0.stderr.take().map(listen);
        let (send, lines) = mpsc::channel();
        let output = asked.0.stdout.take().ok_or_else(|| failed("a process without output".into()))?;
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                // Nobody listens any more when the work was cancelled.
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let mut steps = Steps { progress: &self.progress, stage: String::new(), done: 0 };
        let mut outcome = None;
        loop {
            if self.progress.is_cancelled() {
                asked.stop();
                return Err(Error::Cancelled);
            }
            match lines.recv_timeout(LOOK) {
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(Line::Progress { progress }) => steps.take(&progress)?,
                    Ok(Line::Log { log }) => told(log),
                    Ok(Line::Answer { answer }) => outcome = Some(answered(question, &answer).ok_or_else(|| failed(line.clone()))),
                    Ok(Line::Error { error }) => outcome = Some(Err(failed(error))),
                    Err(_) => told(line),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        asked.stop();
        outcome.unwrap_or_else(|| {
            let words = complaints.and_then(|complaints| complaints.join().ok()).unwrap_or_default();
            let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no word");
            Err(failed(format!("that it ended with: {last}")))
        })
    }
}

/// A running process, which is killed when this is dropped.
struct Asked(Child);

impl Asked {
    /// Lets it stop, or kills it.
    fn stop(&mut self) {
        drop(self.0.stdin.take());
        let until = Instant::now() + GRACE;
        while Instant::now() < until && self.0.try_wait().is_ok_and(|status| status.is_none()) {
            thread::sleep(LOOK / 5);
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.0.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Reads what a process complains of, so that it never waits for that.
fn listen(stderr: ChildStderr) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let (mut kept, mut rest) = (Vec::new(), BufReader::new(stderr));
        let _ = rest.by_ref().take(COMPLAINTS).read_to_end(&mut kept);
        let _ = std::io::copy(&mut rest, &mut std::io::sink());
        String::from_utf8_lossy(&kept).into_owned()
    })
}

fn kept_report(text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

fn arguments(question: &RemoteQuestion, report: Option<&Path>) -> Vec<OsString> {
    // After `--` nothing is taken for an option.
    match question {
        RemoteQuestion::Recognise(path) => {
            let report = report.into_iter().flat_map(|file| [OsString::from("--report"), file.into()]);
            ["recognise".into()].into_iter().chain(report).chain(["--".into(), path.into()]).collect()
        }
        RemoteQuestion::Similar(path) => vec!["similar".into(), "-k".into(), WANTED.into(), "--".into(), path.into()],
        RemoteQuestion::Search(words) => vec!["search".into(), "-k".into(), WANTED.into(), "--".into(), words.into()],
        RemoteQuestion::Evaluate => vec!["evaluate".into()],
    }
}

/// The steps of a stage that the process tells of.
struct Steps<'a> {
    progress: &'a Progress,
    stage: String,
    done: u64,
}

impl Steps<'_> {
    fn take(&mut self, told: &Stage) -> Result<()> {
        if told.stage != self.stage || told.done < self.done {
            let words = STAGES.into_iter().find(|words| *words == told.stage).unwrap_or("Asking shards");
            self.progress.begin(words, told.total);
            (self.stage, self.done) = (told.stage.clone(), 0);
        }
        while self.done < told.done {
            self.progress.step()?;
            self.done += 1;
        }
        Ok(())
    }
}

/// The stages of the package that questions have.
const STAGES: [&str; 8] = [
    "Recognising",
    "Looking for similar images",
    "Looking for texts",
    "Counting words",
    "Looking for words",
    "Choosing images",
    "Reading images",
    "Judging",
];

fn answered(question: &RemoteQuestion, told: &Value) -> Option<RemoteAnswered> {
    let hits = |of: &Value, value: &str| -> Option<Vec<RemoteHit>> {
        let hit = |hit: &Value| {
            let hash = u128::from_str_radix(hit["image"].as_str()?, 16).ok()?;
            Some(RemoteHit { hash, value: hit[value].as_f64()? })
        };
        of["hits"].as_array()?.iter().map(hit).collect()
    };
    let answer = match question {
        RemoteQuestion::Recognise(_) => {
            let image = told["images"].get(0)?;
            let score = |(class, score): (&String, &Value)| Some((class.clone(), score.as_f64()?));
            let scores = image["scores"].as_object()?.iter().map(score).collect::<Option<_>>()?;
            RemoteAnswer::Recognised(scores, image["confidence"].as_f64())
        }
        RemoteQuestion::Similar(_) => RemoteAnswer::Found(hits(told["images"].get(0)?, "likeness")?),
        RemoteQuestion::Search(_) => RemoteAnswer::Found(hits(told, "score")?),
        RemoteQuestion::Evaluate => {
            let accuracy = told["accuracy"].as_array().and_then(|pair| Some((pair.first()?.as_f64()?, pair.get(1)?.as_f64()?)));
            RemoteAnswer::Judged(RemoteReport { judged: told["judged"].as_u64()?, accuracy, text: told.to_string() })
        }
    };
    let left_out = told["left_out"].as_object()?.values().filter_map(|words| words.as_str().map(str::to_owned)).collect();
    Some(RemoteAnswered { answer, left_out })
}
