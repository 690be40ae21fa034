//! The six categories as parts. A toy faces x, y is up, z is its right side; it stands on y = 0 around the origin.

mod airplane;
mod boat;
mod dog;
mod house;
mod teapot;
mod truck;

use super::Category;
use super::math::Dice;
use super::paint::{Coat, Colour, Face, Mark, Paint, Shape};
use super::solid::Part;
use super::style::Style;

pub(super) fn build(category: Category, style: &Style, dice: &mut Dice) -> Vec<Part> {
    match category {
        Category::Airplane => airplane::build(style, dice),
        Category::Boat => boat::build(style, dice),
        Category::Dog => dog::build(style, dice),
        Category::House => house::build(style, dice),
        Category::Teapot => teapot::build(style, dice),
        Category::Truck => truck::build(style, dice),
    }
}

/// The instance's pattern.
fn patterned(style: &Style) -> Paint {
    Paint::new(Coat::Pattern(style.pattern))
}

/// The same thing on both sides of the toy.
fn both(part: impl Fn(f32) -> Part) -> [Part; 2] {
    [part(-1.0), part(1.0)]
}

fn window(frame: Colour, glass: Colour, columns: u8, rows: u8) -> Shape {
    Shape::Window { frame, glass, columns, rows }
}

/// A row of round rivets along u.
fn rivets(face: Face, at: [f32; 2], count: usize, step: f32, colour: Colour) -> Mark {
    Mark::new(face, at, [0.024, 0.024], Shape::Disc(colour)).row(count, [step, 0.0])
}

/// A frame of four lines around `at`.
fn frame(face: Face, at: [f32; 2], half: [f32; 2], line: f32, colour: Colour) -> [Mark; 2] {
    let rect = Shape::Rect(colour);
    [
        Mark::new(face, at, [half[0], line], rect).row(2, [0.0, 2.0 * half[1] - line]),
        Mark::new(face, at, [line, half[1]], rect).row(2, [2.0 * half[0] - line, 0.0]),
    ]
}
