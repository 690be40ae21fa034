//! The six categories as parts. A toy faces x, y is up, z is its right side; it stands on y = 0
//! around the origin.

mod airplane;
mod boat;
mod dog;
mod house;
mod pieces;
mod teapot;
mod truck;

use super::category::Category;
use super::math::Dice;
use super::part::Part;
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
