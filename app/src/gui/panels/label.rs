//! The labelling desk: one image large, what is suggested for it and by whom, the next ones, and how the work goes.

use std::time::{Duration, Instant};

use egui::{Align2, CornerRadius, Key, Rect, RichText, ScrollArea, Sense, TextStyle, Ui};
use egui::{Role, WidgetInfo, pos2, vec2};
use tessera_core::ids::ItemId;
use tessera_core::library::suggest::{LabelOrder, Vote};

use super::super::actions::Action;
use super::super::theme;
use super::super::view::{LabelView, Panel, Toast, Viewer};
use super::super::widgets::grid::one_line;
use super::super::widgets::{WHOLE, card_ui, chip_ui, fitted, line, main_button, nothing_ui};
use super::browse::count;
use super::class_field::{begin_typing, class_ui, digit, is_free, pressed};
use super::label_many::{batch, batch_side_ui, batch_ui};
use crate::command::Command;
use crate::session::desk::labelling::{Labelling, Meter};
use crate::session::desk::view::{Notice, Tone};

/// Seconds for which an image is there before a key says something of it, and for which a suggestion is that changed before the user's eyes.
const SEEN: f64 = 0.12;
/// See `SEEN`.
const CHANGED: f64 = 0.35;
/// Images in the strip of the next ones have this side.
const SIDE: f32 = 84.0;
/// Seconds after A, X or a letter in which other letters go on with it.
const BURST: f64 = 0.5;
/// Classes that a digit chooses.
pub(super) const CHOICES: usize = 9;

/// What advisers are called, and what they go by.
pub(super) fn adviser_words(name: &str) -> (&'static str, &'static str) {
    match name {
        "contextual" => ("Contextual search", "Online multiclass learning by contextual search, on the image as a whole"),
        "pa" => ("Passive-aggressive", "A linear rule that changes as little as each label needs"),
        "nearest" => ("Nearest image", "The labelled image that looks most like it"),
        "captions" => ("Captions", "A contextual memory tree of captions"),
        "recogniser" => ("Recogniser", "The compositional kernel machine, on pieces of the image"),
        _ => ("Adviser", ""),
    }
}

pub(super) fn label_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let Some(labelling) = panel.desk.labelling().shown() else {
        panel.view.label.wants_batch = false;
        nothing_ui(ui, "Images are on their way", "They can be labelled once they are imported");
        return;
    };
    // While a label is saved, too.
    let goes_on = is_free(ui, panel) && goes_on(ui, panel);
    head_ui(ui, panel, labelling);
    if panel.view.label.batch.is_some() {
        batch_ui(ui, panel, labelling);
        return;
    }
    let Some(id) = labelling.current() else {
        panel.view.label.shown = None;
        empty_ui(ui, panel, labelling);
        return;
    };
    let ranking = panel.desk.state().map(|state| labelling.ranking(state, id)).unwrap_or_default();
    let is_read = is_read(ui, panel, id, &ranking);
    if !goes_on {
        keys(ui, panel, labelling, id, &ranking, is_read);
    }
    let likeliest = |id: ItemId| Some(labelling.likeliest(panel.state()?, id)?.0);
    let next: Vec<(ItemId, Option<String>)> = labelling.queue[1..].iter().take(40).map(|id| (*id, likeliest(*id))).collect();
    if let Some(chosen) = picture_ui(ui, panel, id, &next) {
        panel.ask(Command::TakeUp(chosen));
    }
}

/// What is labelled, in which order, and how it goes.
fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>, labelling: &Labelling) {
    ui.horizontal_wrapped(|ui| {
        mode_ui(ui, panel);
        ui.separator();
        let words = |order: LabelOrder| match order {
            LabelOrder::Useful => "Most useful first",
            LabelOrder::Disagreement => "Disputed first",
            LabelOrder::Folder => "By folder",
            LabelOrder::Random => "By chance",
        };
        let mut order = labelling.order;
        let combo = egui::ComboBox::from_id_salt("order").selected_text(words(order)).width(150.0);
        combo.show_ui(ui, |ui| LabelOrder::ALL.iter().for_each(|each| drop(ui.selectable_value(&mut order, *each, words(*each)))));
        if order != labelling.order {
            panel.ask(Command::LabelFrom(labelling.only.clone(), order));
        }
        match &labelling.only {
            Some(only) => {
                let words = format!("{} of {} left  ×", labelling.queue.len(), count(only.len(), "chosen image"));
                let hover = "Press to label all images without a class";
                if chip_ui(ui, &words, ui.visuals().selection.bg_fill, hover).clicked() {
                    panel.ask(Command::LabelFrom(None, labelling.order));
                }
            }
            None => drop(ui.label(RichText::new(format!("{} without a class", count(labelling.queue.len(), "image"))).weak())),
        }
        // What is on its way is waited for.
        let waits = !labelling.is_arranged && !labelling.queue.is_empty();
        let asked = panel.view.label.wants_batch && !waits;
        panel.view.label.wants_batch &= waits;
        if panel.view.label.batch.is_none() && labelling.current().is_some() {
            let hover = format!("{} ({})", Action::LabelMany.words().1, Action::LabelMany.key_words(ui.ctx()));
            if ui.button(Action::LabelMany.words().0).on_hover_text(hover).clicked() || asked {
                panel.view.label.batch = batch(panel, labelling);
                panel.view.label.typed.clear();
            }
        }
        if let Some(snapshot) = panel.desk.labelling().thinking().filter(|snapshot| snapshot.total > 0 && snapshot.done < snapshot.total) {
            ui.label(RichText::new(format!("{} {} of {}", snapshot.stage, snapshot.done, snapshot.total)).small().weak());
            ui.ctx().request_repaint_after(Duration::from_millis(150));
        }
    });
    ui.add_space(2.0);
}

/// Suggestions, or the review of labels that are there.
pub(super) fn mode_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.selectable_value(&mut panel.view.label.reviews, false, "Suggest").on_hover_text("Label images that have no class");
    let hover = format!("Look at labels that may be wrong ({})", Action::Review.key_words(ui.ctx()));
    ui.selectable_value(&mut panel.view.label.reviews, true, "Review").on_hover_text(hover);
}

fn empty_ui(ui: &mut Ui, panel: &mut Panel<'_>, labelling: &Labelling) {
    let images = panel.state().map_or(0, |state| state.images().count());
    if images == 0 {
        nothing_ui(ui, "No images yet", "Import a folder; its images can be labelled here");
        ui.vertical_centered(|ui| {
            if main_button(ui, "Add folder…").clicked() {
                panel.act(Action::AddFolder);
            }
        });
    } else if !labelling.queue.is_empty() {
        nothing_ui(ui, "Choosing where to begin", "The advisers look at the images");
    } else {
        let heading = if labelling.only.is_some() { "All chosen images are labelled" } else { "Every image has a class" };
        nothing_ui(ui, heading, &format!("{} in all", count(images, "image")));
        ui.vertical_centered(|ui| {
            if labelling.only.is_some() && ui.button("Label all images without a class").clicked() {
                panel.ask(Command::LabelFrom(None, labelling.order));
            }
            if main_button(ui, "Review labels").on_hover_text(Action::Review.words().1).clicked() {
                panel.act(Action::Review);
            }
            if !labelling.given.is_empty() && ui.button("Back").on_hover_text("Backspace").clicked() {
                panel.ask(Command::GoBack);
            }
        });
        if is_free(ui, panel) && pressed(ui, Key::Backspace) {
            panel.ask(Command::GoBack);
        }
    }
}

/// Whether what is shown of an image was there long enough to be read.
pub(super) fn was_read(ui: &Ui, label: &LabelView, id: ItemId) -> bool {
    let now = ui.input(|input| input.time);
    label.shown.as_ref().is_some_and(|(of, _, since)| *of == id && now - since >= if label.has_changed { CHANGED } else { SEEN })
}

/// Notes what is shown since when. Whether it was there long enough to be read.
pub(super) fn is_read(ui: &Ui, panel: &mut Panel<'_>, id: ItemId, ranking: &[(String, f64)]) -> bool {
    let now = ui.input(|input| input.time);
    let classes: Vec<String> = ranking.iter().take(CHOICES).map(|(class, _)| class.clone()).collect();
    let label = &mut panel.view.label;
    match &label.shown {
        Some((before, same, _)) if *before == id && *same == classes => {}
        // Nothing could be meant before the first suggestion came.
        Some((before, none, _)) if *before != id || none.is_empty() => {
            // What was begun and left was meant for another image.
            if *before != id && !ui.ctx().text_edit_focused() && !label.wants_focus {
                label.typed.clear();
            }
            (label.shown, label.has_changed) = (Some((id, classes, now)), false);
        }
        Some(_) => (label.shown, label.has_changed) = (Some((id, classes, now)), true),
        None => (label.shown, label.has_changed) = (Some((id, classes, now)), false),
    }
    let is_read = was_read(ui, label, id);
    if !is_read {
        ui.ctx().request_repaint_after(Duration::from_secs_f64(if label.has_changed { CHANGED } else { SEEN }));
    }
    is_read
}

fn keys(ui: &Ui, panel: &mut Panel<'_>, labelling: &Labelling, id: ItemId, ranking: &[(String, f64)], is_read: bool) {
    // Where nothing is suggested, nothing can be accepted or rejected.
    let has_classes = panel.state().is_some_and(|state| !state.classes().is_empty());
    let taken: &[&str] = if ranking.is_empty() && !(has_classes && labelling.is_thinking) { &[] } else { &["a", "x"] };
    if !is_free(ui, panel) || begin_typing(ui, panel, taken, true) {
        return;
    }
    // What is pressed while a label is saved would be said of an image that is on its way out.
    let counts = is_read && !labelling.is_saving;
    let top = ranking.first().map(|(class, _)| class.clone()).filter(|_| counts);
    let has_focus = ui.ctx().memory(|memory| memory.focused().is_some());
    if let Some(place) = digit(ui) {
        if let Some((class, _)) = ranking.get(place).filter(|_| counts) {
            panel.ask(Command::Give(vec![id], class.clone(), 1));
        }
    } else if let Some(says_so) = [Key::A, Key::X].into_iter().find(|key| pressed(ui, *key)) {
        if let Some(class) = top {
            panel.view.label.burst = (ui.input(|input| input.time), false);
            panel.ask(if says_so == Key::A { Command::Give(vec![id], class, 1) } else { Command::Refuse(id, class) });
        }
    } else if !has_focus && pressed(ui, Key::Enter) {
        panel.asks.commands.extend(top.map(|class| Command::Give(vec![id], class, 1)));
    } else if !has_focus && pressed(ui, Key::Space) {
        panel.asks.commands.extend((!labelling.is_saving).then_some(Command::Skip(id)));
    } else if pressed(ui, Key::Backspace) {
        panel.ask(Command::GoBack);
    }
}

/// Whether letters go on that began with A or X: then they are not meant for the next image, nor is the Enter behind them.
fn goes_on(ui: &Ui, panel: &mut Panel<'_>) -> bool {
    let now = ui.input(|input| input.time);
    let burst = &mut panel.view.label.burst;
    let is_other = |c: char| c.is_alphabetic() && !"aAxX".contains(c);
    let more = ui.input(|input| input.events.iter().any(|event| matches!(event, egui::Event::Text(text) if text.contains(is_other))));
    if now - burst.0 > BURST {
        burst.1 = false;
        return false;
    }
    if more {
        let is_new = !burst.1;
        *burst = (now, true);
        if is_new {
            let words = "A accepts and X rejects at once, and Backspace takes that back; Tab or / begins a class that begins so";
            let notice = Notice { words: words.into(), tone: Tone::Note, undo: None };
            panel.view.toasts.push(Toast { notice, since: Instant::now() });
        }
    }
    panel.view.label.burst.1
}

/// An image as large as there is room, with the next ones below it. Returns the one of these that was pressed.
pub(super) fn picture_ui(ui: &mut Ui, panel: &mut Panel<'_>, id: ItemId, next: &[(ItemId, Option<String>)]) -> Option<ItemId> {
    let image = panel.state().and_then(|state| state.image(id).cloned())?;
    panel.view.next = next.first().map(|(id, _)| *id);
    let below = if next.is_empty() { 26.0 } else { SIDE + 56.0 };
    let (rect, response) = ui.allocate_exact_size((ui.available_size() - vec2(0.0, below)).max(vec2(60.0, 60.0)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("Picture of {}", image.file_name())));
    ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
    let size = image.content.map_or((1, 1), |content| content.size);
    // Small pictures are not blown up to mush.
    let whole = fitted(size, rect.shrink(6.0));
    let scale = (whole.width() / size.0.max(1) as f32).min(6.0);
    let target = Rect::from_center_size(rect.center(), vec2(size.0 as f32, size.1 as f32) * scale);
    let texture = panel.pictures.viewed(id, scale).map(egui::TextureHandle::id);
    let texture = texture.or_else(|| image.content.and_then(|content| panel.textures.get(content.hash.0, id)).map(egui::TextureHandle::id));
    match texture {
        Some(texture) => drop(ui.painter().image(texture, target, WHOLE, egui::Color32::WHITE)),
        None => {
            let failed = matches!(panel.desk.pictures().shown(), Some((of, Err(_))) if of == id);
            let words = if failed { "This image cannot be shown; it can be labelled all the same" } else { "" };
            let (font, colour) = (TextStyle::Body.resolve(ui.style()), ui.visuals().weak_text_color());
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, words, font, colour);
        }
    }
    if response.double_clicked() {
        panel.view.selection.set([id]);
        panel.view.viewer = Some(Viewer::default());
    }
    ui.horizontal(|ui| {
        line(ui, RichText::new(image.file_name()).strong()).on_hover_text(image.name());
        if let Some(caption) = image.captions.first() {
            line(ui, RichText::new(format!("“{}”", caption.text)).weak());
        }
    });
    let mut chosen = None;
    ui.horizontal(|ui| {
        for (id, class) in next {
            if ui.available_width() < SIDE {
                break;
            }
            if small_ui(ui, panel, *id, class.as_deref(), SIDE).on_hover_text("Take this one up next").clicked() {
                chosen = Some(*id);
            }
        }
    });
    chosen
}

/// A small image with a class below it.
pub(super) fn small_ui(ui: &mut Ui, panel: &mut Panel<'_>, id: ItemId, class: Option<&str>, side: f32) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(side, side + 20.0), Sense::click());
    let name = panel.state().and_then(|state| state.image(id)).map(|image| image.file_name()).unwrap_or_default();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{name}, {}", class.unwrap_or("no class"))));
    let picture = Rect::from_min_size(rect.min, vec2(side, side));
    let hash = panel.state().and_then(|state| state.image(id)).and_then(|image| image.content).map(|content| content.hash.0);
    let texture = hash.and_then(|hash| panel.textures.get(hash, id)).map(|texture| (texture.id(), texture.size()));
    let rounding = CornerRadius::same(4);
    ui.painter().rect_filled(picture, rounding, theme::behind_pictures(ui));
    if let Some((texture, [width, height])) = texture {
        ui.painter().image(texture, fitted((width as u32, height as u32), picture.shrink(2.0)), WHOLE, egui::Color32::WHITE);
    }
    if response.hovered() || response.has_focus() {
        ui.painter().rect_stroke(picture, rounding, theme::focus(ui), egui::StrokeKind::Inside);
    }
    if let Some(class) = class {
        let spot = pos2(rect.left() + 4.0, picture.bottom() + 10.0);
        ui.painter().circle_filled(spot, 4.0, panel.colour(class));
        let text = one_line(ui, class, side - 12.0, ui.visuals().text_color());
        ui.painter().galley(pos2(rect.left() + 11.0, picture.bottom() + 3.0), text, ui.visuals().text_color());
    }
    response
}

/// The suggestion, and what is known about it.
pub(super) fn side_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let Some(labelling) = panel.desk.labelling().shown() else { return };
    ScrollArea::vertical().id_salt("label side").auto_shrink([false, false]).show(ui, |ui| {
        let current = labelling.current();
        if panel.view.label.batch.is_some() {
            card_ui(ui, "Label many", |ui| batch_side_ui(ui, panel));
        } else if let Some(id) = current {
            card_ui(ui, "", |ui| suggestion_ui(ui, panel, labelling, id));
        }
        let suggestion = current.filter(|_| panel.view.label.batch.is_none()).and_then(|id| labelling.suggestions.get(&id));
        if let Some(suggestion) = suggestion {
            ui.add_space(6.0);
            card_ui(ui, "Who says what", |ui| advisers_ui(ui, panel, &suggestion.advisers));
        }
        ui.add_space(6.0);
        card_ui(ui, "How it goes", |ui| meter_ui(ui, panel, &labelling.meter(), labelling.learned));
        ui.add_space(6.0);
        card_ui(ui, "What the last label changed", |ui| moved_ui(ui, panel, labelling));
    });
}

fn suggestion_ui(ui: &mut Ui, panel: &mut Panel<'_>, labelling: &Labelling, id: ItemId) {
    let ranking = panel.desk.state().map(|state| labelling.ranking(state, id)).unwrap_or_default();
    let now = panel.state().and_then(|state| state.image(id)).and_then(|image| image.label()).map(str::to_owned);
    if let Some(now) = now {
        ui.label(RichText::new(format!("labelled {now}")).weak());
    }
    match ranking.first().cloned() {
        None => {
            let has_classes = panel.state().is_some_and(|state| !state.classes().is_empty());
            let (heading, words) = match (has_classes, labelling.is_thinking) {
                (_, true) => ("…", "The advisers are thinking; the class can be typed"),
                (true, _) => ("No suggestion", "Type its class below"),
                (false, _) => ("What is this?", "Type the first class and press Enter; suggestions begin with it"),
            };
            ui.label(RichText::new(heading).size(24.0).strong());
            ui.label(RichText::new(words).weak());
        }
        Some((best, chance)) => {
            ui.add(egui::Label::new(RichText::new(&best).size(24.0).strong()).truncate());
            let now = ui.input(|input| input.time);
            let label = &panel.view.label;
            let changed = label.has_changed && label.shown.as_ref().is_some_and(|(.., since)| now - since < 4.0 * CHANGED);
            let is_only = panel.state().is_some_and(|state| state.classes().len() == 1);
            let words = if is_only { "the only class so far".to_owned() } else { format!("{:.0} % likely", 100.0 * chance) };
            let words = if changed { format!("{words}, just changed") } else { words };
            ui.label(RichText::new(words).weak())
                .on_hover_text("The chance that those who suggest it give it, from how often they were right");
            let is_read = label.shown.as_ref().is_some_and(|(.., since)| !label.has_changed || now - since >= CHANGED);
            ui.add_enabled_ui(!labelling.is_saving && is_read, |ui| {
                ui.horizontal_wrapped(|ui| {
                    if main_button(ui, "Accept").on_hover_text("Enter or A").clicked() {
                        panel.ask(Command::Give(vec![id], best.clone(), 1));
                    }
                    let hover = format!("It is not {best}, and is not called that again (X)");
                    if ui.button("Reject").on_hover_text(hover).clicked() {
                        panel.ask(Command::Refuse(id, best.clone()));
                    }
                });
            });
            ui.add_space(4.0);
            for (place, (class, chance)) in ranking.iter().take(CHOICES).enumerate() {
                if choice_ui(ui, panel, place, class, *chance).clicked() && is_read && !labelling.is_saving {
                    panel.ask(Command::Give(vec![id], class.clone(), 1));
                }
            }
        }
    }
    let rejected = panel.state().and_then(|state| state.image(id)).map(|image| image.rejected.iter().cloned().collect::<Vec<_>>());
    if let Some(rejected) = rejected.filter(|rejected| !rejected.is_empty()) {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("You said: not").small().weak());
            for class in rejected {
                let hover = format!("Press to take that back: it may be {class} after all");
                if ui.small_button(format!("{class}  ×")).on_hover_text(hover).clicked() {
                    panel.ask(Command::Allow(id, class));
                }
            }
        });
    }
    ui.add_space(4.0);
    if let Some((class, keys)) = class_ui(ui, panel, false) {
        panel.ask(Command::Give(vec![id], class, keys));
    }
    ui.horizontal_wrapped(|ui| {
        let skip = ui.add_enabled(!labelling.is_saving, egui::Button::new("Skip"));
        if skip.on_hover_text("Something else first; it comes back after all others (Space)").clicked() {
            panel.ask(Command::Skip(id));
        }
        let is_first = labelling.given.is_empty();
        if ui.add_enabled(!is_first, egui::Button::new("Back")).on_hover_text("Take back what was said last (Backspace)").clicked() {
            panel.ask(Command::GoBack);
        }
    });
    let words = "Enter accepts, X rejects, Space skips, Backspace goes back, 1 to 9 choose; other letters begin a class, Tab or / one that \
                 begins with a or x.";
    ui.label(RichText::new(words).small().weak());
}

/// A class that can be chosen by its digit, with its chance.
pub(super) fn choice_ui(ui: &mut Ui, panel: &Panel<'_>, place: usize, class: &str, chance: f64) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{}: {class}, {:.0} %", place + 1, 100.0 * chance)));
    let painter = ui.painter();
    let rounding = CornerRadius::same(4);
    let ground = if response.hovered() || response.has_focus() { ui.visuals().selection.bg_fill } else { ui.visuals().faint_bg_color };
    painter.rect_filled(rect, rounding, ground);
    let full = Rect::from_min_size(pos2(rect.left(), rect.bottom() - 4.0), vec2(rect.width() * chance.clamp(0.0, 1.0) as f32, 4.0));
    painter.rect_filled(full, CornerRadius::same(2), panel.colour(class));
    let (font, text, weak) = (TextStyle::Small.resolve(ui.style()), ui.visuals().text_color(), ui.visuals().weak_text_color());
    let middle = rect.center().y - 1.0;
    painter.text(pos2(rect.left() + 8.0, middle), Align2::LEFT_CENTER, (place + 1).to_string(), font.clone(), weak);
    let name = one_line(ui, class, rect.width() - 76.0, text);
    painter.galley(pos2(rect.left() + 24.0, middle - name.size().y / 2.0), name, text);
    painter.text(pos2(rect.right() - 8.0, middle), Align2::RIGHT_CENTER, format!("{:.0} %", 100.0 * chance), font, text);
    response
}

fn meter_ui(ui: &mut Ui, panel: &Panel<'_>, meter: &Meter, learned: usize) {
    let census = &panel.view.census;
    let (labelled, images) = (census.images.saturating_sub(census.untagged), census.images);
    let share = labelled as f32 / images.max(1) as f32;
    ui.label(RichText::new(format!("{labelled} of {images} have a class")).small());
    ui.add(egui::ProgressBar::new(share).desired_height(6.0).corner_radius(3));
    egui::Grid::new("meter").num_columns(2).spacing(vec2(12.0, 1.0)).min_row_height(18.0).show(ui, |ui| {
        let mut row = |words: &str, value: String, hover: &str| {
            ui.label(words);
            ui.label(RichText::new(value).strong()).on_hover_text(hover);
            ui.end_row();
        };
        row("Labelled here", meter.labelled.to_string(), "Images labelled on this page since the library was opened");
        row("Corrected", meter.corrected.to_string(), "Those of another class than was suggested");
        let (right, of) = (meter.lately.right, meter.lately.of);
        let lately = if of == 0 { "–".to_owned() } else { format!("{:.0} % right", 100.0 * right as f64 / of as f64) };
        row(&format!("Last {}", if of == 0 { 50 } else { of }), lately, "How often the suggestion was right of late, where there was one");
        let (typing, pressed) = (meter.keys.typing, meter.keys.pressed);
        row(
            "Keys saved",
            (typing as i64 - pressed as i64).to_string(),
            "Against typing every class and Enter behind it; rejecting and skipping cost keys too, so that it may begin below none",
        );
        row("Learned from", count(learned, "label"), "Labels that the advisers have heard");
    });
}

/// What each adviser says and how much it is trusted.
pub(super) fn advisers_ui(ui: &mut Ui, panel: &Panel<'_>, advisers: &[Vote]) {
    for Vote { adviser, class, trust } in advisers {
        let (words, hover) = adviser_words(adviser);
        ui.horizontal(|ui| {
            let (rect, response) = ui.allocate_exact_size(vec2((ui.available_width() * 0.55).min(150.0), 22.0), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{words} is trusted {:.0} %", 100.0 * trust)));
            let text = one_line(ui, words, rect.width(), ui.visuals().text_color());
            ui.painter().galley(rect.left_top(), text, ui.visuals().text_color());
            let bar = Rect::from_min_max(pos2(rect.left(), rect.bottom() - 5.0), rect.right_bottom());
            ui.painter().rect_filled(bar, CornerRadius::same(2), ui.visuals().faint_bg_color);
            // Trust in who says nothing counts for nothing here.
            if class.is_some() {
                let full = Rect::from_min_size(bar.min, vec2(bar.width() * trust.clamp(0.0, 1.0) as f32, bar.height()));
                ui.painter().rect_filled(full, CornerRadius::same(2), theme::accent(ui));
            }
            response.on_hover_text(format!("{hover}. Trusted {:.0} % now, by how often it was right", 100.0 * trust));
            match class {
                Some(class) => {
                    let colour = panel.colour(class);
                    chip_ui(ui, class, colour, "");
                }
                None => drop(ui.label(RichText::new("says nothing").small().weak())),
            }
        });
    }
    ui.label(RichText::new("The bars show how much each is trusted now.").small().weak());
}

fn moved_ui(ui: &mut Ui, panel: &mut Panel<'_>, labelling: &Labelling) {
    let (moved, asked) = (labelling.changed.moved.len(), labelling.changed.asked);
    let words = match (asked, moved) {
        (0, _) => "Nothing yet.".to_owned(),
        (_, 0) => format!("No answer, of {} asked about.", count(asked, "image")),
        _ => format!("{moved} of {} asked about, by what they look like:", count(asked, "image")),
    };
    ui.label(RichText::new(words).small().weak());
    for moved in labelling.changed.moved.iter().take(12) {
        ui.horizontal(|ui| {
            if small_ui(ui, panel, moved.image, None, 36.0).on_hover_text("Take this one up next").clicked() {
                panel.ask(Command::TakeUp(moved.image));
            }
            line(ui, format!("{} → {}", moved.from, moved.to));
        });
    }
}
