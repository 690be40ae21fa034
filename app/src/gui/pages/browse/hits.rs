//! The answer to a search: a grid of images with their captions, scores and the words that were
//! found.

use std::collections::HashMap;
use std::sync::Arc;

use egui::{
    Align, Button, ComboBox, CornerRadius, Layout, Rect, RichText, Role, Sense, TextStyle, TextWrapMode, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use tessera_core::ids::ItemId;
use tessera_core::library::looks::Look;
use tessera_core::text::words_at;

use super::super::looks::{LEARNED_OFF, LookChoice, look_choices};
use super::images::filters_ui;
use super::menu::image_menu_ui;
use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::cell::cell;
use crate::gui::class_keys::label_keys;
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::selection::Selection;
use crate::gui::theme;
use crate::gui::view::Viewer;
use crate::gui::widgets::grid::{Cell, pick_clicked, tiles_ui};
use crate::gui::widgets::{DROP_DOWN, WHOLE, class_line, fitted, line_of, main_button, nothing_ui, one_line};
use crate::gui::words::{count, grouped};
use crate::session::desk::view::Hits;
use crate::session::search::{Engine, SearchHit, others_words};
use crate::session::why::typed_words;

/// The least width of a tile.
const WIDTH: f32 = 168.0;
/// The height of a tile below its picture.
const BELOW: f32 = 70.0;
const PADDING: f32 = 8.0;
/// Images before and behind those on the screen that are got along with them.
const AROUND: usize = 60;
/// The most room for words that are offered where nothing answers, and the gap above them.
const OFFERED: f32 = 480.0;
const GAP: f32 = 16.0;
/// The size of a thumb button, with the gap to the next one.
const THUMB: Vec2 = vec2(46.0, 18.0);

pub(super) fn hits_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let Some(hits) = panel.desk.searching().hits().cloned() else { return };
    label_keys(ui, panel);
    let is_free = panel.view.modal.is_none() && !ui.ctx().text_edit_focused();
    if is_free && ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape)) {
        panel.end_search();
    }
    head_ui(ui, panel, &hits);
    if hits.hits.is_empty() {
        empty_ui(ui, panel, &hits);
        return;
    }
    let list = Arc::clone(&hits.images);
    let by_image: HashMap<ItemId, &SearchHit> = hits.hits.iter().map(|hit| (hit.image, hit)).collect();
    let mut missing = Vec::new();
    let side = panel.settings.thumbnail_side;
    let size = vec2(WIDTH.max(side + 2.0 * PADDING), side + BELOW + 2.0 * PADDING);
    let mut selection = std::mem::take(&mut panel.view.selection);
    let mut menu = None;
    // A new query starts scrolled to its best hit.
    let place = format!("hits {} {:?}", hits.query, hits.like.as_ref().map(|like| (like.short_name(), like.crop)));
    tiles_ui(ui, &place, &list, &mut selection, size, |ui, id, size, selection| {
        let found = by_image.get(&id).map(|hit| (*hit).clone()).or_else(|| panel.desk.searching().hit(id).cloned());
        if found.is_none() {
            missing.push(id);
        }
        let Some((hit, shown)) = found.zip(cell(panel, id)) else {
            let (rect, response) = ui.allocate_exact_size(size, Sense::click());
            pick_clicked(ui, &response, &list, id, selection);
            waiting(ui, rect, selection.contains(id));
            return;
        };
        let hit = &hit;
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        pick_clicked(ui, &response, &list, id, selection);
        paint(ui, rect, &response, (hit, &hits.readings), &shown, selection);
        if !hits.query.trim().is_empty() {
            thumbs_ui(
                ui,
                panel,
                &hits.query,
                hit,
                rect.right_bottom() - vec2(PADDING + 2.0 * THUMB.x + 4.0, PADDING + BELOW + THUMB.y + 2.0),
            );
        }
        let caption = hit.caption.as_deref().unwrap_or("no caption");
        let is_selected = selection.contains(id);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, format!("{}: {caption}", shown.name)));
        if response.double_clicked() {
            panel.view.viewer = Some(Viewer::default());
        }
        if response.context_menu_opened() || response.secondary_clicked() {
            menu = Some((id, response));
        } else {
            response.on_hover_text(format!("{caption}\n{}", shown.name));
        }
    });
    panel.view.selection = selection;
    if let (Some(first), Some(last)) = (missing.first(), missing.last()) {
        // Those around them are likely to be scrolled to next.
        let at = |id: &ItemId| list.iter().position(|other| other == id).unwrap_or(0);
        let (from, to) = (at(first).saturating_sub(AROUND), (at(last) + AROUND).min(list.len()));
        panel.ask(Command::HitsInFull(list[from..to].to_vec()));
    }
    if let Some((id, response)) = menu {
        response.context_menu(|ui| image_menu_ui(ui, panel, id));
    }
}

/// What brings hits into their order again.
const BEST_FIRST: &str = "Best first";

/// What stands above the hits: buttons, on a line of their own, so that no text moves them, and
/// what is told of the answer.
fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>, hits: &Hits) {
    buttons_ui(ui, panel, hits);
    ui.horizontal_wrapped(|ui| {
        filters_ui(ui, panel);
        if let Some(like) = &hits.like {
            like_by_ui(ui, panel, hits, like.of().is_some());
        }
        let query = hits.query.trim();
        let of = if query.is_empty() { String::new() } else { format!(" for “{query}”") };
        let like = hits.like.as_ref().map_or_else(String::new, |like| format!(" that look like {}", like.short_name()));
        let some = hits.images.len() - hits.with_all;
        let has_words = query.split_whitespace().nth(1).is_some();
        if hits.with_all > 0 && some > 0 && hits.like.is_none() {
            let all = if hits.unknown.is_empty() {
                " with all words"
            } else if hits.missing.len() < hits.unknown.len() {
                " with all words, or words like them,"
            } else if hits.asked == hits.missing.len() + 1 {
                " with the other word"
            } else {
                " with all the other words"
            };
            let (all, others) = if has_words { (all, "with some") } else { ("", "that may fit") };
            ui.label(RichText::new(format!("{}{all}{of}", count(hits.with_all, "image"))).strong());
            ui.label(RichText::new(format!("and {} {others}", grouped(some))).weak());
        } else {
            let some = if has_words && some > 0 && hits.like.is_none() { " with some of the words" } else { "" };
            ui.label(RichText::new(format!("{}{some}{of}{like}", count(hits.images.len(), "image"))).strong());
        }
        if !query.is_empty() && hits.memories > 0 {
            ui.label(RichText::new(format!("among {}", count(hits.memories, "caption"))).weak());
        }
        let corrected = if hits.images.is_empty() { &[] } else { hits.corrections.as_slice() };
        if !corrected.is_empty() {
            let read = |(written, word): &(String, String)| format!("Nothing has “{written}”: it is read as “{word}”");
            let words: Vec<String> = corrected.iter().map(read).collect();
            ui.colored_label(ui.visuals().warn_fg_color, words.join("; "));
        }
        if !hits.missing.is_empty() {
            let words: Vec<String> = hits.missing.iter().map(|word| format!("“{word}”")).collect();
            let others = others_words(hits.asked, hits.missing.len(), hits.images.len());
            ui.colored_label(ui.visuals().warn_fg_color, format!("Nothing has {}{others}", words.join(", ")));
        }
        let is_told = |word: &str| corrected.iter().any(|(written, _)| written == word) || hits.missing.iter().any(|other| other == word);
        let unknown: Vec<&str> = hits.unknown.iter().map(String::as_str).filter(|word| !is_told(word)).collect();
        if !unknown.is_empty() {
            let words = format!("No caption, class or name has: {}", unknown.join(", "));
            ui.colored_label(ui.visuals().warn_fg_color, words);
        }
        if let Some(meant) = &hits.did_you_mean {
            // In one piece, so that its middle can be pressed.
            let usual = ui.style_mut().wrap_mode.replace(TextWrapMode::Extend);
            let link = ui.link(format!("Did you mean: {meant}?")).on_hover_text("Search for this instead");
            ui.style_mut().wrap_mode = usual;
            if link.clicked() {
                panel.ask(Command::Search(meant.clone()));
            }
        }
    });
}

fn all(images: usize) -> String {
    if images == 1 { "the image".into() } else { format!("all {}", count(images, "image")) }
}

/// The engine, and what can be done with all hits. What lessons bring has room at the right end.
fn buttons_ui(ui: &mut Ui, panel: &mut Panel<'_>, hits: &Hits) {
    let has_words = !hits.query.trim().is_empty();
    if !has_words && hits.hits.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        if has_words {
            let mut engine = hits.engine;
            ui.selectable_value(&mut engine, Engine::Memory, "Learning")
                .on_hover_text("Learns from what you say of its answers (contextual memory tree)");
            ui.selectable_value(&mut engine, Engine::Index, "Plain")
                .on_hover_text("Looks at every caption and learns nothing (tf-idf), to compare");
            if engine != hits.engine {
                panel.ask(Command::SearchBy(engine));
            }
        }
        if !hits.hits.is_empty() {
            ui.separator();
            if ui.button(format!("Select {}", all(hits.images.len()))).clicked() {
                panel.view.selection.set(hits.images.iter().copied());
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if !hits.is_best_first {
                let hover =
                    "Images stay where they are while you say something of them; this, or Enter in the search box, puts the best first";
                if main_button(ui, BEST_FIRST).on_hover_text(hover).clicked() {
                    panel.ask(Command::SortHits);
                }
            } else if hits.lessons > 0 {
                let words = line_of(ui, TextStyle::Button, BEST_FIRST, f32::INFINITY, ui.visuals().text_color());
                ui.add_space(words.size().x + 2.0 * ui.spacing().button_padding.x + ui.spacing().item_spacing.x);
            }
            if hits.lessons > 0 {
                let here = hits.hits.iter().filter(|hit| hit.taught.is_some()).count();
                let words = format!("taught {}, {} in all", count(here, "time"), count(hits.lessons, "lesson"));
                let hover = format!("{} ({})", Action::Lessons.words().1, Action::Lessons.key_words(ui.ctx()));
                ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
                if ui.link(RichText::new(words).weak()).on_hover_text(hover).clicked() {
                    panel.view.open(Modal::Lessons);
                }
            }
        });
    });
}

/// The vectors by which hits are to resemble an image. Some are known of whole images of the
/// library alone.
fn like_by_ui(ui: &mut Ui, panel: &mut Panel<'_>, hits: &Hits, is_of_library: bool) {
    let chosen = hits.by.clone();
    let all = look_choices(panel, &hits.sets);
    let shown = all.iter().find(|choice| choice.look == chosen).map_or("Usual", |choice| &choice.name).to_owned();
    let combo = ComboBox::from_id_salt("like by").selected_text(format!("by {shown}")).width(170.0).height(DROP_DOWN);
    let response = combo.show_ui(ui, |ui| {
        for LookChoice { look, name, hover, is_there } in all {
            let (is_there, why) = match look {
                Some(Look::Words | Look::Elements | Look::Brought(_)) if !is_of_library => {
                    (false, "Known of whole images of the library alone")
                }
                _ => (is_there, LEARNED_OFF),
            };
            let button = ui.add_enabled(is_there, Button::selectable(look == chosen, name));
            if button.on_hover_text(hover).on_disabled_hover_text(why).clicked() {
                panel.ask(Command::SearchLikeBy(look));
            }
        }
    });
    response.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, format!("Resemble by {shown}")));
}

/// The place of an image whose caption and words are on their way.
fn waiting(ui: &Ui, rect: Rect, is_selected: bool) {
    let ground = if is_selected { ui.visuals().selection.bg_fill } else { theme::card(ui) };
    ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), ground);
}

/// Whether a text has one of some words.
fn has_one(text: &str, some: &[String]) -> bool {
    words_at(text).any(|(.., word)| some.contains(&word))
}

fn empty_ui(ui: &mut Ui, panel: &mut Panel<'_>, hits: &Hits) {
    let is_filtered = !panel.view.shown.scopes.is_empty();
    let words = if is_filtered {
        "Nothing among what is shown answers; take filters off to search in all images"
    } else if !hits.often_seen.is_empty() {
        "No caption, class or name of a file has it, and the network sees nothing that is called so in any image"
    } else if hits.memories == 0 {
        "No class or name of a file has it, and there are no captions yet: write one under an image, or read a file of captions (File menu)"
    } else {
        "Images are found by the words of their captions, classes and names; \"two words\" in quotes must stand together, -word must not be there"
    };
    nothing_ui(ui, if is_filtered { "Nothing here answers" } else { "Nothing answers" }, words);
    if is_filtered {
        ui.vertical_centered(|ui| {
            if ui.button("Search in all images").clicked() {
                panel.view.shown.scopes.clear();
            }
        });
    } else if !hits.often_seen.is_empty() {
        ui.add_space(GAP);
        ui.vertical_centered(|ui| {
            ui.set_max_width(OFFERED);
            ui.label(RichText::new("What the network guesses in many images here:").weak());
            ui.horizontal_wrapped(|ui| {
                for noun in &hits.often_seen {
                    if ui.link(format!("“{noun}”")).on_hover_text("Search for this instead").clicked() {
                        panel.ask(Command::Search(noun.clone()));
                    }
                }
            });
        });
    }
}

fn paint(ui: &Ui, rect: Rect, response: &egui::Response, (hit, marks): (&SearchHit, &[String]), shown: &Cell, selection: &Selection) {
    if !ui.is_rect_visible(rect) {
        return;
    }
    let painter = ui.painter_at(rect);
    let rounding = CornerRadius::same(theme::ROUNDING);
    let is_cursor = selection.cursor() == Some(hit.image) && selection.contains(hit.image);
    let ground = if selection.contains(hit.image) {
        ui.visuals().selection.bg_fill
    } else if response.hovered() {
        ui.visuals().faint_bg_color
    } else {
        theme::card(ui)
    };
    painter.rect_filled(rect, rounding, ground);
    if is_cursor || response.has_focus() {
        painter.rect_stroke(rect, rounding, theme::focus(ui), egui::StrokeKind::Inside);
    }
    let inner = rect.shrink(PADDING);
    let frame = Rect::from_min_max(inner.min, pos2(inner.right(), inner.bottom() - BELOW));
    match shown.thumbnail {
        Some((texture, size)) => {
            painter.image(texture, fitted(size, frame), WHOLE, egui::Color32::WHITE);
        }
        None => {
            painter.rect_filled(frame, rounding, theme::behind_pictures(ui));
        }
    }
    let (text, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    // Where no caption has a word, the name that has one stands in its place.
    let name = Some(shown.name.as_str()).filter(|name| !hit.has_caption && has_one(name, &hit.words));
    let caption = name.or(hit.caption.as_deref()).unwrap_or("no caption");
    let colour = if hit.caption.is_some() || name.is_some() { text } else { weak };
    let bar = Rect::from_min_size(pos2(inner.left(), frame.bottom() + 3.0), vec2(inner.width(), 3.0));
    painter.rect_filled(bar, CornerRadius::same(1), theme::behind_pictures(ui));
    let full = Rect::from_min_size(bar.min, vec2(bar.width() * hit.score.clamp(0.0, 1.0) as f32, bar.height()));
    painter.rect_filled(full, CornerRadius::same(1), theme::accent(ui));
    let galley = painter.layout_job(marked(ui, caption, marks, colour, inner.width()));
    painter.galley(pos2(inner.left(), bar.bottom() + 4.0), galley, colour);
    let below = inner.bottom();
    let score = one_line(ui, &format!("{:.2}", hit.score), inner.width(), text);
    let right = inner.right() - score.size().x;
    painter.galley(pos2(right, below - 8.0 - score.size().y / 2.0), score, text);
    let mut left = inner.left();
    if let Some((label, colour)) = &shown.label {
        painter.circle_filled(pos2(left + 5.0, below - 8.0), 4.5, *colour);
        let is_found = has_one(label, &hit.words);
        let label = class_line(ui, label, inner.width() / 2.0, if is_found { theme::accent(ui) } else { text });
        painter.galley(pos2(left + 14.0, below - 8.0 - label.size().y / 2.0), std::sync::Arc::clone(&label), text);
        left += 14.0 + label.size().x + 8.0;
    }
    let guess = hit.guessed.first().map(|word| format!("guessed: {}, {:.2}", word.guess.noun, word.guess.chance));
    let likeness = hit.likeness.map(|likeness| format!("by what it looks like, {:.2}", likeness.cosine));
    let read = |word: &String| match hit.read.iter().find(|read| read.word == *word) {
        Some(read) => typed_words(word, &read.written),
        None => word.clone(),
    };
    let has = || hit.words.iter().map(read).collect::<Vec<_>>().join(", ");
    let words = if hit.words.is_empty() { guess.or(likeness).unwrap_or_else(|| shown.name.clone()) } else { has() };
    let words = one_line(ui, &words, right - 6.0 - left, weak);
    painter.galley(pos2(left, below - 8.0 - words.size().y / 2.0), words, weak);
}

/// The thumbs of a hit: the reward that the user has given, and the buttons to change it.
fn thumbs_ui(ui: &mut Ui, panel: &mut Panel<'_>, query: &str, hit: &SearchHit, at: egui::Pos2) {
    let said = hit.taught.unwrap_or(0.0);
    let sides = [(Action::Good, "Good", said > 0.0, theme::good(ui)), (Action::Bad, "Bad", said < 0.0, ui.visuals().error_fg_color)];
    for (i, (action, words, is_said, colour)) in sides.into_iter().enumerate() {
        let place = Rect::from_min_size(at + vec2((THUMB.x + 4.0) * i as f32, 0.0), THUMB);
        let key = action.key_words(ui.ctx());
        // A child of the tile, so that it does not move the next tile.
        let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(place).id_salt((hit.image.0, words)));
        inside.style_mut().wrap_mode = Some(TextWrapMode::Extend);
        (inside.spacing_mut().button_padding, inside.spacing_mut().interact_size.y) = (vec2(4.0, 1.0), THUMB.y);
        let button = match is_said {
            true => egui::Button::new(RichText::new(words).color(theme::text_on(colour))).fill(colour),
            false => egui::Button::new(words),
        };
        let button = inside.add_sized(THUMB, button);
        let button = button.on_hover_text(format!("{} ({key})", action.words().0));
        button.widget_info(|| WidgetInfo::selected(Role::Button, true, is_said, format!("{}: #{}", action.words().0, hit.image.0)));
        if button.clicked() {
            panel.ask(Command::Reward(query.to_owned(), hit.image, action.reward().filter(|_| !is_said)));
        }
    }
}

/// A caption with the matched words highlighted.
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
    let mut rest = 0;
    for (at, written, _) in words_at(caption).filter(|(.., word)| words.contains(word)) {
        job.append(&caption[rest..at], 0.0, plain.clone());
        job.append(written, 0.0, found.clone());
        rest = at + written.len();
    }
    job.append(&caption[rest..], 0.0, plain);
    job.wrap = egui::text::TextWrapping { max_width: width, max_rows: 2, ..Default::default() };
    job
}
