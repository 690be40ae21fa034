//! The first images of a library while the rest of it is read and checked.

use egui::{RichText, Ui};
use tessera_core::ids::ItemId;

use crate::gui::panel::Panel;
use crate::gui::selection::Selection;
use crate::gui::widgets::grid::{Cell, grid_ui};
use crate::gui::words::count;

pub(in crate::gui) fn first_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let Some(first) = panel.desk.first() else { return };
    let list: Vec<ItemId> = by_path(first);
    ui.horizontal(|ui| {
        ui.spinner();
        let words = match list.len() == first.images {
            true => format!("Opening {}", count(first.images, "image")),
            false => format!("Opening; these are the first {} of {}", list.len(), count(first.images, "image")),
        };
        ui.label(RichText::new(words).weak());
    });
    ui.add_space(2.0);
    let textures = &mut *panel.textures;
    let cell = |id: ItemId| {
        let image = first.state.image(id)?;
        let hash = image.content?.hash.0;
        let texture = textures.get(hash, id).map(|texture| {
            let [width, height] = texture.size();
            (texture.id(), (width as u32, height as u32))
        });
        let broken = texture.is_none() && textures.is_broken(hash);
        Some(Cell { thumbnail: texture, broken, name: image.file_name(), note: None, label: None, badges: Vec::new() })
    };
    grid_ui(ui, "first", &list, &mut Selection::default(), panel.settings.thumbnail_side, cell);
}

/// The images as the grid has them at first.
fn by_path(first: &tessera_core::library::FirstImages) -> Vec<ItemId> {
    let mut images: Vec<_> = first.state.images().collect();
    images.sort_by_key(|image| image.place().map(|place| (place.root, &place.path)));
    images.into_iter().map(|image| image.id).collect()
}
