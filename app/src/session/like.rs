//! What images are to look like: an image of the library, a file, or a part of either.

use std::sync::{Arc, Mutex};

use image::RgbImage;
use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::import::hold;
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::decode::SIDE;
pub use tessera_core::picture::part::LEAST;
use tessera_core::picture::thumbnail;

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
    /// What a picture, or a part of it, looks like. A whole image of the library is known by its
    /// thumbnail, wherever its file is.
    ///
    /// # Errors
    /// As [`tessera_core::picture::Decoder::decode`]; [`tessera_core::Error::Option`] for a part
    /// that is not in the picture or very small.
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
        let part = match crop {
            None => thumbnail::shrink(&from.picture.pixels),
            Some(crop) => thumbnail::shrink(&from.picture.part(crop.0)?),
        };
        Ok(Like::new(from.name, from.item, crop, part))
    }

    /// Brings the appearances of a library's images into the machine. Others have the library in
    /// between.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn load_appearances(&self, library: &Mutex<Library>) -> Result<()> {
        let mut total = None;
        loop {
            let left = hold(library).load_appearances(TURN)?;
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
