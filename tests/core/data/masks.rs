//! Masks and maps of other pictures are told from pictures by their names and their look.

use std::fs;

use image::{GrayImage, Luma, Rgb, RgbImage};
use proptest::prelude::*;
use tessera_core::data::Masks;
use tessera_core::picture::glance::{Colours, Glance};
use tessera_core::progress::Progress;

use super::*;

fn with(dir: &Path, masks: Masks) -> Dataset {
    Dataset::open(dir, &OpenOptions { labels: Labels::None, masks, ..OpenOptions::default() }, &Progress::default()).expect("a set")
}

/// The masks below a folder, each with its picture.
fn masks(dir: &Path) -> Vec<(String, String)> {
    let below = |path: &Path| path.strip_prefix(dir).expect("below").to_string_lossy().into_owned();
    with(dir, Masks::Auto).masks.iter().map(|mask| (below(&mask.path), below(&mask.of))).collect()
}

/// A picture of many colours.
fn photograph(path: &Path) {
    RgbImage::from_fn(24, 24, |x, y| Rgb([(x * 37 + y * 91) as u8, (x * 53) as u8, (y * 17 + x * x) as u8])).save(path).expect("saved");
}

/// A picture of one channel, or of a table of colours.
fn flat(path: &Path) {
    let mask = image::DynamicImage::from(GrayImage::from_fn(24, 24, |x, y| Luma([if x > y { 255 } else { 0 }])));
    let is_gif = path.extension().is_some_and(|ending| ending == "gif");
    if is_gif { mask.to_rgba8().save(path) } else { mask.save(path) }.expect("saved");
}

#[test]
fn layouts_of_real_sets_are_understood() {
    for (picture, mask) in [
        ("1/cow3-066-243.png", "1/maps/cow3-066-243-map.png"),
        ("1/cow3-066-243.jpg", "1/cow3-066-243-map.png"),
        ("JPEGImages/2007_000032.jpg", "SegmentationClass/2007_000032.png"),
        ("images/Abyssinian_1.jpg", "annotations/trimaps/Abyssinian_1.png"),
        ("images/001.Black/a_0001.jpg", "segmentations/001.Black/a_0001.png"),
        ("benign/benign (1).png", "benign/benign (1)_mask.png"),
        ("benign/benign (1).png", "benign/benign (1)_mask_1.png"),
        ("train/29bb_01.jpg", "train_masks/29bb_01_mask.gif"),
        ("ISIC_0000000.jpg", "ISIC_0000000_Segmentation.png"),
        ("img_07.jpg", "mask_07.png"),
        ("sample1/image.jpg", "sample1/mask.png"),
        ("x.jpg", "x_ground_truth.png"),
        ("1_9_s.bmp", "1_9_s_GT.bmp"),
    ] {
        let dir = folder(&[picture, mask]);
        photograph(&dir.path().join(picture));
        flat(&dir.path().join(mask));
        assert_eq!(masks(dir.path()), [(mask.to_owned(), picture.to_owned())], "{mask} beside {picture}");
        assert_eq!(with(dir.path(), Masks::Keep).items.len(), 2);
    }
}

#[test]
fn a_picture_without_another_is_no_mask() {
    for files in [
        &["maps/europe.png", "maps/asia.png"][..],
        &["mask.png", "street-map.png"],
        &["cat/001.png", "mask/001.png"],
        &["a/x.png", "b/x-map.png"],
        &["bitmap.png", "bit.png", "x.png", "xmask.png"],
    ] {
        let dir = folder(files);
        assert_eq!(masks(dir.path()), [], "{files:?}");
    }
}

#[test]
fn what_looks_like_a_photograph_stays() {
    let dir = folder(&[]);
    let noise = |x: u32, y: u32| (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).wrapping_mul(2_246_822_519).to_be_bytes();
    let photo = RgbImage::from_fn(64, 64, |x, y| Rgb([noise(x, y)[0], noise(x, y)[1], noise(x, y)[2]]));
    let two_colours = RgbImage::from_fn(64, 64, |x, _| Rgb(if x < 32 { [0; 3] } else { [255, 0, 0] }));
    let grey = GrayImage::from_fn(64, 64, |x, y| Luma([noise(x, y)[0]]));
    let save = |name: &str, kind: &str| {
        photo.save(dir.path().join(format!("{name}.png"))).unwrap();
        let mask = dir.path().join(format!("{name}-{kind}.png"));
        match kind {
            "map" => photo.save(mask).unwrap(),
            "seg" => two_colours.save(mask).unwrap(),
            _ => grey.save(mask).unwrap(),
        }
    };
    for name in ["one", "two", "three"] {
        ["map", "seg", "depth"].into_iter().for_each(|kind| save(name, kind));
    }
    let found = masks(dir.path());
    assert_eq!(found.len(), 6, "those with few colours or one channel: {found:?}");
    assert!(found.iter().all(|(mask, _)| !mask.ends_with("map.png")), "{found:?}");
    assert_eq!(with(dir.path(), Masks::LeaveOut).masks.len(), 9);
    assert_eq!(with(dir.path(), Masks::Keep).masks.len(), 0);
}

/// An outline beside a JPEG that differs in its ending alone is a mask; another picture, and the
/// same one in another format, are none.
#[test]
fn outlines_of_the_same_name_are_masks() {
    let dir = folder(&[]);
    let outline = |side: u32| GrayImage::from_fn(side, side, |x, y| Luma([if x > y { 255 } else { 0 }]));
    let photo = RgbImage::from_fn(96, 96, |x, y| Rgb([(x * 37 + y * 91) as u8, (x * 53) as u8, (y * 17 + x * x) as u8]));
    fs::create_dir_all(dir.path().join("cow")).unwrap();
    fs::create_dir_all(dir.path().join("horse")).unwrap();
    for name in ["cow/1", "cow/2", "horse/1", "horse/2", "horse/3"] {
        photo.save(dir.path().join(format!("{name}.jpg"))).unwrap();
    }
    for name in ["cow/1.png", "cow/2.png", "cow/3.png"] {
        outline(96).save(dir.path().join(name)).unwrap();
    }
    photo.save(dir.path().join("horse/1.png")).unwrap();
    photo.save(dir.path().join("horse/2.png")).unwrap();
    outline(64).save(dir.path().join("horse/3.bmp")).unwrap();
    let of = |name: &str| (format!("cow/{name}.png"), format!("cow/{name}.jpg"));
    assert_eq!(masks(dir.path()), [of("1"), of("2")]);
    assert_eq!(with(dir.path(), Masks::Keep).masks.len(), 0);
}

#[test]
fn ordinary_pictures_stay_whatever_they_are_called() {
    // Of a format of whose colours nothing is known; black-and-white photographs; a photograph in
    // another folder than masks of that name.
    let dir = folder(&[
        "mustang.webp",
        "mustang_gt.webp",
        "photos/1.png",
        "maps/1.png",
        "set/a.png",
        "set/a-mask.png",
        "my/b.png",
        "my/b-mask.png",
    ]);
    for name in ["photos/1.png", "maps/1.png", "set/a-mask.png"] {
        flat(&dir.path().join(name));
    }
    for name in ["set/a.png", "my/b.png", "my/b-mask.png"] {
        photograph(&dir.path().join(name));
    }
    assert_eq!(masks(dir.path()), [("set/a-mask.png".to_owned(), "set/a.png".to_owned())]);
}

#[test]
fn heads_tell_size_and_colours() {
    let dir = folder(&[]);
    let picture = RgbImage::from_fn(30, 20, |x, y| Rgb([x as u8 * 8, y as u8 * 12, 99]));
    let grey = GrayImage::from_fn(30, 20, |x, y| Luma([(x * y) as u8]));
    for (ending, exact) in [("png", true), ("jpg", false), ("bmp", true), ("ppm", true)] {
        let path = dir.path().join(format!("full.{ending}"));
        picture.save(&path).unwrap();
        assert_eq!(Glance::at(&path), Some(Glance { size: (30, 20), colours: Colours::Full, is_exact: exact }), "{ending}");
    }
    for ending in ["png", "jpg", "pgm"] {
        let path = dir.path().join(format!("grey.{ending}"));
        grey.save(&path).unwrap();
        let glance = Glance::at(&path).expect(ending);
        assert_eq!((glance.size, glance.colours), ((30, 20), Colours::Grey), "{ending}");
    }
    picture.save(dir.path().join("a.gif")).unwrap();
    assert_eq!(Glance::at(&dir.path().join("a.gif")).map(|glance| glance.colours), Some(Colours::Table));
    assert_eq!(Glance::of(b"P7\nWIDTH 2\nHEIGHT 3\nDEPTH 4\nENDHDR\n").map(|glance| glance.size), Some((2, 3)));
    assert_eq!((Glance::of(b""), Glance::of(b"P5"), Glance::of(b"\xFF\xD8\xFF\xE0\0")), (None, None, None));
}

proptest! {
    #[test]
    fn heads_of_any_bytes_are_read(kind in 0usize..5, rest: Vec<u8>) {
        let magics: [&[u8]; 5] = [b"\x89PNG\r\n\x1a\n", b"\xFF\xD8\xFF", b"GIF89a", b"BM", b"P6 "];
        let _ = Glance::of(&[magics[kind], &rest].concat());
    }

    #[test]
    fn masks_and_pictures_are_all_files(names in prop::collection::btree_set("(a|b|maps|masks)/[xy](|-map|_mask|_1|_mask_2)\\.png", 1..12)) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let dir = folder(&names);
        let set = with(dir.path(), Masks::LeaveOut);
        prop_assert_eq!(set.items.len() + set.masks.len(), names.len());
        let taken: Vec<&Path> = set.items.iter().map(|item| item.path()).collect();
        prop_assert!(set.masks.iter().all(|mask| taken.contains(&mask.of.as_path())), "the picture of a mask is taken in: {:?}", set.masks);
    }
}
