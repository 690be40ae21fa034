//! What an import would take in, before it does.

use tessera_core::data::ClassesFrom;
use tessera_core::data::plan::{EXAMPLES, ImportPlan, KnownFiles};
use tessera_core::progress::Progress;

use super::*;

fn plan(dir: &Path, options: &OpenOptions) -> ImportPlan {
    ImportPlan::of(dir, options, &KnownFiles::default(), &Progress::default()).expect("a plan")
}

/// Three animals in numbered folders, with a map of each picture.
fn numbered() -> TempDir {
    let mut files = Vec::new();
    for (folder, animal) in ["cow", "dog", "pig"].into_iter().enumerate() {
        for (object, view) in (1..4).flat_map(|object| (0..5).map(move |view| (object, view))) {
            files.push(format!("{}/{animal}{object}-066-{:03}.png", folder + 1, view * 30));
            files.push(format!("{}/maps/{animal}{object}-066-{:03}-map.png", folder + 1, view * 30));
        }
    }
    let dir = folder(&files.iter().map(String::as_str).collect::<Vec<_>>());
    for map in files.iter().filter(|file| file.contains("/maps/")) {
        image::GrayImage::new(4, 4).save(dir.path().join(map)).expect("saved");
    }
    dir
}

#[test]
fn numbered_folders_are_no_classes_where_names_tell_them() {
    let dir = numbered();
    let found = plan(dir.path(), &OpenOptions::default());
    assert_eq!((found.images, found.masks, found.objects, found.unlabelled), (45, 45, 9, 0));
    assert_eq!(found.classes_from, Some(ClassesFrom::Names), "{}", found.words);
    assert_eq!(found.classes, [("cow", 15), ("dog", 15), ("pig", 15)].map(|(name, n)| (name.to_owned(), n)));
    assert_eq!(found.kinds, [("png".to_owned(), 90)]);
    let sources: Vec<_> = found.sources.iter().map(|source| (source.labels, source.classes, source.objects, source.images)).collect();
    assert_eq!(
        sources,
        [(Labels::ClassFolders, 3, 0, 45), (Labels::NorbNames, 3, 9, 45), (Labels::WholeFolder, 1, 0, 45), (Labels::None, 0, 9, 0)]
    );
    assert_eq!(found.examples.len(), EXAMPLES);
    let map = found.examples.iter().find(|example| example.mask_of.is_some()).expect("a mask");
    assert!(map.path.starts_with(map.mask_of.as_deref().and_then(Path::parent).expect("a folder")) && map.class.is_none());
    assert!(found.examples.iter().all(|example| example.mask_of.is_some() != example.class.is_some()));
}

#[test]
fn folders_of_mixed_classes_stay_classes() {
    // The names say who wrote a digit, the folders which digit it is.
    let files: Vec<String> = (0..3)
        .flat_map(|digit| ["ann", "bob"].into_iter().flat_map(move |who| (0..4).map(move |i| format!("{digit}/{who}_1_2_{i}.png"))))
        .collect();
    let dir = folder(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let found = plan(dir.path(), &OpenOptions::default());
    assert_eq!((found.classes_from, found.classes.len()), (Some(ClassesFrom::Folders), 3), "{}", found.words);
}

#[test]
fn a_plan_is_what_opening_gives() {
    let dir = numbered();
    touch(&dir.path().join("3/notes.xyz"));
    touch(&dir.path().join("readme.txt"));
    for labels in [Labels::Auto, Labels::ClassFolders, Labels::NorbNames, Labels::None] {
        for exclude in [vec![], vec!["dog*".to_owned()], vec!["maps".to_owned(), "1/**".to_owned()]] {
            let options = OpenOptions { labels, exclude, unlabelled_too: true, ..OpenOptions::default() };
            let (found, set) = (plan(dir.path(), &options), Dataset::open(dir.path(), &options, &Progress::default()).expect("a set"));
            assert_eq!((found.images, found.masks, &found.words), (set.items.len(), set.masks.len(), &set.layout.words));
            assert_eq!(found.skipped.len(), set.skipped.len() + set.others.len());
        }
    }
}

#[test]
fn each_pattern_is_told_what_it_takes_out() {
    let dir = numbered();
    let exclude = ["maps", "cow1*", "2/**", "*.tmp", "3"].map(str::to_owned).to_vec();
    let found = plan(dir.path(), &OpenOptions { exclude, ..OpenOptions::default() });
    let counts: Vec<(&str, usize)> = found.excluded.iter().map(|(pattern, n)| (pattern.as_str(), *n)).collect();
    assert_eq!(counts, [("maps", 45), ("cow1*", 10), ("2/**", 30), ("*.tmp", 0), ("3", 30)]);
    assert_eq!(found.images, 10);
}

#[test]
fn texts_and_tables_beside_are_found() {
    let dir = folder(&["ant/1.png", "ant/2.png", "bee/3.png"]);
    fs::write(dir.path().join("ant/1.txt"), "a small ant\n").expect("a text");
    fs::write(dir.path().join("captions.tsv"), "path\tcaption\nant/2.png\ta red ant\ngone.png\ta ghost\n").expect("a table");
    fs::write(dir.path().join("classes.csv"), "path,label\n1.png,red\n2.png,blue\n3.png,red\n").expect("a table");
    fs::write(dir.path().join("other.csv"), "x,y\n1,2\n").expect("a file");
    let found = plan(dir.path(), &OpenOptions::default());
    assert_eq!(found.captioned, 1);
    let tables: Vec<_> =
        found.tables.iter().map(|table| (table.captions, table.labels, table.classes, table.matched, table.unmatched)).collect();
    assert_eq!(tables, [(2, 0, 0, 1, 1), (0, 3, 2, 3, 0)], "{:?}", found.tables);
    let matched: Vec<_> = found.tables.iter().map(|table| (table.matched_captions, table.matched_labels)).collect();
    assert_eq!(matched, [(1, 0), (0, 3)]);
    assert_eq!(found.captions_table().map(|table| table.matched), Some(1));
    // A caption that only a table has is not taken in unless that table is read.
    let captions: Vec<_> = found.examples.iter().map(|example| (example.caption.as_deref(), example.in_tables[0].as_deref())).collect();
    assert_eq!(captions, [(Some("a small ant"), None), (None, Some("a red ant")), (None, None)]);
    assert_eq!(found.skipped_by_reason, [("no_picture", 1)].into());
}

#[test]
fn the_only_table_that_has_captions_of_most_images_is_their_table_whatever_it_is_called() {
    let dir = folder(&["1.png", "2.png", "3.png"]);
    let named = |name: &str, lines: &str| fs::write(dir.path().join(name), lines).expect("a table");
    named("few.csv", "path,caption\n1.png,red\n");
    assert_eq!(plan(dir.path(), &OpenOptions::default()).captions_table(), None);
    named("words.csv", "path,caption\n1.png,red\n2.png,blue\n");
    let found = plan(dir.path(), &OpenOptions::default());
    assert_eq!(found.captions_table().and_then(|table| table.path.file_name()), Some("words.csv".as_ref()));
    // Of two nobody can tell; a table with labels may contradict the folders.
    named("labels.csv", "path,caption,label\n1.png,red,a\n2.png,blue,b\n");
    assert!(plan(dir.path(), &OpenOptions::default()).captions_table().is_some());
    named("again.csv", "path,caption\n1.png,red\n3.png,blue\n");
    assert_eq!(plan(dir.path(), &OpenOptions::default()).captions_table(), None);
    named("captions.csv", "path,caption\n1.png,red\n");
    assert!(plan(dir.path(), &OpenOptions::default()).captions_table().is_some());
}

#[test]
fn a_norb_set_is_planned_without_its_pixels() {
    let dir = folder(&[]);
    let mut set = tessera_core::data::NorbWriter::create(&dir.path().join("mini"), 8, 8).expect("a set");
    let frame = image::GrayImage::new(8, 8);
    for category in [0, 0, 3] {
        set.push(category, &[1, 2, 3, 4], &frame, &frame).expect("a pair");
    }
    let dat = set.finish().expect("a set");
    let found = plan(dir.path(), &OpenOptions::default());
    assert_eq!((found.norb.as_deref(), found.pairs, found.images), (Some(dat.as_path()), 3, 0));
    assert_eq!(found.classes, [("animal", 2), ("truck", 1)].map(|(name, n)| (name.to_owned(), n)));
    assert!(found.words.contains("--unpack"), "{}", found.words);
}
