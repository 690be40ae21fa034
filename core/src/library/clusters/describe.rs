//! What can be said of clusters: their most typical images, oddities, words and classes.

use std::collections::{BTreeMap, BTreeSet};

use super::kept::KeptClusters;
use crate::ids::ItemId;
use crate::library::Library;
use crate::plural::{count, grouped};
use crate::text::words;

/// Words that are told of a cluster.
const WORDS: usize = 5;

/// A word is told only where a cluster has it oftener than all by so many standard errors.
const CLEAR: f64 = 2.5;

/// Standard deviations below the mean of a cluster's logarithms of densities from which on an image
/// is an outlier of it.
const ODD: f64 = 3.0;

/// A cluster of fewer images is an oddity.
const LEAST: usize = 3;

/// A cluster of less than one in so many images of the mean cluster is an oddity, too.
const FEW: usize = 100;

/// A class is a cluster's name that one in so many of its images have, or more.
const NAMED: usize = 4;

/// One cluster of images.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageCluster {
    /// Its number, counted from 1.
    pub number: usize,
    /// Its images, the most typical (of the largest density) first.
    pub images: Vec<ItemId>,
    /// How many of these, the last, are outliers: far less probable than the others.
    pub outliers: usize,
    /// The root mean square distance from the middle, of vectors of length 1, along the axes that
    /// are compared.
    pub spread: f64,
    /// The class that most of its labelled images have, and a quarter of all: its name, which
    /// images that came since do not take from it.
    pub name: Option<String>,
    /// Whether half of its images or more have that label.
    pub is_named: bool,
    /// The labels of its images with how many have each, the most frequent first.
    pub classes: Vec<(String, usize)>,
    /// Words of captions that its images have more often than others, each with the share of the
    /// cluster's images that have it.
    pub words: Vec<(String, f64)>,
}

impl ImageCluster {
    /// What it is called: its name, with "like" before it where most of its images have no such
    /// label; or else its number.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) if self.is_named => name.clone(),
            Some(name) => format!("like {name}"),
            None => format!("Cluster {}", self.number),
        }
    }
}

/// What each of some clusters is called, so that no two have one title: from the second on of one
/// title they are numbered.
pub fn titles(clusters: &[ImageCluster]) -> Vec<String> {
    let plain: Vec<String> = clusters.iter().map(ImageCluster::title).collect();
    let taken: BTreeSet<&String> = plain.iter().collect();
    let mut last: BTreeMap<&String, usize> = BTreeMap::new();
    let own = |title| {
        let Some(last) = last.get_mut(title) else {
            last.insert(title, 1);
            return title.clone();
        };
        loop {
            *last += 1;
            let numbered = format!("{title} {last}");
            if !taken.contains(&numbered) {
                return numbered;
            }
        }
    };
    plain.iter().map(own).collect()
}

/// Why fewer clusters than wanted have images, in a sentence; none where all have some.
pub fn unused(kept: &KeptClusters, with_images: usize) -> Option<String> {
    let empty = kept.count().checked_sub(with_images).filter(|empty| *empty > 0)?;
    let are = if empty == 1 { "is" } else { "are" };
    Some(format!(
        "{} of {} {are} not shown: no image is nearer to {} than to others. There are few images for so many clusters, or some are all alike",
        grouped(empty),
        count(kept.count(), "cluster"),
        if empty == 1 { "it" } else { "them" },
    ))
}

impl KeptClusters {
    /// All clusters that have images, the largest first; of equals the lower number. O(images +
    /// words of captions).
    pub fn describe(&self, library: &Library) -> Vec<ImageCluster> {
        let mut members: BTreeMap<u32, Vec<(f64, ItemId)>> = BTreeMap::new();
        for (id, (cluster, density)) in &self.images {
            members.entry(*cluster).or_default().push((*density, ItemId(*id)));
        }
        let captions = |id: ItemId| -> BTreeSet<String> {
            let image = library.state().image(id);
            image.into_iter().flat_map(|image| &image.captions).flat_map(|caption| words(&caption.text)).collect()
        };
        let mut everywhere = Words::default();
        let mut within: BTreeMap<u32, Words> = BTreeMap::new();
        for (cluster, images) in &members {
            let own = within.entry(*cluster).or_default();
            for words in images.iter().map(|(_, id)| captions(*id)).filter(|words| !words.is_empty()) {
                own.captioned += 1;
                words.into_iter().for_each(|word| *own.counts.entry(word).or_insert(0) += 1);
            }
            everywhere.captioned += own.captioned;
            own.counts.iter().for_each(|(word, count)| *everywhere.counts.entry(word.clone()).or_insert(0) += count);
        }
        let mut clusters: Vec<ImageCluster> = members
            .into_iter()
            .map(|(cluster, mut images)| {
                images.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                let n = images.len() as f64;
                let mean = images.iter().map(|(density, _)| density).sum::<f64>() / n;
                let deviation = (images.iter().map(|(density, _)| (density - mean).powi(2)).sum::<f64>() / n).sqrt();
                let outliers = images.iter().filter(|(density, _)| *density < mean - ODD * deviation).count();
                let words = telling(&within[&cluster], &everywhere, n);
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                for class in images.iter().filter_map(|(_, id)| library.state().image(*id)?.label()) {
                    *counts.entry(class).or_insert(0) += 1;
                }
                let mut classes: Vec<(String, usize)> = counts.into_iter().map(|(class, count)| (class.to_owned(), count)).collect();
                classes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
                let labelled: usize = classes.iter().map(|(_, count)| count).sum();
                let is_name = |(_, count): &&(String, usize)| 2 * count > labelled && NAMED * count >= images.len();
                let named = classes.first().filter(is_name);
                let is_named = named.is_some_and(|(_, count)| 2 * count >= images.len());
                let name = named.map(|(class, _)| class.clone());
                let spread = self.model.parameters()[cluster as usize].spread.iter().sum::<f64>().sqrt() * f64::from(self.unit());
                let images = images.into_iter().map(|(_, id)| id).collect();
                ImageCluster { number: cluster as usize + 1, images, outliers, spread, name, is_named, classes, words }
            })
            .collect();
        clusters.sort_by(|a, b| b.images.len().cmp(&a.images.len()).then(a.number.cmp(&b.number)));
        clusters
    }
}

/// How many of some clusters, the largest first, are no oddities: clusters of fewer than three
/// images, or of less than a hundredth of those of the mean cluster. Where all are so small, none
/// is one.
pub fn usual_clusters(clusters: &[ImageCluster]) -> usize {
    let images: usize = clusters.iter().map(|cluster| cluster.images.len()).sum();
    let mean = images / clusters.len().max(1);
    let usual = clusters.iter().take_while(|cluster| cluster.images.len() >= LEAST && cluster.images.len() * FEW >= mean).count();
    if usual == 0 { clusters.len() } else { usual }
}

/// The words of captions of some images.
#[derive(Default)]
struct Words {
    /// Images with a caption.
    captioned: usize,
    /// How many of them have each word.
    counts: BTreeMap<String, usize>,
}

/// The words that say most of a cluster of `n` images: by how often they occur in its captions,
/// times the logarithm of how much oftener than in all. What may be chance is left out.
fn telling(own: &Words, everywhere: &Words, n: f64) -> Vec<(String, f64)> {
    let score = |(word, count): (&String, &usize)| {
        let (share, usual) = (*count as f64 / own.captioned as f64, everywhere.counts[word] as f64 / everywhere.captioned as f64);
        let error = (usual * (1.0 - usual) / own.captioned as f64).sqrt();
        let score = if share - usual > CLEAR * error { share * (share / usual).ln() } else { 0.0 };
        (score, word.clone(), *count as f64 / n)
    };
    let mut scored: Vec<(f64, String, f64)> =
        own.counts.iter().filter(|(_, count)| **count >= 2).map(score).filter(|(score, ..)| *score > 0.02).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().take(WORDS).map(|(_, word, share)| (word, share)).collect()
}
