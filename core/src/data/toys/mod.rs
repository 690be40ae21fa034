//! A synthetic world of toys on a studio table: six categories, any number of instances, views from
//! all around.
//!
//! A picture depends only on (seed, category, instance, view) and the side length. It is computed
//! with additions, multiplications, divisions and roots alone, which every machine rounds alike, so
//! its pixels do not depend on threads or platform. Colour and pattern are drawn without regard to
//! the category: only shape and its details depend on it.
//!
//! [`render`] paints one picture and [`silhouette`] says where in it the toy is; [`generate`]
//! writes a folder of them, [`ToyOptions::sample`] the built-in sample.

mod camera;
mod captions;
mod category;
mod mat;
pub(super) mod math;
mod options;
mod paint;
mod part;
mod plan;
pub(super) mod save;
mod scene;
mod shapes;
mod solid;
mod style;
mod toy;
mod view;
mod write;

pub use category::Category;
pub use options::{Faults, ToyFormat, ToyOptions};
pub use paint::PATTERNS;
pub use save::{Planted, ToyReport};
pub use style::COLOURS;
pub use toy::{Toy, render, silhouette};
pub use view::{CameraView, VIEWS};
pub use write::generate;
