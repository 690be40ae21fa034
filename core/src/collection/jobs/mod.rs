//! What is asked of a collection, as a state for each shard and a way to join states.
//!
//! Jobs and states are bytes between machines: [`state`] makes the state of a shard, [`joined`]
//! joins states, and each job's own functions read the joined state. A state carries the hash of
//! its job, so states of other jobs or other versions are refused. None of it is a pickle.
//!
//! Some jobs find their answers by an index of each shard, which is the state of another job
//! ([`index_of`]) and can be kept for later questions. What they find depends on how images are
//! dealt to shards, and they tell the recall that was measured.

mod copies;
mod indexed;
mod judge;
mod mixture;
mod nearest;
mod recall;
mod recognition;
mod remembered;
mod sample;
mod words;

pub use copies::{CopyPairs, FoundPairs, SharedCopy, SharedCopyGroup};
pub use indexed::{IndexedFound, IndexedNearest, LookIndex, LookIndexes};
pub use judge::{JudgedCollection, judged};
pub use mixture::{MixtureBegin, MixtureRound, MixtureSample, RoundReport, RoundSums};
pub use nearest::{CollectionLook, NearImage, NearestImages};
pub use recall::MeasuredRecall;
pub use recognition::{AskedImage, RecognitionAnswer, RecognitionJob};
pub use remembered::{RememberedImage, RememberedImages, RememberedWords, TextMemories, TextMemory};
pub use sample::{ChosenImages, ImageChoice, TakenImage, TakenImages};
pub use words::{CountedWords, NeededWords, WordCounts, WordFound, WordsFound};

use super::Shard;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::hash::hash64;
use crate::progress::Progress;

/// The form of jobs and states: it changes whenever a state of another version could not be joined.
pub const FORM: u32 = 2;

/// A question to a collection.
pub trait ShardJob: Stored + Sized {
    /// What is known after some shards.
    type State: Stored;

    /// What jobs of this kind are called.
    const NAME: &'static str;

    /// How many shards a state is of: one, or each two of them (and each with itself).
    const SHARDS: usize = 1;

    /// The job, as [`job_bytes`], whose state of the same shard its states are made by: an index.
    fn index(&self) -> Option<Vec<u8>> {
        None
    }

    /// The state of one shard, or of two where [`ShardJob::SHARDS`] says so, on all threads.
    ///
    /// # Errors
    /// [`Error::Data`] for a shard that cannot be read, [`Error::Cancelled`].
    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<Self::State>;

    /// As [`ShardJob::state`], by the bytes of the state of [`ShardJob::index`].
    ///
    /// # Errors
    /// As [`ShardJob::state`]; [`Error::Value`] for bytes that are no such state.
    fn state_by(&self, shards: &[&Shard], index: &[u8], progress: &Progress) -> Result<Self::State> {
        let _ = index;
        self.state(shards, progress)
    }

    /// Joins the states of different shards: associative and commutative.
    ///
    /// # Errors
    /// [`Error::Value`] for states of other jobs.
    fn join(&self, one: Self::State, other: Self::State) -> Result<Self::State>;
}

/// A job as bytes.
pub fn job_bytes<J: ShardJob>(job: &J) -> Vec<u8> {
    let mut out = Writer::default();
    out.put(&FORM);
    out.put(&J::NAME.to_owned());
    out.put(job);
    out.finish()
}

/// The job in bytes that [`job_bytes`] made.
///
/// # Errors
/// [`Error::Value`] for bytes that are no such job.
pub fn read_job<J: ShardJob>(job: &[u8]) -> Result<J> {
    let mut from = Reader::new("job", job);
    let name = name_of(&mut from)?;
    if name != J::NAME {
        return Err(from.wrong(J::NAME, name));
    }
    let kind = from.get()?;
    from.end()?;
    Ok(kind)
}

/// The joined state of a job, for the functions that read it.
///
/// # Errors
/// [`Error::Value`] for bytes that are no state of this job.
pub fn read_state<J: ShardJob>(job: &J, state: &[u8]) -> Result<J::State> {
    opened::<J>(&job_bytes(job), state)
}

/// The state that a job makes of one shard, or of two.
///
/// # Errors
/// As [`ShardJob::state`]; [`Error::Value`] for bytes that are no job, and another number of
/// shards.
pub fn state(job: &[u8], shards: &[&Shard], progress: &Progress) -> Result<Vec<u8>> {
    dispatch(job, Act::State(shards, None, progress))
}

/// As [`state`], by the state that the job of [`index_of`] made of the same shard.
///
/// # Errors
/// As [`state`]; [`Error::Value`] for bytes that are no state of that job.
pub fn state_by(job: &[u8], shards: &[&Shard], index: &[u8], progress: &Progress) -> Result<Vec<u8>> {
    dispatch(job, Act::State(shards, Some(index), progress))
}

/// The job whose state of a shard, its index, the states of a job are made by; none where all of a
/// shard is looked at.
///
/// # Errors
/// [`Error::Value`] for bytes that are no job.
pub fn index_of(job: &[u8]) -> Result<Option<Vec<u8>>> {
    Ok(Some(dispatch(job, Act::Index)?).filter(|index| !index.is_empty()))
}

/// The state of all shards that these states of a job are of.
///
/// # Errors
/// As [`ShardJob::join`]; [`Error::Value`] for bytes that are no job or no states, and without
/// states.
pub fn joined(job: &[u8], states: &[&[u8]]) -> Result<Vec<u8>> {
    dispatch(job, Act::Join(states))
}

/// How many shards a state of a job is of.
///
/// # Errors
/// [`Error::Value`] for bytes that are no job.
pub fn shards_of(job: &[u8]) -> Result<usize> {
    Ok(if dispatch(job, Act::IsOfPairs)?.is_empty() { 1 } else { 2 })
}

enum Act<'a> {
    /// Some bytes where a state is of two shards.
    IsOfPairs,
    Index,
    State(&'a [&'a Shard], Option<&'a [u8]>, &'a Progress),
    Join(&'a [&'a [u8]]),
}

fn name_of(from: &mut Reader<'_>) -> Result<String> {
    let form: u32 = from.get()?;
    if form != FORM {
        return Err(from.wrong(format!("form {FORM}, which this version has"), format!("form {form}: use one version everywhere")));
    }
    from.get()
}

fn dispatch(job: &[u8], act: Act<'_>) -> Result<Vec<u8>> {
    let mut from = Reader::new("job", job);
    let name = name_of(&mut from)?;
    macro_rules! kinds {
        ($($kind:ty),*) => {
            match name.as_str() {
                $(<$kind>::NAME => {
                    let kind: $kind = from.get()?;
                    from.end()?;
                    run(&kind, job, act)
                })*
                _ => Err(from.wrong("a kind of job that this version knows", name)),
            }
        };
    }
    kinds!(
        RecognitionJob,
        NearestImages,
        LookIndexes,
        IndexedNearest,
        NeededWords,
        WordCounts,
        WordsFound,
        TextMemories,
        RememberedWords,
        MixtureBegin,
        MixtureRound,
        CopyPairs,
        ImageChoice,
        TakenImages
    )
}

fn run<J: ShardJob>(kind: &J, job: &[u8], act: Act<'_>) -> Result<Vec<u8>> {
    let state = match act {
        Act::IsOfPairs => return Ok(vec![1; J::SHARDS - 1]),
        Act::Index => return Ok(kind.index().unwrap_or_default()),
        Act::State(shards, index, progress) => {
            let expected = J::SHARDS;
            if shards.is_empty() || shards.len() > expected {
                return Err(Error::value("shards", format!("1 to {expected}"), shards.len().to_string()));
            }
            match index {
                Some(index) => kind.state_by(shards, index, progress)?,
                None => kind.state(shards, progress)?,
            }
        }
        Act::Join(states) => {
            let mut states = states.iter().map(|state| opened::<J>(job, state));
            let first = states.next().ok_or_else(|| Error::value("states", "one or more", "none"))??;
            states.try_fold(first, |joined, state| kind.join(joined, state?))?
        }
    };
    let mut out = Writer::default();
    out.put(&hash64(job));
    out.put(&state);
    Ok(out.finish())
}

/// The state in the bytes that [`run`] made.
fn opened<J: ShardJob>(job: &[u8], state: &[u8]) -> Result<J::State> {
    let mut from = Reader::new("state", state);
    let of: u64 = from.get()?;
    if of != hash64(job) {
        return Err(from.wrong("a state of this job", "one of another job"));
    }
    let state = from.get()?;
    from.end()?;
    Ok(state)
}
