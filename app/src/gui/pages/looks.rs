//! The vectors of images that can be compared, as pages offer them.

use std::sync::Arc;

use tessera_core::library::looks::Look;

use crate::gui::panel::Panel;
use crate::gui::words::count;

/// Why learned features cannot be chosen.
pub(super) const LEARNED_OFF: &str = "Learned features are off in this library; the page Train turns them on";

/// Why there are no clusters.
pub(super) fn no_clusters(panel: &Panel<'_>) -> &'static str {
    if panel.desk.clusters().is_hidden() {
        "The clusters were found with learned features, which are off; the page Train turns them on."
    } else {
        "No clusters were found yet; the page Clusters finds them."
    }
}

/// The vectors of every library, with their names and what they mean.
const BUILT_IN: [(Option<Look>, &str, &str); 7] = [
    (None, "Usual", "What the network sees where learned features are on and it has looked at the images, otherwise edges and colours"),
    (Some(Look::Appearance), "Edges and colours", "Where edges run and where colours are, each for a half"),
    (Some(Look::Edges), "Edges", "Where edges run, whatever the colours"),
    (Some(Look::Colours), "Colours", "Where colours are, whatever the shapes"),
    (Some(Look::Network), "What the network sees", "The learned features of whole images: what things are, more than how they lie"),
    (Some(Look::Words), "Words of captions", "What captions say: images are alike that share words, rare ones above all"),
    (Some(Look::Elements), "The recogniser's elements", "The mean values of the pieces by which the recogniser compares images"),
];

/// Vectors that can be chosen.
pub(super) struct LookChoice {
    /// None: the usual ones.
    pub(super) look: Option<Look>,
    pub(super) name: String,
    pub(super) hover: String,
    /// Whether there are such vectors.
    pub(super) is_there: bool,
}

/// The built-in vectors, and sets that were brought, each with its images.
pub(super) fn look_choices<'a>(panel: &Panel<'_>, sets: impl IntoIterator<Item = &'a (Arc<str>, usize)>) -> Vec<LookChoice> {
    let is_learned = panel.desk.recognising().learned().is_on;
    let built_in = BUILT_IN.into_iter().map(|(look, name, hover)| {
        let is_there = look != Some(Look::Network) || is_learned;
        LookChoice { look, name: name.to_owned(), hover: hover.to_owned(), is_there }
    });
    let brought = sets.into_iter().map(|(set, images)| LookChoice {
        look: Some(Look::Brought(Arc::clone(set))),
        name: set.to_string(),
        hover: format!("Vectors that were brought, of {}", count(*images, "image")),
        is_there: true,
    });
    built_in.chain(brought).collect()
}
