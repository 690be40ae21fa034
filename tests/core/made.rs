//! Small ONNX files for tests, written byte by byte in the format of protocol buffers.

use std::fs;
use std::path::{Path, PathBuf};

/// A dimension of an input or output: `None` where the file leaves it open.
type Side = Option<u64>;

const FLOAT: u64 = 1;
const INT64: u64 = 7;

/// A message of protocol buffers.
#[derive(Clone, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.0.push(value as u8 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }
}

/// A graph of layers.
#[derive(Clone, Default)]
pub(crate) struct Graph(Message);

impl Graph {
    fn port(self, field: u64, name: &str, numbers: u64, shape: &[Side]) -> Self {
        let side = |side: &Side| match side {
            Some(side) => Message::default().number(1, *side),
            None => Message::default().text(2, &format!("{name}_side")),
        };
        let shape = shape.iter().fold(Message::default(), |all, one| all.message(1, &side(one)));
        let tensor = Message::default().number(1, numbers).message(2, &shape);
        Self(self.0.message(field, &Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))))
    }

    pub(crate) fn input(self, name: &str, shape: &[Side]) -> Self {
        self.port(11, name, FLOAT, shape)
    }

    pub(crate) fn tokens(self, name: &str, shape: &[Side]) -> Self {
        self.port(11, name, INT64, shape)
    }

    pub(crate) fn output(self, name: &str, shape: &[Side]) -> Self {
        self.port(12, name, FLOAT, shape)
    }

    /// A layer, with attributes that are lists of numbers.
    pub(crate) fn layer(self, kind: &str, inputs: &[&str], output: &str, attributes: &[(&str, &[u64])]) -> Self {
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input)).text(2, output).text(3, output).text(4, kind);
        let attribute = |(name, values): &(&str, &[u64])| {
            let start = Message::default().text(1, name);
            values.iter().fold(start, |all, value| all.number(8, *value)).number(20, 7)
        };
        Self(self.0.message(1, &attributes.iter().fold(node, |node, one| node.message(5, &attribute(one)))))
    }

    /// Constant floats.
    pub(crate) fn constant(self, name: &str, shape: &[u64], values: &[f32]) -> Self {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = shape.iter().fold(Message::default(), |all, side| all.number(1, *side)).number(2, FLOAT).text(8, name).bytes(9, &raw);
        Self(self.0.message(5, &tensor))
    }

    /// Constant whole numbers, in a list.
    pub(crate) fn integers(self, name: &str, values: &[i64]) -> Self {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = Message::default().number(1, values.len() as u64).number(2, INT64).text(8, name).bytes(9, &raw);
        Self(self.0.message(5, &tensor))
    }

    /// The layers of both.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.0.0.extend(other.0.0);
        self
    }

    /// The bytes of the file.
    pub(crate) fn file(self) -> Vec<u8> {
        let opset = Message::default().text(1, "").number(2, 13);
        Message::default().number(1, 8).text(2, "tests").message(7, &self.0.text(2, "made")).message(8, &opset).0
    }
}

/// An image encoder whose vector is the mean of each channel.
pub(crate) fn means(side: Side) -> Graph {
    Graph::default()
        .layer("GlobalAveragePool", &["pixels"], "pooled", &[])
        .layer("Flatten", &["pooled"], "image_embeds", &[])
        .input("pixels", &[None, Some(3), side, side])
        .output("image_embeds", &[None, Some(3)])
}

/// An image encoder that gives means of 4 x 4 pixels.
pub(crate) fn grid() -> Graph {
    let attributes: [(&str, &[u64]); 2] = [("kernel_shape", &[4, 4]), ("strides", &[4, 4])];
    Graph::default()
        .layer("AveragePool", &["pixels"], "cells", &attributes)
        .input("pixels", &[Some(1), Some(3), Some(16), Some(16)])
        .output("cells", &[Some(1), Some(3), Some(4), Some(4)])
}

/// A text encoder whose vector is the mean of what its tokens stand for: `dimension` values each.
/// The words red, sea and sky of [`tokenizer`] stand for red, green and blue; all else for little.
pub(crate) fn sums(dimension: usize) -> Graph {
    let mut table = vec![0.01; (TOKENS + 2) * dimension];
    for colour in 0..3 {
        table[(512 + colour) * dimension..][..dimension].fill(-1.0);
        table[(512 + colour) * dimension + colour] = 1.0;
    }
    Graph::default()
        .constant("table", &[TOKENS as u64 + 2, dimension as u64], &table)
        .layer("Gather", &["table", "input_ids"], "gathered", &[])
        .layer("ReduceMean", &["gathered"], "text_embeds", &[("axes", &[1])])
        .layer("Flatten", &["text_embeds"], "flat", &[])
        .tokens("input_ids", &[None, None])
        .output("flat", &[None, Some(dimension as u64)])
}

/// Tokens of the tokenizer before those of start and end.
const TOKENS: usize = 512 + 3 + 6;

/// A `tokenizer.json` of all bytes, and of the words red, sea and sky.
pub(crate) fn tokenizer() -> String {
    let is_seen = |byte: &u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut hidden = 256..;
    let letters: Vec<char> =
        (0..256).map(|byte| char::from_u32(if is_seen(&byte) { byte } else { hidden.next().unwrap() }).unwrap()).collect();
    let mut tokens: Vec<String> = letters.iter().map(char::to_string).collect();
    tokens.extend(letters.iter().map(|letter| format!("{letter}</w>")));
    let words = ["red", "sea", "sky"];
    tokens.extend(words.iter().map(|word| format!("{word}</w>")));
    let (mut merges, mut parts) = (Vec::new(), Vec::new());
    for word in words {
        let (first, last) = (&word[..2], &word[2..]);
        parts.push(first.to_owned());
        merges.push(format!("{} {}", &first[..1], &first[1..]));
        merges.push(format!("{first} {last}</w>"));
    }
    tokens.extend(parts);
    tokens.extend((0..3).map(|i| format!("<unused{i}>")));
    tokens.extend(["<|startoftext|>".into(), "<|endoftext|>".into()]);
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        tokens.into_iter().enumerate().map(|(token, name)| (name, token.into())).collect();
    serde_json::json!({"model": {"vocab": vocabulary, "merges": merges, "end_of_word_suffix": "</w>"}}).to_string()
}

/// Writes a file of that name.
pub(crate) fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}
