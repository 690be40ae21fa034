//! Files from anywhere: decoding in processes of its own, bombs, and folders that mean harm.
#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "the long tests tell their figures")]

use std::fs::{self, File};
use std::io::Cursor;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::Value;
use tessera::session::{DECODE_WORKER, Session};
use tessera_core::Error;
use tessera_core::data::Labels;
use tessera_core::library::import::ImportOptions;
use tessera_core::picture::decode::{SIDE, WHOLE};
use tessera_core::picture::{Decoder, InProcess, Picture, Workers};
use tessera_core::progress::Progress;

use crate::world::World;

fn workers() -> Workers {
    Workers::new(PathBuf::from(env!("CARGO_BIN_EXE_tessera")), vec![DECODE_WORKER.into()], 2)
}

/// A program that greets as a worker and then does something else.
fn impostor(then: &str) -> Workers {
    let script = format!("printf TESSERA2; {then}");
    Workers::new("/bin/sh".into(), vec!["-c".into(), script.into()], 2)
}

fn decode(decoder: &dyn Decoder, path: &Path) -> tessera_core::Result<tessera_core::picture::Picture> {
    decoder.decode(path, SIDE, &Progress::default())
}

/// Good and bad files of every format.
fn specimens(world: &World) -> Vec<PathBuf> {
    let picture = RgbImage::from_fn(1400, 700, |x, y| Rgb([(x / 7) as u8, (y / 3) as u8, (x * y / 900) as u8]));
    let mut found = Vec::new();
    for (ending, format) in [
        ("png", ImageFormat::Png),
        ("jpg", ImageFormat::Jpeg),
        ("gif", ImageFormat::Gif),
        ("webp", ImageFormat::WebP),
        ("bmp", ImageFormat::Bmp),
        ("tiff", ImageFormat::Tiff),
        ("ppm", ImageFormat::Pnm),
    ] {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::from(picture.clone()).write_to(&mut bytes, format).unwrap();
        let bytes = bytes.into_inner();
        found.push(world.file(&format!("all/whole.{ending}"), &bytes));
        found.push(world.file(&format!("all/cut.{ending}"), &bytes[..bytes.len() / 3]));
        found.push(world.file(&format!("all/head.{ending}"), &bytes[..20]));
    }
    found.push(world.file("all/empty.png", b""));
    found.push(world.file("all/text.jpg", b"this is text"));
    found.push(world.at("all/missing.png"));
    found.push(world.at("all"));
    found
}

#[test]
fn a_worker_that_tries_can_do_nothing() {
    let world = World::with_library();
    let secret = world.file("secret", b"secret");
    let program = env!("CARGO_BIN_EXE_tessera");
    let arguments = [DECODE_WORKER, "--try", secret.to_str().unwrap(), world.path().to_str().unwrap(), program];
    let said = world.run(arguments).ended(0).stdout;
    let is_confined = cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));
    assert!(!is_confined || said.trim() == "false false false false", "reads, writes, connects, starts: {said}");
    assert!(!is_confined || !world.at("written-by-a-worker").exists());
    assert_eq!(world.run(["check", "lib.tessera", "--json"]).ended(0).object()["decoders_confined"], is_confined);
}

#[test]
fn workers_answer_as_this_process_does() {
    let world = World::new();
    let (workers, own) = (workers(), InProcess::default());
    let mut good = 0;
    for path in specimens(&world) {
        for side in [SIDE, 100, WHOLE] {
            let theirs = workers.decode(&path, side, &Progress::default());
            match (theirs, own.decode(&path, side, &Progress::default())) {
                (Ok(theirs), Ok(ours)) => {
                    assert!(theirs == ours, "{} differs", path.display());
                    good += 1;
                }
                (Err(theirs), Err(ours)) => assert_eq!((theirs.reason(), theirs.to_string()), (ours.reason(), ours.to_string())),
                (theirs, ours) => panic!("{}: {theirs:?} and {ours:?}", path.display()),
            }
        }
    }
    assert!(good >= 18, "{good}");
    assert_eq!((workers.deaths(), workers.remark()), (0, None));
}

#[test]
fn a_file_that_brings_decoders_down_is_given_up() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let dying = impostor("read -r -n 1 x; exit 3");
    let error = decode(&dying, &path).unwrap_err();
    assert!(matches!(error, Error::Fatal { .. }) && error.to_string().contains("no decoder survived"), "{error}");
    assert_eq!(dying.deaths(), 2, "it is tried twice");
    for babble in ["printf XXXXXXXXXXXXXXXX", "printf 'P\\377\\377\\377\\177\\377\\377\\377\\177'; exec sleep 9", "printf 'EQ'"] {
        let babbling = impostor(&format!("read -r -n 1 x; {babble}"));
        assert_eq!(decode(&babbling, &path).unwrap_err().reason(), "fatal", "{babble}");
    }
}

#[test]
fn a_file_that_takes_too_long_is_given_up() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let sleeping = impostor("exec sleep 100").with_patience(Duration::from_millis(200));
    let start = Instant::now();
    let error = decode(&sleeping, &path).unwrap_err();
    assert!(matches!(error, Error::Fatal { .. }) && start.elapsed() < Duration::from_secs(60), "{error}");
    assert_eq!(sleeping.deaths(), 1, "it is not given the time again");
}

#[test]
fn a_picture_in_work_can_be_cancelled() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let sleeping = impostor("exec sleep 100");
    let progress = Progress::default();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sleeping.decode(&path, SIDE, &progress));
        std::thread::sleep(Duration::from_millis(100));
        progress.cancel();
        assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
    });
    assert_eq!(sleeping.deaths(), 0, "that was not the file's doing");
}

#[test]
fn the_start_of_a_worker_can_be_cancelled() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let silent = Workers::new("/bin/sleep".into(), vec!["100".into()], 2);
    let progress = Progress::default();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| silent.decode(&path, SIDE, &progress));
        std::thread::sleep(Duration::from_millis(100));
        progress.cancel();
        let outcome = waiting.join().unwrap();
        assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    });
    assert_eq!((silent.deaths(), silent.remark()), (0, None));
}

#[test]
fn a_worker_that_dies_while_work_is_stopped_does_not_count() {
    for i in 0..10 {
        let world = World::new();
        let path = world.picture("a.png", 0, 1, i);
        let (busy, stop) = (world.at("busy"), world.at("stop"));
        let script = format!("printf TESSERA2; : > '{}'; until test -e '{}'; do :; done; exit 3", busy.display(), stop.display());
        let dying = Workers::new("/bin/sh".into(), vec!["-c".into(), script.into()], 1);
        let progress = Progress::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| dying.decode(&path, SIDE, &progress));
            while !busy.exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            progress.cancel();
            fs::write(&stop, "").unwrap();
            assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
        });
        assert_eq!(dying.deaths(), 0);
    }
}

#[test]
fn a_signal_to_the_program_is_none_to_its_workers() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let pid = world.at("pid");
    let script = format!("echo $$ > '{}'; exec '{}' {DECODE_WORKER}", pid.display(), env!("CARGO_BIN_EXE_tessera"));
    let workers = Workers::new("/bin/sh".into(), vec!["-c".into(), script.into()], 1);
    decode(&workers, &path).unwrap();
    let worker = rustix::process::Pid::from_raw(fs::read_to_string(pid).unwrap().trim().parse().unwrap()).unwrap();
    // What is typed at a terminal reaches the whole group of processes.
    assert_eq!(rustix::process::getpgid(Some(worker)).unwrap(), worker);
    assert_ne!(rustix::process::getpgid(None).unwrap(), worker);
}

/// Starts two jobs that decode, and cancels the second as soon as the first holds what the second
/// waits for.
fn the_second_can_be_cancelled(workers: &Workers, holds: impl Fn() -> bool) {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let (first, second) = (Progress::default(), Progress::default());
    std::thread::scope(|scope| {
        let working = scope.spawn(|| workers.decode(&path, SIDE, &first));
        while !holds() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let waiting = scope.spawn(|| workers.decode(&path, SIDE, &second));
        std::thread::sleep(Duration::from_millis(100));
        second.cancel();
        let outcome = waiting.join().unwrap();
        assert!(matches!(outcome, Err(Error::Cancelled)) && !working.is_finished(), "it waited for the other job: {outcome:?}");
        first.cancel();
        assert!(matches!(working.join().unwrap(), Err(Error::Cancelled)));
    });
    assert_eq!(workers.deaths(), 0);
}

#[test]
fn who_waits_for_a_worker_can_be_cancelled() {
    let world = World::new();
    let busy = world.at("busy");
    let script = format!("printf TESSERA2; read -r -n 1 x; : > '{}'; exec sleep 100", busy.display());
    let one = Workers::new("/bin/bash".into(), vec!["-c".into(), script.into()], 1).with_patience(Duration::from_secs(10));
    the_second_can_be_cancelled(&one, || busy.exists());
}

#[test]
fn who_waits_for_memory_can_be_cancelled() {
    let needy = impostor("printf 'N\\001\\000\\000\\000\\000\\000\\000\\000'; exec sleep 100").with_patience(Duration::from_secs(10));
    needy.limit_memory(1);
    the_second_can_be_cancelled(&needy, || needy.memory().reserved > 0);
}

#[test]
fn without_workers_it_decodes_by_itself_and_says_so() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let expected = decode(&InProcess::default(), &path).unwrap();
    for (program, arguments) in [("/nowhere/tessera", vec![]), ("/bin/sh", vec!["-c".into(), "echo hello".into()]), ("/bin/true", vec![])] {
        let none = Workers::new(program.into(), arguments, 2);
        assert_eq!(decode(&none, &path).unwrap(), expected);
        assert!(none.remark().unwrap().contains("same limits") && none.deaths() == 0);
    }
}

#[test]
fn a_file_that_has_killed_a_worker_never_comes_into_this_process() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let script = format!("test -e '{0}' && exit 1; : > '{0}'; printf TESSERA2; read -r -n 1 x; exit 3", world.at("dead").display());
    let dying = Workers::new("/bin/bash".into(), vec!["-c".into(), script.into()], 2);
    let outcome = decode(&dying, &path);
    assert!(matches!(outcome, Err(Error::Fatal { .. })), "{outcome:?}");
    assert_eq!(dying.deaths(), 1);
}

#[test]
fn workers_are_started_again_after_a_passing_failure() {
    let world = World::new();
    let path = world.picture("a.png", 0, 1, 1);
    let (pid, broken) = (world.at("pid"), world.at("broken"));
    let program = env!("CARGO_BIN_EXE_tessera");
    let script = format!("test -e '{}' && exit 1; echo $$ > '{}'; exec '{program}' {DECODE_WORKER}", broken.display(), pid.display());
    let workers = Workers::new("/bin/sh".into(), vec!["-c".into(), script.into()], 2);
    let expected = decode(&workers, &path).unwrap();
    assert_eq!(workers.remark(), None);
    // An idle worker is killed: the next file is not to blame for that.
    let first = fs::read_to_string(&pid).unwrap();
    fs::write(&broken, "").unwrap();
    let worker = rustix::process::Pid::from_raw(first.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(worker, rustix::process::Signal::KILL).unwrap();
    let (which, until) = (rustix::process::WaitId::Pid(worker), rustix::process::WaitIdOptions::EXITED);
    rustix::process::waitid(which, until | rustix::process::WaitIdOptions::NOWAIT).unwrap();
    assert_eq!(decode(&workers, &path).unwrap(), expected);
    assert!(workers.remark().is_some() && workers.deaths() == 0);
    fs::remove_file(&broken).unwrap();
    while workers.remark().is_some() {
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(decode(&workers, &path).unwrap(), expected);
    }
    assert!(fs::read_to_string(&pid).unwrap() != first && workers.deaths() == 0);
}

#[test]
fn a_deadly_file_is_decoded_once_and_then_never() {
    let world = World::with_images();
    let dying = Arc::new(impostor("read -r -n 1 x; exit 3"));
    let session = Session::new(2, 0).unwrap().with_decoder(Arc::clone(&dying) as _);
    let library = Mutex::new(session.open_or_create_library(&world.at("lib.tessera")).unwrap());
    let options = ImportOptions { labels: Labels::None, ..ImportOptions::default() };
    let first = session.import(&library, &world.at("images"), &options).unwrap();
    assert_eq!((first.failed.len(), first.worker_deaths), (24, 48));
    let again = session.import(&library, &world.at("images"), &options).unwrap();
    assert_eq!((again.failed.len(), again.worker_deaths), (24, 0));
    assert!(again.failed.iter().all(|failed| failed.reason == "fatal" && failed.detail.contains("not tried again")));
    let held = library.lock().unwrap();
    assert_eq!(held.health().unwrap().skipped.len(), 24);
    held.retry_skipped().unwrap();
    drop(held);
    assert_eq!(session.import(&library, &world.at("images"), &options).unwrap().worker_deaths, 48);
}

fn le(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Small files that claim to be large.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let png = |width: u32, height: u32| {
        let mut body = b"IHDR".to_vec();
        body.extend(width.to_be_bytes());
        body.extend(height.to_be_bytes());
        body.extend([8, 6, 0, 0, 0]);
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
        bytes.extend(&body);
        bytes.extend(crc32(&body).to_be_bytes());
        bytes.extend(b"\0\0\0\x10IDAT\x78\x9c\xed\xc1\x01\x01\0\0\0\x80\x90\xfe\xaf\xee");
        bytes
    };
    let bmp = |width: u32, height: u32, bits: u16, compression: u32| {
        let mut bytes = b"BM".to_vec();
        bytes.extend(le(&[200, 0, 54, 40, width, height]));
        bytes.extend(1u16.to_le_bytes());
        bytes.extend(bits.to_le_bytes());
        bytes.extend(le(&[compression, 0, 2835, 2835, 0, 0]));
        bytes.extend([0; 64]);
        bytes
    };
    let gif = |width: u16, height: u16| {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(width.to_le_bytes());
        bytes.extend(height.to_le_bytes());
        bytes.extend([0x80, 0, 0, 0, 0, 0, 255, 255, 255, b',', 0, 0, 0, 0]);
        bytes.extend(width.to_le_bytes());
        bytes.extend(height.to_le_bytes());
        bytes.extend([0, 2, 2, 0x44, 1, 0, b';']);
        bytes
    };
    let jpeg = |width: u16, height: u16, progressive: bool| {
        let mut bytes = vec![0xff, 0xd8, 0xff, if progressive { 0xc2 } else { 0xc0 }, 0, 17, 8];
        bytes.extend(height.to_be_bytes());
        bytes.extend(width.to_be_bytes());
        bytes.extend([3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0, 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
        bytes.extend([0; 200]);
        bytes
    };
    let tiff = |width: u32, height: u32, rows: u32| {
        let mut bytes = b"II*\0\x08\0\0\0\x08\0".to_vec();
        for (tag, value) in [(256u16, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (278, rows), (279, 0x7fff_ffff)] {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(4u16.to_le_bytes());
            bytes.extend(le(&[1, value]));
        }
        bytes.extend([0; 40]);
        bytes
    };
    let mut webp = b"RIFF\x40\0\0\0WEBPVP8L\x20\0\0\0\x2f\xff\xff\xff\x0f".to_vec();
    webp.extend([0x5a; 60]);
    vec![
        ("huge.png", png(65_535, 65_535)),
        ("wide.png", png(0x7fff_ffff, 1)),
        ("just.png", png(10_000, 10_000)),
        ("huge.bmp", bmp(60_000, 60_000, 24, 0)),
        ("runs.bmp", bmp(9_900, 9_900, 8, 1)),
        ("bits.bmp", bmp(0x7fff_ffff, 0x7fff_ffff, 1, 0)),
        ("huge.gif", gif(65_535, 65_535)),
        ("wide.gif", gif(65_535, 1_500)),
        ("huge.jpg", jpeg(65_500, 65_500, false)),
        ("slow.jpg", jpeg(9_000, 9_000, true)),
        ("huge.tif", tiff(0x7fff_ffff, 0x7fff_ffff, 1)),
        ("huge.webp", webp),
    ]
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1))))
}

fn report(world: &World) -> Vec<Value> {
    fs::read_to_string(world.at("report.jsonl")).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn bombs_are_refused_in_a_sentence() {
    let world = World::new();
    for (name, bytes) in bombs() {
        world.file(&format!("bombs/{name}"), &bytes);
    }
    let answer = world.run(["import", "lib.tessera", "bombs", "--json", "--report", "report.jsonl"]);
    assert!(!answer.stderr.contains("panicked"), "{}", answer.stderr);
    let answer = answer.object();
    assert_eq!((&answer["found"], &answer["worker_deaths"]), (&12.into(), &0.into()), "{answer}");
    let lines = report(&world);
    assert_eq!(answer["failed"], lines.len());
    for line in &lines {
        assert!(["too_large", "data"].contains(&line["reason"].as_str().unwrap()), "{line}");
    }
    assert!(lines.iter().filter(|line| line["reason"] == "too_large").count() >= 5, "{lines:?}");
}

#[test]
fn folders_that_mean_harm_get_a_line_each() {
    let world = World::with_images();
    let images = world.at("images");
    std::os::unix::fs::symlink(&images, images.join("loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", images.join("gone.png")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", images.join("zero.png")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(images.join("pipe.png")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(images.join("socket.jpg")).unwrap();
    fs::copy(images.join("disc/disc_01_0_0_0_lt.png"), images.join("disc").join(std::ffi::OsStr::from_bytes(b"caf\xe9 \xff\n.png")))
        .unwrap();
    dig(&images, 5000);
    let ran = world.run(["import", "lib.tessera", "images", "--json", "--report", "report.jsonl"]).ended(1);
    let answer = ran.object();
    let lines = report(&world);
    let reason = |name: &str| {
        let found: Vec<&Value> = lines.iter().filter(|line| line["path"].as_str().unwrap().ends_with(name)).collect();
        assert_eq!(found.len(), 1, "{name} in {lines:?}");
        found[0]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!((reason("loop"), reason("gone.png")), ("link".into(), "link".into()));
    assert_eq!((reason("pipe.png"), reason("socket.jpg")), ("special".into(), "special".into()));
    reason("zero.png");
    assert_eq!(lines.iter().filter(|line| line["reason"] == "too_deep").count(), 1);
    assert_eq!(answer["failed"], lines.iter().filter(|line| line["reason"] != "duplicate").count());
    assert_eq!((&answer["imported"], &answer["duplicate"]), (&24.into(), &1.into()), "{answer}");
    // Whoever removes the world would run out of open files.
    assert!(std::process::Command::new("rm").arg("-rf").arg(images.join("d")).status().unwrap().success());
}

/// Folders inside folders, deeper than any path may name, with a file in the last one.
fn dig(folder: &Path, depth: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = open(folder, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&here, "d", Mode::RWXU).unwrap();
        here = openat(&here, "d", flags, Mode::empty()).unwrap();
    }
    openat(&here, "never.png", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
}

/// Decodes nothing, and counts how often it was asked to.
#[derive(Default)]
struct Idle(AtomicUsize);

impl Decoder for Idle {
    fn decode(&self, path: &Path, _: u32, _: &Progress) -> tessera_core::Result<Picture> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(Error::data(path, "nothing to do", "a picture to decode", "leave it"))
    }
}

/// Files with pictures, files that claim to be pictures, and others.
fn crowd(world: &World, pictures: u32, broken: u32, others: u32) {
    let picture = fs::read(world.at("images/disc/disc_01_0_0_0_lt.png")).unwrap();
    let write = |name: String, bytes: &[u8]| {
        fs::create_dir_all(world.at(&name).parent().unwrap()).unwrap();
        fs::write(world.at(&name), bytes).unwrap();
    };
    for i in 0..pictures {
        write(format!("crowd/{}/{i:06}.png", i / 1000), &[picture.as_slice(), &i.to_le_bytes()].concat());
    }
    (0..broken).for_each(|i| write(format!("crowd/{}/{i:06}.jpg", i / 1000), b"no picture"));
    (0..others).for_each(|i| write(format!("crowd/{}/{i:06}.heic", i / 1000), b"another kind"));
}

fn a_crowd_is_looked_through(pictures: u32, broken: u32, others: u32) {
    let world = World::with_images();
    crowd(&world, pictures, broken, others);
    let import = ["import", "lib.tessera", "crowd", "--labels", "none", "--quiet", "--json", "--report", "report.jsonl"];
    let answer = world.run(import).ended(1).object();
    let expected = [pictures + broken + others, pictures, others, broken];
    for (key, n) in ["found", "imported", "unsupported", "failed"].into_iter().zip(expected) {
        assert_eq!(answer[key], n, "{answer}");
    }
    assert_eq!(report(&world).len(), (broken + others) as usize);
    println!("imported {expected:?} (found, imported, unsupported, failed) in {} s", answer["seconds"]);
    // Other bytes of the same length and time: who reads them again notices.
    for i in (0..pictures).step_by(100) {
        let path = world.at(&format!("crowd/{}/{i:06}.png", i / 1000));
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let length = fs::metadata(&path).unwrap().len();
        fs::write(&path, vec![0; length as usize]).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    (0..broken).for_each(|i| fs::remove_file(world.at(&format!("crowd/{}/{i:06}.jpg", i / 1000))).unwrap());
    let idle = Arc::new(Idle::default());
    let session = Session::new(2, 0).unwrap().with_decoder(Arc::clone(&idle) as _);
    let library = Mutex::new(session.open_library(&world.at("lib.tessera")).unwrap());
    let start = std::time::Instant::now();
    let options = ImportOptions { labels: Labels::None, ..ImportOptions::default() };
    let report = session.import(&library, &world.at("crowd"), &options).unwrap();
    println!("looked through again in {:.2} s", start.elapsed().as_secs_f64());
    assert_eq!((report.unchanged, report.unsupported), (pictures as usize, others as usize), "{report:?}");
    assert_eq!((report.imported, report.failed.len(), idle.0.load(Ordering::Relaxed)), (0, 0, 0));
}

#[test]
fn a_rescan_neither_decodes_nor_reads() {
    a_crowd_is_looked_through(300, 20, 10);
}

#[test]
#[ignore = "200,000 files"]
fn long_a_crowd_of_files() {
    a_crowd_is_looked_through(100_000, 60_000, 40_000);
}
