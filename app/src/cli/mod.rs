//! The command line: the only module that knows clap and stdout.

mod acts;
mod allocator;
mod args;
mod backup;
mod check;
mod classify;
mod cluster;
mod decode_worker;
mod duplicates;
mod evaluate;
mod evaluate_memories;
mod evaluate_mixtures;
mod evaluate_neighbours;
mod evaluate_online;
mod evaluate_sets;
mod evaluate_words;
mod export;
mod generate;
mod import;
mod import_plan;
mod label;
mod label_source;
mod librarian;
mod library_args;
mod map;
mod memory_args;
mod mixture_args;
mod neighbour_args;
mod network;
mod network_args;
mod online_args;
mod output;
mod paths;
mod review;
mod sample;
mod sandbox;
mod search;
mod shard;
mod similar;
mod stream;
mod suggest;
mod switch;
mod train;
mod tune;
mod vectors;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory as _;
use tessera_core::Error;
use tessera_core::error::display;

use crate::ending::on_request;
use crate::session::Session;
use crate::session::library::named;
use acts::HistoryStep;
use args::{Arguments, Command, Eval, Generate, Global};
use librarian::Librarian;
use output::Output;

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// Everything was done.
    Whole,
    /// Everything was done except for some files.
    Partly,
}

/// An error that has been printed already.
#[derive(Debug)]
struct AlreadyPrinted(Error);

impl std::fmt::Display for AlreadyPrinted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for AlreadyPrinted {}

/// A usage error, in a sentence: no data could make this command line valid.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Opens the window, on a path if one is given, and returns when it is closed.
pub type Window = fn(Option<PathBuf>, Session) -> anyhow::Result<()>;

/// Runs the command line of this process and returns its exit code (docs/cli.md lists them).
/// Without a command it opens `window`, where there is one and a display to open it on.
pub fn main(window: Option<Window>) -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) => {
            match mistyped() {
                Some(words) if error.use_stderr() => drop(writeln!(std::io::stderr(), "error: {words}")),
                _ if error.use_stderr() => drop(write!(std::io::stderr(), "{}", in_plain_words(&error.render().to_string()))),
                _ => drop(error.print()),
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let out = Output::new(&arguments.global);
    silence_codecs();
    outlive_limits();
    match run(&arguments, window, &out) {
        Ok(Done::Whole) => ExitCode::SUCCESS,
        Ok(Done::Partly) => ExitCode::from(1),
        Err(error) => {
            if !error.is::<AlreadyPrinted>() {
                let words = format!("{error:#}{}", way_past(&error));
                out.complain(&words);
                if arguments.command.as_ref().is_some_and(Command::is_act) {
                    out.json(|| serde_json::json!({"event": null, "ok": false, "error": words}));
                }
            }
            ExitCode::from(exit_code(&error))
        }
    }
}

/// The options that help where another program has a library open.
fn way_past(error: &anyhow::Error) -> &'static str {
    match error.downcast_ref() {
        // Of a file in a library it is another matter.
        Some(Error::Busy { path, .. }) if path.is_dir() => {
            ", or give --wait SECONDS to wait for it; --read-only reads the library meanwhile"
        }
        _ => "",
    }
}

/// A refusal of the command line, in which numbers that cannot be read are told plainly.
fn in_plain_words(refusal: &str) -> String {
    const WHOLE: &str = "expected a whole number, 0 or more";
    let known = [
        ("invalid digit found in string", WHOLE),
        ("cannot parse integer from empty string", WHOLE),
        ("number too large to fit in target type", "this number is too large"),
        ("invalid float literal", "expected a number"),
    ];
    known.iter().fold(refusal.to_owned(), |text, (jargon, plain)| text.replace(jargon, plain))
}

/// What to say of a first word that is neither a path nor a command, but nearly a command.
fn mistyped() -> Option<String> {
    let word = std::env::args().nth(1).filter(|word| !word.starts_with('-') && !Path::new(word).exists())?;
    let commands = Arguments::command();
    let names = commands.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name);
    let far = |name: &&str| strsim::damerau_levenshtein(name, &word);
    let name = names.min_by_key(far).filter(|name| (1..=2).contains(&far(name)))?;
    Some(format!("there is no command `{word}`, and no file or folder of that name; did you mean `tessera {name}`?"))
}

fn run(arguments: &Arguments, window: Option<Window>, out: &Output) -> anyhow::Result<Done> {
    if let Some(Command::DecodeWorker { tries }) = &arguments.command {
        return decode_worker::run(tries.as_deref());
    }
    if matches!(arguments.command, Some(Command::NetworkWorker)) {
        return decode_worker::try_network();
    }
    if arguments.command.is_none() && window.is_some() && has_display() {
        allocator::keep_little();
    }
    let Global { threads, seed, read_only, element_memory, .. } = arguments.global;
    let session =
        Session::new(threads, seed.unwrap_or_default())?.with_workers().reading_only(read_only).with_element_memory(element_memory);
    session.limit_picture_memory(arguments.global.picture_memory);
    session.networks();
    let Some(command) = &arguments.command else { return without_command(arguments.path.as_deref(), window, session, out) };
    if let Some(path) = &arguments.path {
        let words = "a command comes first, and then what it works on; `tessera --help` lists the commands";
        return Err(Usage(format!("{}: {words}", display(path))).into());
    }
    cancel_on_request(&session)?;
    let librarian = &Librarian::new(&session, out, &arguments.global);
    // Code that does not choose its thread pool would otherwise use all threads of the machine.
    let done = session.on_threads(|| run_command(command, librarian));
    if let Some(remark) = session.remark() {
        out.note(&remark);
    }
    done.map_err(|error| match error.downcast_ref() {
        Some(Error::Cancelled) => error.context(reached(&session, command)),
        _ => error,
    })
}

/// How far cancelled work had come, and that it wrote nothing where that is so.
fn reached(session: &Session, command: &Command) -> String {
    let now = session.progress().snapshot();
    let nothing = match command {
        Command::Train(_) => "; no model was written",
        Command::Eval(Eval::Ckm(_)) => "; nothing was measured",
        _ => "",
    };
    match now.total {
        0 if now.stage.is_empty() => format!("stopped before the work began{nothing}"),
        0 => format!("stopped at \"{}\"{nothing}", now.stage),
        total => format!("stopped at \"{}\", {} of {total}{nothing}", now.stage, now.done),
    }
}

/// Runs a command.
fn run_command(command: &Command, librarian: &Librarian<'_>) -> anyhow::Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    match command {
        Command::Import(arguments) => import::run(librarian, arguments),
        Command::Train(arguments) => train::run(librarian, arguments),
        Command::Shard(arguments) => shard::run(librarian, arguments),
        Command::Tune(arguments) => tune::run(librarian, arguments),
        Command::Classify(arguments) => classify::run(librarian, arguments),
        Command::Search(arguments) => search::run(librarian, arguments),
        Command::Feedback(arguments) => search::feedback(librarian, arguments),
        Command::Suggest(arguments) => suggest::run(librarian, arguments),
        Command::Review(arguments) => review::run(librarian, arguments),
        Command::Cluster(arguments) => cluster::run(librarian, arguments),
        Command::Similar(arguments) => similar::run(librarian, arguments),
        Command::Map(arguments) => map::run(librarian, arguments),
        Command::Vectors(arguments) => vectors::run(librarian, arguments),
        Command::Duplicates(arguments) => duplicates::run(librarian, arguments),
        Command::Lessons(arguments) => search::lessons(librarian, arguments),
        Command::Label(arguments) => label::label(librarian, arguments),
        Command::Caption(arguments) => label::caption(librarian, arguments),
        Command::Undo(arguments) => acts::step(librarian, arguments, HistoryStep::Undo),
        Command::Redo(arguments) => acts::step(librarian, arguments, HistoryStep::Redo),
        Command::Remove(arguments) => acts::remove(librarian, arguments),
        Command::Restore(arguments) => acts::restore(librarian, arguments),
        Command::Forget(arguments) => acts::forget(librarian, arguments),
        Command::Relocate(arguments) => acts::relocate(librarian, arguments),
        Command::Export(arguments) => export::run(librarian, arguments),
        Command::Check(arguments) => check::run(librarian, arguments),
        Command::Backup(arguments) => backup::run(librarian, arguments),
        Command::Network(arguments) => network::run(session, arguments, out),
        Command::Sample => sample::run(session, out),
        Command::Eval(arguments) => evaluate::run(session, arguments, librarian, out),
        Command::Generate(Generate::Toys(arguments)) => generate::toys(session, arguments, out),
        Command::Generate(Generate::Compositions(arguments)) => generate::compositions(session, arguments, out),
        Command::Generate(Generate::Symmetries(arguments)) => generate::symmetries(session, arguments, out),
        Command::DecodeWorker { .. } | Command::NetworkWorker => Ok(Done::Whole),
    }
}

/// Opens the window, or runs the sample if there is none.
fn without_command(path: Option<&Path>, window: Option<Window>, session: Session, out: &Output) -> anyhow::Result<Done> {
    let path = path.map(named);
    if let Some(path) = path.as_ref().filter(|path| !path.exists()) {
        let words =
            "expected a command, or a file or folder for the window, found neither of that name; `tessera --help` lists the commands";
        return Err(Usage(format!("{}: {words}", display(path))).into());
    }
    match (window.filter(|_| has_display()), &path) {
        (Some(window), _) => window(path, session).map(|()| Done::Whole),
        (None, None) => {
            cancel_on_request(&session)?;
            sample::run(&session, out)
        }
        (None, Some(path)) => {
            let why = if window.is_some() { "there is no display to open a window on" } else { "this build has no window" };
            anyhow::bail!("cannot show {}: {why}; `tessera --help` lists what can be done without", display(path))
        }
    }
}

/// Whether there is a display to open a window on.
fn has_display() -> bool {
    !cfg!(all(unix, not(target_vendor = "apple")))
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn cancel_on_request(session: &Session) -> anyhow::Result<()> {
    let progress = session.progress().clone();
    on_request(move || progress.cancel())
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() {
        return 2;
    }
    let error = error.downcast_ref::<AlreadyPrinted>().map(|printed| &printed.0).or_else(|| error.downcast_ref::<Error>());
    match error {
        Some(Error::Option { .. }) => 2,
        Some(Error::NotFound { .. } | Error::Removed { .. } | Error::Unfit { .. }) => 65,
        Some(
            Error::Value { .. }
            | Error::Data { .. }
            | Error::Exists { .. }
            | Error::TooLarge { .. }
            | Error::Crashed { .. }
            | Error::Fatal { .. },
        ) => 65,
        Some(Error::Busy { .. }) => 75,
        Some(Error::Cancelled) => 130,
        _ => 74,
    }
}

/// Turns a file that may grow no further into an ordinary error; by default the system would end
/// this process.
#[cfg(unix)]
fn outlive_limits() {
    let signal = rustix::process::Signal::XFSZ.as_raw();
    // If this is not possible, everything acknowledged is safe all the same.
    let _ = signal_hook::flag::register(signal, std::sync::Arc::default());
}

#[cfg(not(unix))]
fn outlive_limits() {}

/// Silences the panic messages of codecs: their panics are caught and reported as errors.
fn silence_codecs() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !tessera_core::picture::decode::is_decoding() {
            usual(info);
        }
    }));
}
