//! The command line: the only module that knows clap and stdout.

mod args;
mod evaluate;
mod output;

use std::process::ExitCode;

use clap::Parser;
use tessera_core::Error;

use crate::session::Session;
use args::{Arguments, Command};
use output::Output;

/// How a command ended that did not fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// Everything was done.
    Whole,
    /// Everything but some files.
    Partly,
}

/// Runs the command line of this process and returns its exit code (see the table in the README).
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let out = Output::new(&arguments.global);
    silence_codecs();
    match run(arguments, &out) {
        Ok(Done::Whole) => ExitCode::SUCCESS,
        Ok(Done::Partly) => ExitCode::from(1),
        Err(error) => {
            out.complain(&format!("{error:#}"));
            ExitCode::from(exit_code(&error))
        }
    }
}

fn run(arguments: Arguments, out: &Output) -> anyhow::Result<Done> {
    let session = Session::new(arguments.global.threads, arguments.global.seed)?;
    let progress = session.progress().clone();
    ctrlc::set_handler(move || progress.cancel())?;
    match arguments.command {
        Command::Eval(command) => evaluate::run(&session, command, out),
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<Error>() {
        Some(Error::Option { .. }) => 2,
        Some(Error::Data { .. } | Error::TooLarge { .. } | Error::Crashed { .. }) => 65,
        Some(Error::Cancelled) => 130,
        _ => 74,
    }
}

/// A codec's panic is caught and reported as an error; its own message would only confuse.
fn silence_codecs() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !tessera_core::picture::decode::is_decoding() {
            usual(info);
        }
    }));
}
