//! The best virtual instance as a picture: pieces of training images, painted where the query has
//! the pieces that they were matched with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use image::{RgbImage, Rgba, RgbaImage};
use tessera_core::ckm::ElementSource;
use tessera_core::ckm::explain::Explanation;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ids::ItemId;
use tessera_core::picture::Picture;
use tessera_core::picture::decode::SIDE;

use super::Session;
use super::recognise::RecognisedImage;

/// Pixels of a collage's longer side at most.
const LONGER: u32 = 512;
/// The weight of pieces at which a pixel of the collage is opaque.
const OPAQUE: f32 = 0.12;

/// A collage of pieces of training images.
#[derive(Clone, Debug)]
pub struct Collage {
    /// The picture, as large as the query or shrunk like it; transparent where nothing was matched.
    pub picture: RgbaImage,
    /// The pieces in it, those that add most to the score first.
    pub pieces: Vec<CollagePiece>,
    /// Training images that were not found; their pieces are not painted.
    pub missing: usize,
}

/// A piece of a training image in a collage.
#[derive(Clone, Debug, PartialEq)]
pub struct CollagePiece {
    /// Its middle in the query's own pixels.
    pub middle: [f32; 2],
    /// Half of its side in the query's own pixels.
    pub half: f32,
    /// The training image.
    pub image: ItemId,
    /// Its name.
    pub name: String,
    /// Whether it was painted: the file of the training image was there.
    pub is_painted: bool,
    /// What it adds to the score.
    pub value: f64,
}

impl CollagePiece {
    /// Whether a position in the query's own pixels lies in it.
    pub fn holds(&self, [x, y]: [f32; 2]) -> bool {
        (x - self.middle[0]).abs() <= self.half && (y - self.middle[1]).abs() <= self.half
    }
}

impl Collage {
    /// The piece at a position in the query's own pixels; of several the one whose middle is
    /// nearest.
    pub fn piece_at(&self, at: [f32; 2]) -> Option<usize> {
        let far = |piece: &CollagePiece| (piece.middle[0] - at[0]).powi(2) + (piece.middle[1] - at[1]).powi(2);
        let there = self.pieces.iter().enumerate().filter(|(_, piece)| piece.is_painted && piece.holds(at));
        there.min_by(|(_, a), (_, b)| far(a).total_cmp(&far(b))).map(|(i, _)| i)
    }
}

/// Sums of colours and weights, from which the collage is blended.
struct Canvas {
    width: u32,
    height: u32,
    sums: Vec<[f32; 4]>,
}

impl Canvas {
    fn new((width, height): (u32, u32)) -> Self {
        Self { width, height, sums: vec![[0.0; 4]; (width * height) as usize] }
    }

    /// Paints the square of a picture around `from` over the square around `to`; weights fall from
    /// the middle to the edges.
    fn paint(&mut self, to: [f32; 2], to_half: f32, picture: &RgbImage, from: [f32; 2], from_half: f32, strength: f32) {
        let range = |middle: f32, length: u32| {
            let low = (middle - to_half).floor().clamp(0.0, length as f32) as u32;
            low..(middle + to_half).ceil().clamp(0.0, length as f32) as u32
        };
        for y in range(to[1], self.height) {
            let v = (y as f32 + 0.5 - to[1]) / to_half;
            for x in range(to[0], self.width) {
                let u = (x as f32 + 0.5 - to[0]) / to_half;
                let weight = strength * (1.0 - u.abs()).max(0.0) * (1.0 - v.abs()).max(0.0);
                let Some(colour) = sample(picture, from[0] + u * from_half, from[1] + v * from_half) else { continue };
                let sum = &mut self.sums[(y * self.width + x) as usize];
                for (sum, value) in sum.iter_mut().zip(colour) {
                    *sum += weight * value;
                }
                sum[3] += weight;
            }
        }
    }

    fn finish(self) -> RgbaImage {
        let pixel = |x: u32, y: u32| {
            let [r, g, b, weight] = self.sums[(y * self.width + x) as usize];
            let of = |sum: f32| if weight > 0.0 { (sum / weight).round() as u8 } else { 0 };
            Rgba([of(r), of(g), of(b), (255.0 * (weight / OPAQUE).min(1.0)).round() as u8])
        };
        RgbaImage::from_fn(self.width, self.height, pixel)
    }
}

/// The colour at a position, blended from the four pixels around it; `None` outside of the picture.
fn sample(picture: &RgbImage, x: f32, y: f32) -> Option<[f32; 3]> {
    let (width, height) = (picture.width() as f32, picture.height() as f32);
    if !(0.0..width).contains(&x) || !(0.0..height).contains(&y) {
        return None;
    }
    let (x, y) = ((x - 0.5).clamp(0.0, width - 1.0), (y - 0.5).clamp(0.0, height - 1.0));
    let (left, top) = (x as u32, y as u32);
    let (right, bottom) = ((left + 1).min(picture.width() - 1), (top + 1).min(picture.height() - 1));
    let (u, v) = (x - left as f32, y - top as f32);
    let at = |x: u32, y: u32| picture.get_pixel(x, y).0.map(f32::from);
    let (a, b, c, d) = (at(left, top), at(right, top), at(left, bottom), at(right, bottom));
    Some(std::array::from_fn(|i| (a[i] * (1.0 - u) + b[i] * u) * (1.0 - v) + (c[i] * (1.0 - u) + d[i] * u) * v))
}

/// Working pixels of the side of what an element describes.
fn extent(source: &ElementSource, side: u32) -> f32 {
    match source {
        ElementSource::Orb(options) => options.patch as f32,
        ElementSource::Hog(options) => 2.0 * options.cell as f32,
        ElementSource::Colour(options) => side as f32 / options.grid.max(1) as f32,
        ElementSource::Network(options) => side as f32 / options.grid.max(1) as f32,
        ElementSource::Encoder(options) => side as f32 / options.grid.max(1) as f32,
        _ => side as f32 / 8.0,
    }
}

impl Session {
    /// Paints the best virtual instance of an explained class: each matched piece of a training
    /// image where the query has its own, blended with its neighbours by likeness. Pieces of images
    /// whose files, as `find` tells them, are not there any more are left out.
    pub fn draw_collage(
        &self,
        model: &RecogniserModel,
        answer: &RecognisedImage,
        explanation: &Explanation,
        find: &dyn Fn(ItemId, &str) -> PathBuf,
    ) -> Collage {
        let options = model.ckm.options();
        let longer = |size: (u32, u32)| size.0.max(size.1).max(1) as f32;
        let own = answer.picture.size;
        let shrunk = (longer(own).min(LONGER as f32)) / longer(own);
        let mut canvas = Canvas::new((scaled(own.0, shrunk), scaled(own.1, shrunk)));
        let mut pictures: BTreeMap<ItemId, Option<Picture>> = BTreeMap::new();
        let mut pieces = Vec::new();
        let matched = explanation.contributions.iter().filter_map(|c| Some((c, c.matched.as_ref()?))).filter(|(c, _)| c.likeness > 0.0);
        for (contribution, matched) in matched {
            let open = || self.picture(&find(matched.image, &matched.name), SIDE).ok();
            let picture = &*pictures.entry(matched.image).or_insert_with(open);
            let half = extent(&options.kinds[contribution.kind].source, options.side) / 2.0;
            // Positions of elements are those of pixels, whose middles are half a pixel further.
            let middle = contribution.position.map(|position| position + 0.5);
            let own_half = half * longer(own) / options.side as f32;
            if let Some(picture) = picture {
                let scale = longer(picture.pixels.dimensions()) / longer(picture.size);
                let from = matched.position.map(|position| (position + 0.5) * scale);
                let from_half = half * longer(picture.size) / options.side as f32 * scale;
                let to = middle.map(|position| position * shrunk);
                canvas.paint(to, own_half * shrunk, &picture.pixels, from, from_half, contribution.likeness.powi(2));
            }
            pieces.push(CollagePiece {
                middle,
                half: own_half,
                image: matched.image,
                name: matched.name.clone(),
                is_painted: picture.is_some(),
                value: contribution.value,
            });
        }
        let missing = pictures.values().filter(|picture| picture.is_none()).count();
        Collage { picture: canvas.finish(), pieces, missing }
    }
}

/// A length in pixels, scaled; at least 1.
fn scaled(length: u32, by: f32) -> u32 {
    ((length as f32 * by).round() as u32).max(1)
}
