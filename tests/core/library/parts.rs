//! Images that contain a part of another one, as the network sees it: equal to a slow search of
//! every rectangle written here, by an index, with words and after the network is switched off.

use image::RgbImage;
use image::imageops::crop_imm;
use tessera_core::library::Glimpse;
use tessera_core::library::looks::{Look, LookQuery, PartSeen, grow};
use tessera_core::library::search::{LibraryQuery, search};
use tessera_core::network::{CHANNELS, Network, NetworkOptions, Seen};
use tessera_core::picture::appearance::Appearance;
use tessera_core::text::TextQuery;

use super::learned::open_learned;
use super::*;

const MANY: usize = 24;
const SIDE: u32 = 96;

/// A library of scenes that the network has looked at, and the scenes.
fn library() -> (Place, Mutex<Library>, Vec<(ItemId, RgbImage)>) {
    let names: Vec<String> = (0..MANY).map(|i| format!("a/{i:03}.png")).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let pictures: Vec<RgbImage> = (0..MANY as u64).map(|seed| scene(1000 + seed, SIDE, SIDE)).collect();
    for (name, picture) in names.iter().zip(&pictures) {
        picture.save(place.image(name)).unwrap();
    }
    let library = open_learned(&place);
    place.import(&library);
    while hold(&library).load_looks(&Look::Network, 100).unwrap() > 0 {}
    let pictures = names.iter().zip(pictures).map(|(name, picture)| (at(&library, name).id, picture)).collect();
    (place, library, pictures)
}

fn seen(picture: &RgbImage) -> Seen {
    Network::shipped().unwrap().look_at(picture).unwrap()
}

/// A query for a rectangle of a picture.
fn part(picture: &RgbImage, [x, y, width, height]: [u32; 4]) -> (LookQuery, Seen) {
    let part = crop_imm(picture, x, y, width, height).to_image();
    let seen = seen(&part);
    let query = LookQuery::new(Appearance::of(&part), Some(Glimpse::of(&seen)), None);
    (LookQuery { part: Some(Arc::new(PartSeen::of(&seen))), by: Some(Look::Network), recall: 1.0, ..query }, seen)
}

fn unit(mut values: Vec<f64>) -> Vec<f64> {
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    values.iter_mut().for_each(|value| *value /= length);
    values
}

fn without(values: impl Iterator<Item = f64>, common: &[f64]) -> Vec<f64> {
    unit(values.zip(common).map(|(value, common)| value - common).collect())
}

/// Every rectangle of two to six cells each way, of which neither side is more than twice the
/// other: of the most alike one the mean of the cosines of its quarters, brought to 0 to 1.
fn obvious(wanted: &Seen, image: &Seen, common: &[f64]) -> f64 {
    let own: Vec<Vec<f64>> = wanted
        .cells(&NetworkOptions { grid: 2 })
        .iter()
        .map(|cell| without(cell.values.iter().map(|value| f64::from(*value)), common))
        .collect();
    let cells = image.cells(&NetworkOptions::default());
    let quarter = |x: usize, y: usize, width: usize, height: usize| {
        let mut sum = vec![0.0; CHANNELS];
        for cell in (y..y + height).flat_map(|y| (x..x + width).map(move |x| y * 6 + x)) {
            sum.iter_mut().zip(cells[cell].values).for_each(|(sum, value)| *sum += f64::from(value));
        }
        without(unit(sum).into_iter(), common)
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut best = -1.0_f64;
    for (width, height) in (2..=6_usize).flat_map(|width| (2..=6_usize).map(move |height| (width, height))) {
        if width > 2 * height || height > 2 * width {
            continue;
        }
        let (w, h) = (width.div_ceil(2), height.div_ceil(2));
        for (x, y) in (0..=6 - width).flat_map(|x| (0..=6 - height).map(move |y| (x, y))) {
            let places = [(x, y), (x + width - w, y), (x, y + height - h), (x + width - w, y + height - h)];
            let cosines = places.iter().zip(&own).map(|((x, y), own)| product(own, &quarter(*x, *y, w, h)));
            best = best.max(cosines.sum::<f64>() / 4.0);
        }
    }
    f64::midpoint(1.0, best)
}

/// The mean of the vectors of all images, with five more that have nothing.
fn common(pictures: &[(ItemId, RgbImage)]) -> Vec<f64> {
    let mut sum = vec![0.0; CHANNELS];
    for (_, picture) in pictures {
        sum.iter_mut().zip(Glimpse::of(&seen(picture)).values()).for_each(|(sum, value)| *sum += value);
    }
    sum.into_iter().map(|value| value / (pictures.len() as f64 + 5.0)).collect()
}

#[test]
fn a_part_is_found_by_the_most_alike_part_of_each_image() {
    let (_place, library, pictures) = library();
    let common = common(&pictures);
    for (of, place) in [(3, [0, 0, 48, 48]), (8, [30, 40, 50, 40]), (17, [10, 5, 64, 80])] {
        let (query, wanted) = part(&pictures[of].1, place);
        let found = hold(&library).look_alikes(&query, MANY, |_| true);
        assert_eq!((found.search.compared, found.search.by_parts), (MANY, MANY));
        assert!(found.list.is_sorted_by(|a, b| a.likeness >= b.likeness));
        for alike in &found.list {
            let (_, picture) = pictures.iter().find(|(id, _)| *id == alike.image).unwrap();
            let likeness = obvious(&wanted, &seen(picture), &common);
            // Cells are kept in 255 steps.
            assert!((alike.likeness - likeness).abs() < 0.01, "{} {likeness}", alike.likeness);
        }
        let few = hold(&library).look_alikes(&query, 3, |image| image != pictures[of].0);
        let others: Vec<_> = found.list.into_iter().filter(|alike| alike.image != pictures[of].0).take(3).collect();
        assert_eq!(few.list, others);
        let wholes = hold(&library).look_alikes(&LookQuery { part: None, ..query }, MANY, |_| true);
        assert_eq!(wholes.search.by_parts, 0);
    }
}

#[test]
fn an_index_and_a_search_by_words_compare_parts_too() {
    let (_place, library, pictures) = library();
    let (query, _) = part(&pictures[5].1, [20, 20, 56, 56]);
    let exact = hold(&library).look_alikes(&query, MANY, |_| true);
    assert!(grow(&library, &Look::Network, &Progress::default()).unwrap());
    let by_index = LookQuery { recall: 0.9, also_few: true, ..query.clone() };
    let found = hold(&library).look_alikes(&by_index, 10, |_| true);
    assert!(found.search.recall.is_some() && found.search.by_parts == MANY, "{:?}", found.search);
    assert_eq!(
        found.list.iter().map(|one| one.image).collect::<Vec<_>>(),
        exact.list[..10].iter().map(|one| one.image).collect::<Vec<_>>()
    );

    let ids: Vec<ItemId> = pictures.iter().map(|(id, _)| *id).collect();
    for id in &ids[2..9] {
        hold(&library).caption(*id, say(&["wall"])).unwrap();
    }
    let hits = search(&hold(&library), &LibraryQuery { look: Some(query), ..LibraryQuery::words(TextQuery::parse("wall"), 20) });
    assert_eq!(hits.len(), 7);
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    for hit in &hits {
        let alone = exact.list.iter().find(|one| one.image == hit.image).unwrap().likeness;
        assert!((hit.look.unwrap() - alone).abs() < 1e-6);
    }
}

#[test]
fn what_is_compared_usually_is_known_before_an_index_is_read() {
    let (place, library, _) = library();
    assert!(grow(&library, &Look::Network, &Progress::default()).unwrap());
    library.into_inner().unwrap().close().unwrap();
    let library = open_learned(&place);
    assert_eq!(hold(&library).usual_look(), Look::Network);
    assert!(hold(&library).looks_due(None).unwrap().is_empty());
    assert!(hold(&library).look_curve(&Look::Network, 1).is_none(), "it is read when it is needed");
    assert_eq!(hold(&library).load_looks(&Look::Network, 1).unwrap(), 0);
    assert!(hold(&library).look_curve(&Look::Network, 1).is_some());
    assert_eq!(hold(&library).usual_look(), Look::Network);
}

#[test]
fn without_learned_features_a_part_is_compared_by_its_appearance() {
    let (_place, library, pictures) = library();
    let (query, _) = part(&pictures[5].1, [20, 20, 56, 56]);
    hold(&library).set_learned_features(false, &Progress::default()).unwrap();
    while hold(&library).load_looks(&Look::Appearance, 100).unwrap() > 0 {}
    let by = LookQuery { by: None, glimpse: None, ..query };
    let found = hold(&library).look_alikes(&by, 5, |_| true);
    assert_eq!((found.search.by, found.search.by_parts, found.list.len()), (Look::Appearance, 0, 5));
}
