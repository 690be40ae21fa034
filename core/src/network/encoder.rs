//! Image encoders that the user brings: from a picture to a vector, or to a grid of them.

use std::path::Path;

use image::RgbImage;
use rten::{NodeId, Value};
use serde::{Deserialize, Serialize};

use super::advice;
use super::onnx::{Numbers, Onnx, Port, in_words};
use super::pixels::PixelScale;
use crate::error::Result;
use crate::hash::hash_hex;
use crate::picture::resize::resize_rgb;

/// Pixels of a picture's side that an encoder may take.
const SIDES: std::ops::RangeInclusive<usize> = 8..=1024;
/// Values of a vector.
const DIMENSIONS: std::ops::RangeInclusive<usize> = 2..=4096;
/// Vectors along a side of the grid, at most.
const LONGEST_GRID: usize = 128;

/// The order of an encoder's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PixelOrder {
    /// Channel by channel (NCHW), as PyTorch exports it.
    Planes,
    /// Pixel by pixel (NHWC), as TensorFlow exports it.
    Pixels,
}

/// What an image encoder takes and gives, found out by a trial run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageForm {
    /// xxh3-128 of the file's bytes.
    pub hash: String,
    /// The input's name.
    pub input: String,
    /// The order of its values.
    pub order: PixelOrder,
    /// Width of the picture it takes, in pixels.
    pub width: u32,
    /// Height of that picture.
    pub height: u32,
    /// How pixels become numbers.
    pub pixels: PixelScale,
    /// The output's name.
    pub output: String,
    /// Vectors from the left to the right; 1 when it gives one vector.
    pub columns: usize,
    /// Vectors from the top to the bottom.
    pub rows: usize,
    /// Values of a vector.
    pub dimension: usize,
}

impl ImageForm {
    /// What tells this encoder from others: a hash of its file, and of all that its vectors depend
    /// on besides.
    pub fn identity(&self) -> String {
        let Self { hash, width, height, pixels, output, .. } = self;
        hash_hex(format!("{hash} {width} {height} {pixels:?} {output}").as_bytes())
    }
}

/// What the user says of an image encoder; the rest is found out from its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageWishes {
    /// Width and height of the picture, where the file leaves them open.
    pub size: Option<(u32, u32)>,
    /// How pixels become numbers.
    pub pixels: Option<PixelScale>,
    /// The output to use, where there are several.
    pub output: Option<String>,
}

/// An image encoder that is ready to run.
pub struct ImageEncoder {
    onnx: Onnx,
    form: ImageForm,
    input: NodeId,
    output: NodeId,
}

/// A part of a picture as an encoder sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct EncoderCell {
    /// Its middle, as a share of the picture's width from the left edge.
    pub x: f32,
    /// Its middle, as a share of the picture's height from the top edge.
    pub y: f32,
    /// A vector of length 1, or zeros.
    pub values: Vec<f32>,
}

/// A picture as an encoder sees it: vectors on a grid, from the top left corner, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedImage {
    columns: usize,
    rows: usize,
    dimension: usize,
    values: Vec<f32>,
}

impl ImageEncoder {
    /// Finds out what the encoder in a file takes and gives, by running it.
    ///
    /// # Errors
    /// [`crate::Error::Data`] with what was expected, what was found, and the way out.
    pub(super) fn explore(onnx: Onnx, wishes: &ImageWishes) -> Result<Self> {
        let input = picture_input(&onnx)?;
        let (order, width, height) = taken(&onnx, &input, wishes.size)?;
        let mut form = ImageForm {
            hash: onnx.hash().to_owned(),
            input: input.name,
            order,
            width,
            height,
            pixels: wishes.pixels.unwrap_or(PixelScale::IMAGENET),
            output: String::new(),
            columns: 1,
            rows: 1,
            dimension: 0,
        };
        let planes = planes(&form, &trial(width, height)).map_err(|found| onnx.wrong("a picture that fits", found, advice::SAY_SIDE))?;
        let outcomes = onnx.run_each(&|| vec![(input.id, planes.clone())]);
        let (output, arranged) = chosen(&onnx, outcomes, order, wishes.output.as_deref())?;
        (form.columns, form.rows, form.dimension) = (arranged.columns, arranged.rows, arranged.dimension);
        form.output = output.name;
        Ok(Self { onnx, form, input: input.id, output: output.id })
    }

    /// The encoder in the file at `path`, of a form that was found out before.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; [`crate::Error::Data`] when the file is another one.
    pub fn open(path: &Path, form: ImageForm) -> Result<Self> {
        let onnx = Onnx::open_same(path, &form.hash)?;
        let (input, output) = (onnx.port(&form.input)?, onnx.port(&form.output)?);
        Ok(Self { onnx, form, input, output })
    }

    /// What it takes and gives.
    pub fn form(&self) -> &ImageForm {
        &self.form
    }

    /// The picture as the encoder sees it, after bringing all of it to the size that the encoder
    /// takes: nothing is cut off. The same bits on any number of threads.
    ///
    /// # Errors
    /// [`crate::Error::Data`] when the encoder cannot be run on it.
    pub fn look_at(&self, picture: &RgbImage) -> Result<EncodedImage> {
        let broken = |found: String| self.onnx.wrong("a network that sees every picture as it saw the first", found, advice::CHOOSE_OTHER);
        let planes = planes(&self.form, &resize_rgb(picture, self.form.width, self.form.height)).map_err(broken)?;
        let numbers = self.onnx.run(vec![(self.input, planes)], self.output).map_err(broken)?;
        let found = arranged(&numbers, self.form.order)
            .filter(|found| (found.columns, found.rows, found.dimension) == (self.form.columns, self.form.rows, self.form.dimension));
        found.ok_or_else(|| broken(format!("an output of shape {:?}", numbers.shape)))
    }
}

/// The one input that takes a picture.
fn picture_input(onnx: &Onnx) -> Result<Port> {
    let inputs = onnx.inputs();
    let mut pictures: Vec<&Port> = inputs.iter().filter(|port| port.has_dimensions(4)).collect();
    match (pictures.pop(), pictures.pop()) {
        (Some(input), None) if input.is_float() => Ok(input.clone()),
        (Some(_), None) => Err(onnx.wrong("a picture of floats as input", in_words(&inputs), advice::EXPORT_FLOATS)),
        _ => Err(onnx.wrong("one input of 4 dimensions, a picture", in_words(&inputs), advice::CHOOSE_IMAGES)),
    }
}

/// Order, width and height of the picture that an input takes; `size` where the file leaves them
/// open.
fn taken(onnx: &Onnx, input: &Port, size: Option<(u32, u32)>) -> Result<(PixelOrder, u32, u32)> {
    let shape = input.shape.as_deref().unwrap_or_default();
    let found = || in_words(std::slice::from_ref(input));
    let (order, height, width) = match *shape {
        [_, height, width, Some(3)] => (PixelOrder::Pixels, height, width),
        [_, Some(3) | None, height, width] => (PixelOrder::Planes, height, width),
        _ => {
            return Err(onnx.wrong(
                "three channels, red, green and blue, as the second or the last dimension",
                found(),
                advice::CHOOSE_IMAGES,
            ));
        }
    };
    if shape[0].is_some_and(|batch| batch != 1) {
        return Err(onnx.wrong("one picture at a time, or any number", found(), advice::EXPORT_BATCH));
    }
    let size = size.map_or((None, None), |(width, height)| (Some(width as usize), Some(height as usize)));
    let (Some(width), Some(height)) = (width.or(size.0), height.or(size.1)) else {
        return Err(onnx.wrong("an input that tells the width and height of its picture", found(), advice::SAY_SIDE));
    };
    if !(SIDES.contains(&width) && SIDES.contains(&height)) {
        let expected = format!("a picture of {} to {} pixels each way", SIDES.start(), SIDES.end());
        return Err(onnx.wrong(expected, format!("{width} x {height}"), advice::SAY_SIDE));
    }
    Ok((order, width as u32, height as u32))
}

/// The numbers of a picture of the form's size, in the form's order.
fn planes(form: &ImageForm, picture: &RgbImage) -> Result<Value, String> {
    let number = |channel: usize, pixel: &[u8; 3]| form.pixels.number(channel, pixel[channel]);
    let pixels = picture.as_raw().as_chunks::<3>().0;
    let (width, height) = (form.width as usize, form.height as usize);
    let value = match form.order {
        PixelOrder::Planes => {
            let numbers: Vec<f32> = (0..3).flat_map(|channel| pixels.iter().map(move |pixel| number(channel, pixel))).collect();
            Value::from_shape([1, 3, height, width], numbers)
        }
        PixelOrder::Pixels => {
            let numbers: Vec<f32> = pixels.iter().flat_map(|pixel| (0..3).map(move |channel| number(channel, pixel))).collect();
            Value::from_shape([1, height, width, 3], numbers)
        }
    };
    value.map_err(|error| error.to_string())
}

/// A picture to try an encoder on.
pub(super) fn trial(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| image::Rgb([(7 * x) % 256, (5 * y) % 256, (3 * (x + y)) % 256].map(|value| value as u8)))
}

/// The output to use: the named one; or else a vector, one called an embedding before others; or
/// else a grid.
fn chosen(
    onnx: &Onnx,
    outcomes: Vec<(Port, Result<Numbers, String>)>,
    order: PixelOrder,
    name: Option<&str>,
) -> Result<(Port, EncodedImage)> {
    let (mut usable, mut refused) = (Vec::new(), Vec::new());
    for (port, outcome) in outcomes.into_iter().filter(|(port, _)| name.is_none_or(|name| name == port.name)) {
        match outcome {
            Ok(numbers) => match arranged(&numbers, order) {
                Some(found) => usable.push((numbers.shape.len(), port, found)),
                None => refused.push(format!("`{}` of shape {:?}", port.name, numbers.shape)),
            },
            Err(found) => refused.push(format!("`{}`: {found}", port.name)),
        }
    }
    let rank = |(dimensions, port, _): &(usize, Port, EncodedImage)| match dimensions {
        ..=2 if port.name.contains("embed") => 0,
        ..=2 => 1,
        4 => 2,
        _ => 3,
    };
    let Some((_, port, found)) = usable.into_iter().min_by_key(rank) else {
        if let (Some(name), true) = (name, refused.is_empty()) {
            return Err(onnx.wrong(format!("an output `{name}`"), in_words(&onnx.outputs()), advice::SAY_OUTPUT));
        }
        let expected = format!("an output with one vector of {} to {} values, or a grid of them", DIMENSIONS.start(), DIMENSIONS.end());
        let found = if refused.is_empty() { "no output".to_owned() } else { refused.join("; ") };
        return Err(onnx.wrong(expected, found, advice::CHOOSE_IMAGES));
    };
    Ok((port, found))
}

/// Numbers as vectors on a grid; `None` when their shape is neither that of a vector nor of a grid.
fn arranged(numbers: &Numbers, order: PixelOrder) -> Option<EncodedImage> {
    let Numbers { shape, values } = numbers;
    // Where the first vector begins, and whether values lie channel by channel.
    let (columns, rows, dimension, start, are_planes) = match (shape.as_slice(), order) {
        (&[dimension] | &[1, dimension], _) => (1, 1, dimension, 0, false),
        (&[1, dimension, rows, columns], PixelOrder::Planes) => (columns, rows, dimension, 0, true),
        (&[1, rows, columns, dimension], PixelOrder::Pixels) => (columns, rows, dimension, 0, false),
        // Patches of a transformer, perhaps after the vector of the whole picture.
        (&[1, patches, dimension], _) => {
            let side = patches.isqrt();
            let first = patches - side * side;
            if first > 1 {
                return None;
            }
            (side, side, dimension, first * dimension, false)
        }
        _ => return None,
    };
    let is_grid = |side: usize| (1..=LONGEST_GRID).contains(&side);
    if !(is_grid(columns) && is_grid(rows) && DIMENSIONS.contains(&dimension)) {
        return None;
    }
    let (cells, values) = (columns * rows, values.get(start..)?);
    let values = match are_planes {
        false => values.to_vec(),
        true => (0..cells).flat_map(|cell| (0..dimension).map(move |channel| values[channel * cells + cell])).collect(),
    };
    (values.len() == cells * dimension).then_some(EncodedImage { columns, rows, dimension, values })
}

impl EncodedImage {
    /// Cells row by row, `grid` along each side or fewer where there are fewer vectors: of
    /// neighbours that share vectors each has a part of them.
    pub fn cells(&self, grid: u32) -> Vec<EncoderCell> {
        let (across, down) = (self.columns.min(grid.max(1) as usize), self.rows.min(grid.max(1) as usize));
        let part = |i: usize, of: usize, all: usize| i * all / of..((i + 1) * all).div_ceil(of);
        let middle = |part: &std::ops::Range<usize>, all: usize| (part.start + part.end) as f32 / (2 * all) as f32;
        let mut cells = Vec::with_capacity(across * down);
        for row in 0..down {
            for column in 0..across {
                let (ys, xs) = (part(row, down, self.rows), part(column, across, self.columns));
                let (x, y) = (middle(&xs, self.columns), middle(&ys, self.rows));
                let below = ys.flat_map(|y| xs.clone().map(move |x| y * self.columns + x));
                cells.push(EncoderCell { x, y, values: self.direction(below) });
            }
        }
        cells
    }

    /// The whole picture as one vector of length 1: the mean of all.
    pub fn vector(&self) -> Vec<f32> {
        self.direction(0..self.columns * self.rows)
    }

    /// The mean of vectors, brought to length 1.
    fn direction(&self, all: impl Iterator<Item = usize>) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimension];
        for vector in all.filter_map(|i| self.values.get(i * self.dimension..(i + 1) * self.dimension)) {
            sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        }
        unit(sum)
    }
}

/// A vector brought to length 1, or zeros.
pub(super) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest > 0.0 && largest.is_finite() {
        // Squares of values above 1e19 would be infinite.
        vector.iter_mut().for_each(|value| *value /= largest);
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
    } else {
        vector.fill(0.0);
    }
    vector
}
