//! The whole window: bars on top and at the bottom, a page between them, modal windows in front.

use egui::{CentralPanel, Frame, Margin, Panel as Side, Popup, Ui};

use super::page::Page;
use super::pages::{self as page_files, Pages};
use super::panel::{PageUi, Panel};
use super::widgets::page_frame;
use super::{bars, modals, theme, viewer};
use crate::command::Command;

/// Paints the whole window.
pub(super) fn window_ui(ui: &mut Ui, pages: &mut Pages, panel: &mut Panel<'_>) {
    // What lies behind a modal window does not see the pointer, so that its hints go.
    let pointer = panel.view.modal.is_some().then(|| ui.input_mut(|input| std::mem::take(&mut input.pointer)));
    behind_ui(ui, pages, panel);
    if let Some(pointer) = pointer {
        ui.input_mut(|input| input.pointer = pointer);
    }
    if std::mem::take(&mut panel.view.closes_menus) {
        Popup::close_all(ui.ctx());
    }
    drop_ui(ui, panel);
    modals::modals_ui(ui.ctx(), panel);
}

/// Paints bars and page.
fn behind_ui(ui: &mut Ui, pages: &mut Pages, panel: &mut Panel<'_>) {
    Side::top("top").frame(bar(ui)).show(ui, |ui| bars::top::top_ui(ui, panel));
    Side::bottom("bottom").frame(bar(ui)).show(ui, |ui| bars::bottom::bottom_ui(ui, panel));
    if panel.view.toasts.has_strip() {
        let goes_on = Side::bottom("notices").frame(bar(ui)).show(ui, |ui| panel.view.toasts.strip_ui(ui)).inner;
        if let Some(folder) = goes_on {
            panel.ask(Command::ImportAgain(folder));
        }
    }
    let central = CentralPanel::default().frame(page_frame(ui));
    if panel.state().is_none() {
        // A model that was loaded answers without a library.
        let answers = panel.desk.recognising().recognition().is_some() || panel.desk.recognising().loaded_model().is_some();
        central.show(ui, |ui| match panel.view.page {
            Page::Recognise if answers => pages.recognise.ui(ui, panel),
            _ if panel.desk.first().is_some() => page_files::first::first_ui(ui, panel),
            _ => pages.start.ui(ui, panel),
        });
    } else if panel.view.viewer.is_some() {
        central.show(ui, |ui| viewer::viewer_ui(ui, panel));
    } else {
        let page = pages.of(panel.view.page);
        page.sides_ui(ui, panel);
        central.show(ui, |ui| page.ui(ui, panel));
    }
    close_notice(ui, pages, panel);
}

/// Closes the newest notice by Escape, unless that has another meaning at the moment.
fn close_notice(ui: &Ui, pages: &Pages, panel: &mut Panel<'_>) {
    let ctx = ui.ctx();
    let is_bare = ctx.memory(|memory| memory.focused().is_none()) && panel.view.modal.is_none() && panel.view.viewer.is_none();
    let is_free = is_bare && pages.label.batch.is_none() && panel.view.toasts.iter().next().is_some();
    if is_free && ctx.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape)) {
        panel.view.toasts.close_last();
    }
}

fn bar(ui: &Ui) -> Frame {
    Frame::new().fill(ui.visuals().window_fill).inner_margin(Margin::symmetric(12, 7))
}

/// While files are dragged over the window, says what dropping them does.
fn drop_ui(ui: &Ui, panel: &Panel<'_>) {
    if ui.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let rect = ui.ctx().content_rect();
    let painter = ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop")));
    painter.rect_filled(rect, egui::CornerRadius::ZERO, ui.visuals().window_fill.gamma_multiply(0.85));
    painter.rect_stroke(rect.shrink(10.0), egui::CornerRadius::same(10), theme::focus(ui), egui::StrokeKind::Inside);
    let is_similar = panel.view.page == Page::Similar && panel.state().is_some();
    let image = if is_similar { "images like an image are found" } else { "an image is recognised" };
    let words = format!("Drop: a folder is imported, {image}, a table of captions is read, a model is loaded");
    painter.text(rect.center(), egui::Align2::CENTER_CENTER, words, egui::FontId::proportional(17.0), ui.visuals().strong_text_color());
}
