//! Clusters of vectors: how many there are, which points are in each, and the nearest neighbours of
//! one in a cover tree.
//!
//! `cargo run --release -p tessera-core --example clusters`
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use tessera_core::Error;
use tessera_core::canopy::{Constraints, MixtureData, MixtureFit, MixtureOptions, choose_clusters, purity};
use tessera_core::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use tessera_core::ids::ItemId;
use tessera_core::nearest::{Metric, NeighborIndex as _, everything};
use tessera_core::progress::Progress;
use tessera_core::random::{normal, seeded};

fn main() -> Result<(), Error> {
    let (n, d, places) = (4000, 8, 16);
    let mut rng = seeded(1);
    let centres: Vec<f64> = (0..places * d).map(|_| 10.0 * normal(&mut rng)).collect();
    let classes: Vec<u32> = (0..n as u32).map(|i| i % places as u32).collect();
    let around = |class: &u32| centres[*class as usize * d..][..d].to_vec();
    let values: Vec<f32> = classes.iter().flat_map(around).map(|centre| (centre + normal(&mut rng)) as f32).collect();

    let progress = Progress::default();
    let (clusters, tried) = choose_clusters(&values, d, &MixtureOptions::default(), &progress)?;
    for count in &tried {
        println!("{:>4} clusters: log-likelihood {:.2} of points that took no part", count.clusters, count.likelihood);
    }

    let options = MixtureOptions { clusters, ..MixtureOptions::default() };
    let mut fit = MixtureFit::new(MixtureData::new(&values, d, options.covariance)?, options, &Constraints::default())?;
    for _ in 0..10 {
        fit.step(&progress)?;
    }
    println!("{clusters} clusters of {n} points around {places} places: purity {:.3}", purity(&fit.assign(), &classes));

    let ids: Vec<ItemId> = (0..n as u32).map(ItemId).collect();
    let tree = DenseTree::new(DensePoints::new(d, values.clone())?, &ids, Metric::Euclidean, CoverTreeOptions::default())?;
    let found = tree.nearest(&values[..d], 5, &everything)?;
    let nearest: Vec<String> = found.list.iter().map(|found| format!("{} at {:.2}", found.id.0, found.distance)).collect();
    println!("nearest to point 0, after comparing {} points: {}", found.cost.points, nearest.join(", "));
    Ok(())
}
