//! The ranking of images by words and appearance, by both word engines.

use std::collections::HashSet;

use tessera_core::library::looks::LookQuery;
use tessera_core::library::search::{Engine, LibraryQuery, SearchHit, search};
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::thumbnail;
use tessera_core::text::TextQuery;

use super::*;

const NAMES: [&str; 4] = ["thing/0.png", "thing/1.png", "thing/2.png", "other/3.png"];
const TEXTS: [&str; 4] = ["a red truck on a wet road", "a blue truck in the garage", "a dog runs through deep snow", "a red barn"];

/// Captioned images with their appearances loaded, and their identifiers.
fn captioned() -> (Place, Mutex<Library>, Vec<ItemId>) {
    let place = Place::new(&NAMES);
    let library = place.open();
    place.import(&library);
    let ids: Vec<ItemId> = NAMES.iter().map(|name| at(&library, name).id).collect();
    for (id, text) in ids.iter().zip(TEXTS) {
        hold(&library).caption(*id, say(&[text])).unwrap();
    }
    while hold(&library).load_appearances(100).unwrap() > 0 {}
    (place, library, ids)
}

fn appearance(library: &Mutex<Library>, id: ItemId) -> Appearance {
    Appearance::of(&thumbnail::decode(&hold(library).thumbnail(id).unwrap().unwrap()).unwrap())
}

fn images(found: &[SearchHit]) -> Vec<ItemId> {
    found.iter().map(|hit| hit.image).collect()
}

fn by(engine: Engine, text: &str, k: usize) -> LibraryQuery {
    LibraryQuery { engine, ..LibraryQuery::words(TextQuery::parse(text), k) }
}

#[test]
fn fewer_hits_are_the_first_of_more() {
    let (_place, library, ids) = captioned();
    let library = hold(&library);
    for engine in [Engine::Memory, Engine::Index] {
        let all = search(&library, &by(engine, "red truck", 10));
        assert_eq!(all[0].image, ids[0], "{engine:?}");
        assert_eq!((all[0].caption.as_deref(), &all[0].words[..]), (Some(TEXTS[0]), &["red".to_owned(), "truck".to_owned()][..]));
        assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score) && all.len() == 3);
        for k in 0..=all.len() {
            assert_eq!(search(&library, &by(engine, "red truck", k)), all[..k], "{k} of {engine:?}");
        }
        assert_eq!(images(&search(&library, &by(engine, "red -truck", 10))), [ids[3]]);
    }
}

#[test]
fn words_and_a_look_count_half_each() {
    let (_place, library, ids) = captioned();
    let look = LookQuery::new(appearance(&library, ids[3]), None, None);
    let library = hold(&library);
    for engine in [Engine::Memory, Engine::Index] {
        let words = search(&library, &by(engine, "red", 10));
        let both = search(&library, &LibraryQuery { look: Some(look.clone()), ..by(engine, "red", 10) });
        assert_eq!(both[0].image, ids[3], "it is just what was shown");
        for hit in &both {
            let alone = words.iter().find(|other| other.image == hit.image).unwrap();
            assert_eq!(hit.score, (alone.score + hit.look.unwrap()) / 2.0);
        }
    }
}

#[test]
fn a_look_alone_is_ranked_by_likeness_and_leaves_out_itself() {
    let (_place, library, ids) = captioned();
    let appearance = appearance(&library, ids[1]);
    let library = hold(&library);
    let shown = |of| LibraryQuery { look: Some(LookQuery::new(appearance.clone(), None, of)), ..by(Engine::Memory, "", 10) };
    let all = search(&library, &shown(None));
    assert_eq!((all.len(), all[0].image), (4, ids[1]));
    assert!(all.iter().all(|hit| hit.look == Some(hit.score)));
    assert_eq!(search(&library, &shown(Some(ids[1]))), all[1..]);
    let unwanted = LibraryQuery { text: TextQuery::parse("-truck"), ..shown(None) };
    let found: HashSet<ItemId> = images(&search(&library, &unwanted)).into_iter().collect();
    assert_eq!(found, HashSet::from([ids[2], ids[3]]));
}

#[test]
fn without_words_and_look_the_chosen_are_listed_by_their_paths() {
    let (_place, library, ids) = captioned();
    let library = hold(&library);
    assert_eq!(search(&library, &by(Engine::Memory, "", 10)), []);
    let among = Some(Arc::new(HashSet::from([ids[0], ids[2], ids[3]])));
    let listed = LibraryQuery { among: among.clone(), ..by(Engine::Memory, "", 2) };
    assert_eq!(images(&search(&library, &listed)), [ids[3], ids[0]]);
    let found = LibraryQuery { among, ..by(Engine::Memory, "truck", 10) };
    assert_eq!(images(&search(&library, &found)), [ids[0]]);
}

#[test]
fn what_was_judged_stays_where_that_is_wanted() {
    let (_place, library, ids) = captioned();
    let mut library = hold(&library);
    library.reward("red truck", ids[0], Some(-1.0)).unwrap();
    let query = by(Engine::Memory, "red truck", 1);
    let found = search(&library, &query);
    assert!(found.len() == 1 && found[0].image != ids[0]);
    let kept = search(&library, &LibraryQuery { keeps_judged: true, ..query });
    assert!(kept.len() == 2 && kept[1].image == ids[0] && kept[1].taught == Some(-1.0));
}
