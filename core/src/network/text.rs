//! Text encoders that the user brings: from words to a vector in the space of an image encoder.

use std::path::Path;

use rten::{NodeId, Value};
use serde::{Deserialize, Serialize};

use super::advice;
use super::encoder::unit;
use super::onnx::{Numbers, Onnx, Port, in_words, read};
use super::tokenizer::BytePairs;
use crate::error::{Error, Result};
use crate::hash::hash_hex;

/// The longest `tokenizer.json` that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// What a text encoder takes and gives, found out by a trial run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextForm {
    /// xxh3-128 of the file's bytes.
    pub hash: String,
    /// xxh3-128 of the tokenizer's bytes.
    pub tokenizer_hash: String,
    /// The input that takes tokens.
    pub tokens: String,
    /// The input that tells tokens (1) from padding (0), if there is one.
    pub mask: Option<String>,
    /// Tokens of a text, where their number is fixed.
    pub length: Option<usize>,
    /// The output's name.
    pub output: String,
    /// Values of a vector.
    pub dimension: usize,
}

/// A text encoder that is ready to run.
pub struct TextEncoder {
    onnx: Onnx,
    form: TextForm,
    tokenizer: BytePairs,
    tokens: NodeId,
    mask: Option<NodeId>,
    output: NodeId,
}

impl TextEncoder {
    /// Finds out what the encoder in a file takes and gives, by running it. Its vectors must have
    /// `dimension` values, as those of its image encoder.
    ///
    /// # Errors
    /// [`Error::Data`] with what was expected, what was found, and the way out.
    pub(super) fn explore(onnx: Onnx, tokenizer: &Path, dimension: usize) -> Result<Self> {
        let (tokenizer_hash, tokenizer) = read_tokenizer(tokenizer)?;
        let inputs: Vec<Port> = onnx.inputs().into_iter().filter(|port| !port.has_dimensions(4)).collect();
        let (masks, texts): (Vec<&Port>, Vec<&Port>) = inputs.iter().partition(|port| port.name.contains("mask"));
        let ([tokens], ..=1) = (texts.as_slice(), masks.len()) else {
            return Err(onnx.wrong("one input of tokens, and perhaps a mask of them", in_words(&inputs), advice::CHOOSE_TEXT));
        };
        if let Some(port) = inputs.iter().find(|port| !port.is_integer() || !port.has_dimensions(2)) {
            return Err(onnx.wrong("tokens as integers, text by text", in_words(std::slice::from_ref(port)), advice::CHOOSE_TEXT));
        }
        let length = tokens.shape.as_ref().and_then(|shape| shape[1]);
        if tokens
            .shape
            .as_ref()
            .is_some_and(|shape| shape[0].is_some_and(|batch| batch != 1) || length.is_some_and(|n| !(2..=4096).contains(&n)))
        {
            let expected = "one text at a time, or any number, of 2 to 4096 tokens";
            return Err(onnx.wrong(expected, in_words(&inputs), advice::EXPORT_BATCH));
        }
        let mask = masks.first();
        let form = TextForm {
            hash: onnx.hash().to_owned(),
            tokenizer_hash,
            tokens: tokens.name.clone(),
            mask: mask.map(|mask| mask.name.clone()),
            length,
            output: String::new(),
            dimension,
        };
        let (tokens, mask) = (tokens.id, mask.map(|mask| mask.id));
        let inputs = || taken(&tokenizer, "a photo of a dog", length, tokens, mask).unwrap_or_default();
        let (mut usable, mut refused) = (Vec::new(), Vec::new());
        for (port, outcome) in onnx.run_each(&inputs) {
            match outcome {
                Ok(numbers) if is_vector(&numbers, dimension) => usable.push(port),
                Ok(numbers) => refused.push(format!("`{}` of shape {:?}", port.name, numbers.shape)),
                Err(found) => refused.push(format!("`{}`: {found}", port.name)),
            }
        }
        let Some(output) = usable.into_iter().min_by_key(|port| !port.name.contains("embed")) else {
            let expected = format!("one vector of {dimension} values, as many as the image encoder's");
            return Err(onnx.wrong(expected, refused.join("; "), advice::TAKE_PAIR));
        };
        let form = TextForm { output: output.name, ..form };
        Ok(Self { onnx, form, tokenizer, tokens, mask, output: output.id })
    }

    /// The encoder in the file at `path`, of a form that was found out before.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] when a file is another one.
    pub fn open(path: &Path, tokenizer_path: &Path, form: TextForm) -> Result<Self> {
        let onnx = Onnx::open_same(path, &form.hash)?;
        let (hash, tokenizer) = read_tokenizer(tokenizer_path)?;
        if hash != form.tokenizer_hash {
            let expected = format!("the file that was added, of hash {}", form.tokenizer_hash);
            return Err(Error::data(tokenizer_path, expected, format!("hash {hash}"), advice::ADD_AGAIN));
        }
        let (tokens, output) = (onnx.port(&form.tokens)?, onnx.port(&form.output)?);
        let mask = form.mask.as_ref().map(|mask| onnx.port(mask)).transpose()?;
        Ok(Self { onnx, form, tokenizer, tokens, mask, output })
    }

    /// What it takes and gives.
    pub fn form(&self) -> &TextForm {
        &self.form
    }

    /// A text as a vector of length 1: its product with the vector of a picture is their cosine.
    /// What is longer than the encoder takes is left out.
    ///
    /// # Errors
    /// [`Error::Data`] when the encoder cannot be run on it.
    pub fn vector(&self, text: &str) -> Result<Vec<f32>> {
        let broken = |found: String| self.onnx.wrong("a network that reads every text as it read the first", found, advice::CHOOSE_OTHER);
        let inputs = taken(&self.tokenizer, text, self.form.length, self.tokens, self.mask).map_err(broken)?;
        let numbers = self.onnx.run(inputs, self.output).map_err(broken)?;
        if is_vector(&numbers, self.form.dimension) {
            Ok(unit(numbers.values))
        } else {
            Err(broken(format!("an output of shape {:?}", numbers.shape)))
        }
    }
}

/// A tokenizer, after the hash of its bytes.
fn read_tokenizer(path: &Path) -> Result<(String, BytePairs)> {
    let wrong = |_| Error::data(path, "a tokenizer.json", "bytes that are not text", advice::TAKE_TOKENIZER);
    let bytes = read(path, LONGEST)?;
    let hash = hash_hex(&bytes);
    Ok((hash, BytePairs::parse(path, &String::from_utf8(bytes).map_err(wrong)?)?))
}

fn is_vector(numbers: &Numbers, dimension: usize) -> bool {
    numbers.shape.iter().product::<usize>() == dimension && numbers.shape.last() == Some(&dimension)
}

/// The inputs for a text.
fn taken(
    tokenizer: &BytePairs,
    text: &str,
    length: Option<usize>,
    tokens: NodeId,
    mask: Option<NodeId>,
) -> Result<Vec<(NodeId, Value)>, String> {
    let mut all = tokenizer.tokens(text, length);
    let used = all.len();
    all.resize(length.unwrap_or(used).max(used), tokenizer.padding());
    let n = all.len();
    let value = |numbers: Vec<i32>| Value::from_shape([1, n], numbers).map_err(|error| error.to_string());
    let mut inputs = vec![(tokens, value(all.into_iter().map(|token| token as i32).collect())?)];
    if let Some(mask) = mask {
        inputs.push((mask, value((0..n).map(|i| i32::from(i < used)).collect())?));
    }
    Ok(inputs)
}
