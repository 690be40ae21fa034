//! The texture of the picture in the viewer, made by another thread.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use egui::{ColorImage, Context, TextureFilter, TextureHandle, TextureOptions};
use image::RgbImage;
use tessera_core::ids::ItemId;
use tessera_core::picture::Picture;

use super::textures::colour_image;

/// The zoom above which pixels have hard edges.
const CLOSE: f32 = 8.0;

/// The picture in the viewer.
pub(super) struct Viewed {
    id: ItemId,
    pixels: Arc<RgbImage>,
    /// The picture for the graphics card, while another thread converts it.
    coming: Option<Receiver<ColorImage>>,
    texture: Option<TextureHandle>,
    /// The filter with which the texture was made.
    filter: TextureFilter,
    /// The filter that the zoom calls for: nearest neighbour when enlarged much, otherwise linear.
    wanted: TextureFilter,
}

impl Viewed {
    pub(super) fn new(ctx: &Context, id: ItemId, pixels: &Arc<RgbImage>) -> Self {
        let filter = TextureFilter::Linear;
        let mut viewed = Self { id, pixels: Arc::clone(pixels), coming: None, texture: None, filter, wanted: filter };
        viewed.prepare(ctx);
        viewed
    }

    /// Whether it is this picture of an image.
    pub(super) fn is(&self, id: ItemId, pixels: &Arc<RgbImage>) -> bool {
        self.id == id && Arc::ptr_eq(&self.pixels, pixels)
    }

    fn prepare(&mut self, ctx: &Context) {
        let (send, coming) = mpsc::channel();
        let (pixels, ctx) = (Arc::clone(&self.pixels), ctx.clone());
        let side = ctx.input(|input| input.max_texture_side) as u32;
        let prepared = thread::Builder::new().name("picture".into()).spawn(move || {
            let image = match pixels.width().max(pixels.height()) > side {
                true => colour_image(&Picture::shrunk((*pixels).clone(), side).pixels),
                false => colour_image(&pixels),
            };
            // The receiver is gone when the viewer was closed.
            let _ = send.send(image);
            ctx.request_repaint();
        });
        self.coming = prepared.is_ok().then_some(coming);
    }

    /// Begins a frame: uploads a converted picture to the graphics card.
    pub(super) fn begin(&mut self, ctx: &Context) {
        if self.filter != self.wanted && self.coming.is_none() {
            self.filter = self.wanted;
            self.prepare(ctx);
        }
        if let Some(image) = self.coming.as_ref().and_then(|coming| coming.try_recv().ok()) {
            let options = TextureOptions { magnification: self.filter, ..TextureOptions::LINEAR };
            self.texture = Some(ctx.load_texture("viewed", image, options));
            self.coming = None;
        }
    }

    /// The texture for showing an image at some zoom, once it is there.
    pub(super) fn at(&mut self, id: ItemId, zoom: f32) -> Option<&TextureHandle> {
        if self.id != id {
            return None;
        }
        self.wanted = if zoom > CLOSE { TextureFilter::Nearest } else { TextureFilter::Linear };
        self.texture.as_ref()
    }

    /// Its texture, once it is there.
    pub(super) fn texture(&self) -> Option<&TextureHandle> {
        self.texture.as_ref()
    }
}
