//! ORB features of a picture: corners on an image pyramid, each with an orientation and a binary
//! descriptor, which are found again in other pictures of the same thing.
//!
//! After E. Rublee, V. Rabaud, K. Konolige and G. Bradski, *ORB: an efficient alternative to SIFT
//! or SURF*, ICCV 2011; FAST after E. Rosten and T. Drummond, *Machine learning for high-speed
//! corner detection*, ECCV 2006; the corner measure after C. Harris and M. Stephens, *A combined
//! corner and edge detector*, AVC 1988; the descriptor after M. Calonder, V. Lepetit, C. Strecha
//! and P. Fua, *BRIEF*, ECCV 2010, turned by the orientation of the corner.
//!
//! O(pixels + features) for a picture.
//!
//! ```
//! use image::{GrayImage, Luma};
//! use tessera_core::features::{OrbOptions, detect};
//!
//! // A bright square: its corners are found.
//! let picture = GrayImage::from_fn(128, 128, |x, y| Luma([if x.max(y) < 90 && x.min(y) > 40 { 220 } else { 30 }]));
//! let found = detect(&picture, &OrbOptions::default());
//! assert!(!found.keypoints.is_empty() && found.keypoints.len() == found.descriptors.len());
//! let is_near = |value: f32| (value - 40.5).abs() < 8.0 || (value - 89.5).abs() < 8.0;
//! assert!(found.keypoints.iter().any(|corner| is_near(corner.x) && is_near(corner.y)));
//! ```

pub mod brief;
pub mod fast;
pub mod harris;
pub mod orb;
pub mod orientation;

pub use orb::{Features, OrbOptions, detect};
