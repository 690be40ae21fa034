//! What an import of a folder would take in, before it starts.

use std::path::{Path, PathBuf};

use egui::{Align, Id, Key, Layout, RichText, ScrollArea, TextEdit, Ui, vec2};
use tessera_core::data::plan::{ImportPlan, PlannedFile, TableBeside};
use tessera_core::data::{ClassesFrom, Labels, Masks};
use tessera_core::error::{display, display_name};
use tessera_core::library::import::{ImportOptions, one_class};

use crate::command::Command;
use crate::gui::modal::ModalDraft;
use crate::gui::panel::Panel;
use crate::gui::pictures::PictureTextures;
use crate::gui::theme;
use crate::gui::widgets::{NARROW, chip_ui, line, main_button};
use crate::gui::words::{count, grouped, reason};
use crate::session::desk::planning::PlannedImport;
use crate::session::import::{known_left_out, of_folders_inside};

/// The width of the choices at the left.
const CHOICES: f32 = 350.0;
/// The height of the part between heading and buttons.
const HEIGHT: f32 = 590.0;
/// The side of small pictures.
const SIDE: f32 = 38.0;
/// Places in the list of tables before the tables themselves: what is usual, and none.
const BEFORE_TABLES: usize = 2;

/// How long after a letter the plan follows a class that is typed, in seconds.
const PAUSE: f32 = 0.4;

/// Returns whether the window is to be closed.
pub(super) fn import_ui(ui: &mut Ui, panel: &mut Panel<'_>) -> bool {
    let Some(now) = panel.desk.planning().now() else { return true };
    let (folder, mut options, is_current) = (now.folder.clone(), now.options.clone(), now.is_current);
    let before = options.clone();
    ui.horizontal(|ui| {
        ui.heading(format!("Import {}", display_name(&folder)));
        if !is_current {
            ui.spinner();
            ui.label(RichText::new("Looking through the folder").weak());
        }
    });
    line(ui, RichText::new(display(&folder)).weak());
    let mut is_typing = false;
    let size = vec2(ui.available_width(), HEIGHT.min(ui.ctx().content_rect().height() - 190.0).max(200.0));
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        // It keeps its size, so that nothing moves when the plan comes.
        ui.set_min_size(size);
        match &now.outcome {
            None => {}
            Some(Err(words)) => {
                ui.add_space(8.0);
                ui.colored_label(ui.visuals().error_fg_color, words);
                ui.add_space(8.0);
                is_typing = patterns_ui(ui, &mut panel.view.draft.text, &mut options, &[]);
            }
            Some(Ok(plan)) => {
                summary_ui(ui, plan);
                ui.add_space(4.0);
                let room = ui.available_size();
                let draft = &mut panel.view.draft;
                let mut choices_ui = |ui: &mut Ui| {
                    is_typing = labels_ui(ui, plan, draft, &mut options);
                    masks_ui(ui, plan, &mut options);
                    is_typing |= patterns_ui(ui, &mut draft.text, &mut options, &plan.excluded);
                    if plan.known_left_out > 0 {
                        ui.colored_label(ui.visuals().warn_fg_color, RichText::new(known_left_out(plan)).small());
                    }
                    tables_ui(ui, plan, &mut draft.chosen);
                    skipped_ui(ui, plan);
                    let table = table_of(plan, draft.chosen);
                    table.and_then(|path| plan.tables.iter().position(|table| table.path == path))
                };
                if room.x < NARROW {
                    ScrollArea::vertical().id_salt("plan").auto_shrink([false, false]).show(ui, |ui| {
                        let table = choices_ui(ui);
                        ui.separator();
                        examples_ui(ui, panel.pictures, plan, now, table);
                    });
                } else {
                    ui.allocate_ui_with_layout(room, Layout::left_to_right(Align::Min), |ui| {
                        let choices = vec2(CHOICES, room.y);
                        let table = ui.allocate_ui_with_layout(choices, Layout::top_down(Align::Min), |ui| {
                            let area = ScrollArea::vertical().id_salt("choices").auto_shrink([false, false]);
                            area.show(ui, |ui| {
                                ui.set_width(CHOICES - 14.0);
                                choices_ui(ui)
                            })
                        });
                        ui.separator();
                        ui.allocate_ui_with_layout(vec2(ui.available_width(), room.y), Layout::top_down(Align::Min), |ui| {
                            let area = ScrollArea::vertical().id_salt("examples").auto_shrink([false, false]);
                            area.show(ui, |ui| examples_ui(ui, panel.pictures, plan, now, table.inner.inner));
                        });
                    });
                }
            }
        }
    });
    ui.add_space(8.0);
    let typed = panel.view.draft.class.as_deref();
    let lacks_class = options.labels == Labels::WholeFolder && typed.is_some_and(|class| one_class(class).is_err());
    let mut close = false;
    ui.horizontal(|ui| {
        let images = match &now.outcome {
            // It may be started before everything is known.
            None => Some("Import".to_owned()),
            Some(Ok(plan)) if plan.images > 0 && !lacks_class => Some(match plan.images - plan.known {
                0 => "Import again".to_owned(),
                new if plan.known > 0 => format!("Import {}", count(new, "new file")),
                all => format!("Import {}", count(all, "image")),
            }),
            _ => None,
        };
        let enter = !is_typing
            && ui.is_enabled()
            && ui.memory(|memory| memory.focused().is_none())
            && ui.input(|input| input.key_pressed(Key::Enter));
        let pressed = ui.add_enabled_ui(images.is_some(), |ui| main_button(ui, images.as_deref().unwrap_or("Import"))).inner;
        if images.is_some() && (pressed.on_hover_text("Enter").clicked() || enter) {
            if panel.view.draft.typed_at.is_some()
                && let Some(Ok(class)) = panel.view.draft.class.as_deref().map(one_class)
            {
                // The plan has not followed yet.
                (options.labels, options.one_class) = (Labels::WholeFolder, Some(class));
                panel.ask(Command::PlanImport(folder.clone(), Some(options.clone())));
            }
            let table = now.plan().and_then(|plan| table_of(plan, panel.view.draft.chosen));
            panel.ask(Command::ImportPlanned(table));
            close = true;
        }
        if ui.button("Cancel").on_hover_text("Escape").clicked() {
            panel.ask(Command::GiveUpImport);
            close = true;
        }
        ui.label(RichText::new("Image files are neither copied nor changed.").weak());
    });
    if !close && before != options {
        panel.ask(Command::PlanImport(folder, Some(options)));
    }
    close
}

/// The numbers that matter, and how the folder was understood.
fn summary_ui(ui: &mut Ui, plan: &ImportPlan) {
    ui.horizontal_wrapped(|ui| {
        let mut facts = vec![count(plan.images, "image"), count(plan.classes.len(), "class")];
        if plan.known > 0 {
            facts.insert(1, format!("{} of them in the library", grouped(plan.known)));
        }
        if plan.objects > 0 {
            facts.push(count(plan.objects, "object"));
        }
        if plan.captioned > 0 {
            facts.push(format!("{} with captions beside", grouped(plan.captioned)));
        }
        if plan.masks > 0 {
            facts.push(format!("{} left out", count(plan.masks, "mask")));
        }
        ui.label(RichText::new(facts.join("  ·  ")).size(16.0).strong());
    });
    let mut words = plan.words.clone();
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    ui.add(egui::Label::new(RichText::new(words + ".").weak()).wrap());
}

fn heading_ui(ui: &mut Ui, words: &str) {
    ui.add_space(4.0);
    ui.label(RichText::new(words).strong());
}

/// The choice of a source of labels. Returns whether keys are those of the field for one class.
fn labels_ui(ui: &mut Ui, plan: &ImportPlan, draft: &mut ModalDraft, options: &mut ImportOptions) -> bool {
    heading_ui(ui, "Labels from");
    let chosen = match (options.labels, plan.classes_from) {
        (Labels::Auto, Some(ClassesFrom::Folders)) => Labels::ClassFolders,
        (Labels::Auto, Some(ClassesFrom::Paths)) => Labels::FolderPaths,
        (Labels::Auto, Some(ClassesFrom::Names)) => Labels::NorbNames,
        (Labels::Auto, Some(ClassesFrom::WholeFolder)) => Labels::WholeFolder,
        (Labels::Auto, _) => Labels::None,
        (labels, _) => labels,
    };
    let mut is_typing = false;
    for labels in Labels::ALL {
        if labels == Labels::WholeFolder && !plan.sources.is_empty() {
            is_typing = one_class_ui(ui, plan, chosen == labels, draft, options);
        }
        let Some(source) = plan.sources.iter().find(|source| source.labels == labels) else { continue };
        let words = match labels {
            Labels::ClassFolders => "Folders",
            Labels::FolderPaths => "Paths of folders",
            Labels::NorbNames => "Names of files",
            Labels::None => "Nowhere",
            Labels::Auto | Labels::WholeFolder => continue,
        };
        let mut hover = source.words.clone();
        if source.labels == chosen && options.labels == Labels::Auto && chosen != Labels::None {
            hover.push_str("; chosen because it explains the files best");
        }
        let objects = if source.objects > 0 { format!(", {}", count(source.objects, "object")) } else { String::new() };
        let counts = match source.labels {
            Labels::None => "no labels".to_owned(),
            _ => format!("{}{objects}, {}", count(source.classes, "class"), count(source.images, "image")),
        };
        ui.horizontal(|ui| {
            let radio = ui.radio(source.labels == chosen, words).on_hover_text(hover);
            if radio.clicked() && source.labels != chosen {
                options.labels = source.labels;
            }
            line(ui, RichText::new(counts).small().weak());
        });
    }
    if plan.unlabelled > 0 && (chosen != Labels::None || !plan.classes.is_empty()) {
        ui.label(RichText::new(format!("{} without a class", count(plan.unlabelled, "image"))).small().weak());
    }
    let classes: Vec<String> = plan.classes.iter().take(40).map(|(name, n)| format!("{} {n}", display(Path::new(name)))).collect();
    if !classes.is_empty() {
        line(ui, RichText::new(classes.join(", ")).small());
    }
    if plan.of_folders_inside > 0 {
        ui.label(RichText::new(of_folders_inside(plan)).small().weak());
    }
    is_typing
}

/// The choice of one class for all images, whose name is the folder's until another is typed.
fn one_class_ui(ui: &mut Ui, plan: &ImportPlan, is_chosen: bool, draft: &mut ModalDraft, options: &mut ImportOptions) -> bool {
    let known = draft.class.as_ref().or(options.one_class.as_ref());
    let is_class = plan.sources.iter().any(|source| source.labels == Labels::WholeFolder);
    let of_folder = || if is_class { display_name(&plan.root) } else { String::new() };
    let mut name = known.cloned().unwrap_or_else(of_folder);
    let (radio, field) = ui
        .horizontal(|ui| {
            let radio = ui.radio(is_chosen, "One class for all").on_hover_text("All images of the folder get this class, now and later");
            let edit = TextEdit::singleline(&mut name).id(Id::unique("one class")).hint_text("its name").char_limit(400);
            (radio, ui.add(edit.desired_width(f32::INFINITY)))
        })
        .inner;
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Class of all images"));
    let class = one_class(&name);
    let now = ui.input(|input| input.time);
    if field.changed() {
        (draft.class, draft.typed_at) = (Some(name), Some(now));
        ui.ctx().request_repaint_after_secs(PAUSE);
    }
    // To look through the folder takes long where it is large, so not for every letter.
    let has_paused = draft.typed_at.is_some_and(|at| f64::from(PAUSE) <= now - at || !field.has_focus());
    match class {
        Ok(class) if has_paused || radio.clicked() && !is_chosen => {
            (options.labels, options.one_class, draft.typed_at) = (Labels::WholeFolder, Some(class), None);
        }
        Err(_) if radio.clicked() => field.request_focus(),
        Err(error) if is_chosen || field.has_focus() => {
            ui.colored_label(ui.visuals().error_fg_color, error.to_string());
        }
        _ => {}
    }
    field.has_focus() || field.lost_focus()
}

/// What becomes of masks; nothing where there are none.
fn masks_ui(ui: &mut Ui, plan: &ImportPlan, options: &mut ImportOptions) {
    if plan.masks == 0 && plan.mask_names == 0 && options.masks == Masks::Auto {
        return;
    }
    heading_ui(ui, "Masks and maps of other pictures");
    let mut leaves_out = options.masks != Masks::Keep && (plan.masks > 0 || plan.mask_names == 0);
    let words = match (plan.masks, plan.mask_names) {
        (0, 0) => "Leave them out".to_owned(),
        (0, n) => format!("Leave out {} named so, which look like photographs", grouped(n)),
        (n, _) => format!("Leave out {}", grouped(n)),
    };
    let hover = "Told by their names beside pictures, and by the look of a few: one channel, few colours, or outlines alone";
    if ui.checkbox(&mut leaves_out, words).on_hover_text(hover).changed() {
        options.masks = match leaves_out {
            false => Masks::Keep,
            true if plan.mask_names > 0 => Masks::LeaveOut,
            true => Masks::Auto,
        };
    }
}

/// Patterns of what is left out, each with how many files it takes out. Returns whether keys are
/// those of the field.
fn patterns_ui(ui: &mut Ui, text: &mut String, options: &mut ImportOptions, counts: &[(String, usize)]) -> bool {
    heading_ui(ui, "Leave out by pattern");
    let mut dropped = None;
    for (i, pattern) in options.exclude.iter().enumerate() {
        ui.horizontal(|ui| {
            if ui.small_button("×").on_hover_text(format!("Take {pattern} in again")).clicked() {
                dropped = Some(i);
            }
            ui.label(RichText::new(display(Path::new(pattern))).monospace());
            if let Some((_, n)) = counts.iter().find(|(of, _)| of == pattern) {
                ui.label(RichText::new(count(*n, "file")).weak());
            }
        });
    }
    if let Some(i) = dropped {
        options.exclude.remove(i);
    }
    let field = ui.horizontal(|ui| {
        let edit = TextEdit::singleline(text).hint_text("*.tmp or drafts/**").desired_width(200.0).char_limit(400);
        let response = ui.add(edit);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Pattern"));
        let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let pattern = text.trim();
        let is_new = !pattern.is_empty() && !options.exclude.iter().any(|known| known == pattern);
        if (ui.add_enabled(is_new, egui::Button::new("Leave out")).clicked() || entered) && is_new {
            options.exclude.push(pattern.to_owned());
            text.clear();
        }
        response.has_focus() || response.lost_focus()
    });
    field.inner
}

/// The tables in the folder, of which one can be read after the import.
fn tables_ui(ui: &mut Ui, plan: &ImportPlan, chosen: &mut usize) {
    if plan.tables.is_empty() {
        return;
    }
    heading_ui(ui, "Captions and labels from a table");
    let now = table_of(plan, *chosen);
    if ui.radio(now.is_none(), "None").clicked() {
        *chosen = BEFORE_TABLES - 1;
    }
    for (i, table) in plan.tables.iter().enumerate() {
        let TableBeside { path, matched_captions: captions, matched_labels: labels, matched, unmatched, .. } = table;
        if ui.radio(now.as_ref() == Some(path), display_name(path)).on_hover_text(display(path)).clicked() {
            *chosen = BEFORE_TABLES + i;
        }
        let what = [(captions, "caption"), (labels, "label")].into_iter().filter(|(n, _)| **n > 0).map(|(n, noun)| count(*n, noun));
        let mut words = format!("{} for {}", what.collect::<Vec<_>>().join(", "), count(*matched, "image"));
        if *unmatched > 0 {
            words.push_str(&format!("; {} of no image here", count(*unmatched, "name")));
        }
        ui.indent(i, |ui| line(ui, RichText::new(words).small().weak()));
    }
}

/// The table that is read: the chosen one, or before a choice the one called `captions`.
fn table_of(plan: &ImportPlan, chosen: usize) -> Option<PathBuf> {
    match chosen.checked_sub(BEFORE_TABLES) {
        Some(table) => plan.tables.get(table).map(|table| table.path.clone()),
        None if chosen == 0 => plan.captions_table().map(|table| table.path.clone()),
        None => None,
    }
}

/// What would not be taken in, by reason.
fn skipped_ui(ui: &mut Ui, plan: &ImportPlan) {
    if !plan.skipped.is_empty() {
        heading_ui(ui, "Not taken in");
    }
    for (why, n) in &plan.skipped_by_reason {
        ui.label(format!("{}: {}", count(*n, "file"), reason(why))).on_hover_ui(|ui| {
            let of_it = plan.skipped.iter().filter(|file| file.reason == *why);
            for file in of_it.take(12) {
                ui.label(format!("{}: {}", display_name(&file.path), file.detail));
            }
            if *n > 12 {
                ui.label(format!("and {} more", n - 12));
            }
        });
    }
    ui.add_space(4.0);
    ui.label(RichText::new("Copies and damaged pictures are found while files are read, and listed then.").small().weak());
}

/// A few pictures of the folder, and how each was understood; `table` is the place of the table
/// that is read.
fn examples_ui(ui: &mut Ui, pictures: &PictureTextures, plan: &ImportPlan, now: &PlannedImport, table: Option<usize>) {
    if plan.examples.is_empty() {
        ui.label(RichText::new("There is no picture to show.").weak());
        return;
    }
    ui.vertical(|ui| {
        ui.label(
            RichText::new(format!("{} of {}", count(plan.examples.len(), "example"), count(plan.images + plan.masks, "picture"))).strong(),
        );
        ui.spacing_mut().item_spacing.y = 4.0;
        for example in &plan.examples {
            example_ui(ui, pictures, example, now, table);
        }
    });
}

fn example_ui(ui: &mut Ui, pictures: &PictureTextures, example: &PlannedFile, now: &PlannedImport, table: Option<usize>) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(SIDE, SIDE), egui::Sense::hover());
        ui.painter().rect_filled(rect, egui::CornerRadius::same(4), theme::behind_pictures(ui));
        if let Some(texture) = pictures.example(&example.path) {
            let [width, height] = texture.size();
            let inside = crate::gui::widgets::fitted((width as u32, height as u32), rect);
            ui.painter().image(texture.id(), inside, crate::gui::widgets::WHOLE, egui::Color32::WHITE);
        }
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            line(ui, RichText::new(display(&example.path))).on_hover_text(display(&now.folder.join(&example.path)));
            ui.horizontal(|ui| {
                match (&example.mask_of, &example.class) {
                    (Some(of), _) => {
                        ui.label(RichText::new("left out").small().color(ui.visuals().warn_fg_color));
                        line(ui, RichText::new(format!("mask of {}", display(of))).small().weak());
                    }
                    (None, Some(class)) => {
                        let position = now.plan().and_then(|plan| plan.classes.iter().position(|(name, _)| name == class));
                        chip_ui(ui, class, theme::class(position.unwrap_or_default() as u32, None), "");
                        if let Some(object) = &example.object {
                            ui.label(RichText::new(format!("object {}", display(Path::new(object)))).small().weak());
                        }
                    }
                    (None, None) => {
                        ui.label(RichText::new("no class").small().weak());
                    }
                }
                if let Some(caption) = example.caption_with(table) {
                    line(ui, RichText::new(format!("“{}”", display(Path::new(caption)))).small());
                }
            });
        });
    });
}
