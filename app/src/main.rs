//! The program `tessera`: arguments go to the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    tessera::cli::main(None)
}
