//! One toy, painted.

use image::{GrayImage, RgbImage};

use super::category::Category;
use super::math::{Dice, Purpose};
use super::options::ToyOptions;
use super::view::CameraView;
use super::{camera, captions, scene, shapes, style};

/// A picture of a toy, and everything that is known about it.
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
    pub view: CameraView,
    /// The word for its main colour, one of [`COLOURS`](super::COLOURS).
    pub colour: &'static str,
    /// The word for its pattern, one of [`PATTERNS`](super::PATTERNS).
    pub pattern: &'static str,
}

/// Paints view `number` (from 0) of an instance (they are numbered from 1), by the seed, the side
/// and the stereo flag of options that pass their check. About 25 ms at 128 pixels.
pub fn render(category: Category, instance: u32, number: u32, options: &ToyOptions) -> Toy {
    let setting = Setting::new(category, instance, number, options.seed);
    let Setting { style, view, .. } = &setting;
    let look = |eye| camera::paint(&setting.scene, &setting.camera(eye), options.side);
    Toy {
        picture: look(-1.0),
        right: options.stereo.then(|| look(1.0)),
        captions: captions::captions(category, style.colour_name, style.pattern_name, view),
        category,
        instance,
        view: *view,
        colour: style.colour_name,
        pattern: style.pattern_name,
    }
}

/// Where the toy is in the picture that [`render`] paints: 255 on it, 0 on the table, shadows
/// included.
pub fn silhouette(category: Category, instance: u32, number: u32, options: &ToyOptions) -> GrayImage {
    let setting = Setting::new(category, instance, number, options.seed);
    camera::silhouette(&setting.scene, &setting.camera(-1.0), options.side)
}

/// What stands before the camera.
struct Setting {
    style: style::Style,
    view: CameraView,
    scene: scene::Scene,
    /// The random numbers of the framing.
    framing: (u64, Category, u32, u32),
}

impl Setting {
    fn new(category: Category, instance: u32, number: u32, seed: u64) -> Self {
        let dice = |purpose, view| Dice::new(seed, purpose, category.index(), instance, view);
        let style = style::Style::of(seed, category, instance);
        let view = CameraView::of(seed, category, instance, number);
        let parts = shapes::build(category, &style, &mut dice(Purpose::Shape, 0));
        let scene = scene::Scene::new(parts, &style, &view, &mut dice(Purpose::Scene, number));
        Self { style, view, scene, framing: (seed, category, instance, number) }
    }

    /// The camera of one eye: -1 for the left one, 1 for the right one. Both draw the same random
    /// numbers, so that the framing agrees.
    fn camera(&self, eye: f32) -> camera::Camera {
        let (seed, category, instance, number) = self.framing;
        let mut dice = Dice::new(seed, Purpose::View, category.index(), instance, number + 1);
        camera::Camera::new(&self.scene, &self.view, eye, &mut dice)
    }
}
