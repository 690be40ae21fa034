//! The names under which a library keeps what belongs to one of its recognisers.

use tessera_core::library::Library;

/// The name under which a library keeps something of its present recogniser: that depends on
/// whether learned features are on, and on whether fitted kernels are in use.
pub(super) fn kept_as(library: &Library, name: &str) -> String {
    let recogniser = library.recogniser();
    let is_usual = recogniser.ckm().options().kinds.iter().map(|kind| &kind.kernel).eq(recogniser.usual_kernels());
    let name = kept_for_elements(library, name);
    if is_usual { name } else { format!("{name}, fitted kinds") }
}

/// The name under which a library keeps something that depends on the kinds of elements alone.
pub(super) fn kept_for_elements(library: &Library, name: &str) -> String {
    if library.recogniser().ckm().options().has_network_cells() { format!("{name}, learned features") } else { name.to_owned() }
}
