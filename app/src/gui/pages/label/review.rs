//! The review: labels that look wrong, the most doubtful first, with the evidence against them;
//! each is kept or changed by one key.

use egui::{Key, RichText, ScrollArea, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::event::UserLabel;
use tessera_core::library::suggest::Doubt;

use super::class_field::class_ui;
use super::keys::{is_free, pressed};
use super::parts::{CHOICES, advisers_ui, choice_ui, mode_ui, picture_ui, small_ui};
use super::state::LabelView;
use crate::command::{Command, ImageQuery};
use crate::gui::actions::Action;
use crate::gui::class_keys::pressed_class;
use crate::gui::panel::Panel;
use crate::gui::widgets::{card_ui, class_heading_ui, main_button, nothing_ui};
use crate::gui::words::count;
use crate::job::JobKind;

/// The doubt on the screen, and its place in the list.
fn current<'a>(view: &mut LabelView, doubts: &'a [Doubt]) -> Option<(usize, &'a Doubt)> {
    let place = view.doubt.min(doubts.len().checked_sub(1)?);
    view.doubt = place;
    Some((place, &doubts[place]))
}

pub(super) fn review_ui(ui: &mut Ui, panel: &mut Panel<'_>, view: &mut LabelView) {
    let desk = panel.desk;
    let reviewed =
        desk.labelling().shown().and_then(|labelling| Some((labelling.review.reviewed.clone()?, labelling.review.doubts.as_slice())));
    let is_running = panel.desk.jobs().is_running(&JobKind::Review);
    ui.horizontal_wrapped(|ui| {
        mode_ui(ui, &mut view.reviews);
        ui.separator();
        if let Some((reviewed, doubts)) = &reviewed {
            let mut words = format!("{} of {} doubted", doubts.len(), count(reviewed.judged, "label"));
            if reviewed.passed > 0 {
                words += &format!("; {} could not be judged", reviewed.passed);
            }
            if reviewed.left > 0 {
                words += &format!("; {} not judged yet", reviewed.left);
            }
            let hover = "A label cannot be judged where its class has no other object, or its image cannot be read";
            let copies = "Names do not tell which object an image shows: near copies with the same wrong label speak for it";
            // No name of a photograph tells an object: that is worth a warning among views alone.
            let some = Some(reviewed.objects_unknown).filter(|n| (1..reviewed.judged + reviewed.passed).contains(n));
            let hover = if reviewed.objects_unknown > 0 && some.is_none() { format!("{hover}.\n{copies}") } else { hover.to_owned() };
            ui.label(RichText::new(words).weak()).on_hover_text(hover);
            if let Some(n) = some {
                let words = format!("{} whose object is unknown", count(n, "image"));
                ui.colored_label(ui.visuals().warn_fg_color, words).on_hover_text(copies);
            }
            if ui.add_enabled(!is_running, egui::Button::new("Review again")).clicked() {
                panel.act(Action::Review);
            }
            if desk.labelling().shown().is_some_and(|labelling| labelling.review.is_stale) {
                ui.label(RichText::new("Labels have changed since this was measured.").weak());
            }
        }
    });
    ui.add_space(2.0);
    let Some((reviewed, doubts)) = reviewed else {
        view.reading.clear();
        if is_running {
            nothing_ui(ui, "Looking at every label", "Each is judged by advisers that never saw its object; stopping keeps what was found");
        } else {
            nothing_ui(ui, "Labels that look wrong", "Each label is judged by advisers that never saw its object");
            ui.vertical_centered(|ui| {
                if main_button(ui, "Review labels").clicked() {
                    panel.act(Action::Review);
                }
            });
        }
        return;
    };
    let Some((place, doubt)) = current(view, doubts) else {
        view.reading.clear();
        let words = match (reviewed.judged, reviewed.doubts.len()) {
            (0, _) => "No label could be judged: two classes of two objects each are needed",
            (_, 0) => "The advisers agree with every label that they could judge",
            _ => "All that was found is settled",
        };
        nothing_ui(ui, "No label is doubted", words);
        return;
    };
    if view.reviewed.replace(doubt.image) != Some(doubt.image) && !ui.ctx().text_edit_focused() {
        // The unfinished text was meant for another image.
        view.field.text.clear();
    }
    let is_read = view.is_read(ui, doubt.image, &doubt.instead);
    keys(ui, panel, view, doubts.len(), place, doubt, is_read);
    let next: Vec<(ItemId, Option<String>)> =
        doubts[place + 1..].iter().take(40).map(|doubt| (doubt.image, Some(doubt.label.0.clone()))).collect();
    if let Some(chosen) = picture_ui(ui, panel, doubt.image, &next) {
        view.doubt = doubts.iter().position(|doubt| doubt.image == chosen).unwrap_or(place);
    }
}

fn keys(ui: &Ui, panel: &mut Panel<'_>, view: &mut LabelView, n: usize, place: usize, doubt: &Doubt, is_read: bool) {
    if !is_free(ui, panel) {
        return;
    }
    if let Some(class) = pressed_class(ui, panel) {
        if view.reading.is_seen(ui, doubt.image) {
            panel.ask(Command::Label(vec![doubt.image], UserLabel::Class(class)));
        }
        return;
    }
    if view.field.begin(ui, &[]) {
        return;
    }
    let has_focus = ui.ctx().memory(|memory| memory.focused().is_some());
    if !has_focus && pressed(ui, Key::Enter) {
        if is_read {
            keep(panel, doubt);
        }
    } else if !has_focus && pressed(ui, Key::Space) {
        view.doubt = (place + 1) % n;
    } else if pressed(ui, Key::Backspace) {
        view.doubt = place.saturating_sub(1);
    }
}

/// Confirms the label, and rejects the classes that were suggested instead.
fn keep(panel: &mut Panel<'_>, doubt: &Doubt) {
    let not = doubt.instead.iter().map(|(class, _)| class.clone()).collect();
    panel.ask(Command::Confirm(doubt.image, not));
}

pub(super) fn side_ui(ui: &mut Ui, panel: &mut Panel<'_>, view: &mut LabelView) {
    let desk = panel.desk;
    let doubts = desk.labelling().shown().map_or(&[][..], |labelling| labelling.review.doubts.as_slice());
    let Some((place, doubt)) = current(view, doubts) else { return };
    let is_read = view.reading.is_done(ui, doubt.image);
    ScrollArea::vertical().id_salt("review side").auto_shrink([false, false]).show(ui, |ui| {
        card_ui(ui, "", |ui| {
            let (label, chance) = &doubt.label;
            ui.label(RichText::new(format!("{} of {}", place + 1, doubts.len())).small().weak());
            class_heading_ui(ui, label, 24.0);
            let words = format!("its label, {:.0} % likely", 100.0 * chance);
            ui.label(RichText::new(words).weak()).on_hover_text("The chance given to it by advisers that never saw its object");
            let hover = format!("It is {label}, and none of the classes below (Enter)");
            if main_button(ui, &format!("Keep {label}")).on_hover_text(hover).clicked() && is_read {
                keep(panel, doubt);
            }
            ui.add_space(4.0);
            ui.label(RichText::new("Rather:").weak());
            for (class, chance) in doubt.instead.iter().take(CHOICES) {
                if choice_ui(ui, panel, class, Some(*chance), false).clicked() && is_read {
                    panel.ask(Command::Label(vec![doubt.image], UserLabel::Class(class.clone())));
                }
            }
            if let Some((class, _)) = class_ui(ui, panel, &mut view.field, false) {
                panel.ask(Command::Label(vec![doubt.image], UserLabel::Class(class)));
            }
            ui.horizontal_wrapped(|ui| {
                if ui.button("Next").on_hover_text("Space").clicked() {
                    view.doubt = (place + 1) % doubts.len();
                }
                if ui.button("Previous").on_hover_text("Backspace").clicked() {
                    view.doubt = place.saturating_sub(1);
                }
            });
            let words = "Enter keeps the label, a digit gives the class that has it, Space goes on; other letters begin a class. Ctrl+Z takes back.";
            ui.label(RichText::new(words).small().weak());
        });
        ui.add_space(6.0);
        card_ui(ui, "Who says what", |ui| advisers_ui(ui, panel, &doubt.advisers));
        ui.add_space(6.0);
        card_ui(ui, "Most like it", |ui| {
            ui.horizontal_wrapped(|ui| {
                for (image, class) in &doubt.alike {
                    if small_ui(ui, panel, *image, Some(class), 84.0).on_hover_text("Look at this one").clicked() {
                        panel.view.look_at(*image);
                    }
                }
            });
        });
        if ui.button("Why does the recogniser say so?").on_hover_text("Its pieces, and those that they were matched with").clicked() {
            panel.ask(Command::Recognise(ImageQuery::Item(doubt.image)));
        }
    });
}
