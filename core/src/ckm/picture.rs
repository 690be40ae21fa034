//! Elements cut from pictures: corners, gradient histograms, colours and cells of networks.

use std::sync::Arc;
use std::time::Duration;

use super::Ckm;
use super::element::{Cut, ElementSet, Elements};
#[cfg(feature = "network")]
use super::options::{CkmOptions, cell_form};
use super::options::{ElementKind, ElementSource, check_kinds};
use super::own::{self, OwnElements};
#[cfg(feature = "network")]
use crate::error::Error;
use crate::error::Result;
use crate::features;
#[cfg(feature = "network")]
use crate::network::{self, Network, NetworkOptions, Seen, folder};
use crate::picture::colour::{self, colour_layout};
use crate::picture::hog::{self, dense_hog};
use crate::picture::{Picture, grey, resize};

impl Ckm {
    /// Cuts an image into the elements this machine works with. O(pixels).
    ///
    /// # Errors
    /// [`crate::Error::Value`] when some of its kinds are the caller's own: see
    /// [`Ckm::elements_with`].
    pub fn elements(&self, picture: &Picture) -> Result<Elements> {
        self.elements_with(picture, &[])
    }

    /// As [`Ckm::elements`], where `own` has the elements of the kinds that the caller brings, in
    /// the machine's order.
    ///
    /// # Errors
    /// As [`Ckm::elements_from_own`].
    pub fn elements_with(&self, picture: &Picture, own: &[OwnElements<'_>]) -> Result<Elements> {
        cut(picture, &self.cut, &self.options().kinds, own, &mut Duration::default())
    }

    /// As [`Ckm::elements`], with the time that networks took of it.
    ///
    /// # Errors
    /// As [`Ckm::elements`].
    pub fn elements_timed(&self, picture: &Picture) -> Result<(Elements, Duration)> {
        let mut network = Duration::ZERO;
        let elements = cut(picture, &self.cut, &self.options().kinds, &[], &mut network)?;
        Ok((elements, network))
    }
}

#[cfg(feature = "network")]
impl CkmOptions {
    /// Checks that the networks of the user that a machine cuts pictures with are there.
    ///
    /// # Errors
    /// [`crate::Error::Data`], which names the first that is not, by name and hash.
    pub fn check_networks(&self) -> Result<()> {
        self.kinds.iter().try_for_each(|kind| match &kind.source {
            ElementSource::Encoder(options) => folder::check_needed(options),
            _ => Ok(()),
        })
    }
}

impl Elements {
    /// Cuts `picture` into elements of `kinds`, after bringing its longer side to `side` working
    /// pixels. [`Elements::to_picture`] gives positions in the picture's own pixels, even when it
    /// was shrunk before.
    ///
    /// # Errors
    /// [`crate::Error::Option`] when the side or an option of a kind is out of range;
    /// [`crate::Error::Value`] when a kind is the caller's own.
    pub fn of(picture: &Picture, side: u32, kinds: &[ElementKind]) -> Result<Self> {
        Ok(Self::timed(picture, side, kinds)?.0)
    }

    /// As [`Elements::of`], with the time that networks took of it.
    ///
    /// # Errors
    /// As [`Elements::of`].
    pub fn timed(picture: &Picture, side: u32, kinds: &[ElementKind]) -> Result<(Self, Duration)> {
        check_kinds(side, kinds)?;
        let mut network = Duration::ZERO;
        let elements = cut(picture, &Cut::of(side, kinds), kinds, &[], &mut network)?;
        Ok((elements, network))
    }

    /// The elements of `kinds`, all of them of the network, from what it has seen in a picture of
    /// `size` pixels.
    ///
    /// # Errors
    /// [`crate::Error::Option`] when the side or an option of a kind is out of range, or a kind is
    /// another one.
    #[cfg(feature = "network")]
    pub fn of_seen(seen: &Seen, size: (u32, u32), side: u32, kinds: &[ElementKind]) -> Result<Self> {
        check_kinds(side, kinds)?;
        let (width, height) = resize::fit(size.0, size.1, side);
        let set = |kind: &ElementKind| match &kind.source {
            ElementSource::Network(options) => Ok(cells(seen, options, width, height, kind.source.unit())),
            ElementSource::NetworkClasses => Ok(classes(seen)),
            other => Err(Error::Option { name: "elements", found: other.name().to_owned(), expected: "those of the network alone" }),
        };
        Ok(Self::new(kinds.iter().map(set).collect::<Result<_>>()?, size, &Cut::of(side, kinds)))
    }
}

/// The position of a cell whose middle is at these shares of a picture of `width` and `height`
/// working pixels.
#[cfg(feature = "network")]
fn middle(x: f32, y: f32, width: u32, height: u32) -> [f32; 2] {
    let centred = |share: f32, side: u32| share * side as f32 - 0.5 - (side as f32 - 1.0) / 2.0;
    [centred(x, width), centred(y, height)]
}

/// The cells of a picture that is `width` and `height` working pixels large.
#[cfg(feature = "network")]
fn cells(seen: &Seen, options: &NetworkOptions, width: u32, height: u32, unit: f32) -> ElementSet {
    let cells = seen.cells(options);
    let positions: Vec<_> = cells.iter().map(|c| middle(c.x, c.y, width, height)).collect();
    let rows: Vec<u8> = cells.iter().flat_map(|c| c.values).map(|v| (v * unit).round() as u8).collect();
    ElementSet::dense(&positions, &rows, network::CHANNELS)
}

/// What the network says of its own classes: of the whole picture, whose middle is its place.
#[cfg(feature = "network")]
fn classes(seen: &Seen) -> ElementSet {
    ElementSet::dense(&[[0.0; 2]], &network::class_values(seen), network::CLASS_VALUES)
}

/// Does something, and adds the time that it takes.
#[cfg(feature = "network")]
fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let done = work();
    *time += start.elapsed();
    done
}

/// What the network sees in a picture, which it looks at once. It gets all pixels, for it takes
/// more of them than there are working pixels.
#[cfg(feature = "network")]
fn look<'a>(seen: &'a mut Option<Seen>, picture: &Picture, time: &mut Duration) -> Result<&'a Seen> {
    if seen.is_none() {
        let shipped = Network::shipped()?;
        *seen = Some(timed(time, || shipped.look_at(&picture.pixels))?);
    }
    seen.as_ref().ok_or_else(|| Error::value("picture", "one that the network has seen", "none"))
}

/// Cuts a picture; adds the time that networks take to `network`.
fn cut(picture: &Picture, cut: &Arc<Cut>, kinds: &[ElementKind], own: &[OwnElements<'_>], network: &mut Duration) -> Result<Elements> {
    #[cfg(not(feature = "network"))]
    let _ = network;
    let size = picture.size;
    let (width, height) = resize::fit(size.0, size.1, cut.side);
    let work = resize::resize_rgb(&picture.pixels, width, height);
    let luma = grey(&work);
    let middle = [(width as f32 - 1.0) / 2.0, (height as f32 - 1.0) / 2.0];
    let centred = |x: f32, y: f32| [x - middle[0], y - middle[1]];
    let mut brought = own::sets(size, cut.side, kinds, own)?.into_iter();
    #[cfg(feature = "network")]
    let mut seen = None;
    let mut set = |kind: &ElementKind| -> Result<Option<ElementSet>> {
        let unit = kind.source.unit();
        Ok(Some(match &kind.source {
            ElementSource::Orb(options) => {
                let found = features::detect(&luma, options);
                let positions: Vec<_> = found.keypoints.iter().map(|k| centred(k.x, k.y)).collect();
                ElementSet::binary(&positions, found.descriptors)
            }
            ElementSource::Hog(options) => {
                let blocks = dense_hog(&work, options);
                let positions: Vec<_> = blocks.iter().map(|b| centred(b.x, b.y)).collect();
                let rows: Vec<u8> = blocks.iter().flat_map(|b| b.values).map(|v| (v * unit).round() as u8).collect();
                ElementSet::dense(&positions, &rows, hog::VALUES)
            }
            ElementSource::Colour(options) => {
                let blocks = colour_layout(&work, options);
                let positions: Vec<_> = blocks.iter().map(|b| centred(b.x, b.y)).collect();
                let shift = |(i, v): (usize, f32)| (v * unit).round() + if i % 3 == 0 { 0.0 } else { 128.0 };
                let rows: Vec<u8> = blocks.iter().flat_map(|b| b.values.into_iter().enumerate()).map(|v| shift(v) as u8).collect();
                ElementSet::dense(&positions, &rows, colour::VALUES)
            }
            #[cfg(feature = "network")]
            ElementSource::Network(options) => cells(look(&mut seen, picture, network)?, options, width, height, unit),
            #[cfg(feature = "network")]
            ElementSource::NetworkClasses => classes(look(&mut seen, picture, network)?),
            #[cfg(feature = "network")]
            ElementSource::Encoder(options) => {
                let (encoder, form) = (folder::needed(options)?, cell_form(options.dimension));
                let seen = timed(network, || encoder.look_at(&picture.pixels))?;
                let cells = seen.cells(options.grid);
                let positions: Vec<_> = cells.iter().map(|c| self::middle(c.x, c.y, width, height)).collect();
                let rows: Vec<u8> = cells.iter().flat_map(|c| c.values.iter().map(|value| form.quantised(*value))).collect();
                ElementSet::dense(&positions, &rows, options.dimension)
            }
            ElementSource::Own(_) => return Ok(brought.next()),
        }))
    };
    let sets = kinds.iter().filter_map(|kind| set(kind).transpose()).collect::<Result<_>>()?;
    Ok(Elements::new(sets, size, cut))
}
