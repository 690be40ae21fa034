//! Elements of training images in memory, or read when they are compared: the answers are the same.

use proptest::prelude::*;
use tessera_core::ckm::explain::Explanation;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::{Ckm, Scores, Search, Without};
use tessera_core::data::tables;
use tessera_core::ids::ClassId;

use super::*;

const FILES: [&str; 7] = ["ant/1.png", "ant/2.png", "bee/1.png", "bee/2.png", "bee/3.png", "cow/1.png", "cow/2.png"];

fn open_with(place: &Place, elements_in_memory: usize) -> Mutex<Library> {
    let (decoder, progress) = (Arc::clone(&place.decoder) as _, Progress::default());
    let opening = LibraryOptions { options: options(), learned: None, elements_in_memory, ..LibraryOptions::new(decoder, &progress) };
    Mutex::new(Library::open_or_create(&place.folder(), &opening).unwrap())
}

fn is_here(library: &Mutex<Library>) -> Vec<bool> {
    let ckm = Arc::clone(hold(library).recogniser().ckm());
    ckm.examples().map(|(_, example)| example.elements.is_here()).collect()
}

/// Scores and reasons for some pictures.
type Answers = Vec<(Scores, Vec<Explanation>)>;

fn answers(ckm: &Ckm) -> Answers {
    let first = ckm.examples().next().map_or(ItemId(0), |(_, example)| example.id);
    let classes: Vec<ClassId> = (0..ckm.classes().len() as u32).map(ClassId).collect();
    let answer = |(seed, without): (u64, Without<'_>)| {
        let query = ckm.elements(&scene(seed, 48, 48).into()).unwrap();
        (ckm.scores(&query, without), ckm.explain(&query, without, &classes))
    };
    [(3, Without::Nothing), (4, Without::Image(first)), (90, Without::Nothing)].into_iter().map(answer).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Label(usize, &'static str),
    Remove(usize, bool),
    Undo,
    Search(Option<Search>),
    Weigh(usize, f32),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let image = 0..FILES.len();
    prop_oneof![
        3 => (image.clone(), prop::sample::select(vec!["ant", "bee", "elk"])).prop_map(|(image, class)| Step::Label(image, class)),
        1 => (image.clone(), any::<bool>()).prop_map(|(image, gone)| Step::Remove(image, gone)),
        1 => Just(Step::Undo),
        1 => prop::sample::select(vec![None, Some(Search::Shortlist { images: 1 }), Some(Search::INDEX)]).prop_map(Step::Search),
        1 => (image, -0.5f32..0.5).prop_map(|(image, weight)| Step::Weigh(image, weight)),
        1 => Just(Step::Reopen),
    ]
}

/// What the models have learned, by their names.
type Learned = Vec<(String, Vec<u8>)>;

/// All answers of a library after each step, with a budget for elements.
fn lived(steps: &[Step], budget: usize) -> Vec<(Answers, Learned)> {
    let place = Place::new(&FILES);
    let mut library = open_with(&place, budget);
    place.import(&library);
    let ids = FILES.map(|name| at(&library, name).id);
    let mut all = Vec::new();
    for step in steps {
        match step {
            // Refused where the image is removed, with any budget.
            Step::Label(image, name) => match hold(&library).label(&[ids[*image]], &class(name)) {
                Ok(_) | Err(tessera_core::Error::Removed { .. }) => {}
                Err(error) => panic!("{error}"),
            },
            Step::Remove(image, gone) => drop(hold(&library).set_removed(&[ids[*image]], *gone).unwrap()),
            Step::Undo => drop(hold(&library).undo().unwrap()),
            Step::Search(search) => hold(&library).set_search(*search, &Progress::default()).unwrap(),
            Step::Weigh(image, weight) => {
                let ckm = Arc::clone(hold(&library).recogniser().ckm());
                let of = |(_, example): (ClassId, &tessera_core::ckm::Example)| {
                    (example.id == ids[*image]).then(|| (example.id, example.elements.counts().map(|n| vec![*weight; n]).collect()))
                };
                let weights: Vec<_> = ckm.examples().filter_map(of).collect();
                hold(&library).set_weights(Some(&weights)).unwrap();
            }
            Step::Reopen => {
                library.into_inner().unwrap().close().unwrap();
                library = open_with(&place, budget);
            }
        }
        let held = hold(&library);
        let mut found = answers(held.recogniser().ckm());
        found.extend(held.recogniser().weighted().map(|ckm| answers(ckm)).unwrap_or_default());
        all.push((found, held.everything_learned()));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]
    #[test]
    fn answers_do_not_depend_on_the_memory(steps in prop::collection::vec(step(), 1..8)) {
        let unlimited = lived(&steps, usize::MAX);
        // Nothing in memory, and room for some of the elements that were read last.
        for budget in [0, 4_000, 7_500] {
            prop_assert!(lived(&steps, budget) == unlimited, "another answer with {} bytes", budget);
        }
    }
}

#[test]
fn elements_beyond_the_budget_are_out_of_memory() {
    let place = Place::new(&FILES);
    let library = open_with(&place, usize::MAX);
    place.import(&library);
    assert!(is_here(&library).iter().all(|is_here| *is_here));
    let all = hold(&library).in_memory().recogniser;
    drop(library);
    let library = open_with(&place, 0);
    assert!(!is_here(&library).iter().any(|is_here| *is_here), "{:?}", is_here(&library));
    answers(hold(&library).recogniser().ckm());
    assert!(hold(&library).in_memory().recogniser < all);
    // With room for them, those read last stay.
    let ckm = Arc::clone(hold(&library).recogniser().ckm());
    let sizes: Vec<usize> = ckm.examples().map(|(_, example)| example.elements.get().bytes()).collect();
    let budget = sizes.iter().sum::<usize>() - 1;
    assert!(sizes.iter().all(|size| *size <= budget / 4), "{sizes:?}");
    drop(library);
    let library = open_with(&place, budget);
    let before = hold(&library).in_memory().recogniser;
    answers(hold(&library).recogniser().ckm());
    let after = hold(&library).in_memory().recogniser;
    assert!(before < after && after <= before + budget as u64 / 4, "{before} and {after}");
}

#[test]
fn a_library_is_opened_without_reading_elements_that_stay_out_of_memory() {
    let place = Place::new(&FILES);
    let library = open_with(&place, 0);
    place.import(&library);
    let (machine, expected) = {
        let held = hold(&library);
        (Arc::clone(held.recogniser().ckm()), answers(held.recogniser().ckm()))
    };
    library.into_inner().unwrap().close().unwrap();
    let library = open_with(&place, 0);
    assert!(*hold(&library).recogniser().ckm() == machine, "by elements that were read");
    drop(library);
    let rows = rusqlite::Connection::open(place.folder().join("cache.db")).unwrap();
    let kept = |what: &str| rows.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(kept("checkpoint WHERE model LIKE 'outlines-%'"), 1);
    // Whoever reads a damaged row deletes it.
    let whole = kept("feature");
    let sql = "UPDATE feature SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB) WHERE version LIKE '%-1-2'";
    assert_eq!(rows.execute(sql, []).unwrap(), FILES.len());
    place.decoded();
    let library = open_with(&place, 0);
    assert_eq!((place.decoded(), kept("feature")), (0, whole), "nothing was read");
    assert!(answers(hold(&library).recogniser().ckm()) == expected, "elements are computed from the files");
    assert!(*hold(&library).recogniser().ckm() == machine);
    drop(library);
    // Other kernels have outlines of their own.
    let fitted = |library: &Mutex<Library>| {
        let library = &mut *hold(library);
        let usual = library.recogniser().usual_kernels();
        let kernels: Vec<LeafKernel> = usual.iter().map(|kernel| LeafKernel { weight: 0.5 * kernel.weight, ..*kernel }).collect();
        library.set_kernels(&kernels).unwrap();
        Arc::clone(library.recogniser().ckm())
    };
    let by_elements = fitted(&open_with(&place, 0));
    assert_eq!(kept("checkpoint WHERE model LIKE 'outlines-%'"), 2);
    assert!(fitted(&open_with(&place, 0)) == by_elements && *by_elements != *machine);
    // Damaged outlines are as none.
    rows.execute("UPDATE checkpoint SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB) WHERE model LIKE 'outlines-%'", []).unwrap();
    assert!(*hold(&open_with(&place, 0)).recogniser().ckm() == machine);
}

#[test]
fn an_image_takes_little_memory() {
    const IMAGES: u32 = 2_000;
    let place = Place::new(&[]);
    let mut table = String::new();
    let words: Vec<String> = (0..600).map(|n: u32| format!("word{}", n * n % 601)).collect();
    for n in 0..IMAGES {
        let name = format!("{}/{n}.png", ["ant", "bee", "cow"][n as usize % 3]);
        fs::create_dir_all(place.image(&name).parent().unwrap()).unwrap();
        let colour = image::Rgb([(n % 256) as u8, (n / 256) as u8, 90]);
        image::RgbImage::from_pixel(16, 16, colour).save(place.image(&name)).unwrap();
        for caption in 0..5 {
            let said: Vec<&str> = (0..10).map(|at| words[((n * 7 + caption * 13 + at * at * 3) % 600) as usize].as_str()).collect();
            table += &format!("{name}#{caption}\t{}\n", said.join(" "));
        }
    }
    let library = open_with(&place, 0);
    place.import(&library);
    let captions = place.dir.path().join("captions.token.txt");
    fs::write(&captions, table).unwrap();
    let table = tables::read(&captions, &Progress::default()).unwrap();
    assert_eq!(hold(&library).read_table(&table, "captions").unwrap().captions, 5 * IMAGES as usize);
    library.into_inner().unwrap().close().unwrap();
    let library = open_with(&place, 0);
    let memory = hold(&library).in_memory();
    let each = [memory.images, memory.words, memory.captions, memory.recogniser].map(|bytes| bytes / u64::from(IMAGES));
    // With five captions of ten words each; measured, and a tenth more.
    assert!(each.iter().zip([1_200, 1_000, 1_700, 900]).all(|(found, most)| *found <= most), "bytes an image: {each:?}");
}

#[test]
fn a_forgotten_image_is_in_no_machine_that_reads_its_elements() {
    let place = Place::new(&FILES);
    let library = open_with(&place, 4_000);
    place.import(&library);
    let old = Arc::clone(hold(&library).recogniser().ckm());
    let one = at(&library, "bee/2.png").id;
    let elements = |ckm: &Ckm| ckm.examples().find(|(_, example)| example.id == one).map(|(_, example)| example.elements.get().len());
    assert!(elements(&old).is_some_and(|n| n > 0));
    hold(&library).forget(&[one], &Progress::default()).unwrap();
    assert_eq!(elements(&old), Some(0), "a machine of before, as a job may still hold, reads nothing of it");
    assert_eq!(elements(hold(&library).recogniser().ckm()), None);
}

#[test]
fn damaged_rows_are_computed_from_the_files_again() {
    let place = Place::new(&FILES);
    let library = open_with(&place, 0);
    place.import(&library);
    let expected = answers(hold(&library).recogniser().ckm());
    let other = rusqlite::Connection::open(place.folder().join("cache.db")).unwrap();
    let damage = || other.execute("UPDATE feature SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB)", []).unwrap();
    assert!(damage() >= FILES.len());
    assert!(answers(hold(&library).recogniser().ckm()) == expected, "from the files");
    assert!(place.decoded() > 0);
    assert!(answers(hold(&library).recogniser().ckm()) == expected, "from the cache again");
    assert_eq!(place.decoded(), 0);
    // Without rows and files there are no elements, and no panic.
    damage();
    fs::remove_dir_all(place.images()).unwrap();
    let found = answers(hold(&library).recogniser().ckm());
    assert!(found != expected && found.len() == expected.len());
}

#[test]
fn a_damaged_row_of_either_kind_is_computed_again() {
    let place = Place::new(&FILES);
    let library = super::learned::open_learned_with(&place, 0);
    place.import(&library);
    assert!(!is_here(&library).iter().any(|is_here| *is_here));
    let expected = answers(hold(&library).recogniser().ckm());
    let other = rusqlite::Connection::open(place.folder().join("cache.db")).unwrap();
    let mut query = other.prepare("SELECT DISTINCT version FROM feature").unwrap();
    let versions: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(versions.len() > 2, "{versions:?}");
    for version in versions {
        let sql = "UPDATE feature SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB) WHERE version = ?1";
        assert!(other.execute(sql, [&version]).unwrap() >= FILES.len());
        assert!(answers(hold(&library).recogniser().ckm()) == expected, "with rows of {version} damaged");
    }
}
