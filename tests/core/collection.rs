//! Collections: shards and manifests are whole or refused, and jobs give the same bytes however
//! images are dealt to shards and in whatever order states join.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::sync::Arc;

use image::{RgbImage, imageops};
use parquet::basic::Encoding;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rand::seq::SliceRandom as _;
use tessera_core::canopy::{MixtureOptions, Prior};
use tessera_core::ckm::class_terms::ClassTerms;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::held_out::HeldOut;
use tessera_core::ckm::judge::judged_elsewhere;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, Example, Scores, Without};
use tessera_core::collection::folder::CollectionFolder;
use tessera_core::collection::jobs::{
    self, AskedImage, CollectionLook, CopyPairs, ImageChoice, IndexedNearest, LookIndexes, MixtureBegin, NearestImages, NeededWords,
    RecognitionJob, RememberedWords, ShardJob, TakenImages, WordCounts, WordFound, WordsFound,
};
use tessera_core::collection::{ImageHash, Manifest, Shard, ShardImage, write_shard};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::picture::Picture;
use tessera_core::picture::appearance::Appearance;
use tessera_core::progress::Progress;
use tessera_core::random;
use tessera_core::text::{TextIndex, TextKey, TextQuery};

use crate::copies::discs;

fn options() -> CkmOptions {
    CkmOptions { side: 32, ..Preset::Mixed.options() }
}

fn picture(seed: u64) -> RgbImage {
    discs(seed, 48, 40)
}

/// Images of three classes, two images an object; some have captions, some no class, some are near
/// copies of others.
fn images(n: u64) -> Vec<ShardImage> {
    let machine = Ckm::new(options()).unwrap();
    let of = |i: u64| {
        let pixels = if i % 7 == 6 { imageops::rotate90(&picture(i - 1)) } else { picture(i) };
        let place = format!("photos/red_{}-{i}.png", i % 5);
        let image = ShardImage::of(ImageHash::of(pixels.as_raw()), place, &Picture::from(pixels), &machine).unwrap();
        let class = (i % 6 < 5).then(|| ["poppy", "sea", "wren"][i as usize % 3].to_owned());
        let object = (i % 4 < 3).then(|| format!("object {}", i / 2));
        let captions = [format!("a red field number {}", i % 4), "sea view".to_owned()].into_iter().take(i as usize % 3).collect();
        ShardImage { class, object, captions, ..image }
    };
    (0..n).map(of).collect()
}

fn shards(images: &[ShardImage], count: usize, seed: u64) -> Vec<Shard> {
    let mut dealt = vec![Vec::new(); count];
    for image in images {
        dealt[(image.hash.drawn(seed) % count as u64) as usize].push(image.clone());
    }
    let shard = |images: &Vec<ShardImage>| Shard::open("a shard", write_shard(&options(), images).unwrap(), None).unwrap();
    dealt.iter().filter(|images| !images.is_empty()).map(shard).collect()
}

/// The joined state, by states that join two and two in an order that the seed gives.
fn answer(job: &[u8], shards: &[Shard], seed: u64) -> Vec<u8> {
    let state = |of: &[&Shard]| jobs::state(job, of, &Progress::default()).unwrap();
    let mut states: Vec<Vec<u8>> = shards.iter().map(|shard| state(&[shard])).collect();
    if jobs::shards_of(job).unwrap() == 2 {
        for (i, one) in shards.iter().enumerate() {
            states.extend(shards[..i].iter().map(|other| state(&[one, other])));
        }
    }
    let mut rng = random::seeded(seed);
    while states.len() > 1 {
        states.shuffle(&mut rng);
        let (one, other) = (states.pop().unwrap(), states.pop().unwrap());
        states.push(jobs::joined(job, &[&one, &other]).unwrap());
    }
    states.pop().unwrap()
}

/// The state of a job on one shard, which that on more shards must be equal to.
fn same_on_shards<J: ShardJob>(job: &J, images: &[ShardImage]) -> J::State {
    let job_bytes = jobs::job_bytes(job);
    let one = answer(&job_bytes, &shards(images, 1, 0), 0);
    for count in [2, 3, 8] {
        for seed in 0..3 {
            assert_eq!(answer(&job_bytes, &shards(images, count, seed), seed), one, "{} on {count} shards", J::NAME);
        }
    }
    jobs::read_state(job, &one).unwrap()
}

fn read(image: &ShardImage) -> Elements {
    Elements::from_bytes(&image.elements, &options()).unwrap()
}

#[test]
fn shards_hold_what_was_written_and_refuse_damage() {
    let mut all = images(9);
    let bytes = write_shard(&options(), &all).unwrap();
    let hash = tessera_core::hash::hash_hex(&bytes);
    let shard = Shard::open("a", bytes.clone(), Some(&hash)).unwrap();
    all.sort_by_key(|image| image.hash);
    assert_eq!(shard.images().unwrap(), all);
    assert_eq!(*shard.options(), options());
    assert!(shard.elements().unwrap().iter().zip(&all).all(|(own, image)| *own == read(image)));
    // The order does not matter, nor does an image that is given twice.
    let mut mixed = [&all[..], &all[..3]].concat();
    mixed.reverse();
    assert_eq!(write_shard(&options(), &mixed).unwrap(), bytes);
    assert!(write_shard(&options(), &[]).is_err());
    let wrong = |bytes: Vec<u8>| Shard::open("photos", bytes, Some(&hash)).err().unwrap().to_string();
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(wrong(damaged).contains("photos: expected a shard of hash"));
    }
    assert!(wrong(bytes[..bytes.len() - 1].to_vec()).contains("the file is damaged"));
    // Whoever gives no hash gets an error at worst.
    for at in (0..bytes.len()).step_by(bytes.len() / 400) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        if let Ok(shard) = Shard::open("photos", damaged, None) {
            let _ = (shard.images(), shard.elements(), shard.appearances(), shard.signatures());
        }
    }
}

#[test]
fn manifests_are_whole_or_refused() {
    let entry = tessera_core::collection::ShardEntry::of(b"abc", 3);
    let manifest = Manifest::new(options()).changed(&[], [entry.clone(), entry.clone()]);
    assert_eq!((manifest.version, manifest.images(), manifest.shards().len()), (1, 3, 1));
    let text = manifest.to_json();
    assert_eq!(Manifest::from_json(&text).unwrap(), manifest);
    for (from, to) in
        [("\"images\": 3", "\"images\": 4"), ("\"version\": 1", "\"version\": 2"), ("tessera_collection\": 1", "tessera_collection\": 2")]
    {
        assert!(text.contains(from), "{text}");
        assert!(Manifest::from_json(&text.replace(from, to)).is_err());
    }
    assert!(Manifest::from_json("{}").is_err());
    assert_eq!(manifest.changed(&[entry.file], []).images(), 0);
}

/// How few bytes stand for many.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// Nothing does: values stand in full.
    InFull,
    /// One row has so many captions, none of which has a value.
    ByLevels(usize),
    /// Places of so many bytes are all one entry of a dictionary.
    ByDictionary(usize),
    /// Places of so many bytes begin as the one before.
    ByDifferences(usize),
}

/// A shard of so many rows, with the metadata of another.
fn foreign(shard: Vec<u8>, rows: usize, told: Told) -> Vec<u8> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(shard)).unwrap();
    let file = reader.metadata().file_metadata();
    let places = ColumnPath::from("place");
    let properties = WriterProperties::builder().set_key_value_metadata(file.key_value_metadata().cloned()).set_dictionary_enabled(false);
    let (properties, length) = match told {
        Told::InFull | Told::ByLevels(_) => (properties, 0),
        Told::ByDictionary(length) => (properties.set_column_dictionary_enabled(places, true), length),
        Told::ByDifferences(length) => (properties.set_column_encoding(places, Encoding::DELTA_BYTE_ARRAY), length),
    };
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, file.schema_descr().root_schema_ptr(), Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for of in file.schema_descr().columns() {
        let mut column = group.next_column().unwrap().unwrap();
        let (is_list, is_optional) = (of.max_rep_level() > 0, of.max_def_level() > 0);
        let levels = if let (true, Told::ByLevels(captions)) = (is_list, told) { captions } else { rows };
        let none = vec![0; levels];
        let repeats: Vec<i16> = (0..levels).map(|i| i16::from(i >= rows)).collect();
        let (defined, repeated) = (is_optional.then_some(&none[..]), is_list.then_some(&repeats[..]));
        let n = if is_optional { 0 } else { rows };
        match column.untyped() {
            ColumnWriter::FixedLenByteArrayColumnWriter(column) => {
                let hashes: Vec<FixedLenByteArray> = (0..n as u128).map(|i| i.to_be_bytes().to_vec().into()).collect();
                column.write_batch(&hashes, defined, repeated).unwrap()
            }
            ColumnWriter::ByteArrayColumnWriter(column) => {
                let length = if of.name() == "place" { length } else { 0 };
                column.write_batch(&vec![ByteArray::from(vec![b'a'; length]); n], defined, repeated).unwrap()
            }
            _ => panic!("columns of shards are bytes"),
        };
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn few_bytes_do_not_stand_for_many() {
    let shard = write_shard(&options(), &images(1)).unwrap();
    let opened = |rows, told| {
        let bytes = foreign(shard.clone(), rows, told);
        assert!(bytes.len() < 1_000_000, "{told:?}: {} bytes", bytes.len());
        Shard::open("of others", bytes, None).unwrap()
    };
    let refused = |rows, told| format!("{} {}", opened(rows, told).places().unwrap_err(), opened(rows, told).images().unwrap_err());
    assert_eq!(opened(2000, Told::InFull).places().unwrap().len(), 2000);
    assert!(refused(2000, Told::ByDictionary(500_000)).contains("every value in full"));
    assert!(refused(2000, Told::ByDifferences(500_000)).contains("every value in full"));
    let told = opened(1, Told::ByLevels(1_000_000)).captions().unwrap_err().to_string();
    assert!(told.contains("no more values than bytes"), "{told}");
}

#[test]
fn folders_add_and_forget() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("collection");
    let (all, progress) = (images(12), Progress::default());
    let mut collection = CollectionFolder::open_or_begin(&at, options()).unwrap();
    collection.add(&all[..5]).unwrap();
    let other = CollectionFolder::open(&at).unwrap();
    collection.add(&all[5..]).unwrap();
    assert_eq!((collection.manifest().version, collection.hashes().unwrap().len()), (2, 12));
    let told = other.clone().add(&all[..1]).unwrap_err().to_string();
    assert!(told.contains("version 2, which another process wrote"), "{told}");
    fs::create_dir_all(at.join("states/job")).unwrap();
    fs::write(at.join("states/job/a.state"), b"state").unwrap();
    let gone: BTreeSet<ImageHash> = all[..5].iter().chain(&all[6..7]).map(|image| image.hash).collect();
    let forgotten = collection.forget(&gone, &progress).unwrap();
    assert_eq!((forgotten.images, forgotten.shards, forgotten.states), (6, 2, 1));
    // As if they had never been there.
    let twin = folder.path().join("twin");
    let mut never = CollectionFolder::open_or_begin(&twin, options()).unwrap();
    never.add(&[&all[5..6], &all[7..]].concat()).unwrap();
    assert_eq!(never.manifest().shards(), CollectionFolder::open(&at).unwrap().manifest().shards());
    let files = |folder: &std::path::Path| {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<BTreeSet<String>>()
    };
    // Nor is there what the refused change had written.
    assert_eq!(files(&at), files(&twin));
    assert_eq!(collection.forget(&gone, &progress).unwrap(), tessera_core::collection::folder::CollectionForgotten::default());
    // A state that an ended run left goes at the next time.
    fs::create_dir_all(at.join("states/job")).unwrap();
    fs::write(at.join("states/job/a.state"), b"state").unwrap();
    assert_eq!(collection.forget(&gone, &progress).unwrap().states, 1);
    assert!(other.clone().forget(&gone, &progress).is_err(), "another process has changed it");
    fs::write(folder.path().join("other.txt"), b"").unwrap();
    assert!(CollectionFolder::open_or_begin(folder.path(), options()).is_err());
}

#[test]
fn of_two_that_change_a_version_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("collection");
    let all = images(24);
    CollectionFolder::open_or_begin(&at, options()).unwrap();
    for round in 0..6 {
        let before = CollectionFolder::open(&at).unwrap();
        let begin = std::sync::Barrier::new(4);
        let added: usize = std::thread::scope(|scope| {
            let add = |i: usize| {
                let (mut own, image, begin) = (before.clone(), &all[4 * round + i..][..1], &begin);
                move || {
                    begin.wait();
                    usize::from(own.add(image).is_ok())
                }
            };
            let threads: Vec<_> = (0..4).map(|i| scope.spawn(add(i))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let now = CollectionFolder::open(&at).unwrap();
        assert_eq!((added, now.manifest().version, now.hashes().unwrap().len()), (1, round as u64 + 1, round + 1));
    }
    // What was written and never named goes.
    let mut last = CollectionFolder::open(&at).unwrap();
    last.forget(&BTreeSet::new(), &Progress::default()).unwrap();
    assert_eq!(fs::read_dir(&at).unwrap().count(), 6 + 2, "shards, the manifest and the lock");
}

/// One machine that knows all images with a class, and the hash of each of its items.
fn machine_of(all: &[ShardImage]) -> (Ckm, Vec<ImageHash>) {
    let mut machine = Ckm::new(options()).unwrap();
    let mut sorted = all.to_vec();
    sorted.sort_by_key(|image| image.hash);
    for (id, image) in (0..).zip(&sorted) {
        if let Some(class) = &image.class {
            let example = Example { id: ItemId(id), name: String::new(), group: image.object.clone(), elements: read(image).into() };
            machine.add(class, example).unwrap();
        }
    }
    (machine, sorted.into_iter().map(|image| image.hash).collect())
}

/// The scores that it has for an image, without that and its object.
fn scores_without(machine: &Ckm, hashes: &[ImageHash], elements: &Elements, itself: Option<ImageHash>, object: Option<&str>) -> Scores {
    let left_out = machine
        .examples()
        .filter(|(_, example)| itself == Some(hashes[example.id.0 as usize]) || object.is_some() && object == example.group.as_deref());
    let left_out: BTreeSet<ItemId> = left_out.map(|(_, example)| example.id).collect();
    machine.scores(elements, Without::Images(&left_out))
}

#[test]
fn recognition_is_that_of_one_machine() {
    let (all, queries) = (images(40), [1000, 1001, 1002].map(picture));
    let (machine, hashes) = machine_of(&all);
    let mut asked: Vec<(Elements, AskedImage)> = Vec::new();
    for query in queries {
        let elements = machine.elements(&query.into()).unwrap();
        asked.push((elements.clone(), AskedImage { elements: elements.to_bytes(), itself: None, object: None }));
    }
    for image in all.iter().filter(|image| image.class.is_some()).take(6) {
        let asks = AskedImage { elements: image.elements.clone(), itself: Some(image.hash), object: image.object.clone() };
        asked.push((read(image), asks));
    }
    let job = RecognitionJob { options: options(), images: asked.iter().map(|(_, image)| image.clone()).collect() };
    let state = same_on_shards(&job, &all);
    let answers = job.answers(&state, &ClassTerms::default()).unwrap();
    for ((elements, image), answer) in asked.iter().zip(&answers) {
        assert_eq!(answer.scores, scores_without(&machine, &hashes, elements, image.itself, image.object.as_deref()));
        assert_eq!(answer.classes, machine.classes().iter().map(|class| class.name.clone()).collect::<Vec<_>>());
    }
    let other = RecognitionJob { images: job.images[..1].to_vec(), ..job.clone() };
    let bytes = answer(&jobs::job_bytes(&job), &shards(&all, 1, 0), 0);
    assert!(jobs::read_state(&other, &bytes).is_err(), "a state of another job");
}

#[test]
fn the_nearest_are_those_of_a_scan() {
    let mut all = images(30);
    // Equal images of other hashes: the lower hash comes first.
    for i in 0..5 {
        let hash = ImageHash(all[i].hash.0 ^ 1);
        all.push(ShardImage { hash, ..all[i].clone() });
    }
    let like: Vec<Appearance> = [3, 500].map(|seed| Appearance::of(&picture(seed))).into();
    for look in [CollectionLook::Appearance, CollectionLook::Edges, CollectionLook::Colours] {
        let job = NearestImages { k: 7, look, like: like.iter().map(Appearance::to_bytes).collect() };
        let state = same_on_shards(&job, &all);
        for (like, found) in like.iter().zip(&state) {
            let likeness = |image: &ShardImage| {
                let own = Appearance::from_bytes(&image.appearance).unwrap();
                match look {
                    CollectionLook::Appearance => like.likeness(&own),
                    CollectionLook::Edges => like.edge_likeness(&own),
                    CollectionLook::Colours => like.colour_likeness(&own),
                }
            };
            let mut scan: Vec<(f64, ImageHash)> = all.iter().map(|image| (likeness(image), image.hash)).collect();
            scan.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            assert_eq!(found.iter().map(|one| (one.likeness, one.image)).collect::<Vec<_>>(), scan[..7]);
        }
    }
}

#[test]
fn words_have_the_scores_of_one_index() {
    let all = images(40);
    let mut index = TextIndex::default();
    let mut sorted = all.clone();
    sorted.sort_by_key(|image| image.hash);
    for (item, image) in (0..).map(ItemId).zip(&sorted) {
        let name = format!("{} {}", image.class.as_deref().unwrap_or_default(), image.place.trim_end_matches(".png"));
        index.insert(TextKey { item, part: 0 }, &name);
        for (part, caption) in (1..).zip(&image.captions) {
            index.insert(TextKey { item, part }, caption);
        }
    }
    for query in ["red field", "sea poppy -view", "\"field number\" wren", "number 3 red 3", "nowhere sea", "nowhere"] {
        let needed = same_on_shards(&NeededWords { query: query.into() }, &all);
        let counted = same_on_shards(&WordCounts::of(query, &needed), &all);
        let found = same_on_shards(&WordsFound::of(query, 12, &counted), &all);
        let hits = index.search_items(&TextQuery::parse(query));
        assert_eq!(found.len(), hits.len().min(12), "{query}");
        for (found, hit) in found.iter().zip(&hits) {
            assert_eq!((found.image, found.score, &found.terms), (sorted[hit.item.0 as usize].hash, hit.score, &hit.terms), "{query}");
        }
    }
}

/// Images that differ from one in their hashes and in what `change` does.
fn like_one(n: u64, change: impl Fn(u64, &mut ShardImage)) -> Vec<ShardImage> {
    // What takes room and is not asked for is left out.
    let one = ShardImage { elements: Vec::new(), thumbnail: Vec::new(), signature: Vec::new(), ..images(1).remove(0) };
    let of = |i: u64| {
        let mut image = ShardImage { hash: ImageHash::of(&i.to_le_bytes()), class: None, captions: Vec::new(), ..one.clone() };
        change(i, &mut image);
        image
    };
    (0..n).map(of).collect()
}

/// The answers of the exact index of all texts.
fn worded(query: &str, k: usize, images: &[ShardImage], count: usize) -> Vec<WordFound> {
    let shards = shards(images, count, 0);
    let asking = NeededWords { query: query.into() };
    let needed = jobs::read_state(&asking, &answer(&jobs::job_bytes(&asking), &shards, 0)).unwrap();
    let counting = WordCounts::of(query, &needed);
    let counted = jobs::read_state(&counting, &answer(&jobs::job_bytes(&counting), &shards, 0)).unwrap();
    let job = WordsFound::of(query, k, &counted);
    jobs::read_state(&job, &answer(&jobs::job_bytes(&job), &shards, 0)).unwrap()
}

#[test]
fn names_of_other_files_are_not_sent() {
    let name = |i: u64, image: &mut ShardImage| {
        image.place = if i.is_multiple_of(100) { format!("photos/red_{i}.png") } else { format!("photos/blue_{i}.png") };
    };
    let mut sizes = Vec::new();
    for n in [200, 2000] {
        let all = like_one(n, name);
        let needed = same_on_shards(&NeededWords { query: "red".into() }, &all);
        assert_eq!(needed.len() as u64, 2 + n / 100, "{needed:?}");
        let counted = same_on_shards(&WordCounts::of("red", &needed), &all);
        sizes.push(jobs::job_bytes(&WordsFound::of("red", 10, &counted)).len());
    }
    assert_eq!(sizes[0], sizes[1], "words of one text alone are not sent either");
}

#[test]
fn folders_above_count_for_nothing() {
    let of_program = like_one(30, |i, image| image.place = format!("sea/red_{i}.png"));
    let of_package = like_one(30, |i, image| {
        (image.folder, image.place) = ("file:///red/sea/photos".into(), format!("file:///red/sea/photos/sea/red_{i}.png"));
    });
    let bytes = write_shard(&options(), &of_package).unwrap();
    let shard = Shard::open("a shard", bytes.clone(), None).unwrap();
    let mut sorted = of_package.clone();
    sorted.sort_by_key(|image| image.hash);
    assert_eq!(shard.images().unwrap(), sorted);
    assert_eq!(write_shard(&options(), &shard.images().unwrap()).unwrap(), bytes);
    assert_eq!(shard.places().unwrap(), sorted.iter().map(|image| image.place.clone()).collect::<Vec<_>>());
    assert!(shard.names().unwrap().iter().all(|name| name.starts_with("sea/red_")));
    let scores = |images: &[ShardImage]| worded("red 7", 9, images, 3).into_iter().map(|hit| (hit.image, hit.score)).collect::<Vec<_>>();
    assert_eq!(scores(&of_program), scores(&of_package));
    // Of a full path alone the name of the file counts.
    let names = |place: &'static str| {
        let shard = write_shard(&options(), &like_one(1, |_, image| image.place = place.into())).unwrap();
        Shard::open("one", shard, None).unwrap().names().unwrap().remove(0)
    };
    assert_eq!(
        ["/home/sea/1.png", "s3://bucket/sea/1.png", "C:\\sea\\1.png", "sea/1.png"].map(names),
        ["1.png", "1.png", "1.png", "sea/1.png"]
    );
}

#[test]
fn indexes_of_shards_tell_their_recall() {
    let mut rng = random::seeded(4);
    let centres: Vec<Vec<f64>> = (0..40).map(|_| (0..372).map(|_| random::normal(&mut rng)).collect()).collect();
    let looks: Vec<Vec<u8>> = (0..3000)
        .map(|i| {
            let values: Vec<f64> = centres[i % 40].iter().map(|value| value + 0.5 * random::normal(&mut rng)).collect();
            let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
            values.iter().flat_map(|value| ((value / length * 16384.0).round() as i16).to_le_bytes()).collect()
        })
        .collect();
    let all = like_one(3000, |i, image| image.appearance = looks[i as usize].clone());
    let nearest = NearestImages { k: 10, look: CollectionLook::Appearance, like: looks[..60].to_vec() };
    let job = IndexedNearest { nearest: nearest.clone(), recall: 0.9 };
    let index_job = jobs::index_of(&jobs::job_bytes(&job)).unwrap().unwrap();
    assert_eq!(index_job, jobs::job_bytes(&LookIndexes { look: CollectionLook::Appearance }));
    assert!(jobs::index_of(&jobs::job_bytes(&nearest)).unwrap().is_none());
    for count in [1, 3] {
        let shards = shards(&all, count, 0);
        let exact = jobs::read_state(&nearest, &answer(&jobs::job_bytes(&nearest), &shards, 0)).unwrap();
        let found = jobs::read_state(&job, &answer(&jobs::job_bytes(&job), &shards, 0)).unwrap();
        let told = found.recall.share();
        let right = exact.iter().zip(&found.found).map(|(exact, found)| found.iter().filter(|one| exact.contains(one)).count());
        let share = right.sum::<usize>() as f64 / 600.0;
        assert!(told > 0.85 && told <= 1.0 && share > told - 0.1, "{count} shards: {told} told, {share} found");
        // An index that is kept gives the same.
        let shard = &[&shards[0]][..];
        let index = jobs::state(&index_job, shard, &Progress::default()).unwrap();
        let kept = jobs::state_by(&jobs::job_bytes(&job), shard, &index, &Progress::default()).unwrap();
        assert_eq!(kept, jobs::state(&jobs::job_bytes(&job), shard, &Progress::default()).unwrap());
        assert!(jobs::joined(&index_job, &[&index, &index]).is_err(), "an index is of one shard");
        assert!(jobs::state_by(&jobs::job_bytes(&job), shard, &index[..index.len() / 2], &Progress::default()).is_err());
    }
    // More than 1 - 2 / m is not promised by m questions, of which there are 200: all are compared.
    let sure = IndexedNearest { nearest: nearest.clone(), recall: 0.995 };
    let found = jobs::read_state(&sure, &answer(&jobs::job_bytes(&sure), &shards(&all, 1, 0), 0)).unwrap();
    let exact = jobs::read_state(&nearest, &answer(&jobs::job_bytes(&nearest), &shards(&all, 1, 0), 0)).unwrap();
    assert_eq!((found.recall.share(), found.found), (1.0, exact));
    // Few images are all compared.
    let few = shards(&all[..100], 1, 0);
    let found = jobs::read_state(&job, &answer(&jobs::job_bytes(&job), &few, 0)).unwrap();
    let exact = jobs::read_state(&nearest, &answer(&jobs::job_bytes(&nearest), &few, 0)).unwrap();
    assert_eq!((found.recall.share(), found.found), (1.0, exact));
    let wrong = jobs::job_bytes(&IndexedNearest { recall: 1.5, ..job });
    assert!(jobs::state(&wrong, &[&few[0]], &Progress::default()).unwrap_err().to_string().contains("recall"));
}

#[test]
fn memory_trees_of_shards_tell_their_recall() {
    let words = ["red", "field", "sea", "boat", "wren", "poppy", "hill", "stone", "cloud", "left", "old", "river"];
    let all = like_one(900, |i, image| {
        image.place = format!("photos/{i}.png");
        let mut rng = random::seeded(i);
        let mut word = || words[(random::normal(&mut rng).abs() * 5.0) as usize % words.len()];
        image.captions = (0..=i % 2).map(|_| format!("{} {} by the {}", word(), word(), word())).collect();
    });
    for (query, count) in
        [("red sea", 1), ("red sea", 3), ("\"red field\"", 1), ("\"red field\"", 3), ("boat -red", 1), ("boat -red", 2), ("nowhere", 2)]
    {
        let exact = worded(query, 10, &all, count);
        let everything = worded(query, 900, &all, count);
        let shards = shards(&all, count, 0);
        let job = RememberedWords { query: query.into(), k: 10, recall: 0.8 };
        let state = jobs::read_state(&job, &answer(&jobs::job_bytes(&job), &shards, 0)).unwrap();
        let counting = WordCounts::of(query, &job.needed(&state));
        let counted = jobs::read_state(&counting, &answer(&jobs::job_bytes(&counting), &shards, 0)).unwrap();
        let found = job.answers(&state, &counted);
        // The scores are those of the exact index.
        assert!(found.iter().all(|hit| everything.contains(hit)), "{query}");
        let told = state.recall.share();
        assert!(told > 0.7 && told <= 1.0, "{query}: {told}");
        if query.contains(['"', '-']) {
            // Trees were tried with words alone: the indexes of the shards answer.
            assert_eq!(told, 1.0, "{query}");
            assert!(count > 1 || found == exact, "{query}: {found:?}");
            assert!(jobs::index_of(&jobs::job_bytes(&job)).unwrap().is_none(), "no tree is made that is not asked");
        }
        let least = exact.last().map_or(0.0, |hit| hit.score);
        let right = found.iter().filter(|hit| hit.score >= least).count();
        assert!(2 * right >= exact.len(), "{query}: {right} of {}", exact.len());
        let Some(index) = jobs::index_of(&jobs::job_bytes(&job)).unwrap() else { continue };
        let index = jobs::state(&index, &[&shards[0]], &Progress::default()).unwrap();
        let kept = jobs::state_by(&jobs::job_bytes(&job), &[&shards[0]], &index, &Progress::default()).unwrap();
        assert_eq!(kept, jobs::state(&jobs::job_bytes(&job), &[&shards[0]], &Progress::default()).unwrap());
    }
    // More than 1 - 2 / m is not promised by m questions, of which there are 150 at most.
    let shards = shards(&all, 1, 0);
    let share = |recall: f64| {
        let job = RememberedWords { query: "red sea".into(), k: 10, recall };
        jobs::read_state(&job, &answer(&jobs::job_bytes(&job), &shards, 0)).unwrap().recall.share()
    };
    assert_eq!(share(0.99), 1.0);
}

#[test]
fn texts_elsewhere_count_as_if_they_were_here() {
    let texts = ["red boat", "red truck and a boat", "a sea", "sea sea boat"];
    let (mut all, mut part) = (TextIndex::default(), TextIndex::default());
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (i, text) in (0..).zip(texts) {
        let key = TextKey { item: ItemId(i), part: 0 };
        all.insert(key, text);
        if i < 2 {
            part.insert(key, text);
        } else {
            text.split(' ').collect::<BTreeSet<_>>().into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        }
    }
    part.count_elsewhere(2, counts.iter().map(|(word, n)| ((*word).to_owned(), *n)));
    for query in ["red", "boat sea", "truck -sea"] {
        let own: Vec<_> = all.search(&TextQuery::parse(query), 9).into_iter().filter(|hit| hit.key.item.0 < 2).collect();
        assert_eq!(part.search(&TextQuery::parse(query), 9), own, "{query}");
    }
    // A word that is only elsewhere still counts once its texts here are gone.
    part.remove(TextKey { item: ItemId(0), part: 0 });
    all.remove(TextKey { item: ItemId(0), part: 0 });
    let own: Vec<_> = all.search(&TextQuery::parse("boat"), 9).into_iter().filter(|hit| hit.key.item.0 < 2).collect();
    assert_eq!(part.search(&TextQuery::parse("boat"), 9), own);
}

#[test]
fn mixtures_are_the_same_and_become_likelier() {
    let all = images(60);
    let begin = MixtureBegin { sample: 30, seed: 5 };
    let sample = same_on_shards(&begin, &all);
    assert_eq!(sample.len(), 30);
    let mut round = begin.round(&sample, &MixtureOptions { clusters: 4, seed: 5, ..MixtureOptions::default() }).unwrap();
    let mut likelihoods = Vec::new();
    for _ in 0..6 {
        let state = same_on_shards(&round, &all);
        let (next, report) = round.next(&state, &Prior::default());
        assert_eq!((report.points, report.sizes.iter().sum::<u64>()), (60, 60));
        likelihoods.push(report.likelihood);
        round = next;
    }
    assert!(likelihoods[5] > likelihoods[0], "{likelihoods:?}");
    let on = |count| -> Vec<(ImageHash, u32)> {
        let mut all: Vec<_> = shards(&all, count, 1).iter().flat_map(|shard| round.assigned(shard).unwrap()).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn near_copies_are_found_across_shards() {
    let all = images(28);
    let job = CopyPairs { distance: 8.0 };
    let state = same_on_shards(&job, &all);
    let groups = job.groups(&state);
    let turned: Vec<BTreeSet<ImageHash>> = [6, 13, 20, 27].map(|i| [all[i].hash, all[i - 1].hash].into()).into();
    for pair in &turned {
        assert!(groups.iter().any(|group| pair.iter().all(|image| group.iter().any(|copy| copy.image == *image))), "{groups:?}");
    }
    // Others stay alone.
    assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [2; 4], "{groups:?}");
}

#[test]
fn reports_judge_images_without_their_objects() {
    let all = images(40);
    let choice = ImageChoice { limit: 6, seed: 3 };
    let chosen = same_on_shards(&choice, &all);
    assert_eq!(chosen.keys().collect::<Vec<_>>(), ["poppy", "sea", "wren"]);
    let taking = TakenImages { images: choice.chosen(&chosen, 12) };
    let taken = same_on_shards(&taking, &all);
    assert_eq!((taken.len(), taking.images.len()), (12, 12));
    let job = RecognitionJob::of_taken(options(), &taken);
    let state = same_on_shards(&job, &all);
    let answers = job.answers(&state, &ClassTerms::default()).unwrap();
    let report = jobs::judged(&chosen, &taken, &answers).unwrap();
    assert_eq!(report.images.iter().sum::<u64>(), all.iter().filter(|image| image.class.is_some()).count() as u64);
    assert!(jobs::judged(&chosen, &taken, &answers[1..]).unwrap_err().to_string().contains("12 images"), "an answer is missing");

    // What one machine says of the same images.
    let (machine, hashes) = machine_of(&all);
    let class_of = |name: &str| report.classes.iter().position(|class| class == name).unwrap();
    let mut raw = Vec::new();
    let mut objects = BTreeMap::new();
    for (i, (hash, image)) in (0..).zip(&taken) {
        let elements = Elements::from_bytes(&image.elements, &options()).unwrap();
        let own = scores_without(&machine, &hashes, &elements, Some(*hash), image.object.as_deref());
        let mut scores = Scores { of: vec![None; 3], examples: vec![0; 3], mass: own.mass };
        for (at, class) in machine.classes().iter().enumerate() {
            (scores.of[class_of(&class.name)], scores.examples[class_of(&class.name)]) = (own.of[at], own.examples[at]);
        }
        objects.extend(image.object.as_deref().map(|object| (ItemId(i), object)));
        let class = ClassId(class_of(image.class.as_deref().unwrap()) as u32);
        raw.push(HeldOut { id: ItemId(i), class, predicted: scores.ranking()[0].0, scores, whole: Vec::new(), novelty: None });
    }
    raw.sort_by_key(|held| (held.class, held.id));
    let sizes: Vec<usize> = report.images.iter().map(|n| *n as usize).collect();
    let (judgement, accuracy) = judged_elsewhere(&report.classes, &sizes, raw, &objects);
    let mut confusion = vec![vec![0; 3]; 3];
    judgement.held_out.iter().for_each(|held| confusion[held.class.index()][held.predicted.index()] += 1);
    assert_eq!((report.judged, &report.confusion), (12, &confusion));
    // The two directions of a mistake must be told apart.
    assert_ne!(confusion[0][1], confusion[1][0], "{confusion:?}");
    assert_eq!((report.accuracy, report.terms), (accuracy, judgement.terms));
}
