//! Decoding in worker processes: a file that crashes its decoder does not crash this program.
//!
//! A worker is a program that runs [`serve`]. It lives long and decodes one picture at a time; when
//! a file crashes it or takes too long, or the request is cancelled, it is ended and another one is
//! started.

pub mod protocol;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use self::protocol::{GRANTED, GREETING, Reply, read_reply};
use super::budget::{Budget, MemoryBudget};
use super::decode::{Decoder, InProcess, Limits, Picture, Room, open_file};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// How long one picture may take.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How long a worker may take to greet.
const START: Duration = Duration::from_secs(20);
/// How often pictures being decoded are checked for being overdue or cancelled.
const LOOK: Duration = Duration::from_millis(20);
/// How long no worker is started after one failed to start, where others had started before.
const REST: Duration = Duration::from_secs(1);
/// The number of workers that a file may crash before it is given up.
const TRIES: usize = 2;

/// A [`Decoder`] that has its pictures decoded by workers. Where there are none and none can be
/// started, it decodes in this process, and [`Decoder::remark`] says so; but never a file that has
/// crashed a worker.
pub struct Workers {
    program: PathBuf,
    arguments: Vec<OsString>,
    patience: Duration,
    limit: usize,
    pool: Mutex<Pool>,
    freed: Condvar,
    budget: Budget,
    watch: Arc<Watch>,
    deaths: AtomicU64,
    fallback: InProcess,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Worker>,
    alive: usize,
    /// Whether a worker was ever started.
    has_started: bool,
    refusal: Option<Refusal>,
}

/// A worker that could not be started.
struct Refusal {
    words: String,
    /// When it is tried again; never where none was ever started.
    again: Option<Instant>,
}

impl Pool {
    /// Takes an idle worker; those that have ended meanwhile are dropped.
    fn ready(&mut self) -> Option<Worker> {
        while let Some(worker) = self.idle.pop() {
            if worker.is_alive() {
                return Some(worker);
            }
            self.alive -= 1;
        }
        None
    }

    /// Whether a worker may be started now.
    fn may_start(&self) -> bool {
        self.refusal.as_ref().is_none_or(|refusal| refusal.again.is_some_and(|at| at <= Instant::now()))
    }
}

/// A process that decodes.
struct Worker {
    child: Arc<Mutex<Child>>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn is_alive(&self) -> bool {
        matches!(lock(&self.child).try_wait(), Ok(None))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // It may have ended already.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Why a worker gave no answer.
enum End {
    Died(String),
    Overdue,
    Cancelled,
}

/// Why there is no worker.
enum Absent {
    Refused,
    Cancelled,
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Died(error.to_string())
    }
}

impl Workers {
    /// Up to `limit` processes that run `program` with `arguments`, which must lead it to
    /// [`serve`].
    pub fn new(program: PathBuf, arguments: Vec<OsString>, limit: usize) -> Self {
        Self {
            program,
            arguments,
            patience: PATIENCE,
            limit: limit.max(1),
            pool: Mutex::default(),
            freed: Condvar::new(),
            budget: Budget::new(Limits::default().total_bytes),
            watch: Arc::default(),
            deaths: AtomicU64::new(0),
            fallback: InProcess::default(),
        }
    }

    /// The same with another time limit for one picture.
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Takes a worker for exclusive use; waits for one when all are busy, or no more can be started
    /// now.
    fn take(&self, progress: &Progress) -> Result<Worker, Absent> {
        let mut pool = lock(&self.pool);
        loop {
            if let Some(worker) = pool.ready() {
                return Ok(worker);
            }
            if progress.is_cancelled() {
                return Err(Absent::Cancelled);
            }
            if pool.alive < self.limit && pool.may_start() {
                pool.alive += 1;
                drop(pool);
                let started = self.start(progress);
                pool = lock(&self.pool);
                match started {
                    Ok(worker) => {
                        (pool.has_started, pool.refusal) = (true, None);
                        return Ok(worker);
                    }
                    Err(end) => {
                        pool.alive -= 1;
                        self.freed.notify_all();
                        let why = match end {
                            End::Cancelled => return Err(Absent::Cancelled),
                            End::Overdue => format!("it said nothing for {START:?}"),
                            End::Died(words) => words,
                        };
                        pool.refusal = Some(Refusal {
                            words: format!(
                                "Images are decoded in this process, with the same limits: {} could not be started as a decoder ({why})",
                                self.program.display()
                            ),
                            again: pool.has_started.then(|| Instant::now() + REST),
                        });
                    }
                }
            } else if pool.alive == 0 {
                return Err(Absent::Refused);
            } else {
                pool = self.freed.wait_timeout(pool, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    fn start(&self, progress: &Progress) -> Result<Worker, End> {
        let mut command = Command::new(&self.program);
        // Some codecs print to stderr.
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // What a terminal sends to this program is not for its workers.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(End::Died("a process without pipes".into()));
        };
        let mut worker = Worker { child: Arc::new(Mutex::new(child)), input, output: BufReader::with_capacity(1 << 16, output) };
        let flight = self.watch.begin(&worker.child, progress, START);
        let mut greeting = [0; GREETING.len()];
        let outcome = worker.output.read_exact(&mut greeting);
        match flight.end() {
            Some(end) => return Err(end),
            None if outcome.is_err() && progress.is_cancelled() => return Err(End::Cancelled),
            None => outcome?,
        }
        if &greeting == GREETING { Ok(worker) } else { Err(End::Died("a program that is no worker".into())) }
    }

    fn give_back(&self, worker: Worker) {
        lock(&self.pool).idle.push(worker);
        self.freed.notify_one();
    }

    /// Notes that a worker has ended.
    fn lost(&self) {
        lock(&self.pool).alive -= 1;
        self.freed.notify_one();
    }

    fn ask(&self, worker: &mut Worker, path: &Path, side: u32, progress: &Progress) -> Result<Result<Picture>, End> {
        let (file, length) = match open_file(path, &Limits::default()) {
            Ok(opened) => opened,
            Err(error) => return Ok(Err(error)),
        };
        let mut share = self.budget.share(progress);
        if let Err(error) = share.wait_for(length) {
            return if progress.is_cancelled() { Err(End::Cancelled) } else { Ok(Err(error)) };
        }
        let mut flight = self.watch.begin(&worker.child, progress, self.patience);
        let talk = || -> io::Result<Result<Picture>> {
            let unread = protocol::ask(&mut worker.input, side, length, file)?;
            loop {
                let outcome = match read_reply(&mut worker.output, path, side)? {
                    Reply::Need(bytes) => {
                        // Waiting for others does not count.
                        flight.pause();
                        if !share.grow(bytes) {
                            share.wait_for(bytes).map_err(io::Error::other)?;
                        }
                        flight.go_on(self.patience);
                        worker.input.write_all(&[GRANTED])?;
                        continue;
                    }
                    Reply::Picture(picture) => Ok(picture),
                    Reply::Refused(error) => Err(error),
                };
                return Ok(unread.map_or(outcome, |error| Err(Error::io("read", path)(error))));
            }
        };
        let outcome = talk();
        match (flight.end(), outcome) {
            (Some(end), _) => Err(end),
            (None, Ok(reply)) => Ok(reply),
            (None, Err(_)) if progress.is_cancelled() => Err(End::Cancelled),
            (None, Err(error)) => {
                let mut child = lock(&worker.child);
                let _ = child.kill();
                let words = child.wait().map_or_else(|_| String::new(), |status| format!("; {status}"));
                Err(End::Died(format!("its process ended: {error}{words}")))
            }
        }
    }
}

impl Decoder for Workers {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> Result<Picture> {
        let mut found = String::new();
        for _ in 0..TRIES {
            let mut worker = match self.take(progress) {
                Ok(worker) => worker,
                Err(Absent::Cancelled) => return Err(Error::Cancelled),
                Err(Absent::Refused) if found.is_empty() => return self.fallback.decode(path, side, progress),
                // A file that has crashed a worker is never decoded in this process.
                Err(Absent::Refused) => break,
            };
            match self.ask(&mut worker, path, side, progress) {
                Ok(outcome) => {
                    self.give_back(worker);
                    return outcome;
                }
                Err(end) => {
                    drop(worker);
                    self.lost();
                    match end {
                        End::Cancelled => return Err(Error::Cancelled),
                        End::Died(words) => found = words,
                        End::Overdue => {
                            self.deaths.fetch_add(1, Ordering::Relaxed);
                            let found = format!("it took longer than {:?}", self.patience);
                            return Err(Error::Fatal { path: path.to_owned(), found });
                        }
                    }
                    self.deaths.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Err(Error::Fatal { path: path.to_owned(), found })
    }

    fn memory(&self) -> MemoryBudget {
        self.budget.memory()
    }

    fn limit_memory(&self, bytes: u64) {
        self.budget.limit(bytes);
        self.fallback.limit_memory(bytes);
    }

    fn deaths(&self) -> u64 {
        self.deaths.load(Ordering::Relaxed)
    }

    fn remark(&self) -> Option<String> {
        lock(&self.pool).refusal.as_ref().map(|refusal| refusal.words.clone())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        lock(&self.watch.flights).closed = true;
        self.watch.woken.notify_all();
    }
}

/// Ends workers whose pictures are overdue or cancelled.
#[derive(Default)]
struct Watch {
    flights: Mutex<Flights>,
    woken: Condvar,
}

#[derive(Default)]
struct Flights {
    under_way: BTreeMap<u64, Flight>,
    next: u64,
    has_watcher: bool,
    closed: bool,
}

struct Flight {
    child: Arc<Mutex<Child>>,
    progress: Progress,
    deadline: Option<Instant>,
    end: Option<End>,
}

/// A picture being decoded.
struct Watched<'a> {
    watch: &'a Watch,
    number: u64,
}

impl Watch {
    /// Watches over a worker until what is returned is dropped.
    fn begin(self: &Arc<Self>, child: &Arc<Mutex<Child>>, progress: &Progress, patience: Duration) -> Watched<'_> {
        let mut flights = lock(&self.flights);
        if !flights.has_watcher {
            let watch = Arc::clone(self);
            // Without a thread nothing is ended early; everything else is as it is.
            flights.has_watcher = thread::Builder::new().name("watch".into()).spawn(move || watch.run()).is_ok();
        }
        flights.next += 1;
        let number = flights.next;
        let flight = Flight { child: Arc::clone(child), progress: progress.clone(), deadline: Some(Instant::now() + patience), end: None };
        flights.under_way.insert(number, flight);
        drop(flights);
        self.woken.notify_all();
        Watched { watch: self, number }
    }

    fn run(&self) {
        let mut flights = lock(&self.flights);
        while !flights.closed {
            if flights.under_way.is_empty() {
                flights = self.woken.wait(flights).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            flights = self.woken.wait_timeout(flights, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            let now = Instant::now();
            for flight in flights.under_way.values_mut().filter(|flight| flight.end.is_none()) {
                flight.end = match flight.deadline {
                    _ if flight.progress.is_cancelled() => Some(End::Cancelled),
                    Some(deadline) if deadline < now => Some(End::Overdue),
                    _ => continue,
                };
                let _ = lock(&flight.child).kill();
            }
        }
    }
}

impl Watched<'_> {
    fn pause(&mut self) {
        self.set(None);
    }

    fn go_on(&mut self, patience: Duration) {
        self.set(Some(Instant::now() + patience));
    }

    fn set(&self, deadline: Option<Instant>) {
        if let Some(flight) = lock(&self.watch.flights).under_way.get_mut(&self.number) {
            flight.deadline = deadline;
        }
    }

    /// Why the worker was ended, if it was.
    fn end(self) -> Option<End> {
        lock(&self.watch.flights).under_way.remove(&self.number).and_then(|flight| flight.end)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        lock(&self.watch.flights).under_way.remove(&self.number);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The main loop of a worker: reads requests from one pipe, decodes, and replies on another pipe,
/// until there are no more requests.
///
/// # Errors
/// When a pipe breaks.
pub fn serve(from: impl Read, to: impl Write) -> io::Result<()> {
    let (mut from, mut to) = (BufReader::new(from), io::BufWriter::with_capacity(1 << 16, to));
    to.write_all(GREETING)?;
    to.flush()?;
    let decoder = InProcess::default();
    while let Some((bytes, side)) = protocol::read_request(&mut from)? {
        let outcome = decoder.decode_sent(&bytes, side, &mut Parent { from: &mut from, to: &mut to });
        protocol::reply(&mut to, &outcome)?;
    }
    Ok(())
}

/// Asks the program that started this worker to grant memory.
struct Parent<'a, R, W> {
    from: &'a mut R,
    to: &'a mut W,
}

impl<R: Read, W: Write> Room for Parent<'_, R, W> {
    fn wait_for(&mut self, bytes: u64) -> Result<()> {
        protocol::need(self.to, self.from, bytes).map_err(Error::io("read", Path::new("pipe")))
    }

    fn grow(&mut self, bytes: u64) -> Result<bool> {
        self.wait_for(bytes)?;
        Ok(true)
    }
}
