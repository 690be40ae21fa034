//! The names under which a library keeps what belongs to one of its recognisers.

use tessera_core::library::Library;

/// The name under which a library keeps something of its present recogniser, whose kind of elements
/// depends on whether learned features are on.
pub(super) fn kept_as(library: &Library, name: &str) -> String {
    if library.recogniser().ckm().options().has_network_cells() { format!("{name}, learned features") } else { name.to_owned() }
}
