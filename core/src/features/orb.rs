//! From a grey picture to its features.

use image::GrayImage;
use serde::{Deserialize, Serialize};

use super::brief::BriefPattern;
use super::fast::{self, Corner};
use super::harris;
use super::orientation::Disc;
use crate::descriptor::{Descriptor, Keypoint};
use crate::error::{Error, Result};
use crate::picture::blur::gaussian_7x7;
use crate::picture::pyramid::{Level, pyramid};

/// How features are found and described.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrbOptions {
    /// Features at most, `0..=10_000`.
    pub count: usize,
    /// Pixels of the picture for each feature, so that small pictures give fewer; 0: `count` alone
    /// decides.
    pub area: f32,
    /// Levels of the pyramid, `1..=16`.
    pub levels: usize,
    /// Factor from level to level, above 1 and at most 2.
    pub scale: f32,
    /// Pixels of each level along its sides without corners, at most 1024.
    pub edge: usize,
    /// FAST threshold in grey levels, `1..=254`.
    pub threshold: u8,
    /// Patch that is described, in pixels of its level, odd, `7..=127`.
    pub patch: u32,
    /// How many times its fair part of the features a cell of a level may have as long as other
    /// cells can fill the quota, at most 1000; 0: no limit.
    pub spread: usize,
    /// Whether patches are described upright, without rotating the pattern.
    pub upright: bool,
}

impl Default for OrbOptions {
    fn default() -> Self {
        Self { count: 500, area: 128.0, levels: 8, scale: 1.2, edge: 16, threshold: 20, patch: 41, spread: 5, upright: false }
    }
}

/// The largest number of features that options may ask for.
const MOST: usize = 10_000;

impl OrbOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] for the first that is not.
    pub fn check(&self) -> Result<()> {
        let wrong = |name, found: String, expected| Err(Error::Option { name, found, expected });
        if self.count > MOST {
            return wrong("count", self.count.to_string(), "0 to 10000");
        }
        if !(self.area >= 0.0 && self.area.is_finite()) {
            return wrong("area", self.area.to_string(), "0 or more");
        }
        if !(1..=16).contains(&self.levels) {
            return wrong("levels", self.levels.to_string(), "1 to 16");
        }
        if !(self.scale > 1.0 && self.scale <= 2.0) {
            return wrong("scale", self.scale.to_string(), "above 1 and at most 2");
        }
        if self.edge > 1024 {
            return wrong("edge", self.edge.to_string(), "at most 1024");
        }
        if self.spread > 1000 {
            return wrong("spread", self.spread.to_string(), "at most 1000");
        }
        if !(1..=254).contains(&self.threshold) {
            return wrong("threshold", self.threshold.to_string(), "1 to 254");
        }
        if !(7..=127).contains(&self.patch) || self.patch.is_multiple_of(2) {
            return wrong("patch", self.patch.to_string(), "an odd number from 7 to 127");
        }
        Ok(())
    }

    /// The nearest options that pass [`OrbOptions::check`].
    fn allowed(&self) -> Self {
        Self {
            count: self.count.min(MOST),
            area: if self.area > 0.0 { self.area.min(f32::MAX) } else { 0.0 },
            levels: self.levels.clamp(1, 16),
            scale: if self.scale > 1.0 { self.scale.min(2.0) } else { 1.0 + f32::EPSILON },
            edge: self.edge.min(1024),
            threshold: self.threshold.clamp(1, 254),
            patch: (self.patch.clamp(7, 127) - 1) | 1,
            spread: self.spread.min(1000),
            upright: self.upright,
        }
    }
}

/// Keypoints and their descriptors, position by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// Where they are, level by level from the finest.
    pub keypoints: Vec<Keypoint>,
    /// The descriptor of each keypoint.
    pub descriptors: Vec<Descriptor>,
}

/// Features that a cell would have if all were spread evenly.
const FAIR_PART: usize = 4;

/// The features of `picture`: none when it is empty, flat or smaller than twice the edge.
///
/// Each level's share of `count` is proportional to its width; what a level cannot fill goes to the
/// others, finest first. Options out of range (see [`OrbOptions::check`]) are taken as the nearest
/// allowed. O(pixels + count).
pub fn detect(picture: &GrayImage, options: &OrbOptions) -> Features {
    let options = &options.allowed();
    let radius = (options.patch - 1) / 2;
    let levels = pyramid(picture, options.levels, options.scale, 2 * options.edge as u32 + 1, radius as usize + 4);
    let mut found: Vec<Vec<(Corner, f32)>> = levels.iter().map(|level| ranked(level, options)).collect();
    let available: Vec<usize> = found.iter().map(Vec::len).collect();
    let pixels = picture.width() as f32 * picture.height() as f32;
    let count = if options.area > 0.0 { options.count.min((pixels / options.area) as usize) } else { options.count };
    for ((corners, quota), level) in found.iter_mut().zip(quotas(&available, count, options.scale)).zip(&levels) {
        spread(corners, quota, options.spread, level, options.edge);
    }

    let disc = Disc::new(radius as usize);
    let pattern = BriefPattern::new(options.patch);
    let mut features = Features::default();
    for (level, corners) in levels.iter().zip(&found) {
        if corners.is_empty() {
            continue;
        }
        let smooth = gaussian_7x7(&level.picture);
        for (corner, response) in corners {
            let (x, y) = (corner.x as usize, corner.y as usize);
            let direction = if options.upright { (1.0, 0.0) } else { disc.direction(&level.picture, x, y) };
            let (full_x, full_y) = level.to_full(x, y);
            features.keypoints.push(Keypoint {
                x: full_x,
                y: full_y,
                scale: level.scale.0.max(level.scale.1),
                angle: direction.1.atan2(direction.0),
                response: *response,
            });
            features.descriptors.push(pattern.describe(&smooth, x, y, direction));
        }
    }
    features
}

/// The corners of a level, strongest first (of equals the first in reading order).
fn ranked(level: &Level, options: &OrbOptions) -> Vec<(Corner, f32)> {
    let corners = fast::corners(&level.picture, options.threshold, options.edge);
    let responses = harris::responses(&level.picture, &corners);
    let mut ranked: Vec<_> = corners.into_iter().zip(responses).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// Keeps `quota` of the corners, strongest first, so that no part of the level takes nearly all: of
/// each cell of a grid only `share` times its fair part, as long as other cells can fill the quota.
fn spread(corners: &mut Vec<(Corner, f32)>, quota: usize, share: usize, level: &Level, edge: usize) {
    if share == 0 || corners.len() <= quota {
        corners.truncate(quota);
        return;
    }
    let (width, height) = (level.picture.width - 2 * edge, level.picture.height - 2 * edge);
    let side = ((width * height * FAIR_PART) as f32 / quota.max(1) as f32).sqrt().max(1.0) as usize;
    let columns = width / side + 1;
    let mut taken = vec![0; columns * (height / side + 1)];
    let (mut kept, mut passed_over) = (Vec::with_capacity(quota), Vec::new());
    for &(corner, response) in corners.iter() {
        let cell = &mut taken[(corner.y as usize - edge) / side * columns + (corner.x as usize - edge) / side];
        *cell += 1;
        if *cell <= share * FAIR_PART { kept.push((corner, response)) } else { passed_over.push((corner, response)) }
    }
    kept.extend(passed_over);
    kept.truncate(quota);
    *corners = kept;
}

/// How many features each level gives.
fn quotas(available: &[usize], count: usize, scale: f32) -> Vec<usize> {
    let shrink = 1.0 / f64::from(scale);
    let total: f64 = (0..available.len()).map(|i| shrink.powi(i as i32)).sum();
    let mut left = count;
    let mut quotas: Vec<usize> = Vec::with_capacity(available.len());
    for (i, &n) in available.iter().enumerate() {
        let share = (count as f64 * shrink.powi(i as i32) / total).round() as usize;
        let quota = share.min(n).min(left);
        quotas.push(quota);
        left -= quota;
    }
    for (quota, &n) in quotas.iter_mut().zip(available) {
        let more = left.min(n - *quota);
        *quota += more;
        left -= more;
    }
    quotas
}
