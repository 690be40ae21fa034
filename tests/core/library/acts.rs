//! Acts, undo and redo, across closing and opening.

use proptest::prelude::*;
use tessera_core::data::tables;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::event::ContentHash;

use super::*;

#[test]
fn classes_follow_their_names() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png", "owl/1.png"]);
    let library = place.open();
    place.import(&library);
    let names = |library: &Mutex<Library>| view(hold(library).state()).1;
    assert_eq!(names(&library), ["cat", "dog", "owl"]);
    {
        let mut library = hold(&library);
        library.new_class(" fish ").unwrap();
        assert_eq!(library.new_class("fish").unwrap_err().reason(), "option");
        library.rename_class("cat", "feline").unwrap();
        library.rename_class("owl", "dog").unwrap();
        library.recolour_class("dog", Some([1, 2, 3])).unwrap();
        library.delete_class("feline").unwrap();
        assert_eq!(library.label(&[ItemId(99)], &class("x")).unwrap_err().reason(), "option");
        assert_eq!(library.new_class(" ").unwrap_err().reason(), "option");
        assert!(library.recolour_class("dog", Some([1, 2, 3])).unwrap().is_none());
    }
    place.put("cat/3.png", 30);
    place.put("owl/2.png", 31);
    place.import(&library);
    assert_eq!((at(&library, "cat/3.png").label(), at(&library, "owl/2.png").label()), (None, Some("dog")));
    assert_eq!(at(&library, "cat/1.png").label(), None);
    assert_eq!(names(&library), ["dog", "fish"]);
    let dog = at(&library, "dog/1.png").id;
    hold(&library).label(&[dog], &class("cat")).unwrap();
    place.put("cat/4.png", 32);
    place.import(&library);
    assert_eq!(at(&library, "cat/4.png").label(), Some("cat"), "a name that is used again stands for itself again");
    let library = to_the_bottom_and_back(&place, library);
    taught_anew(&place, library);
}

#[track_caller]
fn to_the_bottom_and_back(place: &Place, mut library: Mutex<Library>) -> Mutex<Library> {
    let mut views = vec![view(hold(&library).state())];
    while hold(&library).undo().unwrap().is_some() {
        sound(&library);
        views.push(view(hold(&library).state()));
        library.into_inner().unwrap().close().unwrap();
        library = place.open();
        assert_eq!(view(hold(&library).state()), *views.last().unwrap());
    }
    let bottom = hold(&library).state().clone();
    assert!(bottom.classes().is_empty() && bottom.images().next().is_none());
    views.pop();
    while hold(&library).redo().unwrap().is_some() {
        assert_eq!(view(hold(&library).state()), views.pop().unwrap());
        drop(library);
        library = place.open();
    }
    assert!(views.is_empty());
    sound(&library);
    library
}

#[test]
fn images_that_go_leave_captions_and_class_to_the_one_that_stays() {
    let place = Place::new(&["a/1.png", "a/2.png", "b/1.png", "3.png", "4.png"]);
    let library = place.open();
    place.import(&library);
    let id = |name: &str| at(&library, name).id;
    let (one, two, other, bare, none) = (id("a/1.png"), id("a/2.png"), id("b/1.png"), id("3.png"), id("4.png"));
    let said = |text: &str| Caption { text: text.into(), by_user: true };
    for (image, captions) in [(one, vec!["a boat", "a lake"]), (two, vec!["a lake", "a swan"]), (other, vec!["a swan"])] {
        hold(&library).caption(image, captions.into_iter().map(said).collect()).unwrap();
    }
    hold(&library).label(&[none], &UserLabel::NoClass).unwrap();
    let before = hold(&library).state().clone();
    let clear = |clearances: &[(ItemId, &[ItemId])]| {
        let of = |(kept, removed): &(ItemId, &[ItemId])| Clearance { kept: Some(*kept), removed: removed.to_vec() };
        hold(&library).clear(&clearances.iter().map(of).collect::<Vec<_>>(), false).unwrap();
        let state = hold(&library).state().clone();
        let texts = |image: ItemId| {
            let image = state.image(image).unwrap();
            (image.label().map(str::to_owned), image.captions.iter().map(|caption| caption.text.clone()).collect::<Vec<_>>().join(", "))
        };
        let told = clearances.iter().map(|(kept, _)| texts(*kept)).collect::<Vec<_>>();
        let words = state.history().last().unwrap().words.clone();
        hold(&library).undo().unwrap();
        assert_eq!(view(hold(&library).state()), view(&before));
        (told, words)
    };
    let (told, words) = clear(&[(bare, &[one, two])]);
    assert_eq!(told, [(Some("a".into()), "a boat, a lake, a swan".into())]);
    assert_eq!(words, "Removed 2 images, 3 captions and 1 label taken over");
    // Two classes are none, a class that it has stays, and so does the word that it has none.
    let (told, words) = clear(&[(bare, &[two, other])]);
    assert_eq!(told, [(None, "a lake, a swan".into())]);
    assert_eq!(words, "Removed 2 images, 2 captions taken over, several classes of the copies of 1 image left out");
    assert_eq!(
        clear(&[(one, &[other]), (none, &[two])]).0,
        [(Some("a".into()), "a boat, a lake, a swan".into()), (None, "a lake, a swan".into())]
    );
    // What is said twice of one image that stays is one change; what went before brings nothing.
    assert_eq!(clear(&[(bare, &[one]), (bare, &[two, bare])]).0[0].1, "a boat, a lake, a swan");
    hold(&library).set_removed(&[one], true).unwrap();
    hold(&library).clear(&[Clearance { kept: Some(bare), removed: vec![one] }], true).unwrap();
    assert!(at(&library, "3.png").captions.is_empty());
    hold(&library).set_removed(&[one], false).unwrap();
    // The user's class outranks that of a folder; the one that is kept for others never goes.
    hold(&library).label(&[two], &class("swan")).unwrap();
    let given = [Clearance { kept: Some(one), removed: vec![two, other] }, Clearance { kept: Some(other), removed: vec![one] }];
    assert_eq!(Clearance::going(&given), [two]);
    hold(&library).clear(&given, true).unwrap();
    let last = hold(&library).state().history().last().unwrap().clone();
    assert_eq!((last.words.as_str(), last.is_with_files()), ("Removed 2.png, 1 caption and 1 label taken over, files to the bin", true));
    assert_eq!((at(&library, "a/1.png").label(), at(&library, "b/1.png").is_live()), (Some("swan"), true));
    hold(&library).undo().unwrap();
    assert_eq!((at(&library, "a/1.png").label(), at(&library, "a/2.png").is_live()), (Some("a"), true));
    hold(&library).redo().unwrap();
    assert_eq!((at(&library, "a/1.png").label(), at(&library, "a/2.png").is_live()), (Some("swan"), false));
    hold(&library).undo().unwrap();
    // More captions than an image may have are told.
    hold(&library).caption(one, (0..199).map(|n| said(&format!("boat {n}"))).collect()).unwrap();
    hold(&library).label(&[one], &class("a")).unwrap();
    hold(&library).clear(&[Clearance { kept: Some(one), removed: vec![two] }], false).unwrap();
    let words = hold(&library).state().history().last().unwrap().words.clone();
    assert_eq!(words, "Removed 2.png, 1 caption taken over, 1 caption too many left out");
    hold(&library).undo().unwrap();
    hold(&library).set_removed(&[one], true).unwrap();
    let gone = hold(&library).clear(&[Clearance { kept: Some(one), removed: vec![two] }], false).unwrap_err();
    assert!(matches!(gone, tessera_core::Error::Removed { .. }), "{gone}");
    sound(&library);
}

#[test]
fn tables_are_one_act_and_never_overrule() {
    let place = Place::new(&["a/1.png", "a/2.png", "b/1.png", "b/3.png"]);
    let library = place.open();
    place.import(&library);
    let two = at(&library, "a/2.png").id;
    hold(&library).label(&[two], &class("mine")).unwrap();
    let before = view(hold(&library).state());
    let csv = place.dir.path().join("labels.csv");
    fs::write(&csv, "path,label,caption\na/1.png,red,one fish\na/2.png,blue,two fish\n1.png,x,y\nnone.png,x,y\nb/3.png,b,\n").unwrap();
    let table = tables::read(&csv, &Progress::default()).unwrap();
    let read = hold(&library).read_table(&table, "labels.csv").unwrap();
    assert_eq!((read.matched, read.captions, read.labels, read.kept), (3, 2, 1, 1), "{read:?}");
    assert_eq!((read.unmatched, read.ambiguous), (vec!["none.png".to_owned()], vec!["1.png".to_owned()]));
    assert_eq!((at(&library, "a/1.png").label(), at(&library, "a/2.png").label()), (Some("red"), Some("mine")));
    let flickr = place.dir.path().join("captions.token.txt");
    fs::write(&flickr, "3.png#0\tthree fish\n3.png#1\tno fish\n").unwrap();
    let table = tables::read(&flickr, &Progress::default()).unwrap();
    assert_eq!(hold(&library).read_table(&table, "captions").unwrap().captions, 2);
    assert_eq!(hold(&library).read_table(&table, "captions").unwrap().captions, 0);

    let rows = hold(&library).rows(true, true);
    let out = place.dir.path().join("out.jsonl");
    tables::write(tables::TableFormat::JsonLines, &rows, &out).unwrap();
    let other = Mutex::new(open(&place.dir.path().join("other.tessera"), Arc::new(InProcess::default())).unwrap());
    imported_with(&other, &place.images(), &ImportOptions { labels: tessera_core::data::Labels::None, ..ImportOptions::default() });
    let table = tables::read(&out, &Progress::default()).unwrap();
    hold(&other).read_table(&table, "out").unwrap();
    assert_eq!(hold(&other).rows(true, true), rows);

    hold(&library).undo().unwrap();
    hold(&library).undo().unwrap();
    assert_eq!(view(hold(&library).state()), before);
    sound(&library);
    taught_anew(&place, library);
}

#[derive(Clone, Debug)]
enum Step {
    Label(Vec<usize>, usize),
    Caption(usize, usize),
    Remove(usize, bool),
    NewClass(usize),
    Rename(usize, usize),
    Delete(usize),
    Undo,
    Redo,
    Reopen,
    Import,
    Change(usize, u64),
    Exchange(usize, usize),
    Forget(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let image = 0..6usize;
    let name = 0..5usize;
    prop_oneof![
        4 => (prop::collection::vec(image.clone(), 1..3), 0..7usize).prop_map(|(i, c)| Step::Label(i, c)),
        2 => (image.clone(), 0..3usize).prop_map(|(i, c)| Step::Caption(i, c)),
        2 => (image.clone(), any::<bool>()).prop_map(|(i, r)| Step::Remove(i, r)),
        1 => name.clone().prop_map(Step::NewClass),
        1 => (name.clone(), name.clone()).prop_map(|(a, b)| Step::Rename(a, b)),
        1 => name.prop_map(Step::Delete),
        5 => Just(Step::Undo),
        3 => Just(Step::Redo),
        1 => Just(Step::Reopen),
        1 => Just(Step::Import),
        1 => (image.clone(), 100..110u64).prop_map(|(i, seed)| Step::Change(i, seed)),
        1 => (image.clone(), image.clone()).prop_map(|(a, b)| Step::Exchange(a, b)),
        1 => image.prop_map(Step::Forget),
    ]
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const FILES: [&str; 6] = ["a/1.png", "a/2.png", "b/1.png", "b/2.png", "c/1.png", "6.png"];

/// What the history reaches: everything but which bytes an image has.
fn reached(library: &Mutex<Library>) -> View {
    let (mut images, classes) = view(hold(library).state());
    // Records that came with an import which was taken back are blank.
    images.retain(|said| said.1.is_some() || said.0.0 as usize <= FILES.len());
    for said in &mut images {
        said.1 = said.1.map(|_| Content { hash: ContentHash(0), size: (0, 0), bytes: 0, changed: false });
    }
    (images, classes)
}

/// The expected state after a step, if it is allowed.
fn expected((images, classes): &View, step: &Step) -> Option<View> {
    let (mut images, mut classes) = (images.clone(), classes.clone());
    let id = |i: usize| ItemId(i as u32 + 1);
    let label = |said: &Said| match &said.3 {
        UserLabel::Class(class) => Some(class.clone()),
        UserLabel::NoClass => None,
        UserLabel::Unsaid => said.2.label.clone(),
    };
    let live = |images: &[Said], i: usize| images.iter().position(|said| said.0 == id(i) && said.1.is_some() && !said.5);
    match step {
        Step::Label(which, c) => {
            let user = match c {
                5 => UserLabel::NoClass,
                6 => UserLabel::Unsaid,
                c => class(NAMES[*c]),
            };
            let which: Option<Vec<usize>> = which.iter().map(|i| live(&images, *i)).collect();
            if let UserLabel::Class(name) = &user
                && !classes.contains(name)
            {
                classes.push(name.clone());
            }
            for at in which? {
                images[at].3 = user.clone();
            }
        }
        Step::Caption(i, c) => {
            let at = live(&images, *i)?;
            images[at].4 = say(&["one", "two", "three"][..*c]);
        }
        Step::Remove(i, removed) => images.iter_mut().find(|said| said.0 == id(*i))?.5 = *removed,
        Step::NewClass(c) => {
            if classes.iter().any(|name| name == NAMES[*c]) {
                return None;
            }
            classes.push(NAMES[*c].into());
        }
        Step::Rename(a, b) => {
            let at = classes.iter().position(|name| name == NAMES[*a])?;
            if a != b {
                for said in images.iter_mut().filter(|said| label(said).as_deref() == Some(NAMES[*a])) {
                    said.3 = class(NAMES[*b]);
                }
                if classes.iter().any(|name| name == NAMES[*b]) {
                    classes.remove(at);
                } else {
                    classes[at] = NAMES[*b].into();
                }
            }
        }
        Step::Delete(c) => {
            let at = classes.iter().position(|name| name == NAMES[*c])?;
            classes.remove(at);
            for said in images.iter_mut().filter(|said| label(said).as_deref() == Some(NAMES[*c])) {
                said.3 = UserLabel::NoClass;
            }
        }
        _ => return None,
    }
    Some((images, classes))
}

fn act(library: &mut Library, step: &Step) -> tessera_core::Result<bool> {
    let id = |i: usize| ItemId(i as u32 + 1);
    let event = match step {
        Step::Label(which, c) => {
            let ids: Vec<ItemId> = which.iter().map(|i| id(*i)).collect();
            let user = match c {
                5 => UserLabel::NoClass,
                6 => UserLabel::Unsaid,
                c => class(NAMES[*c]),
            };
            library.label(&ids, &user)?
        }
        Step::Caption(i, c) => library.caption(id(*i), say(&["one", "two", "three"][..*c]))?,
        Step::Remove(i, removed) => library.set_removed(&[id(*i)], *removed)?,
        Step::NewClass(c) => library.new_class(NAMES[*c])?,
        Step::Rename(a, b) => library.rename_class(NAMES[*a], NAMES[*b])?,
        Step::Delete(c) => library.delete_class(NAMES[*c])?,
        _ => None,
    };
    Ok(event.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_order_of_acts_can_be_taken_back(steps in prop::collection::vec(step(), 1..30)) {
        let place = Place::new(&FILES);
        let mut library = place.open();
        place.import(&library);
        let (mut past, mut future): (Vec<View>, Vec<View>) = (Vec::new(), Vec::new());
        for step in &steps {
            let now = reached(&library);
            match step {
                Step::Undo => {
                    if hold(&library).undo().unwrap().is_some() {
                        if let Some(before) = past.pop() {
                            prop_assert_eq!(&reached(&library), &before);
                        }
                        future.push(now);
                    }
                }
                Step::Redo => {
                    if hold(&library).redo().unwrap().is_some() {
                        if let Some(after) = future.pop() {
                            prop_assert_eq!(&reached(&library), &after);
                        }
                        past.push(now);
                    }
                }
                Step::Reopen => {
                    drop(library);
                    library = place.open();
                    prop_assert_eq!(&reached(&library), &now);
                }
                Step::Import => {
                    let acts = hold(&library).state().history().to_vec();
                    place.import(&library);
                    if hold(&library).state().history() != acts {
                        past.push(now);
                        future.clear();
                    }
                }
                Step::Change(i, seed) => place.put(FILES[*i], *seed),
                Step::Exchange(a, b) => {
                    let aside = place.image("aside");
                    for (from, to) in [(place.image(FILES[*a]), &aside), (place.image(FILES[*b]), &place.image(FILES[*a])), (aside.clone(), &place.image(FILES[*b]))] {
                        // One and the same file is moved aside and back.
                        let _ = fs::rename(from, to);
                    }
                }
                Step::Forget(i) => {
                    let id = ItemId(*i as u32 + 1);
                    if hold(&library).state().image(id).is_some() {
                        hold(&library).forget(&[id], &Progress::default()).unwrap();
                        // What lies below in the history is not known any more.
                        past.clear();
                        future.clear();
                    }
                }
                _ => {
                    let expected = expected(&now, step);
                    let done = act(&mut hold(&library), step);
                    prop_assert_eq!(done.is_ok(), expected.is_some(), "{:?}", done);
                    let now_is = reached(&library);
                    if let (Ok(done), Some(expected)) = (done, expected) {
                        prop_assert_eq!(&now_is, &expected);
                        if done {
                            past.push(now);
                            future.clear();
                        }
                    }
                }
            }
        }
        sound(&library);
        let library = replayed(&place, library);
        while hold(&library).undo().unwrap().is_some() {}
        sound(&library);
        while hold(&library).redo().unwrap().is_some() {}
        sound(&library);
    }
}

/// The classes rejected for an image.
fn rejected(library: &Mutex<Library>, name: &str) -> Vec<String> {
    at(library, name).rejected.iter().cloned().collect()
}

#[test]
fn what_an_image_is_not_follows_the_classes() {
    let place = Place::new(&["ant/0.png", "ant/1.png", "bee/2.png", "cat/3.png"]);
    let library = place.open();
    place.import(&library);
    let id = |name: &str| at(&library, name).id;
    let (ant, bee) = (id("ant/0.png"), id("bee/2.png"));
    hold(&library).reject(&[ant, bee], "cat", true).unwrap().unwrap();
    assert_eq!(hold(&library).reject(&[ant, bee], "cat", true).unwrap(), None);
    assert!(hold(&library).reject(&[ant], "dragon", true).is_err());
    assert_eq!(at(&library, "bee/2.png").label(), Some("bee"), "labels stay");
    // A name goes with its class; classes that join say less; undo brings all back.
    hold(&library).rename_class("cat", "lion").unwrap();
    assert_eq!(rejected(&library, "ant/0.png"), ["lion"]);
    hold(&library).rename_class("lion", "bee").unwrap();
    assert!(rejected(&library, "ant/0.png").is_empty());
    hold(&library).undo().unwrap();
    assert_eq!(rejected(&library, "ant/0.png"), ["lion"]);
    hold(&library).delete_class("lion").unwrap();
    assert!(rejected(&library, "bee/2.png").is_empty());
    hold(&library).undo().unwrap();
    hold(&library).undo().unwrap();
    assert_eq!(rejected(&library, "bee/2.png"), ["cat"]);
    // A label takes the rejection of the same class back.
    hold(&library).label(&[ant], &class("cat")).unwrap();
    assert!(rejected(&library, "ant/0.png").is_empty());
    hold(&library).reject(&[bee], "cat", false).unwrap().unwrap();
    assert!(rejected(&library, "bee/2.png").is_empty());
    hold(&library).undo().unwrap();
    let library = taught_anew(&place, library);
    assert_eq!(rejected(&library, "bee/2.png"), ["cat"]);
    sound(&library);
    assert_eq!(hold(&library).check().unwrap(), Vec::<String>::new());
    // A class that only a forgotten image was not of is forgotten with it.
    hold(&library).new_class("zebrafinch").unwrap();
    hold(&library).reject(&[bee], "zebrafinch", true).unwrap().unwrap();
    hold(&library).delete_class("zebrafinch").unwrap();
    hold(&library).forget(&[bee], &Progress::default()).unwrap();
    assert_eq!(hold(&library).check().unwrap(), Vec::<String>::new());
}

/// A library as an earlier version left it: without the tables that came later.
#[test]
fn older_libraries_are_taken_over() {
    let place = Place::new(&["ant/0.png", "bee/1.png"]);
    let library = place.open();
    place.import(&library);
    library.into_inner().unwrap().close().unwrap();
    let newer = ["reward", "rejection", "no_guess", "link", "vector", "not_copy", "bond"];
    for (version, tables) in
        [(1, &newer[..]), (2, &newer[1..]), (3, &newer[2..]), (4, &newer[3..]), (5, &newer[4..]), (6, &newer[6..]), (7, &[])]
    {
        // Its journal had no links either.
        fs::remove_file(place.folder().join("journal.jsonl")).unwrap();
        let db = rusqlite::Connection::open(place.folder().join("library.db")).unwrap();
        for table in tables {
            db.execute_batch(&format!("DROP TABLE {table}; DELETE FROM tally WHERE name = '{table}'")).unwrap();
        }
        db.pragma_update(None, "user_version", version).unwrap();
        drop(db);
        let library = place.open();
        assert_eq!(hold(&library).check().unwrap(), Vec::<String>::new(), "from version {version}");
        let ant = at(&library, "ant/0.png").id;
        hold(&library).reject(&[ant], "bee", true).unwrap().unwrap();
        hold(&library).undo().unwrap();
        library.into_inner().unwrap().close().unwrap();
    }
}

#[test]
fn a_label_is_confirmed_in_one_act() {
    let place = Place::new(&["ant/0.png", "bee/1.png", "cat/2.png"]);
    let library = place.open();
    place.import(&library);
    let ant = at(&library, "ant/0.png").id;
    let not = ["bee", "cat"].map(str::to_owned);
    let before = at(&library, "ant/0.png");
    hold(&library).confirm(ant, &not).unwrap().unwrap();
    assert_eq!((at(&library, "ant/0.png").user.clone(), rejected(&library, "ant/0.png")), (UserLabel::Class("ant".into()), not.to_vec()));
    assert_eq!(hold(&library).confirm(ant, &not).unwrap(), None, "that was said already");
    hold(&library).undo().unwrap();
    assert_eq!(at(&library, "ant/0.png"), before);
    assert!(hold(&library).confirm(ant, &["ant".to_owned()]).is_err(), "its own label is not denied");
    assert!(hold(&library).confirm(ant, &["dragon".to_owned()]).is_err());
    hold(&library).label(&[ant], &UserLabel::NoClass).unwrap();
    assert!(hold(&library).confirm(ant, &not).is_err(), "there is nothing to confirm");
}

#[test]
fn what_an_act_is_refused_for_is_told_with_the_library() {
    use tessera_core::Error;
    let place = Place::new(&["cat/1.png"]);
    let library = place.open();
    place.import(&library);
    let cat = at(&library, "cat/1.png").id;
    let refused = |image, class| hold(&library).label(&[image], &class).unwrap_err();
    let told = |error: &Error, words: &str| {
        assert_eq!(error.to_string(), format!("{}: {words}; name another", place.folder().display()));
        assert_eq!(error.reason(), "option");
    };
    let unknown = refused(ItemId(99), class("cat"));
    assert!(matches!(unknown, Error::NotFound { name: "image", .. }));
    told(&unknown, "expected an image of this library as image, found #99, which is not there");
    let unfit = refused(cat, class(" "));
    assert!(matches!(unfit, Error::Unfit { name: "class", .. }));
    told(&unfit, "expected a name of 1 to 200 characters as class, found empty");
    let missing = hold(&library).delete_class("cap").unwrap_err();
    assert!(matches!(missing, Error::NotFound { name: "class", .. }));
    told(&missing, "expected one of its classes as class, found `cap`, which does not exist (there is `cat`)");
    hold(&library).set_removed(&[cat], true).unwrap();
    let removed = refused(cat, class("cat"));
    assert!(matches!(removed, Error::Removed { image, .. } if image == cat.0));
    told(&removed, &format!("expected an image that is there; restore it first as image, found #{}, which was removed", cat.0));
}

#[test]
fn images_that_have_changed_are_known_without_looking_at_the_others() {
    let place = Place::new(&["a/1.png", "a/2.png", "b/3.png", "b/4.png"]);
    let library = place.open();
    place.import(&library);
    let mut states = vec![State::default(), hold(&library).state().clone()];
    let (one, two) = (at(&library, "a/1.png").id, at(&library, "b/3.png").id);
    hold(&library).label(&[one, two], &class("mine")).unwrap();
    states.push(hold(&library).state().clone());
    hold(&library).undo().unwrap();
    states.push(hold(&library).state().clone());
    place.put("c/5.png", 50);
    place.import(&library);
    states.push(hold(&library).state().clone());
    hold(&library).forget(&[two], &Progress::default()).unwrap();
    states.push(hold(&library).state().clone());
    for (before, after) in states.iter().flat_map(|before| states.iter().map(move |after| (before, after))) {
        let changed = after.changed_since(before);
        assert!(changed.is_sorted_by(|a, b| a < b), "{changed:?}");
        let both = before.records().iter().chain(after.records()).map(|image| image.id);
        let other = |id: &ItemId| before.image(*id) != after.image(*id);
        assert!(both.filter(other).all(|id| changed.binary_search(&id).is_ok()), "{changed:?}");
    }
    assert_eq!(states[2].changed_since(&states[1]), [one, two]);
    assert!(states[4].changed_since(&states[3]).contains(&at(&library, "c/5.png").id));
    assert_eq!(states[2].changed_since(&states[2].clone()), []);
}
