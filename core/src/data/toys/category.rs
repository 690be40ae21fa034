//! The categories of toys.

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
