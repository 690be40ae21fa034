//! What several categories are made with.

use super::super::paint::{Coat, Colour, Face, Mark, Paint, Shape};
use super::super::part::Part;
use super::super::style::Style;

/// The instance's pattern.
pub(super) fn patterned(style: &Style) -> Paint {
    Paint::new(Coat::Pattern(style.pattern))
}

/// The same part on both sides of the toy.
pub(super) fn both(part: impl Fn(f32) -> Part) -> [Part; 2] {
    [part(-1.0), part(1.0)]
}

pub(super) fn window(frame: Colour, glass: Colour, columns: u8, rows: u8) -> Shape {
    Shape::Window { frame, glass, columns, rows }
}

/// A row of round rivets along u.
pub(super) fn rivets(face: Face, at: [f32; 2], count: usize, step: f32, colour: Colour) -> Mark {
    Mark::new(face, at, [0.024, 0.024], Shape::Disc(colour)).row(count, [step, 0.0])
}

/// A frame of four lines around `at`.
pub(super) fn frame(face: Face, at: [f32; 2], half: [f32; 2], line: f32, colour: Colour) -> [Mark; 2] {
    let rect = Shape::Rect(colour);
    [
        Mark::new(face, at, [half[0], line], rect).row(2, [0.0, 2.0 * half[1] - line]),
        Mark::new(face, at, [line, half[1]], rect).row(2, [2.0 * half[0] - line, 0.0]),
    ]
}
