//! How well clusters agree with classes.

use std::collections::BTreeMap;

/// The number of points in each pair of cluster and class.
fn table(clusters: &[u32], classes: &[u32]) -> BTreeMap<(u32, u32), f64> {
    let mut table = BTreeMap::new();
    clusters.iter().zip(classes).for_each(|pair| *table.entry((*pair.0, *pair.1)).or_insert(0.0) += 1.0);
    table
}

/// The share of points that are of the class most frequent in their cluster. 0 for no points.
pub fn purity(clusters: &[u32], classes: &[u32]) -> f64 {
    let mut most: BTreeMap<u32, f64> = BTreeMap::new();
    for ((cluster, _), count) in table(clusters, classes) {
        let own = most.entry(cluster).or_insert(0.0);
        *own = count.max(*own);
    }
    most.values().sum::<f64>() / clusters.len().max(1) as f64
}

/// The mutual information of clusters and classes, as a share of the mean of their entropies; 1
/// where both have one value alone.
pub fn normalised_mutual_information(clusters: &[u32], classes: &[u32]) -> f64 {
    let n = clusters.len().max(1) as f64;
    let (mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new());
    let table = table(clusters, classes);
    for ((cluster, class), count) in &table {
        *rows.entry(*cluster).or_insert(0.0) += count;
        *columns.entry(*class).or_insert(0.0) += count;
    }
    let entropy = |counts: &BTreeMap<u32, f64>| -counts.values().map(|count| count / n * (count / n).ln()).sum::<f64>();
    let mean = (entropy(&rows) + entropy(&columns)) / 2.0;
    if mean <= 0.0 {
        return 1.0;
    }
    let shared: f64 = table.iter().map(|((cluster, class), count)| count / n * (count * n / (rows[cluster] * columns[class])).ln()).sum();
    (shared / mean).clamp(0.0, 1.0)
}
