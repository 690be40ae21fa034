//! What images are to look like: an image of the library, a file, or a part of either.

use std::sync::{Arc, Mutex};

use image::RgbImage;
use image::imageops::crop_imm;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::thumbnail;
use tessera_core::{Error, Result};

use super::Session;
use crate::command::{Crop, ImageQuery};

/// What is to be looked like.
#[derive(Clone, Debug)]
pub struct Like {
    /// What it is, in words.
    pub name: String,
    /// The image of the library, if it is one.
    pub item: Option<ItemId>,
    /// The part of it that counts.
    pub crop: Option<Crop>,
    /// That part, small.
    pub picture: Arc<RgbImage>,
    /// What it looks like.
    pub appearance: Appearance,
}

/// Images whose appearances are brought into the machine at one time.
const TURN: usize = 1000;
/// The longer side, in pixels, of a picture of which a part is wanted.
const CLOSE: u32 = 8192;
/// The least side of a part, in pixels.
pub const LEAST: u32 = 8;

/// Where a stretch of a side lies when the side is shrunk: at least one pixel.
fn shrunk(start: u32, length: u32, all: u32, to: u32) -> (u32, u32) {
    let scaled = |value: u32| u64::from(value) * u64::from(to);
    let from = (scaled(start) / u64::from(all.max(1))).min(u64::from(to.saturating_sub(1)));
    let end = scaled(start + length).div_ceil(u64::from(all.max(1))).clamp(from + 1, u64::from(to.max(1)));
    (from as u32, end as u32)
}

impl Like {
    /// What it is, in few words: its file's name, or a part of that.
    pub fn short_name(&self) -> String {
        let name = std::path::Path::new(&self.name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if self.crop.is_some() { format!("a part of {name}") } else { name }
    }

    fn new(name: String, item: Option<ItemId>, crop: Option<Crop>, picture: RgbImage) -> Self {
        Self { name, item, crop, appearance: Appearance::of(&picture), picture: Arc::new(picture) }
    }
}

impl Session {
    /// What a picture, or a part of it, looks like. A whole image of the library is known by its thumbnail, wherever its file is.
    ///
    /// # Errors
    /// As [`tessera_core::picture::Decoder::decode`]; [`Error::Option`] for a part that is not in the picture or very small.
    pub fn like(&self, library: &Mutex<Library>, query: &ImageQuery, crop: Option<Crop>) -> Result<Like> {
        let state = hold(library).state().clone();
        if let (ImageQuery::Item(id), None) = (query, crop)
            && let Some(image) = state.image(*id)
            && let Some(small) = hold(library).thumbnail(*id)?.and_then(|jpeg| thumbnail::decode(&jpeg))
        {
            return Ok(Like::new(image.name(), Some(*id), None, small));
        }
        // Of a part of a large picture too little would be left when the whole is shrunk.
        let side = if crop.is_some() { CLOSE } else { SIDE };
        let from = self.pixels_of(query, Some(&state), side)?;
        let (pixels, size) = (&from.picture.pixels, from.picture.size);
        let part = match crop {
            None => thumbnail::shrink(pixels),
            Some(crop) => {
                let [x, y, width, height] = crop.0;
                let is_inside = |start: u32, length: u32, all: u32| start.checked_add(length).is_some_and(|end| end <= all);
                if width < LEAST || height < LEAST || !is_inside(x, width, size.0) || !is_inside(y, height, size.1) {
                    return Err(Error::Option {
                        name: "crop",
                        found: format!("{x},{y},{width},{height} of a picture of {} x {} pixels", size.0, size.1),
                        expected: "X,Y,WIDTH,HEIGHT in pixels, a part within the picture of at least 8 by 8",
                    });
                }
                let (from_x, to_x) = shrunk(x, width, size.0, pixels.width());
                let (from_y, to_y) = shrunk(y, height, size.1, pixels.height());
                let part = crop_imm(pixels, from_x, from_y, to_x - from_x, to_y - from_y).to_image();
                thumbnail::shrink(&part)
            }
        };
        Ok(Like::new(from.name, from.item, crop, part))
    }

    /// Brings the appearances of a library's images into the machine. Others have the library in between.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Cancelled`].
    pub fn bring_appearances(&self, library: &Mutex<Library>) -> Result<()> {
        let mut total = None;
        loop {
            let left = hold(library).bring_appearances(TURN)?;
            let all = *total.get_or_insert(left);
            if all > 0 && left == all {
                self.progress().begin("Looking at images", all.div_ceil(TURN) as u64);
            }
            if left == 0 {
                return Ok(());
            }
            self.progress().step()?;
        }
    }
}
