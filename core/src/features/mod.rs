//! ORB-like features: corners found on a pyramid, each with an orientation and a binary descriptor.
//!
//! After E. Rublee, V. Rabaud, K. Konolige and G. Bradski, *ORB: an efficient alternative to SIFT or SURF*, ICCV 2011;
//! FAST after E. Rosten and T. Drummond, *Machine learning for high-speed corner detection*, ECCV 2006; the corner
//! measure after C. Harris and M. Stephens, *A combined corner and edge detector*, AVC 1988; the descriptor after
//! M. Calonder, V. Lepetit, C. Strecha and P. Fua, *BRIEF*, ECCV 2010, turned by the orientation of the corner.

pub mod brief;
pub mod fast;
pub mod harris;
pub mod orb;
pub mod orientation;

pub use orb::{Features, OrbOptions, detect};
