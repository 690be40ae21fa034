//! Textures of large pictures: those of the recognition, the one in the viewer, the image that hits
//! are to resemble, and the images to try.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Context, TextureHandle, TextureId, TextureOptions};
use image::RgbImage;
use tessera_core::copies::PixelDifference;
use tessera_core::ids::ItemId;

use super::textures::colour_image;
use super::viewed::Viewed;
use crate::session::collage::Collage;
use crate::session::desk::Desk;
use crate::session::desk::similar::SimilarQuery;
use crate::session::desk::view::Recognition;
use crate::session::reference::ReferenceImage;

/// Textures of large pictures, each made anew when the desk has another picture.
#[derive(Default)]
pub struct PictureTextures {
    recognition: Option<Arc<Recognition>>,
    first_look: Option<(Arc<RgbImage>, TextureHandle)>,
    query: Option<TextureHandle>,
    collage: Option<(Arc<Collage>, TextureHandle)>,
    tiles: Vec<Option<TextureHandle>>,
    viewed: Option<Viewed>,
    /// The picture that one in the viewer is compared with.
    beside: Option<Viewed>,
    /// Where two copies differ.
    difference: Option<(Arc<PixelDifference>, TextureHandle)>,
    like: Option<(Arc<ReferenceImage>, TextureHandle)>,
    similar: Option<(Arc<SimilarQuery>, TextureHandle)>,
    tray: Vec<TextureHandle>,
    tray_of: Option<PathBuf>,
    /// Examples of an import that is planned.
    examples: HashMap<PathBuf, TextureHandle>,
    /// The folder that these are of.
    examples_of: Option<PathBuf>,
}

impl PictureTextures {
    /// Uploads the pictures that are shown to the graphics card.
    pub fn begin(&mut self, ctx: &Context, desk: &Desk) {
        let load = |name: &str, picture: &RgbImage| ctx.load_texture(name, colour_image(picture), TextureOptions::LINEAR);
        let now = desk.recognising().recognition();
        if now.map(Arc::as_ptr) != self.recognition.as_ref().map(Arc::as_ptr) {
            let tiles = now.map(|recognition| recognition.tiles.as_slice()).unwrap_or_default();
            self.tiles = tiles.iter().map(|tile| tile.picture.as_ref().map(|picture| load("piece", picture))).collect();
            self.query = now.map(|recognition| load("piece", &recognition.picture));
            self.recognition = now.cloned();
        }
        let first = desk.recognising().first_look().map(|first| &first.picture);
        if first.map(Arc::as_ptr) != self.first_look.as_ref().map(|(picture, _)| Arc::as_ptr(picture)) {
            self.first_look = first.map(|picture| (Arc::clone(picture), load("first look", picture)));
        }
        let collage = desk.recognising().collage();
        if collage.map(Arc::as_ptr) != self.collage.as_ref().map(|(collage, _)| Arc::as_ptr(collage)) {
            self.collage = collage.map(|collage| {
                let picture = &collage.picture;
                let pixels = [picture.width() as usize, picture.height() as usize];
                let image = egui::ColorImage::from_rgba_unmultiplied(pixels, picture.as_raw());
                (Arc::clone(collage), ctx.load_texture("collage", image, TextureOptions::LINEAR))
            });
        }
        match desk.pictures().shown() {
            Some((id, Ok(picture))) if self.viewed.as_ref().is_none_or(|viewed| !viewed.is(id, picture)) => {
                self.viewed = Some(Viewed::new(ctx, id, picture));
            }
            None => (self.viewed, self.beside, self.difference) = (None, None, None),
            _ => {}
        }
        if let Some(beside) = &mut self.beside {
            beside.begin(ctx);
        }
        if let Some(viewed) = &mut self.viewed {
            viewed.begin(ctx);
        }
        if self.like.as_ref().map(|(like, _)| Arc::as_ptr(like)) != desk.searching().like().map(Arc::as_ptr) {
            self.like = desk.searching().like().map(|like| (Arc::clone(like), load("like", &like.picture)));
        }
        if self.similar.as_ref().map(|(query, _)| Arc::as_ptr(query)) != desk.similar().query().map(Arc::as_ptr) {
            self.similar = desk.similar().query().map(|query| (Arc::clone(query), load("similar", &query.image.whole)));
        }
        match desk.planning().now() {
            Some(now) => {
                if self.examples_of.as_ref() != Some(&now.folder) {
                    self.examples.clear();
                    self.examples_of = Some(now.folder.clone());
                }
                for (path, picture) in &now.pictures {
                    self.examples.entry(path.clone()).or_insert_with(|| load("example", picture));
                }
            }
            None => self.examples.clear(),
        }
        if self.tray_of.as_deref() != desk.source() {
            self.tray_of = desk.source().map(Path::to_owned);
            self.tray = desk.opening().tray().iter().map(|tried| load("tray", &tried.thumbnail)).collect();
        }
    }

    /// The image that is being recognised.
    pub fn first_look(&self) -> Option<&TextureHandle> {
        self.first_look.as_ref().map(|(_, texture)| texture)
    }

    /// The picture of the image that hits are to resemble.
    pub fn like(&self) -> Option<&TextureHandle> {
        self.like.as_ref().map(|(_, texture)| texture)
    }

    /// The pictures of the images to try.
    pub fn tray(&self) -> &[TextureHandle] {
        &self.tray
    }

    /// The picture of an example of an import that is planned, by its path below the folder.
    pub fn example(&self, path: &Path) -> Option<&TextureHandle> {
        self.examples.get(path)
    }

    /// The texture of the query, or of a tile.
    pub fn piece(&self, tile: Option<usize>) -> Option<TextureId> {
        match tile {
            None => self.query.as_ref().map(TextureHandle::id),
            Some(tile) => self.tiles.get(tile).and_then(Option::as_ref).map(TextureHandle::id),
        }
    }

    /// The image whose similar images are found, as a whole.
    pub fn similar(&self) -> Option<TextureId> {
        self.similar.as_ref().map(|(_, texture)| texture.id())
    }

    /// The texture of the collage.
    pub fn collage(&self) -> Option<TextureId> {
        self.collage.as_ref().map(|(_, texture)| texture.id())
    }

    /// The texture of the image in the viewer for some zoom, once it is there.
    pub fn viewed(&mut self, id: ItemId, zoom: f32) -> Option<&TextureHandle> {
        self.viewed.as_mut().and_then(|viewed| viewed.at(id, zoom))
    }

    /// The texture of one of two images that are compared, the picture on display and the next one,
    /// once it is there.
    pub fn compared(&mut self, ctx: &Context, desk: &Desk, id: ItemId, zoom: f32) -> Option<TextureId> {
        if let Some((next, picture)) = desk.pictures().next().filter(|(next, _)| *next == id)
            && self.beside.as_ref().is_none_or(|beside| !beside.is(next, picture))
        {
            self.beside = Some(Viewed::new(ctx, next, picture));
        }
        let textures = [&mut self.viewed, &mut self.beside].into_iter().flatten();
        textures.filter_map(|viewed| viewed.at(id, zoom)).next().map(TextureHandle::id)
    }

    /// The texture of where two copies differ.
    pub fn difference(&mut self, ctx: &Context, difference: &Arc<PixelDifference>) -> TextureId {
        let is_it = |(shown, _): &(Arc<PixelDifference>, TextureHandle)| Arc::ptr_eq(shown, difference);
        if let Some((_, texture)) = self.difference.as_ref().filter(|shown| is_it(shown)) {
            return texture.id();
        }
        let texture = ctx.load_texture("difference", colour_image(&difference.picture), TextureOptions::NEAREST);
        let id = texture.id();
        self.difference = Some((Arc::clone(difference), texture));
        id
    }

    /// Bytes on the card.
    pub fn bytes(&self) -> usize {
        let viewed = self.viewed.iter().chain(&self.beside).filter_map(Viewed::texture);
        let textures = self
            .tiles
            .iter()
            .flatten()
            .chain(&self.query)
            .chain(self.collage.as_ref().map(|(_, texture)| texture))
            .chain(self.similar.as_ref().map(|(_, texture)| texture))
            .chain(self.difference.as_ref().map(|(_, texture)| texture))
            .chain(&self.tray)
            .chain(self.examples.values())
            .chain(viewed);
        textures.map(|texture| texture.size()[0] * texture.size()[1] * 4).sum()
    }
}
