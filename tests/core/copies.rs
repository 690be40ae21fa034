//! Near copies: found in every turn and crop, told from other pictures, grouped without chains.

use image::{Rgb, RgbImage, imageops};
use proptest::prelude::*;
use tessera_core::copies::{
    CropWindow, Extent, NEAR, Relation, SIMILAR, Signature, Turn, candidates, compare, compare_within, groups, pixel_difference,
};
use tessera_core::picture::resize;
use tessera_core::progress::Progress;

/// A picture of 40 discs of any size, place and colour, others for each seed.
pub(crate) fn discs(seed: u64, width: u32, height: u32) -> RgbImage {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut draw = |n: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as u32 % n
    };
    let mut picture = RgbImage::from_pixel(width, height, Rgb([90, 110, 130]));
    for _ in 0..40 {
        let (x, y, radius) = (draw(width), draw(height), 4 + draw((width.min(height) / 4).max(1)));
        let colour = Rgb([draw(256) as u8, draw(256) as u8, draw(256) as u8]);
        for (px, py, pixel) in picture.enumerate_pixels_mut() {
            if px.abs_diff(x).pow(2) + py.abs_diff(y).pow(2) < radius * radius {
                *pixel = colour;
            }
        }
    }
    picture
}

/// The candidates among some pictures, and the distance of each.
fn measured(pictures: &[RgbImage]) -> Vec<(usize, usize, Turn, f64)> {
    let signatures: Vec<Signature> = pictures.iter().map(Signature::of).collect();
    let found = candidates(&signatures, &Progress::default()).unwrap();
    let distance = |from: usize, to: usize, turn: Turn, window: CropWindow| {
        compare(&turn.of(&pictures[from]), &pictures[to], turn.window(window)).distance
    };
    found.into_iter().map(|c| (c.from, c.to, c.turn, distance(c.from, c.to, c.turn, c.window))).collect()
}

#[test]
fn turns_are_rotations_after_mirroring() {
    let picture = discs(1, 30, 20);
    for turn in Turn::ALL {
        let mirrored = if turn.mirrors() { imageops::flip_horizontal(&picture) } else { picture.clone() };
        let expected = match turn.degrees() {
            90 => imageops::rotate90(&mirrored),
            180 => imageops::rotate180(&mirrored),
            270 => imageops::rotate270(&mirrored),
            _ => mirrored,
        };
        assert_eq!(turn.of(&picture), expected, "{turn:?}");
        assert_eq!(turn.inverse().of(&turn.of(&picture)), picture, "{turn:?}");
    }
}

#[test]
fn a_part_lies_in_the_turned_picture_where_its_pixels_do() {
    let picture = discs(2, 40, 20);
    let part = CropWindow { x: (0.25, 0.75), y: (0.0, 0.5) };
    let cut = |picture: &RgbImage, CropWindow { x, y }: CropWindow| {
        let (w, h) = (picture.width() as f32, picture.height() as f32);
        let at = |share: f32, of: f32| (share * of) as u32;
        imageops::crop_imm(picture, at(x.0, w), at(y.0, h), at(x.1 - x.0, w), at(y.1 - y.0, h)).to_image()
    };
    for turn in Turn::ALL {
        assert_eq!(cut(&turn.of(&picture), turn.window(part)), turn.of(&cut(&picture, part)), "{turn:?}");
    }
}

#[test]
fn copies_in_every_turn_are_found_among_others() {
    for turn in Turn::ALL {
        let mut pictures: Vec<RgbImage> = (0..6).map(|seed| discs(seed, 90, 70)).collect();
        pictures.push(turn.of(&pictures[3]));
        let mut near: Vec<_> = measured(&pictures).into_iter().filter(|(.., distance)| *distance <= SIMILAR).collect();
        near.sort_by(|a, b| a.3.total_cmp(&b.3));
        let (from, to, found, distance) = near[0];
        assert_eq!((from, to, found), (3, 6, turn), "{near:?}");
        assert!(distance < 0.01, "{turn:?}: {distance}");
        // The same pair the other way round is the only other one.
        assert!(near[1..].iter().all(|(from, to, found, _)| (*from, *to, *found) == (6, 3, turn.inverse())), "{turn:?}: {near:?}");
    }
}

#[test]
fn crops_and_small_versions_are_near_in_every_turn() {
    let picture = discs(9, 160, 120);
    let crops =
        [(16, 0, 144, 120), (0, 0, 144, 120), (0, 12, 160, 108), (0, 0, 160, 108), (8, 6, 144, 108), (0, 6, 160, 108), (10, 0, 150, 120)];
    for (x, y, width, height) in crops {
        let crop = imageops::crop_imm(&picture, x, y, width, height).to_image();
        for (small, turn) in [(crop.clone(), Turn::ALL[0]), (resize::resize_rgb(&crop, width / 2, height / 2), Turn::ALL[5])] {
            let near: Vec<_> = measured(&[discs(10, 160, 120), picture.clone(), turn.of(&small)]);
            let near: Vec<_> = near.into_iter().filter(|(.., distance)| *distance <= NEAR).collect();
            assert!(near.iter().any(|(from, to, found, _)| (*from, *to, *found) == (1, 2, turn)), "{x} {y} {width} {height}: {near:?}");
        }
    }
}

#[test]
fn another_colour_or_another_place_is_another_picture() {
    let picture = discs(4, 128, 128);
    let compared = |other: &RgbImage| {
        let found = compare(&picture, other, CropWindow::WHOLE);
        for most in [NEAR, SIMILAR, found.distance, 100.0] {
            let within = compare_within(&picture, other, CropWindow::WHOLE, most);
            assert_eq!(within, (found.distance <= most).then_some(found));
        }
        found.distance
    };
    assert_eq!(compared(&picture), 0.0);
    let mut blue = picture.clone();
    blue.pixels_mut().for_each(|pixel| pixel.0.swap(0, 2));
    assert!(compared(&blue) > NEAR, "{}", compared(&blue));
    let mut moved = picture.clone();
    imageops::replace(&mut moved, &imageops::crop_imm(&picture, 30, 30, 40, 40).to_image(), 42, 30);
    assert!(compared(&moved) > NEAR, "{}", compared(&moved));
    for seed in 20..30 {
        assert!(compared(&discs(seed, 128, 128)) > 4.0 * SIMILAR);
    }
    assert_eq!(compared(&RgbImage::new(0, 5)), 100.0);
}

#[test]
fn flat_pictures_are_no_candidates() {
    let plain = |grey: u8| RgbImage::from_pixel(60, 50, Rgb([grey; 3]));
    let slope = |step: u32| RgbImage::from_fn(64, 64, |x, y| Rgb([(x * step + y) as u8; 3]));
    let flat = [plain(0), plain(0), plain(255), slope(1), slope(1), slope(2), RgbImage::new(1, 1), RgbImage::new(0, 0)];
    assert!(flat.iter().all(|picture| Signature::of(picture).is_flat()));
    assert_eq!(measured(&flat), []);
    assert!(!Signature::of(&discs(1, 60, 50)).is_flat());
}

#[test]
fn little_and_odd_input_is_answered() {
    assert_eq!(measured(&[]), []);
    assert_eq!(measured(&[discs(1, 50, 50)]), []);
    let thin = |seed| discs(seed, 200, 3);
    let near = measured(&[thin(1), thin(2), thin(1)]);
    assert!(near.iter().all(|(.., distance)| distance.is_finite()), "{near:?}");
    assert!(near.iter().any(|(from, to, _, distance)| (*from, *to) == (0, 2) && *distance == 0.0), "{near:?}");
}

#[test]
fn what_was_done_is_said_in_words_and_backwards() {
    let of = |turn: usize, part, is_resized| Relation::Changed { turn: Turn::ALL[turn], part, is_resized };
    let said = [
        (Relation::Identical, "identical", "identical"),
        (Relation::SamePixels, "same pixels", "same pixels"),
        (of(0, Extent::Whole, false), "recompressed", "recompressed"),
        (of(0, Extent::Whole, true), "resized", "resized"),
        (of(5, Extent::Whole, false), "rotated 90", "rotated 270"),
        (of(7, Extent::Cropped, false), "mirrored, rotated 90, cropped", "mirrored, rotated 90, extended"),
        (of(1, Extent::Whole, true), "mirrored, resized", "mirrored, resized"),
    ];
    for (relation, words, backwards) in said {
        assert_eq!((relation.to_string().as_str(), relation.inverse().to_string().as_str()), (words, backwards));
    }
}

proptest! {
    #[test]
    fn groups_are_stars_and_share_nothing(n in 1usize..12, pairs in prop::collection::vec((0usize..12, 0usize..12), 0..30)) {
        let pairs: Vec<(usize, usize)> = pairs.into_iter().filter(|(a, b)| a != b && *a < n && *b < n).collect();
        let is_pair = |a: usize, b: usize| pairs.contains(&(a, b)) || pairs.contains(&(b, a));
        let best_first: Vec<usize> = (0..n).rev().collect();
        let found = groups(&best_first, pairs.iter().copied());
        let mut seen: Vec<usize> = found.iter().flatten().copied().collect();
        for group in &found {
            prop_assert!(group.len() > 1 && group[1..].iter().all(|copy| *copy < group[0] && is_pair(group[0], *copy)));
        }
        // No pair is left over whole.
        for (a, b) in &pairs {
            prop_assert!(seen.contains(a) || seen.contains(b));
        }
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len(), all);
    }
}

#[test]
fn a_difference_lies_where_it_was_made() {
    let progress = Progress::default();
    let picture = discs(11, 320, 240);
    for turn in Turn::ALL {
        let same = pixel_difference(&picture, &turn.of(&picture), &progress).unwrap();
        assert_eq!((same.mean, same.largest, same.picture.dimensions()), (0.0, 0, (320, 240)), "{turn:?}");
    }
    // A stain on a mirrored copy lies where it is in the picture.
    let mut stained = imageops::flip_horizontal(&picture);
    let stain = |x: u32, y: u32| (30..50).contains(&x) && (60..80).contains(&y);
    stained.enumerate_pixels_mut().filter(|(x, y, _)| stain(*x, *y)).for_each(|(.., pixel)| *pixel = Rgb([255, 255, 255]));
    let found = pixel_difference(&picture, &stained, &progress).unwrap();
    for (x, y, pixel) in found.picture.enumerate_pixels() {
        let is_stained = stain(319 - x, y);
        assert!(is_stained || *pixel == Rgb([0; 3]), "{x}, {y}: {pixel:?}");
    }
    assert!(found.mean > 0.0 && found.largest > 100);
    // What a crop took away is not compared, whichever of both is the picture.
    let cropped = imageops::crop_imm(&picture, 32, 0, 288, 240).to_image();
    let part = pixel_difference(&picture, &cropped, &progress).unwrap();
    assert!(part.mean < 3.0, "{}", part.mean);
    assert!((0..28).all(|x| part.picture.get_pixel(x, 100) == part.picture.get_pixel(0, 0)) && part.picture.get_pixel(0, 0)[2] > 50);
    let whole = pixel_difference(&cropped, &picture, &progress).unwrap();
    assert!(whole.mean < 3.0 && whole.picture.dimensions() == (288, 240), "{}", whole.mean);
    // Nothing to lay in line, and nothing at all.
    let flat = RgbImage::from_pixel(20, 10, Rgb([7; 3]));
    assert_eq!(pixel_difference(&flat, &RgbImage::from_pixel(10, 10, Rgb([9; 3])), &progress).unwrap().mean, 2.0);
    assert_eq!(pixel_difference(&RgbImage::new(0, 0), &flat, &progress).unwrap().mean, 0.0);
}
