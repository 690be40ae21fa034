//! The convolutional network that comes with the program, what it sees in a picture, and networks
//! that the user brings: [`brought`], kept in a [`folder`], tried in a process of their own
//! ([`trial`]).
//!
//! The one that comes with the program is SqueezeNet 1.1 (F. Iandola and others, *SqueezeNet:
//! AlexNet-level accuracy with 50x fewer parameters*, arXiv 1602.07360), trained on the 1.2 million
//! photographs of 1,000 classes of ILSVRC 2012. `benches/make_squeezenet.py` makes its file; NOTICE
//! has its licences.
//!
//! One pass takes a picture of 227 x 227 pixels, about 350 million products. The same picture gives
//! the same bits on any number of threads. Processors with other instructions may differ in the
//! last bits, for they add in another order.
//!
//! ```
//! use image::{Rgb, RgbImage};
//! use tessera_core::network::{Network, NetworkOptions};
//!
//! let network = Network::shipped()?;
//! let seen = network.look_at(&RgbImage::from_pixel(300, 200, Rgb([30, 90, 200])))?;
//! assert_eq!(seen.cells(&NetworkOptions { grid: 6 }).len(), 36);
//! let best = (0..1000).max_by(|a, b| seen.classes()[*a].total_cmp(&seen.classes()[*b]));
//! assert!(best.is_some_and(|class| !network.nouns(class).is_empty()));
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod advice;
pub mod brought;
mod class_axes;
mod encoder;
pub mod folder;
mod onnx;
mod pixels;
mod seen;
mod text;
mod tokenizer;
pub mod trial;

use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock};
use std::thread;

use image::RgbImage;
use rten::{Model, NodeId, RunOptions, ThreadPool, Value};

use crate::error::{Error, Result};
use crate::picture::resize::resize_rgb;

pub use brought::{BroughtNetwork, EncoderOptions};
pub use class_axes::{CLASS_VALUES, class_values};
pub(crate) use class_axes::{UNIT as CLASS_UNIT, ZERO as CLASS_ZERO};
pub use encoder::{EncodedImage, EncoderCell, ImageEncoder, ImageForm, ImageWishes, PixelOrder};
pub use folder::NetworkFolder;
pub use pixels::PixelScale;
pub use seen::{CHANNELS, CLASSES, NetworkCell, NetworkOptions, SIDE, Seen};
pub use text::{TextEncoder, TextForm};
pub use tokenizer::BytePairs;

/// The network's layers and weights, in the ONNX format.
static FILE: &[u8] = include_bytes!("../../../assets/squeezenet.onnx");
/// A line of nouns for each class.
static NAMES: &str = include_str!("../../../assets/squeezenet-names.txt");

static SHIPPED: LazyLock<Result<Network, String>> = LazyLock::new(|| apart(|| Network::load(FILE, NAMES)));

/// A network that is ready to run.
pub struct Network {
    model: Model,
    image: NodeId,
    outputs: [NodeId; 2],
    nouns: Vec<Vec<&'static str>>,
}

impl Network {
    /// The network that comes with the program. The first call loads it, some milliseconds.
    ///
    /// # Errors
    /// [`Error::Value`] when it cannot be loaded, as where there is too little memory.
    pub fn shipped() -> Result<&'static Self> {
        SHIPPED.as_ref().map_err(|error| failed(error))
    }

    fn load(file: &'static [u8], names: &'static str) -> Result<Self, String> {
        let model = Model::load_static_slice(file).map_err(|error| error.to_string())?;
        let node = |name: &str| model.node_id(name).map_err(|error| error.to_string());
        let (image, outputs) = (node("image")?, [node("cells")?, node("classes")?]);
        let nouns = names.lines().map(|line| line.split(", ").collect()).collect();
        Ok(Self { model, image, outputs, nouns })
    }

    /// What the network sees in a picture, which is brought to [`SIDE`] pixels each way.
    ///
    /// # Errors
    /// [`Error::Value`] when the network cannot be run, as where there is too little memory.
    pub fn look_at(&self, picture: &RgbImage) -> Result<Seen> {
        let small = resize_rgb(picture, SIDE, SIDE);
        let (cells, classes) = self.run(&small).map_err(|error| failed(&error))?;
        Ok(Seen::new(&cells, classes))
    }

    /// The last activations, channel by channel, and the probabilities of classes.
    fn run(&self, picture: &RgbImage) -> Result<(Vec<f32>, Vec<f32>), String> {
        let pixels = picture.as_raw().as_chunks::<3>().0;
        let planes: Vec<f32> = (0..3).flat_map(|channel| pixels.iter().map(move |pixel| f32::from(pixel[channel]))).collect();
        let side = SIDE as usize;
        let input = Value::from_shape([1, 3, side, side], planes).map_err(|error| error.to_string())?;
        let options = RunOptions::default().with_thread_pool(Some(ALONE.with(Arc::clone)));
        let run = || self.model.run_n(vec![(self.image, input.into())], self.outputs, Some(options));
        let [cells, classes] = apart(run).map_err(|error| error.to_string())?;
        let (_, cells) = cells.into_shape_vec::<f32, 4>().map_err(|error| error.to_string())?;
        let (_, classes) = classes.into_shape_vec::<f32, 2>().map_err(|error| error.to_string())?;
        Ok((cells, classes))
    }

    /// The nouns of a class, the most usual first; none for a class that there is not.
    pub fn nouns(&self, class: usize) -> &[&'static str] {
        self.nouns.get(class).map_or(&[], Vec::as_slice)
    }
}

thread_local! {
    /// Each thread that looks at pictures has one thread of the network's own: images, not layers,
    /// are what is worked on at the same time.
    static ALONE: Arc<ThreadPool> = Arc::new(ThreadPool::with_num_threads(1));
}

/// Runs `work` on a thread of its own and waits for it without taking up other work. A thread of
/// `rayon` that waits for another pool would begin the next image meanwhile, and so on.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match thread::scope(|scope| scope.spawn(work).join()) {
        Ok(done) => done,
        Err(panic) => resume_unwind(panic),
    }
}

fn failed(found: &str) -> Error {
    Error::value("network", "one that can be loaded and run", found)
}
