//! A disk made of the system calls of a program as `strace` recorded them, and what of it would be
//! left if the power failed after any of them.
//!
//! What was written to a file is safe after a sync of that file, what was done to names after a
//! sync of their folder. Whatever was not safe is there after a crash, or not, or in part, sector
//! by sector. Bytes that were safe stay as they are: SQLite relies on that, too
//! (<https://sqlite.org/psow.html>).
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dice::Dice;
use crate::world::run_by;

/// What a disk writes whole or not at all, in bytes.
const SECTOR: usize = 512;

/// The file below the root that is the stdout of a program whose calls are recorded.
pub(crate) const STDOUT: &str = "stdout";

/// The system calls that are recorded: all that change files or map them.
const CALLS: &str = "trace=open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,truncate,ftruncate,fallocate,fsync,\
    fdatasync,sync,syncfs,sync_file_range,msync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,\
    symlinkat,copy_file_range,sendfile,splice,lseek,mmap,io_uring_setup";

/// What a program did to the files below a folder, or told.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A file was opened: whether it was to be made, and emptied.
    Open(PathBuf, bool, bool),
    /// Bytes were written at a position, or to the end.
    Write(PathBuf, Option<usize>, Vec<u8>),
    /// A file was given a length.
    Cut(PathBuf, usize),
    /// A file or folder was synced.
    Sync(PathBuf),
    /// A file was renamed.
    Rename(PathBuf, PathBuf),
    /// A file or folder was removed.
    Remove(PathBuf),
    /// A folder was made.
    Folder(PathBuf),
    /// This was written to stdout.
    Told(Vec<u8>),
}

/// The command line that records what `program` does to files, in `record`.
pub(crate) fn recorded(program: &Command, record: &Path) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-yy", "-xx", "-s", "4194304", "-e", CALLS, "-e", "signal=none", "-o"]).arg(record);
    run_by(command, program)
}

/// Whether system calls can be recorded here; if not, why.
pub(crate) fn can_record() -> Result<(), String> {
    match Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("strace: {error}")),
    }
}

/// The text of which `strace -xx` shows each byte as `\x2f`.
fn bytes_of(shown: &str) -> Vec<u8> {
    assert!(shown.len().is_multiple_of(4), "a string that was cut: {}", &shown[..shown.len().min(80)]);
    shown.as_bytes().chunks(4).map(|one| u8::from_str_radix(std::str::from_utf8(&one[2..]).unwrap(), 16).unwrap()).collect()
}

fn path_of(shown: &str) -> PathBuf {
    PathBuf::from(String::from_utf8(bytes_of(shown)).unwrap())
}

/// An argument that is an open file: its number and path. What is deleted has no path any more.
fn open_file(argument: &str) -> Option<(i64, PathBuf)> {
    let (number, rest) = argument.split_once('<')?;
    let (path, rest) = rest.split_once('>')?;
    (rest.is_empty() && path.starts_with("\\x2f")).then(|| (number.parse().unwrap_or(-1), path_of(path)))
}

/// An argument that is a string.
fn string(argument: &str) -> Option<Vec<u8>> {
    argument.strip_prefix('"')?.strip_suffix('"').map(bytes_of)
}

/// The path that a folder and a name, or a path, lead to.
fn joined(folder: &str, name: &str) -> PathBuf {
    let (_, rest) = folder.split_once('<').unwrap();
    let folder = path_of(rest.split_once('>').unwrap().0);
    folder.join(PathBuf::from(String::from_utf8(string(name).unwrap()).unwrap()))
}

/// The finished calls of a record, in the order in which they ended: name, arguments, answer.
fn calls(text: &str) -> Vec<(String, Vec<String>, i64)> {
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let (process, rest) = line.split_once(' ').unwrap();
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(process, start);
            continue;
        }
        let whole = match rest.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>")) {
            Some((_, end)) => format!("{}{end}", begun.remove(process).unwrap_or_default()),
            None => rest.to_owned(),
        };
        let Some((call, answer)) = whole.rsplit_once(") = ").or_else(|| whole.rsplit_once(" = ")) else { continue };
        let Some((name, arguments)) = call.split_once('(') else { continue };
        let answer = answer.split([' ', '<']).next().unwrap();
        // Some answers are addresses.
        let answer = answer.parse().unwrap_or(0);
        let arguments = arguments.trim_end().trim_end_matches(')');
        found.push((name.to_owned(), arguments.split(", ").map(str::to_owned).collect(), answer));
    }
    found
}

/// What a record says of the files below `root`, where the program ran, and of its stdout. Files
/// are named from there.
///
/// # Panics
/// When the record has a call that this cannot follow.
pub(crate) fn ops(text: &str, root: &Path) -> Vec<Op> {
    let within = |path: PathBuf| path.strip_prefix(root).ok().map(Path::to_owned).filter(|path| !is_shared_memory(path));
    let mut ops = Vec::new();
    // Where the next byte of an open file goes; none where it goes to the end.
    let mut places: HashMap<i64, Option<usize>> = HashMap::new();
    for (name, arguments, answer) in calls(text) {
        let argument = |i: usize| arguments.get(i).map_or("", String::as_str);
        let number = |i: usize| argument(i).parse::<usize>().unwrap();
        let file = || open_file(argument(0)).and_then(|(number, path)| Some((number, within(path)?)));
        if answer < 0 {
            continue;
        }
        match name.as_str() {
            "openat" => {
                let Some(path) = within(joined(argument(0), argument(1))) else { continue };
                let has = |flag: &str| argument(2).split('|').any(|one| one == flag);
                places.insert(answer, (!has("O_APPEND")).then_some(0));
                if has("O_CREAT") || has("O_TRUNC") {
                    ops.push(Op::Open(path, has("O_CREAT"), has("O_TRUNC")));
                }
            }
            "write" => {
                let Some((number, path)) = file() else { continue };
                let bytes = string(argument(1)).unwrap()[..answer as usize].to_vec();
                if path == Path::new(STDOUT) {
                    ops.push(Op::Told(bytes));
                    continue;
                }
                let place = places.get_mut(&number).unwrap();
                let at = *place;
                *place = at.map(|at| at + bytes.len());
                ops.push(Op::Write(path, at, bytes));
            }
            "pwrite64" => {
                let Some((_, path)) = file() else { continue };
                ops.push(Op::Write(path, Some(number(3)), string(argument(1)).unwrap()[..answer as usize].to_vec()));
            }
            "lseek" => {
                let Some((number, _)) = file() else { continue };
                if let Some(Some(place)) = places.get_mut(&number) {
                    *place = answer as usize;
                }
            }
            "ftruncate" => ops.extend(file().map(|(_, path)| Op::Cut(path, number(1)))),
            "fsync" | "fdatasync" => ops.extend(file().map(|(_, path)| Op::Sync(path))),
            "rename" => {
                let [from, to] = [0, 1].map(|i| within(root.join(String::from_utf8(string(argument(i)).unwrap()).unwrap())));
                ops.extend(from.zip(to).map(|(from, to)| Op::Rename(from, to)));
            }
            "renameat" | "renameat2" => {
                let (from, to) = (within(joined(argument(0), argument(1))), within(joined(argument(2), argument(3))));
                ops.extend(from.zip(to).map(|(from, to)| Op::Rename(from, to)));
            }
            "unlinkat" => ops.extend(within(joined(argument(0), argument(1))).map(Op::Remove)),
            "mkdirat" => ops.extend(within(joined(argument(0), argument(1))).map(Op::Folder)),
            "unlink" | "rmdir" | "mkdir" => {
                let path = within(root.join(String::from_utf8(string(argument(0)).unwrap()).unwrap()));
                ops.extend(path.map(if name == "mkdir" { Op::Folder } else { Op::Remove }));
            }
            // A program that maps a file to write to it goes past the record.
            "mmap" => {
                let is_written = argument(2).contains("PROT_WRITE") && argument(3).contains("MAP_SHARED");
                let path = open_file(argument(4)).and_then(|(_, path)| within(path)).filter(|_| is_written);
                assert!(path.is_none(), "{path:?} is mapped to be written to");
            }
            _ => {
                // What is only read may be ours.
                let written = match name.as_str() {
                    "sendfile" => &arguments[..1],
                    "copy_file_range" | "splice" => &arguments[2..3],
                    _ => &arguments[..],
                };
                let is_ours = written.iter().any(|argument| open_file(argument).and_then(|(_, path)| within(path)).is_some());
                assert!(!is_ours, "the simulation does not know {name} {arguments:?}");
            }
        }
    }
    ops
}

/// Whether SQLite shares memory by this file, which it makes anew after a crash.
fn is_shared_memory(path: &Path) -> bool {
    path.to_string_lossy().ends_with("-shm")
}

/// A change of a file that may not be safe yet.
#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(at, new) => put(bytes, *at, new),
            Self::Cut(length) => bytes.resize(*length, 0),
        }
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    if bytes.len() < at + new.len() {
        bytes.resize(at + new.len(), 0);
    }
    bytes[at..at + new.len()].copy_from_slice(new);
}

/// A file: its bytes as they are, as they were when it was last synced, and what was done since.
#[derive(Clone, Default)]
struct Content {
    live: Vec<u8>,
    safe: Vec<u8>,
    pending: Vec<Change>,
}

impl Content {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.pending.push(change);
    }

    fn sync(&mut self) {
        if !self.pending.is_empty() {
            self.safe.clone_from(&self.live);
            self.pending.clear();
        }
    }

    /// What may be left of it after a crash.
    fn crashed(&self, chance: &mut Dice) -> Vec<u8> {
        let mut left = self.safe.clone();
        match chance.below(4) {
            0 => {}
            1 => left.clone_from(&self.live),
            // All up to one of the changes, which is torn.
            2 => {
                let n = chance.below(self.pending.len());
                self.pending[..n].iter().for_each(|change| change.apply(&mut left));
                self.pending.iter().skip(n).take(1).for_each(|change| tear(change, &mut left, chance));
            }
            // Each by itself, in any order that a disk may choose.
            _ => {
                for change in &self.pending {
                    match chance.below(3) {
                        0 => {}
                        1 => change.apply(&mut left),
                        _ => tear(change, &mut left, chance),
                    }
                }
            }
        }
        left
    }
}

/// Applies some sectors of a change; others are as they were, and a few are zeros or rubbish.
fn tear(change: &Change, bytes: &mut Vec<u8>, chance: &mut Dice) {
    let Change::Write(at, new) = change else { return };
    let mut from = 0;
    while from < new.len() {
        let end = new.len().min(from + SECTOR - (at + from) % SECTOR);
        let mut sector = new[from..end].to_vec();
        match chance.below(8) {
            0..3 => sector.clear(),
            3 => sector.fill(0),
            4 => sector.fill_with(|| chance.next() as u8),
            _ => {}
        }
        put(bytes, at + from, &sector);
        from = end;
    }
}

/// What was done to names.
#[derive(Clone)]
enum Step {
    Name(PathBuf, usize),
    Folder(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Step {
    /// The folders that must be synced for it to be safe, one of which is enough.
    fn is_in(&self, folder: &Path) -> bool {
        match self {
            Self::Name(path, _) | Self::Folder(path) | Self::Remove(path) => path.parent() == Some(folder),
            Self::Rename(from, to) => from.parent() == Some(folder) || to.parent() == Some(folder),
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, Option<usize>>) {
        match self {
            Self::Name(path, file) => drop(names.insert(path.clone(), Some(*file))),
            Self::Folder(path) => drop(names.insert(path.clone(), None)),
            Self::Remove(path) => drop(names.remove(path)),
            Self::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
        }
    }
}

/// A disk, and what of it is safe.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    files: Vec<Content>,
    /// The file of each name; none where it is a folder.
    live: BTreeMap<PathBuf, Option<usize>>,
    safe: BTreeMap<PathBuf, Option<usize>>,
    pending: Vec<Step>,
    /// The ends of the names of the files whose syncs are without effect, as a control.
    dropped: Vec<&'static str>,
}

impl Disk {
    /// The same disk, on which syncs of some files, by the ends of their names, do nothing.
    pub(crate) fn without_syncs_of(mut self, dropped: &[&'static str]) -> Self {
        self.dropped = dropped.to_vec();
        self
    }

    /// A disk that has everything in a folder, safely. `name` is the folder's name there.
    pub(crate) fn with_folder(folder: &Path, name: &Path) -> Self {
        let mut disk = Self::default();
        disk.put_folder(folder, name);
        disk.live.clone_from(&disk.safe);
        disk
    }

    fn put_folder(&mut self, folder: &Path, name: &Path) {
        self.safe.insert(name.to_owned(), None);
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), name.join(entry.file_name()));
            if path.is_dir() {
                self.put_folder(&path, &name);
            } else {
                let bytes = fs::read(path).unwrap();
                self.files.push(Content { live: bytes.clone(), safe: bytes, pending: Vec::new() });
                self.safe.insert(name, Some(self.files.len() - 1));
            }
        }
    }

    fn step(&mut self, step: Step) {
        step.apply(&mut self.live);
        self.pending.push(step);
    }

    fn file(&mut self, path: &Path) -> Option<&mut Content> {
        let file = (*self.live.get(path)?)?;
        self.files.get_mut(file)
    }

    /// Does what a program did.
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Open(path, creates, empties) => {
                if *creates && !self.live.contains_key(path) {
                    self.files.push(Content::default());
                    self.step(Step::Name(path.clone(), self.files.len() - 1));
                }
                if let Some(file) = self.file(path).filter(|file| *empties && !file.live.is_empty()) {
                    file.change(Change::Cut(0));
                }
            }
            Op::Write(path, at, bytes) => {
                let file = self.file(path).unwrap();
                let at = at.unwrap_or(file.live.len());
                file.change(Change::Write(at, bytes.clone()));
            }
            Op::Cut(path, length) => {
                let file = self.file(path).unwrap();
                if file.live.len() != *length {
                    file.change(Change::Cut(*length));
                }
            }
            Op::Sync(path) if self.dropped.iter().any(|end| path.to_string_lossy().ends_with(end)) => {}
            Op::Sync(path) => match self.file(path) {
                Some(file) => file.sync(),
                None => {
                    let (done, left) = std::mem::take(&mut self.pending).into_iter().partition(|step| step.is_in(path));
                    let done: Vec<Step> = done;
                    done.iter().for_each(|step| step.apply(&mut self.safe));
                    self.pending = left;
                }
            },
            Op::Rename(from, to) => self.step(Step::Rename(from.clone(), to.clone())),
            Op::Remove(path) => self.step(Step::Remove(path.clone())),
            Op::Folder(path) => self.step(Step::Folder(path.clone())),
            Op::Told(_) => {}
        }
    }

    /// Writes to `root` what may be left after a crash now.
    pub(crate) fn crash(&self, root: &Path, chance: &mut Dice) {
        let mut names = self.safe.clone();
        // Most file systems keep the order of what is done to names; none promises it.
        if chance.below(2) == 0 {
            let n = chance.below(self.pending.len() + 1);
            self.pending[..n].iter().for_each(|step| step.apply(&mut names));
        } else {
            self.pending.iter().filter(|_| chance.below(2) == 0).for_each(|step| step.apply(&mut names));
        }
        for (path, file) in &names {
            let place = root.join(path);
            // What lies in a folder that is lost is lost.
            if !place.parent().is_some_and(Path::is_dir) {
                continue;
            }
            match file {
                None => fs::create_dir(&place).unwrap(),
                Some(file) => fs::write(&place, self.files[*file].crashed(chance)).unwrap(),
            }
        }
    }

    /// The names of the files, and their bytes, as a program sees them without a crash.
    pub(crate) fn shown(&self) -> BTreeMap<PathBuf, &[u8]> {
        self.live.iter().filter_map(|(path, file)| Some((path.clone(), self.files[(*file)?].live.as_slice()))).collect()
    }
}

#[test]
fn what_was_not_synced_may_be_lost_and_what_was_is_there() {
    let (folder, old, new) = (PathBuf::from("l"), PathBuf::from("l/old"), PathBuf::from("l/new"));
    let mut disk = Disk::default();
    disk.safe.insert(folder.clone(), None);
    disk.live = disk.safe.clone();
    let write = |bytes: &[u8]| Op::Write(old.clone(), None, bytes.to_vec());
    for op in [Op::Open(old.clone(), true, false), write(b"one"), Op::Sync(old.clone()), Op::Sync(folder), write(b" two")] {
        disk.apply(&op);
    }
    disk.apply(&Op::Rename(old, new));
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let root = tempfile::tempdir().unwrap();
        disk.crash(root.path(), &mut Dice(seed));
        let found = ["l/old", "l/new"].map(|name| fs::read(root.path().join(name)).ok());
        assert!(found.iter().filter(|file| file.is_some()).count() == 1, "a rename is whole or not done");
        let bytes = found.iter().flatten().next().unwrap().clone();
        assert!(bytes.starts_with(b"one"));
        seen.insert((found[0].is_some(), bytes));
    }
    for is_old in [true, false] {
        assert!(seen.contains(&(is_old, b"one".to_vec())) && seen.contains(&(is_old, b"one two".to_vec())), "{seen:?}");
    }
}
