//! The answer to a search: images with their captions, scores and the words that were found.

use egui::{CornerRadius, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use super::super::actions::Action;
use super::super::selection::Pick;
use super::super::theme;
use super::super::view::{Panel, Viewer};
use super::super::widgets::grid::{keys, one_line};
use super::super::widgets::{WHOLE, fitted, nothing_ui};
use super::browse::{cell, count, image_menu_ui};
use super::tree::label_keys;
use crate::command::Command;
use crate::session::search::{Engine, Hit};

const ROW: f32 = 76.0;

pub(super) fn hits_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let Some(hits) = panel.desk.hits().cloned() else { return };
    label_keys(ui, panel);
    ui.horizontal_wrapped(|ui| {
        let words = format!("{} for “{}”", count(hits.hits.len(), "image"), hits.query.trim());
        ui.label(RichText::new(words).strong());
        ui.label(RichText::new(format!("among {}", count(hits.memories, "caption"))).weak());
        if !hits.unknown.is_empty() {
            let words = format!("No caption, class or name has: {}", hits.unknown.join(", "));
            ui.colored_label(ui.visuals().warn_fg_color, words);
        }
        if hits.lessons > 0 {
            ui.label(RichText::new(format!("taught {}", count(hits.lessons, "time"))).weak())
                .on_hover_text("What you said of answers; the history takes any of it back");
        }
        let mut engine = hits.engine;
        ui.selectable_value(&mut engine, Engine::Memory, "Memory")
            .on_hover_text("Learns from what you say of its answers (contextual memory tree)");
        ui.selectable_value(&mut engine, Engine::Index, "Index")
            .on_hover_text("Looks at every caption and learns nothing (tf-idf), to compare");
        if engine != hits.engine {
            panel.ask(Command::SearchBy(engine));
        }
        if !hits.hits.is_empty() && ui.button("Select all of them").clicked() {
            panel.view.selection.set(hits.hits.iter().map(|hit| hit.image));
        }
    });
    if hits.hits.is_empty() {
        let words = if hits.memories == 0 {
            "There are no captions yet: write one under an image, or read a file of captions (File menu)"
        } else {
            "Images are found by the words of their captions, classes and names; \"two words\" in quotes must stand together, -word must not be there"
        };
        nothing_ui(ui, "No memory of this yet", words);
        return;
    }
    let list: Vec<_> = hits.hits.iter().map(|hit| hit.image).collect();
    let mut area = ScrollArea::vertical().id_salt("hits").auto_shrink([false, false]);
    if let Some(at) = keys(ui, &list, &mut panel.view.selection, 1) {
        let room = ui.available_height();
        area = area.vertical_scroll_offset((at as f32 * (ROW + ui.spacing().item_spacing.y) - room / 2.0).max(0.0));
    }
    area.show_rows(ui, ROW, hits.hits.len(), |ui, rows| {
        for hit in rows.filter_map(|i| hits.hits.get(i)) {
            let Some(shown) = cell(panel, hit.image) else { continue };
            let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
            let is_selected = panel.view.selection.contains(hit.image);
            let rounding = CornerRadius::same(theme::ROUNDING);
            if is_selected {
                ui.painter().rect_filled(rect, rounding, ui.visuals().selection.bg_fill);
            } else if response.hovered() {
                ui.painter().rect_filled(rect, rounding, ui.visuals().faint_bg_color);
            }
            if response.has_focus() {
                ui.painter().rect_stroke(rect, rounding, theme::focus(ui), egui::StrokeKind::Inside);
            }
            let frame = egui::Rect::from_min_size(rect.min + vec2(4.0, 4.0), vec2(ROW - 8.0, ROW - 8.0));
            match shown.thumbnail {
                Some((texture, size)) => {
                    ui.painter().image(texture, fitted(size, frame), WHOLE, egui::Color32::WHITE);
                }
                None => {
                    ui.painter().rect_filled(frame, rounding, theme::behind_pictures(ui));
                }
            }
            let left = frame.right() + 12.0;
            let room = egui::Rect::from_min_max(pos2(left, rect.top() + 6.0), pos2(rect.right() - 150.0, rect.bottom() - 6.0));
            let caption = hit.caption.clone().unwrap_or_else(|| "no caption".into());
            let colour = if hit.caption.is_some() { ui.visuals().text_color() } else { ui.visuals().weak_text_color() };
            let galley = ui.painter().layout_job(marked(ui, &caption, &hit.words, colour, room.width()));
            ui.painter().galley(room.min, galley, colour);
            let below = match &shown.label {
                Some((label, _)) => format!("{label} · {}", shown.name),
                None => shown.name.clone(),
            };
            let below = one_line(ui, &below, room.width(), ui.visuals().weak_text_color());
            ui.painter().galley(pos2(left, room.bottom() - below.size().y), below, ui.visuals().weak_text_color());
            let bar = egui::Rect::from_min_size(pos2(rect.right() - 136.0, rect.top() + 16.0), vec2(90.0, 8.0));
            ui.painter().rect_filled(bar, CornerRadius::same(3), ui.visuals().faint_bg_color);
            let full = egui::Rect::from_min_size(bar.min, vec2(bar.width() * hit.score.clamp(0.0, 1.0) as f32, bar.height()));
            ui.painter().rect_filled(full, CornerRadius::same(3), theme::accent(ui));
            let font = egui::TextStyle::Small.resolve(ui.style());
            let score = format!("{:.2}", hit.score);
            ui.painter().text(bar.right_center() + vec2(8.0, 0.0), egui::Align2::LEFT_CENTER, score, font, ui.visuals().text_color());
            let words = one_line(ui, &hit.words.join(", "), 136.0, ui.visuals().weak_text_color());
            ui.painter().galley(pos2(bar.left(), bar.bottom() + 8.0), words, ui.visuals().weak_text_color());
            thumbs_ui(ui, panel, &hits.query, hit, pos2(bar.left(), rect.bottom() - 26.0));
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, format!("{}: {caption}", shown.name)));
            if response.clicked() {
                panel.view.selection.pick(&list, hit.image, Pick::of(ui.input(|input| input.modifiers)));
            }
            if response.double_clicked() {
                panel.view.viewer = Some(Viewer::default());
            }
            if response.secondary_clicked() && !is_selected {
                panel.view.selection.pick(&list, hit.image, Pick::Alone);
            }
            response.context_menu(|ui| image_menu_ui(ui, panel, hit.image));
        }
    });
}

/// Whether a hit is a good answer, as the user said and may say now.
fn thumbs_ui(ui: &mut Ui, panel: &mut Panel<'_>, query: &str, hit: &Hit, at: egui::Pos2) {
    let sides = [
        (1.0, "Good", Action::Good, hit.taught.is_some_and(|said| said > 0.0)),
        (-1.0, "Bad", Action::Bad, hit.taught.is_some_and(|said| said < 0.0)),
    ];
    for (i, (reward, sign, action, is_said)) in sides.into_iter().enumerate() {
        let place = egui::Rect::from_min_size(at + vec2(56.0 * i as f32, 0.0), vec2(52.0, 20.0));
        let key = action.key_words(ui.ctx());
        let button = ui.put(place, egui::Button::selectable(is_said, sign)).on_hover_text(format!("{} ({key})", action.words().0));
        button.widget_info(|| WidgetInfo::selected(Role::Button, true, is_said, format!("{}: #{}", action.words().0, hit.image.0)));
        if button.clicked() {
            panel.ask(Command::Reward(query.to_owned(), hit.image, (!is_said).then_some(reward)));
        }
    }
}

/// A caption with the words that were found set off.
fn marked(ui: &Ui, caption: &str, words: &[String], colour: egui::Color32, width: f32) -> egui::text::LayoutJob {
    let font = egui::TextStyle::Body.resolve(ui.style());
    let plain = egui::TextFormat { font_id: font.clone(), color: colour, ..Default::default() };
    let found = egui::TextFormat {
        font_id: font,
        color: theme::accent(ui),
        underline: egui::Stroke::new(1.0, theme::accent(ui)),
        ..Default::default()
    };
    let mut job = egui::text::LayoutJob::default();
    for part in caption.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let (word, end) = match part.char_indices().next_back() {
            Some((at, last)) if !last.is_alphanumeric() => part.split_at(at),
            _ => (part, ""),
        };
        let is_found = words.contains(&word.to_lowercase());
        job.append(word, 0.0, if is_found { found.clone() } else { plain.clone() });
        job.append(end, 0.0, plain.clone());
    }
    job.wrap = egui::text::TextWrapping { max_width: width, max_rows: 2, ..Default::default() };
    job
}
