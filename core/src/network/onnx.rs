//! An ONNX file, loaded and run. What is wrong with it is told in sentences; nothing panics.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rten::{DataType, Dimension, Model, NodeId, RunOptions, Value, ValueType};
use rten_tensor::Layout as _;

use super::{ALONE, advice, apart};
use crate::error::{Error, Result, contained};
use crate::hash::hash_hex;

/// The longest ONNX file that is read, in bytes.
const LONGEST: u64 = 1 << 30;

/// A loaded ONNX file.
pub(super) struct Onnx {
    path: PathBuf,
    hash: String,
    model: Model,
}

/// An input or an output of a file.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) id: NodeId,
    pub(super) name: String,
    /// Its dimensions, `None` where the file leaves one open; `None` altogether where the file says
    /// nothing.
    pub(super) shape: Option<Vec<Option<usize>>>,
    numbers: Option<ValueType>,
}

impl Port {
    /// Whether the file says, or leaves open, that it has so many dimensions.
    pub(super) fn has_dimensions(&self, count: usize) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.len() == count)
    }

    pub(super) fn is_float(&self) -> bool {
        self.numbers.is_none_or(|numbers| numbers == ValueType::Tensor(DataType::Float))
    }

    pub(super) fn is_integer(&self) -> bool {
        self.numbers == Some(ValueType::Tensor(DataType::Int32))
    }

    /// Its name, type and shape for people.
    fn in_words(&self) -> String {
        let shape = match &self.shape {
            None => "of any shape".to_owned(),
            Some(shape) => {
                let sides: Vec<String> = shape.iter().map(|side| side.map_or_else(|| "?".to_owned(), |side| side.to_string())).collect();
                sides.join(" x ")
            }
        };
        let numbers = match self.numbers {
            Some(ValueType::Tensor(DataType::Float)) => " of floats",
            Some(ValueType::Tensor(DataType::Int32)) => " of integers",
            Some(_) => " of other numbers",
            None => "",
        };
        format!("`{}` ({shape}{numbers})", self.name)
    }
}

/// Ports for people.
pub(super) fn in_words(ports: &[Port]) -> String {
    let words: Vec<String> = ports.iter().map(Port::in_words).collect();
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

/// Numbers that a file computed.
pub(super) struct Numbers {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}

/// The bytes of a file of at most `longest` bytes.
///
/// # Errors
/// [`Error::Io`]; [`Error::Data`] when it is longer.
pub(super) fn read(path: &Path, longest: u64) -> Result<Vec<u8>> {
    let long = |length: u64| {
        let (expected, found) = (format!("a file of at most {} MB", longest >> 20), format!("{} MB", length >> 20));
        Error::data(path, expected, found, advice::CHOOSE_SMALLER)
    };
    let length = fs::metadata(path).map_err(Error::io("read", path))?.len();
    if length > longest {
        return Err(long(length));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::io("open", path))?;
    file.take(longest + 1).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > longest { Err(long(bytes.len() as u64)) } else { Ok(bytes) }
}

impl Onnx {
    /// Loads the file at `path`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] when it is no ONNX file, or one with layers that are not
    /// known.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let bytes = read(path, LONGEST)?;
        let hash = hash_hex(&bytes);
        Self::load(path, bytes, hash)
    }

    /// Loads the file at `path`, whose bytes must have this hash.
    ///
    /// # Errors
    /// As [`Onnx::open`], and [`Error::Data`] when it is another file.
    pub(super) fn open_same(path: &Path, hash: &str) -> Result<Self> {
        let bytes = read(path, LONGEST)?;
        let found = hash_hex(&bytes);
        if found != hash {
            return Err(Error::data(path, format!("the file that was added, of hash {hash}"), format!("hash {found}"), advice::ADD_AGAIN));
        }
        Self::load(path, bytes, found)
    }

    fn load(path: &Path, bytes: Vec<u8>, hash: String) -> Result<Self> {
        let wrong = |found: String| Error::data(path, "an ONNX file that can be loaded", found, advice::EXPORT_WHOLE);
        let loaded = contained(|| apart(|| Model::load(bytes))).map_err(|panic| wrong(format!("one that broke the loader ({panic})")))?;
        Ok(Self { path: path.to_owned(), hash, model: loaded.map_err(|error| wrong(error.to_string()))? })
    }

    /// xxh3-128 of the file's bytes.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// What it takes.
    pub(super) fn inputs(&self) -> Vec<Port> {
        self.ports(self.model.input_ids())
    }

    /// What it gives.
    pub(super) fn outputs(&self) -> Vec<Port> {
        self.ports(self.model.output_ids())
    }

    fn ports(&self, ids: &[NodeId]) -> Vec<Port> {
        let side = |dimension: Dimension| match dimension {
            Dimension::Fixed(side) => Some(side),
            Dimension::Symbolic(_) => None,
        };
        let port = |id: &NodeId| {
            let info = self.model.node_info(*id)?;
            let shape = info.shape().map(|shape| shape.into_iter().map(side).collect());
            Some(Port { id: *id, name: info.name().unwrap_or_default().to_owned(), shape, numbers: info.dtype() })
        };
        ids.iter().filter_map(port).collect()
    }

    /// The input or output of this name.
    ///
    /// # Errors
    /// [`Error::Data`] when there is none.
    pub(super) fn port(&self, name: &str) -> Result<NodeId> {
        self.model
            .find_node(name)
            .ok_or_else(|| Error::data(&self.path, format!("an input or output `{name}`"), "none of that name", advice::ADD_AGAIN))
    }

    /// Computes one output, on one thread.
    ///
    /// # Errors
    /// In words, when it cannot be computed, or when it has no finite numbers.
    pub(super) fn run(&self, inputs: Vec<(NodeId, Value)>, output: NodeId) -> Result<Numbers, String> {
        let inputs = inputs.into_iter().map(|(id, value)| (id, value.into())).collect();
        let options = RunOptions::default().with_thread_pool(Some(ALONE.with(Arc::clone)));
        let run = || apart(|| self.model.run_n(inputs, [output], Some(options)));
        let [value] = contained(run).map_err(|panic| format!("layers that broke ({panic})"))?.map_err(|error| error.to_string())?;
        let Value::FloatTensor(tensor) = value else { return Err("numbers that are no floats".into()) };
        let shape = tensor.shape().to_vec();
        let values = tensor.into_data();
        match values.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(format!("the value {value}, which is no finite number")),
            None => Ok(Numbers { shape, values }),
        }
    }

    /// Computes each output by itself. Those that fail come with the reason.
    pub(super) fn run_each(&self, inputs: &dyn Fn() -> Vec<(NodeId, Value)>) -> Vec<(Port, Result<Numbers, String>)> {
        let run = |port: Port| {
            let outcome = self.run(inputs(), port.id);
            (port, outcome)
        };
        self.outputs().into_iter().map(run).collect()
    }

    /// An error of this file.
    pub(super) fn wrong(&self, expected: impl Into<String>, found: impl Into<String>, advice: &'static str) -> Error {
        Error::data(&self.path, expected, found, advice)
    }
}
