//! How long one step of each method takes: `cargo bench -p tessera-core`.
//!
//! Everything is generated from seeds and runs on one thread, so that two versions of the program
//! do the same work. `benches/compare.py` runs two such programs in turns and prints the ratio of
//! their times.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]

use std::hint::black_box;
use std::sync::{Arc, Mutex};

use divan::Bencher;
use image::{GrayImage, RgbImage, imageops};
use rand::RngExt as _;
use tempfile::TempDir;
use tessera_core::advise::{Adviser, LinearAdviser, LocalMeans, Mixture, Nearest, NeighbourVote};
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, Example, Without};
use tessera_core::cmt::oas::OneAgainstSome;
use tessera_core::cmt::{Cmt, CmtOptions};
use tessera_core::contextual::{Contextual, ContextualOptions, EllipsoidLadder};
use tessera_core::data::toys::{self, Category, ToyOptions};
use tessera_core::descriptor::Descriptor;
use tessera_core::features::{OrbOptions, detect};
use tessera_core::hamming::HammingScan;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::learn::OnlineClassifier as _;
use tessera_core::library::import::{ImportOptions, import};
use tessera_core::library::looks::LookQuery;
use tessera_core::library::{Library, LibraryOptions};
use tessera_core::linalg::pca::Pca;
use tessera_core::nearest::{DenseScan, Dynamic as _, KdTree, Metric, NeighborIndex as _, SparseScan, everything};
use tessera_core::network::Network;
use tessera_core::online_linear::Rule;
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::{InProcess, Picture};
use tessera_core::progress::Progress;
use tessera_core::random::{Rng, seeded};
use tessera_core::sparse::SparseVec;
use tessera_core::text::hashing::{Stemming, counts};
use tessera_core::text::{TextIndex, TextKey, TextQuery};

fn main() {
    // One thread, so that other work of the machine disturbs the times less.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    divan::main();
}

/// Pictures of toys: category, instance and pixels.
fn pictures(instances: u32, views: u32) -> Vec<(Category, u32, RgbImage)> {
    let options = ToyOptions { instances, views, ..ToyOptions::default() };
    let toys = Category::ALL.into_iter().flat_map(|category| (0..instances).flat_map(move |i| (0..views).map(move |v| (category, i, v))));
    toys.map(|(category, instance, view)| (category, instance, toys::render(category, instance, view, &options).picture)).collect()
}

/// Sentences of ten words out of 2,000, the first words more often than the last.
fn sentences(n: usize, seed: u64) -> Vec<String> {
    let mut rng = seeded(seed);
    let mut word = || {
        let rare: f64 = rng.random();
        format!("word{}", (2000.0 * rare * rare * rare) as u32)
    };
    (0..n).map(|_| (0..10).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}

/// Their words as sparse vectors.
fn texts(n: usize, seed: u64) -> Vec<SparseVec> {
    sentences(n, seed).iter().map(|text| counts(text, Stemming::None)).collect()
}

/// Points of the unit ball around one centre for each class, with their classes.
fn points(n: usize, dimension: usize, classes: u32, seed: u64) -> Vec<(Vec<f64>, ClassId)> {
    let mut rng = seeded(seed);
    let mut around = |centre: &[f64], spread: f64| -> Vec<f64> {
        let point: Vec<f64> = centre.iter().map(|c| c + spread * (rng.random::<f64>() - 0.5)).collect();
        let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
        point.iter().map(|x| x / norm).collect()
    };
    let centres: Vec<Vec<f64>> = (0..classes).map(|_| around(&vec![0.0; dimension], 2.0)).collect();
    (0..n).map(|i| (around(&centres[i % classes as usize], 0.5), ClassId(i as u32 % classes))).collect()
}

/// The compositional kernel machine.
mod ckm {
    use super::*;

    fn machine() -> Ckm {
        Ckm::new(Preset::Mixed.options()).unwrap()
    }

    fn examples(machine: &Ckm, pictures: &[(Category, u32, RgbImage)]) -> Vec<(Category, Example)> {
        let example = |(i, (category, instance, pixels)): (usize, &(Category, u32, RgbImage))| {
            let elements = machine.elements(&Picture::from(pixels.clone())).unwrap();
            let group = Some(format!("{} {instance}", category.name()));
            (*category, Example { id: ItemId(i as u32), name: format!("{i}.png"), group, elements: elements.into() })
        };
        pictures.iter().enumerate().map(example).collect()
    }

    /// Cuts a picture of 128 pixels a side into elements and adds it to a machine of 72.
    #[divan::bench(sample_count = 60)]
    fn train_a_picture(bencher: Bencher<'_, '_>) {
        let mut machine = machine();
        let all = pictures(3, 4);
        for (category, example) in examples(&machine, &all) {
            machine.add(category.name(), example).unwrap();
        }
        let picture = Picture::from(all[5].2.clone());
        bencher.bench_local(|| {
            let elements = machine.elements(black_box(&picture)).unwrap();
            machine.add("boat", Example { id: ItemId(1000), name: String::new(), group: None, elements: elements.into() }).unwrap();
        });
    }

    /// Scores elements of all kinds against 144 pictures.
    #[divan::bench(sample_count = 60)]
    fn score_a_picture(bencher: Bencher<'_, '_>) {
        let mut machine = machine();
        for (category, example) in examples(&machine, &pictures(4, 6)) {
            machine.add(category.name(), example).unwrap();
        }
        let query = examples(&machine, &pictures(5, 1)).remove(4).1;
        let query = query.elements.get();
        bencher.bench_local(|| machine.scores(black_box(&query), Without::Nothing));
    }
}

/// Features of a picture of 256 pixels a side.
#[divan::bench(sample_count = 100)]
fn orb_features(bencher: Bencher<'_, '_>) {
    let options = ToyOptions { side: 256, ..ToyOptions::default() };
    let picture: GrayImage = imageops::grayscale(&toys::render(Category::Truck, 0, 0, &options).picture);
    bencher.bench_local(|| detect(black_box(&picture), &OrbOptions::default()));
}

/// A pass of the network that comes with the program.
#[divan::bench(sample_count = 60)]
fn network_pass(bencher: Bencher<'_, '_>) {
    let picture = toys::render(Category::Truck, 0, 0, &ToyOptions { side: 160, ..ToyOptions::default() }).picture;
    let network = Network::shipped().unwrap();
    bencher.bench_local(|| network.look_at(black_box(&picture)).unwrap());
}

/// The ten nearest of 100,000 binary descriptors.
#[divan::bench(sample_count = 100)]
fn hamming_search(bencher: Bencher<'_, '_>) {
    let mut rng = seeded(1);
    let all: HammingScan = (0..100_000).map(|i| (ItemId(i), Descriptor(rng.random()))).collect();
    let query = Descriptor(rng.random());
    bencher.bench_local(|| all.nearest(black_box(&query), 10, &everything).unwrap());
}

/// Contextual memory trees.
mod memory_tree {
    use super::*;

    fn grown(n: usize) -> Cmt<u32> {
        let mut tree = Cmt::new(&CmtOptions::default()).unwrap();
        for (x, i) in texts(n, 2).into_iter().zip(0..) {
            tree.insert(ItemId(i), x, i).unwrap();
        }
        tree
    }

    /// 1,000 sentences into an empty tree.
    #[divan::bench(sample_count = 20)]
    fn insert(bencher: Bencher<'_, '_>) {
        let texts = texts(1000, 2);
        bencher.with_inputs(|| texts.clone()).bench_local_values(|texts| {
            let mut tree = Cmt::<u32>::new(&CmtOptions::default()).unwrap();
            for (x, i) in texts.into_iter().zip(0..) {
                tree.insert(ItemId(i), x, i).unwrap();
            }
            tree
        });
    }

    /// 100 queries to 4,000 sentences, eight leaves each.
    #[divan::bench(sample_count = 60)]
    fn query(bencher: Bencher<'_, '_>) {
        let tree = grown(4000);
        let queries = texts(100, 3);
        bencher.bench_local(|| queries.iter().map(|x| tree.query_budget(x, 10, 8).hits.len()).sum::<usize>());
    }

    /// Learns 200 examples with three of 60 labels each, by one-against-some.
    #[divan::bench(sample_count = 20)]
    fn one_against_some(bencher: Bencher<'_, '_>) {
        let examples: Vec<(SparseVec, Vec<ClassId>)> = texts(200, 4)
            .into_iter()
            .zip(0..)
            .map(|(x, i)| (x, vec![ClassId(i % 20), ClassId(20 + i % 20), ClassId(40 + i % 20)]))
            .collect();
        bencher.with_inputs(|| OneAgainstSome::new(&CmtOptions::default(), 0.1).unwrap()).bench_local_values(
            |mut labels: OneAgainstSome| {
                for ((x, truth), i) in examples.iter().zip(0..) {
                    labels.insert(ItemId(i), x.clone(), truth.clone()).unwrap();
                }
                for (x, truth) in &examples {
                    labels.update(0, x, truth, 0.1).unwrap();
                }
                labels
            },
        );
    }
}

/// 500 rounds with ten classes in sixteen dimensions.
#[divan::bench(sample_count = 20)]
fn contextual_search(bencher: Bencher<'_, '_>) {
    let rounds = points(500, 16, 10, 5);
    let learner = || Contextual::<EllipsoidLadder>::new(&ContextualOptions::unit(16)).unwrap();
    bencher.with_inputs(|| (learner(), seeded(6))).bench_local_values(|(mut learner, mut rng): (_, Rng)| {
        for (q, truth) in &rounds {
            let round = learner.predict(q, &mut rng).unwrap();
            learner.learn(q, &round, *truth, &mut rng).unwrap();
        }
        learner
    });
}

/// Four advisers and their mixture through 300 rounds with ten classes in 64 dimensions.
#[divan::bench(sample_count = 20)]
fn mixture_of_advisers(bencher: Bencher<'_, '_>) {
    let rounds = points(300, 64, 10, 7);
    bencher.bench_local(|| {
        let mut rng = seeded(8);
        let mut advisers: Vec<Box<dyn Adviser<[f64]>>> = vec![
            Box::new(Nearest::new(64)),
            Box::new(NeighbourVote::new(64)),
            Box::new(LocalMeans::new(64)),
            Box::new(LinearAdviser::new(Rule::Perceptron, 64)),
        ];
        let mut mixture = Mixture::new(advisers.len()).unwrap();
        for (x, truth) in &rounds {
            let opinions: Vec<_> = advisers.iter_mut().map(|adviser| adviser.opinion(x, &mut rng).unwrap()).collect();
            let advice = mixture.combine(&opinions);
            mixture.learn(&advice, *truth).unwrap();
            for adviser in &mut advisers {
                adviser.learn(x, *truth, &mut rng).unwrap();
            }
        }
        mixture
    });
}

/// 20 queries of three words to 20,000 sentences.
#[divan::bench(sample_count = 40)]
fn text_index(bencher: Bencher<'_, '_>) {
    let mut index = TextIndex::default();
    for (text, i) in sentences(20_000, 9).iter().zip(0..) {
        index.insert(TextKey { item: ItemId(i), part: 0 }, text);
    }
    let query = |text: &String| TextQuery::parse(&text.split(' ').take(3).collect::<Vec<_>>().join(" "));
    let queries: Vec<TextQuery> = sentences(20, 10).iter().map(query).collect();
    bencher.bench_local(|| queries.iter().map(|query| index.search(query, 10).len()).sum::<usize>());
}

/// Nearest neighbours of vectors.
mod nearest {
    use super::*;

    /// The nearest of each class among 10,000 vectors of 64 numbers.
    #[divan::bench(sample_count = 60)]
    fn nearest_of_each_class(bencher: Bencher<'_, '_>) {
        let mut rng = seeded(0);
        let mut nearest = Nearest::new(64);
        for (x, class) in points(10_000, 64, 10, 11) {
            nearest.learn(&x, class, &mut rng).unwrap();
        }
        let query = points(1, 64, 10, 12).remove(0).0;
        bencher.bench_local(|| nearest.opinion(black_box(&query), &mut rng).unwrap());
    }

    /// The ten nearest of 10,000 vectors of 64 numbers, for 16 queries.
    #[divan::bench(sample_count = 60)]
    fn dense_scan(bencher: Bencher<'_, '_>) {
        let single = |x: Vec<f64>| x.into_iter().map(|x| x as f32).collect::<Vec<f32>>();
        let mut scan = DenseScan::new(64, Metric::Euclidean);
        for ((x, _), i) in points(10_000, 64, 10, 11).into_iter().zip(0..) {
            scan.insert(ItemId(i), &single(x)).unwrap();
        }
        let queries: Vec<Vec<f32>> = points(16, 64, 10, 12).into_iter().map(|(x, _)| single(x)).collect();
        let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
        bencher.bench_local(|| scan.nearest_of_all(black_box(&queries), 10, &everything).unwrap());
    }

    /// The ten nearest of 10,000 sparse vectors by cosine.
    #[divan::bench(sample_count = 60)]
    fn sparse_scan(bencher: Bencher<'_, '_>) {
        let (mut all, query) = (SparseScan::new(Metric::Cosine), texts(1, 14).remove(0));
        for (x, i) in texts(10_000, 13).iter().zip(0..) {
            all.insert(ItemId(i), x).unwrap();
        }
        bencher.bench_local(|| all.nearest(black_box(&query), 10, &everything).unwrap());
    }

    /// 20 queries to a kd-tree of 10,000 points with eight numbers.
    #[divan::bench(sample_count = 60)]
    fn kd_tree(bencher: Bencher<'_, '_>) {
        let flat =
            |n: usize, seed: u64| -> Vec<f32> { points(n, 8, 50, seed).into_iter().flat_map(|(x, _)| x).map(|x| x as f32).collect() };
        let rows = flat(10_000, 15);
        let tree = KdTree::new(8, (0..).map(ItemId).zip(rows.chunks(8))).unwrap();
        let queries = flat(20, 16);
        bencher.bench_local(|| queries.chunks(8).map(|query| tree.nearest(query, 1, &everything).unwrap().list[0].id.0).sum::<u32>());
    }
}

/// Eight principal components of 2,000 sentences.
#[divan::bench(sample_count = 10)]
fn principal_components(bencher: Bencher<'_, '_>) {
    // Few features, because the work grows with the number of features that occur.
    let few = |x: &SparseVec| SparseVec::from_pairs(x.entries().iter().map(|(feature, value)| (feature % 2048, *value))).unwrap();
    let all: Vec<SparseVec> = texts(2000, 17).iter().map(few).collect();
    bencher.bench_local(|| Pca::new(black_box(&all), 8, &mut seeded(18)));
}

/// A library of 576 pictures, in a temporary folder.
struct Shelf {
    library: Library,
    wanted: LookQuery,
    _place: TempDir,
}

impl Shelf {
    fn filled() -> Self {
        let place = tempfile::tempdir().unwrap();
        let (images, progress) = (place.path().join("images"), Progress::default());
        let options = ToyOptions { side: 64, ..ToyOptions::default() };
        toys::generate(&options, &images, &progress).unwrap();
        let opening = LibraryOptions { learned: None, ..LibraryOptions::new(Arc::new(InProcess::default()), &progress) };
        let library = Mutex::new(Library::open_or_create(&place.path().join("shelf.tessera"), &opening).unwrap());
        import(&library, &images, &ImportOptions::default(), &progress).unwrap();
        let mut library = library.into_inner().unwrap();
        while library.load_appearances(1000).unwrap() > 0 {}
        let appearance = Appearance::of(&toys::render(Category::Dog, 20, 0, &options).picture);
        let wanted = LookQuery::new(appearance, None, None);
        Self { library, wanted, _place: place }
    }
}

/// The ten pictures of a library whose appearance is most like that of another one.
#[divan::bench(sample_count = 100)]
fn similar_in_appearance(bencher: Bencher<'_, '_>) {
    let shelf = Shelf::filled();
    bencher.bench_local(|| shelf.library.look_alikes(black_box(&shelf.wanted), 10, |_| true));
}
