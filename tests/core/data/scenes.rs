//! Generated compositions and symmetries: what they show, their names, and that a seed fixes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use image::{GrayImage, Luma, Rgb, RgbImage};
use tempfile::tempdir;
use tessera_core::Error;
use tessera_core::data::scenes::Gallery;
use tessera_core::data::scenes::compositions::{self, CompositionOptions};
use tessera_core::data::scenes::symmetries::{self, SymmetryOptions};
use tessera_core::data::{Dataset, NorbWriter, OpenOptions};
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;

fn toys() -> Gallery {
    Gallery::toys(4, 4, 32, 0, &Progress::default()).unwrap()
}

fn open(folder: &Path) -> Dataset {
    Dataset::open(folder, &OpenOptions::default(), &Progress::default()).unwrap()
}

/// All files below a folder, by path from it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/"), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The lines of `scenes.tsv`: path and the views it shows.
fn table(folder: &Path) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(folder.join("scenes.tsv")).unwrap();
    let line = |line: &str| {
        let (path, shows) = line.split_once('\t').unwrap();
        (path.to_owned(), shows.split(' ').map(str::to_owned).collect())
    };
    text.lines().map(line).collect()
}

#[test]
fn compositions_come_mostly_from_their_collection() {
    let folder = tempdir().unwrap();
    let options = CompositionOptions { train: 200, test: 100, side: 64, ..CompositionOptions::default() };
    let report = compositions::generate(&toys(), &options, folder.path(), &Progress::default()).unwrap();
    assert_eq!(report.images, 300);
    let data = open(&folder.path().join("train"));
    assert_eq!((data.items.len(), data.classes.join(" ")), (200, "a b".to_owned()));
    assert!(data.items.iter().all(|item| item.group.is_none()), "every picture is a composition of its own");

    let table = table(folder.path());
    assert_eq!(table.len(), 300);
    let (mut own, mut views) = (0, [BTreeSet::new(), BTreeSet::new()]);
    for (path, shows) in &table {
        let categories: Vec<&str> = shows.iter().map(|view| view.split('_').next().unwrap()).collect();
        assert_eq!(categories, ["airplane", "boat", "dog"]);
        let is_b = path.split('/').nth(1) == Some("b");
        own += shows.iter().filter(|view| (view.split('_').nth(1).unwrap().parse::<u32>().unwrap() > 2) == is_b).count();
        views[usize::from(path.starts_with("test"))].extend(shows.iter().cloned());
    }
    let share = own as f64 / (3.0 * table.len() as f64);
    assert!((share - 5.0 / 6.0).abs() < 0.06, "{share} of the objects are of their picture's collection");
    assert!(views[0].is_disjoint(&views[1]), "training and test pictures show different views");
    let instances =
        |views: &BTreeSet<String>| views.iter().map(|view| view.rsplitn(4, '_').last().unwrap().to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(instances(&views[0]), instances(&views[1]), "of the same objects");
}

#[test]
fn symmetries_have_a_class_without_an_object() {
    let folder = tempdir().unwrap();
    let options = SymmetryOptions { train: 70, test: 35, side: 48, seed: 3 };
    assert_eq!(symmetries::generate(&toys(), &options, folder.path(), &Progress::default()).unwrap().images, 105);
    let data = open(&folder.path().join("train"));
    assert_eq!(data.classes.join(" "), "airplane boat dog house none teapot truck");
    let counts: Vec<usize> = data.by_class().iter().map(Vec::len).collect();
    assert_eq!(counts, [10; 7]);
    for (path, shows) in table(folder.path()) {
        let category = path.split('/').nth(1).unwrap();
        let shown = shows[0].split('_').next().unwrap();
        assert_eq!(shown, if category == "none" { "-" } else { category });
    }
    for item in &data.items {
        let group = item.group.as_deref().unwrap();
        let class = data.class_name(item.class);
        assert!(group.starts_with(class), "{group} tells the object of a picture of {class}");
        let number: usize = group.rsplit('/').next().unwrap().parse().unwrap();
        assert!((1..=if class == "none" { 24 } else { 4 }).contains(&number));
    }
}

#[test]
fn a_seed_fixes_every_pixel() {
    let make = |seed: u64, train: u32| {
        let folder = tempdir().unwrap();
        let (gallery, progress) = (toys(), Progress::default());
        let some = CompositionOptions { train, test: 2, side: 64, seed, ..CompositionOptions::default() };
        compositions::generate(&gallery, &some, &folder.path().join("compositions"), &progress).unwrap();
        let some = SymmetryOptions { train, test: 2, side: 32, seed };
        symmetries::generate(&gallery, &some, &folder.path().join("symmetries"), &progress).unwrap();
        files(folder.path())
    };
    let (first, again, longer, other) = (make(1, 8), make(1, 8), make(1, 12), make(2, 8));
    assert!(first == again);
    assert!(first.iter().all(|(path, bytes)| path.ends_with("tsv") || longer[path] == *bytes), "more pictures change none");
    assert!(first.iter().filter(|(path, _)| path.ends_with("jpg")).all(|(path, bytes)| other.get(path) != Some(bytes)));
}

/// Photographs with masks: the objects alone are pasted, whatever was behind them.
#[test]
fn photographs_are_cut_out_by_their_masks() {
    let folder = tempdir().unwrap();
    let at = |part: &str, name: String| folder.path().join(part).join(name);
    let disc = |x: u32, y: u32| (x as i32 - 16).pow(2) + (y as i32 - 16).pow(2) < 64;
    for (c, category) in ["cup", "dog", "pear"].into_iter().enumerate() {
        fs::create_dir_all(at("images", category.into())).unwrap();
        fs::create_dir_all(at("masks", category.into())).unwrap();
        for (instance, azimuth) in [(1, 0), (1, 90), (2, 0), (2, 90)] {
            let name = format!("{category}/{category}_{instance:02}_000_{azimuth:03}.png");
            let colour = [[250, 0, 0], [0, 0, 250], [0, 250, 0]][c];
            let picture = RgbImage::from_fn(32, 32, |x, y| Rgb(if disc(x, y) { colour } else { [255, 0, 255] }));
            picture.save(at("images", name.clone())).unwrap();
            GrayImage::from_fn(32, 32, |x, y| Luma([if disc(x, y) { 255 } else { 0 }])).save(at("masks", name)).unwrap();
        }
    }
    let progress = Progress::default();
    let data = open(&folder.path().join("images"));
    let refused = Gallery::open(&data, None, &InProcess::default(), &progress).err().unwrap();
    assert!(refused.to_string().contains("no folder of masks"), "{refused}");
    let gallery = Gallery::open(&data, Some(&folder.path().join("masks")), &InProcess::default(), &progress).unwrap();
    assert_eq!(gallery.categories(), ["cup", "dog", "pear"]);

    let options = CompositionOptions { train: 6, test: 6, side: 96, ..CompositionOptions::default() };
    compositions::generate(&gallery, &options, &folder.path().join("made"), &progress).unwrap();
    for (path, _) in table(&folder.path().join("made")) {
        let picture = image::open(folder.path().join("made").join(path)).unwrap().to_rgb8();
        let share = |is: &dyn Fn([u8; 3]) -> bool| picture.pixels().filter(|p| is(p.0)).count() as f64 / (96.0 * 96.0);
        // A disc has 197 of the 1,024 pixels of its frame, which is 36 of 96 pixels wide here.
        let expected = 197.0 / 1024.0 * (36.0f64 / 96.0).powi(2);
        for is in [&|p: [u8; 3]| p[0] > 180 && p[1] < 70 && p[2] < 70, &|p: [u8; 3]| p[2] > 180 && p[0] < 70, &|p: [u8; 3]| {
            p[1] > 180 && p[0] < 70
        }] as [&dyn Fn([u8; 3]) -> bool; 3]
        {
            let found = share(is);
            assert!((found / expected - 1.0).abs() < 0.3, "{found} of the picture, not {expected}");
        }
        assert_eq!(share(&|p| p[0] > 200 && p[2] > 200 && p[1] < 80), 0.0, "nothing of the background");
    }
    let wrong = |categories: &[&str]| {
        let categories = categories.iter().map(|c| (*c).to_owned()).collect();
        let options = CompositionOptions { categories, ..options.clone() };
        compositions::generate(&gallery, &options, &folder.path().join("wrong"), &progress).unwrap_err()
    };
    for categories in [&["cup", "dog"][..], &["cup", "cup", "dog"], &["cup", "dog", "cat"], &["cup", "dog", "pear", "cup"]] {
        assert!(matches!(wrong(categories), Error::Option { name: "categories", .. }), "{categories:?}");
    }
}

/// Frames of a NORB set need no masks: the toy is what differs from the background.
#[test]
fn norb_frames_are_cut_out_by_their_background() {
    let folder = tempdir().unwrap();
    let mut writer = NorbWriter::create(&folder.path().join("small"), 40, 40).unwrap();
    for (category, instance, azimuth) in (0..3).flat_map(|c| (0..2).flat_map(move |i| (0..2).map(move |a| (c, i, a)))) {
        // A ring with a stain of dirt beside it.
        let frame = GrayImage::from_fn(40, 40, |x, y| {
            let far = (x as i32 - 18).pow(2) + (y as i32 - 20).pow(2);
            Luma([if (9..100).contains(&far) {
                40
            } else if x > 36 && y > 36 {
                90
            } else {
                180 + (x % 3) as u8
            }])
        });
        writer.push(category, &[instance, 0, azimuth, 0], &frame, &frame).unwrap();
    }
    let data = open(&writer.finish().unwrap());
    let gallery = Gallery::open(&data, None, &InProcess::default(), &Progress::default()).unwrap();
    let options = CompositionOptions { train: 2, test: 2, side: 256, ..CompositionOptions::default() };
    compositions::generate(&gallery, &options, &folder.path().join("made"), &Progress::default()).unwrap();
    for (path, _) in table(&folder.path().join("made")) {
        let picture = image::open(folder.path().join("made").join(path)).unwrap().to_luma8();
        let dark = picture.pixels().filter(|p| p[0] < 70).count() as f64;
        // Three discs: what the ring surrounds belongs to the object, and is light.
        let expected = 3.0 * std::f64::consts::PI * (100.0 - 9.0) * 2.4f64.powi(2);
        assert!((dark / expected - 1.0).abs() < 0.15, "{dark} dark pixels, not {expected}");
    }
}
