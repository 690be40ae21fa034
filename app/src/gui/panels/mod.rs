//! The parts of the window, one file each.

mod bottom;
mod browse;
mod class_field;
mod hits;
mod inspector;
mod label;
mod label_many;
mod lessons;
mod library;
mod modals;
mod models;
mod recognise;
mod review;
mod start;
mod top;
mod train;
mod tree;
mod viewer;
mod why;

use std::path::PathBuf;

use egui::{CentralPanel, Frame, Margin, Panel as Side, Ui};

use super::dialogs::{Purpose, Wants};
use super::view::{Page, Panel};

/// What only the window itself can do.
pub(super) enum Request {
    /// Open the system's dialog.
    Native(Purpose, Wants),
    /// Wait no longer for it.
    GiveUp,
    /// A path was typed.
    Chose(Purpose, PathBuf),
}

/// Paints the whole window.
pub(super) fn window_ui(ui: &mut Ui, panel: &mut Panel<'_>) -> Option<Request> {
    Side::top("top").frame(bar(ui)).show(ui, |ui| top::top_ui(ui, panel));
    Side::bottom("bottom").frame(bar(ui)).show(ui, |ui| bottom::bottom_ui(ui, panel));
    let plain = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::symmetric(12, 10));
    if panel.state().is_none() {
        CentralPanel::default().frame(plain).show(ui, |ui| match panel.view.page {
            Page::Recognise if panel.desk.recognising().recognition().is_some() || panel.desk.recognising().loaded_model().is_some() => {
                recognise::recognise_ui(ui, panel)
            }
            _ => start::start_ui(ui, panel),
        });
    } else if panel.view.viewer.is_some() {
        CentralPanel::default().frame(plain).show(ui, |ui| viewer::viewer_ui(ui, panel));
    } else {
        if panel.view.page == Page::Browse {
            Side::left("tree").frame(plain).default_size(210.0).size_range(150.0..=420.0).show(ui, |ui| tree::tree_ui(ui, panel));
            Side::right("inspector").frame(plain).default_size(300.0).size_range(230.0..=520.0).show(ui, |ui| {
                inspector::inspector_ui(ui, panel);
            });
        }
        if panel.view.page == Page::Label {
            Side::right("label").frame(plain).default_size(320.0).size_range(280.0..=520.0).show(ui, |ui| match panel.view.label.reviews {
                true => review::side_ui(ui, panel),
                false => label::side_ui(ui, panel),
            });
        }
        CentralPanel::default().frame(plain).show(ui, |ui| match panel.view.page {
            Page::Browse if panel.desk.searching().hits().is_some() => hits::hits_ui(ui, panel),
            Page::Browse => browse::browse_ui(ui, panel),
            Page::Label if panel.view.label.reviews => review::review_ui(ui, panel),
            Page::Label => label::label_ui(ui, panel),
            Page::Recognise => recognise::recognise_ui(ui, panel),
            Page::Train => train::train_ui(ui, panel),
            Page::Models => models::models_ui(ui, panel),
            Page::Library => library::library_ui(ui, panel),
        });
    }
    bottom::toasts_ui(ui.ctx(), panel);
    drop_ui(ui);
    modals::modals_ui(ui.ctx(), panel)
}

fn bar(ui: &Ui) -> Frame {
    Frame::new().fill(ui.visuals().window_fill).inner_margin(Margin::symmetric(12, 7))
}

/// While files hover over the window, it says what becomes of them.
fn drop_ui(ui: &Ui) {
    if ui.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let rect = ui.ctx().content_rect();
    let painter = ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop")));
    painter.rect_filled(rect, egui::CornerRadius::ZERO, ui.visuals().window_fill.gamma_multiply(0.85));
    painter.rect_stroke(rect.shrink(10.0), egui::CornerRadius::same(10), super::theme::focus(ui), egui::StrokeKind::Inside);
    let words = "Drop: a folder is imported, an image is recognised, a table of captions is read, a model is loaded";
    painter.text(rect.center(), egui::Align2::CENTER_CENTER, words, egui::FontId::proportional(17.0), ui.visuals().strong_text_color());
}
