//! Search by visual similarity: the image that hits are to resemble, from the library or a file, as
//! a whole or in part.

use std::sync::{Arc, Mutex};

use image::RgbImage;
use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::import::hold;
use tessera_core::library::looks::{self, Look, LookQuery, PartSeen};
use tessera_core::library::{Glimpse, Library};
use tessera_core::network::Network;
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::decode::SIDE;
pub use tessera_core::picture::part::LEAST;
use tessera_core::picture::thumbnail;

use super::Session;
use crate::command::{Crop, ImageQuery};

/// The image that hits are to resemble.
#[derive(Clone, Debug)]
pub struct ReferenceImage {
    /// Its name.
    pub name: String,
    /// The image of the library, if it is one.
    pub item: Option<ItemId>,
    /// The part of it that is compared with parts of others, which may be all of it; `None` where
    /// it is compared as a whole.
    pub crop: Option<Crop>,
    /// That part, small.
    pub picture: Arc<RgbImage>,
    /// The whole image, small.
    pub whole: Arc<RgbImage>,
    /// The whole image's own width and height.
    pub size: (u32, u32),
    /// Its appearance.
    pub appearance: Appearance,
    /// What the network sees in it, where learned features are on.
    pub glimpse: Option<Glimpse>,
    /// What the network sees in its quarters, where a part of it is compared.
    pub part: Option<Arc<PartSeen>>,
}

/// The longer side, in pixels, to which a picture is decoded when a part of it is to be cropped.
const CLOSE: u32 = 8192;

/// Images whose appearances are loaded between two moments in which the library is free.
const TURN: usize = 32;
/// Images whose appearances are loaded in a moment.
const MANY: usize = 500;

/// Loads these vectors of at most `n` images into memory. Returns the number of those still to be
/// loaded.
///
/// # Errors
/// [`tessera_core::Error::Io`].
pub(super) fn load_all(library: &mut Library, look: &Look, n: usize) -> Result<usize> {
    match look {
        Look::Network => library.load_glimpses(n),
        Look::Appearance | Look::Edges | Look::Colours => library.load_appearances(n),
        Look::Words | Look::Elements | Look::Brought(_) => library.load_looks(look, n),
    }
}

impl ReferenceImage {
    /// A short name: its file's name, or a part of that.
    pub fn short_name(&self) -> String {
        let name = std::path::Path::new(&self.name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if self.is_all() { name } else { format!("a part of {name}") }
    }

    /// Whether all of it is compared, as a whole or as a part of others.
    pub fn is_all(&self) -> bool {
        self.crop.is_none_or(|crop| crop == Crop::ALL.of(self.size))
    }

    /// The image of the library, if it is one and all of it is compared.
    pub fn of(&self) -> Option<ItemId> {
        self.item.filter(|_| self.is_all())
    }

    /// A query for images like it. An image of which all is compared is not found itself; one of
    /// which only a part was given may be.
    pub fn query(&self) -> LookQuery {
        LookQuery { part: self.part.clone(), ..LookQuery::new(self.appearance.clone(), self.glimpse.clone(), self.of()) }
    }

    /// These vectors, where the image can be compared by them: captions, elements and vectors that
    /// were brought are known of whole images of the library, and what the network sees where
    /// learned features are on.
    pub fn comparable(&self, library: &Library, by: Option<Look>) -> Option<Look> {
        by.filter(|by| match by {
            Look::Network => library.has_learned_features(),
            Look::Words | Look::Elements | Look::Brought(_) => self.of().is_some_and(|of| library.can_have(by, of)),
            Look::Appearance | Look::Edges | Look::Colours => true,
        })
    }

    /// A whole image of some size, as it is small.
    fn whole(
        name: String,
        item: Option<ItemId>,
        (small, appearance): (RgbImage, Appearance),
        size: (u32, u32),
        glimpse: Option<Glimpse>,
    ) -> Self {
        let picture = Arc::new(small);
        Self { name, item, crop: None, appearance, glimpse, part: None, whole: Arc::clone(&picture), picture, size }
    }
}

impl Session {
    /// The appearance of a picture, or of a part of it. For a whole image of the library the
    /// thumbnail is used, so its file need not be there.
    ///
    /// # Errors
    /// As [`tessera_core::picture::Decoder::decode`]; [`tessera_core::Error::Option`] for a part
    /// that is not in the picture or very small.
    pub fn like(&self, library: &Mutex<Library>, query: &ImageQuery, crop: Option<Crop>) -> Result<ReferenceImage> {
        let (state, is_learned) = {
            let library = hold(library);
            (library.state().clone(), library.has_learned_features())
        };
        if let (ImageQuery::Item(id), None) = (query, crop)
            && let Some(image) = state.image(*id)
        {
            let (small, appearance, glimpse) = {
                let library = hold(library);
                (library.thumbnail(*id)?.and_then(|jpeg| thumbnail::decode(&jpeg)), library.appearance_of(image), library.glimpse_of(image))
            };
            if let Some(small) = small {
                let size = image.content.map_or(small.dimensions(), |content| content.size);
                let appearance = appearance.unwrap_or_else(|| Appearance::of(&small));
                return Ok(ReferenceImage::whole(image.name(), Some(*id), (small, appearance), size, glimpse));
            }
        }
        // A part of a large picture is cropped before shrinking: too few pixels would be left of it
        // otherwise.
        let side = if crop.is_some() { CLOSE } else { SIDE };
        let from = self.pixels_of(query, Some(&state), side)?;
        let crop = crop.map(|crop| crop.of(from.picture.size));
        let small = thumbnail::shrink(&from.picture.pixels);
        let part = crop.map(|crop| Ok(thumbnail::shrink(&from.picture.part(crop.0)?))).transpose()?;
        // Where the network cannot be run, appearances are compared.
        let look = |picture: &RgbImage| Network::shipped()?.look_at(picture);
        let seen = |picture: &RgbImage| if is_learned { look(picture).ok() } else { None };
        Ok(match part {
            None => {
                let glimpse = seen(&small).as_ref().map(Glimpse::of);
                let appearance = Appearance::of(&small);
                ReferenceImage::whole(from.name, from.item, (small, appearance), from.picture.size, glimpse)
            }
            Some(part) => {
                let seen = seen(&part);
                ReferenceImage {
                    name: from.name,
                    item: from.item,
                    crop,
                    appearance: Appearance::of(&part),
                    glimpse: seen.as_ref().map(Glimpse::of),
                    part: seen.as_ref().map(PartSeen::of).map(Arc::new),
                    picture: Arc::new(part),
                    whole: Arc::new(small),
                    size: from.picture.size,
                }
            }
        })
    }

    /// Loads the appearances of some images of a library into memory, and what the network sees in
    /// them, in batches between which the library is unlocked; calls `tell` first where there are
    /// many.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn load_appearances_of(&self, library: &Mutex<Library>, images: &[ItemId], tell: impl Fn()) -> Result<()> {
        if hold(library).n_without_appearance(images) > MANY {
            tell();
        }
        self.progress().begin("Looking at images", images.len().div_ceil(TURN) as u64);
        for turn in images.chunks(TURN) {
            self.progress().step()?;
            while hold(library).load_appearances_of(turn, TURN)? > 0 {}
            hold(library).load_glimpses_of(turn)?;
        }
        Ok(())
    }

    /// Prepares a search for images that look like one, by these vectors or by the usual ones:
    /// loads what is not in an index. Returns the vectors that are compared.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn load_looks(&self, library: &Mutex<Library>, by: Option<&Look>) -> Result<Look> {
        looks::load(library, by, self.progress())
    }

    /// Loads these vectors of all images into memory, those in an index too, so that all can be
    /// compared without reading them.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`], [`tessera_core::Error::Cancelled`].
    pub fn load_all_looks(&self, library: &Mutex<Library>, look: &Look) -> Result<()> {
        looks::load_in_turns(library, self.progress(), |library, n| load_all(library, look, n))
    }

    /// Makes the indexes that a library of many images should have and has not, or has for far
    /// fewer images; of those that are not usual only `also`. The library answers meanwhile.
    ///
    /// # Errors
    /// As [`looks::grow`].
    pub fn grow_looks(&self, library: &Mutex<Library>, also: Option<&Look>) -> Result<()> {
        let due = hold(library).looks_due(also)?;
        for look in due {
            self.load_looks(library, Some(&look))?;
            self.on_threads(|| looks::grow(library, &look, self.progress()))?;
        }
        Ok(())
    }

    /// Makes the index of these vectors, or of the usual ones, if there is none, also where there
    /// are few images.
    ///
    /// # Errors
    /// As [`looks::grow`].
    pub fn measure_looks(&self, library: &Mutex<Library>, by: Option<&Look>) -> Result<()> {
        let look = self.load_looks(library, by)?;
        let is_there = hold(library).look_curve(&look, 1).is_some();
        if !is_there && hold(library).read_only().is_none() {
            self.on_threads(|| looks::grow(library, &look, self.progress()))?;
        }
        Ok(())
    }
}
