//! A trained machine on disk: everything that is needed to answer and explain on another computer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};

use super::accuracy::{Accuracy, Estimate};
use super::class_terms::ClassTerms;
use super::confidence::Calibration;
use super::element::{Cut, ElementSet, Elements, VERSION, Values, is_size};
use super::unknown::{NoveltyBar, Standing, UnknownBar, UnknownBars, UnknownCurve, WhyUnknown};
use super::{Ckm, CkmOptions, ElementSource, Example, Search};
use crate::descriptor::{Descriptor, PATTERN_VERSION};
use crate::envelope;
use crate::error::{Error, Result};
use crate::ids::ItemId;

/// The kind of model, as its manifest calls it.
pub const KIND: &str = "ckm";

/// A trained machine with the calibration of its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct RecogniserModel {
    /// The machine.
    pub ckm: Arc<Ckm>,
    /// From margins to confidence.
    pub calibration: Calibration,
    /// What was measured when it was trained.
    pub metrics: Metrics,
    /// The folder that the names of its training images are relative to, where it was trained.
    pub root: String,
}

/// What was measured when a machine was trained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Accuracy on training images with their whole object left out; `None` when none could be
    /// judged.
    pub held_out_accuracy: Option<f64>,
    /// The standard error of that.
    #[serde(default)]
    pub held_out_spread: Option<f64>,
    /// The mean of the classes' recalls on the same images, and its standard error.
    #[serde(default)]
    pub held_out_mean_recall: Option<Estimate>,
    /// Images it was measured on.
    pub held_out: usize,
    /// Training images whose object was not known: their near copies were not left out, so the
    /// accuracy is too high.
    pub objects_unknown: usize,
    /// Groups of classes that could not be told apart (see [`super::told_apart`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_told_apart: Vec<Vec<String>>,
    /// Below which lead an image looks like none of the classes; `None` where that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownBar>,
    /// What other bars would do.
    #[serde(default, skip_serializing_if = "UnknownCurve::is_empty")]
    pub unknown_curve: UnknownCurve,
    /// Above which novelty an image looks unlike all training images; `None` where that cannot be
    /// told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub novelty: Option<NoveltyBar>,
}

impl Metrics {
    /// The lead below which an image counts as unknown, if this share of the images of the classes
    /// is to be answered. Without a share, or a curve to choose on, it is the bar that was found,
    /// if there is one.
    pub fn unknown_bar(&self, answered: Option<f64>) -> Option<UnknownBar> {
        let chosen = answered.filter(|_| !self.unknown_curve.is_empty());
        chosen.map_or(self.unknown, |share| self.unknown_curve.answering(share))
    }

    /// Why an image that stands so counts as unknown, if it does, where this share of the images of
    /// the classes is to be answered ([`Metrics::unknown_bar`]); none does where all are.
    pub fn unknown_by(&self, answered: Option<f64>, standing: Standing) -> Option<WhyUnknown> {
        let bar = self.unknown_bar(answered);
        // So many may be chosen that all are.
        if answered.is_some_and(|share| share == 1.0 || (!self.unknown_curve.is_empty() && bar.is_none())) {
            return None;
        }
        let novel = self.novelty.filter(|bar| bar.is_below(standing.novelty)).map(WhyUnknown::Novel);
        novel.or_else(|| bar.filter(|bar| bar.is_above(standing.lead)).map(WhyUnknown::LeadsLittle))
    }

    /// What a model file says of an accuracy that was measured on `held_out` images, and nothing
    /// else.
    pub fn new(accuracy: Option<&Accuracy>, held_out: usize, objects_unknown: usize) -> Self {
        Self {
            held_out_accuracy: accuracy.map(|accuracy| accuracy.overall.value),
            held_out_spread: accuracy.map(|accuracy| accuracy.overall.spread),
            held_out_mean_recall: accuracy.map(|accuracy| accuracy.mean_recall),
            held_out,
            objects_unknown,
            ..Self::default()
        }
    }

    /// The same with what is told of images of none of the classes.
    pub fn with_unknown(self, UnknownBars { lead, curve, novelty }: UnknownBars) -> Self {
        Self { unknown: lead, unknown_curve: curve, novelty, ..self }
    }

    /// The classes that `class` could not be told apart from, behind itself; empty when there are
    /// none.
    pub fn confused_with(&self, class: &str) -> Vec<String> {
        let groups = self.not_told_apart.iter().filter(|group| group.iter().any(|name| name == class));
        let mut all: Vec<String> = Vec::new();
        for name in groups.flatten().filter(|name| *name != class) {
            if all.is_empty() {
                all.push(class.to_owned());
            }
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
        all
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    options: CkmOptions,
    pattern_version: u32,
    #[serde(default = "first_version")]
    element_version: u32,
    #[serde(default)]
    search: Search,
    classes: Vec<String>,
    root: String,
    images: usize,
    elements: usize,
    calibration: Calibration,
    metrics: Metrics,
    #[serde(default, skip_serializing_if = "ClassTerms::is_empty")]
    class_terms: ClassTerms,
}

/// The version of elements in models that do not tell it.
fn first_version() -> u32 {
    1
}

impl RecogniserModel {
    /// The same model without what tells of the training images' files: their names become their
    /// numbers (`#1`), objects become numbers too, and the folder is left out. Answers are the
    /// same; explanations give the numbers. Names of classes stay, which are the answers.
    /// O(images).
    ///
    /// # Errors
    /// [`Error::Option`] when the machine's options are out of range.
    pub fn without_names(&self) -> Result<Self> {
        let mut objects: BTreeMap<&str, usize> = BTreeMap::new();
        let mut ckm = Ckm::new(self.ckm.options().clone())?;
        for (class, example) in self.ckm.examples() {
            let group = example.group.as_deref().map(|group| {
                let next = objects.len() + 1;
                objects.entry(group).or_insert(next).to_string()
            });
            let example = Example { name: number(example.id), group, ..Example::clone(example) };
            ckm.add(&self.ckm.classes()[class.index()].name, example)?;
        }
        ckm.set_terms(self.ckm.terms().clone());
        ckm.set_search(self.ckm.search())?;
        Ok(Self { ckm: Arc::new(ckm), root: String::new(), ..self.clone() })
    }

    /// Whether it tells the names of its training images.
    pub fn has_names(&self) -> bool {
        self.ckm.examples().any(|(_, example)| example.name != number(example.id))
    }

    /// Writes the model to `folder`, in place of an older one. Returns the bytes written.
    ///
    /// # Errors
    /// As [`envelope::write_model`].
    pub fn save(&self, folder: &Path) -> Result<u64> {
        let (head, weights) = self.encode(folder)?;
        envelope::write_model(folder, KIND, head, &weights)
    }

    /// The bytes that the weights of this model take on disk.
    ///
    /// # Errors
    /// [`Error::Data`] when there are too many to be written down.
    pub fn weight_bytes(&self) -> Result<u64> {
        Ok(self.encode(Path::new("weights"))?.1.len() as u64)
    }

    fn encode(&self, folder: &Path) -> Result<(Head, Vec<u8>)> {
        let head = Head {
            options: self.ckm.options().clone(),
            pattern_version: PATTERN_VERSION,
            element_version: VERSION,
            search: self.ckm.search(),
            classes: self.ckm.classes().iter().map(|class| class.name.clone()).collect(),
            root: self.root.clone(),
            images: self.ckm.examples().count(),
            elements: self.ckm.n_elements(),
            calibration: self.calibration,
            metrics: self.metrics.clone(),
            class_terms: self.ckm.terms().clone(),
        };
        let weights = safetensors::serialize(tensors(&self.ckm), None)
            .map_err(|error| Error::data(folder, "weights that can be written down", error.to_string(), "train with fewer images"))?;
        Ok((head, weights))
    }

    /// Reads the model in `folder`. Any byte that differs from what was written is refused.
    ///
    /// # Errors
    /// As [`envelope::read_model`].
    pub fn load(folder: &Path) -> Result<Self> {
        let (head, weights): (Head, Vec<u8>) = envelope::read_model(folder, KIND)?;
        let refuse = |found: String| Error::data(folder, "the weights of a recogniser", found, "train it anew");
        if head.pattern_version != PATTERN_VERSION {
            return Err(refuse(format!("descriptors of pattern version {}, not {PATTERN_VERSION}", head.pattern_version)));
        }
        if !(1..=VERSION).contains(&head.element_version) {
            return Err(refuse(format!("elements of version {}, not {VERSION}", head.element_version)));
        }
        let Calibration { offset, slope, .. } = head.calibration;
        if !(offset.is_finite() && slope.is_finite() && slope >= 0.0) {
            return Err(refuse(format!("a curve of confidence with offset {offset} and slope {slope}")));
        }
        if !head.class_terms.are_valid() {
            return Err(refuse("class terms that are no numbers".into()));
        }
        let tensors = SafeTensors::deserialize(&weights).map_err(|error| refuse(error.to_string()))?;
        let mut ckm = Ckm::new(head.options).map_err(|error| refuse(error.to_string()))?;
        head.search.check().map_err(|error| refuse(error.to_string()))?;
        read_examples(&mut ckm, &head.classes, head.images, head.element_version, &Reader(&tensors)).map_err(refuse)?;
        // Images of one identifier replace each other.
        let (images, elements) = (ckm.examples().count(), ckm.n_elements());
        if (images, elements) != (head.images, head.elements) {
            return Err(refuse(format!("{images} images of {elements} elements, not {} of {}", head.images, head.elements)));
        }
        ckm.set_terms(head.class_terms);
        ckm.set_search(head.search)?;
        Ok(Self { ckm: Arc::new(ckm), calibration: head.calibration, metrics: head.metrics, root: head.root })
    }
}

/// What stands for an image whose name is left out.
fn number(image: ItemId) -> String {
    format!("#{}", image.0)
}

/// A tensor that owns its bytes.
struct Owned {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for Owned {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

fn bytes_tensor(rows: usize, bytes: Vec<u8>) -> Owned {
    let shape = if rows == 0 { vec![0, 0] } else { vec![rows, bytes.len() / rows] };
    Owned { dtype: Dtype::U8, shape, bytes }
}

fn text_tensor(bytes: Vec<u8>) -> Owned {
    Owned { dtype: Dtype::U8, shape: vec![bytes.len()], bytes }
}

fn u32_tensor(values: impl IntoIterator<Item = u32>) -> Owned {
    let bytes: Vec<u8> = values.into_iter().flat_map(u32::to_le_bytes).collect();
    Owned { dtype: Dtype::U32, shape: vec![bytes.len() / 4], bytes }
}

fn f32_tensor(values: impl IntoIterator<Item = f32>) -> Owned {
    let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
    Owned { dtype: Dtype::F32, shape: vec![bytes.len() / 4], bytes }
}

/// Images in the machine's order; elements kind by kind, image by image.
fn tensors(ckm: &Ckm) -> Vec<(String, Owned)> {
    let images: Vec<_> = ckm.examples().collect();
    let ends = |lengths: &mut dyn Iterator<Item = usize>| {
        let mut end = 0;
        u32_tensor(
            lengths
                .map(|length| {
                    end += length as u32;
                    end
                })
                .collect::<Vec<_>>(),
        )
    };
    let group = |example: &Example| example.group.clone().unwrap_or_default();
    let mut all = vec![
        ("images.id".to_owned(), u32_tensor(images.iter().map(|(_, e)| e.id.0))),
        ("images.class".into(), u32_tensor(images.iter().map(|(class, _)| class.0))),
        ("images.width".into(), u32_tensor(images.iter().map(|(_, e)| e.elements.size().0))),
        ("images.height".into(), u32_tensor(images.iter().map(|(_, e)| e.elements.size().1))),
        ("images.name".into(), text_tensor(images.iter().flat_map(|(_, e)| e.name.bytes()).collect())),
        ("images.name_end".into(), ends(&mut images.iter().map(|(_, e)| e.name.len()))),
        ("images.group".into(), text_tensor(images.iter().flat_map(|(_, e)| group(e).into_bytes()).collect())),
        ("images.group_end".into(), ends(&mut images.iter().map(|(_, e)| group(e).len()))),
    ];
    let kinds = &ckm.options().kinds;
    let mut parts: Vec<KindPart> = kinds.iter().map(|_| KindPart::default()).collect();
    // Elements that are not in memory are read once, image by image.
    for (_, example) in &images {
        let elements = example.elements.get();
        parts.iter_mut().zip(&elements.sets).for_each(|(part, set)| part.push(set));
    }
    for (k, (kind, part)) in kinds.iter().zip(parts).enumerate() {
        let name = |part: &str| format!("{k}.{}.{part}", kind.source.name());
        let n = part.weights.len();
        all.push((name("count"), u32_tensor(part.counts)));
        all.push((name("position"), f32_tensor(part.positions)));
        all.push((name("feature"), bytes_tensor(n, part.values)));
        if ckm.is_weighted() {
            all.push((name("weight"), f32_tensor(part.weights)));
        }
    }
    all
}

/// The elements of one kind of all images, as they are written.
#[derive(Default)]
struct KindPart {
    counts: Vec<u32>,
    positions: Vec<f32>,
    values: Vec<u8>,
    weights: Vec<f32>,
}

impl KindPart {
    fn push(&mut self, set: &ElementSet) {
        self.counts.push(set.len() as u32);
        for i in 0..set.len() {
            self.positions.extend(set.position(i));
            self.weights.push(set.weight(i));
            match &set.values {
                Values::Binary(_) => self.values.extend(set.descriptor(i).to_bytes()),
                Values::Dense { .. } => self.values.extend(set.row(i)),
            }
        }
    }
}

/// Reads tensors; errors say in words what is wrong with them.
struct Reader<'a>(&'a SafeTensors<'a>);

impl<'a> Reader<'a> {
    fn bytes(&self, name: &str, dtype: Dtype) -> Result<&'a [u8], String> {
        let tensor = self.0.tensor(name).map_err(|error| format!("{error}"))?;
        if tensor.dtype() != dtype {
            return Err(format!("`{name}` of type {:?}", tensor.dtype()));
        }
        Ok(tensor.data())
    }

    fn u32s(&self, name: &str, n: usize) -> Result<Vec<u32>, String> {
        let words = self.bytes(name, Dtype::U32)?.as_chunks::<4>().0;
        if words.len() != n {
            return Err(format!("{} numbers in `{name}` where {n} belong", words.len()));
        }
        Ok(words.iter().map(|b| u32::from_le_bytes(*b)).collect())
    }

    /// The weights of `n` elements; `None` in a model without learned weights.
    fn weights(&self, name: &str, n: usize) -> Result<Option<Vec<f32>>, String> {
        if !self.0.names().contains(&name) {
            return Ok(None);
        }
        let weights: Vec<f32> = self.bytes(name, Dtype::F32)?.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        if weights.len() != n || weights.iter().any(|weight| !weight.is_finite()) {
            return Err(format!("`{name}` that is not a finite weight for each of {n} elements"));
        }
        Ok(Some(weights))
    }

    fn texts(&self, name: &str, n: usize) -> Result<Vec<String>, String> {
        let bytes = self.bytes(name, Dtype::U8)?;
        let mut start = 0;
        let text = |end: u32| {
            let part = bytes.get(start..end as usize).ok_or_else(|| format!("ends out of order in `{name}`"))?;
            start = end as usize;
            String::from_utf8(part.to_vec()).map_err(|_| format!("bytes that are not text in `{name}`"))
        };
        self.u32s(&format!("{name}_end"), n)?.into_iter().map(text).collect()
    }
}

/// The features as this version has them: gradient blocks of the first had 255 steps.
fn current<'a>(features: &'a [u8], source: &ElementSource, version: u32) -> Cow<'a, [u8]> {
    if version > 1 || source.own().is_some() || source.name() != "hog" {
        return Cow::Borrowed(features);
    }
    features.iter().map(|value| ((u32::from(*value) * 127 + 127) / 255) as u8).collect()
}

fn read_examples(ckm: &mut Ckm, classes: &[String], n: usize, version: u32, reader: &Reader<'_>) -> Result<(), String> {
    let ids = reader.u32s("images.id", n)?;
    let class = reader.u32s("images.class", n)?;
    let (widths, heights) = (reader.u32s("images.width", n)?, reader.u32s("images.height", n)?);
    let names = reader.texts("images.name", n)?;
    let groups = reader.texts("images.group", n)?;
    let kinds = ckm.options().kinds.clone();
    let cut = Cut::of(ckm.options().side, &kinds);
    let mut sets: Vec<Vec<ElementSet>> = vec![Vec::with_capacity(kinds.len()); n];
    for (k, kind) in kinds.iter().enumerate() {
        let name = |part: &str| format!("{k}.{}.{part}", kind.source.name());
        let counts = reader.u32s(&name("count"), n)?;
        let total: usize = counts.iter().map(|&c| c as usize).sum();
        let width = match kind.source.dimension() {
            0 => 32,
            dimension => dimension,
        };
        let positions: Vec<f32> =
            reader.bytes(&name("position"), Dtype::F32)?.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let features = current(reader.bytes(&name("feature"), Dtype::U8)?, &kind.source, version);
        let weights = reader.weights(&name("weight"), total)?;
        if positions.len() != 2 * total || features.len() != width * total {
            return Err(format!("{} positions and {} feature bytes for {total} elements of `{k}`", positions.len() / 2, features.len()));
        }
        if positions.iter().any(|p| !p.is_finite()) {
            return Err(format!("a position of `{k}` that is not a number"));
        }
        if width == kind.source.dimension() && features.iter().any(|value| *value > kind.source.largest()) {
            return Err(format!("a value of `{k}` above {}", kind.source.largest()));
        }
        let mut start = 0;
        for (sets, count) in sets.iter_mut().zip(counts) {
            let range = start..start + count as usize;
            start = range.end;
            let positions = &positions.as_chunks::<2>().0[range.clone()];
            let features = &features[range.start * width..range.end * width];
            let mut set = match kind.source.dimension() {
                0 => ElementSet::binary(positions, features.as_chunks::<32>().0.iter().map(Descriptor::from_bytes)),
                _ => ElementSet::dense(positions, features, width),
            };
            if let Some(weights) = &weights {
                set.set_weights(&weights[range]);
            }
            sets.push(set);
        }
    }
    for (i, sets) in sets.into_iter().enumerate() {
        let class = classes.get(class[i] as usize).ok_or_else(|| format!("class {} of {}", class[i], classes.len()))?;
        let size = (widths[i], heights[i]);
        if !is_size(size) {
            return Err(format!("an image of {} x {} pixels", size.0, size.1));
        }
        let elements = Elements::new(sets, size, &cut);
        let group = Some(groups[i].clone()).filter(|group| !group.is_empty());
        let example = Example { id: ItemId(ids[i]), name: names[i].clone(), group, elements: elements.into() };
        ckm.add(class, example).map_err(|error| error.to_string())?;
    }
    Ok(())
}
