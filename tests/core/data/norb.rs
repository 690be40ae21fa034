//! NORB files: what is written is read, and no broken file is taken for a whole one.

use std::sync::Arc;
use std::time::Instant;

use image::GrayImage;
use proptest::prelude::*;
use tessera_core::data::mat::{Element, Header};
use tessera_core::data::norb::{CATEGORIES, NorbSet, NorbWriter};
use tessera_core::data::{Camera, ClassesFrom, ImageSource, names};
use tessera_core::picture::InProcess;
use tessera_core::picture::decode::WHOLE;
use tessera_core::progress::Progress;

use super::*;

const PARTS: [&str; 3] = ["dat", "cat", "info"];

/// A frame that differs from pair to pair, from side to side and from pixel to pixel.
fn frame(width: u32, height: u32, seed: u32) -> GrayImage {
    GrayImage::from_fn(width, height, |x, y| image::Luma([(seed * 31 + y * width + x) as u8]))
}

fn write(prefix: &Path, n_pairs: u32, columns: usize) -> PathBuf {
    let mut writer = NorbWriter::create(prefix, 5, 3).expect("a writer");
    for pair in 0..n_pairs {
        let mut info = vec![(pair / 5) as i32, 3, 12, 4];
        info.resize(columns, -6);
        let category = (pair % if columns == 10 { 6 } else { 5 }) as u8;
        writer.push(category, &info, &frame(5, 3, 2 * pair), &frame(5, 3, 2 * pair + 1)).expect("a pair");
    }
    writer.finish().expect("a set")
}

fn read(dat: &Path) -> tessera_core::Result<NorbSet> {
    NorbSet::open(dat, &Progress::default())
}

fn part(dir: &TempDir, part: &str) -> PathBuf {
    dir.path().join(format!("mini-{part}.mat"))
}

#[test]
fn a_triple_is_read_as_it_was_written() {
    let dir = folder(&[]);
    let dat = write(&dir.path().join("mini"), 12, 4);
    let set = read(&dat).unwrap();
    assert_eq!((set.n_pairs(), set.width(), set.height(), set.path()), (12, 5, 3, dat.as_path()));
    for pair in 0..12 {
        assert_eq!(set.frame(2 * pair), frame(5, 3, 2 * pair).as_raw().as_slice());
        assert_eq!(set.frame(2 * pair + 1), frame(5, 3, 2 * pair + 1).as_raw().as_slice());
        assert_eq!((set.category(pair), set.info(pair)), ((pair % 5) as u8, [(pair / 5) as i32, 3, 12, 4].as_slice()));
    }
    assert_eq!(set.name(2 * 8 + 1), "000008_truck_01_3_12_4_rt");
    let read_back = names::choose(&["000008_truck_01_3_12_4_rt"]).unwrap().pattern.parse("000008_truck_01_3_12_4_rt").unwrap();
    assert_eq!((read_back.category.as_str(), read_back.meta), ("truck", set.meta(17)));
}

#[test]
fn a_set_opens_by_folder_member_or_prefix() {
    let dir = folder(&["readme.txt"]);
    let prefix = dir.path().join("mini");
    let dat = write(&prefix, 12, 4);
    let paths = [dir.path().to_owned(), prefix, dat.clone(), part(&dir, "cat"), part(&dir, "info")];
    for path in paths {
        let set = open(&path, Labels::Auto);
        assert_eq!((set.items.len(), set.root.as_path()), (12, dat.as_path()));
        assert_eq!(set.classes, ["airplane", "animal", "car", "human", "truck"]);
        assert_eq!((set.class_name(set.items[3].class), set.items[3].group.as_deref()), ("truck", Some("truck/00")));
        assert_eq!((set.layout.classes_from, set.layout.pairs), (ClassesFrom::Norb, 12));
        assert_eq!((set.groups().len(), set.items[0].path()), (12, dat.as_path()));
    }
    let unlabelled = open(&dat, Labels::None);
    assert_eq!((unlabelled.classes.len(), unlabelled.items[3].group.as_deref()), (1, Some("truck/00")));
}

#[test]
fn each_camera_gives_its_own_frames_of_one_set_in_memory() {
    let dir = folder(&[]);
    let norb = Arc::new(read(&write(&dir.path().join("mini"), 6, 4)).unwrap());
    for (camera, side) in [(Camera::Left, 0), (Camera::Right, 1)] {
        let set = Dataset::from_norb(&norb, &OpenOptions { camera, ..OpenOptions::default() });
        assert_eq!(set.items[4].meta.camera, Some(camera));
        assert!(matches!(&set.items[4].source, ImageSource::Frame { set, index } if Arc::ptr_eq(set, &norb) && *index == 8 + side));
        let picture = set.picture(4, &InProcess::default(), WHOLE, &Progress::default()).unwrap().pixels;
        let grey = frame(5, 3, 8 + side);
        assert!(picture.enumerate_pixels().all(|(x, y, p)| p.0 == [grey.get_pixel(x, y).0[0]; 3]));
    }
}

#[test]
fn jittered_sets_have_ten_numbers_and_a_sixth_class() {
    let dir = folder(&[]);
    let set = open(&write(&dir.path().join("mini"), 12, 10), Labels::Auto);
    assert_eq!(set.classes, ["airplane", "animal", "car", "human", "none", "truck"]);
    let ImageSource::Frame { set: norb, .. } = &set.items[0].source else { panic!("a frame") };
    assert_eq!(norb.info(7), [1, 3, 12, 4, -6, -6, -6, -6, -6, -6]);
}

#[test]
fn several_sets_in_a_folder_ask_which() {
    let dir = folder(&[]);
    write(&dir.path().join("norb-training"), 2, 4);
    let testing = write(&dir.path().join("norb-testing"), 3, 4);
    let error = try_open(dir.path(), Labels::Auto).unwrap_err();
    assert_eq!(error.reason(), "data");
    assert!(error.to_string().ends_with("found 2: norb-testing, norb-training; name one of the -dat.mat files instead of the folder"));
    assert_eq!(open(&testing, Labels::Auto).items.len(), 3);
}

#[test]
fn packed_or_lonely_files_say_what_to_do() {
    let dir = folder(&["mini-dat.mat.gz", "sub/other-cat.mat"]);
    let words = try_open(dir.path(), Labels::Auto).unwrap_err().to_string();
    assert!(words.contains(".mat.gz") && words.contains("unpack"), "{words}");
    let dat = write(&dir.path().join("mini"), 2, 4);
    fs::write(&dat, b"\x1f\x8b\x08\0some gzip").unwrap();
    assert!(read(&dat).unwrap_err().to_string().contains("found a gzip file; unpack it first"));
    fs::remove_file(part(&dir, "info")).unwrap();
    let words = try_open(dir.path(), Labels::Auto).unwrap_err().to_string();
    assert!(words.contains("mini-info.mat: expected the poses"), "{words}");
}

/// Writes `bytes` at `at` of one file of a good set and returns what the reader says.
fn spoilt(which: &str, at: usize, bytes: &[u8]) -> tessera_core::Result<NorbSet> {
    let dir = folder(&[]);
    let dat = write(&dir.path().join("mini"), 6, 4);
    let path = part(&dir, which);
    let mut file = fs::read(&path).expect("a file");
    file[at..at + bytes.len()].copy_from_slice(bytes);
    fs::write(&path, file).expect("a file");
    read(&dat)
}

#[test]
fn broken_headers_are_refused_by_the_name_of_their_file() {
    let magic = |element: Element| element.magic().to_le_bytes();
    let cases = [
        ("dat", 0, [0, 0, 0, 0], "found 00000000"),
        ("dat", 0, 0x1E3D_4C52_u32.to_le_bytes(), "a packed matrix"),
        ("dat", 0, Element::U8.magic().to_be_bytes(), "reverse order"),
        ("dat", 0, magic(Element::I16), "expected 384 bytes"),
        ("cat", 0, magic(Element::F64), "expected 68 bytes"),
        ("info", 4, (-1_i32).to_le_bytes(), "found -1"),
        ("info", 4, 9_u32.to_le_bytes(), "1 to 8 dimensions, found 9"),
        ("dat", 8, (-6_i32).to_le_bytes(), "dimensions of 1 or more, found -6"),
        ("dat", 8, 0_u32.to_le_bytes(), "dimensions of 1 or more, found 0"),
        ("dat", 8, i32::MAX.to_le_bytes(), "at most 4294967295 bytes"),
        ("dat", 8, 5_u32.to_le_bytes(), "expected 174 bytes for a matrix of 5 x 2 x 3 x 5, found 204 bytes"),
        ("cat", 8, 7_u32.to_le_bytes(), "expected 48 bytes"),
        ("cat", 12, 2_u32.to_le_bytes(), "beyond the 1 in use"),
        ("dat", 12, 3_u32.to_le_bytes(), "expected 294 bytes"),
        ("cat", 20, 6_u32.to_le_bytes(), "categories 0 to 5, found 6"),
        ("cat", 24, (-1_i32).to_le_bytes(), "categories 0 to 5, found -1"),
    ];
    for (which, at, bytes, expected) in cases {
        let words = spoilt(which, at, &bytes).unwrap_err().to_string();
        assert!(words.contains(&format!("mini-{which}.mat: expected ")) && words.contains(expected), "{words}");
    }
    // A product beyond 64 bits.
    let huge = [[255_u8, 255, 255, 127]; 4].concat();
    assert!(spoilt("dat", 8, &huge).unwrap_err().to_string().contains("2147483647 x 2147483647"));
}

#[test]
fn matrices_that_do_not_belong_together_are_refused() {
    let dir = folder(&[]);
    let dat = write(&dir.path().join("mini"), 6, 4);
    write(&dir.path().join("other"), 7, 4);
    for which in ["cat", "info"] {
        let good = fs::read(part(&dir, which)).unwrap();
        fs::copy(dir.path().join(format!("other-{which}.mat")), part(&dir, which)).unwrap();
        let words = read(&dat).unwrap_err().to_string();
        assert!(words.contains(&format!("mini-{which}.mat: expected 6 ")) && words.contains("found 7"), "{words}");
        fs::write(part(&dir, which), good).unwrap();
    }
    fs::copy(part(&dir, "cat"), &dat).unwrap();
    assert!(read(&dat).unwrap_err().to_string().contains("expected pairs x 2 cameras x height x width, found 6"));
}

/// Categories as every kind of number, as some programs save them.
#[test]
fn every_kind_of_element_is_read() {
    let values = [0_u8, 1, 2, 3, 4, 0];
    for element in Element::ALL {
        let dir = folder(&[]);
        let dat = write(&dir.path().join("mini"), 6, 4);
        let mut file = Vec::new();
        Header { element, dims: vec![6] }.write(&mut file).unwrap();
        for value in values {
            match element {
                Element::F32 => file.extend(f32::from(value).to_le_bytes()),
                Element::F64 => file.extend(f64::from(value).to_le_bytes()),
                Element::I32 => file.extend(i32::from(value).to_le_bytes()),
                Element::U8 => file.push(value),
                Element::I16 => file.extend(i16::from(value).to_le_bytes()),
            }
        }
        fs::write(part(&dir, "cat"), &file).unwrap();
        let set = read(&dat).unwrap();
        assert_eq!((0..6).map(|pair| set.category(pair)).collect::<Vec<_>>(), values);
        if element == Element::F32 {
            file[20..24].copy_from_slice(&0.5_f32.to_le_bytes());
            fs::write(part(&dir, "cat"), &file).unwrap();
            assert!(read(&dat).unwrap_err().to_string().contains("expected whole numbers, found 0.5"));
        }
    }
}

#[test]
fn the_writer_refuses_pairs_that_do_not_fit() {
    let dir = folder(&[]);
    let prefix = dir.path().join("mini");
    let mut writer = NorbWriter::create(&prefix, 5, 3).unwrap();
    let (good, wrong) = (frame(5, 3, 1), frame(3, 5, 1));
    assert_eq!(writer.push(0, &[0; 4], &good, &wrong).unwrap_err().reason(), "data");
    assert_eq!(writer.push(6, &[0; 4], &good, &good).unwrap_err().reason(), "data");
    assert_eq!(writer.push(0, &[0; 5], &good, &good).unwrap_err().reason(), "data");
    writer.push(0, &[0; 4], &good, &good).unwrap();
    assert_eq!(writer.push(0, &[0; 10], &good, &good).unwrap_err().reason(), "data");
    drop(writer);
    assert!(read(&dir.path().join("mini-dat.mat")).is_err(), "an unfinished set is refused");
    assert_eq!(NorbWriter::create(&prefix, 5, 3).unwrap().finish().unwrap_err().reason(), "data");
    assert_eq!(NorbWriter::create(&prefix.join("no/such"), 5, 3).unwrap_err().reason(), "io");
}

#[test]
fn the_writer_refuses_frames_that_cannot_be_read() {
    let dir = folder(&[]);
    for (width, height) in [(0, 3), (3, 0), (4097, 1), (1, u32::MAX)] {
        assert_eq!(NorbWriter::create(&dir.path().join("mini"), width, height).unwrap_err().reason(), "data");
    }
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    let widest = GrayImage::new(4096, 1);
    let mut writer = NorbWriter::create(&dir.path().join("wide"), 4096, 1).unwrap();
    writer.push(0, &[0; 4], &widest, &widest).unwrap();
    assert_eq!(read(&writer.finish().unwrap()).unwrap().width(), 4096);
}

#[test]
fn the_names_of_the_categories_are_a_small_file_of_text() {
    let dir = folder(&[]);
    let dat = write(&dir.path().join("mini"), 6, 4);
    let path = dir.path().join("mini-names.txt");
    fs::write(&path, "a\nb\nc\nd\ne\nf\n").unwrap();
    assert_eq!(read(&dat).unwrap().category_name(1), "b");
    for (bytes, found) in [
        (b"a\nb\nc\nd\ne\n\xFF\n".to_vec(), "bytes that are not text"),
        (vec![b'\n'; 70_000], "70000 bytes"),
        (b"a\nb".to_vec(), "2 lines"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = read(&dat).unwrap_err();
        assert!(error.reason() == "data" && error.to_string().contains(&format!("found {found};")), "{error}");
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(read(&dat).unwrap_err().reason(), "data");
    fs::remove_dir(&path).unwrap();
    assert_eq!(read(&dat).unwrap().category_name(1), CATEGORIES[1]);
}

/// A link that leads round in a circle is there, but cannot be asked what it is.
#[test]
#[cfg(unix)]
fn only_a_missing_list_of_names_is_none() {
    let dir = folder(&[]);
    let dat = write(&dir.path().join("mini"), 6, 4);
    std::os::unix::fs::symlink("mini-names.txt", dir.path().join("mini-names.txt")).unwrap();
    assert_eq!(read(&dat).unwrap_err().reason(), "io");
}

#[test]
fn reading_stops_when_asked() {
    let dir = folder(&[]);
    let dat = write(&dir.path().join("mini"), 6, 4);
    let progress = Progress::default();
    progress.cancel();
    assert!(matches!(NorbSet::open(&dat, &progress), Err(tessera_core::Error::Cancelled)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn headers_are_read_as_written(element in 0..Element::ALL.len(), dims in prop::collection::vec(1u32..=i32::MAX as u32, 1..=8)) {
        let header = Header { element: Element::ALL[element], dims };
        let mut bytes = Vec::new();
        header.write(&mut bytes).expect("memory");
        prop_assert_eq!(bytes.len() as u64, header.size());
        prop_assert_eq!(Header::read(Path::new("x"), &mut bytes.as_slice()).expect("a header"), header);
        bytes.pop();
        prop_assert!(Header::read(Path::new("x"), &mut bytes.as_slice()).is_err());
    }

    #[test]
    fn any_bytes_are_a_header_or_an_error(
        mut bytes in prop::collection::vec(any::<u8>(), 0..60),
        magic in any::<bool>(),
        small in any::<bool>(),
    ) {
        if magic && bytes.len() >= 8 {
            bytes[..4].copy_from_slice(&Element::U8.magic().to_le_bytes());
            if small {
                bytes[4..8].copy_from_slice(&[3, 0, 0, 0]);
            }
        }
        if let Ok(header) = Header::read(Path::new("x"), &mut bytes.as_slice()) {
            prop_assert!((1..=8).contains(&header.dims.len()) && header.dims.iter().all(|dim| *dim > 0));
            header.data_size();
        }
    }

    #[test]
    fn any_other_length_is_refused(which in 0..3usize, cut in any::<prop::sample::Index>(), more in 1..40usize) {
        let dir = folder(&[]);
        let dat = write(&dir.path().join("mini"), 3, 4);
        let path = part(&dir, PARTS[which]);
        let whole = fs::read(&path).expect("a file");
        let longer = [whole.as_slice(), &vec![7; more]].concat();
        for bytes in [&whole[..cut.index(whole.len())], &longer] {
            fs::write(&path, bytes).expect("a file");
            let error = read(&dat).expect_err("a broken file");
            prop_assert!(error.to_string().contains(PARTS[which]), "{}", error);
        }
    }

    #[test]
    fn a_changed_header_byte_never_panics(which in 0..3usize, at in 0..24usize, byte in any::<u8>()) {
        let at = if which == 0 { at } else { at % 20 };
        match spoilt(PARTS[which], at, &[byte]) {
            // Only the byte that was there before makes a whole set of these files.
            Ok(set) => prop_assert_eq!((set.n_pairs(), set.width(), set.height()), (6, 5, 3)),
            Err(error) => prop_assert_eq!(error.reason(), "data"),
        }
    }

    #[test]
    fn a_changed_number_never_panics(which in 1..3usize, at in 20..40usize, byte in any::<u8>()) {
        match spoilt(PARTS[which], at, &[byte]) {
            Ok(set) => {
                let set = Dataset::from_norb(&Arc::new(set), &OpenOptions::default());
                prop_assert!(set.items.iter().all(|item| !item.name().is_empty()));
            }
            Err(error) => prop_assert_eq!((which, error.reason()), (1, "data")),
        }
    }
}

#[test]
fn genuine_norb_files_are_read() {
    let Some(root) = big_data("norb-mini") else {
        eprintln!("skipped: TESSERA_DATA is not set");
        return;
    };
    assert!(try_open(&root, Labels::Auto).unwrap_err().to_string().contains("smallnorb-mini-testing, smallnorb-mini-training"));
    for (part, first) in [("training", [8, 6, 4, 4]), ("testing", [0, 0, 0, 0])] {
        let set = open(&root.join(format!("smallnorb-mini-{part}")), Labels::Auto);
        assert_eq!(set.items.len(), 6);
        let ImageSource::Frame { set: norb, .. } = &set.items[0].source else { panic!("a frame") };
        assert_eq!((norb.width(), norb.height(), norb.info(0)), (96, 96, first.as_slice()));
        let picture = set.picture(0, &InProcess::default(), WHOLE, &Progress::default()).unwrap().pixels;
        assert_eq!(picture.dimensions(), (96, 96));
        assert!(picture.get_pixel(0, 0).0[0] > 100, "a bright background");
        let categories: Vec<usize> = (0..6).map(|pair| norb.category(pair).into()).collect();
        assert_eq!(categories, [0, 1, 2, 3, 4, 0]);
        assert_eq!(set.class_name(set.items[1].class), CATEGORIES[1]);
    }
}

/// Peak memory of this process in megabytes, where the system tells.
fn peak_megabytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1000)
}

#[test]
#[ignore = "writes 450 MB"]
fn norb_at_full_size() {
    let dir = folder(&[]);
    let mut writer = NorbWriter::create(&dir.path().join("full"), 96, 96).unwrap();
    let frames: Vec<GrayImage> = (0..7).map(|seed| frame(96, 96, seed)).collect();
    for pair in 0..24_300 {
        let info = [pair / 4860, pair / 540 % 9, pair / 30 % 18 * 2, pair / 5 % 6].map(|n| n as i32);
        writer.push((pair % 5) as u8, &info, &frames[pair % 7], &frames[(pair + 1) % 7]).unwrap();
    }
    let dat = writer.finish().unwrap();
    let before = peak_megabytes();
    let start = Instant::now();
    let set = open(&dat, Labels::Auto);
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!((set.items.len(), set.groups().len(), set.classes.len()), (24_300, 25, 5));
    let last = set.picture(24_299, &InProcess::default(), WHOLE, &Progress::default()).unwrap().pixels;
    assert_eq!(last.get_pixel(95, 95).0[0], frames[24_299 % 7].get_pixel(95, 95).0[0]);
    let peak = peak_megabytes();
    eprintln!("24300 pairs opened in {seconds:.2} s; peak memory {before:?} MB before, {peak:?} MB after");
    assert!(peak.is_none_or(|peak| peak < 600), "a second copy of the pixels");
}
