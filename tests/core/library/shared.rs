//! Several programs and one library: none deletes what another has open.

use std::thread;

use tessera_core::Error;

use super::*;

fn try_open(folder: &Path) -> tessera_core::Result<Library> {
    open(folder, Arc::new(InProcess::default()))
}

/// Opens the library as soon as nobody else has it.
fn wait_for(folder: &Path) -> Library {
    loop {
        match try_open(folder) {
            Ok(library) => return library,
            // It went away while it was opened.
            Err(Error::Busy { .. } | Error::Io { .. }) => thread::yield_now(),
            Err(error) => {
                let words = error.to_string();
                assert!(words.contains("expected a library") || words.contains("expected a new name"), "{words}");
            }
        }
    }
}

#[test]
fn only_an_empty_library_is_taken_away() {
    let place = Place::new(&["cat/1.png"]);
    try_open(&place.folder()).unwrap().close_or_delete_empty().unwrap();
    assert!(!place.folder().exists());
    let mut library = try_open(&place.folder()).unwrap();
    library.new_class("cat").unwrap();
    library.close_or_delete_empty().unwrap();
    let library = place.open();
    assert_eq!(hold(&library).state().classes().len(), 1);
    drop(library);
    fs::remove_dir_all(place.folder()).unwrap();
    let library = place.open();
    place.import(&library);
    library.into_inner().unwrap().close_or_delete_empty().unwrap();
    assert_eq!(hold(&place.open()).state().images().count(), 1);
}

#[test]
fn what_others_enter_is_not_taken_away() {
    for round in 0..8 {
        let dir = TempDir::new().unwrap();
        let folder = dir.path().join("one.tessera");
        let holders = AtomicUsize::new(0);
        let have = |work: &dyn Fn(&mut Library)| {
            let mut library = wait_for(&folder);
            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two have the library");
            work(&mut library);
            holders.fetch_sub(1, Ordering::SeqCst);
            library
        };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..3).for_each(|_| have(&|_| {}).close_or_delete_empty().unwrap()));
            }
            scope.spawn(|| {
                thread::sleep(std::time::Duration::from_millis(10 * round));
                have(&|library| assert!(library.new_class("kept").unwrap().is_some())).close().unwrap();
            });
        });
        let library = try_open(&folder).unwrap();
        assert_eq!(library.state().classes().len(), 1, "round {round}");
        assert_eq!(library.check().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_cache_is_made_anew_by_whoever_has_the_library() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let progress = Progress::default();
    let anew = |keep: &dyn Fn(&mut Library) -> tessera_core::Result<Option<usize>>| {
        let opening =
            LibraryOptions { options: options(), learned: None, ..LibraryOptions::new(Arc::new(InProcess::default()), &progress) };
        Library::with_new_cache(&place.folder(), &opening, keep)
    };
    let names = || {
        let names = fs::read_dir(place.folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("cache.db")).collect::<std::collections::BTreeSet<_>>()
    };
    let before = names();
    assert!(matches!(anew(&|_| Ok(Some(1))), Err(Error::Busy { .. })));
    assert_eq!(names(), before, "nothing is moved while somebody has it");
    library.into_inner().unwrap().close().unwrap();
    let bytes = fs::read(place.folder().join("cache.db")).unwrap();
    let is_busy = |_: &mut Library| {
        assert!(matches!(try_open(&place.folder()).err(), Some(Error::Busy { .. })));
        Ok(None)
    };
    assert_eq!(anew(&is_busy).unwrap(), None);
    assert_eq!(anew(&|_| Err(Error::Cancelled)).unwrap_err().reason(), "cancelled");
    assert!(fs::read(place.folder().join("cache.db")).unwrap() == bytes && names().len() == 1, "{:?}", names());
    let held = |library: &mut Library| Ok(Some(library.recogniser().ckm().examples().count()));
    assert_eq!(anew(&held).unwrap(), Some(3));
    assert_eq!(names().len(), 1, "{:?}", names());
    sound(&place.open());
}
