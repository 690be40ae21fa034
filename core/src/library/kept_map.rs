//! The layout of a collection in the plane, as it is kept in the cache.

use super::Library;
use super::event::EventId;
use super::looks::Look;
use crate::bytes::{Reader, Stored, Writer, restored, stored};
use crate::error::Result;
use crate::ids::ItemId;
use crate::layout::PlanePoint;

/// The name of the checkpoint.
const MODEL: &str = "map";
/// That of a layout by what the network sees, which is there beside the other: it is back once
/// learned features are on, whatever was laid out without them.
const NETWORK_MODEL: &str = "map by the network";
/// The kind of bytes.
const VERSION: &str = "map 1";

/// A layout of images that is done. A lost one is made again.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptMap {
    /// The vectors by which images are near each other.
    pub look: Look,
    /// The images, in order.
    pub images: Vec<ItemId>,
    /// Where they are by the layout that keeps neighbours together.
    pub places: Vec<PlanePoint>,
    /// Where they are by their principal components.
    pub components: Vec<PlanePoint>,
    /// How far neighbours can be trusted.
    pub trust: f64,
    /// Images without such a vector.
    pub left_out: Vec<ItemId>,
}

impl Library {
    /// The layout that was kept by these vectors, or by the usual ones, if one was. Images may have
    /// come and gone since. One by what the network sees is told of only while learned features are
    /// on. O(images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn kept_map(&self, look: Option<&Look>) -> Result<Option<KeptMap>> {
        let look = look.cloned().unwrap_or_else(|| self.usual_look());
        let model = model_of(&look);
        let kept = self.cache.checkpoint(model)?.and_then(|(_, bytes)| restored(model, &bytes).ok());
        let is_admitted = look != Look::Network || self.has_learned_features();
        Ok(kept.filter(|kept: &KeptMap| is_admitted && kept.look == look))
    }

    /// Keeps a layout in the place of that kept before; one by what the network sees beside that by
    /// others. Does nothing in a library that is only
    /// read, for a layout with an image that was forgotten since, and for vectors that may be
    /// others by then: brought ones, and those without an index ([`Look::has_index`]).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn keep_map(&mut self, map: &KeptMap) -> Result<()> {
        let may_change = matches!(map.look, Look::Brought(_)) || !map.look.has_index();
        if may_change || map.images.iter().any(|id| self.state.image(*id).is_none_or(|image| image.content.is_none())) {
            return Ok(());
        }
        self.cache.put_checkpoint(model_of(&map.look), self.state.last_event().unwrap_or(EventId(0)), stored(map))
    }
}

/// The checkpoint of a layout by these vectors.
fn model_of(look: &Look) -> &'static str {
    if *look == Look::Network { NETWORK_MODEL } else { MODEL }
}

impl Stored for KeptMap {
    fn write(&self, out: &mut Writer) {
        out.put(&VERSION.to_owned());
        out.put(&self.look);
        let ids = |ids: &[ItemId]| ids.iter().map(|id| id.0).collect::<Vec<u32>>();
        let values = |places: &[PlanePoint]| places.as_flattened().to_vec();
        out.put(&ids(&self.images));
        out.put(&values(&self.places));
        out.put(&values(&self.components));
        out.put(&self.trust);
        out.put(&ids(&self.left_out));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let version: String = from.get()?;
        if version != VERSION {
            return Err(from.wrong(VERSION, version));
        }
        let look = from.get()?;
        let ids = |ids: Vec<u32>| ids.into_iter().map(ItemId).collect::<Vec<_>>();
        let images = ids(from.get()?);
        let mut places = || -> Result<Vec<PlanePoint>> {
            let values = from.finite_values()?;
            let (places, rest) = values.as_chunks::<2>();
            // Whoever asks looks images up in this order.
            if !images.is_sorted() || places.len() != images.len() || !rest.is_empty() {
                return Err(from.wrong(format!("places of {} images", images.len()), format!("{} values", values.len())));
            }
            Ok(places.to_vec())
        };
        let (places, components) = (places()?, places()?);
        let (trust, left_out) = (from.get()?, ids(from.get()?));
        Ok(Self { look, images, places, components, trust, left_out })
    }
}
