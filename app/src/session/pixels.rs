//! The pixels of a query: an image of the library, a file, or a picture from elsewhere.

use std::path::{Path, PathBuf};

use image::RgbImage;
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::spellings;
use tessera_core::library::state::State;
use tessera_core::picture::Picture;
use tessera_core::{Error, Result};

use super::Session;
use crate::command::ImageQuery;

/// The picture of a query.
pub(super) struct Pixels {
    /// Its name.
    pub(super) name: String,
    /// The image of the library, if it is one.
    pub(super) item: Option<ItemId>,
    /// Its file, if it has one.
    pub(super) path: Option<PathBuf>,
    /// The picture, shrunk where it is large.
    pub(super) picture: Picture,
}

impl Session {
    /// The picture of a query, shrunk to `side` pixels if it is larger; `state` is that of the
    /// library it may be in.
    ///
    /// # Errors
    /// As [`tessera_core::picture::Decoder::decode`]; [`Error::Data`] for an image of the library
    /// without a file.
    pub(super) fn pixels_of(&self, query: &ImageQuery, state: Option<&State>, side: u32) -> Result<Pixels> {
        let at = |path: &Path| {
            let (state, paths) = (state?, spellings(path).collect::<Vec<_>>());
            state.images().find(|image| image.places.iter().any(|place| paths.contains(&state.full_path(place))))
        };
        let (item, path) = match query {
            ImageQuery::Item(id) => (Some(*id), state.and_then(|state| state.path_of(state.image(*id)?))),
            ImageQuery::File(path) => (at(path).map(|image| image.id), Some(path.clone())),
            ImageQuery::Pixels(_) => (None, None),
        };
        let picture = match (query, &path) {
            (ImageQuery::Pixels(pixels), _) => Picture::shrunk(RgbImage::clone(pixels), side),
            (_, Some(path)) => self.picture(path, side)?,
            _ => {
                let name = item.map_or_else(|| "an image".to_owned(), |id| format!("#{}", id.0));
                return Err(Error::data(Path::new(&name), "an image of the open library", "none of that number", "choose another image"));
            }
        };
        let name = path.as_deref().map_or_else(|| "Pasted image".to_owned(), display);
        Ok(Pixels { name, item, path, picture })
    }
}
