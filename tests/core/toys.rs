//! The made world of toys: one seed, one world, on any number of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;

use image::RgbImage;
use imageproc::corners::corners_fast9;
use tessera_core::Error;
use tessera_core::data::toys::{COLOURS, CameraView, Category, Faults, PATTERNS, ToyFormat, ToyOptions, VIEWS, generate, render};
use tessera_core::picture::decode::WHOLE;
use tessera_core::picture::{Decoder, InProcess, grey};
use tessera_core::progress::Progress;

const SMALL: ToyOptions = ToyOptions {
    instances: 2,
    views: 2,
    side: 32,
    stereo: false,
    format: ToyFormat::Folders,
    seed: 7,
    jpeg_quality: 90,
    faults: Faults { wrong_labels: 0, near_duplicates: 0, corrupt: 0 },
    sample: false,
};

/// All files below a folder, by their path from it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            out.extend(files(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            out.insert(name, fs::read(&path).unwrap());
        }
    }
    out
}

fn made(options: &ToyOptions) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    generate(options, folder.path(), &Progress::default()).unwrap();
    files(folder.path())
}

fn pictures(files: &BTreeMap<String, Vec<u8>>, under: &str) -> usize {
    files.keys().filter(|name| name.starts_with(under) && name.ends_with(".jpg")).count()
}

fn lines(files: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<String> {
    String::from_utf8(files[name].clone()).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_picture_depends_on_seed_category_instance_and_view_alone() {
    let base = render(Category::Boat, 1, 0, &SMALL);
    assert_eq!(base.picture, render(Category::Boat, 1, 0, &ToyOptions { instances: 9, views: 40, ..SMALL }).picture);
    assert_ne!(base.picture, render(Category::Boat, 1, 0, &ToyOptions { seed: 8, ..SMALL }).picture);
    assert_ne!(base.picture, render(Category::Boat, 1, 1, &SMALL).picture);
    assert_ne!(base.picture, render(Category::Boat, 2, 0, &SMALL).picture);
    assert_ne!(base.picture, render(Category::Dog, 1, 0, &SMALL).picture);
    let pair = render(Category::Boat, 1, 0, &ToyOptions { stereo: true, ..SMALL });
    assert_eq!(pair.picture, base.picture);
    assert_ne!(pair.right.unwrap(), base.picture);
}

#[test]
fn every_machine_paints_the_same() {
    let sums = Category::ALL.map(|category| {
        let picture = render(category, 1, 0, &SMALL).picture;
        picture.as_raw().iter().fold(0u32, |sum, &v| sum.wrapping_mul(31).wrapping_add(u32::from(v)))
    });
    assert_eq!(sums, [1_023_501_662, 1_927_640_565, 481_721_087, 487_947_993, 1_001_511_068, 1_592_951_778]);
}

#[test]
fn one_and_two_threads_write_the_same_files() {
    let options = ToyOptions { faults: Faults { wrong_labels: 1, near_duplicates: 2, corrupt: 1 }, ..SMALL };
    let [one, two] = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(|| made(&options)));
    assert!(one == two);
}

#[test]
fn views_differ_and_captions_tell_the_truth() {
    for category in [Category::Airplane, Category::Truck] {
        let views: BTreeSet<CameraView> = (0..VIEWS).map(|n| CameraView::of(3, category, 1, n)).collect();
        assert_eq!(views.len(), VIEWS as usize);
        assert!(views.iter().all(|v| v.elevation <= 8 && v.azimuth <= 34 && v.azimuth % 2 == 0 && v.lighting <= 5));
    }
    let (mut colours, mut patterns) = (BTreeSet::new(), BTreeSet::new());
    for instance in 1..=12 {
        let toy = render(Category::House, instance, 5, &SMALL);
        colours.insert(toy.colour);
        patterns.insert(toy.pattern);
        for caption in &toy.captions {
            assert!(caption.contains("house") && caption.contains(toy.colour) && caption.contains(toy.pattern), "{caption}");
        }
        assert!(toy.captions[0].contains(toy.view.side()) && toy.captions[0].contains(toy.view.light()), "{}", toy.captions[0]);
    }
    assert!(colours.len() >= COLOURS.len() - 1, "{colours:?}");
    assert_eq!(patterns.len(), PATTERNS.len());
}

#[test]
fn folders_are_named_like_small_norb() {
    let written = made(&ToyOptions { stereo: true, ..SMALL });
    assert_eq!(pictures(&written, ""), 6 * 2 * 2 * 2);
    assert_eq!(lines(&written, "captions.tsv").len(), 48 * 3);
    for (number, instance) in [(0, 1), (1, 2)] {
        let view = CameraView::of(7, Category::Truck, instance, number);
        for eye in ["lt", "rt"] {
            let name = format!("truck/truck_{instance:02}_{}_{:02}_{}_{eye}.jpg", view.elevation, view.azimuth, view.lighting);
            assert!(written.contains_key(&name), "{name} is missing");
        }
    }
    let flat = made(&ToyOptions { format: ToyFormat::NorbNames, ..SMALL });
    assert_eq!((pictures(&flat, "train/"), pictures(&flat, "test/")), (12, 12));
    assert!(flat.contains_key("train/000000_airplane_01_lt.jpg") && flat.contains_key("test/000011_truck_02_lt.jpg"));
}

#[test]
fn norb_files_say_what_they_hold() {
    let written = made(&ToyOptions { format: ToyFormat::Mat, instances: 1, ..SMALL });
    let word = |file: &str, i: usize| i32::from_le_bytes(written[file][4 * i..4 * i + 4].try_into().unwrap());
    assert_eq!([0, 1, 2, 3, 4, 5].map(|i| word("toys-training-dat.mat", i)), [0x1E3D_4C55, 4, 12, 2, 32, 32]);
    assert_eq!([0, 1, 2, 3, 4, 5, 10].map(|i| word("toys-training-cat.mat", i)), [0x1E3D_4C54, 1, 12, 1, 1, 0, 5]);
    let view = CameraView::of(7, Category::Airplane, 1, 0);
    let info = [1, view.elevation, view.azimuth, view.lighting].map(|v| v as i32);
    assert_eq!([1, 2, 3, 4].map(|i| word("toys-training-info.mat", i)), [2, 12, 4, 1]);
    assert_eq!([5, 6, 7, 8].map(|i| word("toys-training-info.mat", i)), info);
    let toy = render(Category::Airplane, 1, 0, &SMALL);
    assert_eq!(written["toys-training-dat.mat"][24..24 + 32 * 32], grey(&toy.picture).into_raw());
    assert_eq!(written["toys-training-dat.mat"].len(), 24 + 12 * 2 * 32 * 32);
    assert_eq!(lines(&written, "captions.tsv").len(), 12 * 3);
}

#[test]
fn the_sample_keeps_pictures_aside_and_lists_its_faults() {
    let options = ToyOptions { instances: 3, views: 12, side: 48, ..ToyOptions::sample() };
    let folder = tempfile::tempdir().unwrap();
    let report = generate(&options, folder.path(), &Progress::default()).unwrap();
    let written = files(folder.path());
    assert_eq!((pictures(&written, "train/"), pictures(&written, "try-these/")), (6 * 12 + 5 + 1, 6 * 2 * 4));
    assert_eq!(report.images, 78 + 48);
    assert_eq!(lines(&written, "captions.tsv").len(), (78 + 48 - 1) * 3);
    assert_eq!(lines(&written, "planted.tsv").len(), 11);
    let decoder = InProcess::default();
    for planted in &report.planted {
        let path = folder.path().join(&planted.path);
        assert!(path.is_file(), "{}", planted.path);
        assert_eq!(decoder.decode(&path, WHOLE, &Progress::default()).is_err(), planted.kind == "corrupt", "{}", planted.path);
        if planted.kind == "wrong-label" {
            let of = |text: &str| Category::ALL.into_iter().filter(|c| text.contains(c.name())).collect::<Vec<_>>();
            assert_ne!(of(&planted.path), of(&planted.detail));
        }
    }
}

#[test]
fn wrong_options_and_full_folders_are_refused() {
    for (wrong, name) in [
        (ToyOptions { instances: 0, ..SMALL }, "instances"),
        (ToyOptions { views: VIEWS + 1, ..SMALL }, "views"),
        (ToyOptions { side: 16, ..SMALL }, "side"),
        (ToyOptions { jpeg_quality: 0, ..SMALL }, "jpeg_quality"),
        (ToyOptions { format: ToyFormat::Mat, ..ToyOptions::sample() }, "format"),
        (ToyOptions { instances: 2, ..ToyOptions::sample() }, "instances"),
        (ToyOptions { instances: 1000, views: 972, side: 96, format: ToyFormat::Mat, ..SMALL }, "instances"),
        (ToyOptions { format: ToyFormat::NorbNames, faults: Faults { corrupt: 1, ..Faults::default() }, ..SMALL }, "faults"),
        (ToyOptions { faults: Faults { corrupt: 5, ..Faults::default() }, ..SMALL }, "faults"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error = generate(&wrong, folder.path(), &Progress::default()).unwrap_err();
        assert!(matches!(error, Error::Option { name: found, .. } if found == name), "{error}");
        assert!(files(folder.path()).is_empty());
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.txt"), "precious").unwrap();
    for target in [folder.path().to_owned(), folder.path().join("mine.txt")] {
        let error = generate(&SMALL, &target, &Progress::default()).unwrap_err();
        assert!(matches!(error, Error::Data { .. }), "{error}");
    }
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn sets_that_norb_files_can_hold_are_not_refused() {
    let largest = ToyOptions { instances: 682, views: 1, side: 1024, format: ToyFormat::Mat, ..SMALL };
    largest.check().unwrap();
    ToyOptions { instances: 683, ..largest }.check().unwrap_err();
    ToyOptions { instances: 1000, views: 972, side: 1024, format: ToyFormat::Folders, ..SMALL }.check().unwrap();
}

#[test]
fn the_first_failure_stops_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let progress = Progress::default();
    let options = ToyOptions { views: 300, stereo: true, ..SMALL };
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            while progress.snapshot().done < 70 {
                thread::yield_now();
            }
            // Another program may write into the folder meanwhile.
            let truck = folder.path().join("truck");
            while truck.exists() {
                let _ = fs::remove_dir_all(&truck);
            }
        });
        generate(&options, folder.path(), &progress).unwrap_err()
    });
    assert!(matches!(&error, Error::Io { path, .. } if path.starts_with(folder.path().join("truck"))), "{error}");
    let snapshot = progress.snapshot();
    assert!(snapshot.done < snapshot.total / 2, "{} of {}", snapshot.done, snapshot.total);
    let written = files(folder.path());
    let listed: BTreeSet<String> = lines(&written, "captions.tsv").iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect();
    assert!(written.keys().filter(|name| name.ends_with(".jpg")).all(|name| listed.contains(name)));
}

#[test]
fn cancelling_keeps_what_was_painted() {
    for format in [ToyFormat::Folders, ToyFormat::Mat] {
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::default();
        let options = ToyOptions { views: 900, format, ..SMALL };
        let error = thread::scope(|scope| {
            scope.spawn(|| {
                while progress.snapshot().done < 70 {
                    thread::yield_now();
                }
                progress.cancel();
            });
            generate(&options, folder.path(), &progress).unwrap_err()
        });
        assert!(matches!(error, Error::Cancelled), "{error}");
        let written = files(folder.path());
        let captions = lines(&written, "captions.tsv").len();
        assert!(captions > 0 && captions.is_multiple_of(3));
        if format == ToyFormat::Folders {
            assert_eq!(pictures(&written, "") * 3, captions);
            assert!(pictures(&written, "") < 6 * 2 * 900);
        } else {
            let dat = &written["toys-training-dat.mat"];
            let n = i32::from_le_bytes(dat[8..12].try_into().unwrap()) as usize;
            assert_eq!((n * 3, 24 + n * 2 * 32 * 32), (captions, dat.len()));
        }
    }
}

/// Corners that are the strongest among their neighbours.
fn corners(picture: &RgbImage) -> usize {
    let found = corners_fast9(&grey(picture), 20);
    let scores: BTreeMap<(i64, i64), f32> = found.iter().map(|c| ((i64::from(c.x), i64::from(c.y)), c.score)).collect();
    let beaten = |x: i64, y: i64, score: f32| {
        (-1..=1).any(|dy| (-1..=1).any(|dx| scores.get(&(x + dx, y + dy)).is_some_and(|&s| s > score || (s == score && (dy, dx) < (0, 0)))))
    };
    scores.iter().filter(|&(&(x, y), &score)| !beaten(x, y, score)).count()
}

#[test]
fn pictures_have_enough_corners_and_not_too_many() {
    let options = ToyOptions::default();
    for category in Category::ALL {
        for (instance, view) in [(1, 0), (4, 5)] {
            let n = corners(&render(category, instance, view, &options).picture);
            assert!((55..=220).contains(&n), "{} {instance} {view}: {n}", category.name());
        }
    }
}
