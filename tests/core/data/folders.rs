//! Folders: which of them are classes, what is paired, what is left out.

use std::collections::BTreeMap;

use tessera_core::Error;
use tessera_core::data::{Camera, ClassesFrom, UNLABELLED};
use tessera_core::picture::InProcess;
use tessera_core::picture::decode::WHOLE;
use tessera_core::progress::Progress;

use super::*;

#[test]
fn one_level_of_folders_is_classes() {
    let dir = folder(&["dog/b.png", "cat/IMG_2031.JPG", "cat/DSC_0042.jpeg", "cat/20210304_121533.tiff"]);
    let set = open(dir.path(), Labels::Auto);
    assert_eq!(set.classes, ["cat", "dog"]);
    let expected = [("20210304_121533.tiff", "cat"), ("DSC_0042.jpeg", "cat"), ("IMG_2031.JPG", "cat"), ("b.png", "dog")];
    assert_eq!(shape(&set), expected.map(|(name, class)| (name.to_owned(), class, "-")));
    assert_eq!((set.layout.classes_from, set.layout.pattern, set.layout.pairs), (ClassesFrom::Folders, None, 0));
    assert!(set.layout.words.contains("folders are the classes (2)"), "{}", set.layout.words);
    assert_eq!(set.by_class(), [vec![0, 1, 2], vec![3]]);
    assert!(set.groups().is_empty());
}

/// An accent is part of its letter or a character of its own, as the system writes it.
#[test]
fn names_that_look_alike_are_one_class() {
    let dir = folder(&["caf\u{e9}/a.png", "cafe\u{301}/b.png", "bar/c.png"]);
    let set = open(dir.path(), Labels::Auto);
    assert_eq!(set.classes, ["bar", "caf\u{e9}"]);
    assert_eq!(set.by_class(), [vec![0], vec![1, 2]]);
}

#[test]
fn two_levels_are_class_and_object() {
    let dir = folder(&["truck/07/view3.png", "truck/07/view4.png", "truck/8/view3.png", "car/blue one/a.png"]);
    let set = open(dir.path(), Labels::Auto);
    assert_eq!(set.classes, ["car", "truck"]);
    let groups: BTreeMap<&str, Vec<usize>> = [("car/blue one", vec![0]), ("truck/07", vec![1, 2]), ("truck/08", vec![3])].into();
    assert_eq!(set.groups(), groups);
    assert_eq!(set.items[1].meta.instance, Some(7));
    assert!(set.layout.words.contains("single objects"), "{}", set.layout.words);

    let one_class = folder(&["truck/07/view3.png", "truck/08/view3.png"]);
    assert_eq!(open(one_class.path(), Labels::Auto).classes, ["truck"]);
}

#[test]
fn splits_are_never_classes() {
    let dir = folder(&[
        "train/cat/1.png",
        "Test/cat/2.png",
        "VALIDATION/dog/3.png",
        "dog/images/4.png",
        "data/all/owl/val/5.png",
        "owl/dev/07/6.png",
    ]);
    let set = open(dir.path(), Labels::Auto);
    assert_eq!(set.classes, ["cat", "dog", "owl"]);
    let classes: BTreeMap<String, &str> = shape(&set).into_iter().map(|(name, class, _)| (name, class)).collect();
    let expected = [("1.png", "cat"), ("2.png", "cat"), ("3.png", "dog"), ("4.png", "dog"), ("5.png", "owl"), ("6.png", "owl")];
    assert_eq!(classes, expected.map(|(name, class)| (name.to_owned(), class)).into());
    assert_eq!(set.groups().keys().copied().collect::<Vec<_>>(), ["owl/07"]);
    assert!(set.layout.words.contains("Test, VALIDATION, all, data, dev, images, train, val"), "{}", set.layout.words);
}

#[test]
fn a_wrapper_is_no_class() {
    let wrapped = folder(&["sets/animals/cat/1.png", "sets/animals/dog/2.png", "sets/animals/dog/03/2.png"]);
    let set = open(wrapped.path(), Labels::Auto);
    assert_eq!(set.classes, ["cat", "dog"]);
    assert!(set.layout.words.contains("inside animals"), "{}", set.layout.words);
    let digits = folder(&["mnist/train/3/1.png", "mnist/test/5/2.png"]);
    assert_eq!(open(digits.path(), Labels::Auto).classes, ["3", "5"]);
    let names = folder(&["mine/truck_07_3_12_4_lt.png", "mine/car_07_3_12_4_lt.png"]);
    assert_eq!(open(names.path(), Labels::Auto).classes, ["car", "truck"]);
}

#[test]
fn paths_of_folders_are_classes_where_that_is_asked_for() {
    let nested = ["data/animal/dog/1.png", "data/animal/cat/2.png", "data/plant/3.png", "data/plant/rose/train/4.png", "loose.png"];
    let dir = folder(&nested);
    let set = open(dir.path(), Labels::ClassFolders);
    assert_eq!((set.classes.as_slice(), set.groups().len()), (["animal".to_owned(), "plant".to_owned()].as_slice(), 3));
    let set = open(dir.path(), Labels::FolderPaths);
    assert_eq!(set.classes, ["animal/cat", "animal/dog", "plant", "plant/rose"]);
    assert!(set.groups().is_empty(), "no folder is an object");
    assert_eq!(set.layout.classes_from, ClassesFrom::Paths);
    assert_eq!(skips(&set), [("loose.png".to_owned(), "no_class")]);
    let wrapped = folder(&["sets/birds/wren/1.png", "sets/birds/robin/2.png"]);
    assert_eq!(open(wrapped.path(), Labels::FolderPaths).classes, ["robin", "wren"], "what all are in says nothing");
    let named = folder(&["animal/cow/cow_1_0_0.jpg", "animal/cow/cow_2_0_0.jpg", "thing/car/car_1_0_0.jpg"]);
    let set = open(named.path(), Labels::FolderPaths);
    assert_eq!(set.classes, ["animal/cow", "thing/car"]);
    assert_eq!(set.groups().keys().copied().collect::<Vec<_>>(), ["animal/cow/01", "animal/cow/02", "thing/car/01"]);
}

#[test]
fn a_folder_may_be_one_class_by_its_name() {
    let dir = folder(&["dogs/a.jpg", "dogs/2019/b.jpg", "dogs/dog_07_066_117.jpg", "images/c.jpg"]);
    let set = open(&dir.path().join("dogs"), Labels::WholeFolder);
    assert_eq!((set.classes.as_slice(), set.items.len()), (["dogs".to_owned()].as_slice(), 3));
    assert_eq!(set.layout.classes_from, ClassesFrom::WholeFolder);
    assert!(set.layout.words.contains("all pictures are of one class: dogs"), "{}", set.layout.words);
    let error = try_open(&dir.path().join("images"), Labels::WholeFolder).unwrap_err();
    assert!(error.to_string().contains("a folder whose name is a class, found one that is called images"), "{error}");
    let named = OpenOptions { labels: Labels::WholeFolder, one_class: Some("animal/dog".into()), ..OpenOptions::default() };
    let set = Dataset::open(&dir.path().join("images"), &named, &Progress::default()).unwrap();
    assert_eq!(set.classes, ["animal/dog"]);
}

#[test]
fn a_tree_of_folders_with_words_for_names_is_a_tree_of_classes() {
    let from = |files: &[&str]| open(folder(files).path(), Labels::Auto).layout.classes_from;
    let several_depths = ["animal/dog/1.png", "animal/cat/2.png", "plant/3.png", "plant/rose/4.png"];
    assert_eq!(from(&several_depths), ClassesFrom::Paths);
    assert_eq!(from(&["set/animal/bird/wren/1.png", "set/plant/tree/oak/2.png"]), ClassesFrom::Paths, "three deep");
    assert_eq!(from(&["set/animal/dog/1.png", "set/plant/rose/2.png", "set/plant/fern/3.png"]), ClassesFrom::Folders, "one depth: objects");
    assert_eq!(from(&["cow/cow1/1.png", "cow/cow2/2.png", "car/3.png", "car/car1/4.png"]), ClassesFrom::Folders, "numbered: objects");
    assert_eq!(from(&["cat/1.png", "cat/edited/2.png", "dog/3.png", "dog/edited/4.png"]), ClassesFrom::Folders, "a folder of each class");
    let views = ["cat/front/1.png", "cat/side/2.png", "cat/back/3.png", "cat/4.png", "dog/front/5.png", "dog/side/6.png", "dog/back/7.png"];
    assert_eq!(from(&views), ClassesFrom::Folders, "folders that each class has");
    let pets = (0..12).map(|i| format!("{}/{}/{i}.png", ["cat", "dog"][i % 2], ["rex", "bella", "tom", "kim", "leo", "max"][i % 6]));
    let pets: Vec<String> = pets.chain(["dog/new.png".to_owned()]).collect();
    let pets: Vec<&str> = pets.iter().map(String::as_str).collect();
    assert_eq!(from(&pets), ClassesFrom::Folders, "one stray picture changes nothing");
    assert_eq!(from(&["animal/cow/cow_1_0_0.jpg", "animal/cow_2_0_0.jpg"]), ClassesFrom::Folders, "one class");
    let letters = ('a'..='t').map(|letter| format!("{}/kind {letter}/1.png", if letter < 'k' { "food" } else { "flags" }));
    let many: Vec<String> = letters.collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(from(&many), ClassesFrom::Paths, "many folders");
    assert_eq!(from(&many[..many.len() - 1]), ClassesFrom::Folders, "fewer");
}

#[test]
fn names_tell_classes_when_folders_do_not() {
    let dir = folder(&["train/truck_07_3_12_4_lt.png", "train/CAR_01_3_12_4_LT.PNG", "test/truck_08_3_12_4_lt.png", "test/notes.png"]);
    let forced = open(dir.path(), Labels::NorbNames);
    assert_eq!(skips(&forced), [("notes.png".to_owned(), "no_class")]);
    fs::remove_file(dir.path().join("test/notes.png")).unwrap();
    for labels in [Labels::Auto, Labels::NorbNames] {
        let set = open(dir.path(), labels);
        let expected = [
            ("truck_08_3_12_4_lt.png", "truck", "truck/08"),
            ("CAR_01_3_12_4_LT.PNG", "car", "car/01"),
            ("truck_07_3_12_4_lt.png", "truck", "truck/07"),
        ];
        assert_eq!(shape(&set), expected.map(|(name, class, group)| (name.to_owned(), class, group)));
        assert_eq!(set.layout.classes_from, ClassesFrom::Names);
        assert_eq!(set.layout.pattern, Some("category_instance_elevation_azimuth_lighting_camera"));
        assert_eq!(set.layout.preview.len(), 3);
        assert_eq!(set.layout.preview[1].parts, "car, instance 1, elevation 3, azimuth 12, lighting 4, left camera");
    }
}

#[test]
fn names_add_to_folders_that_agree() {
    let dir = folder(&["Fire Trucks/fire_truck_07_066_117.jpg", "Fire Trucks/fire_truck_07_066_118.jpg", "cars/car_1_0_0.jpg"]);
    let set = open(dir.path(), Labels::Auto);
    assert_eq!(set.classes, ["Fire Trucks", "cars"]);
    assert_eq!(set.groups().keys().copied().collect::<Vec<_>>(), ["Fire Trucks/07", "cars/01"]);
    assert_eq!((set.items[0].meta.elevation, set.items[0].meta.azimuth), (Some(66), Some(117)));

    // The level at which they agree is the one.
    let deeper = folder(&["photos/car/car_1_0_0.jpg", "masks/car/car_1_0_0.jpg", "masks/cow/cow_1_0_0.jpg"]);
    let set = open(deeper.path(), Labels::Auto);
    assert_eq!(set.classes, ["car", "cow"]);
    assert!(set.layout.words.contains("folders inside masks, photos are the classes (2)"), "{}", set.layout.words);

    // Four of five are enough, also against one name that differs.
    let stray = ["car_1_0_0", "car_1_0_1", "car_1_0_2", "car_1_0_3", "bus_1_0_0"].map(|name| format!("cars/{name}.jpg"));
    let set = open(folder(&stray.each_ref().map(String::as_str)).path(), Labels::Auto);
    assert_eq!((set.classes.as_slice(), set.items[0].group.as_deref()), (["cars".to_owned()].as_slice(), None));
    assert_eq!(set.items[1].group.as_deref(), Some("cars/01"));
    let half = folder(&["car/car_1_0_0.jpg", "car/car_1_0_1.jpg", "bus/car_1_0_2.jpg"]);
    assert_eq!(open(half.path(), Labels::Auto).layout.pattern, None);

    let disagreeing = folder(&["monday/car_07_066_117.jpg", "tuesday/car_07_066_118.jpg"]);
    let set = open(disagreeing.path(), Labels::Auto);
    assert_eq!((set.classes.as_slice(), set.layout.pattern), (["monday".to_owned(), "tuesday".to_owned()].as_slice(), None));
    assert_eq!(open(disagreeing.path(), Labels::NorbNames).classes, ["car"]);
}

/// A set as an import opens it.
fn imported(path: &std::path::Path) -> Dataset {
    let options = OpenOptions { unlabelled_too: true, passes_dates: true, ..OpenOptions::default() };
    Dataset::open(path, &options, &Progress::default()).unwrap()
}

#[test]
fn folders_that_are_dates_are_no_classes_of_an_import() {
    let folders = ["2019/Italy/a.jpg", "2019/b.jpg", "2020/Norway/c.jpg", "2020-05 Home/d.jpg", "Screenshots/e.png", "f.jpg"];
    let within = |folder: &str, names: &[&str]| names.iter().map(|name| format!("{folder}{name}")).collect::<Vec<_>>();
    let years = ["2019/05/a.jpg", "2019/06/b.jpg"];
    let trips = ["2019/Italy/a.jpg", "2019/Norway/b.jpg", "2019/c.jpg"];
    let all = [within("", &folders), within("My pictures/", &folders), within("a/b/", &folders), within("", &years), within("", &trips)];
    for names in all {
        let dir = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let set = imported(dir.path());
        assert_eq!(
            (set.classes.as_slice(), set.layout.classes_from),
            ([UNLABELLED.to_owned()].as_slice(), ClassesFrom::Nowhere),
            "{names:?}"
        );
        assert!(set.layout.words.contains("the folders are dates, such as 2019,"), "{}", set.layout.words);
    }
    // Months are dates below a year alone.
    let months = folder(&["2019/05/a.jpg", "2019/06/b.jpg", "digits/05/a.jpg", "digits/06/b.jpg"]);
    assert_eq!(imported(&months.path().join("2019")).layout.classes_from, ClassesFrom::Nowhere);
    assert_eq!(imported(&months.path().join("digits")).classes, ["05", "06"]);
    // Where they are asked for, and where classes are what a folder is opened for, they are.
    let dir = folder(&folders);
    for labels in [Labels::ClassFolders, Labels::Auto] {
        assert_eq!(open(dir.path(), labels).classes, ["2019", "2020", "2020-05 Home", "Screenshots"]);
    }
    // Names that tell objects are read all the same, and classes beside a few dates stay.
    for [first, second] in [["car", "cow"], ["car", "car"]] {
        let names: Vec<String> =
            (0..8).map(|i| format!("20{}/{}_07_066_{i}.jpg", 19 + i % 2, if i < 4 { first } else { second })).collect();
        let named = imported(folder(&names.iter().map(String::as_str).collect::<Vec<_>>()).path());
        assert_eq!((named.classes[0].as_str(), named.layout.classes_from), ("car", ClassesFrom::Names));
    }
    let few: Vec<String> = (0..9).map(|i| format!("cat/{i}.jpg")).chain(["2019/a.jpg".into(), "2020/b.jpg".into()]).collect();
    for names in [few.iter().map(String::as_str).collect::<Vec<_>>(), vec!["cat/1.jpg", "dog/2.jpg", "2019/3.jpg"]] {
        assert_eq!(imported(folder(&names).path()).classes.len(), 3);
    }
}

#[test]
fn dates_are_told_from_other_names() {
    let is_date = |name: &str| imported(folder(&[format!("{name}/1.jpg").as_str()]).path()).layout.classes_from == ClassesFrom::Nowhere;
    let dates = ["2019", "1987", "2019-05", "2019_05_12", "2019 Italy", "2019-05-12 Anna's", "20190512", "201905", "20190512_party"];
    let others = ["12.05.2019", "05-2019", "May 2019", "12 sept 2019", "100CANON", "101APPLE", "100_PANA", "102MSDCF"];
    for name in dates.into_iter().chain(others) {
        assert!(is_date(name), "{name}");
    }
    let numbers = ["7", "001", "1899", "2100", "20191340", "20195", "360", "100000000", "10012345", "001.ak47", "n01440764"];
    for name in numbers.into_iter().chain(["-", "cat", "Audi S5 2012", "Italy 2019", "marching 2012", "101.head-phones", "1024x768"]) {
        assert!(!is_date(name), "{name}");
    }
}

#[test]
fn ordinary_names_in_one_folder_are_an_error_with_a_way_out() {
    let dir = folder(&["IMG_2031.jpg", "images/IMG_2032.jpg", "DSC_0042.JPG", "20210304_121533.jpg", "photo-1.jpg"]);
    for labels in [Labels::Auto, Labels::ClassFolders, Labels::NorbNames] {
        let error = try_open(dir.path(), labels).unwrap_err();
        assert_eq!(error.reason(), "data");
        assert!(error.to_string().contains("5 pictures without them, such as 20210304_121533.jpg; move"), "{error}");
    }
    let set = open(dir.path(), Labels::None);
    assert_eq!((set.classes.as_slice(), set.items.len()), ([UNLABELLED.to_owned()].as_slice(), 5));
}

#[test]
fn a_stereo_pair_is_one_item() {
    let files = ["a/car_1_2_3_4_lt.png", "a/car_1_2_3_4_rt.png", "a/car_1_2_3_5_rt.png", "b/car_1_2_3_4_lt.png", "b/car_1_2_3_4_rt.jpg"];
    let dir = folder(&files);
    for camera in [Camera::Left, Camera::Right] {
        let options = OpenOptions { labels: Labels::NorbNames, camera, ..OpenOptions::default() };
        let set = Dataset::open(dir.path(), &options, &Progress::default()).unwrap();
        // Another ending or another folder makes no pair; a lonely half stays.
        assert_eq!((set.items.len(), set.layout.pairs), (4, 1));
        let pair = set.items.iter().find(|item| item.meta.partner.is_some()).unwrap();
        let name = |camera: Camera| dir.path().join(format!("a/car_1_2_3_4_{}.png", camera.short()));
        assert_eq!((pair.path(), pair.meta.partner.as_deref()), (name(camera).as_path(), Some(name(camera.other()).as_path())));
        assert_eq!(pair.meta.camera, Some(camera));
        assert!(set.items.iter().any(|item| item.name() == "car_1_2_3_5_rt.png" && item.meta.camera == Some(Camera::Right)));
    }
}

#[test]
fn pairs_need_no_other_pattern() {
    let dir = folder(&["mug/scene one_Left.png", "mug/scene one_right.png", "shirt/plain_l.png", "shirt/plain_r.png", "shirt/s_lt.png"]);
    let set = open(dir.path(), Labels::Auto);
    let names: Vec<String> = set.items.iter().map(|item| item.name()).collect();
    assert_eq!(names, ["scene one_Left.png", "plain_l.png", "plain_r.png", "s_lt.png"], "l and r may be sizes");
    assert_eq!(set.items[0].meta.partner, Some(dir.path().join("mug/scene one_right.png")));
    assert_eq!(set.items[3].meta.camera, None);

    let numbered = folder(&["train/000123_truck_07_l.jpg", "train/000123_truck_07_r.jpg", "train/000124_truck_07_l.jpg"]);
    assert_eq!(open(numbered.path(), Labels::Auto).layout.pairs, 1);
}

#[test]
fn left_and_right_may_be_what_a_picture_shows() {
    let mut files = ["signs/turn_left.png", "signs/turn_right.png", "signs/stop.png", "signs/yield.png"].to_vec();
    let signs = folder(&files);
    let set = open(signs.path(), Labels::Auto);
    assert_eq!((set.items.len(), set.layout.pairs), (4, 0));
    // Elsewhere most pictures are pairs.
    files.extend(["mug/1_left.png", "mug/1_right.png", "mug/2_left.png", "mug/2_right.png", "mug/3_left.png"]);
    let set = open(folder(&files).path(), Labels::Auto);
    assert_eq!((set.items.len(), set.layout.pairs), (7, 2));
    // A pattern that ends in a camera leaves no doubt.
    let named = folder(&["car_1_2_3_4_left.png", "car_1_2_3_4_right.png", "car_1_2_3_5_left.png", "car_1_2_3_6_left.png"]);
    assert_eq!(open(named.path(), Labels::Auto).layout.pairs, 1);
}

#[test]
fn words_that_cameras_write_may_be_classes() {
    let dir = folder(&["camera/camera_3_066_117.png", "camera/camera_3_066_118.png", "cup/IMG_1_2_3.png", "cup/cup_1_066_117.png"]);
    let only = folder(&["camera/camera_3_066_117.png", "camera/camera_4_066_117.png"]);
    let set = open(only.path(), Labels::Auto);
    assert_eq!(set.groups().keys().copied().collect::<Vec<_>>(), ["camera/03", "camera/04"]);
    assert_eq!(open(dir.path(), Labels::Auto).layout.pattern, None, "three of four are too few");
    fs::remove_file(dir.path().join("cup/IMG_1_2_3.png")).unwrap();
    touch(&dir.path().join("cup/cup_2_066_117.png"));
    let set = open(dir.path(), Labels::Auto);
    assert_eq!((set.groups()["camera/03"].len(), set.groups().len()), (2, 3));
    let photos = folder(&["photos/photo_1_2_3.jpg", "photos/photo_1_2_4.jpg", "dog/a.jpg"]);
    assert_eq!(open(photos.path(), Labels::Auto).layout.pattern, None);
}

#[test]
fn a_file_beside_the_folders_has_the_class_of_theirs() {
    let inside = (0..8).map(|i| format!("Trucks/truck_1_0_{i}.png"));
    let files: Vec<String> = inside.chain(["truck_2_0_0.png", "bus_1_0_0.png"].map(str::to_owned)).collect();
    let set = open(folder(&files.iter().map(String::as_str).collect::<Vec<_>>()).path(), Labels::Auto);
    assert_eq!(set.classes, ["Trucks", "bus"]);
    assert_eq!(set.groups().keys().copied().collect::<Vec<_>>(), ["Trucks/01", "Trucks/02", "bus/01"]);
}

#[test]
fn what_is_no_picture_is_passed_over_or_listed() {
    let dir = folder(&[
        "cat/1.png",
        "cat/2.HEIC",
        "cat/3.avif",
        "cat/4.NEF",
        "cat/notes.txt",
        "cat/Thumbs.db",
        "cat/.DS_Store",
        "cat/._1.png",
        ".cache/9.png",
        "__MACOSX/cat/1.png",
        "labels.csv",
        "beside.png",
    ]);
    let set = open(dir.path(), Labels::Auto);
    assert_eq!((set.items.len(), set.layout.ignored, set.layout.hidden), (1, 3, 4));
    let expected = [("beside.png", "no_class"), ("2.HEIC", "unsupported"), ("3.avif", "unsupported"), ("4.NEF", "unsupported")];
    assert_eq!(skips(&set), expected.map(|(name, reason)| (name.to_owned(), reason)));
    assert_eq!(set.skipped[1].detail, "HEIC pictures cannot be read");
}

#[test]
fn nothing_to_read_is_an_error_that_says_so() {
    let empty = folder(&[]);
    assert!(try_open(empty.path(), Labels::None).unwrap_err().to_string().contains("found nothing; name the folder"));
    let others = folder(&["cat/1.heic", "a.txt", "b.txt"]);
    let words = try_open(others.path(), Labels::Auto).unwrap_err().to_string();
    assert!(words.contains("found 1 file of an unknown format, 2 other files;"), "{words}");
    let missing = try_open(&empty.path().join("gone"), Labels::Auto).unwrap_err();
    assert!(matches!(&missing, Error::Io { path, .. } if path.ends_with("gone")), "{missing}");
    let file = try_open(&others.path().join("a.txt"), Labels::Auto).unwrap_err();
    assert_eq!(file.reason(), "data");
}

#[test]
fn work_counts_and_stops_when_asked() {
    let dir = folder(&["cat/1.png", "dog/1.png"]);
    let progress = Progress::default();
    Dataset::open(dir.path(), &OpenOptions::default(), &progress).unwrap();
    assert_eq!(progress.snapshot().done, 5, "the root, two folders, two files");
    progress.cancel();
    let stopped = Dataset::open(dir.path(), &OpenOptions::default(), &progress);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}

#[test]
fn pictures_come_from_the_decoder_and_one_bad_file_is_one_error() {
    let dir = folder(&["cat/empty.png"]);
    image::RgbImage::from_pixel(3, 2, image::Rgb([9, 8, 7])).save(dir.path().join("cat/whole.png")).unwrap();
    let set = open(dir.path(), Labels::Auto);
    let decoder = InProcess::default();
    assert_eq!(set.picture(0, &decoder, WHOLE, &Progress::default()).unwrap_err().reason(), "data");
    assert_eq!(set.picture(1, &decoder, WHOLE, &Progress::default()).unwrap().pixels.get_pixel(2, 1).0, [9, 8, 7]);
}

#[test]
fn folders_too_deep_are_a_line() {
    let deep = (0..70).map(|_| "d").collect::<Vec<_>>().join("/");
    let dir = folder(&["cat/1.png", &format!("cat/{deep}/2.png")]);
    let set = open(dir.path(), Labels::Auto);
    assert_eq!((set.items.len(), skips(&set)), (1, vec![("d".to_owned(), "too_deep")]));
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_are_lines_and_hold_no_loop() {
        let dir = folder(&["cat/1.png", "dog/1.png"]);
        symlink(dir.path(), dir.path().join("dog/loop")).unwrap();
        symlink(dir.path().join("cat/1.png"), dir.path().join("dog/2.png")).unwrap();
        symlink("self", dir.path().join("dog/self")).unwrap();
        let set = open(dir.path(), Labels::Auto);
        assert_eq!(set.items.len(), 3, "a link to a file is a file");
        assert_eq!(skips(&set), ["loop", "self"].map(|name| (name.to_owned(), "link")));
        // The root itself may be a link, and a link to itself is an error.
        let outside = TempDir::new().unwrap();
        symlink(dir.path(), outside.path().join("root")).unwrap();
        let words = try_open(outside.path(), Labels::None).unwrap_err().to_string();
        assert!(words.contains("found 1 link to a folder or to nothing;"), "{words}");
        assert_eq!(open(&outside.path().join("root"), Labels::Auto).classes, ["cat", "dog"]);
        assert_eq!(try_open(&dir.path().join("dog/self"), Labels::Auto).unwrap_err().reason(), "io");
    }

    #[test]
    fn names_need_not_be_text() {
        let dir = folder(&["dog/1.png"]);
        let odd = dir.path().join(OsStr::from_bytes(b"caf\xE9")).join(OsStr::from_bytes(b"\xFF\n.png"));
        fs::create_dir(odd.parent().unwrap()).unwrap();
        image::RgbImage::new(2, 2).save_with_format(&odd, image::ImageFormat::Png).unwrap();
        let set = open(dir.path(), Labels::Auto);
        assert_eq!(set.classes, ["caf\\xE9", "dog"]);
        assert_eq!((set.items[0].path(), set.items[0].name().as_str()), (odd.as_path(), "\u{FFFD}\\n.png"));
        assert_eq!(set.picture(0, &InProcess::default(), WHOLE, &Progress::default()).unwrap().size, (2, 2));
    }

    #[test]
    fn folders_that_are_not_text_stay_apart() {
        let dir = folder(&["caf\\xE9/1.png", "a\\b/1.png"]);
        for name in [b"caf\xE9", b"caf\xE8"] {
            touch(&dir.path().join(OsStr::from_bytes(name)).join("1.png"));
        }
        assert_eq!(open(dir.path(), Labels::Auto).classes, ["a\\b", "caf\\x5CxE9", "caf\\xE8", "caf\\xE9"]);
    }

    #[test]
    fn pipes_are_lines() {
        let dir = folder(&["cat/1.png"]);
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("cat/2.png")).unwrap();
        let set = open(dir.path(), Labels::Auto);
        assert_eq!((set.items.len(), skips(&set)), (1, vec![("2.png".to_owned(), "special")]));
    }

    #[test]
    fn forbidden_folders_are_lines() {
        let dir = folder(&["cat/1.png", "secret/2.png"]);
        let secret = dir.path().join("secret");
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read_dir(&secret).is_ok() {
            eprintln!("skipped: nothing is forbidden to this user");
        } else {
            let set = open(dir.path(), Labels::Auto);
            assert_eq!((set.items.len(), skips(&set)), (1, vec![("secret".to_owned(), "io")]));
            assert_eq!(try_open(&secret, Labels::Auto).unwrap_err().reason(), "io");
        }
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o700)).unwrap();
    }

    /// A path longer than the system takes is unreadable for every user.
    #[test]
    #[cfg(target_os = "linux")]
    fn unreadable_folders_are_lines() {
        let dir = folder(&["cat/1.png"]);
        let half = |name: &str| (0..12).fold(dir.path().join(name), |path, _| path.join("x".repeat(200)));
        fs::create_dir_all(half("cat/long")).unwrap();
        touch(&half("rest").join("2.png"));
        fs::rename(dir.path().join("rest"), half("cat/long").join("rest")).unwrap();
        let set = open(dir.path(), Labels::Auto);
        assert_eq!(set.items.len(), 1);
        assert_eq!(set.skipped.len(), 1);
        assert_eq!(set.skipped[0].reason, "io");
        assert!(set.skipped[0].path.starts_with(half("cat/long")), "{:?}", set.skipped);
    }
}

#[test]
fn eth80_is_read_whole() {
    let Some(root) = big_data("eth80") else {
        eprintln!("skipped: TESSERA_DATA is not set");
        return;
    };
    let set = open(&root, Labels::Auto);
    assert_eq!((set.items.len(), set.groups().len(), set.classes.len()), (1927, 47, 8));
    assert_eq!(set.classes, ["apple", "car", "cow", "cup", "dog", "horse", "pear", "tomato"]);
    assert_eq!(set.layout.pattern, Some("category_instance_elevation_azimuth"));
    assert!(set.items.iter().all(|item| item.meta.azimuth.is_some()) && set.skipped.is_empty());
    assert_eq!(set.picture(0, &InProcess::default(), WHOLE, &Progress::default()).unwrap().size, (128, 128));
}
