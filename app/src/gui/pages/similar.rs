//! The page of similar images: the query with how it is compared at the left, its neighbours, and
//! the selected one of them at the right.

use std::sync::Arc;

use egui::{Align2, CornerRadius, FontId, Key, Panel as Side, Pos2, Rect, RichText, ScrollArea, Sense, Slider, Ui, Vec2, vec2};
use tessera_core::ids::ItemId;
use tessera_core::library::looks::{FIRST, Look, LookAlike};

use super::browse::captions::CaptionDrafts;
use super::browse::inspector::inspector_ui;
use super::browse::menu::image_menu_ui;
use super::label::keys::{is_free, pressed};
use super::looks::{LEARNED_OFF, LookChoice, look_choices};
use crate::command::{Command, Crop, ImageQuery};
use crate::gui::actions::Action;
use crate::gui::cell::cell;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::selection::Selection;
use crate::gui::theme;
use crate::gui::viewer::{paint_mark, part};
use crate::gui::widgets::curve::{curve_ui, curves_ui};
use crate::gui::widgets::grid::noted_grid_ui;
use crate::gui::widgets::{WHOLE, confined_ui, fitted, heading, is_narrow, line, main_button, nothing_ui, side_panel};
use crate::gui::words::{count, grouped, moment};
use crate::job::JobKind;
use crate::session::desk::similar::{SimilarAnswer, SimilarQuery};
use crate::session::partitions::{LEAST, partition_words};

/// Recalls that can be chosen.
const RECALLS: std::ops::RangeInclusive<f64> = 0.8..=1.0;
/// The height of the query's picture, at most.
const HIGHEST: f32 = 230.0;

/// The state of the page.
#[derive(Default)]
pub struct SimilarView {
    captions: CaptionDrafts,
    /// The query whose neighbours are shown, and how many others were before it.
    shown: Option<Arc<SimilarQuery>>,
    turns: usize,
    /// The image that was left by going back, to be selected among the neighbours.
    left: Option<ItemId>,
    /// The part of the query that is being marked: two opposite corners, in its pixels.
    mark: Option<[Pos2; 2]>,
}

impl PageUi for SimilarView {
    fn sides_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        if !has_images(panel) {
            return;
        }
        let has_details = panel.desk.similar().answer().is_some_and(|answer| !answer.alikes.is_empty());
        // At the same side, so that no image moves when it is selected.
        let shows_selected = has_details && is_narrow(ui) && !panel.view.selection.is_empty();
        side_panel(Side::left("similar query"), ui, 290.0, 200.0).show(ui, |ui| {
            confined_ui(ui, |ui| match shows_selected {
                true => inspector_ui(ui, panel, &mut self.captions, None),
                false => {
                    ScrollArea::vertical().id_salt("query").auto_shrink([false, false]).show(ui, |ui| self.query_ui(ui, panel));
                }
            });
        });
        if has_details && !is_narrow(ui) {
            side_panel(Side::right("similar details"), ui, 270.0, 200.0).show(ui, |ui| {
                confined_ui(ui, |ui| inspector_ui(ui, panel, &mut self.captions, None));
            });
        }
    }

    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let Some(answer) = panel.desk.similar().answer().cloned() else {
            empty_ui(ui, panel);
            return;
        };
        self.follow(panel, &answer);
        self.keys(ui, panel, &answer);
        head_ui(ui, panel, &answer);
        if answer.alikes.is_empty() {
            nothing_ui(ui, "No other images", "There is no other image in this library to compare with");
            return;
        }
        let list: Vec<ItemId> = answer.alikes.iter().map(|alike| alike.image).collect();
        let notes: std::collections::HashMap<ItemId, (String, String)> =
            answer.alikes.iter().map(|alike| (alike.image, note(alike, &answer))).collect();
        let side = panel.settings.thumbnail_side;
        let mut selection = std::mem::take(&mut panel.view.selection);
        let done = noted_grid_ui(ui, &format!("similar {}", self.turns), &list, &mut selection, side, |id| {
            let mut cell = cell(panel, id)?;
            cell.note = notes.get(&id).cloned();
            Some(cell)
        });
        panel.view.selection = selection;
        if let Some(side) = done.side {
            panel.settings.thumbnail_side = side;
        }
        if done.opened {
            walk(panel, &answer);
        }
        if let Some((id, response)) = done.menu {
            response.context_menu(|ui| image_menu_ui(ui, panel, id));
        }
    }
}

impl SimilarView {
    /// Begins anew when the neighbours of another query are there.
    fn follow(&mut self, panel: &mut Panel<'_>, answer: &SimilarAnswer) {
        if self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &answer.query)) {
            return;
        }
        self.shown = Some(Arc::clone(&answer.query));
        self.turns += 1;
        panel.view.selection = Selection::default();
        let left = self.left.take().filter(|left| answer.alikes.iter().any(|alike| alike.image == *left));
        panel.view.selection.set(left);
    }

    fn keys(&mut self, ui: &Ui, panel: &mut Panel<'_>, answer: &SimilarAnswer) {
        if !is_free(ui, panel) {
            return;
        }
        if ui.ctx().memory(|memory| memory.focused().is_none()) && pressed(ui, Key::Enter) {
            walk(panel, answer);
        } else if pressed(ui, Key::Backspace) {
            self.go_back(panel);
        }
    }

    fn go_back(&mut self, panel: &mut Panel<'_>) {
        let similar = panel.desk.similar();
        if similar.former().is_some() {
            self.left = similar.query().and_then(|query| query.image.item);
            panel.ask(Command::SimilarBack);
        }
    }

    /// The query, how it is compared, and what is known of the answer.
    fn query_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        ui.horizontal_wrapped(|ui| {
            let hover = Action::SimilarFile.words().1;
            if ui.button("Choose an image…").on_hover_text(hover).clicked() {
                panel.act(Action::SimilarFile);
            }
            if let Some(former) = panel.desk.similar().former().cloned() {
                let hover = format!("To {} (Backspace)", former.image.short_name());
                if ui.button("⬅ Back").on_hover_text(hover).clicked() {
                    self.go_back(panel);
                }
            }
        });
        ui.label(RichText::new("or drop one here, or paste one (Ctrl+V)").small().weak());
        let query = panel.desk.similar().query().cloned();
        if let Some(query) = &query {
            if let Some(words) = panel.desk.similar().failure() {
                ui.colored_label(ui.visuals().error_fg_color, words);
            }
            self.picture_ui(ui, panel, query);
        }
        heading(ui, "Compare by");
        looks_ui(ui, panel);
        heading(ui, "Recall");
        recall_ui(ui, panel);
        if let Some(answer) = panel.desk.similar().answer().cloned() {
            answer_ui(ui, panel, &answer);
        }
    }

    /// The picture of the query, on which a part can be marked.
    fn picture_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, query: &SimilarQuery) {
        let image = &query.image;
        let height = (ui.available_width() * 0.8).min(HIGHEST);
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click_and_drag());
        let name = image.short_name();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("Query: {name}")));
        ui.painter().rect_filled(rect, CornerRadius::same(theme::ROUNDING), theme::behind_pictures(ui));
        let target = fitted(image.size, rect.shrink(4.0));
        let scale = target.width() / image.size.0.max(1) as f32;
        match panel.pictures.similar() {
            Some(texture) => {
                ui.painter().image(texture, target, WHOLE, egui::Color32::WHITE);
            }
            None => {
                let colour = ui.visuals().weak_text_color();
                ui.painter().text(rect.center(), Align2::CENTER_CENTER, "one moment", FontId::proportional(15.0), colour);
            }
        }
        let full = vec2(image.size.0 as f32, image.size.1 as f32);
        let in_picture = |at: Pos2| ((at - target.min) / scale).clamp(Vec2::ZERO, full).to_pos2();
        if response.drag_started() {
            self.mark = ui.input(|input| input.pointer.press_origin()).map(|at| [in_picture(at), in_picture(at)]);
        }
        if let (Some(mark), Some(at)) = (&mut self.mark, response.interact_pointer_pos()) {
            mark[1] = in_picture(at);
        }
        let on_screen = |at: Pos2| target.min + at.to_vec2() * scale;
        let compared = image.crop.map(|crop| {
            let [x, y, width, height] = crop.0.map(|n| n as f32);
            [Pos2::new(x, y), Pos2::new(x + width, y + height)]
        });
        if let Some([from, to]) = self.mark.or(compared) {
            let part = Rect::from_two_pos(on_screen(from), on_screen(to));
            paint_mark(ui, &ui.painter_at(rect), part);
        }
        if response.drag_stopped()
            && let Some(crop) = self.mark.take().and_then(|[from, to]| part(from, to))
        {
            panel.ask(Command::SimilarPart(Some(crop)));
        }
        line(ui, RichText::new(&name).strong()).on_hover_text(&image.name);
        ui.horizontal_wrapped(|ui| {
            let (width, height) = image.size;
            match image.crop {
                Some(crop) => {
                    let [_, _, part_width, part_height] = crop.0;
                    let words = match image.is_all() {
                        true => format!("{width} × {height}, as a part of others"),
                        false => format!("{part_width} × {part_height} of {width} × {height}"),
                    };
                    ui.label(RichText::new(words).weak());
                    if ui.small_button("Whole image").on_hover_text("Compares it with others as a whole again").clicked() {
                        panel.ask(Command::SimilarPart(None));
                    }
                }
                None => {
                    ui.label(RichText::new(format!("{width} × {height}; drag to mark a part")).weak());
                    let is_seen = panel.desk.similar().answer().is_some_and(|answer| answer.search.by == Look::Network);
                    let hover = "Was this cut out of a larger image? Finds images that contain it";
                    if is_seen && ui.small_button("It is a part").on_hover_text(hover).clicked() {
                        panel.ask(Command::SimilarPart(Some(Crop::ALL)));
                    }
                }
            }
        });
    }
}

fn has_images(panel: &Panel<'_>) -> bool {
    panel.state().is_some_and(|state| state.images().next().is_some())
}

/// Makes the selected neighbour the next query.
fn walk(panel: &mut Panel<'_>, answer: &SimilarAnswer) {
    let selected = panel.view.selection.one();
    if let Some(id) = selected.filter(|id| answer.alikes.iter().any(|alike| alike.image == *id)) {
        panel.ask(Command::Similar(ImageQuery::Item(id), None));
    }
}

/// What is said of a neighbour, and what that means.
fn note(alike: &LookAlike, answer: &SimilarAnswer) -> (String, String) {
    let distance = (1.0 - alike.likeness).max(0.0);
    // How probable it is was measured for whole images.
    if answer.search.recall.is_none() || answer.search.by_parts > 0 {
        return (format!("{distance:.3} away"), format!("Distance {distance:.3}; 0 is the same"));
    }
    let (share, k) = (100.0 * alike.probability, answer.k);
    let hover = format!(
        "Distance {distance:.3}; 0 is the same\n{share:.0} %: the probability that it is one of the {k} most alike of all, measured for its place on your images"
    );
    (format!("{distance:.3} away · {share:.0} %"), hover)
}

fn empty_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let similar = panel.desk.similar();
    if !has_images(panel) {
        nothing_ui(ui, "No images yet", "Import a folder of images; those that are like another are then found here");
        ui.vertical_centered(|ui| {
            if main_button(ui, "Add folder…").clicked() {
                panel.act(Action::AddFolder);
            }
        });
    } else if panel.desk.jobs().is_running(&JobKind::FindSimilar) || similar.query().is_some() {
        nothing_ui(ui, "Looking for similar images", "Every image is looked at once; then answers come at once");
    } else if let Some(words) = similar.failure() {
        nothing_ui(ui, "This image cannot be compared", words);
    } else {
        let key = Action::Similar.key_words(ui.ctx());
        let words = format!("Choose, drop or paste an image, or press {key} on a selected one in Browse");
        nothing_ui(ui, "Which images are like one?", &words);
        ui.vertical_centered(|ui| {
            if main_button(ui, "Choose an image to compare…").clicked() {
                panel.act(Action::SimilarFile);
            }
        });
    }
}

/// The line above the neighbours.
fn head_ui(ui: &mut Ui, panel: &mut Panel<'_>, answer: &SimilarAnswer) {
    ui.horizontal(|ui| {
        let shown = answer.alikes.len();
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if shown == answer.k && shown < answer.images {
                let hover = "An index is measured for 100 images; for more of them all images are compared";
                if ui.button("Show more").on_hover_text(hover).clicked() {
                    panel.ask(Command::MoreSimilar);
                }
            }
            if panel.desk.jobs().is_running(&JobKind::FindSimilar) {
                ui.spinner();
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                let image = &answer.query.image;
                let most = if image.is_all() && answer.search.by_parts > 0 { "with a part most like" } else { "most like" };
                let words = format!("{} {most} {}", count(shown, "image"), image.short_name());
                let hover = format!("{}\nEnter or a double click finds those like the selected one", answer.query.image.name);
                line(ui, RichText::new(words).strong()).on_hover_text(hover);
            });
        });
    });
}

/// The choice of the vectors that are compared.
fn looks_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let chosen = panel.desk.similar().by().cloned();
    let answer = panel.desk.similar().answer().cloned();
    let now = answer.as_ref().map(|answer| answer.search.by.clone());
    let sets: Vec<(Arc<str>, usize)> =
        answer.iter().flat_map(|answer| &answer.sets).map(|(set, images, _)| (Arc::clone(set), *images)).collect();
    let mut all = look_choices(panel, &sets);
    // The image that is looked for may have no vector of a set; what is not seen in a picture
    // only a whole image of the library has.
    let of = answer.as_ref().and_then(|answer| answer.query.image.of());
    let has = |look: &Option<Look>| match look {
        Some(Look::Brought(set)) => answer.iter().flat_map(|answer| &answer.sets).any(|(own, _, is_there)| own == set && *is_there),
        Some(Look::Words) => of.and_then(|of| panel.state()?.image(of)).is_some_and(|image| !image.captions.is_empty()),
        Some(Look::Elements) => of.is_some(),
        _ => true,
    };
    all.iter_mut().for_each(|choice| choice.is_there &= has(&choice.look));
    // Where what was chosen cannot be compared, the usual vectors are.
    let is_usual = !all.iter().any(|choice| choice.look == chosen && choice.is_there);
    ui.horizontal_wrapped(|ui| {
        for LookChoice { look, name, hover, is_there } in all {
            let is_chosen = if is_usual { look.is_none() } else { look == chosen };
            let button = ui.add_enabled(is_there, egui::Button::selectable(is_chosen, name));
            let button = match &now {
                Some(now) if is_chosen && look.is_none() => button.on_hover_text(format!("{hover}. Now: {}", now.words())),
                _ => button.on_hover_text(hover),
            };
            let button = button.on_disabled_hover_text(match look {
                Some(Look::Brought(_) | Look::Words) => "Only an image of the library as a whole can have one, and this one has none",
                Some(Look::Elements) => "Only of images of the library as a whole",
                _ => LEARNED_OFF,
            });
            if button.clicked() && look != chosen {
                panel.ask(Command::SimilarBy(look));
            }
        }
    });
}

fn recall_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let mut recall = panel.desk.similar().recall();
    ui.spacing_mut().slider_width = (ui.available_width() - 62.0).max(80.0);
    let slider = ui.add(Slider::new(&mut recall, RECALLS).step_by(0.01).fixed_decimals(2));
    slider.widget_info(|| egui::WidgetInfo::slider(true, recall, "Recall"));
    let hover = "The share of the most similar images that an index is to find, measured on your own images; 1.00: all images are compared";
    if slider.on_hover_text(hover).changed() {
        panel.ask(Command::SimilarRecall(recall));
    }
}

/// How the neighbours were found, and what is known of the index.
fn answer_ui(ui: &mut Ui, panel: &mut Panel<'_>, answer: &SimilarAnswer) {
    ui.label(told(answer)).on_hover_text(format!("Compared by {}", answer.search.by.words()));
    let is_growing = panel.desk.jobs().is_running(&JobKind::GrowLooks);
    let images = panel.state().map_or(0, |state| state.images().count());
    let aside = if answer.is_due() && is_growing {
        "An index is being made in the background."
    } else if answer.is_due() {
        "No index was made; it is tried again when the library is next opened."
    } else if answer.search.recall.is_some() {
        ""
    } else if images < FIRST {
        "Few images are all compared; an index is made from 4,096 images on."
    } else if answer.recall >= 1.0 {
        "1.00: all images are compared."
    } else if answer.curve.is_none() && answer.k > 100 {
        "An index is measured for 100 images; for more of them all are compared."
    } else {
        ""
    };
    if !aside.is_empty() {
        ui.label(RichText::new(aside).small().weak());
    }
    if let Some(curve) = &answer.curve {
        ui.add_space(4.0);
        curve_ui(ui, curve);
    }
    partitions_ui(ui, panel, answer);
}

/// Other kinds of indexes, once they were compared on the library's own images.
fn partitions_ui(ui: &mut Ui, panel: &mut Panel<'_>, answer: &SimilarAnswer) {
    if let Some(compared) = panel.desk.similar().partitions().filter(|compared| compared.by == answer.search.by) {
        ui.add_space(8.0);
        let (made_of, asked) = (count(compared.images, "image"), grouped(compared.asked));
        let words = format!("Made of {made_of}, asked by {asked} others for {} neighbours", compared.k);
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(words).small().weak());
            let is_running = panel.desk.jobs().is_running(&JobKind::ComparePartitions);
            let again = ui.add_enabled(!is_running, egui::Button::new("Again").small());
            if again.on_hover_text("Compares them on the images that there are now").clicked() {
                panel.ask(Command::ComparePartitions);
            }
        });
        let curves = (0..).zip(&compared.curves).map(|(i, (kind, curve))| (partition_words(*kind), theme::class(i, None), curve));
        curves_ui(ui, &curves.collect::<Vec<_>>());
    } else if panel.desk.jobs().is_running(&JobKind::ComparePartitions) {
        ui.add_space(8.0);
        ui.label(RichText::new("Comparing kinds of indexes…").small().weak());
    } else if answer.images >= LEAST {
        ui.add_space(8.0);
        let hover = "Makes an index of each kind of at most 20,000 of your images, and measures its recall on others of them";
        if ui.button("Compare kinds of indexes").on_hover_text(hover).clicked() {
            panel.ask(Command::ComparePartitions);
        }
    }
}

/// How the neighbours were found, in words.
fn told(answer: &SimilarAnswer) -> String {
    let (compared, all, time) = (answer.search.compared, grouped(answer.images), moment(answer.time));
    let parts = match answer.search.by_parts {
        0 => String::new(),
        n => format!("; {} part by part", grouped(n)),
    };
    let wholes = match answer.search.recall {
        Some(recall) => format!("{recall:.3} measured on your images; {} of {all} compared; {time}", grouped(compared)),
        None if compared == answer.images => format!("all {all} images compared; {time}"),
        None => format!("{} of {all} images compared; {time}", grouped(compared)),
    };
    wholes + &parts
}
