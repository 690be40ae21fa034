//! The option that says where labels are read from.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tessera_core::data::Labels;

/// Where labels of images to train on are read from.
pub(super) const OF_CLASSES: [Labels; 4] = [Labels::Auto, Labels::ClassFolders, Labels::FolderPaths, Labels::NorbNames];

/// Reads one of these sources of labels by its name.
pub(super) fn label_source(of: impl IntoIterator<Item = Labels>) -> impl TypedValueParser<Value = Labels> {
    let words = |labels| match labels {
        Labels::Auto => "In the names of folders or files, whichever explains them",
        Labels::ClassFolders => "In the names of folders, inside which folders are single objects",
        Labels::FolderPaths => "In the paths of folders, as birds/wren",
        Labels::NorbNames => "In the names of files",
        Labels::WholeFolder => "In the name of the folder itself: all images are of one class, which --class may name otherwise",
        Labels::None => "Nowhere",
    };
    PossibleValuesParser::new(of.into_iter().map(|labels| PossibleValue::new(labels.name()).help(words(labels))))
        .map(|name| Labels::ALL.into_iter().find(|labels| labels.name() == name).unwrap_or_default())
}
