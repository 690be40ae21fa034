//! A made world of toys on a studio table: six categories, any number of instances, views from all around.
//!
//! A picture depends only on (seed, category, instance, view) and the side length. It is computed with additions,
//! multiplications, divisions and roots alone, which every machine rounds alike, so its pixels do not depend on threads or
//! platform. Colour and pattern are drawn without regard to the category: only shape and its details tell it.

mod captions;
mod math;
mod paint;
mod render;
mod scene;
mod shapes;
mod solid;
mod style;
mod view;

use image::RgbImage;

use math::{Dice, Purpose};

pub use paint::PATTERNS;
pub use style::COLOURS;
pub use view::{VIEWS, View};

/// What a toy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// An airplane.
    Airplane,
    /// A boat.
    Boat,
    /// A dog.
    Dog,
    /// A house.
    House,
    /// A teapot.
    Teapot,
    /// A truck.
    Truck,
}

impl Category {
    /// All categories, by name.
    pub const ALL: [Self; 6] = [Self::Airplane, Self::Boat, Self::Dog, Self::House, Self::Teapot, Self::Truck];

    /// The name in folders, files and captions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Airplane => "airplane",
            Self::Boat => "boat",
            Self::Dog => "dog",
            Self::House => "house",
            Self::Teapot => "teapot",
            Self::Truck => "truck",
        }
    }

    /// The position in [`Category::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A picture of a toy and everything that is true about it.
#[derive(Clone, Debug)]
pub struct Toy {
    /// The picture; of a stereo pair the left one.
    pub picture: RgbImage,
    /// The right picture of a stereo pair.
    pub right: Option<RgbImage>,
    /// Three sentences about it.
    pub captions: [String; 3],
    /// What it is.
    pub category: Category,
    /// Which one of its category.
    pub instance: u32,
    /// Where it is seen from, and the light.
    pub view: View,
    /// The word for its main colour, one of [`COLOURS`].
    pub colour: &'static str,
    /// The word for its pattern, one of [`PATTERNS`].
    pub pattern: &'static str,
}

/// Paints one picture, or a stereo pair.
pub fn paint_toy(category: Category, instance: u32, number: u32, seed: u64, side: u32, stereo: bool) -> Toy {
    let dice = |purpose, view| Dice::new(seed, purpose, category.index(), instance, view);
    let style = style::Style::of(seed, category, instance);
    let view = View::of(seed, category, instance, number);
    let parts = shapes::build(category, &style, &mut dice(Purpose::Shape, 0));
    let scene = scene::Scene::new(parts, &style, &view, &mut dice(Purpose::Scene, number));
    let look = |eye: f32| render::paint(&scene, &render::Camera::new(&scene, &view, eye, &mut dice(Purpose::View, number + 1)), side);
    Toy {
        picture: look(-1.0),
        right: stereo.then(|| look(1.0)),
        captions: captions::captions(category, style.colour_name, style.pattern_name, &view),
        category,
        instance,
        view,
        colour: style.colour_name,
        pattern: style.pattern_name,
    }
}
