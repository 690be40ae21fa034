//! The page of near copies: groups at the left, two images of one side by side, and what to keep.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{
    Align2, Color32, CornerRadius, FontId, Key, Modifiers, Panel as Side, Rect, Response, RichText, ScrollArea, Sense, Ui, Vec2, vec2,
};
use tessera_core::copies::{NEAR, SIMILAR};
use tessera_core::error::display;
use tessera_core::ids::ItemId;
use tessera_core::library::clearance::Clearance;
use tessera_core::library::copies::Copy;
use tessera_core::library::state::{Image, Place, State};
use tessera_core::utc::utc;

use super::label::keys::{is_free, pressed};
use crate::command::Command;
use crate::gui::modal::Modal;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::theme;
use crate::gui::view::Pictured;
use crate::gui::widgets::{WHOLE, confined_ui, fitted, line, main_button, nothing_ui, page_frame};
use crate::gui::words::{bytes, count, grouped};
use crate::job::JobKind;
use crate::session::desk::near_copies::{CopiesToClear, CopyGroup};

/// Distances that can be chosen, with their names and what they mean.
const DISTANCES: [(f64, &str, &str); 3] = [
    (0.0, "Identical", "The same pixels"),
    (NEAR, "Near", "Recompressed, resized, rotated, mirrored or cropped"),
    (SIMILAR, "Similar", "Also photos of one scene a moment later"),
];
/// The height of a group in the list.
const ROW: f32 = 56.0;
/// Thumbnails of a group in the list, at most.
const SHOWN: usize = 3;
/// Points below the two pictures for what is said of them, at least.
const BELOW: f32 = 120.0;
/// The largest zoom, in shares of that at which a picture fits.
const CLOSE: f32 = 40.0;

/// The state of the page.
pub struct CopiesView {
    distance: f64,
    /// The group that is shown.
    group: usize,
    /// The image of it at the right.
    copy: usize,
    /// The best image of the group that was shown last.
    shown: Option<ItemId>,
    /// Whether the list is to be scrolled to the group.
    is_hidden: bool,
    /// Points that what is said below the two pictures took last: in a narrow window its buttons
    /// take two lines.
    below: f32,
    /// Shares of the size at which a picture fits, and the point of it in the middle, for both.
    zoom: f32,
    middle: Vec2,
    /// Whether the files of removed images go to the bin of the system.
    to_bin: bool,
    /// Whether the right picture is where both differ.
    shows_difference: bool,
}

impl Default for CopiesView {
    fn default() -> Self {
        Self {
            distance: NEAR,
            group: 0,
            copy: 1,
            shown: None,
            is_hidden: false,
            below: BELOW,
            zoom: 1.0,
            middle: Vec2::splat(0.5),
            to_bin: false,
            shows_difference: false,
        }
    }
}

impl PageUi for CopiesView {
    fn sides_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let frame = page_frame(ui);
        let groups = Arc::clone(panel.desk.near_copies().groups());
        Side::top("copies choices").frame(frame).show(ui, |ui| self.search_ui(ui, panel, &groups));
        if !groups.is_empty() {
            Side::left("copies").frame(frame).default_size(230.0).size_range(150.0..=420.0).show(ui, |ui| {
                confined_ui(ui, |ui| self.list_ui(ui, panel, &groups));
            });
        }
    }

    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let groups = Arc::clone(panel.desk.near_copies().groups());
        if groups.is_empty() {
            let (heading, words) = match (panel.desk.near_copies().distance(), panel.desk.jobs().is_running(&JobKind::FindCopies)) {
                (_, true) => ("Looking for copies", "Every image is compared with those that may be copies of it"),
                (Some(_), _) => ("No copies", "No two images are as near each other as that"),
                (None, _) => {
                    ("Copies in this library", "Recompressed, resized, rotated, mirrored or cropped: nothing is changed by looking")
                }
            };
            nothing_ui(ui, heading, words);
            return;
        }
        self.keys(ui, panel, &groups);
        self.group = self.group.min(groups.len() - 1);
        let group = &groups[self.group];
        if self.shown.replace(group.images[0].image) != Some(group.images[0].image) {
            (self.copy, self.zoom, self.middle) = (1, 1.0, Vec2::splat(0.5));
        }
        self.copy = self.copy.clamp(1, (group.images.len() - 1).max(1));
        self.group_ui(ui, panel, group);
    }
}

impl CopiesView {
    /// The distance, the count, and what can be done to all groups.
    fn search_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, groups: &[CopyGroup]) {
        ui.horizontal_wrapped(|ui| {
            for (distance, name, hover) in DISTANCES {
                ui.selectable_value(&mut self.distance, distance, name).on_hover_text(hover);
            }
            match panel.desk.jobs().of(&JobKind::FindCopies) {
                Some(job) => {
                    ui.spinner();
                    if ui.button("Stop").clicked() {
                        panel.ask(Command::Cancel(job.id));
                    }
                }
                None if main_button(ui, "Find copies").on_hover_text("Looks through the whole library; changes nothing").clicked() => {
                    panel.ask(Command::FindCopies(self.distance));
                }
                None => {}
            }
            if groups.is_empty() {
                return;
            }
            let of = |wanted: f64| DISTANCES.iter().find(|(distance, ..)| *distance == wanted).map_or("another distance", |(_, name, _)| *name);
            if let Some(found) = panel.desk.near_copies().distance().filter(|found| *found != self.distance) {
                let words = format!("These were found at {}: press Find copies to find those at {}", of(found), of(self.distance));
                ui.colored_label(ui.visuals().warn_fg_color, words);
            }
            let new = panel.desk.near_copies().new_files();
            if new > 0 {
                let words = format!("{} came since: press Find copies to look at them too", count(new, "file"));
                ui.colored_label(ui.visuals().warn_fg_color, words);
            }
            let files: usize = groups.iter().map(|group| group.files).sum();
            ui.label(RichText::new(format!("{} of {}", count(groups.len(), "group"), count(files, "file"))).strong());
            let further: usize = groups.iter().map(|group| group.further).sum();
            if further > 0 {
                let words = format!("Move {} of the same bytes to the bin", count(further, "further file"));
                let hover = "Of each image that lies in several files of the same bytes, the oldest stays; the images stay in the library";
                if ui.button(words).on_hover_text(hover).clicked() {
                    panel.view.open(Modal::FilesToBin(Arc::new(further_files(panel, groups))));
                }
            }
            let others: usize = groups.iter().filter_map(|group| clearance(group, 0)).map(|clearance| clearance.removed.len()).sum();
            if others == 0 {
                return;
            }
            let words = format!("Remove {} and keep the best of each group", count(others, "image"));
            let hover = "Tells what they are and asks; then takes them, or only the surest, out of the library in one act";
            if ui.button(words).on_hover_text(hover).clicked()
                && let Some(copies) = panel.state().map(|state| CopiesToClear::of(groups, state))
            {
                panel.view.open(Modal::ClearCopies(Arc::new(copies), self.to_bin));
            }
            let views: usize = groups.iter().map(|group| group.views).sum();
            if views > 0 {
                let words = format!("{} of them may be other views of one object", grouped(views));
                let hover = "Folders or names say that they show the same object as the best of their group: look at them first, and press N \
                             where one is no copy";
                ui.colored_label(ui.visuals().warn_fg_color, words).on_hover_text(hover);
            }
            let hover = "Files of images that are removed here are moved to the bin of the system, from which an undo puts them back. \
                         They go only while the file that is kept is there";
            ui.checkbox(&mut self.to_bin, "Files to the bin").on_hover_text(hover);
        });
    }

    fn list_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, groups: &[CopyGroup]) {
        let mut area = ScrollArea::vertical().id_salt("groups").auto_shrink([false, false]);
        if std::mem::take(&mut self.is_hidden) {
            let above = (ui.available_height() / ROW / 2.0).floor();
            area = area.vertical_scroll_offset((self.group as f32 - above).max(0.0) * (ROW + ui.spacing().item_spacing.y));
        }
        area.show_rows(ui, ROW, groups.len(), |ui, rows| {
            for at in rows {
                let group = &groups[at];
                let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
                let words = format!("Group {}: {}", at + 1, count(group.files, "file"));
                response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, at == self.group, &words));
                if at == self.group {
                    ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), ui.visuals().selection.bg_fill);
                } else if response.hovered() || response.has_focus() {
                    ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), ui.visuals().widgets.hovered.bg_fill);
                }
                let side = ROW - 8.0;
                for (place, copy) in group.images.iter().take(SHOWN).enumerate() {
                    let min = rect.min + vec2(4.0 + place as f32 * (side + 4.0), 4.0);
                    thumbnail(ui, panel, copy.image, Rect::from_min_size(min, Vec2::splat(side)));
                }
                let colour = if at == self.group { ui.visuals().strong_text_color() } else { ui.visuals().text_color() };
                let end = rect.right_center() - vec2(6.0, 0.0);
                ui.painter().text(end, Align2::RIGHT_CENTER, group.files.to_string(), FontId::proportional(14.0), colour);
                if response.on_hover_text(words).clicked() {
                    self.turn_to(at);
                }
            }
        });
    }

    fn turn_to(&mut self, group: usize) {
        let Self { distance, below, to_bin, shows_difference, .. } = *self;
        *self = Self { group, distance, below, to_bin, shows_difference, ..Self::default() };
    }

    /// Turns to a group that may be out of sight in the list.
    fn step_to(&mut self, group: usize) {
        self.turn_to(group);
        self.is_hidden = true;
    }

    fn keys(&mut self, ui: &Ui, panel: &mut Panel<'_>, groups: &[CopyGroup]) {
        if !is_free(ui, panel) {
            return;
        }
        let at = self.group.min(groups.len() - 1);
        let group = &groups[at];
        let has_focus = ui.ctx().memory(|memory| memory.focused().is_some());
        let arrows = [Key::ArrowUp, Key::ArrowDown, Key::ArrowLeft, Key::ArrowRight];
        if let Some(arrow) = arrows.into_iter().find(|arrow| ui.input_mut(|input| input.consume_key(Modifiers::NONE, *arrow))) {
            // Arrows also lead from one button to the next; here they choose pictures.
            ui.memory_mut(|memory| {
                memory.move_focus(egui::FocusDirection::None);
                memory.focused().into_iter().for_each(|focused| memory.surrender_focus(focused));
            });
            match arrow {
                Key::ArrowUp => self.step_to(at.saturating_sub(1)),
                Key::ArrowDown => self.step_to((at + 1).min(groups.len() - 1)),
                Key::ArrowLeft => self.copy = self.copy.saturating_sub(1).max(1),
                _ => self.copy = (self.copy + 1).min((group.images.len() - 1).max(1)),
            }
        } else if !has_focus && pressed(ui, Key::Enter) {
            self.keep(panel, group, 0);
        } else if pressed(ui, Key::Delete) {
            self.remove(panel, group, self.copy);
        } else if pressed(ui, Key::D) {
            self.shows_difference = !self.shows_difference;
        } else if pressed(ui, Key::N) {
            if let Some(copy) = group.images.get(self.copy) {
                panel.ask(Command::NotCopies(group.images[0].image, copy.image));
            }
        } else if pressed(ui, Key::F) {
            (self.zoom, self.middle) = (1.0, Vec2::splat(0.5));
        }
    }

    /// Two images of a group beside each other, and the others below.
    fn group_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, group: &CopyGroup) {
        let best = &group.images[0];
        let Some(other) = group.images.get(self.copy) else {
            same_files_ui(ui, panel, best.image);
            let room = ui.available_rect_before_wrap();
            self.picture_ui(ui, panel, best, room.shrink(4.0), false);
            return;
        };
        panel.view.pictured = Some(Pictured { image: best.image, next: Some(other.image) });
        let strip = if group.images.len() > 2 { ROW + 8.0 } else { 0.0 };
        let room = ui.available_rect_before_wrap();
        let height = (room.height() - self.below - strip).max(80.0);
        let width = (room.width() - theme::GAP) / 2.0;
        let frames = [0.0, width + theme::GAP].map(|x| Rect::from_min_size(room.min + vec2(x, 0.0), vec2(width, height)));
        // While the space bar is held, the right picture lies where the left one was.
        let is_laid_over = !ui.ctx().text_edit_focused() && ui.input(|input| input.key_down(Key::Space));
        self.picture_ui(ui, panel, if is_laid_over { other } else { best }, frames[0], false);
        if self.shows_difference {
            self.difference_ui(ui, panel, (best, other), frames[1]);
        } else {
            self.picture_ui(ui, panel, other, frames[1], true);
        }
        let (reserved, mut taken) = (self.below, BELOW);
        for ((at, copy), frame) in [(0, best), (self.copy, other)].into_iter().zip(frames) {
            let below = Rect::from_min_size(frame.left_bottom() + vec2(0.0, 4.0), vec2(width, reserved - 4.0));
            let builder = egui::UiBuilder::new().id_salt(at).max_rect(below);
            let facts = ui.scope_builder(builder, |ui| self.facts_ui(ui, panel, group, at, copy)).response;
            taken = taken.max(facts.rect.height() + 8.0);
        }
        // Less than a point is rounding.
        if (taken - reserved).abs() > 1.0 {
            self.below = taken;
            ui.ctx().request_repaint();
        }
        ui.advance_cursor_after_rect(Rect::from_min_size(room.min, vec2(room.width(), height + reserved)));
        if strip > 0.0 {
            self.strip_ui(ui, panel, group);
        }
    }

    /// A picture at the zoom that both have.
    fn picture_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, copy: &Copy, frame: Rect, is_right: bool) {
        let Some(image) = panel.state().and_then(|state| state.image(copy.image).cloned()) else { return };
        let response = ui.interact(frame, ui.scope_id().with(("picture", is_right)), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("Picture of {}", image.file_name())));
        let size = image.content.map_or((1, 1), |content| content.size);
        let target = self.zoomed(ui, &response, size, frame);
        let pixels = target.width() / size.0.max(1) as f32;
        let texture = panel.pictures.compared(ui.ctx(), panel.desk, copy.image, pixels);
        let texture = texture.or_else(|| Some(panel.textures.get(image.content?.hash.0, image.id)?.id()));
        match texture {
            Some(texture) => {
                ui.painter_at(frame).image(texture, target, WHOLE, Color32::WHITE);
            }
            None => in_middle(ui, frame, if image.is_here() { "one moment" } else { "its file is not there now" }),
        }
    }

    /// Where the best image and a copy of it differ, at the zoom of the best.
    fn difference_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, (best, other): (&Copy, &Copy), frame: Rect) {
        let response = ui.interact(frame, ui.scope_id().with("difference"), Sense::click_and_drag());
        let size = panel.state().and_then(|state| state.image(best.image)?.content).map_or((1, 1), |content| content.size);
        let target = self.zoomed(ui, &response, size, frame);
        let words = match panel.desk.near_copies().difference(best.image, other.image) {
            None => {
                if !panel.desk.jobs().is_running(&JobKind::DrawDifference) {
                    panel.ask(Command::DrawDifference(best.image, other.image));
                }
                "one moment".to_owned()
            }
            Some(Err(words)) => words.to_owned(),
            Some(Ok(difference)) => {
                let texture = panel.pictures.difference(ui.ctx(), difference);
                ui.painter_at(frame).image(texture, target, WHOLE, Color32::WHITE);
                let words =
                    format!("differences, four times as large: {:.1} of 255 on average, {} at most", difference.mean, difference.largest);
                let font = FontId::proportional(13.0);
                ui.painter_at(frame).text(frame.left_bottom() + vec2(8.0, -6.0), Align2::LEFT_BOTTOM, &words, font, Color32::WHITE);
                response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &words));
                return;
            }
        };
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &words));
        in_middle(ui, frame, &words);
    }

    /// Where a picture of such a size lies at the zoom that both have, which the pointer changes.
    fn zoomed(&mut self, ui: &Ui, response: &Response, size: (u32, u32), frame: Rect) -> Rect {
        ui.painter().rect_filled(frame, CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
        let fit = fitted(size, frame.shrink(4.0)).size();
        if response.hovered() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            let zoom = (self.zoom * pinch * (scroll * 0.004).exp()).clamp(1.0, CLOSE);
            if let Some(pointer) = response.hover_pos() {
                // The point under the pointer stays where it is.
                let away = (pointer - frame.center()) / fit;
                self.middle += away / self.zoom - away / zoom;
            }
            self.zoom = zoom;
        }
        if response.dragged() {
            self.middle -= response.drag_delta() / (fit * self.zoom);
        }
        if response.double_clicked() {
            (self.zoom, self.middle) = (1.0, Vec2::splat(0.5));
        }
        let reach = Vec2::splat(0.5 / self.zoom);
        self.middle = self.middle.clamp(reach, Vec2::splat(1.0) - reach);
        let shown = fit * self.zoom;
        Rect::from_center_size(frame.center() + (Vec2::splat(0.5) - self.middle) * shown, shown)
    }

    /// What becomes of the words and files of images that are removed.
    fn what_goes(&self) -> String {
        let files = if self.to_bin { "their files go to the bin of the system" } else { "the files stay where they are" };
        format!("the image that is kept takes over their captions, and their class unless it has its own; {files}")
    }

    fn clear(&self, panel: &mut Panel<'_>, cleared: Vec<Clearance>) {
        if self.to_bin {
            let files_of = |image: ItemId| Some(panel.state()?.image(image)?.files().count());
            let files = Clearance::going(&cleared).into_iter().filter_map(files_of).sum();
            panel.view.open(Modal::RemoveToBin(cleared, files));
        } else {
            panel.ask(Command::Clear(cleared));
        }
    }

    /// Removes all images of a group but one.
    fn keep(&self, panel: &mut Panel<'_>, group: &CopyGroup, at: usize) {
        if let Some(clearance) = clearance(group, at) {
            self.clear(panel, vec![clearance]);
        }
    }

    /// Removes a copy, for which the best of its group is kept.
    fn remove(&self, panel: &mut Panel<'_>, group: &CopyGroup, at: usize) {
        if let Some(copy) = group.images.get(at).filter(|_| at > 0) {
            self.clear(panel, vec![Clearance { kept: Some(group.images[0].image), removed: vec![copy.image] }]);
        }
    }

    /// All images of a group, of which one is chosen for the right.
    fn strip_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, group: &CopyGroup) {
        ScrollArea::horizontal().id_salt("strip").auto_shrink([false, true]).show(ui, |ui| {
            ui.horizontal(|ui| {
                for (at, copy) in group.images.iter().enumerate().skip(1) {
                    let (rect, response) = ui.allocate_exact_size(Vec2::splat(ROW), Sense::click());
                    thumbnail(ui, panel, copy.image, rect.shrink(3.0));
                    let words = copy.relation.to_string();
                    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, at == self.copy, &words));
                    if at == self.copy || response.hovered() || response.has_focus() {
                        ui.painter().rect_stroke(rect, CornerRadius::same(4), theme::focus(ui), egui::StrokeKind::Inside);
                    }
                    if response.on_hover_text(words).clicked() {
                        self.copy = at;
                    }
                }
            });
        });
    }

    /// What is known of an image, and the button to keep it alone.
    fn facts_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, group: &CopyGroup, at: usize, copy: &Copy) {
        let Some(image) = panel.state().and_then(|state| state.image(copy.image).cloned()) else { return };
        let is_view = panel.state().is_some_and(|state| state.may_be_views(group.images[0].image, copy.image));
        let view =
            image.folder.group.as_ref().filter(|_| is_view).map_or_else(String::new, |object| format!("; or another view of {object}"));
        let said = if at == 0 {
            "the best: most pixels, then the largest file".to_owned()
        } else {
            format!("{}, distance {:.1}{view}", copy.relation, copy.distance)
        };
        line(ui, RichText::new(image.file_name()).strong());
        line(ui, RichText::new(&said)).on_hover_text(said);
        let (size, length) = image.content.map_or(((0, 0), 0), |content| (content.size, content.bytes));
        let format = Path::new(&image.file_name()).extension().map(|ending| ending.to_string_lossy().to_uppercase()).unwrap_or_default();
        let changed = image.place().map(|place| utc(place.modified / 1_000_000)).unwrap_or_default();
        line(ui, RichText::new(format!("{} × {}, {}, {format}, {changed}", size.0, size.1, bytes(length))).weak());
        let path = display(&copy.path);
        line(ui, RichText::new(&path).small().weak()).on_hover_text(path);
        ui.horizontal_wrapped(|ui| {
            let (words, keys) = if at == 0 { ("Keep the best", "Enter") } else { ("Keep this one", "") };
            let n = count(group.images.len() - 1, "other image");
            let hover = format!("Takes the {n} of this group out of the library, in one act; {}. {keys}", self.what_goes());
            let button = if at == 0 { main_button(ui, words) } else { ui.button(words) };
            if button.on_hover_text(hover.trim_end()).clicked() {
                self.keep(panel, group, at);
            }
            let hover = format!("Out of the library; {}. Delete", self.what_goes());
            if at > 0 && ui.button("Remove this one").on_hover_text(hover).clicked() {
                self.remove(panel, group, at);
            }
            if at > 0
                && ui.button("Not a copy").on_hover_text("Never shows it as a copy of the best again; Ctrl+Z takes that back. N").clicked()
            {
                panel.ask(Command::NotCopies(group.images[0].image, copy.image));
            }
            if at > 0 {
                let hover = "Where this copy differs from the best, laid on it as it was made. D";
                ui.toggle_value(&mut self.shows_difference, "Difference").on_hover_text(hover);
            }
            if ui.button("Show file").on_hover_text("In the file manager").clicked() {
                panel.ask(Command::Reveal(copy.path.clone()));
            }
        });
    }
}

/// The files of one image, each of which can be shown and moved to the bin.
fn same_files_ui(ui: &mut Ui, panel: &mut Panel<'_>, image: ItemId) {
    let Some(state) = panel.state().cloned() else { return };
    let files = state.image(image).map_or_else(Vec::new, |image| files_of(&state, image));
    ui.label(RichText::new(format!("One image in {} of the same bytes", count(files.len(), "file"))).strong());
    for (at, file) in files.iter().enumerate() {
        ui.horizontal(|ui| {
            let name = display(file);
            let mut button = |words: &str, hover: &str| {
                let button = ui.button(words).on_hover_text(hover);
                button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("{words}: {name}")));
                button.clicked()
            };
            if button("Show file", "In the file manager") {
                panel.ask(Command::Reveal(file.clone()));
            }
            if let Some(other) = files.iter().enumerate().find(|(other, _)| *other != at).map(|(_, other)| other)
                && button("To the bin", "Moves this file to the bin of the system; the image stays in the library")
            {
                panel.view.open(Modal::FileToBin(image, file.clone(), other.clone()));
            }
            if at == 0 {
                let hover = "This one stays where further files go to the bin at once";
                ui.label(RichText::new("the oldest").small().weak()).on_hover_text(hover);
            }
            line(ui, &name).on_hover_text(&name);
        });
    }
}

/// The files of an image, the oldest first: copies are newer, or have a longer name.
fn files_of(state: &State, image: &Image) -> Vec<PathBuf> {
    let age = |place: &Place| (place.modified, place.path.as_os_str().len(), state.full_path(place));
    let mut there: Vec<(i64, usize, PathBuf)> = image.files().map(age).collect();
    there.sort();
    there.into_iter().map(|(.., path)| path).collect()
}

/// Of images that lie in several files of the same bytes, all files but the oldest.
fn further_files(panel: &Panel<'_>, groups: &[CopyGroup]) -> Vec<(ItemId, PathBuf)> {
    let Some(state) = panel.state() else { return Vec::new() };
    let images = groups.iter().flat_map(|group| &group.images).filter_map(|copy| state.image(copy.image));
    let further = |image: &Arc<Image>| files_of(state, image).into_iter().skip(1).map(|file| (image.id, file)).collect::<Vec<_>>();
    images.flat_map(further).collect()
}

/// All images of a group but one, if there are others.
fn clearance(group: &CopyGroup, at: usize) -> Option<Clearance> {
    Clearance::keeping(group.images.get(at)?.image, &group.images)
}

fn in_middle(ui: &Ui, frame: Rect, words: &str) {
    ui.painter().text(frame.center(), Align2::CENTER_CENTER, words, FontId::proportional(15.0), ui.visuals().weak_text_color());
}

fn thumbnail(ui: &Ui, panel: &mut Panel<'_>, image: ItemId, frame: Rect) {
    let hash = panel.state().and_then(|state| state.image(image)?.content).map(|content| content.hash.0);
    if let Some(texture) = hash.and_then(|hash| panel.textures.get(hash, image)) {
        let [width, height] = texture.size();
        ui.painter().image(texture.id(), fitted((width as u32, height as u32), frame), WHOLE, Color32::WHITE);
    }
}
