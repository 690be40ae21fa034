//! The items labelled at a simulated desk, as its advisers see them: vectors of a file, or images
//! with their appearance, captions and elements.

use std::collections::BTreeMap;

use image::RgbImage;
use rayon::prelude::*;

use super::examples::dense;
use crate::advise::{AdviserKind, Projector, Views};
use crate::ckm::{Ckm, Scores};
use crate::data::tables::Table;
use crate::data::{Dataset, ImageSource};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};
use crate::picture::appearance::{Appearance, VALUES};
use crate::picture::{Decoder, thumbnail};
use crate::progress::Progress;
use crate::sparse::SparseVec;
use crate::text::hashing::{Stemming, counts};

/// An item to be labelled.
#[derive(Clone, Debug)]
pub struct DeskItem {
    /// Its class.
    pub class: ClassId,
    /// Which object it shows, if that is known.
    pub object: Option<usize>,
    /// What the advisers use of it, without the recogniser's opinion.
    pub views: Views,
}

/// Items to be labelled.
#[derive(Debug, Default)]
pub struct DeskItems {
    /// All of them, in the order of the file or of the files' names.
    pub all: Vec<DeskItem>,
    /// A recogniser that holds all images, if there is one; its identifiers are positions in `all`.
    pub pieces: Option<Ckm>,
    /// Files that were left out.
    pub failed: Vec<super::super::Failed>,
}

/// What a recogniser says of an item that has learned those before it.
pub(super) struct JudgedItem {
    pub(super) scores: Scores,
    /// Its values of whole images; none where they are not compared.
    pub(super) whole: Vec<f64>,
}

/// Gives the values of a picture that views are made of.
pub type PictureValues<'a> = dyn Fn(&RgbImage) -> Result<Vec<f64>> + Sync + 'a;

/// Numbers names in the order in which they are first met.
#[derive(Default)]
struct Numbers<'a>(BTreeMap<&'a str, usize>);

impl<'a> Numbers<'a> {
    fn of(&mut self, name: &'a str) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }
}

impl DeskItems {
    /// Examples as [`dense`] makes them with this many components, and the objects that they show,
    /// one name for each, or none at all.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of objects than of examples.
    pub fn of_examples(examples: &[(ClassId, SparseVec)], objects: &[&str], dimension: usize, seed: u64) -> Result<Self> {
        if !objects.is_empty() && objects.len() != examples.len() {
            return Err(Error::value("groups", format!("one for each of {} examples", examples.len()), objects.len().to_string()));
        }
        let mut numbers = Numbers::default();
        let examples = dense(examples, dimension, seed);
        let projector = Projector::new(examples.first().map_or(0, |(_, whole)| whole.len()), seed);
        let thing = |(place, (class, whole)): (usize, (ClassId, Vec<f64>))| {
            let object = objects.get(place).map(|name| numbers.of(name));
            DeskItem { class, object, views: projector.views(whole, SparseVec::default()) }
        };
        let all = examples.into_iter().enumerate().map(thing).collect();
        Ok(Self { all, ..Self::default() })
    }

    /// The images of a data set that can be decoded, with the captions that a table has for them by
    /// their names or paths, and their elements in a recogniser trained on the data set, if there
    /// is one. Views are made of what `look` gives for a picture, all of the same length, or of
    /// appearances.
    ///
    /// # Errors
    /// [`Error::Data`] when no image can be used; [`Error::Cancelled`].
    pub fn of_images(
        data: &Dataset,
        captions: Option<&Table>,
        recogniser: Option<Ckm>,
        look: Option<&PictureValues<'_>>,
        decoder: &dyn Decoder,
        seed: u64,
        progress: &Progress,
    ) -> Result<Self> {
        let said: BTreeMap<&str, &Vec<String>> =
            captions.iter().flat_map(|table| &table.rows).map(|row| (row.path.as_str(), &row.captions)).collect();
        progress.begin("Looking at images", data.items.len() as u64);
        let values = |item: usize| -> Result<Vec<f64>> {
            progress.step()?;
            let picture = data.picture(item, decoder, thumbnail::SIDE, progress)?;
            if let Some(look) = look {
                return look(&picture.pixels);
            }
            Ok(Appearance::of(&thumbnail::shrink(&picture.pixels)).values())
        };
        let looked: Vec<Result<Vec<f64>>> = (0..data.items.len()).into_par_iter().map(values).collect();
        let (mut made, mut objects) = (Self::default(), Numbers::default());
        let projector = Projector::new(looked.iter().flatten().next().map_or(VALUES, Vec::len), seed);
        let mut pieces = recogniser.as_ref().map(|ckm| Ckm::new(ckm.options().clone())).transpose()?;
        let held: BTreeMap<ItemId, _> =
            recogniser.iter().flat_map(Ckm::examples).map(|(class, example)| (example.id, (class, example))).collect();
        for (number, (item, values)) in data.items.iter().zip(looked).enumerate() {
            let example = held.get(&ItemId(number as u32));
            let values = match values {
                Ok(_) if recogniser.is_some() && example.is_none() => continue,
                Ok(values) => values,
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => {
                    made.failed.push(super::super::Failed { path: item.path().to_owned(), error });
                    continue;
                }
            };
            let path = match &item.source {
                ImageSource::File(path) => path.strip_prefix(&data.root).unwrap_or(path).to_string_lossy().into_owned(),
                ImageSource::Frame { .. } => item.name(),
            };
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            let text = said.get(path.as_str()).or_else(|| said.get(name)).map(|captions| captions.join(" ")).unwrap_or_default();
            let words = counts(&text, Stemming::None);
            let object = item.group.as_deref().map(|group| objects.of(group));
            if let (Some(pieces), Some((_, example))) = (&mut pieces, example) {
                let id = ItemId(made.all.len() as u32);
                pieces.add(data.class_name(item.class), crate::ckm::Example { id, ..(*example).clone() })?;
            }
            made.all.push(DeskItem { class: item.class, object, views: projector.views(values, words) });
        }
        if made.all.is_empty() {
            let advice = "put the images of each class into a folder of its own";
            return Err(Error::data(&data.root, "images that can be decoded", "none", advice));
        }
        // Orders by object need all objects.
        if made.all.iter().any(|thing| thing.object.is_none()) {
            made.all.iter_mut().for_each(|thing| thing.object = None);
        }
        made.pieces = pieces;
        Ok(made)
    }

    /// The kinds of advisers for which there is data: captions only where an item has any, the
    /// recogniser only where there is one.
    pub(super) fn advisers(&self) -> Vec<AdviserKind> {
        let has_words = self.all.iter().any(|thing| !thing.views.words.is_empty());
        let has_something = |kind: &AdviserKind| match kind {
            AdviserKind::Captions => has_words,
            AdviserKind::Recogniser | AdviserKind::WholeImages => self.pieces.is_some(),
            _ => true,
        };
        AdviserKind::ALL.into_iter().filter(has_something).collect()
    }

    /// The scores of each item by a recogniser that has learned the items before it, in each of
    /// these orders, and its values of whole images if wanted: `(items, orders)`, by position. On
    /// all threads. O(items^2) comparisons of images, O(orders * items^2) steps for each element,
    /// and O(orders * items^3).
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(super) fn judged(&self, orders: &[Vec<usize>], compares_wholes: bool, progress: &Progress) -> Result<Option<Vec<Vec<JudgedItem>>>> {
        let Some(ckm) = &self.pieces else { return Ok(None) };
        let turn_of = |places: &Vec<usize>| {
            let mut turn = vec![0; places.len()];
            places.iter().enumerate().for_each(|(now, place)| turn[*place] = now);
            turn
        };
        let turns: Vec<Vec<usize>> = orders.iter().map(turn_of).collect();
        let examples: BTreeMap<ItemId, _> = ckm.examples().map(|(_, example)| (example.id, example)).collect();
        progress.begin("Recognising", self.all.len() as u64);
        let judge = |place: usize| -> Result<Vec<Scores>> {
            progress.step()?;
            let Some(example) = examples.get(&ItemId(place as u32)) else { return Ok(Vec::new()) };
            Ok(ckm.scores_by_parts(&example.elements.get(), orders.len(), |order, id| turns[order][id.0 as usize] < turns[order][place]))
        };
        let scores: Vec<Vec<Scores>> = (0..self.all.len()).into_par_iter().map(judge).collect::<Result<_>>()?;
        let in_turn = |places: &Vec<usize>| -> Result<Vec<Vec<f64>>> {
            progress.steps(0)?;
            if !compares_wholes {
                return Ok(vec![Vec::new(); places.len()]);
            }
            Ok(ckm.whole_values_in_turn(&places.iter().map(|place| ItemId(*place as u32)).collect::<Vec<_>>()))
        };
        let mut whole: Vec<Vec<Vec<f64>>> = orders.par_iter().map(in_turn).collect::<Result<_>>()?;
        let mut joined = |(place, scores): (usize, Vec<Scores>)| -> Vec<JudgedItem> {
            let with_whole =
                |(order, scores): (usize, Scores)| JudgedItem { scores, whole: std::mem::take(&mut whole[order][turns[order][place]]) };
            scores.into_iter().enumerate().map(with_whole).collect()
        };
        Ok(Some(scores.into_iter().enumerate().map(&mut joined).collect()))
    }
}
