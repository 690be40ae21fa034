//! Forgetting: nothing is left of an image, and the models never saw it.

use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::model::Metrics;
use tessera_core::library::bonds::Bond;

use super::*;

const FILES: [&str; 6] = ["ant/1.png", "ant/2.png", "crow55/zebrafish77.png", "dog/1.png", "dog/2.png", "dog/3.png"];
const NEEDLES: [&str; 7] = ["crow55", "zebrafish77", "quokka", "marmalade", "platypus9", "narwhal", "zebrafish78"];

/// All files below a folder that hold one of the words.
fn traces(folder: &Path) -> Vec<String> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let has = |word: &&&str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
            found.extend(NEEDLES.iter().filter(has).map(|word| format!("{word} in {}", path.display())));
        }
    }
    found
}

fn weights(library: &Mutex<Library>, to: &Path) -> Vec<u8> {
    hold(library).model(Calibration::default(), Metrics::default()).unwrap().save(to).unwrap();
    let is_weights = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "safetensors");
    let path = fs::read_dir(to).unwrap().map(|entry| entry.unwrap().path()).find(is_weights).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn a_forgotten_image_was_never_there() {
    let place = Place::new(&FILES);
    fs::write(place.image("crow55/zebrafish77.txt"), "quokka\n").unwrap();
    let library = place.open();
    place.import(&library);
    let one = at(&library, "crow55/zebrafish77.png");
    let others = |library: &Mutex<Library>| {
        let (ant, dog) = (at(library, "ant/2.png").id, at(library, "dog/2.png").id);
        hold(library).label(&[ant, dog], &class("pet")).unwrap();
        hold(library).caption(dog, say(&["a good dog"])).unwrap();
        hold(library).undo().unwrap();
        hold(library).redo().unwrap();
    };
    hold(&library).label(&[one.id], &class("platypus9")).unwrap();
    hold(&library).caption(one.id, say(&["marmalade", "a dog"])).unwrap();
    others(&library);
    hold(&library).caption(one.id, say(&["narwhal"])).unwrap();
    hold(&library).undo().unwrap();
    let ant = at(&library, "ant/1.png").id;
    hold(&library).set_removed(&[one.id, ant], true).unwrap();
    hold(&library).undo().unwrap();
    hold(&library).save_checkpoints().unwrap();
    place.put("crow55/zebrafish77.png", 99);
    fs::rename(place.image("crow55/zebrafish77.png"), place.image("crow55/zebrafish78.png")).unwrap();
    place.import(&library);
    let now = at(&library, "crow55/zebrafish78.png");
    hold(&library).keep_result("report", "of a quokka").unwrap();
    let last = hold(&library).state().last_event();
    let mut gone = vec![one.id, now.id];
    gone.dedup();
    hold(&library).forget(&gone, &Progress::default()).unwrap();
    sound(&library);
    assert!(hold(&library).state().last_event() > last);
    assert!(hold(&library).thumbnail(one.id).unwrap().is_none());
    assert_eq!(traces(&place.folder()), Vec::<String>::new());
    assert_eq!(view(hold(&library).state()).1, ["ant", "dog", "pet"]);

    let other = Mutex::new(open(&place.dir.path().join("two.tessera"), Arc::new(InProcess::default())).unwrap());
    imported_with(&other, &place.images(), &ImportOptions { exclude: vec!["crow55".into()], ..ImportOptions::default() });
    others(&other);
    let ant = at(&other, "ant/1.png").id;
    hold(&other).set_removed(&[ant], true).unwrap();
    hold(&other).undo().unwrap();
    assert_eq!(hold(&library).everything_learned(), hold(&other).everything_learned());
    assert_eq!(weights(&library, &place.dir.path().join("m1")), weights(&other, &place.dir.path().join("m2")));

    let report = place.import(&library);
    assert_eq!((report.forgotten, counts(&report)), (1, (0, 6, 0)));
    for library in [&library, &other] {
        while hold(library).undo().unwrap().is_some() {}
        assert!(hold(library).state().images().next().is_none());
        sound(library);
        while hold(library).redo().unwrap().is_some() {}
        sound(library);
    }
    assert_eq!(hold(&library).everything_learned(), hold(&other).everything_learned());
    drop(library);
    assert_eq!(traces(&place.folder()), Vec::<String>::new());
    let library = taught_anew(&place, place.open());
    assert_eq!(hold(&library).everything_learned(), hold(&other).everything_learned());
}

#[test]
fn former_bytes_are_forgotten_but_not_those_of_others() {
    let place = Place::new(&["a/1.png", "a/2.png", "b/1.png"]);
    let library = place.open();
    place.import(&library);
    let one = at(&library, "a/1.png");
    let old = fs::read(place.image("a/1.png")).unwrap();
    place.put("a/1.png", 40);
    place.import(&library);
    fs::write(place.image("b/2.png"), &old).unwrap();
    place.import(&library);
    let other = at(&library, "b/2.png");
    assert_ne!(other.id, one.id);
    hold(&library).forget(&[one.id], &Progress::default()).unwrap();
    sound(&library);
    assert!(hold(&library).thumbnail(other.id).unwrap().is_some());
    assert_eq!(place.import(&library).forgotten, 1);
    hold(&library).forget(&[other.id], &Progress::default()).unwrap();
    let report = place.import(&library);
    assert_eq!((report.forgotten, counts(&report)), (2, (0, 4, 0)));
    hold(&library).allow_forgotten(other.content.unwrap().hash).unwrap();
    assert_eq!(counts(&place.import(&library)), (1, 3, 0));
    assert_eq!(hold(&library).forget(&[ItemId(77)], &Progress::default()).unwrap_err().reason(), "option");
}

#[test]
fn images_stay_together_when_one_between_them_is_forgotten() {
    let place = Place::new(&FILES);
    let library = place.open();
    place.import(&library);
    let ids = ["ant/1.png", "ant/2.png", "crow55/zebrafish77.png", "dog/1.png", "dog/2.png"].map(|name| at(&library, name).id);
    let dog = at(&library, "dog/3.png").id;
    hold(&library).say_bond(&ids, Bond::Together).unwrap();
    hold(&library).say_bond(&[ids[0], dog], Bond::Apart).unwrap();
    let together = |library: &Mutex<Library>| hold(library).state().bonds().together_among(|_| true);
    for (gone, mut left) in [(vec![ids[2]], vec![ids[0], ids[1], ids[3], ids[4]]), (vec![ids[1], ids[0]], vec![ids[3], ids[4]])] {
        left.sort();
        hold(&library).forget(&gone, &Progress::default()).unwrap();
        sound(&library);
        let pairs: Vec<(ItemId, ItemId)> = left.windows(2).map(|pair| (pair[0], pair[1])).collect();
        assert_eq!(together(&library), pairs);
    }
    assert_eq!(traces(&place.folder()), Vec::<String>::new());
    drop(library);
    // Nothing is said anew where nothing was joined by it.
    let library = place.open();
    assert_eq!(together(&library).len(), 1, "also from the files");
    let last = hold(&library).events().unwrap().len();
    hold(&library).forget(&[dog], &Progress::default()).unwrap();
    assert_eq!(hold(&library).events().unwrap().len(), last + 1);
}

#[test]
fn what_was_said_of_two_images_does_not_name_one_that_is_forgotten() {
    let place = Place::new(&FILES);
    let library = place.open();
    place.import(&library);
    let one = at(&library, "crow55/zebrafish77.png").id;
    let (b, c) = (at(&library, "dog/1.png").id, at(&library, "dog/2.png").id);
    for (images, bond) in [([c, one], Bond::Together), ([c, b], Bond::Together), ([one, b], Bond::Apart)] {
        hold(&library).say_bond(&images, bond).unwrap();
    }
    hold(&library).forget(&[one], &Progress::default()).unwrap();
    sound(&library);
    assert_eq!(traces(&place.folder()), Vec::<String>::new());
}
