//! Near copies: the pairs of images of each two shards, and the groups that all pairs make.

use std::collections::BTreeMap;

use image::RgbImage;
use rayon::prelude::*;

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::collection::{ImageHash, Shard};
use crate::copies::{Signature, candidates_among, compare, groups};
use crate::error::Result;
use crate::picture::thumbnail;
use crate::progress::Progress;

/// Asks for pairs of images that are near copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyPairs {
    /// How far two images may differ, in percent of their structure.
    pub distance: f64,
}

/// An image that has a near copy.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedCopy {
    /// The image.
    pub image: ImageHash,
    /// Where it was found.
    pub place: String,
    /// How far it is from the first of its group.
    pub distance: f64,
}

/// Images that are near copies of the first of them.
pub type SharedCopyGroup = Vec<SharedCopy>;

/// Of images that have near copies their places and the bytes of their thumbnails, which stand for
/// how much there is to see; and of pairs, the lower hash first, how far they differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundPairs {
    images: BTreeMap<ImageHash, (String, u64)>,
    pairs: BTreeMap<(ImageHash, ImageHash), f64>,
}

/// An image of the shards that are compared.
struct Own {
    image: ImageHash,
    shard: usize,
    place: String,
    size: u64,
    signature: Signature,
    thumbnail: Vec<u8>,
}

impl CopyPairs {
    /// The groups of copies, the largest first: each around the image whose thumbnail has
    /// most bytes, of equals that of the lowest hash.
    pub fn groups(&self, state: &FoundPairs) -> Vec<SharedCopyGroup> {
        let images: Vec<(&ImageHash, &(String, u64))> = state.images.iter().collect();
        let place = |image: &ImageHash| images.partition_point(|(other, _)| *other < image);
        let mut best_first: Vec<usize> = (0..images.len()).collect();
        best_first.sort_by(|a, b| images[*b].1.1.cmp(&images[*a].1.1).then(a.cmp(b)));
        let pairs = state.pairs.keys().map(|(a, b)| (place(a), place(b)));
        let copy = |first: ImageHash, at: usize| {
            let (image, (place, _)) = images[at];
            let distance = state.pairs.get(&(first.min(*image), first.max(*image))).copied().unwrap_or(0.0);
            SharedCopy { image: *image, place: place.clone(), distance }
        };
        let mut all: Vec<SharedCopyGroup> = groups(&best_first, pairs)
            .into_iter()
            .map(|group| {
                let first = *images[group[0]].0;
                let mut copies: SharedCopyGroup = group.iter().map(|at| copy(first, *at)).collect();
                copies[1..].sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.image.cmp(&b.image)));
                copies
            })
            .collect();
        all.sort_by(|a, b| b.len().cmp(&a.len()).then(a[0].image.cmp(&b[0].image)));
        all
    }
}

impl ShardJob for CopyPairs {
    type State = FoundPairs;
    const NAME: &'static str = "copy pairs";
    const SHARDS: usize = 2;

    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<FoundPairs> {
        let mut all = Vec::new();
        for (number, shard) in shards.iter().enumerate() {
            let known = shard.hashes().iter().zip(shard.places()?).zip(shard.signatures()?).zip(shard.thumbnails()?);
            for (((image, place), signature), thumbnail) in known {
                if let Some(signature) = signature {
                    all.push(Own { image: *image, shard: number, place, size: thumbnail.len() as u64, signature, thumbnail });
                }
            }
        }
        all.sort_by_key(|own| own.image);
        all.dedup_by_key(|own| own.image);
        let signatures: Vec<Signature> = all.iter().map(|own| own.signature.clone()).collect();
        let is_wanted = |a: usize, b: usize| shards.len() == 1 || all[a].shard != all[b].shard;
        let found = candidates_among(&signatures, &is_wanted, progress)?;
        progress.begin("Comparing near copies", found.len() as u64);
        let measure = |pair: &crate::copies::Candidate| {
            progress.step()?;
            let picture = |at: usize| thumbnail::decode(&all[at].thumbnail);
            let Some((from, to)): Option<(RgbImage, RgbImage)> = picture(pair.from).zip(picture(pair.to)) else { return Ok(None) };
            let distance = compare(&pair.turn.of(&from), &to, pair.turn.window(pair.window)).distance;
            Ok((distance <= self.distance).then_some((pair.from, pair.to, distance)))
        };
        let measured: Vec<Option<(usize, usize, f64)>> = found.par_iter().map(measure).collect::<Result<_>>()?;
        let mut state = FoundPairs::default();
        for (from, to, distance) in measured.into_iter().flatten() {
            for own in [&all[from], &all[to]] {
                state.images.insert(own.image, (own.place.clone(), own.size));
            }
            state.put((all[from].image, all[to].image), distance);
        }
        Ok(state)
    }

    fn join(&self, mut one: FoundPairs, other: FoundPairs) -> Result<FoundPairs> {
        one.images.extend(other.images);
        other.pairs.into_iter().for_each(|(pair, distance)| one.put(pair, distance));
        Ok(one)
    }
}

impl FoundPairs {
    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn put(&mut self, (a, b): (ImageHash, ImageHash), distance: f64) {
        let known = self.pairs.entry((a.min(b), a.max(b))).or_insert(distance);
        *known = distance.min(*known);
    }
}

impl Stored for CopyPairs {
    fn write(&self, out: &mut Writer) {
        out.put(&self.distance);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { distance: from.get()? })
    }
}

impl Stored for FoundPairs {
    fn write(&self, out: &mut Writer) {
        out.put(&self.images.iter().map(|(image, known)| (*image, known.clone())).collect::<Vec<_>>());
        out.put(&self.pairs.iter().map(|(pair, distance)| (*pair, *distance)).collect::<Vec<_>>());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let images: Vec<(ImageHash, (String, u64))> = from.get()?;
        let pairs: Vec<((ImageHash, ImageHash), f64)> = from.get()?;
        let mut state = Self { images: images.into_iter().collect(), pairs: pairs.into_iter().collect() };
        state.pairs.retain(|(a, b), _| state.images.contains_key(a) && state.images.contains_key(b));
        Ok(state)
    }
}
