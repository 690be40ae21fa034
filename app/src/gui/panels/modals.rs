//! Windows in front of the others: paths, names, palette, keys, settings, history, log.

use std::path::{Path, PathBuf};

use egui::{Context, Id, Key, Modal as Front, RichText, ScrollArea, Slider, TextEdit, Ui};
use tessera_core::error::display;

use super::super::actions::Action;
use super::super::dialogs::{Purpose, Wants};
use super::super::typed_path;
use super::super::view::{Modal, Panel};
use super::super::widgets::main_button;
use super::Request;
use super::browse::count;
use crate::command::{Command, Export, ExportFormat};
use crate::session::desk::view::Tone;
use crate::settings::Theme;

pub(super) fn modals_ui(ctx: &Context, panel: &mut Panel<'_>) -> Option<Request> {
    let modal = panel.view.modal.clone()?;
    let mut request = None;
    let mut close = false;
    let style = ctx.global_style();
    let frame = egui::Frame::popup(&style).inner_margin(egui::Margin::same(18)).corner_radius(egui::CornerRadius::same(10));
    let response = Front::new(Id::unique("modal")).frame(frame).show(ctx, |ui| {
        let width: f32 = match modal {
            Modal::Palette | Modal::Path(_) | Modal::History | Modal::Log | Modal::Lessons => 560.0,
            Modal::Keys | Modal::About | Modal::Settings => 480.0,
            _ => 400.0,
        };
        ui.set_width(width.min(ctx.content_rect().width() - 60.0));
        match &modal {
            Modal::Path(purpose) => request = path_ui(ui, panel, *purpose, &mut close),
            Modal::Palette => palette_ui(ui, panel, &mut close),
            Modal::Keys => keys_ui(ui),
            Modal::About => about_ui(ui),
            Modal::Settings => settings_ui(ui, panel),
            Modal::History => history_ui(ui, panel),
            Modal::Log => log_ui(ui, panel),
            Modal::Lessons => close |= super::lessons::lessons_ui(ui, panel),
            Modal::ClassFolders => class_folders_ui(ui, panel, &mut close),
            Modal::ClassName(old) => class_name_ui(ui, panel, old.as_deref(), &mut close),
            Modal::DeleteClass(class) => {
                let images = panel.view.census.classes.get(class).copied().unwrap_or(0);
                let words = format!("Its {} will have no class. This can be undone.", count(images, "image"));
                let command = Command::DeleteClass(class.clone());
                confirm_ui(ui, panel, &format!("Delete class {class}?"), &words, "Delete", command, &mut close);
            }
            Modal::Forget(images) => {
                let words = "Their labels, captions, features and thumbnails are purged from the library, its history and everything it learned, and saved models \
                             of this library are deleted. The image files stay where they are. This cannot be undone.";
                let heading = format!("Forget {} for good?", count(images.len(), "image"));
                confirm_ui(ui, panel, &heading, words, "Forget", Command::Forget(images.clone()), &mut close);
            }
            Modal::Restore(path, when) => {
                let words = "Labels, captions and history are as they were then; what was done since is taken away. The present file is kept \
                             in the library's folder.";
                let heading = format!("Put back the snapshot of {when}?");
                confirm_ui(ui, panel, &heading, words, "Put back", Command::RestoreSnapshot(path.clone()), &mut close);
            }
            Modal::Colour(class, colour) => colour_ui(ui, panel, class, *colour, &mut close),
            Modal::Quit => quit_ui(ui, panel, &mut close),
        }
        if matches!(modal, Modal::Keys | Modal::About | Modal::Settings | Modal::History | Modal::Log | Modal::Lessons) {
            ui.add_space(8.0);
            close |= ui.button("Close").clicked();
        }
    });
    if close || response.should_close() {
        if modal == Modal::ClassFolders {
            panel.ask(Command::Plan(None));
        }
        panel.view.modal = None;
        if panel.dialogs.1 {
            request.get_or_insert(Request::GiveUp);
        }
    }
    request
}

/// What an export into class folders would write, and how.
fn class_folders_ui(ui: &mut Ui, panel: &mut Panel<'_>, close: &mut bool) {
    ui.heading("A folder for each class");
    let Some((to, Some(plan))) = panel.desk.exporting().plan().map(|(to, plan)| (to.to_owned(), plan.cloned())) else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label("Counting");
            *close |= ui.button("Cancel").clicked();
        });
        return;
    };
    ui.add(egui::Label::new(RichText::new(display(&to)).weak()).truncate());
    let megabytes = plan.written.bytes as f64 / 1e6;
    ui.label(format!(
        "{} in {}, {megabytes:.1} MB; nothing is written yet",
        count(plan.written.n, "image"),
        count(plan.written.folders.len(), "folder")
    ));
    ScrollArea::vertical().id_salt("class folders").max_height(220.0).show(ui, |ui| {
        egui::Grid::new("folders").num_columns(2).striped(true).min_col_width(80.0).show(ui, |ui| {
            for (folder, n) in &plan.written.folders {
                ui.label(folder);
                ui.label(n.to_string());
                ui.end_row();
            }
        });
    });
    if plan.written.renamed > 0 {
        ui.label(format!(
            "{} a number behind the name, for another of the folder has it",
            match plan.written.renamed {
                1 => "One image gets".to_owned(),
                n => format!("{n} images get"),
            }
        ));
    }
    if plan.written.missing > 0 {
        let words = format!("{} left out: their files are not there now", count(plan.written.missing, "labelled image"));
        ui.colored_label(ui.visuals().warn_fg_color, words);
    }
    if let Some(words) = &plan.in_the_way {
        ui.colored_label(ui.visuals().error_fg_color, words);
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        let mut chosen = None;
        ui.add_enabled_ui(plan.in_the_way.is_none() && plan.written.n > 0, |ui| {
            let enter =
                ui.is_enabled() && ui.memory(|memory| memory.focused().is_none()) && ui.input(|input| input.key_pressed(Key::Enter));
            if main_button(ui, "Copy the images").clicked() || enter {
                chosen = Some(ExportFormat::ClassFolders);
            }
            let hover = "Links take no room, and lead nowhere once the images are moved";
            if ui.button("Link to the images").on_hover_text(hover).clicked() {
                chosen = Some(ExportFormat::ClassLinks);
            }
        });
        if let Some(format) = chosen {
            panel.ask(Command::Export(Export::Labels(format), to));
            *close = true;
        }
        *close |= ui.button("Cancel").clicked();
    });
}

/// A text field that takes the keyboard when its window opens. Returns whether Enter was pressed in it.
fn field_ui(ui: &mut Ui, panel: &mut Panel<'_>, name: &str, hint: &str) -> bool {
    let edit = TextEdit::singleline(&mut panel.view.typed).hint_text(hint.to_owned()).desired_width(f32::INFINITY).char_limit(4000);
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, name));
    if panel.view.typed_is_new {
        panel.view.typed_is_new = false;
        response.request_focus();
    }
    response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}

fn path_ui(ui: &mut Ui, panel: &mut Panel<'_>, purpose: Purpose, close: &mut bool) -> Option<Request> {
    let (heading, words) = purpose.words();
    ui.heading(heading);
    ui.label(RichText::new(words).weak());
    if panel.view.typed_is_new && panel.view.typed.is_empty() {
        let start = panel.desk.source().and_then(Path::parent).map(Path::to_owned).or_else(dirs::home_dir);
        panel.view.typed = start.map(|path| format!("{}/", path.to_string_lossy().trim_end_matches('/'))).unwrap_or_default();
    }
    let entered = field_ui(ui, panel, "Path", "/home/you/pictures");
    let path = typed_path(&panel.view.typed);
    listing_ui(ui, panel, &path);
    let mut request = None;
    ui.horizontal(|ui| {
        let ready = !panel.view.typed.trim().is_empty();
        let verb = if purpose.is_new() { "Save" } else { "Open" };
        let pressed = ui.add_enabled_ui(ready, |ui| main_button(ui, verb)).inner.clicked();
        if ready && (pressed || entered) {
            request = Some(Request::Chose(purpose, path.clone()));
            *close = true;
        }
        if panel.dialogs.1 {
            ui.spinner();
            if ui.button("Give up on the system's dialog").clicked() {
                request = Some(Request::GiveUp);
            }
        } else if panel.dialogs.0 {
            let both = purpose.wants().len() > 1;
            for wants in purpose.wants() {
                let words = match wants {
                    Wants::Folder if both => "Browse folders…",
                    Wants::File if both => "Browse files…",
                    _ => "Browse…",
                };
                if ui.button(words).on_hover_text("The system's own dialog").clicked() {
                    request = Some(Request::Native(purpose, *wants));
                }
            }
        }
        *close |= ui.button("Cancel").clicked();
    });
    request
}

/// What is in the folder that is being typed; pressing an entry takes it.
fn listing_ui(ui: &mut Ui, panel: &mut Panel<'_>, path: &Path) {
    let folder: PathBuf = if panel.view.typed.ends_with('/') { path.to_owned() } else { path.parent().unwrap_or(path).to_owned() };
    let begun =
        if panel.view.typed.ends_with('/') { String::new() } else { path.file_name().unwrap_or_default().to_string_lossy().to_lowercase() };
    let listing = panel.desk.files().listing().filter(|(listed, _)| *listed == folder);
    if panel.view.listed_last.as_ref() != Some(&folder) {
        panel.view.listed = Some(folder.clone());
        panel.view.listed_last = Some(folder.clone());
    }
    let entries = listing.map(|(_, entries)| entries.to_vec()).unwrap_or_default();
    let mut taken = None;
    ScrollArea::vertical().id_salt("listing").max_height(240.0).min_scrolled_height(240.0).auto_shrink([false, false]).show(ui, |ui| {
        if let Some(parent) = folder.parent()
            && ui.add(egui::Button::new("..").frame(false)).on_hover_text("The folder above").clicked()
        {
            taken = Some((parent.to_owned(), true));
        }
        let fits = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with(&begun));
        for entry in entries.iter().filter(|entry| fits(&entry.path)) {
            let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let words = if entry.is_folder { format!("{name}/") } else { name };
            if ui.add(egui::Button::new(words).frame(false).truncate()).clicked() {
                taken = Some((entry.path.clone(), entry.is_folder));
            }
        }
    });
    if let Some((path, is_folder)) = taken {
        panel.view.typed = path.to_string_lossy().into_owned();
        if is_folder && !panel.view.typed.ends_with('/') {
            panel.view.typed.push('/');
        }
    }
}

fn palette_ui(ui: &mut Ui, panel: &mut Panel<'_>, close: &mut bool) {
    let before = panel.view.typed.clone();
    let entered = field_ui(ui, panel, "Command", "What do you want to do?");
    if panel.view.typed != before {
        panel.view.chosen = 0;
    }
    let mut found: Vec<(usize, Action)> = Action::ALL
        .into_iter()
        .chain(Action::EXPORTS)
        .filter(|action| *action != Action::Palette)
        .filter_map(|action| Some((cost(&panel.view.typed, action)?, action)))
        .collect();
    found.sort_by_key(|(cost, _)| *cost);
    ui.input_mut(|input| {
        if input.consume_key(egui::Modifiers::NONE, Key::ArrowDown) {
            panel.view.chosen += 1;
        }
        if input.consume_key(egui::Modifiers::NONE, Key::ArrowUp) {
            panel.view.chosen = panel.view.chosen.saturating_sub(1);
        }
    });
    panel.view.chosen = panel.view.chosen.min(found.len().saturating_sub(1));
    let mut taken = None;
    ScrollArea::vertical().id_salt("palette").max_height(360.0).auto_shrink([false, false]).show(ui, |ui| {
        for (i, (_, action)) in found.iter().enumerate() {
            let button = egui::Button::selectable(i == panel.view.chosen, action.words().0).shortcut_text(action.key_words(ui.ctx()));
            let response = ui.add_sized([ui.available_width(), 24.0], button);
            if i == panel.view.chosen && panel.view.typed != before {
                response.scroll_to_me(None);
            }
            if response.on_hover_text(action.words().1).clicked() {
                taken = Some(*action);
            }
        }
        if found.is_empty() {
            ui.label(RichText::new("No command has these letters").weak());
        }
    });
    if entered {
        taken = found.get(panel.view.chosen).map(|(_, action)| *action);
    }
    if let Some(action) = taken {
        panel.act(action);
        *close = true;
    }
}

/// How well what was typed fits an action: words of its name first, then of its sentence, then letters of its name.
fn cost(typed: &str, action: Action) -> Option<usize> {
    let (name, sentence) = action.words();
    let typed = typed.trim().to_lowercase();
    match (name.to_lowercase().find(&typed), sentence.to_lowercase().find(&typed)) {
        (Some(at), _) => Some(at),
        (None, Some(at)) => Some(1_000 + at),
        (None, None) => fuzzy(&typed, name).map(|far| 10_000 + far),
    }
}

/// How far letters are from standing together in a text, in order; none when they are not all there.
fn fuzzy(letters: &str, text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    let mut rest = text.as_str();
    let mut cost = 0;
    for letter in letters.to_lowercase().chars().filter(|c| !c.is_whitespace()) {
        let at = rest.find(letter)?;
        cost += at;
        rest = &rest[at + letter.len_utf8()..];
    }
    Some(cost)
}

fn keys_ui(ui: &mut Ui) {
    ui.heading("Keyboard");
    let others = [
        ("1 to 9, 0", "Label the selected images as class 1 to 10"),
        ("Shift+1 to 9, 0", "As class 11 to 20"),
        ("Backspace", "Take the label off"),
        ("Arrows, Home, End, Page", "Move; with Shift, select"),
        ("Click, Ctrl, Shift", "Select one, more, a range"),
        ("Ctrl+wheel", "Size of thumbnails"),
        ("Esc", "Back"),
        ("+ − F, wheel, drag", "Zoom, fit, move (viewer)"),
        ("Ctrl+V", "Recognise the image on the clipboard"),
    ];
    let labelling = [
        ("Enter or A", "Accept the suggestion; in Review, keep the label"),
        ("X", "Reject it: not this class"),
        ("1 to 9", "Choose a class"),
        ("Letters, Tab, /", "Write a class; Up, Down and Tab complete it"),
        ("Space", "Skip; in Review, the next one"),
        ("Backspace", "Take back and go back; in Review, the one before"),
    ];
    let many = [
        ("Arrows, Home, End", "Go from image to image"),
        ("Space", "Leave the image out, or take it in"),
        ("Letters, Tab, /", "Write another class for them"),
        ("Enter", "Label those that are in"),
        ("Esc", "Label none"),
    ];
    ScrollArea::vertical().id_salt("keys").max_height(460.0).auto_shrink([false, true]).show(ui, |ui| {
        egui::Grid::new("keys").num_columns(2).striped(true).spacing([24.0, 4.0]).show(ui, |ui| {
            for (heading, keys) in [("Browse and viewer", &others[..]), ("Label", &labelling), ("Label many", &many)] {
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
            for action in Action::ALL.into_iter().filter(|action| !action.shortcuts().is_empty()) {
                let keys: Vec<String> = action.shortcuts().iter().map(|shortcut| ui.ctx().format_shortcut(shortcut)).collect();
                ui.label(RichText::new(keys.join(", ")).monospace());
                ui.label(action.words().0.trim_end_matches('…'));
                ui.end_row();
            }
        });
    });
}

fn about_ui(ui: &mut Ui) {
    ui.heading(concat!("Tessera ", env!("CARGO_PKG_VERSION")));
    ui.label("Finds and recognises images on one's own computer: it learns in one pass from folders, labels, captions and corrections, shows why it answered as it did, and can forget.");
    ui.add_space(6.0);
    ui.strong("Nothing leaves this computer");
    ui.label("There is no network code in this program, no account and no telemetry. Images stay where they are; what the library knows is in its own folder.");
    ui.add_space(6.0);
    ui.strong("Method");
    ui.label("Recognition is a compositional kernel machine over corners, gradient blocks and colour squares, after Gens and Domingos; a score is the exact sum of the pieces shown. Search is a contextual memory tree, after Sun, Beygelzimer, Daumé III, Langford and Mineiro. Suggestions mix several advisers, one of them multiclass learning by contextual search, after Guruganesh, Liu, Schneider and Wang.");
    ui.add_space(6.0);
    ui.strong("Licences");
    ui.label("Tessera: MIT or Apache-2.0. It stands on egui and eframe, image, imageproc, rayon, ron, rfd, SQLite and other free packages under MIT, Apache-2.0, BSD, Zlib, ISC, Unlicense and public-domain terms; its fonts are under the OFL and the Ubuntu font licence.");
}

fn settings_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.heading("Settings");
    egui::Grid::new("settings").num_columns(2).spacing([20.0, 10.0]).show(ui, |ui| {
        ui.label("Appearance");
        ui.horizontal(|ui| {
            for (theme, words) in [(Theme::System, "As the system"), (Theme::Light, "Light"), (Theme::Dark, "Dark")] {
                ui.selectable_value(&mut panel.settings.theme, theme, words);
            }
        });
        ui.end_row();
        let s = &mut *panel.settings;
        let name = ui.label("Size of everything").id;
        ui.add(Slider::new(&mut s.scale, 0.5..=3.0).step_by(0.05)).labelled_by(name);
        ui.end_row();
        let name = ui.label("Unknown below").on_hover_text("An answer that is less sure than this counts as unknown").id;
        ui.add(Slider::new(&mut s.unknown_below, 0.0..=1.0).step_by(0.01)).labelled_by(name);
        ui.end_row();
        let name = ui.label("Hits of a search").id;
        ui.add(Slider::new(&mut s.hits, 1..=1000).logarithmic(true)).labelled_by(name);
        ui.end_row();
        let name = ui
            .label("Thoroughness of a search")
            .on_hover_text("Leaves of the caption memory that are looked at: more find more, and take longer. Words that few captions have are found anyhow.")
            .id;
        ui.add(Slider::new(&mut s.search_leaves, 1..=4096).logarithmic(true)).labelled_by(name);
        ui.end_row();
        let name = ui.label("Threads (0: all)").on_hover_text("From the next start on").id;
        ui.add(Slider::new(&mut s.threads, 0..=256).clamping(egui::SliderClamping::Edits)).labelled_by(name);
        ui.end_row();
        let name =
            ui.label("Memory for decoding, MB").on_hover_text("What all pictures being decoded may need; one alone is always let in").id;
        ui.add(Slider::new(&mut s.picture_megabytes, 64..=16_384).logarithmic(true).clamping(egui::SliderClamping::Edits))
            .labelled_by(name);
        ui.end_row();
        let name = ui.label("Memory for thumbnails, MB").on_hover_text("From the next start on").id;
        ui.add(Slider::new(&mut s.thumbnail_megabytes, 16..=1024).logarithmic(true).clamping(egui::SliderClamping::Edits))
            .labelled_by(name);
        ui.end_row();
    });
    if ui.button("Usual settings").on_hover_text("What was opened lately is kept").clicked() {
        let recents = std::mem::take(&mut panel.settings.recents);
        *panel.settings = crate::settings::Settings { recents, ..Default::default() };
    }
    if let Some(place) = crate::settings::Settings::place() {
        ui.label(RichText::new(format!("Kept in {}", display(&place))).small().weak());
    }
}

fn history_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.heading("History");
    let (done, undone) = panel
        .state()
        .map(|state| {
            let words =
                |acts: &[std::sync::Arc<tessera_core::library::state::Act>]| acts.iter().map(|act| act.words.clone()).collect::<Vec<_>>();
            (words(state.history()), words(state.future()))
        })
        .unwrap_or_default();
    ui.horizontal(|ui| {
        if ui.add_enabled(!done.is_empty(), egui::Button::new("Undo").shortcut_text(Action::Undo.key_words(ui.ctx()))).clicked() {
            panel.ask(Command::Undo);
        }
        if ui.add_enabled(!undone.is_empty(), egui::Button::new("Redo").shortcut_text(Action::Redo.key_words(ui.ctx()))).clicked() {
            panel.ask(Command::Redo);
        }
    });
    if done.is_empty() && undone.is_empty() {
        ui.label(RichText::new("Nothing was done yet.").weak());
    }
    let rows = undone.len() + done.len();
    ScrollArea::vertical().id_salt("history").max_height(400.0).auto_shrink([false, true]).show_rows(ui, 22.0, rows, |ui, range| {
        for i in range {
            if let Some(words) = undone.get(i) {
                let text = RichText::new(format!("(undone) {words}")).weak();
                if ui
                    .add(egui::Button::new(text).frame(false).truncate())
                    .on_hover_text("Press to do everything up to here again")
                    .clicked()
                {
                    (0..undone.len() - i).for_each(|_| panel.asks.commands.push(Command::Redo));
                }
            } else if let Some(words) = done.len().checked_sub(1 + i - undone.len()).and_then(|at| done.get(at)) {
                let button = egui::Button::new(words).frame(false).truncate();
                let times =
                    if ui.add(button).on_hover_text("Press to take back everything after this").clicked() { i - undone.len() } else { 0 };
                (0..times).for_each(|_| panel.asks.commands.push(Command::Undo));
            }
        }
    });
}

fn log_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.horizontal(|ui| {
        ui.heading("Log");
        if !panel.desk.notices().log().is_empty() && ui.button("Copy all").clicked() {
            let lines: Vec<&str> = panel.desk.notices().log().iter().map(|notice| notice.words.as_str()).collect();
            ui.copy_text(lines.join("\n"));
        }
    });
    if panel.desk.notices().log().is_empty() {
        ui.label(RichText::new("Nothing happened yet.").weak());
    }
    ScrollArea::vertical().id_salt("log").max_height(420.0).auto_shrink([false, true]).stick_to_bottom(true).show(ui, |ui| {
        for notice in panel.desk.notices().log() {
            let colour = if notice.tone == Tone::Problem { ui.visuals().error_fg_color } else { ui.visuals().text_color() };
            ui.add(egui::Label::new(RichText::new(&notice.words).color(colour)).wrap());
        }
    });
}

fn class_name_ui(ui: &mut Ui, panel: &mut Panel<'_>, old: Option<&str>, close: &mut bool) {
    ui.heading(old.map_or_else(|| "New class".to_owned(), |old| format!("Rename {old}")));
    let entered = field_ui(ui, panel, "Class name", "For example: heron");
    let name = panel.view.typed.trim().to_owned();
    let exists = panel.state().is_some_and(|state| state.class(&name).is_some());
    let selected = panel.view.selection.ids();
    let words = match (old, exists) {
        (Some(old), true) if old != name => format!("{name} exists: all images of {old} will be joined with it."),
        (None, true) => "There is a class of that name.".into(),
        (None, false) if !selected.is_empty() => format!("{} will be labelled with it.", count(selected.len(), "selected image")),
        _ => String::new(),
    };
    ui.label(RichText::new(words).weak());
    let ready = !name.is_empty()
        && match old {
            Some(old) => old != name,
            None => !exists || !selected.is_empty(),
        };
    let verb = match (old, exists) {
        (Some(_), true) => "Merge",
        (Some(_), false) => "Rename",
        (None, _) => "Create",
    };
    let pressed = ui
        .horizontal(|ui| {
            let pressed = ui.add_enabled_ui(ready, |ui| main_button(ui, verb)).inner.clicked();
            *close |= ui.button("Cancel").clicked();
            pressed
        })
        .inner;
    if ready && (pressed || entered) {
        panel.ask(match old {
            Some(old) => Command::RenameClass(old.to_owned(), name),
            None if selected.is_empty() => Command::NewClass(name),
            None => Command::Label(selected, tessera_core::library::event::UserLabel::Class(name)),
        });
        *close = true;
    }
}

fn colour_ui(ui: &mut Ui, panel: &mut Panel<'_>, class: &str, colour: [u8; 3], close: &mut bool) {
    ui.heading(format!("Colour of {class}"));
    let mut chosen = colour;
    ui.horizontal(|ui| {
        ui.color_edit_button_srgb(&mut chosen);
        ui.label(RichText::new("Press the square").weak());
    });
    if chosen != colour {
        panel.view.modal = Some(Modal::Colour(class.to_owned(), chosen));
    }
    ui.horizontal(|ui| {
        let mut choose = |colour| {
            panel.asks.commands.push(Command::RecolourClass(class.to_owned(), colour));
            *close = true;
        };
        if main_button(ui, "Use it").clicked() {
            choose(Some(chosen));
        }
        if ui.button("Usual colour").clicked() {
            choose(None);
        }
        if ui.button("Cancel").clicked() {
            *close = true;
        }
    });
}

fn confirm_ui(ui: &mut Ui, panel: &mut Panel<'_>, heading: &str, words: &str, verb: &str, command: Command, close: &mut bool) {
    ui.heading(heading);
    ui.label(words);
    ui.horizontal(|ui| {
        if main_button(ui, verb).clicked() {
            panel.ask(command);
            *close = true;
        }
        *close |= ui.button("Cancel").clicked();
    });
}

fn quit_ui(ui: &mut Ui, panel: &mut Panel<'_>, close: &mut bool) {
    ui.heading("Something is still going on");
    for job in panel.desk.jobs().list() {
        ui.label(super::bottom::job_words(&job));
    }
    ui.label("What was done so far is saved. Leave now and the rest is not done.");
    ui.horizontal(|ui| {
        if main_button(ui, "Leave").clicked() || ui.input(|input| input.key_pressed(Key::Enter)) {
            panel.view.leave = true;
        }
        *close |= ui.button("Stay").clicked();
    });
}
