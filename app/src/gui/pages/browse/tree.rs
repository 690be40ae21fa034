//! The tree at the left: filters by kind, class and folder, with counts.

use std::path::{Path, PathBuf};

use egui::{RichText, ScrollArea, Ui};
use tessera_core::error::display;
use tessera_core::library::event::{RootId, UserLabel};

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::class_keys::key_of;
use crate::gui::listing::{Census, Scope};
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::theme;
use crate::gui::widgets::one_line;
use crate::gui::words::{self, grouped};

/// The height of an entry.
const ROW: f32 = 24.0;

pub(super) fn tree_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let census = panel.view.shown.census();
        if entry_ui(ui, panel.view.shown.scopes.is_empty(), None, "All images", census.images, "").clicked() {
            panel.view.shown.scopes.clear();
            panel.end_search();
        }
        for (scope, count, hover) in [
            (Scope::Untagged, census.untagged, "Images without a class"),
            (Scope::Uncaptioned, census.uncaptioned, "Images without a caption: words find them by class and name only"),
            (Scope::Mispredicted, census.mispredicted, "Images whose class the recogniser did not find, judged without their object"),
            (Scope::Leaks, census.leaks, "Near copies of other objects: accuracy reads too high, or a label is wrong"),
            (Scope::Changed, census.changed, "Files whose contents are not those first imported"),
            (Scope::Missing, census.missing, "Files that are not where they were"),
            (Scope::Removed, census.removed, "Images that you removed; select and restore them here"),
        ] {
            if count > 0 || panel.view.shown.scopes.contains(&scope) {
                let mut words = scope.words();
                words.get_mut(..1).map(str::make_ascii_uppercase).unwrap_or_default();
                scope_ui(ui, panel, scope, None, &words, count, hover);
            }
        }
        classes_ui(ui, panel, &census);
        folders_ui(ui, panel, &census);
    });
}

fn classes_ui(ui: &mut Ui, panel: &mut Panel<'_>, census: &Census) {
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.strong("Classes");
        if ui.small_button("+").on_hover_text("New class").clicked() {
            panel.view.open(Modal::ClassName(None));
        }
    });
    let classes = panel.classes();
    if classes.is_empty() {
        ui.label(RichText::new("None yet. Select images and press +, or import folders that are classes.").weak().small());
    }
    for (i, class) in classes.iter().enumerate() {
        let count = census.classes.get(class).copied().unwrap_or(0);
        let key = key_of(i).map(|key| format!("; key {key} labels the selected images")).unwrap_or_default();
        let hover = format!("{class}: {}{key}. Right-click for more", words::count(count, "image"));
        let colour = panel.colour(class);
        let response = scope_ui(ui, panel, Scope::Class(class.clone()), Some((colour, key_of(i))), class, count, &hover);
        response.context_menu(|ui| class_menu_ui(ui, panel, class));
    }
}

fn class_menu_ui(ui: &mut Ui, panel: &mut Panel<'_>, class: &str) {
    let selected = panel.view.selection.ids();
    if ui.add_enabled(!selected.is_empty(), egui::Button::new(format!("Label {} selected", selected.len()))).clicked() {
        panel.ask(Command::Label(selected, UserLabel::Class(class.to_owned())));
        ui.close();
    }
    ui.separator();
    if ui.button("Rename or merge…").clicked() {
        panel.view.open(Modal::ClassName(Some(class.to_owned())));
        ui.close();
    }
    if ui.button("Colour…").clicked() {
        let [r, g, b, _] = panel.colour(class).to_array();
        panel.view.open(Modal::Colour(class.to_owned(), [r, g, b]));
        ui.close();
    }
    if ui.button("Delete class…").clicked() {
        panel.view.open(Modal::DeleteClass(class.to_owned()));
        ui.close();
    }
}

fn folders_ui(ui: &mut Ui, panel: &mut Panel<'_>, census: &Census) {
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.strong("Folders");
        let hover = Action::AddFolder.words().1;
        if ui.small_button("+").on_hover_text(hover).clicked() {
            panel.act(Action::AddFolder);
        }
        if ui.small_button("⟳").on_hover_text(Action::Rescan.words().1).clicked() {
            panel.act(Action::Rescan);
        }
    });
    let roots: Vec<(RootId, PathBuf)> =
        panel.state().map(|state| state.roots().map(|(id, root)| (id, root.path.clone())).collect()).unwrap_or_default();
    if roots.is_empty() {
        ui.label(RichText::new("None yet. Press + to import a folder of images.").weak().small());
    }
    for (id, path) in roots {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        folder_ui(ui, panel, census, id, Path::new(""), &name, &display(&path));
    }
}

fn folder_ui(ui: &mut Ui, panel: &mut Panel<'_>, census: &Census, root: RootId, folder: &Path, name: &str, hover: &str) {
    let count = census.folders.get(&(root, folder.to_owned())).copied().unwrap_or(0);
    let scope = Scope::Folder(root, folder.to_owned());
    let inner = census.inside.get(&(root, folder.to_owned())).map(Vec::as_slice).unwrap_or_default();
    if inner.is_empty() {
        scope_ui(ui, panel, scope, None, name, count, hover);
        return;
    }
    let id = ui.scope_id().with(("folder", root.0, folder));
    egui::containers::collapsing_header::CollapsingState::load_with_default_open(ui.ctx(), id, folder.as_os_str().is_empty())
        .show_header(ui, |ui| scope_ui(ui, panel, scope, None, name, count, hover))
        .body(|ui| {
            for path in inner {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                folder_ui(ui, panel, census, root, path, &name, &display(path));
            }
        });
}

/// An entry that filters the images; with Ctrl it is added to the filters that are set. A search
/// then runs among these images.
fn scope_ui(
    ui: &mut Ui,
    panel: &mut Panel<'_>,
    scope: Scope,
    class: Option<(egui::Color32, Option<String>)>,
    words: &str,
    count: usize,
    hover: &str,
) -> egui::Response {
    let place = egui::Rect::from_min_size(ui.cursor().min, egui::vec2(ui.available_width(), ROW));
    if !ui.is_rect_visible(place) && !ui.ctx().memory(|memory| memory.focused().is_some()) {
        // Entries off the screen are not painted, so thousands of folders cost little.
        return ui.allocate_exact_size(place.size(), egui::Sense::hover()).1;
    }
    let is_shown = panel.view.shown.scopes.contains(&scope);
    let response = entry_ui(ui, is_shown, class, words, count, hover);
    if response.clicked() {
        let joins = ui.input(|input| input.modifiers.command);
        match (joins, is_shown) {
            (true, true) => panel.view.shown.scopes.retain(|other| *other != scope),
            (true, false) => panel.view.shown.scopes.push(scope),
            (false, true) if panel.view.shown.scopes.len() == 1 => panel.view.shown.scopes.clear(),
            (false, _) => panel.view.shown.scopes = vec![scope],
        }
    }
    response
}

fn entry_ui(
    ui: &mut Ui,
    is_shown: bool,
    class: Option<(egui::Color32, Option<String>)>,
    words: &str,
    count: usize,
    hover: &str,
) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), ROW), egui::Sense::click());
    if ui.is_rect_visible(rect) {
        let rounding = egui::CornerRadius::same(theme::ROUNDING);
        if is_shown {
            ui.painter().rect_filled(rect, rounding, ui.visuals().selection.bg_fill);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, rounding, ui.visuals().faint_bg_color);
        }
        if response.has_focus() {
            ui.painter().rect_stroke(rect, rounding, theme::focus(ui), egui::StrokeKind::Inside);
        }
        let mut left = rect.left() + 6.0;
        if let Some((colour, key)) = class {
            let spot = egui::Rect::from_center_size(egui::pos2(left + 8.0, rect.center().y), egui::vec2(18.0, 16.0));
            ui.painter().rect_filled(spot, egui::CornerRadius::same(4), colour);
            if let Some(key) = key.filter(|key| key.len() == 1) {
                let font = egui::FontId::proportional(11.0);
                ui.painter().text(spot.center(), egui::Align2::CENTER_CENTER, key, font, theme::text_on(colour));
            }
            left += 24.0;
        }
        let number = one_line(ui, &grouped(count), 60.0, ui.visuals().weak_text_color());
        let right = rect.right() - 6.0 - number.size().x;
        let mut job = egui::text::LayoutJob::simple_singleline(
            words.to_owned(),
            egui::TextStyle::Body.resolve(ui.style()),
            ui.visuals().text_color(),
        );
        job.wrap = egui::text::TextWrapping::truncate_at_width((right - left - 6.0).max(10.0));
        let name = ui.painter().layout_job(job);
        ui.painter().galley(egui::pos2(left, rect.center().y - name.size().y / 2.0), name, ui.visuals().text_color());
        ui.painter().galley(egui::pos2(right, rect.center().y - number.size().y / 2.0), number, ui.visuals().weak_text_color());
    }
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_shown, format!("{words} {count}")));
    if hover.is_empty() { response } else { response.on_hover_text(hover) }
}
