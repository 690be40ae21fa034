//! Suggestions for images without a class: one image large, its suggestion with the votes of the
//! advisers, the next images, and the statistics.

use std::time::Duration;

use egui::{Key, Modifiers, RichText, ScrollArea, Ui, vec2};
use tessera_core::ids::ItemId;
use tessera_core::library::suggest::LabelOrder;

use super::class_field::class_ui;
use super::keys::{is_free, pressed, pressed_with};
use super::many::{batch, batch_side_ui, batch_ui};
use super::parts::{CHOICES, advisers_ui, choice_ui, mode_ui, picture_ui, small_ui};
use super::state::LabelView;
use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::class_keys::pressed_class;
use crate::gui::panel::Panel;
use crate::gui::widgets::{card_ui, chip_ui, class_heading_ui, class_words, line, main_button, nothing_ui};
use crate::gui::words::{count, grouped};
use crate::session::desk::labelling::{ChangedSuggestion, Labelling, LabellingStatistics};

pub(super) fn suggest_ui(ui: &mut Ui, panel: &mut Panel<'_>, view: &mut LabelView) {
    let Some(labelling) = panel.desk.labelling().shown() else {
        view.wants_batch = false;
        nothing_ui(ui, "Images are on their way", "They can be labelled once they are imported");
        return;
    };
    // This is checked also while a label is being saved.
    let goes_on = is_free(ui, panel) && view.burst.goes_on(ui, panel);
    head_ui(ui, panel, view, labelling);
    if view.batch.is_some() {
        view.reading.clear();
        batch_ui(ui, panel, &mut view.batch, &mut view.field, labelling);
        return;
    }
    let Some(id) = labelling.current() else {
        view.reading.clear();
        empty_ui(ui, panel, labelling);
        return;
    };
    let ranking = panel.desk.state().map(|state| labelling.ranking(state, id)).unwrap_or_default();
    let is_read = view.is_read(ui, id, &ranking);
    if !goes_on {
        keys(ui, panel, view, labelling, id, &ranking, is_read);
    }
    let likeliest = |id: ItemId| Some(labelling.likeliest(panel.state()?, id)?.0);
    let next: Vec<(ItemId, Option<String>)> = labelling.queue[1..].iter().take(40).map(|id| (*id, likeliest(*id))).collect();
    if let Some(chosen) = picture_ui(ui, panel, id, &next) {
        panel.ask(Command::TakeUp(chosen));
    }
}

/// The line above the image: the queue, its order, and the progress of the advisers.
fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>, view: &mut LabelView, labelling: &Labelling) {
    ui.horizontal_wrapped(|ui| {
        mode_ui(ui, &mut view.reviews);
        ui.separator();
        let words = |order: LabelOrder| match order {
            LabelOrder::Useful => "Most useful first",
            LabelOrder::Disagreement => "Disputed first",
            LabelOrder::Folder => "By folder",
            LabelOrder::Random => "By chance",
            LabelOrder::Given => "Typical first",
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
            None => {
                let words = format!("{} without a class", count(labelling.queue.len(), "image"));
                ui.add(egui::Label::new(RichText::new(words).weak()).extend());
            }
        }
        // A queue that is still being ordered is waited for.
        let waits = !labelling.is_arranged && !labelling.queue.is_empty();
        let asked = view.wants_batch && !waits;
        view.wants_batch &= waits;
        if view.batch.is_none() && labelling.current().is_some() {
            let hover = format!("{} ({})", Action::LabelMany.words().1, Action::LabelMany.key_words(ui.ctx()));
            if ui.button(Action::LabelMany.words().0).on_hover_text(hover).clicked() || asked {
                view.batch = batch(panel, labelling);
                view.field.text.clear();
            }
        }
        if let Some(snapshot) = panel.desk.labelling().progress().filter(|snapshot| snapshot.total > 0 && snapshot.done < snapshot.total) {
            ui.label(RichText::new(format!("{} {} of {}", snapshot.stage, snapshot.done, snapshot.total)).small().weak());
            ui.ctx().request_repaint_after(Duration::from_millis(150));
        }
    });
    ui.add_space(2.0);
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
            if !labelling.acts.is_empty() && ui.button("Back").on_hover_text("Backspace").clicked() {
                panel.ask(Command::GoBack);
            }
        });
        if is_free(ui, panel) && pressed(ui, Key::Backspace) {
            panel.ask(Command::GoBack);
        }
    }
}

fn keys(ui: &Ui, panel: &mut Panel<'_>, view: &mut LabelView, labelling: &Labelling, id: ItemId, ranking: &[(String, f64)], is_read: bool) {
    // Without a suggestion there is nothing to accept or reject, so X begins a class.
    let has_classes = panel.state().is_some_and(|state| !state.classes().is_empty());
    let taken: &[&str] = if ranking.is_empty() && !(has_classes && labelling.is_computing) { &[] } else { &["x"] };
    if !is_free(ui, panel) {
        return;
    }
    if has_classes && is_none_pressed(ui) {
        if is_read && !labelling.is_saving {
            panel.ask(Command::RejectAll(id));
        }
        return;
    }
    // A digit means the same class for every image, so that only the image has to be seen.
    if let Some(class) = pressed_class(ui, panel) {
        if view.reading.is_seen(ui, id) && !labelling.is_saving {
            panel.ask(Command::LabelNext(vec![id], class, 1));
        }
        return;
    }
    if view.field.begin(ui, taken) {
        return;
    }
    // While a label is being saved, a key would apply to the image that is about to leave.
    let counts = is_read && !labelling.is_saving;
    let has_focus = ui.ctx().memory(|memory| memory.focused().is_some());
    let shown = ranking.len().min(CHOICES);
    if !has_focus && shown > 0 {
        for (key, by) in [(Key::ArrowDown, 1), (Key::ArrowUp, shown - 1)] {
            if pressed(ui, key) {
                view.chosen = (view.chosen + by) % shown;
                view.moves += 1;
            }
        }
    }
    let chosen = ranking.get(view.chosen).map(|(class, _)| class.clone()).filter(|_| counts);
    let presses = view.moves + 1;
    if pressed(ui, Key::X) {
        if let Some(class) = chosen {
            view.burst.begin(ui);
            panel.ask(Command::Reject(id, class));
        }
    } else if !has_focus && pressed(ui, Key::Enter) {
        if let Some(class) = chosen {
            panel.ask(Command::LabelNext(vec![id], class, presses));
        }
    } else if !has_focus && pressed(ui, Key::Space) {
        if !labelling.is_saving {
            panel.ask(Command::Skip(id));
        }
    } else if pressed(ui, Key::Backspace) {
        panel.ask(Command::GoBack);
    }
}

/// Whether Shift+X was pressed, which begins no class then.
fn is_none_pressed(ui: &Ui) -> bool {
    let is_pressed = pressed_with(ui, Modifiers::SHIFT, Key::X);
    if is_pressed {
        ui.input_mut(|input| input.events.retain(|event| !matches!(event, egui::Event::Text(_))));
    }
    is_pressed
}

/// The suggestion, and what is known about it.
pub(super) fn side_ui(ui: &mut Ui, panel: &mut Panel<'_>, view: &mut LabelView) {
    let Some(labelling) = panel.desk.labelling().shown() else { return };
    ScrollArea::vertical().id_salt("label side").auto_shrink([false, false]).show(ui, |ui| {
        let current = labelling.current();
        if view.batch.is_some() {
            card_ui(ui, "Label many", |ui| batch_side_ui(ui, panel, &mut view.batch, &mut view.field));
        } else if let Some(id) = current {
            card_ui(ui, "", |ui| suggestion_ui(ui, panel, view, labelling, id));
        }
        let suggestion = current.filter(|_| view.batch.is_none()).and_then(|id| labelling.suggestions.get(&id));
        if let Some(suggestion) = suggestion {
            ui.add_space(6.0);
            card_ui(ui, "Who says what", |ui| advisers_ui(ui, panel, &suggestion.advisers));
        }
        ui.add_space(6.0);
        card_ui(ui, "How it goes", |ui| statistics_ui(ui, panel, &labelling.statistics(), labelling.learned));
        ui.add_space(6.0);
        card_ui(ui, "What the last label changed", |ui| moved_ui(ui, panel, labelling));
    });
}

fn suggestion_ui(ui: &mut Ui, panel: &mut Panel<'_>, view: &mut LabelView, labelling: &Labelling, id: ItemId) {
    let ranking = panel.desk.state().map(|state| labelling.ranking(state, id)).unwrap_or_default();
    let now = panel.state().and_then(|state| state.image(id)).and_then(|image| image.label()).map(str::to_owned);
    if let Some(now) = now {
        ui.label(RichText::new(format!("labelled {now}")).weak());
    }
    match ranking.first().cloned() {
        None => {
            let has_classes = panel.state().is_some_and(|state| !state.classes().is_empty());
            let (heading, words) = match (has_classes, labelling.is_computing) {
                (_, true) => ("…", "Suggestions are being computed; the class can be typed"),
                (true, _) => ("No suggestion", "Type its class below"),
                (false, _) => ("What is this?", "Type the first class and press Enter; suggestions begin with it"),
            };
            ui.label(RichText::new(heading).size(24.0).strong());
            ui.label(RichText::new(words).weak());
        }
        Some((first, first_chance)) => {
            let (best, chance) = ranking.get(view.chosen).cloned().unwrap_or((first, first_chance));
            class_heading_ui(ui, &best, 24.0);
            let is_only = panel.state().is_some_and(|state| state.classes().len() == 1);
            let words = if is_only { "the only class so far".to_owned() } else { format!("{:.0} % likely", 100.0 * chance) };
            let words = if view.reading.has_just_changed(ui) { format!("{words}, just changed") } else { words };
            let told = ui.label(RichText::new(words).weak());
            if !is_only {
                told.on_hover_text(
                    "The chance that those who suggest it give it among the classes that have a label, from how often they were right",
                );
            }
            let is_read = view.reading.is_settled(ui);
            ui.add_enabled_ui(!labelling.is_saving && is_read, |ui| {
                ui.horizontal_wrapped(|ui| {
                    if main_button(ui, "Accept").on_hover_text("Enter").clicked() {
                        panel.ask(Command::LabelNext(vec![id], best.clone(), 1));
                    }
                    let hover = format!("It is not {best}, and is not called that again (X)");
                    if ui.button("Reject").on_hover_text(hover).clicked() {
                        panel.ask(Command::Reject(id, best.clone()));
                    }
                });
            });
            ui.add_space(4.0);
            for (place, (class, chance)) in ranking.iter().take(CHOICES).enumerate() {
                if choice_ui(ui, panel, class, (!is_only).then_some(*chance), place == view.chosen).clicked()
                    && is_read
                    && !labelling.is_saving
                {
                    panel.ask(Command::LabelNext(vec![id], class.clone(), 1));
                }
            }
        }
    }
    let rejected = panel.state().and_then(|state| state.image(id)).map(|image| image.rejected.iter().cloned().collect::<Vec<_>>());
    if let Some(rejected) = rejected.filter(|rejected| !rejected.is_empty()) {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("You rejected").small().weak());
            for class in rejected {
                let hover = format!("Press to take that back: it may be {class} after all");
                if ui.small_button(format!("{class}  ×")).on_hover_text(hover).clicked() {
                    panel.ask(Command::AllowAgain(id, class));
                }
            }
        });
    }
    ui.add_space(4.0);
    if let Some((class, keys)) = class_ui(ui, panel, &mut view.field, false) {
        panel.ask(Command::LabelNext(vec![id], class, keys));
    }
    ui.horizontal_wrapped(|ui| {
        let skip = ui.add_enabled(!labelling.is_saving, egui::Button::new("Skip"));
        if skip.on_hover_text("Something else first; it comes back after all others (Space)").clicked() {
            panel.ask(Command::Skip(id));
        }
        let has_classes = panel.state().is_some_and(|state| !state.classes().is_empty());
        let none = ui.add_enabled(!labelling.is_saving && has_classes, egui::Button::new("None of these"));
        let hover = "It is of no class that there is: it leaves the queue; among all images without a class it comes back when there is a new one (Shift+X)";
        if none.on_hover_text(hover).clicked() {
            panel.ask(Command::RejectAll(id));
        }
        let is_first = labelling.acts.is_empty();
        if ui.add_enabled(!is_first, egui::Button::new("Back")).on_hover_text("Take back what was said last (Backspace)").clicked() {
            panel.ask(Command::GoBack);
        }
    });
    let words = "Enter accepts, Up and Down go through the suggestions, X rejects, Shift+X rejects all, Space skips, Backspace goes back. A digit gives the class \
                 that has it here and in Browse; other letters begin a class, Tab or / one that begins with x.";
    ui.label(RichText::new(words).small().weak());
}

fn statistics_ui(ui: &mut Ui, panel: &Panel<'_>, statistics: &LabellingStatistics, learned: usize) {
    let census = panel.view.shown.census();
    let (labelled, images) = (census.images.saturating_sub(census.untagged), census.images);
    let share = labelled as f32 / images.max(1) as f32;
    ui.label(RichText::new(format!("{} of {} have a class", grouped(labelled), grouped(images))).small());
    ui.add(egui::ProgressBar::new(share).desired_height(6.0).corner_radius(3));
    egui::Grid::new("statistics").num_columns(2).spacing(vec2(12.0, 1.0)).min_row_height(18.0).show(ui, |ui| {
        let mut row = |words: &str, value: String, hover: &str| {
            ui.label(words);
            ui.label(RichText::new(value).strong()).on_hover_text(hover);
            ui.end_row();
        };
        row("Labelled here", statistics.labelled.to_string(), "Images labelled on this page since the library was opened");
        row("Corrected", statistics.corrected.to_string(), "Those of another class than was suggested");
        let (right, of) = (statistics.recent.right, statistics.recent.of);
        let lately = if of == 0 { "–".to_owned() } else { format!("{:.0} % right", 100.0 * right as f64 / of as f64) };
        row(&format!("Last {}", if of == 0 { 50 } else { of }), lately, "How often the suggestion was right of late, where there was one");
        let (typing, pressed) = (statistics.keys.typing, statistics.keys.pressed);
        row(
            "Keys saved",
            typing.saturating_sub(pressed).to_string(),
            "Against typing every class and Enter behind it; rejecting and skipping cost keys too, and until that is made up for none are saved",
        );
        row("Learned from", count(learned, "label"), "Labels that the advisers have heard");
    });
}

fn moved_ui(ui: &mut Ui, panel: &mut Panel<'_>, labelling: &Labelling) {
    let (moved, asked) = (labelling.changed.moved.len(), labelling.changed.asked);
    let words = match (asked, moved) {
        (0, _) => "Nothing yet.".to_owned(),
        (_, 0) => format!("No answer, of {} asked about.", count(asked, "image")),
        _ => format!("{moved} of {} asked about, by what they look like:", count(asked, "image")),
    };
    ui.label(RichText::new(words).small().weak());
    // Those that all advisers were asked about may be suggested otherwise all the same.
    let likeliest = |image| panel.state().and_then(|state| labelling.likeliest(state, image));
    let holds = |moved: &&ChangedSuggestion| likeliest(moved.image).is_none_or(|(class, _)| class == moved.to);
    let listed: Vec<&ChangedSuggestion> = labelling.changed.moved.iter().filter(holds).take(12).collect();
    for moved in listed {
        ui.horizontal(|ui| {
            if small_ui(ui, panel, moved.image, None, 36.0).on_hover_text("Take this one up next").clicked() {
                panel.ask(Command::TakeUp(moved.image));
            }
            let room = (ui.available_width() - 30.0) / 2.0;
            let [from, to] = [&moved.from, &moved.to].map(|class| class_words(ui, class, room));
            line(ui, format!("{from} ➡ {to}")).on_hover_text(format!("{} ➡ {}", moved.from, moved.to));
        });
    }
}
