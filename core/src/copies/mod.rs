//! Near copies among pictures: the same photo recompressed, resized, rotated, mirrored or cropped.
//!
//! 1. Each picture has a [`Signature`], its grey values at 32 x 32 pixels.
//! 2. [`candidates`] names the pairs that may be copies. The signs of the 63 lowest frequencies of
//!    a picture, and of its parts that a crop may have left, are looked up in all eight turns among
//!    those of all others.
//! 3. [`compare`] brings the thumbnails of a pair into line and measures how far they differ, in
//!    percent of their structure.
//! 4. [`groups`] puts together what is within a distance of one picture, the best of its group: a
//!    chain of ever less similar pictures is not a group.
//!
//! ```
//! use image::{Rgb, RgbImage, imageops};
//! use tessera_core::copies::{Signature, candidates, compare};
//! use tessera_core::progress::Progress;
//!
//! let stains = |x: u32, y: u32| ((x * 7 + y * 3) % 41 * 6) as u8 / 2 + ((x / 9 * 5 + y / 7 * 11) % 16 * 8) as u8;
//! let picture = RgbImage::from_fn(96, 80, |x, y| Rgb([stains(x, y); 3]));
//! let copy = imageops::rotate90(&picture);
//! let found = candidates(&[Signature::of(&picture), Signature::of(&copy)], &Progress::default())?;
//! assert_eq!(found[0].turn.degrees(), 90);
//! assert!(compare(&found[0].turn.of(&picture), &copy, found[0].turn.window(found[0].window)).distance < 0.1);
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod align;
mod candidates;
mod compare;
mod difference;
mod groups;
mod relation;
mod signature;
mod turn;

pub use align::CropWindow;
pub use candidates::{Candidate, Wanted, candidates, candidates_among};
pub use compare::{Comparison, NEAR, SIMILAR, compare, compare_within};
pub use difference::{PixelDifference, pixel_difference};
pub use groups::groups;
pub use relation::{Extent, Relation};
pub use signature::{Signature, VERSION};
pub use turn::Turn;
