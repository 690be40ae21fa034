//! Features against slow and obvious versions of their steps, and against turned pictures.

use image::{GrayImage, Luma, imageops};
use imageproc::corners::corners_fast9;
use proptest::prelude::*;
use tessera_core::features::fast::{self, CIRCLE, Corner};
use tessera_core::features::orientation::Disc;
use tessera_core::features::{OrbOptions, detect, harris};
use tessera_core::picture::pyramid::{Bordered, pyramid};

use crate::scenes::{grey_scene, noise};

/// The largest difference that all of nine neighbouring circle pixels exceed or reach, in one direction.
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
    // A little noise, so that no two neighbouring pixels score alike and the choice does not depend on reading order.
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
            // Pixels of a picture turned by a right angle are the same; only rounding of the pattern differs.
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
