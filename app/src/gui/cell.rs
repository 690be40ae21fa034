//! The cell of an image in grids and lists: its thumbnail, name, class and badges.

use std::sync::Arc;

use tessera_core::ids::ItemId;

use super::panel::Panel;
use super::theme;
use super::widgets::grid::Cell;

/// The cell of an image; `None` if there is no such image.
pub(super) fn cell(panel: &mut Panel<'_>, id: ItemId) -> Option<Cell> {
    let image = Arc::clone(panel.state()?.image(id)?);
    let hash = image.content.map(|content| content.hash.0);
    let texture = hash.and_then(|hash| panel.textures.get(hash, id)).map(|texture| {
        let [width, height] = texture.size();
        (texture.id(), (width as u32, height as u32))
    });
    let broken = texture.is_none() && hash.is_none_or(|hash| panel.textures.is_broken(hash));
    let label = image.label().map(|label| (label.to_owned(), panel.colour(label)));
    let mut badges = Vec::new();
    let census = panel.view.shown.census();
    if let Some(prediction) = census.predictions.get(&id).filter(|prediction| prediction.wrong) {
        let sentence = format!("Taken for {} ({:.0} %)", prediction.class, 100.0 * prediction.confidence);
        badges.push(("≠", theme::badge(theme::Badge::Wrong), sentence));
    }
    if !image.is_here() {
        badges.push(("!", theme::badge(theme::Badge::Missing), "Its file is not there now".to_owned()));
    }
    if image.content.is_some_and(|content| content.changed) {
        badges.push(("~", theme::badge(theme::Badge::Changed), "Its file has other contents than at first".to_owned()));
    }
    if let [first, rest @ ..] = image.captions.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        badges.push(("“", theme::badge(theme::Badge::Caption), format!("{}{more}", first.text)));
    }
    Some(Cell { thumbnail: texture, broken, name: image.file_name(), note: None, label, badges })
}
