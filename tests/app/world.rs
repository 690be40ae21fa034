//! Running the program, and folders of images to run it on.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use image::{Rgb, RgbImage};
use memchr::memmem;
use serde_json::Value;
use tempfile::TempDir;

/// The output and exit code of a run of the program.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The JSON objects on stdout, one a line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The one JSON object that is the last line of stdout.
    pub(crate) fn object(&self) -> Value {
        serde_json::from_str(self.stdout.lines().last().unwrap_or_else(|| panic!("nothing on stdout; stderr: {}", self.stderr))).unwrap()
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Checks that the complaint has this in it.
    #[track_caller]
    pub(crate) fn complains(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "{words:?} is not in {}", self.stderr);
        self
    }
}

/// The program in `folder`, with its data folder there too and no display.
pub(crate) fn program<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(arguments).current_dir(folder).env("XDG_DATA_HOME", folder.join("home"));
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

/// Has another program, such as `strace`, run what a command would run, with its folder and
/// variables.
pub(crate) fn run_by(mut other: Command, command: &Command) -> Command {
    other.arg(command.get_program()).args(command.get_args());
    command.get_current_dir().map(|folder| other.current_dir(folder));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other
}

/// Runs the program in `folder`.
pub(crate) fn tessera<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Ran {
    ran(program(folder, arguments).stdin(Stdio::null()).output().unwrap())
}

/// How a run ended.
pub(crate) fn ran(Output { status, stdout, stderr }: Output) -> Ran {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

/// Copies a folder with everything in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

/// The seeds that a long test tries: those of `TESSERA_TRIALS`, such as `1000..2000`, or the usual
/// ones.
pub(crate) fn trials(usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("TESSERA_TRIALS") else { return usual };
    let range = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.unwrap_or_else(|| panic!("TESSERA_TRIALS is {text:?}, but it must be a range like 1000..2000"))
}

/// A folder of the test's own.
pub(crate) struct World(TempDir);

impl World {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// In memory, where the system has files there: for tests of which a power failure is another
    /// matter.
    pub(crate) fn in_memory() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    /// A world with `images`: two classes, three objects each, four views an object.
    pub(crate) fn with_images() -> Self {
        let world = Self::new();
        for (class, instance, view) in (0..2).flat_map(|c| (1..4).flat_map(move |i| (0..4).map(move |v| (c, i, v)))) {
            let name = ["disc", "grid"][class];
            world.picture(&format!("images/{name}/{name}_{instance:02}_{view}_0_0_lt.png"), class, instance, view);
        }
        world
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a picture of a thing of class 0 (rings) or 1 (squares).
    pub(crate) fn picture(&self, name: &str, class: usize, instance: u32, view: u32) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        picture(class, instance, view).save(&path).unwrap();
        path
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        tessera(self.path(), arguments)
    }

    /// Starts the program with its three streams held by the test.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        self.start_in(arguments, &[])
    }

    /// The same with further variables in its environment.
    pub(crate) fn start_in<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, variables: &[(&str, &str)]) -> Child {
        let mut command = program(self.path(), arguments);
        command.envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program with `input` on its stdin.
    pub(crate) fn feed<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, input: &[u8]) -> Ran {
        let mut child = self.start(arguments);
        child.stdin.take().unwrap().write_all(input).unwrap();
        ran(child.wait_with_output().unwrap())
    }

    /// A world with `images` and a library `lib.tessera` of them.
    pub(crate) fn with_library() -> Self {
        let world = Self::with_images();
        world.run(["import", "lib.tessera", "images"]).ended(0);
        world
    }

    /// Trains on `images` and returns the run.
    pub(crate) fn trained(&self) -> Ran {
        self.run(["train", "images", "--to", "model", "--json"]).ended(0)
    }
}

fn picture(class: usize, instance: u32, view: u32) -> RgbImage {
    let colour = Rgb([(60 * instance) as u8, 90, 255 - (50 * instance) as u8]);
    RgbImage::from_fn(96, 96, |x, y| {
        let (dx, dy) = (x as i32 - 48 - view as i32, y as i32 - 46);
        let lit = match class {
            0 => dx * dx + dy * dy < 900 && (dx * dx + dy * dy) / 90 % 2 == 0,
            _ => dx.abs().max(dy.abs()) < 30 && (dx.div_euclid(8) + dy.div_euclid(8)) % 2 == 0,
        };
        if lit { colour } else { Rgb([235, 235, (220 + view) as u8]) }
    })
}

/// A file that has these bytes in it: the one at `place`, or one below the folder there.
pub(crate) fn holder(place: &Path, bytes: &[u8]) -> Option<PathBuf> {
    if place.is_dir() {
        return fs::read_dir(place).unwrap().find_map(|entry| holder(&entry.unwrap().path(), bytes));
    }
    memmem::find(&fs::read(place).unwrap(), bytes).map(|_| place.to_owned())
}
