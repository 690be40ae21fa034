//! What may be written on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Find and recognise images on your own machine.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    /// Print JSON: one object, or one a line for commands that stream
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Seed of everything random
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub(super) seed: u64,
    /// Threads to work with; 0: all
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub(super) threads: usize,
    /// No progress and no notes
    #[arg(long, global = true)]
    pub(super) quiet: bool,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run an experiment on plain files
    #[command(subcommand)]
    Eval(Eval),
}

/// Experiments.
#[derive(Debug, Subcommand)]
pub(super) enum Eval {
    /// Print the keypoints and descriptors of pictures
    Features(Features),
}

/// Arguments of `eval features`.
#[derive(Debug, Args)]
pub(super) struct Features {
    /// Pictures
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Features wanted of each picture
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(super) features: usize,
}
