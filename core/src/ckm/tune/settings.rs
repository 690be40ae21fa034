//! The settings that a race compares: those around the best so far, one group of options at a time.

#[cfg(feature = "images")]
use crate::ckm::ElementSource;
use crate::ckm::{CkmOptions, ElementKind, Search};

/// A setting: the machine's options, in which kinds of weight 0 wait to come back, and its search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) options: CkmOptions,
    pub(super) search: Search,
}

impl Setting {
    /// The options without the kinds of weight 0. A kind that is alone has weight 1, for its
    /// weight changes no answer.
    pub(super) fn machine(&self) -> CkmOptions {
        let mut options = self.options.clone();
        options.kinds.retain(is_used);
        if let [kind] = options.kinds.as_mut_slice() {
            kind.kernel.weight = 1.0;
        }
        options
    }

    /// Whether both come to the same machine.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.search == other.search && self.machine() == other.machine()
    }
}

fn is_used(kind: &ElementKind) -> bool {
    kind.kernel.weight > 0.0
}

/// Groups of options, raced one after another. Kinds and their weights come twice: with other
/// options, other kinds may be worth their time.
pub(super) const GROUPS: [Group; 6] = [Group::Kinds, Group::Density, Group::Place, Group::Pairs, Group::Side, Group::Kinds];

/// A group of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Which kinds there are, and their weights.
    Kinds,
    /// How many elements an image has: cells of blocks, squares of colour, corners.
    Density,
    /// What lying elsewhere in the image costs.
    Place,
    /// Pair nodes.
    Pairs,
    /// The working size.
    Side,
}

impl Group {
    /// Settings that differ from `now` in this group of options; some may be out of range or alike.
    /// `weights` are those that the kinds had before tuning.
    pub(super) fn around(self, now: &CkmOptions, weights: &[f32]) -> Vec<CkmOptions> {
        let with = |change: &dyn Fn(&mut CkmOptions)| {
            let mut other = now.clone();
            change(&mut other);
            other
        };
        match self {
            Self::Kinds => mixtures(weights)
                .into_iter()
                .map(|mixture| with(&|o| o.kinds.iter_mut().zip(&mixture).for_each(|(kind, weight)| kind.kernel.weight = *weight)))
                .collect(),
            Self::Density => density(now),
            Self::Place => {
                let of_all = [0.0, 0.5, 2.0, 4.0].map(|factor| with(&|o| o.kinds.iter_mut().for_each(|k| k.kernel.cost *= factor)));
                let main = heaviest(&now.kinds.iter().map(|kind| kind.kernel.weight).collect::<Vec<_>>());
                let of_main = [0.0, 0.5, 2.0, 4.0].map(|factor| with(&|o| o.kinds[main].kernel.cost *= factor));
                [of_all, of_main].concat()
            }
            Self::Pairs => vec![
                with(&|o| o.neighbours = 0),
                with(&|o| o.kinds.iter_mut().for_each(|kind| kind.kernel.pair_bonus *= 0.5)),
                with(&|o| o.kinds.iter_mut().for_each(|kind| kind.kernel.pair_bonus *= 2.0)),
            ],
            Self::Side => [3, 6].map(|quarters| with(&|o| o.side = o.side * quarters / 4)).into(),
        }
    }
}

/// The position of the largest weight, of equals the first.
fn heaviest(weights: &[f32]) -> usize {
    (0..weights.len()).reduce(|best, k| if weights[k] > weights[best] { k } else { best }).unwrap_or(0)
}

/// Weights of kinds: the heaviest with each of the others at 0, a quarter, once or four times its
/// weight; and the others without it. With more than four kinds, one kind is changed at a time.
fn mixtures(weights: &[f32]) -> Vec<Vec<f32>> {
    const FACTORS: [f32; 4] = [1.0, 0.0, 0.25, 4.0];
    let main = heaviest(weights);
    if weights.len() > 4 {
        let changed = |k: usize, factor: f32| (0..weights.len()).map(|j| weights[j] * if j == k { factor } else { 1.0 }).collect();
        return (0..weights.len()).flat_map(|k| FACTORS.map(|factor| changed(k, factor))).collect();
    }
    let (mut with, mut without) = (vec![Vec::new()], vec![Vec::new()]);
    for (k, weight) in weights.iter().enumerate() {
        let extended = |all: &[Vec<f32>], factors: &[f32]| -> Vec<Vec<f32>> {
            all.iter().flat_map(|first| factors.iter().map(|factor| [first.as_slice(), &[weight * factor]].concat())).collect()
        };
        with = extended(&with, if k == main { &FACTORS[..1] } else { &FACTORS });
        without = extended(&without, if k == main { &FACTORS[1..2] } else { &FACTORS[..2] });
    }
    with.extend(without.into_iter().filter(|mixture| mixture.iter().any(|weight| *weight > 0.0)));
    with
}

/// Fewer and more elements of each kind that is used.
fn density(now: &CkmOptions) -> Vec<CkmOptions> {
    #[cfg(not(feature = "images"))]
    let sources = |_: &ElementKind| Vec::new();
    #[cfg(feature = "images")]
    let sources = |kind: &ElementKind| match &kind.source {
        ElementSource::Orb(features) => {
            let count = |count| ElementSource::Orb(crate::features::OrbOptions { count, ..features.clone() });
            let turned = ElementSource::Orb(crate::features::OrbOptions { upright: !features.upright, ..features.clone() });
            vec![count(features.count / 2), count(features.count * 2), turned]
        }
        ElementSource::Hog(features) => {
            let cell = |cell| ElementSource::Hog(crate::picture::hog::HogOptions { cell, ..features.clone() });
            vec![cell(features.cell * 3 / 4), cell(features.cell * 4 / 3), cell(features.cell * 16 / 9)]
        }
        ElementSource::Colour(features) => {
            let grid = |grid| ElementSource::Colour(crate::picture::colour::ColourOptions { grid });
            vec![grid(features.grid * 2 / 3), grid(features.grid * 4 / 3), grid(features.grid * 8 / 3)]
        }
        #[cfg(feature = "network")]
        ElementSource::Network(features) => {
            let grid = |grid| ElementSource::Network(crate::network::NetworkOptions { grid });
            vec![grid(features.grid * 2 / 3), grid(features.grid * 4 / 3)]
        }
        #[cfg(feature = "network")]
        ElementSource::Encoder(features) => {
            let grid = |grid| ElementSource::Encoder(crate::network::EncoderOptions { grid, ..features.clone() });
            vec![grid(features.grid * 2 / 3), grid(features.grid * 4 / 3)]
        }
        #[cfg(feature = "network")]
        ElementSource::NetworkClasses => Vec::new(),
        ElementSource::Own(_) => Vec::new(),
    };
    let mut found = Vec::new();
    for (k, kind) in now.kinds.iter().enumerate().filter(|(_, kind)| is_used(kind)) {
        for source in sources(kind) {
            let mut other = now.clone();
            other.kinds[k].source = source;
            found.push(other);
        }
    }
    found
}
