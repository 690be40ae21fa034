//! The arguments of `tessera network …`, and the kinds of elements, which networks are among.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tessera_core::network::PixelScale;
use tessera_core::network::brought::check_name;

/// Networks that the user brings.
#[derive(Debug, Subcommand)]
pub(super) enum Network {
    /// Try a network out and keep it: an image encoder, or one with its text encoder
    Add(Add),
    /// List the networks that were added
    List,
    /// Remove a network and the copies of its files
    Remove(Named),
    /// Show which images fit words best, by the two encoders of a network
    Match(Match),
}

/// Arguments of `network add`.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// What to call it: lowercase letters, digits, `-` and `_`
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// An ONNX file of an image encoder; perhaps one of a text encoder with its `tokenizer.json`;
    /// perhaps a `preprocessor_config.json`; or a folder of them
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Width and height of the picture it takes, where its file leaves them open
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(8..=1024))]
    pub(super) side: Option<u32>,
    /// How pixels become numbers [default: as `preprocessor_config.json` says; `clip` for a pair,
    /// `imagenet` for an image encoder alone]
    #[arg(long, value_enum)]
    pub(super) pixels: Option<Pixels>,
    /// The output to use, where there are several [default: a vector rather than a grid]
    #[arg(long, value_name = "NAME")]
    pub(super) output: Option<String>,
}

/// The name of a network.
#[derive(Debug, Args)]
pub(super) struct Named {
    /// A name that `tessera network list` shows
    #[arg(value_name = "NAME")]
    pub(super) name: String,
}

/// Arguments of `network match`.
#[derive(Debug, Args)]
pub(super) struct Match {
    /// A pair of encoders
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Images, or folders of images
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// What the images should show
    #[arg(long, required = true, value_name = "TEXT")]
    pub(super) words: String,
    /// Show at most so many images
    #[arg(short = 'k', value_name = "N", default_value_t = 10)]
    pub(super) limit: usize,
    /// List each file that failed here, as JSON lines of path, reason and detail
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// How pixels become numbers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Pixels {
    /// From 0 to 1, less ImageNet's mean, by its deviation
    Imagenet,
    /// From 0 to 1, less CLIP's mean, by its deviation
    Clip,
    /// From 0 to 1
    Unit,
    /// From -1 to 1
    Signed,
    /// From 0 to 255
    Bytes,
}

impl Pixels {
    pub(super) fn scale(self) -> PixelScale {
        match self {
            Self::Imagenet => PixelScale::IMAGENET,
            Self::Clip => PixelScale::CLIP,
            Self::Unit => PixelScale::UNIT,
            Self::Signed => PixelScale::SIGNED,
            Self::Bytes => PixelScale::BYTES,
        }
    }
}

/// The kinds of elements of a recogniser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    /// Corners.
    Orb,
    /// Blocks of gradient histograms.
    Hog,
    /// Colour layout.
    Colour,
    /// Corners, blocks and colours together.
    Mixed,
    /// Cells of the network that comes with the program.
    Network,
    /// All kinds of the program.
    All,
    /// Cells of the network of this name, which the user added.
    Brought(String),
}

/// What `--elements` takes.
pub(super) const ELEMENTS: &str = "KIND|NAME";

impl Elements {
    const OWN: [Self; 6] = [Self::Orb, Self::Hog, Self::Colour, Self::Mixed, Self::Network, Self::All];

    /// Whether a network may not have this name.
    pub(super) fn is_taken(name: &str) -> bool {
        Self::OWN.iter().any(|own| own.to_string() == name)
    }

    /// The kinds of this name; any other name that a network may have stands for that network.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match Self::OWN.into_iter().find(|own| own.to_string() == text) {
            Some(own) => Ok(own),
            None if check_name(text).is_ok() => Ok(Self::Brought(text.to_owned())),
            None => Err("expected orb, hog, colour, mixed, network, all, or the name of a network".into()),
        }
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Orb => "orb",
            Self::Hog => "hog",
            Self::Colour => "colour",
            Self::Mixed => "mixed",
            Self::Network => "network",
            Self::All => "all",
            Self::Brought(name) => name,
        })
    }
}
