//! The rewards given to answers; each can be changed or taken back.

use std::collections::BTreeMap;

use egui::{RichText, ScrollArea, Ui, vec2};

use tessera_core::ids::ItemId;

use super::room;
use crate::command::Command;
use crate::gui::cell::cell;
use crate::gui::page::Page;
use crate::gui::panel::Panel;
use crate::gui::requests::Request;
use crate::gui::theme;
use crate::gui::widgets::{WHOLE, fitted, line};
use crate::gui::words::count;

const ROW: f32 = 46.0;

pub(super) fn lessons_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let census = panel.view.shown.census();
    ui.heading("Lessons");
    if census.lessons.is_empty() {
        ui.label(
            RichText::new("Nothing was said of any answer yet. Search for something, and press G on a good answer and B on a bad one.")
                .weak(),
        );
        return;
    }
    let words = format!(
        "{}: what you said of answers. The memory ranks by it; taking one back is as if it had not been said.",
        count(census.lessons.len(), "lesson")
    );
    ui.label(RichText::new(words).weak());
    all_ui(ui, panel, &census.lessons);
    ui.add_space(4.0);
    ScrollArea::vertical().max_height(room(ui, 440.0)).auto_shrink([false, true]).show_rows(ui, ROW, census.lessons.len(), |ui, rows| {
        for (query, image, reward) in rows.filter_map(|i| census.lessons.get(i)) {
            ui.horizontal(|ui| {
                ui.set_height(ROW - ui.spacing().item_spacing.y);
                let shown = cell(panel, *image);
                let (rect, _) = ui.allocate_exact_size(vec2(ROW - 6.0, ROW - 6.0), egui::Sense::hover());
                match shown.as_ref().and_then(|shown| shown.thumbnail) {
                    Some((texture, size)) => {
                        ui.painter().image(texture, fitted(size, rect), WHOLE, egui::Color32::WHITE);
                    }
                    None => {
                        ui.painter().rect_filled(rect, egui::CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
                    }
                }
                let (sign, colour) = if *reward > 0.0 { ("good", theme::good(ui)) } else { ("bad", ui.visuals().error_fg_color) };
                let words = if reward.abs() < 1.0 { format!("{sign} ({reward:+.2})") } else { sign.to_owned() };
                ui.colored_label(colour, words);
                ui.label(RichText::new("for").weak());
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let name = shown.map_or_else(|| format!("#{}", image.0), |shown| shown.name);
                    let unteach = ui.button("Unteach").on_hover_text("Take this back");
                    unteach.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Unteach {query}: {name}")));
                    if unteach.clicked() {
                        panel.ask(Command::Reward(query.clone(), *image, None));
                    }
                    let (words, other) = if *reward > 0.0 { ("Call it bad", -1.0) } else { ("Call it good", 1.0) };
                    if ui.button(words).clicked() {
                        panel.ask(Command::Reward(query.clone(), *image, Some(other)));
                    }
                    ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                        let link = egui::Link::new(format!("“{query}”"));
                        ui.set_max_width(ui.available_width());
                        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Truncate);
                        if ui.add(link).on_hover_text(format!("Search for “{query}”")).clicked() {
                            if panel.view.search.text != *query {
                                panel.ask(Command::Search(query.clone()));
                            }
                            panel.requests.push(Request::TurnTo(Page::Browse));
                            panel.view.modal = None;
                        }
                        line(ui, RichText::new(name).weak());
                    });
                });
            });
        }
    });
}

/// The queries with several lessons, each of which takes all of them back.
fn all_ui(ui: &mut Ui, panel: &mut Panel<'_>, lessons: &[(String, ItemId, f64)]) {
    let mut queries: BTreeMap<&str, usize> = BTreeMap::new();
    lessons.iter().for_each(|(query, ..)| *queries.entry(query).or_default() += 1);
    queries.retain(|_, lessons| *lessons > 1);
    if queries.is_empty() {
        return;
    }
    ui.menu_button("Take back all for…", |ui| {
        ScrollArea::vertical().max_height(room(ui, 320.0)).show(ui, |ui| {
            for (query, lessons) in queries {
                if ui.button(format!("“{query}”: {}", count(lessons, "lesson"))).clicked() {
                    panel.ask(Command::TakeRewardsBack(query.to_owned()));
                    ui.close();
                }
            }
        });
    });
}
