//! All keys, and what they do.

use egui::{RichText, ScrollArea, Ui};

use super::room;
use crate::gui::actions::Action;

pub(super) fn keys_ui(ui: &mut Ui) {
    ui.heading("Keyboard");
    let others = [
        ("1 to 9, 0", "Label the selected images as the class that has this key, on every page the same"),
        ("Shift+1 to 9, 0", "As the next ten classes"),
        ("Backspace", "Take the label off"),
        ("Arrows, Home, End, Page", "Move; with Shift, select"),
        ("Click, Ctrl, Shift", "Select one, more, a range"),
        ("Ctrl+wheel", "Size of thumbnails"),
        ("Esc", "Back"),
        ("+ − F, wheel, drag", "Zoom, fit, move (viewer)"),
        ("Ctrl+V", "Recognise the image on the clipboard; in Similar, find images like it"),
    ];
    let similar = [
        ("Enter, double click", "Find images like the selected one"),
        ("Backspace", "Back to the image before"),
        ("Drag on the picture", "Compare a part of it"),
    ];
    let map = [
        ("Arrows, drag", "Move the map"),
        ("+ − F, wheel", "Nearer, farther, the whole map"),
        ("Shift and drag", "Select the images inside; with Ctrl, those too"),
        ("Double click", "Show the image large"),
    ];
    let clusters = [
        ("Up, Down, Home, End", "Go from cluster to cluster"),
        ("Left, Right", "Go from image to image; with Shift, select"),
        ("Enter", "Select all images of the cluster; Space adds them, or takes them out"),
        ("Esc", "Select nothing"),
        ("L", "Name the selected images"),
        ("M, S", "Merge the selected clusters; split the selected one"),
    ];
    let labelling = [
        ("Enter", "Accept the suggestion; in Review, keep the label"),
        ("X", "Reject it: not this class"),
        ("1 to 9, 0, with Shift", "Give the class that has this key, as in Browse"),
        ("Up, Down", "Go through the suggestions; Enter accepts the marked one"),
        ("Letters, Tab, /", "Write a class; Up, Down and Tab complete it"),
        ("Space", "Skip; in Review, the next one"),
        ("Backspace", "Take back and go back; in Review, the one before"),
    ];
    let recognise = [
        ("1 to 9, 0, with Shift", "Give the image the class that has this key"),
        ("Letters, Tab, /", "Write its class; Up, Down and Tab complete it"),
    ];
    let many = [
        ("Arrows, Home, End", "Go from image to image"),
        ("Space", "Leave the image out, or take it in"),
        ("Letters, Tab, /", "Write another class for them"),
        ("Enter", "Label those that are in"),
        ("Esc", "Label none"),
    ];
    ScrollArea::vertical().id_salt("keys").max_height(room(ui, 460.0)).auto_shrink([false, true]).show(ui, |ui| {
        let most = 0.62 * ui.available_width();
        egui::Grid::new("keys").num_columns(2).striped(true).spacing([24.0, 4.0]).max_col_width(most).show(ui, |ui| {
            let pages = [
                ("Browse and viewer", &others[..]),
                ("Label", &labelling),
                ("Label many", &many),
                ("Recognise", &recognise),
                ("Similar", &similar),
                ("Clusters", &clusters),
                ("Map", &map),
            ];
            for (heading, keys) in pages {
                ui.strong(heading);
                ui.end_row();
                for (keys, words) in keys {
                    ui.label(RichText::new(*keys).monospace());
                    ui.label(*words);
                    ui.end_row();
                }
            }
            ui.strong("Everywhere");
            ui.end_row();
            for action in Action::all().filter(|action| !action.shortcuts().is_empty()) {
                let keys: Vec<String> = action.shortcuts().iter().map(|shortcut| ui.ctx().format_shortcut(shortcut)).collect();
                ui.label(RichText::new(keys.join(", ")).monospace());
                ui.label(action.words().0.trim_end_matches('…'));
                ui.end_row();
            }
        });
    });
}
