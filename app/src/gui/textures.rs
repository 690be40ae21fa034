//! Thumbnails on the graphics card: a cache that drops the least recently shown.

use std::collections::{HashMap, HashSet};

use egui::{ColorImage, Context, TextureHandle, TextureOptions};
use image::RgbImage;
use tessera_core::ids::ItemId;

/// Thumbnails by the hash of their file.
pub struct Textures {
    held: HashMap<u128, Held>,
    /// Files without a thumbnail.
    broken: HashSet<u128>,
    /// Cache misses of this frame, with the images that they are of.
    wanted: Vec<(u128, ItemId)>,
    /// The misses that were reported last.
    missing: Vec<(u128, ItemId)>,
    waiting: Vec<(u128, RgbImage)>,
    frame: u64,
    bytes: usize,
    limit: usize,
}

struct Held {
    texture: TextureHandle,
    bytes: usize,
    shown: u64,
}

/// Thumbnails that are uploaded to the card in one frame at most; more would delay the frame.
const UPLOADS: usize = 16;

/// A picture for the graphics card.
pub fn colour_image(picture: &RgbImage) -> ColorImage {
    ColorImage::from_rgb([picture.width() as usize, picture.height() as usize], picture.as_raw())
}

impl Textures {
    /// Room for `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            held: HashMap::new(),
            broken: HashSet::new(),
            wanted: Vec::new(),
            missing: Vec::new(),
            waiting: Vec::new(),
            frame: 0,
            bytes: 0,
            limit,
        }
    }

    /// The thumbnail of a file; a miss is recorded, to be reported by [`Textures::missing`].
    pub fn get(&mut self, hash: u128, image: ItemId) -> Option<&TextureHandle> {
        match self.held.get_mut(&hash) {
            Some(held) => {
                held.shown = self.frame;
                Some(&held.texture)
            }
            None => {
                if !self.broken.contains(&hash) {
                    self.wanted.push((hash, image));
                }
                None
            }
        }
    }

    /// Whether it is known that there is no thumbnail of a file.
    pub fn is_broken(&self, hash: u128) -> bool {
        self.broken.contains(&hash)
    }

    /// Takes in what was fetched.
    pub fn put(&mut self, hash: u128, picture: Option<RgbImage>) {
        match picture {
            Some(picture) => self.waiting.push((hash, picture)),
            None => {
                self.broken.insert(hash);
            }
        }
    }

    /// Begins a frame: uploads some of the fetched thumbnails, and evicts old ones. Returns whether
    /// more are waiting.
    pub fn begin(&mut self, ctx: &Context) -> bool {
        self.frame += 1;
        self.wanted.clear();
        for (hash, picture) in self.waiting.split_off(self.waiting.len().saturating_sub(UPLOADS)) {
            let bytes = picture.as_raw().len() / 3 * 4;
            let texture = ctx.load_texture("thumbnail", colour_image(&picture), TextureOptions::LINEAR);
            if let Some(old) = self.held.insert(hash, Held { texture, bytes, shown: self.frame }) {
                self.bytes -= old.bytes;
            }
            self.bytes += bytes;
        }
        if self.bytes > self.limit {
            let mut oldest: Vec<(u64, u128)> = self.held.iter().map(|(hash, held)| (held.shown, *hash)).collect();
            oldest.sort_unstable();
            // What is on the screen stays even if it exceeds the limit.
            for (_, hash) in oldest.into_iter().take_while(|(shown, _)| *shown + 2 < self.frame) {
                if self.bytes <= self.limit * 9 / 10 {
                    break;
                }
                if let Some(held) = self.held.remove(&hash) {
                    self.bytes -= held.bytes;
                }
            }
        }
        !self.waiting.is_empty()
    }

    /// The misses of this frame; none where they are the same as those reported last.
    pub fn missing(&mut self) -> Option<&[(u128, ItemId)]> {
        if self.wanted == self.missing {
            return None;
        }
        self.missing.clone_from(&self.wanted);
        Some(&self.missing)
    }

    /// Forgets which files have no thumbnail: the library has changed, and they may have one now.
    pub fn try_again(&mut self) {
        self.broken.clear();
    }

    /// Bytes on the card.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.limit);
    }
}
