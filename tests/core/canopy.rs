//! Mixtures: draws that follow the right law, bounds that hold, fits that agree with one another.

mod bounds;
mod exact;
mod fits;
