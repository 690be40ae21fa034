//! Clusters of images that look alike: a mixture whose iterations are a job each. Points draw their
//! clusters by numbers that their hashes, the iteration and the seed give, and sums are of whole
//! numbers, so a fit is the same however images are dealt to shards.

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::canopy::{Constraints, MixtureData, MixtureFit, MixtureModel, MixtureOptions, Prior, WholeSums};
use crate::collection::{ImageHash, Shard};
use crate::error::{Error, Result};
use crate::picture::appearance::{Appearance, VALUES};
use crate::progress::Progress;

/// What the whole numbers of appearances are multiples of.
const UNIT: f64 = 1.0 / 16384.0;
/// What logarithms of densities are added up in multiples of, so that their sum is exact.
const STEP: f64 = 4_294_967_296.0;
/// Images that are shown for each cluster.
const EXAMPLES: usize = 8;

/// Chooses images among which clusters begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixtureBegin {
    /// How many are chosen.
    pub sample: usize,
    /// The seed.
    pub seed: u64,
}

/// Chosen images with their numbers, ascending, and their appearances.
pub type MixtureSample = Vec<((u64, ImageHash), Vec<u8>)>;

/// One iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureRound {
    /// The mixture before it.
    pub model: MixtureModel,
    /// Its number, from 0.
    pub iteration: u64,
    /// The seed.
    pub seed: u64,
}

/// Sums over the points of each cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundSums {
    likelihood: i128,
    clusters: Vec<(WholeSums, Vec<(f64, ImageHash)>)>,
}

/// What an iteration did.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundReport {
    /// Images.
    pub points: u64,
    /// The mean logarithm of their densities before the iteration.
    pub likelihood: f64,
    /// How many images each cluster drew.
    pub sizes: Vec<u64>,
    /// Of each cluster the images that fit best, best first.
    pub examples: Vec<Vec<ImageHash>>,
}

fn values(appearance: &Appearance) -> impl Iterator<Item = f32> {
    appearance.whole().iter().map(|value| f32::from(*value) * UNIT as f32)
}

impl MixtureBegin {
    /// The first iteration of a fit of so many clusters, which begin among the chosen images by
    /// k-means++.
    ///
    /// # Errors
    /// As [`MixtureFit::new`].
    pub fn round(&self, state: &MixtureSample, options: &MixtureOptions) -> Result<MixtureRound> {
        let mut chosen: Vec<(ImageHash, Appearance)> = Vec::new();
        for ((_, image), bytes) in state {
            let wrong = || Error::value("appearance", "that of an image, by this version", "other bytes");
            chosen.push((*image, Appearance::from_bytes(bytes).ok_or_else(wrong)?));
        }
        chosen.sort_by_key(|(image, _)| *image);
        let rows: Vec<f32> = chosen.iter().flat_map(|(_, appearance)| values(appearance)).collect();
        let fit = MixtureFit::new(MixtureData::new(&rows, VALUES, options.covariance)?, options.clone(), &Constraints::default())?;
        Ok(MixtureRound { model: fit.model().clone(), iteration: 0, seed: self.seed })
    }

    fn first(&self, mut sample: MixtureSample) -> MixtureSample {
        sample.sort_by_key(|(number, _)| *number);
        sample.truncate(self.sample);
        sample
    }
}

impl ShardJob for MixtureBegin {
    type State = MixtureSample;
    const NAME: &'static str = "mixture begin";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<MixtureSample> {
        let images = shards[0].hashes().iter().zip(shards[0].appearances()?);
        Ok(self.first(images.map(|(image, own)| ((image.drawn(self.seed), *image), own.to_bytes())).collect()))
    }

    fn join(&self, one: MixtureSample, other: MixtureSample) -> Result<MixtureSample> {
        Ok(self.first([one, other].concat()))
    }
}

impl MixtureRound {
    /// The number that an image draws its cluster by, in 0..1.
    fn number(&self, image: ImageHash) -> f32 {
        let seed = self.seed ^ (self.iteration + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // 24 bits, which f32 holds exactly.
        (image.drawn(seed) >> 40) as f32 / (1 << 24) as f32
    }

    /// The cluster of each image of a shard with the highest share times density.
    ///
    /// # Errors
    /// As [`ShardJob::state`].
    pub fn assigned(&self, shard: &Shard) -> Result<Vec<(ImageHash, u32)>> {
        let rows: Vec<f32> = shard.appearances()?.iter().flat_map(values).collect();
        Ok(shard.hashes().iter().copied().zip(self.model.best(&rows)?.into_iter().map(|(cluster, _)| cluster)).collect())
    }

    /// The next iteration, and what this one did.
    pub fn next(&self, state: &RoundSums, prior: &Prior) -> (Self, RoundReport) {
        let sums: Vec<WholeSums> = state.clusters.iter().map(|(sums, _)| sums.clone()).collect();
        let sizes: Vec<u64> = sums.iter().map(|own| own.points).collect();
        let points: u64 = sizes.iter().sum();
        let examples = state.clusters.iter().map(|(_, best)| best.iter().map(|(_, image)| *image).collect()).collect();
        let likelihood = state.likelihood as f64 / STEP / points.max(1) as f64;
        let model = self.model.estimated(&sums, UNIT, prior);
        (Self { model, iteration: self.iteration + 1, seed: self.seed }, RoundReport { points, likelihood, sizes, examples })
    }
}

fn best_first(best: &mut Vec<(f64, ImageHash)>) {
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(EXAMPLES);
}

impl ShardJob for MixtureRound {
    type State = RoundSums;
    const NAME: &'static str = "mixture round";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<RoundSums> {
        let (hashes, appearances) = (shards[0].hashes(), shards[0].appearances()?);
        let rows: Vec<f32> = appearances.iter().flat_map(values).collect();
        let numbers: Vec<f32> = hashes.iter().map(|image| self.number(*image)).collect();
        let drawn = self.model.drawn(&rows, &numbers)?;
        let mut state = RoundSums { likelihood: 0, clusters: vec![<(WholeSums, Vec<(f64, ImageHash)>)>::default(); self.model.clusters()] };
        for ((image, appearance), (cluster, density)) in hashes.iter().zip(&appearances).zip(drawn) {
            state.likelihood += (density * STEP).round() as i128;
            let (sums, best) = &mut state.clusters[cluster as usize];
            sums.add(appearance.whole());
            best.push((density, *image));
        }
        state.clusters.iter_mut().for_each(|(_, best)| best_first(best));
        Ok(state)
    }

    fn join(&self, mut one: RoundSums, other: RoundSums) -> Result<RoundSums> {
        one.likelihood += other.likelihood;
        for ((sums, best), (other_sums, other_best)) in one.clusters.iter_mut().zip(other.clusters) {
            sums.join(&other_sums);
            best.extend(other_best);
            best_first(best);
        }
        Ok(one)
    }
}

impl Stored for MixtureBegin {
    fn write(&self, out: &mut Writer) {
        out.count(self.sample);
        out.put(&self.seed);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { sample: from.get::<u64>()? as usize, seed: from.get()? })
    }
}

impl Stored for MixtureRound {
    fn write(&self, out: &mut Writer) {
        out.options(&self.model);
        out.put(&self.iteration);
        out.put(&self.seed);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let model: MixtureModel = from.options()?;
        let model = model.checked()?;
        if model.centre().len() != VALUES {
            return Err(from.wrong(format!("a mixture of {VALUES} values"), model.centre().len().to_string()));
        }
        Ok(Self { model, iteration: from.get()?, seed: from.get()? })
    }
}

impl Stored for WholeSums {
    fn write(&self, out: &mut Writer) {
        out.put(&self.points);
        out.put(&self.values);
        out.put(&self.squares);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { points: from.get()?, values: from.get()?, squares: from.get()? })
    }
}

impl Stored for RoundSums {
    fn write(&self, out: &mut Writer) {
        out.put(&self.likelihood);
        out.put(&self.clusters);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { likelihood: from.get()?, clusters: from.get()? })
    }
}
