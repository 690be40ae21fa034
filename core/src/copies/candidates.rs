//! Pairs of pictures that may be near copies, found by the signs of their lowest frequencies.

use rayon::prelude::*;

use super::align::{CropWindow, Plane, align};
use super::signature::{SIDE, Signature, Spectrum, spectra, windows};
use super::turn::Turn;
use crate::error::Result;
use crate::progress::Progress;

/// Of the 63 signs of two pictures so many may differ.
const SIGNS: u32 = 9;
/// How far two spectra may be apart before the pictures are brought into line
/// ([`Spectrum::distance`]).
const SPECTRA: f32 = 0.4;
/// How far two signatures may be apart once they are in line: the mean squared difference over the
/// contrast.
const SIGNATURES: f32 = 0.5;
/// Signs are looked up in so many pieces of 16 bits.
const BANDS: usize = 4;
const BAND: usize = 16;

/// Two pictures, by their places in the list, of which the second may be a copy of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The first.
    pub from: usize,
    /// The second.
    pub to: usize,
    /// How the first was turned to become the second.
    pub turn: Turn,
    /// Which part of the first, as it is, became the second.
    pub window: CropWindow,
}

/// Which pairs of places are wanted.
pub type Wanted<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Signs of many pictures, found by equal pieces: pictures of which at most one bit differs in one
/// of the pieces (M. Norouzi, A. Punjani and D. Fleet, *Fast search in Hamming space with
/// multi-index hashing*, 2012).
struct SignIndex {
    signs: Vec<u64>,
    /// For each band the pictures sorted by it, and where each value of it begins.
    bands: Vec<(Vec<u32>, Vec<u32>)>,
}

fn band(signs: u64, band: usize) -> usize {
    (signs >> (BAND * band)) as usize & ((1 << BAND) - 1)
}

impl SignIndex {
    /// An index of the pictures that are not flat.
    fn new(signs: Vec<u64>, is_flat: &[bool]) -> Self {
        let of = |b: usize| {
            let there = || signs.iter().zip(is_flat).zip(0_u32..).filter(|((_, flat), _)| !**flat);
            let mut starts = vec![0_u32; (1 << BAND) + 1];
            there().for_each(|((signs, _), _)| starts[band(*signs, b) + 1] += 1);
            (0..1 << BAND).for_each(|value| starts[value + 1] += starts[value]);
            let (mut next, mut sorted) = (starts.clone(), vec![0; starts[1 << BAND] as usize]);
            for ((signs, _), id) in there() {
                let at = &mut next[band(*signs, b)];
                sorted[*at as usize] = id;
                *at += 1;
            }
            (sorted, starts)
        };
        let bands = (0..BANDS).map(of).collect();
        Self { signs, bands }
    }

    /// Hands each picture whose signs differ in few bits to `take`, once.
    fn near(&self, signs: u64, mut take: impl FnMut(usize)) {
        for (b, (sorted, starts)) in self.bands.iter().enumerate() {
            let value = band(signs, b);
            for key in std::iter::once(value).chain((0..BAND).map(|bit| value ^ (1 << bit))) {
                for id in &sorted[starts[key] as usize..starts[key + 1] as usize] {
                    let apart = self.signs[*id as usize] ^ signs;
                    let is_known = (0..b).any(|b| band(apart, b).count_ones() <= 1);
                    if apart.count_ones() <= SIGNS && !is_known {
                        take(*id as usize);
                    }
                }
            }
        }
    }
}

/// All pairs that may be near copies, in order of the first, then the second. A pair is there a
/// second time where the second picture may also have been cropped to make the first. Flat pictures
/// ([`Signature::is_flat`]) have none.
///
/// # Errors
/// [`crate::Error::Cancelled`].
///
/// # Complexity
/// For each picture 296 look-ups of signs, each O(70 + n / 1,000), and 0.1 ms for each candidate.
pub fn candidates(signatures: &[Signature], progress: &Progress) -> Result<Vec<Candidate>> {
    candidates_among(signatures, &|_, _| true, progress)
}

/// As [`candidates`], of the pairs of places that are wanted alone.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn candidates_among(signatures: &[Signature], is_wanted: Wanted<'_>, progress: &Progress) -> Result<Vec<Candidate>> {
    let wholes: Vec<Spectrum> = signatures.par_iter().map(|signature| spectra(signature, |w| *w == CropWindow::WHOLE).remove(0)).collect();
    let is_flat: Vec<bool> = signatures.par_iter().map(Signature::is_flat).collect();
    let index = SignIndex::new(wholes.iter().map(|spectrum| spectrum.signs().turned(Turn::default())).collect(), &is_flat);
    progress.begin("Looking for near copies", signatures.len() as u64);
    let look = |from: usize| {
        progress.step()?;
        Ok(if is_flat[from] { Vec::new() } else { candidates_of(from, signatures, &wholes, &index, is_wanted) })
    };
    let found: Vec<Vec<Candidate>> = (0..signatures.len()).into_par_iter().map(look).collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// The copies that may have been made of one picture.
fn candidates_of(from: usize, signatures: &[Signature], wholes: &[Spectrum], index: &SignIndex, is_wanted: Wanted<'_>) -> Vec<Candidate> {
    let mut found: Vec<(usize, f32, Turn, CropWindow)> = Vec::new();
    for (spectrum, window) in spectra(&signatures[from], |_| true).iter().zip(windows()) {
        let signs = spectrum.signs();
        for turn in Turn::ALL {
            let mut turned = None;
            index.near(signs.turned(turn), |to| {
                // A copy of all of it is found from either.
                if to == from || window == CropWindow::WHOLE && to < from || !is_wanted(from, to) {
                    return;
                }
                let apart = turned.get_or_insert_with(|| spectrum.turned(turn)).distance(&wholes[to]);
                if apart <= SPECTRA {
                    found.push((to, apart, turn, window));
                }
            });
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    found.dedup_by_key(|(to, ..)| *to);
    let source = plane(&signatures[from]);
    let is_close = |(to, _, turn, window): &(usize, f32, Turn, CropWindow)| {
        let target = plane(&signatures[*to]).values;
        let contrast = target.iter().map(|grey| grey * grey).sum::<f32>() / target.len() as f32
            - (target.iter().sum::<f32>() / target.len() as f32).powi(2);
        let turned = turned(&source, *turn);
        align(&turned, &target, SIDE, turn.window(*window)).1 <= SIGNATURES * contrast
    };
    found.retain(is_close);
    found.into_iter().map(|(to, _, turn, window)| Candidate { from, to, turn, window }).collect()
}

fn plane(signature: &Signature) -> Plane {
    Plane { width: SIDE, height: SIDE, values: signature.bytes().iter().map(|grey| f32::from(*grey)).collect() }
}

fn turned(plane: &Plane, turn: Turn) -> Plane {
    let side = SIDE as u32;
    let pixels = (0..side).flat_map(|y| (0..side).map(move |x| turn.source((x, y), (side, side))));
    Plane { values: pixels.map(|(x, y)| plane.values[y as usize * SIDE + x as usize]).collect(), ..*plane }
}
