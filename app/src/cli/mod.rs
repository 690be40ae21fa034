//! The command line: the only module that knows clap and stdout.

mod args;
mod classify;
mod evaluate;
mod generate;
mod output;
mod paths;
mod sample;
mod train;

use std::process::ExitCode;

use clap::Parser;
use tessera_core::Error;

use crate::session::Session;
use args::{Arguments, Command, Generate};
use output::Output;

/// How a command ended that did not fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// Everything was done.
    Whole,
    /// Everything but some files.
    Partly,
}

/// An error that the user has been told about already.
#[derive(Debug)]
struct Told(Error);

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Told {}

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
    match run(&arguments, &out) {
        Ok(Done::Whole) => ExitCode::SUCCESS,
        Ok(Done::Partly) => ExitCode::from(1),
        Err(error) => {
            if !error.is::<Told>() {
                out.complain(&format!("{error:#}"));
            }
            ExitCode::from(exit_code(&error))
        }
    }
}

fn run(arguments: &Arguments, out: &Output) -> anyhow::Result<Done> {
    let session = Session::new(arguments.global.threads, arguments.global.seed)?;
    let progress = session.progress().clone();
    ctrlc::set_handler(move || progress.cancel())?;
    match &arguments.command {
        None => sample::run(&session, out),
        Some(Command::Train(arguments)) => train::run(&session, arguments, out),
        Some(Command::Classify(arguments)) => classify::run(&session, arguments, out),
        Some(Command::Eval(arguments)) => evaluate::run(&session, arguments, out),
        Some(Command::Generate(Generate::Toys(arguments))) => generate::toys(&session, arguments, out),
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    let error = error.downcast_ref::<Told>().map(|told| &told.0).or_else(|| error.downcast_ref::<Error>());
    match error {
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
