//! The usual settings of machines over pictures.

use serde::{Deserialize, Serialize};

use super::kernel::LeafKernel;
use super::options::{CkmOptions, ElementKind, ElementSource};
use crate::features::OrbOptions;
#[cfg(feature = "network")]
use crate::network::{EncoderOptions, NetworkOptions};
use crate::picture::colour::ColourOptions;
use crate::picture::hog::HogOptions;

/// Which elements a machine is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Corners alone.
    Orb,
    /// Gradient blocks alone.
    Hog,
    /// Colour layout alone.
    Colour,
    /// All of the above.
    Mixed,
    /// Cells of the network that comes with the program alone, and what it says of its classes.
    #[cfg(feature = "network")]
    Network,
    /// Those of [`Preset::Mixed`] and of [`Preset::Network`].
    #[cfg(feature = "network")]
    All,
}

impl Preset {
    /// The options, chosen on training objects alone by `benches/select_ckm.py` (its log lies
    /// beside it). Patches are described upright, without rotation: people photograph objects
    /// upright.
    pub fn options(self) -> CkmOptions {
        let kinds = match self {
            Self::Orb => vec![orb(1.0)],
            Self::Hog => vec![hog(1.0)],
            Self::Colour => vec![colour(1.0)],
            Self::Mixed => mixed(),
            #[cfg(feature = "network")]
            Self::Network => vec![network(1.0), network_classes()],
            #[cfg(feature = "network")]
            Self::All => [mixed(), vec![network(4.0), network_classes()]].concat(),
        };
        CkmOptions { side: 128, kinds, decompositions: 8, neighbours: 4, seed: 0 }
    }
}

/// What is in the pictures of a machine: how much kinds and places count to begin with. They may be
/// fitted to the images after that ([`super::fit`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    /// Single things, upright and in the middle: options stay as they are.
    #[default]
    Object,
    /// Things that lie anywhere: lying elsewhere costs half as much.
    Scene,
    /// Surfaces that look alike all over: place counts for nothing, corners and colours for more.
    Texture,
}

impl Subject {
    /// All subjects.
    pub const ALL: [Self; 3] = [Self::Object, Self::Scene, Self::Texture];

    /// Its name in commands and files: `object`, `scene` or `texture`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Scene => "scene",
            Self::Texture => "texture",
        }
    }

    /// Changes the kernels of a machine's kinds to those for this subject.
    pub fn set(self, options: &mut CkmOptions) {
        for kind in &mut options.kinds {
            let kernel = &mut kind.kernel;
            match (self, &kind.source) {
                (Self::Object, _) => {}
                (Self::Scene, _) => kernel.cost *= 0.5,
                (Self::Texture, ElementSource::Orb(_)) => (kernel.cost, kernel.weight) = (0.0, 4.0 * kernel.weight),
                (Self::Texture, ElementSource::Colour(_)) => (kernel.cost, kernel.weight) = (0.0, 1.5 * kernel.weight),
                (Self::Texture, _) => kernel.cost = 0.0,
            }
        }
    }
}

fn mixed() -> Vec<ElementKind> {
    vec![orb(0.03), hog(1.0), colour(0.8)]
}

fn orb(weight: f32) -> ElementKind {
    let features = OrbOptions { count: 100, area: 0.0, levels: 8, scale: 1.2, edge: 4, threshold: 20, patch: 51, spread: 0, upright: true };
    ElementKind { source: ElementSource::Orb(features), kernel: LeafKernel { rho: 56.0, cost: 0.5, reach: 32.0, pair_bonus: 0.2, weight } }
}

fn hog(weight: f32) -> ElementKind {
    let features = HogOptions { cell: 9, noise: 0.01, clip: 0.4 };
    ElementKind { source: ElementSource::Hog(features), kernel: LeafKernel { rho: 2.0, cost: 0.05, reach: 32.0, pair_bonus: 0.2, weight } }
}

fn colour(weight: f32) -> ElementKind {
    let features = ColourOptions { grid: 6 };
    ElementKind {
        source: ElementSource::Colour(features),
        kernel: LeafKernel { rho: 4.0, cost: 0.1, reach: 32.0, pair_bonus: 0.1, weight },
    }
}

#[cfg(feature = "network")]
fn network(weight: f32) -> ElementKind {
    let features = NetworkOptions { grid: 6 };
    ElementKind {
        source: ElementSource::Network(features),
        kernel: LeafKernel { rho: 1.4, cost: 0.1, reach: 32.0, pair_bonus: 0.1, weight },
    }
}

/// One element without weight: it is no piece.
#[cfg(feature = "network")]
fn network_classes() -> ElementKind {
    let kernel = LeafKernel { rho: 1.0, cost: 0.0, reach: 1.0, pair_bonus: 0.0, weight: 0.0 };
    ElementKind { source: ElementSource::NetworkClasses, kernel }
}

/// A machine of the cells of a network that the user brought alone, compared as those of
/// [`Preset::Network`] are: nothing was chosen for any such network.
#[cfg(feature = "network")]
pub fn of_encoder(options: EncoderOptions) -> CkmOptions {
    let kind = ElementKind { source: ElementSource::Encoder(options), ..network(1.0) };
    CkmOptions { kinds: vec![kind], ..Preset::Network.options() }
}
