//! How a machine is built: the kinds of its elements, where each comes from and how it is compared.

use serde::{Deserialize, Serialize};

use super::kernel::LeafKernel;
use crate::error::{Error, Result, check_plain};
#[cfg(feature = "images")]
use crate::features::OrbOptions;
#[cfg(feature = "network")]
use crate::network::{self, EncoderOptions, NetworkOptions};
#[cfg(feature = "images")]
use crate::picture::colour::{self, ColourOptions};
#[cfg(feature = "images")]
use crate::picture::hog::{self, HogOptions};

/// How a machine is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CkmOptions {
    /// Working size: the longer side of every image is brought to this many pixels, `16..=1024`.
    pub side: u32,
    /// The kinds of elements and their kernels, 1 to 16.
    pub kinds: Vec<ElementKind>,
    /// Decompositions a query is scored by (the paper's P), `1..=1024`.
    pub decompositions: usize,
    /// Spatial neighbours of an element that it may pair with (the paper's k), `0..=64`.
    pub neighbours: usize,
    /// Seed of the decompositions.
    pub seed: u64,
}

impl CkmOptions {
    /// A machine over one kind of elements that the caller brings: a working size of 128 pixels, 8
    /// decompositions and pairs among the 4 nearest elements.
    pub fn own(name: &str, form: ElementForm, kernel: LeafKernel) -> Self {
        let source = ElementSource::Own(OwnSource { name: name.to_owned(), form });
        Self { side: 128, kinds: vec![ElementKind { source, kernel }], decompositions: 8, neighbours: 4, seed: 0 }
    }

    /// The kinds whose elements are pieces of an image, with their numbers among all kinds.
    pub fn kinds_with_pieces(&self) -> impl Iterator<Item = (usize, &ElementKind)> {
        self.kinds.iter().enumerate().filter(|(_, kind)| kind.source.has_pieces())
    }

    /// Whether a kind of elements is made by the network that comes with the program.
    pub fn is_of_network(&self) -> bool {
        self.kinds.iter().any(|kind| kind.source.is_of_network())
    }

    /// The kernel of each kind of elements.
    pub fn kernels(&self) -> Vec<LeafKernel> {
        self.kinds.iter().map(|kind| kind.kernel).collect()
    }

    /// The same with other kernels, one for each kind of elements.
    #[must_use]
    pub fn with_kernels(&self, kernels: &[LeafKernel]) -> Self {
        let mut options = self.clone();
        options.kinds.iter_mut().zip(kernels).for_each(|(kind, kernel)| kind.kernel = *kernel);
        options
    }

    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] for the first that is not.
    pub fn check(&self) -> Result<()> {
        if !(1..=1024).contains(&self.decompositions) {
            return Err(Error::Option { name: "decompositions", found: self.decompositions.to_string(), expected: "1 to 1024" });
        }
        if self.neighbours > 64 {
            return Err(Error::Option { name: "neighbours", found: self.neighbours.to_string(), expected: "0 to 64" });
        }
        check_kinds(self.side, &self.kinds)?;
        let whole = |kind: &&ElementKind| !kind.source.has_pieces();
        if let Some(kind) = self.kinds.iter().filter(whole).find(|kind| kind.kernel.weight != 0.0) {
            let found = format!("{} for {}", kind.kernel.weight, kind.source.name());
            return Err(Error::Option { name: "weight", found, expected: "0 for what counts in whole images alone" });
        }
        if self.kinds.iter().all(|kind| whole(&kind)) {
            let found = "what counts in whole images alone".into();
            return Err(Error::Option { name: "elements", found, expected: "a kind that has pieces" });
        }
        Ok(())
    }
}

/// A kind of element and the leaf kernel that compares two of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementKind {
    /// Where the elements come from.
    pub source: ElementSource,
    /// How they are compared.
    pub kernel: LeafKernel,
}

/// Where a kind of element comes from: cut from pictures by this crate, or brought by the caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ElementSource {
    /// Corners with binary descriptors.
    #[cfg(feature = "images")]
    Orb(OrbOptions),
    /// Dense blocks of gradient histograms.
    #[cfg(feature = "images")]
    Hog(HogOptions),
    /// Mean colours of small squares.
    #[cfg(feature = "images")]
    Colour(ColourOptions),
    /// Activations of a convolutional network.
    #[cfg(feature = "network")]
    Network(NetworkOptions),
    /// What that network says of its own classes: one element, of the whole picture. It counts in
    /// the likeness of whole images ([`super::whole`]), not as a piece.
    #[cfg(feature = "network")]
    NetworkClasses,
    /// Cells of a network that the user brought.
    #[cfg(feature = "network")]
    Encoder(EncoderOptions),
    /// Elements that the caller brings: see [`super::own`].
    Own(OwnSource),
}

/// A kind of element that the caller brings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSource {
    /// What it is called, in saved models too: 1 to 32 lowercase letters, digits, `-` and `_`.
    pub name: String,
    /// The form of its elements' features.
    pub form: ElementForm,
}

/// The form of elements' features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ElementForm {
    /// 256 bits, compared by Hamming distance. Shorter descriptors are filled up with zeros, which
    /// changes no distance.
    Binary,
    /// Vectors, compared by Euclidean distance.
    ///
    /// Each value is kept as a whole number of steps, so that sums of products are exact: there are
    /// 255 steps from `low` to `high` for up to 129 values, and as many as keep the sums exact for
    /// more (128 for 512, 45 for 4096).
    Dense {
        /// Values of a vector, `1..=4096`.
        dimension: usize,
        /// The least value; what is below counts as this.
        low: f32,
        /// The largest value, above `low`; what is above counts as this.
        high: f32,
    },
}

/// The largest whole number up to which every whole number is an f32.
const EXACT: f64 = (1 << 24) as f64;

impl ElementForm {
    /// Values of a dense vector; 0 for binary descriptors.
    pub(super) fn dimension(&self) -> usize {
        match *self {
            Self::Binary => 0,
            Self::Dense { dimension, .. } => dimension,
        }
    }

    /// Quantised steps from the least value to the largest; 0 for binary descriptors.
    fn steps(&self) -> u8 {
        match *self {
            Self::Binary => 0,
            // Two squared lengths are added up.
            Self::Dense { dimension, .. } => (EXACT / 2.0 / dimension as f64).sqrt().min(255.0) as u8,
        }
    }

    /// A value as a whole number of steps.
    pub(super) fn quantised(&self, value: f32) -> u8 {
        match *self {
            Self::Binary => 0,
            Self::Dense { low, high, .. } => ((value.clamp(low, high) - low) * self.unit()).round() as u8,
        }
    }

    /// Quantised steps in one unit of feature distance.
    pub(super) fn unit(&self) -> f32 {
        match *self {
            Self::Binary => 1.0,
            Self::Dense { low, high, .. } => f32::from(self.steps()) / (high - low),
        }
    }

    fn check(&self) -> Result<()> {
        let Self::Dense { dimension, low, high } = *self else { return Ok(()) };
        if !(1..=4096).contains(&dimension) {
            return Err(Error::Option { name: "dimension", found: dimension.to_string(), expected: "1 to 4096" });
        }
        if !(low < high && low.is_finite() && high.is_finite() && self.unit().is_normal()) {
            return Err(Error::Option { name: "low", found: format!("{low}, with {high} as `high`"), expected: "a number below `high`" });
        }
        Ok(())
    }
}

impl OwnSource {
    fn check(&self) -> Result<()> {
        check_plain("name", &self.name)?;
        self.form.check()
    }
}

impl ElementSource {
    /// A short name: `orb`, `hog`, `colour`, `network`, `network-classes`, `encoder`, or the
    /// caller's.
    pub fn name(&self) -> &str {
        match self {
            #[cfg(feature = "images")]
            Self::Orb(_) => "orb",
            #[cfg(feature = "images")]
            Self::Hog(_) => "hog",
            #[cfg(feature = "images")]
            Self::Colour(_) => "colour",
            #[cfg(feature = "network")]
            Self::Network(_) => "network",
            #[cfg(feature = "network")]
            Self::NetworkClasses => "network-classes",
            #[cfg(feature = "network")]
            Self::Encoder(_) => "encoder",
            Self::Own(own) => &own.name,
        }
    }

    /// Whether the network that comes with the program makes them.
    pub fn is_of_network(&self) -> bool {
        #[cfg(feature = "network")]
        return matches!(self, Self::Network(_) | Self::NetworkClasses);
        #[cfg(not(feature = "network"))]
        false
    }

    /// Whether its elements are pieces that are matched, and not of whole images alone.
    pub fn has_pieces(&self) -> bool {
        #[cfg(feature = "network")]
        return *self != Self::NetworkClasses;
        #[cfg(not(feature = "network"))]
        true
    }

    /// The kind that the caller brings, if it is one.
    pub(super) fn own(&self) -> Option<&OwnSource> {
        match self {
            Self::Own(own) => Some(own),
            #[cfg(feature = "images")]
            _ => None,
        }
    }

    /// Length of a dense feature vector; 0 for binary descriptors.
    pub(super) fn dimension(&self) -> usize {
        match self {
            #[cfg(feature = "images")]
            Self::Orb(_) => 0,
            #[cfg(feature = "images")]
            Self::Hog(_) => hog::VALUES,
            #[cfg(feature = "images")]
            Self::Colour(_) => colour::VALUES,
            #[cfg(feature = "network")]
            Self::Network(_) => network::CHANNELS,
            #[cfg(feature = "network")]
            Self::NetworkClasses => network::CLASS_VALUES,
            #[cfg(feature = "network")]
            Self::Encoder(options) => options.dimension,
            Self::Own(own) => own.form.dimension(),
        }
    }

    /// Quantised steps in one unit of feature distance.
    pub(super) fn unit(&self) -> f32 {
        match self {
            #[cfg(feature = "images")]
            Self::Orb(_) => 1.0,
            #[cfg(feature = "images")]
            Self::Hog(_) => 127.0,
            #[cfg(feature = "images")]
            Self::Colour(_) => 100.0,
            #[cfg(feature = "network")]
            Self::Network(_) => 127.0,
            #[cfg(feature = "network")]
            Self::NetworkClasses => network::CLASS_UNIT,
            #[cfg(feature = "network")]
            Self::Encoder(options) => cell_form(options.dimension).unit(),
            Self::Own(own) => own.form.unit(),
        }
    }

    /// The largest quantised value of a dense vector; 0 for binary descriptors.
    pub(super) fn largest(&self) -> u8 {
        match self {
            #[cfg(feature = "images")]
            Self::Orb(_) => 0,
            // No value of a block is above 1.
            #[cfg(feature = "images")]
            Self::Hog(_) => 127,
            #[cfg(feature = "images")]
            Self::Colour(_) => 255,
            // No value of a cell is above 1.
            #[cfg(feature = "network")]
            Self::Network(_) => 127,
            #[cfg(feature = "network")]
            Self::NetworkClasses => 255,
            #[cfg(feature = "network")]
            Self::Encoder(options) => cell_form(options.dimension).steps(),
            Self::Own(own) => own.form.steps(),
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        match self {
            #[cfg(feature = "images")]
            Self::Orb(options) => options.check(),
            #[cfg(feature = "images")]
            Self::Hog(options) => options.check(),
            #[cfg(feature = "images")]
            Self::Colour(options) => options.check(),
            #[cfg(feature = "network")]
            Self::Network(options) => options.check(),
            #[cfg(feature = "network")]
            Self::NetworkClasses => Ok(()),
            #[cfg(feature = "network")]
            Self::Encoder(options) => options.check(),
            Self::Own(own) => own.check(),
        }
    }
}

/// The form of cells that are vectors of length 1. Of many values only few are large: what lies
/// beyond eight times the usual size counts as that, so that the steps between are small.
#[cfg(feature = "network")]
pub(super) fn cell_form(dimension: usize) -> ElementForm {
    let high = (8.0 / (dimension.max(1) as f32).sqrt()).min(1.0);
    ElementForm::Dense { dimension, low: -high, high }
}

/// Checks a working size and the options of a list of kinds.
///
/// # Errors
/// [`Error::Option`] for the first that is out of range.
pub(super) fn check_kinds(side: u32, kinds: &[ElementKind]) -> Result<()> {
    if !(16..=1024).contains(&side) {
        return Err(Error::Option { name: "side", found: side.to_string(), expected: "16 to 1024" });
    }
    if !(1..=16).contains(&kinds.len()) {
        return Err(Error::Option { name: "elements", found: format!("{} kinds", kinds.len()), expected: "1 to 16 kinds" });
    }
    for kind in kinds {
        kind.source.check()?;
        kind.kernel.check()?;
    }
    Ok(())
}
