//! Training and testing on folders of images.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use image::RgbImage;
use rayon::ThreadPoolBuilder;
use tessera_core::Result;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::eval::recognition::{Learned, RecognitionScores, learn, test};
use tessera_core::picture::{Decoder, Picture};
use tessera_core::progress::Progress;

use crate::scenes::scene;

/// Gives every file a picture of its own class, `side` pixels wide and high; those named
/// `broken.png` cannot be read.
struct Painter {
    side: u32,
    /// Memory of the process at each decoding, in bytes.
    memory: Mutex<Vec<u64>>,
}

impl Decoder for Painter {
    fn decode(&self, path: &Path, _: u32, _: &Progress) -> Result<Picture> {
        self.memory.lock().unwrap().push(resident());
        if path.ends_with("broken.png") {
            return Err(tessera_core::Error::Cancelled);
        }
        let name = path.to_string_lossy();
        let seed = if name.contains("round") { 1 } else { 2 };
        let small = scene(seed, 64, 64);
        let scale = self.side as usize / 64;
        let mut pixels = Vec::new();
        for row in small.rows() {
            let row: Vec<u8> = row.flat_map(|pixel| pixel.0.repeat(scale)).collect();
            pixels.extend(row.repeat(scale));
        }
        Ok(RgbImage::from_raw(self.side, self.side, pixels).unwrap().into())
    }
}

/// Bytes of this process in memory; 0 where the system does not tell.
fn resident() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// Opens a folder of `n` files of each of two classes, and a broken one.
fn data(folder: &Path, n: usize) -> Dataset {
    for class in ["round", "square"] {
        fs::create_dir(folder.join(class)).unwrap();
        for i in 0..n {
            scene(0, 16, 16).save(folder.join(class).join(format!("{i}.png"))).unwrap();
        }
    }
    fs::write(folder.join("round").join("broken.png"), "x").unwrap();
    Dataset::open(folder, &OpenOptions::default(), &Progress::default()).unwrap()
}

fn both(data: &Dataset, options: &CkmOptions, painter: &Painter, threads: usize) -> (Learned, RecognitionScores) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let learned = learn(data, |_| true, options, painter, &Progress::default()).unwrap();
        let tested = test(&learned.ckm, data, |_| true, painter, &Progress::default()).unwrap();
        (learned, tested)
    })
}

#[test]
fn images_are_learned_and_tested_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(folder.path(), 20);
    let painter = Painter { side: 64, memory: Mutex::default() };
    let of = |threads| both(&data, &Preset::Mixed.options(), &painter, threads);
    let ((learned, tested), (learned_alone, tested_alone)) = (of(3), of(1));
    assert_eq!(learned.ckm, learned_alone.ckm);
    assert_eq!(tested.confusion, tested_alone.confusion);
    assert_eq!((learned.ckm.examples().count(), tested.n(), tested.accuracy()), (40, 40, 1.0));
    for failed in [&learned.failed, &tested.failed] {
        assert!(failed.len() == 1 && failed[0].path.ends_with("broken.png"), "{failed:?}");
    }
    let elements = |ckm: &Ckm, i: usize| ckm.examples().nth(i).unwrap().1.elements.clone();
    assert_eq!(*elements(&learned.ckm, 0).get(), learned.ckm.elements(&scene(1, 64, 64).into()).unwrap());
}

#[test]
fn times_leave_decoding_out() {
    struct Slow(Painter);
    impl Decoder for Slow {
        fn decode(&self, path: &Path, side: u32, progress: &Progress) -> Result<Picture> {
            std::thread::sleep(std::time::Duration::from_millis(100));
            self.0.decode(path, side, progress)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let data = data(folder.path(), 6);
    let slow = Slow(Painter { side: 64, memory: Mutex::default() });
    let learned = learn(&data, |_| true, &Preset::Colour.options(), &slow, &Progress::default()).unwrap();
    let tested = test(&learned.ckm, &data, |_| true, &slow, &Progress::default()).unwrap();
    for ms in [learned.ms_per_image(), tested.ms_per_image()] {
        assert!(ms > 0.0 && ms < 20.0, "{ms}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn only_as_many_full_pictures_as_threads_are_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(folder.path(), 8);
    let painter = Painter { side: 4096, memory: Mutex::default() };
    both(&data, &Preset::Colour.options(), &painter, 1);
    let memory = painter.memory.into_inner().unwrap();
    let (least, most) = (memory.iter().min().unwrap(), memory.iter().max().unwrap());
    // Other tests work beside this one: half of what eight pictures need.
    assert!(most - least < 4 * 3 * 4096 * 4096, "{} MB", (most - least) >> 20);
}
