//! Exact nearest neighbours by the crate `kiddo` (k-d trees, Euclidean), one query at a time on one
//! thread, in the form of `tessera eval cover-tree`:
//! `cargo run --release --manifest-path benches/peers/kiddo/Cargo.toml -- POINTS.npy QUERIES.npy`.
//!
//! Both are matrices of f32 with 30 columns: the number is fixed when it is compiled.

use std::time::Instant;

use kiddo::SquaredEuclidean;
use kiddo::immutable::float::kdtree::ImmutableKdTree;

/// Values of a point, and points of a leaf.
const D: usize = 30;
const LEAF: usize = 32;

/// The rows of a matrix of f32.
fn rows(path: &str) -> Vec<[f32; D]> {
    let bytes = std::fs::read(path).expect("a file of a matrix");
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..begin]);
    assert!(header.contains("<f4") && header.contains("'fortran_order': False") && header.contains(&format!(", {D})")), "{header}");
    let values: Vec<f32> = bytes[begin..].chunks_exact(4).map(|value| f32::from_le_bytes(value.try_into().expect("four bytes"))).collect();
    values.chunks_exact(D).map(|row| row.try_into().expect("a row")).collect()
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [points, queries] = &paths[..] else { panic!("usage: kiddo-peer POINTS.npy QUERIES.npy") };
    let (points, queries) = (rows(points), rows(queries));
    let begun = Instant::now();
    let tree: ImmutableKdTree<f32, u32, D, LEAF> = ImmutableKdTree::new_from_slice(&points);
    let build = begun.elapsed().as_secs_f64();
    let (mut fastest, mut sum) = (f64::INFINITY, 0.0);
    for _ in 0..3 {
        sum = 0.0;
        let begun = Instant::now();
        for query in &queries {
            sum += f64::from(tree.nearest_one::<SquaredEuclidean>(query).distance).sqrt();
        }
        fastest = fastest.min(begun.elapsed().as_secs_f64());
    }
    let per_1000 = 1000.0 * fastest / queries.len() as f64;
    println!("{{\"build_s\": {build:.4}, \"s_per_1000\": {per_1000:.4}, \"n\": {}, \"mean_distance\": {:.4}}}", points.len(), sum / queries.len() as f64);
}
