//! The program `tessera`: arguments go to the command line, which opens the window where none are
//! given.

use std::process::ExitCode;

#[cfg(feature = "window")]
fn main() -> ExitCode {
    tessera::cli::main(Some(tessera::gui::run))
}

#[cfg(not(feature = "window"))]
fn main() -> ExitCode {
    tessera::cli::main(None)
}
