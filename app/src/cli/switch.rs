//! The argument that turns something on or off.

use clap::ValueEnum;

/// Whether something takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    /// It does
    On,
    /// It does not
    Off,
}
