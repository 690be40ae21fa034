//! Labelling many images at once: those with the same suggestion, or chosen ones; some can be left
//! out.

use std::collections::{BTreeSet, HashSet};

use egui::{Align2, CornerRadius, Key, Modifiers, RichText, ScrollArea, TextStyle, Ui, vec2};
use tessera_core::ids::ItemId;

use super::class_field::{ClassField, class_ui};
use super::keys::{is_free, pressed};
use super::parts::small_ui;
use crate::command::Command;
use crate::gui::panel::Panel;
use crate::gui::theme;
use crate::gui::widgets::{class_heading_ui, main_button};
use crate::gui::words::count;
use crate::session::desk::labelling::Labelling;

/// Images in a batch at most.
const MANY: usize = 60;
/// The side of each, in points.
const WIDTH: f32 = 112.0;

/// A batch: images that are labelled at once.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Their class.
    pub class: String,
    /// Whether the user wrote it.
    pub is_written: bool,
    /// All of them.
    pub images: Vec<ItemId>,
    /// Those that are left out.
    pub left_out: BTreeSet<ItemId>,
    /// Key presses and clicks so far.
    presses: usize,
    /// The position of the keyboard cursor, once it was moved.
    at: Option<usize>,
}

/// The images with the same suggestion as the current one, or all that were chosen.
pub(super) fn batch(panel: &Panel<'_>, labelling: &Labelling) -> Option<Batch> {
    let (id, state) = (labelling.current()?, panel.state()?);
    let class = labelling.likeliest(state, id).map(|(class, _)| class).unwrap_or_default();
    let mut images: Vec<(ItemId, f64)> = match &labelling.only {
        Some(_) => labelling.queue.iter().map(|id| (*id, 0.0)).collect(),
        None => {
            let likeliest = |id: &ItemId| labelling.likeliest(state, *id).filter(|(likeliest, _)| *likeliest == class);
            let others = labelling.queue.iter().filter(|other| **other != id);
            others.filter_map(|other| Some((*other, likeliest(other)?.1))).collect()
        }
    };
    images.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut left_out = BTreeSet::new();
    if labelling.only.is_none() {
        images.insert(0, (id, 1.0));
        // Images that are more likely of another class are left out at first.
        left_out.extend(images.iter().filter(|(_, chance)| *chance < 0.5).map(|(id, _)| *id));
    } else if !class.is_empty() {
        // So are chosen images that have another class, another suggestion, or a rejection of this
        // class.
        let is_other = |of: Option<&str>| of.is_some_and(|of| of != class);
        let likeliest = |id: &ItemId| labelling.likeliest(state, *id).map(|(class, _)| class);
        let is_rejected = |id: &ItemId| state.image(*id).is_some_and(|image| image.rejected.contains(&class));
        let is_out = |id: &ItemId| is_other(panel.label_of(*id)) || is_other(likeliest(id).as_deref()) || is_rejected(id);
        left_out.extend(images.iter().map(|(id, _)| *id).filter(|other| *other != id && is_out(other)));
    }
    let images: Vec<ItemId> = images.into_iter().take(MANY).map(|(id, _)| id).collect();
    left_out.retain(|id| images.contains(id));
    Some(Batch { class, is_written: false, images, left_out, presses: 1, at: None })
}

impl Batch {
    /// The images that are not left out.
    fn taken_in(&self) -> impl Iterator<Item = ItemId> {
        self.images.iter().copied().filter(|id| !self.left_out.contains(id))
    }

    /// Clears a class that was deleted meanwhile, so that it is not created again, unless the user
    /// typed it.
    fn let_go_of_class(&mut self, panel: &Panel<'_>) {
        if !self.is_written && panel.state().is_none_or(|state| state.class(&self.class).is_none()) {
            self.class.clear();
        }
    }

    fn toggle(&mut self, id: ItemId) {
        self.presses += 1;
        if !self.left_out.remove(&id) {
            self.left_out.insert(id);
        }
    }

    /// Handles the keys that move the cursor among so many columns and take images in or out.
    /// Returns whether the cursor moved.
    fn keys(&mut self, ui: &Ui, columns: usize) -> bool {
        let last = self.images.len().saturating_sub(1);
        let (before, columns) = (self.at, columns as isize);
        for (key, by) in [(Key::ArrowRight, 1), (Key::ArrowLeft, -1), (Key::ArrowDown, columns), (Key::ArrowUp, -columns)] {
            let presses = ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
            if presses > 0 {
                self.at = Some(self.at.map_or(0, |at| at.saturating_add_signed(by * presses as isize).min(last)));
            }
        }
        if pressed(ui, Key::Home) {
            self.at = Some(0);
        }
        if pressed(ui, Key::End) {
            self.at = Some(last);
        }
        if pressed(ui, Key::Space)
            && let Some(id) = self.images.get(self.at.unwrap_or(0)).copied()
        {
            self.at = Some(self.at.unwrap_or(0));
            self.toggle(id);
        }
        self.at != before
    }
}

/// Paints the images of the batch; pressing one leaves it out or takes it in.
pub(super) fn batch_ui(ui: &mut Ui, panel: &mut Panel<'_>, shown: &mut Option<Batch>, field: &mut ClassField, labelling: &Labelling) {
    let Some(mut batch) = shown.take() else { return };
    batch.let_go_of_class(panel);
    // Images that were labelled elsewhere meanwhile leave the batch.
    let queue: HashSet<ItemId> = labelling.queue.iter().copied().collect();
    let at = batch.at.and_then(|at| batch.images.get(at).copied());
    batch.images.retain(|id| queue.contains(id));
    if batch.images.is_empty() {
        return;
    }
    batch.at = at.and_then(|at| batch.images.iter().position(|id| *id == at));
    let is_free = is_free(ui, panel);
    // Escape has already taken the focus from its widget here, so the focus of the last frame
    // counts.
    let had_focus = field.had_focus;
    let begins = is_free && field.begin(ui, &[]);
    let are_own = is_free && !begins && !had_focus && ui.ctx().memory(|memory| memory.focused().is_none());
    ScrollArea::vertical().id_salt("batch").auto_shrink([false, false]).show(ui, |ui| {
        let columns = ((ui.available_width() + ui.spacing().item_spacing.x) / (WIDTH + ui.spacing().item_spacing.x)).max(1.0);
        let has_moved = are_own && batch.keys(ui, columns as usize);
        ui.horizontal_wrapped(|ui| {
            for (place, id) in batch.images.clone().into_iter().enumerate() {
                let is_in = !batch.left_out.contains(&id);
                let class = if is_in { Some(batch.class.clone()) } else { panel.label_of(id).map(str::to_owned) };
                let response = small_ui(ui, panel, id, class.as_deref(), WIDTH);
                if is_in {
                    let sign = response.rect.left_top() + vec2(14.0, 14.0);
                    ui.painter().circle_filled(sign, 9.0, theme::accent(ui));
                    let font = TextStyle::Small.resolve(ui.style());
                    ui.painter().text(sign, Align2::CENTER_CENTER, "✔", font, theme::on_accent(ui));
                } else {
                    ui.painter().rect_filled(response.rect, CornerRadius::ZERO, ui.visuals().panel_fill.gamma_multiply(0.6));
                }
                if batch.at == Some(place) {
                    ui.painter().rect_stroke(response.rect, CornerRadius::same(4), theme::focus(ui), egui::StrokeKind::Inside);
                    if has_moved {
                        response.scroll_to_me(None);
                    }
                }
                if response.on_hover_text(if is_in { "Press to leave it out" } else { "Press to take it in" }).clicked() {
                    batch.toggle(id);
                }
            }
        });
    });
    *shown = Some(batch);
    if are_own {
        if pressed(ui, Key::Escape) {
            *shown = None;
        } else if pressed(ui, Key::Enter) {
            give(panel, shown, field);
        }
    }
}

/// The class of the batch, with the buttons that label or cancel.
pub(super) fn batch_side_ui(ui: &mut Ui, panel: &mut Panel<'_>, shown: &mut Option<Batch>, field: &mut ClassField) {
    let Some(batch) = shown else { return };
    batch.let_go_of_class(panel);
    let n = batch.taken_in().count();
    class_heading_ui(ui, if batch.class.is_empty() { "…" } else { &batch.class }, 24.0);
    let all = panel.desk.labelling().shown().filter(|labelling| labelling.only.is_some()).map_or(0, |labelling| labelling.queue.len());
    if all > batch.images.len() {
        ui.label(format!("The first {} of {all}", batch.images.len()));
    }
    let others = batch.taken_in().filter(|id| panel.label_of(*id).is_some_and(|class| class != batch.class)).count();
    if others > 0 {
        let words = format!("{} of another class by now", count(others, "image"));
        ui.label(RichText::new(words).color(ui.visuals().warn_fg_color));
    }
    let is_written = !field.text.trim().is_empty();
    let (mut gives, mut cancels) = (false, false);
    ui.horizontal_wrapped(|ui| {
        let ready = n > 0 && (is_written || !batch.class.is_empty());
        gives = ui.add_enabled_ui(ready, |ui| main_button(ui, &format!("Label {}", count(n, "image")))).inner.clicked();
        cancels = ui.button("Cancel").on_hover_text("Esc").clicked();
    });
    ui.horizontal_wrapped(|ui| {
        let before = batch.left_out.len();
        if ui.button("Take all in").clicked() {
            batch.left_out.clear();
        }
        if ui.button("Leave all out").clicked() {
            batch.left_out.extend(batch.images.iter().copied());
        }
        batch.presses += usize::from(batch.left_out.len() != before);
    });
    let words = "Press images, or go to them with the arrow keys and press Space, to leave them out or take them in; letters begin another \
                 class; Enter labels, Esc does not.";
    ui.label(RichText::new(words).small().weak());
    let written = class_ui(ui, panel, field, true).map(|(class, _)| class).or_else(|| field.class(panel).filter(|_| gives));
    if let Some(class) = written {
        (batch.class, batch.is_written) = (class, true);
    }
    if cancels {
        *shown = None;
    } else if gives {
        give(panel, shown, field);
    }
}

/// Labels the images that are not left out.
fn give(panel: &mut Panel<'_>, shown: &mut Option<Batch>, field: &mut ClassField) {
    let is_saving = panel.desk.labelling().shown().is_some_and(|labelling| labelling.is_saving);
    let Some(batch) = shown.as_ref().filter(|batch| !is_saving && !batch.class.is_empty()) else { return };
    let images: Vec<ItemId> = batch.taken_in().collect();
    if !images.is_empty() {
        panel.ask(Command::LabelNext(images, batch.class.clone(), batch.presses + 1));
        field.text.clear();
        *shown = None;
    }
}
