//! The bar on top: menus, pages, search.

use egui::{Align, Key, Layout, Modifiers, Popup, Response, RichText, TextStyle, Ui};
use tessera_core::error::display;

use super::search::search_box_ui;
use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::page::{Page, PageEntry};
use crate::gui::panel::Panel;
use crate::gui::requests::Request;
use crate::gui::theme;
use crate::gui::widgets::{WHOLE, chip_ui, fitted, line};

/// The least width of the window in which the menus stand side by side.
const WIDE: f32 = 1000.0;
/// The room that the search is left, and the most that the library's name takes.
const SEARCH: f32 = 210.0;
const NAME: f32 = 170.0;

pub(in crate::gui) fn top_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.horizontal(|ui| {
        ui.scope(|ui| {
            theme::flat(ui);
            let was_open = Popup::is_any_open(ui.ctx());
            let first = match ui.available_width() >= WIDE {
                true => menus_ui(ui, panel),
                false => ui.menu_button("Menu", |ui| menus_ui(ui, panel)).response,
            };
            if std::mem::take(&mut panel.view.wants_menu) {
                Popup::toggle_id(ui.ctx(), Popup::default_response_id(&first));
                first.request_focus();
                ui.request_repaint();
            } else if was_open && !Popup::is_any_open(ui.ctx()) {
                // Escape that closed a menu closes nothing else.
                ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
            }
        });
        if let Some(name) = panel.desk.name() {
            let room = ui.available_width().min(NAME);
            let place = panel.desk.folder().or_else(|| panel.desk.source()).map(display).unwrap_or_default();
            ui.scope(|ui| {
                ui.set_max_width(room);
                line(ui, RichText::new(name).strong()).on_hover_text(place);
            });
        }
        if panel.state().is_none() {
            return;
        }
        ui.separator();
        pages_ui(ui, panel);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| search_ui(ui, panel));
    });
}

/// The first pages, as many as there is room for; the others are behind one button, which names the
/// one of them that is shown.
fn pages_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let around = 2.0 * ui.spacing().button_padding.x + ui.spacing().item_spacing.x;
    let width = |ui: &Ui, words: &str| words_width(ui, words) + around;
    let widths: Vec<f32> = Page::ALL.iter().map(|entry| width(ui, entry.name)).collect();
    let room = ui.available_width() - SEARCH;
    let more = |entry: &PageEntry| format!("{}…", entry.name);
    // Room for the name of any hidden page, so that none changes its place.
    let button = |hidden: &[PageEntry]| hidden.iter().map(|entry| width(ui, &more(entry))).fold(width(ui, MORE), f32::max);
    let fits = |n: usize| {
        let (shown, hidden) = (&widths[..n], &Page::ALL[n..]);
        shown.iter().sum::<f32>() + if hidden.is_empty() { 0.0 } else { button(hidden) } <= room
    };
    let n = (0..=Page::ALL.len()).rev().find(|n| fits(*n)).unwrap_or(0);
    let (shown, hidden) = Page::ALL.split_at(n);
    for entry in shown {
        page_ui(ui, panel, entry);
    }
    if !hidden.is_empty() {
        let here = hidden.iter().find(|entry| entry.page == panel.view.page && panel.view.viewer.is_none());
        let words = here.map_or_else(|| RichText::new(MORE), |entry| RichText::new(more(entry)).strong());
        ui.scope(|ui| {
            theme::flat(ui);
            ui.menu_button(words, |ui| hidden.iter().for_each(|entry| page_ui(ui, panel, entry)));
        });
    }
}

fn words_width(ui: &Ui, words: &str) -> f32 {
    let font = TextStyle::Button.resolve(ui.style());
    ui.painter().layout_no_wrap(words.to_owned(), font, ui.visuals().text_color()).size().x
}

/// The button of the pages for which there is no room.
const MORE: &str = "More";

fn page_ui(ui: &mut Ui, panel: &mut Panel<'_>, entry: &PageEntry) {
    let is_here = panel.view.page == entry.page && panel.view.viewer.is_none();
    let text = if is_here { RichText::new(entry.name).strong() } else { RichText::new(entry.name) };
    let hover = format!("{} ({})", entry.hint, Action::Show(entry.page).key_words(ui.ctx()));
    if ui.selectable_label(is_here, text).on_hover_text(hover).clicked() {
        panel.requests.push(Request::TurnTo(entry.page));
        ui.close();
    }
}

fn search_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    if !panel.view.search.text.is_empty() && ui.button("×").on_hover_text("Clear the search (Esc)").clicked() {
        panel.ask(Command::Search(String::new()));
    }
    if let Some(like) = panel.desk.searching().like().cloned() {
        if chip_ui(ui, "×", ui.visuals().selection.bg_fill, &format!("Looking like {}; press to end that", like.short_name())).clicked() {
            panel.ask(Command::SearchByImage(None));
        }
        if let Some(texture) = panel.pictures.like() {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(26.0, 26.0), egui::Sense::hover());
            let [width, height] = texture.size();
            ui.painter().image(texture.id(), fitted((width as u32, height as u32), rect), WHOLE, egui::Color32::WHITE);
        }
        ui.label(RichText::new("like").weak());
    }
    search_box_ui(ui, panel);
}

/// Returns the button of the first menu.
fn menus_ui(ui: &mut Ui, panel: &mut Panel<'_>) -> Response {
    let has = panel.state().is_some();
    let first = ui.menu_button("File", |ui| {
        items(ui, panel, &[(Action::Open, true), (Action::Sample, true), (Action::AddFolder, has)]);
        items(ui, panel, &[(Action::Rescan, has), (Action::Relocate, has)]);
        ui.separator();
        items(ui, panel, &[(Action::ReadTable, has)]);
        ui.add_enabled_ui(has, |ui| ui.menu_button("Export", |ui| items(ui, panel, &Action::EXPORTS.map(|export| (export, true)))));
        ui.separator();
        items(
            ui,
            panel,
            &[
                (Action::Check, has),
                (Action::BackUp, has),
                (Action::RestoreBackup, true),
                (Action::Close, has),
                (Action::Settings, true),
                (Action::Quit, true),
            ],
        );
    });
    ui.menu_button("Edit", |ui| {
        let (undo, redo) = panel.state().map_or((None, None), |state| {
            let last = state.history().last().map(|act| act.words.clone());
            let undo = panel.desk.near_copies().to_put_back(state).map(str::to_owned).or(last);
            (undo, state.future().last().map(|act| act.words.clone()))
        });
        for (action, act) in [(Action::Undo, undo), (Action::Redo, redo)] {
            let words = act.as_ref().map_or_else(|| action.words().0.to_owned(), |act| format!("{}: {act}", action.words().0));
            let button = egui::Button::new(words).shortcut_text(action.key_words(ui.ctx()));
            if ui.add_enabled(act.is_some(), button).clicked() {
                panel.act(action);
                ui.close();
            }
        }
        items(ui, panel, &[(Action::History, has)]);
        ui.separator();
        items(ui, panel, &[(Action::SelectAll, has), (Action::SelectNone, has), (Action::Invert, has)]);
        ui.separator();
        let some = !panel.view.selection.is_empty();
        items(ui, panel, &[(Action::LabelThese, some), (Action::LabelMany, has), (Action::Review, has)]);
        ui.separator();
        items(ui, panel, &[(Action::Like, some), (Action::Similar, some), (Action::SimilarFile, has), (Action::Lessons, has)]);
        ui.separator();
        items(ui, panel, &[(Action::Remove, some), (Action::Restore, some), (Action::Forget, some), (Action::CopyPath, some)]);
    });
    ui.menu_button("Recogniser", |ui| {
        let some = !panel.view.selection.is_empty();
        items(
            ui,
            panel,
            &[(Action::Recognise, some), (Action::RecogniseFile, true), (Action::RecogniseFolder, true), (Action::Train, has)],
        );
        ui.separator();
        items(ui, panel, &[(Action::SaveModel, has), (Action::LoadModel, true)]);
        ui.separator();
        items(ui, panel, &[(Action::AskCluster, panel.desk.collection().is_some())]);
    });
    ui.menu_button("View", |ui| {
        let pages: Vec<(Action, bool)> = Page::ALL.iter().map(|entry| (Action::Show(entry.page), has)).collect();
        items(ui, panel, &pages);
        ui.separator();
        items(ui, panel, &[(Action::Larger, has), (Action::Smaller, has), (Action::FullScreen, true)]);
    });
    ui.menu_button("Help", |ui| {
        items(ui, panel, &[(Action::Keys, true), (Action::Palette, true), (Action::Log, true), (Action::About, true)]);
    });
    first.response
}

fn items(ui: &mut Ui, panel: &mut Panel<'_>, actions: &[(Action, bool)]) {
    for (action, enabled) in actions {
        let (words, hover) = action.words();
        let button = egui::Button::new(words).shortcut_text(action.key_words(ui.ctx()));
        let response = ui.add_enabled(*enabled, button);
        let response = if hover.is_empty() { response } else { response.on_hover_text(hover) };
        if response.clicked() {
            panel.act(*action);
            ui.close();
        }
    }
}
