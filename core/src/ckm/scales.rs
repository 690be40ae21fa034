//! Other scales at which a machine's elements may be cut: smaller and larger patches, blocks and
//! squares.

use super::options::{CkmOptions, ElementKind, ElementSource};
#[cfg(feature = "images")]
use crate::features::OrbOptions;
#[cfg(feature = "network")]
use crate::network::{EncoderOptions, NetworkOptions};
#[cfg(feature = "images")]
use crate::picture::colour::ColourOptions;
#[cfg(feature = "images")]
use crate::picture::hog::HogOptions;

/// Kinds that a machine has at most.
const KINDS: usize = 16;

/// For each kind that counts a smaller and a larger scale: which kind it is, and where its elements
/// come from then. Elements that the caller brings have none.
pub fn other_scales(options: &CkmOptions) -> Vec<(usize, ElementSource)> {
    let used = options.kinds.iter().enumerate().filter(|(_, kind)| kind.kernel.weight > 0.0);
    let others = used.flat_map(|(k, kind)| {
        let is_other = |source: &ElementSource| *source != kind.source && source.check().is_ok();
        of_kind(&kind.source).into_iter().filter(is_other).map(move |source| (k, source)).collect::<Vec<_>>()
    });
    others.take(KINDS).collect()
}

/// The options of a machine that has these scales alone.
pub(super) fn machine_of(options: &CkmOptions, scales: &[(usize, ElementSource)]) -> CkmOptions {
    let kind = |(k, source): &(usize, ElementSource)| ElementKind { source: source.clone(), kernel: options.kinds[*k].kernel };
    CkmOptions { kinds: scales.iter().map(kind).collect(), ..options.clone() }
}

#[cfg(not(feature = "images"))]
fn of_kind(_: &ElementSource) -> Vec<ElementSource> {
    Vec::new()
}

#[cfg(feature = "images")]
fn of_kind(source: &ElementSource) -> Vec<ElementSource> {
    match source {
        ElementSource::Orb(features) => {
            // A patch has an odd number of pixels.
            let patch = |thirds| ElementSource::Orb(OrbOptions { patch: (features.patch * thirds / 3) | 1, ..features.clone() });
            vec![patch(2), patch(4)]
        }
        ElementSource::Hog(features) => {
            let cell = |cell| ElementSource::Hog(HogOptions { cell, ..features.clone() });
            vec![cell(features.cell * 3 / 4), cell(features.cell * 4 / 3)]
        }
        ElementSource::Colour(features) => {
            let grid = |thirds| ElementSource::Colour(ColourOptions { grid: features.grid * thirds / 3 });
            vec![grid(2), grid(4)]
        }
        #[cfg(feature = "network")]
        ElementSource::Network(features) => {
            let grid = |thirds| ElementSource::Network(NetworkOptions { grid: features.grid * thirds / 3 });
            vec![grid(2), grid(4)]
        }
        #[cfg(feature = "network")]
        ElementSource::Encoder(features) => {
            let grid = |thirds| ElementSource::Encoder(EncoderOptions { grid: features.grid * thirds / 3, ..features.clone() });
            vec![grid(2), grid(4)]
        }
        #[cfg(feature = "network")]
        ElementSource::NetworkClasses => Vec::new(),
        ElementSource::Own(_) => Vec::new(),
    }
}
