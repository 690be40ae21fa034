//! The chain of events: what it notices, and what forgetting leaves of it.

use std::collections::BTreeMap;

use tessera_core::library::chain::{HeadPlace, NotedHead};
use tessera_core::library::event::{Event, EventId, EventKind};
use tessera_core::library::link::{CommitmentOpening, Digest, Part, Secret};

use super::*;

/// A library with acts on three images, each of which other events touch too.
fn acted(place: &Place) -> Mutex<Library> {
    let library = place.open();
    place.import(&library);
    let [ant, bee, cat] = ["ant/1.png", "bee/2.png", "cat/3.png"].map(|name| at(&library, name).id);
    hold(&library).label(&[ant, bee], &class("pet")).unwrap();
    hold(&library).caption(bee, say(&["a bee"])).unwrap();
    hold(&library).undo().unwrap();
    hold(&library).label(&[ant, bee, cat], &class("thing")).unwrap();
    hold(&library).reward("small", bee, Some(1.0)).unwrap();
    hold(&library).label(&[cat], &class("lion")).unwrap();
    library
}

fn place() -> Place {
    Place::new(&["ant/1.png", "bee/2.png", "cat/3.png"])
}

fn heads(library: &Mutex<Library>) -> BTreeMap<EventId, Digest> {
    hold(library).events().unwrap().iter().map(|event| (event.id, event.link.as_ref().unwrap().head)).collect()
}

fn note(text: &str) -> NotedHead {
    text.parse().unwrap()
}

#[test]
fn each_event_is_tied_to_all_before_it() {
    let place = place();
    let library = acted(&place);
    let events = hold(&library).events().unwrap();
    let mut head = Digest::origin();
    for event in &events {
        let link = event.link.as_ref().unwrap();
        assert!(event.holds() && link.previous == head, "{event:?}");
        head = link.head;
        let altered = [
            Event { id: EventId(event.id.0 + 1), ..event.clone() },
            Event { at: event.at + 1, ..event.clone() },
            Event { act: EventId(99), ..event.clone() },
            Event { kind: EventKind::Redo(EventId(1)), ..event.clone() },
            Event { words: format!("{}.", event.words), ..event.clone() },
            Event { changes: event.changes[1..].to_vec(), ..event.clone() },
            Event { changes: [&event.changes[..], &event.changes[..1]].concat(), ..event.clone() },
            Event { changes: events[(event.id.0 % 2) as usize].changes.clone(), ..event.clone() },
        ];
        let passed = altered.iter().filter(|other| *other != event && other.holds()).count();
        assert_eq!(passed, 0, "of {event:?}");
    }
    let chain = hold(&library).chain().unwrap();
    assert_eq!((chain.head.digest, chain.events, chain.lost.len()), (head, events.len(), 0));
    let text = chain.head.to_string();
    let find = |text: &str| hold(&library).find_head(&note(text)).unwrap();
    assert_eq!(find(&text), HeadPlace::After(EventId(7)));
    assert_eq!(find(&text[2..18].to_uppercase()), HeadPlace::After(EventId(7)));
    assert_eq!(find(&format!("6:{}", &text[2..])), HeadPlace::Differs(EventId(6)));
    assert_eq!(find(&format!("9:{}", &text[2..])), HeadPlace::BeyondEnd(EventId(9)));
    assert_eq!(find("0123456789abcdef"), HeadPlace::Nowhere);
    assert_eq!(find(&format!("0:{}", Digest::origin())), HeadPlace::After(EventId(0)));
    for wrong in ["7:123", "x:0123456789abcdef", "0123456789abcdeg", ""] {
        assert!(wrong.parse::<NotedHead>().is_err(), "{wrong}");
    }
}

#[test]
fn two_libraries_with_the_same_events_have_different_heads() {
    let (one, other) = (place(), place());
    let (one, other) = (acted(&one), acted(&other));
    assert!(heads(&one).values().all(|head| !heads(&other).values().any(|theirs| theirs == head)));
}

/// The digits of a secret or a salt.
fn digits(secret: &Secret) -> String {
    serde_json::to_value(secret).unwrap().as_str().unwrap().to_owned()
}

/// The files below a folder that hold some words.
fn holding(folder: &Path, words: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, words));
        } else if fs::read(&path).unwrap().windows(words.len()).any(|part| part == words.as_bytes()) {
            found.push(path);
        }
    }
    found
}

#[test]
fn forgetting_keeps_the_heads_and_destroys_the_salts() {
    let place = place();
    let library = acted(&place);
    let before = hold(&library).events().unwrap();
    let (head, [bee, cat]) = (heads(&library), ["bee/2.png", "cat/3.png"].map(|name| at(&library, name).id));
    hold(&library).take_snapshot().unwrap();
    for (forgotten, gone) in [(bee, vec![bee]), (cat, vec![bee, cat])] {
        let last = hold(&library).head().unwrap();
        hold(&library).forget(&[forgotten], &Progress::default()).unwrap();
        sound(&library);
        let after = heads(&library);
        assert!(head.iter().all(|(id, digest)| after[id] == *digest), "{gone:?}");
        assert_eq!(hold(&library).find_head(&note(&last.to_string())).unwrap(), HeadPlace::After(last.event));
        let events = hold(&library).events().unwrap();
        assert!(events.iter().all(Event::holds));
        for (event, left) in before.iter().zip(&events) {
            let CommitmentOpening::Whole(secret) = &event.link.as_ref().unwrap().opening else { panic!("it was whole") };
            let is_gone = |i: usize| event.changes[i].image().is_some_and(|image| gone.contains(&image));
            if (0..event.changes.len()).all(|i| !is_gone(i)) {
                assert_eq!(left.words, event.words);
                continue;
            }
            assert_eq!(holding(&place.folder(), &digits(secret)), Vec::<PathBuf>::new());
            for i in (0..event.changes.len()).filter(|i| is_gone(*i)) {
                assert_eq!(holding(&place.folder(), &digits(&secret.salt(i + 1))), Vec::<PathBuf>::new(), "{event:?}");
            }
            let kept = (0..event.changes.len()).find(|i| left.changes.contains(&event.changes[*i]));
            if let Some(kept) = kept {
                let salt = Part::Salt(secret.salt(kept + 1));
                let CommitmentOpening::Parts(parts) = &left.link.as_ref().unwrap().opening else { panic!("{left:?}") };
                assert!(parts.contains(&salt), "what stays can be checked");
                let mut altered = left.clone();
                altered.changes.pop();
                assert!(!altered.holds());
                assert!(!Event { words: "Other words".into(), ..left.clone() }.holds());
            } else {
                assert!(left.is_forgotten() && left.changes.is_empty() && left.words == "Forgotten", "{left:?}");
            }
        }
        assert!(events.iter().filter(|event| event.is_forgotten()).count() >= 3);
    }
    drop(library);
    let library = taught_anew(&place, place.open());
    sound(&library);
    while hold(&library).undo().unwrap().is_some() {}
    sound(&library);
}
