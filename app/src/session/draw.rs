//! Draws an explanation: the query beside the training images that won most of its pieces, with
//! matches joined by lines.

use std::path::PathBuf;

use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};
use imageproc::drawing::{draw_filled_circle_mut, draw_hollow_circle_mut, draw_hollow_rect_mut, draw_line_segment_mut};
use imageproc::rect::Rect;
use tessera_core::ckm::explain::{Contribution, Explanation, Match};
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ids::ItemId;
use tessera_core::picture::Picture;
use tessera_core::picture::decode::SIDE;

use super::Session;
use super::recognise::RecognisedImage;

const BACKGROUND: Rgb<u8> = Rgb([250, 250, 248]);
const FRAME: Rgb<u8> = Rgb([190, 190, 190]);
const MARGIN: u32 = 16;
const QUERY_SIDE: u32 = 480;
const TILE_SIDE: u32 = 232;
const COLUMNS: u32 = 3;
/// Training images shown.
const TILES: usize = 6;
/// Matches drawn in each of them.
const MATCHES: usize = 5;

/// The colours of the training images: different hues of similar lightness.
pub const COLOURS: [Rgb<u8>; TILES] =
    [Rgb([214, 62, 62]), Rgb([35, 120, 200]), Rgb([40, 150, 80]), Rgb([205, 120, 20]), Rgb([140, 80, 190]), Rgb([20, 150, 160])];

/// A drawn explanation.
pub struct Drawing {
    /// The picture.
    pub picture: RgbImage,
    /// Training images that were not found; their frames are empty.
    pub missing: usize,
}

/// A picture scaled to fit a square, and where it was put.
struct Placed {
    left: u32,
    top: u32,
    scale: f32,
}

impl Placed {
    fn at(&self, position: [f32; 2]) -> (f32, f32) {
        (self.left as f32 + (position[0] + 0.5) * self.scale, self.top as f32 + (position[1] + 0.5) * self.scale)
    }
}

impl Session {
    /// Draws why the first of `explanations` won against the second (or, alone, what it is made
    /// of). Each of the training images that decided it is framed in a colour of its own; circles
    /// and lines of that colour join its most decisive pieces with those of the query. A training
    /// image whose file, as `find` tells it, is not there any more stays an empty frame.
    pub fn draw_explanation(
        &self,
        model: &RecogniserModel,
        answer: &RecognisedImage,
        explanations: &[Explanation],
        find: &dyn Fn(ItemId, &str) -> PathBuf,
    ) -> Drawing {
        let width = MARGIN * (COLUMNS + 2) + QUERY_SIDE + COLUMNS * TILE_SIDE;
        let mut canvas = RgbImage::from_pixel(width, QUERY_SIDE + 2 * MARGIN, BACKGROUND);
        let mut missing = 0;
        let query = place(&mut canvas, &answer.picture, (MARGIN, MARGIN), QUERY_SIDE);
        for (tile, (image, pieces)) in winners(explanations).into_iter().enumerate() {
            let (column, row) = (tile as u32 % COLUMNS, tile as u32 / COLUMNS);
            let corner = (2 * MARGIN + QUERY_SIDE + column * (TILE_SIDE + MARGIN), MARGIN + row * (TILE_SIDE + MARGIN));
            let colour = COLOURS[tile];
            let placed = match self.picture(&find(image.image, &image.name), SIDE) {
                Ok(picture) => place(&mut canvas, &picture, corner, TILE_SIDE),
                Err(_) => {
                    missing += 1;
                    let size = model.ckm.examples().find(|(_, e)| e.id == image.image).map_or((1, 1), |(_, e)| e.elements.size());
                    fitted(size, corner, TILE_SIDE).0
                }
            };
            for inset in 0..3 {
                let rect = Rect::at((corner.0 + inset) as i32, (corner.1 + inset) as i32);
                draw_hollow_rect_mut(&mut canvas, rect.of_size(TILE_SIDE - 2 * inset, TILE_SIDE - 2 * inset), colour);
            }
            for (contribution, matched, _) in pieces.iter().take(MATCHES) {
                let (from, to) = (query.at(contribution.position), placed.at(matched.position));
                draw_line_segment_mut(&mut canvas, from, to, colour);
                for (end, radius) in [(from, 7), (to, 5)] {
                    let end = (end.0 as i32, end.1 as i32);
                    draw_hollow_circle_mut(&mut canvas, end, radius, colour);
                    draw_filled_circle_mut(&mut canvas, end, 2, colour);
                }
            }
        }
        Drawing { picture: canvas, missing }
    }
}

/// A piece of the query, the training element it was matched with, and the lead it gave.
pub(super) type Piece<'a> = (&'a Contribution, &'a Match, f64);

/// The training images that decided most, with their pieces, each list the most decisive first.
pub(super) fn winners(explanations: &[Explanation]) -> Vec<(&Match, Vec<Piece<'_>>)> {
    let pieces = match explanations {
        [] => Vec::new(),
        [only] => only.contributions.iter().map(|c| (c, c.value)).collect(),
        [best, second, ..] => best.against(second),
    };
    let mut images: Vec<(ItemId, f64, Vec<Piece<'_>>)> = Vec::new();
    for (contribution, lead) in pieces.into_iter().filter(|(_, lead)| *lead > 0.0) {
        let Some(matched) = &contribution.matched else { continue };
        match images.iter_mut().find(|(id, ..)| *id == matched.image) {
            Some((_, sum, pieces)) => {
                *sum += lead;
                pieces.push((contribution, matched, lead));
            }
            None => images.push((matched.image, lead, vec![(contribution, matched, lead)])),
        }
    }
    images.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    images.into_iter().take(TILES).map(|(_, _, pieces)| (pieces[0].1, pieces)).collect()
}

/// Where a picture of `size` comes to lie in the middle of a square, and how large it is there.
fn fitted(size: (u32, u32), corner: (u32, u32), side: u32) -> (Placed, (u32, u32)) {
    let scale = side as f32 / size.0.max(size.1).max(1) as f32;
    let [width, height] = [size.0, size.1].map(|length| ((length as f32 * scale) as u32).clamp(1, side));
    (Placed { left: corner.0 + (side - width) / 2, top: corner.1 + (side - height) / 2, scale }, (width, height))
}

fn place(canvas: &mut RgbImage, picture: &Picture, corner: (u32, u32), side: u32) -> Placed {
    let (placed, (width, height)) = fitted(picture.size, corner, side);
    let scaled = imageops::resize(&picture.pixels, width, height, FilterType::CatmullRom);
    draw_hollow_rect_mut(canvas, Rect::at(corner.0 as i32, corner.1 as i32).of_size(side, side), FRAME);
    imageops::replace(canvas, &scaled, i64::from(placed.left), i64::from(placed.top));
    placed
}
