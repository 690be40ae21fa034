//! Features against slow and obvious versions of their steps, and against turned pictures.

use std::collections::BTreeSet;

use image::{GrayImage, Luma, imageops};
use imageproc::corners::corners_fast9;
use proptest::prelude::*;
use tessera_core::descriptor::Descriptor;
use tessera_core::features::brief::{BriefPattern, PATTERN_VERSION};
use tessera_core::features::fast::{self, CIRCLE, Corner};
use tessera_core::features::orientation::Disc;
use tessera_core::features::{Features, OrbOptions, detect, harris};
use tessera_core::picture::blur::gaussian_7x7;
use tessera_core::picture::pyramid::{Bordered, pyramid};

use crate::scenes::{grey_scene, noise};

/// The largest difference that all of nine neighbouring circle pixels exceed or reach, in one
/// direction.
fn score_of(picture: &GrayImage, x: u32, y: u32) -> u8 {
    let centre = i32::from(picture.get_pixel(x, y).0[0]);
    let around = CIRCLE.map(|(dx, dy)| {
        let at = picture.get_pixel(x.wrapping_add_signed(dx as i32), y.wrapping_add_signed(dy as i32));
        i32::from(at.0[0]) - centre
    });
    let arc = |start: usize, sign: i32| (0..9).map(|i| sign * around[(start + i) % 16]).min().unwrap();
    (0..16).flat_map(|start| [arc(start, 1), arc(start, -1)]).max().unwrap().max(0) as u8
}

fn corners_one_by_one(picture: &GrayImage, threshold: u8, edge: u32) -> Vec<Corner> {
    let (width, height) = picture.dimensions();
    let inside = |x: u32, y: u32| x >= edge && y >= edge && x + edge < width && y + edge < height;
    let score = |x: u32, y: u32| if inside(x, y) { Some(score_of(picture, x, y)).filter(|&s| s > threshold).unwrap_or(0) } else { 0 };
    let mut found = Vec::new();
    for y in edge..height.saturating_sub(edge) {
        for x in edge..width.saturating_sub(edge) {
            let own = score(x, y);
            let beats = |dx: i32, dy: i32| {
                let other = score(x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
                if (dy, dx) < (0, 0) { own > other } else { own >= other }
            };
            let offsets = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))).filter(|&offset| offset != (0, 0));
            if own > 0 && offsets.into_iter().all(|(dx, dy)| beats(dx, dy)) {
                found.push(Corner { x, y, score: own });
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn corners_are_those_found_one_by_one(seed: u64, width in 1u32..80, height in 1u32..40, threshold in 1u8..60, edge in 3u32..6, noisy: bool) {
        let picture = if noisy { noise(seed, width, height) } else { grey_scene(seed, width, height) };
        let found = fast::corners(&Bordered::new(&picture, 4), threshold, edge as usize);
        prop_assert_eq!(found, corners_one_by_one(&picture, threshold, edge));
    }

    #[test]
    fn any_size_gives_at_most_what_was_asked_for(seed: u64, width in 0u32..64, height in 0u32..64, count in 0usize..40, edge in 0usize..20) {
        let picture = noise(seed, width, height);
        let features = detect(&picture, &OrbOptions { count, area: 0.0, edge, ..OrbOptions::default() });
        prop_assert!(features.keypoints.len() <= count);
        prop_assert_eq!(features.keypoints.len(), features.descriptors.len());
        for k in &features.keypoints {
            prop_assert!(k.x >= edge as f32 && k.y >= edge as f32, "{:?} within {} pixels of the sides", k, edge);
            prop_assert!(k.x <= width as f32 - 1.0 - edge as f32 && k.y <= height as f32 - 1.0 - edge as f32);
        }
    }
}

#[test]
fn corners_agree_with_imageproc() {
    for seed in 0..5 {
        let picture = grey_scene(seed, 120, 90);
        let theirs = corners_fast9(&picture, 20);
        let ours = fast::corners(&Bordered::new(&picture, 4), 20, 3);
        assert!(!ours.is_empty());
        for corner in &ours {
            assert!(theirs.iter().any(|c| (c.x, c.y) == (corner.x, corner.y)), "{corner:?} is a corner to us alone");
        }
        for corner in theirs {
            let near = ours.iter().any(|c| c.x.abs_diff(corner.x) <= 12 && c.y.abs_diff(corner.y) <= 12);
            assert!(near, "nothing of ours near {}, {}", corner.x, corner.y);
            assert!(score_of(&picture, corner.x, corner.y) > 20, "{}, {} is a corner to imageproc alone", corner.x, corner.y);
        }
    }
}

#[test]
fn harris_is_the_determinant_less_the_trace() {
    let picture = grey_scene(3, 60, 60);
    let bordered = Bordered::new(&picture, 6);
    let corners = fast::corners(&bordered, 10, 8);
    let at = |x: u32, y: u32| f64::from(picture.get_pixel(x, y).0[0]) / 255.0;
    for (corner, response) in corners.iter().zip(harris::responses(&bordered, &corners)) {
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for y in corner.y - 3..=corner.y + 3 {
            for x in corner.x - 3..=corner.x + 3 {
                let dx =
                    at(x + 1, y - 1) + 2.0 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2.0 * at(x - 1, y) - at(x - 1, y + 1);
                let dy =
                    at(x - 1, y + 1) + 2.0 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2.0 * at(x, y - 1) - at(x + 1, y - 1);
                (xx, yy, xy) = (xx + dx * dx, yy + dy * dy, xy + dx * dy);
            }
        }
        let [xx, yy, xy] = [xx, yy, xy].map(|v| v / (16.0 * 49.0));
        let expected = xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy);
        assert!((expected - f64::from(response)).abs() <= 1e-5 * expected.abs().max(1e-4), "{corner:?}: {response}, not {expected}");
    }
    assert!(corners.len() > 5);
}

#[test]
fn orientation_points_to_the_bright_side() {
    let disc = Disc::new(15);
    for degrees in (0..360).step_by(15) {
        let angle = f64::from(degrees).to_radians();
        let picture = GrayImage::from_fn(64, 64, |x, y| {
            let along = (f64::from(x) - 32.0) * angle.cos() + (f64::from(y) - 32.0) * angle.sin();
            Luma([(128.0 + 2.0 * along).clamp(0.0, 255.0) as u8])
        });
        let (x, y) = disc.direction(&Bordered::new(&picture, 16), 32, 32);
        let turn = f64::from(y).atan2(f64::from(x)) - angle;
        assert!(turn.cos() > 0.999, "{degrees} degrees is off by {} radians", turn.sin().asin());
    }
    assert_eq!(disc.direction(&Bordered::new(&GrayImage::from_pixel(64, 64, Luma([9])), 16), 32, 32), (1.0, 0.0));
}

#[test]
fn a_turned_picture_has_the_same_features() {
    // A little noise, so that no two neighbouring pixels score alike and the choice does not depend
    // on reading order.
    let mut picture = grey_scene(11, 160, 160);
    for (value, extra) in picture.pixels_mut().zip(noise(12, 160, 160).pixels()) {
        value.0[0] = (u32::from(value.0[0]) * 7 / 8 + u32::from(extra.0[0]) / 8) as u8;
    }
    let options = OrbOptions { count: 150, area: 0.0, levels: 1, ..OrbOptions::default() };
    let upright = detect(&picture, &options);
    assert!(upright.keypoints.len() > 50);
    let side = 159.0;
    type Turned = fn(f32, f32, f32) -> (f32, f32);
    let turns: [(GrayImage, Turned); 3] = [
        (imageops::rotate90(&picture), |x, y, side| (side - y, x)),
        (imageops::rotate180(&picture), |x, y, side| (side - x, side - y)),
        (imageops::rotate270(&picture), |x, y, side| (y, side - x)),
    ];
    for (turned, place) in turns {
        let features = detect(&turned, &options);
        let mut found = 0;
        for (keypoint, descriptor) in upright.keypoints.iter().zip(&upright.descriptors) {
            let (x, y) = place(keypoint.x, keypoint.y, side);
            let same = features.keypoints.iter().position(|k| (k.x - x).abs() < 0.5 && (k.y - y).abs() < 0.5);
            // Pixels of a picture turned by a right angle are the same; only rounding of the
            // pattern differs.
            found += usize::from(same.is_some_and(|i| features.descriptors[i].hamming(descriptor) <= 24));
        }
        assert!(found * 10 >= upright.keypoints.len() * 9, "{found} of {} found again", upright.keypoints.len());
    }
}

#[test]
fn small_pictures_give_fewer_features_by_default() {
    let at = |side: u32, options: OrbOptions| detect(&noise(4, side, side), &options).keypoints.len();
    assert_eq!([96, 128, 640].map(|side| at(side, OrbOptions::default())), [72, 128, 500]);
    assert_eq!(at(128, OrbOptions { area: 0.0, ..OrbOptions::default() }), 500);
}

#[test]
fn pictures_without_corners_have_no_features() {
    for (width, height) in [(0, 0), (0, 5), (1, 1), (8, 8), (128, 128)] {
        let flat = GrayImage::from_pixel(width, height, Luma([77]));
        assert!(detect(&flat, &OrbOptions::default()).keypoints.is_empty());
    }
    for (width, height) in [(1, 1), (8, 8)] {
        assert!(detect(&noise(1, width, height), &OrbOptions::default()).keypoints.is_empty());
    }
}

#[test]
fn wrong_options_are_refused_in_words() {
    let wrong = [
        OrbOptions { area: -1.0, ..OrbOptions::default() },
        OrbOptions { levels: 0, ..OrbOptions::default() },
        OrbOptions { scale: 1.0, ..OrbOptions::default() },
        OrbOptions { scale: f32::NAN, ..OrbOptions::default() },
        OrbOptions { threshold: 0, ..OrbOptions::default() },
        OrbOptions { patch: 32, ..OrbOptions::default() },
    ];
    for options in wrong {
        let error = options.check().unwrap_err().to_string();
        assert!(error.starts_with("option `") && error.contains("must be"), "{error}");
    }
    OrbOptions::default().check().unwrap();
}

#[test]
fn options_out_of_range_are_taken_as_the_nearest() {
    let picture = grey_scene(2, 120, 100);
    let base = OrbOptions { edge: 4, ..OrbOptions::default() };
    let pairs = [
        (OrbOptions { patch: 0, ..base.clone() }, OrbOptions { patch: 7, ..base.clone() }),
        (OrbOptions { patch: 301, ..base.clone() }, OrbOptions { patch: 127, ..base.clone() }),
        (OrbOptions { patch: 40, ..base.clone() }, OrbOptions { patch: 39, ..base.clone() }),
        (OrbOptions { levels: 0, ..base.clone() }, OrbOptions { levels: 1, ..base.clone() }),
        (OrbOptions { levels: usize::MAX, ..base.clone() }, OrbOptions { levels: 16, ..base.clone() }),
        (OrbOptions { scale: 0.5, ..base.clone() }, OrbOptions { scale: 1.0 + f32::EPSILON, ..base.clone() }),
        (OrbOptions { scale: f32::NAN, ..base.clone() }, OrbOptions { scale: 1.0 + f32::EPSILON, ..base.clone() }),
        (OrbOptions { scale: f32::INFINITY, ..base.clone() }, OrbOptions { scale: 2.0, ..base.clone() }),
        (OrbOptions { edge: usize::MAX, ..base.clone() }, OrbOptions { edge: 1024, ..base.clone() }),
        (OrbOptions { threshold: 0, ..base.clone() }, OrbOptions { threshold: 1, ..base.clone() }),
        (OrbOptions { threshold: 255, ..base.clone() }, OrbOptions { threshold: 254, ..base.clone() }),
        (OrbOptions { spread: usize::MAX, ..base.clone() }, OrbOptions { spread: 1000, ..base.clone() }),
        (OrbOptions { area: f32::NAN, ..base.clone() }, OrbOptions { area: 0.0, ..base.clone() }),
        (OrbOptions { area: -3.0, ..base.clone() }, OrbOptions { area: 0.0, ..base.clone() }),
    ];
    for (wrong, nearest) in pairs {
        assert!(wrong.check().is_err() && nearest.check().is_ok(), "{wrong:?}");
        assert_eq!(detect(&picture, &wrong), detect(&picture, &nearest), "{wrong:?}");
    }
    assert!(!detect(&picture, &base).keypoints.is_empty());
}

/// Pixels that no library draws.
fn hatched(seed: u32) -> Bordered {
    let mixed = |x: u32, y: u32| (x * x * 7 + y * y * 13 + x * y * seed) % 251;
    Bordered::new(&GrayImage::from_fn(64, 64, |x, y| Luma([mixed(x, y) as u8])), 24)
}

/// Models on disk hold descriptors: whoever changes these must change the version with them.
#[test]
fn the_pattern_and_its_descriptors_belong_to_their_version() {
    // The hash is of the text under the name that the type had when it was pinned.
    let points = format!("{:?}", BriefPattern::new(41)).replacen("BriefPattern", "Pattern", 1);
    let descriptor = BriefPattern::new(41).describe(&gaussian_7x7(&hatched(3)), 32, 32, (0.6, 0.8));
    let found = (PATTERN_VERSION, xxhash_rust::xxh3::xxh3_64(points.as_bytes()), descriptor.to_string());
    assert_eq!(found, (1, 12_081_898_054_623_098_994, "0e9d249953a120d94b3bcbda8098ba4b04f85daaf338cf4f568fb4af77b509de".to_owned()));
}

#[test]
fn descriptors_of_different_scenes_differ() {
    let described = |seed: u64| {
        let Features { descriptors, .. } = detect(&grey_scene(seed, 160, 120), &OrbOptions::default());
        descriptors
    };
    let (ours, others) = (described(5), described(6));
    assert!(ours.len() > 20 && others.len() > 20);
    assert_eq!(ours, described(5));
    let nearest = |one: &Descriptor| others.iter().map(|other| one.hamming(other)).min().unwrap();
    let mean = ours.iter().map(nearest).sum::<u32>() as f64 / ours.len() as f64;
    assert!(mean > 40.0, "{mean} bits apart");
    let turned = |direction| BriefPattern::new(41).describe(&gaussian_7x7(&hatched(3)), 32, 32, direction);
    assert!(turned((1.0, 0.0)).hamming(&turned((0.0, 1.0))) > 40);
}

#[test]
fn features_spread_over_more_cells_than_the_densest() {
    // Noise in one corner is stronger than the faint scene around it.
    let (mut picture, dense) = (grey_scene(9, 256, 256), noise(10, 64, 64));
    picture.pixels_mut().for_each(|pixel| pixel.0[0] = 96 + pixel.0[0] / 4);
    imageops::replace(&mut picture, &dense, 0, 0);
    let cells = |spread: usize| {
        let options = OrbOptions { count: 60, area: 0.0, levels: 1, threshold: 5, spread, ..OrbOptions::default() };
        let found = detect(&picture, &options).keypoints;
        assert_eq!(found.len(), 60);
        found.iter().map(|k| (k.x as u32 / 32, k.y as u32 / 32)).collect::<BTreeSet<_>>().len()
    };
    assert!(cells(5) > cells(0) + 5, "{} cells, and {} without a limit", cells(5), cells(0));
}

#[test]
fn upright_patches_are_described_as_they_stand() {
    let picture = grey_scene(7, 160, 120);
    let options = OrbOptions { levels: 1, ..OrbOptions::default() };
    let (turned, upright) = (detect(&picture, &options), detect(&picture, &OrbOptions { upright: true, ..options.clone() }));
    assert!(upright.keypoints.iter().all(|k| k.angle == 0.0) && turned.keypoints.iter().any(|k| k.angle.abs() > 1.0));
    let smooth = gaussian_7x7(&Bordered::new(&picture, 24));
    let pattern = BriefPattern::new(options.patch);
    for (keypoint, descriptor) in upright.keypoints.iter().zip(&upright.descriptors) {
        assert_eq!(*descriptor, pattern.describe(&smooth, keypoint.x as usize, keypoint.y as usize, (1.0, 0.0)));
    }
    assert_ne!(turned.descriptors, upright.descriptors);
}

#[test]
fn levels_shrink_by_the_factor_and_know_their_place() {
    let levels = pyramid(&grey_scene(1, 200, 100), 8, 1.2, 20, 4);
    assert_eq!(levels.len(), 8);
    for (i, level) in levels.iter().enumerate() {
        assert_eq!(level.picture.width, (200.0 / 1.2f64.powi(i as i32)).round() as usize);
        let (x, y) = level.to_full(level.picture.width - 1, level.picture.height - 1);
        assert!((x - 199.0).abs() <= level.scale.0 && (y - 99.0).abs() <= level.scale.1, "level {i} ends at {x}, {y}");
    }
    assert_eq!(pyramid(&grey_scene(1, 30, 30), 8, 1.2, 20, 4).len(), 3);
}
