//! One cluster: its name, what is known of it, and a strip of its images.

use egui::{
    Align, Align2, Button, Checkbox, Color32, CornerRadius, Layout as Direction, Rect, RichText, Role, Sense, StrokeKind, TextStyle, Ui,
    UiBuilder, Vec2, WidgetInfo, pos2, vec2,
};
use tessera_core::ids::ItemId;
use tessera_core::library::clusters::ImageCluster;

use super::list::{GAP, Layout, NAME, PADDING, WORDS, says};
use super::{Chosen, ClustersView, name, number_at, spoken_at, toggle};
use crate::gui::cell::cell;
use crate::gui::listing::Scope;
use crate::gui::pages::browse::menu::image_menu_ui;
use crate::gui::panel::Panel;
use crate::gui::theme;
use crate::gui::view::Viewer;
use crate::gui::widgets::grid::{Cell, pick_clicked};
use crate::gui::widgets::{WHOLE, chip_ui, fitted, line};
use crate::gui::words::{count, grouped, shortened};
use crate::session::desk::clusters::ClusterAnswer;

/// Classes that are told of a cluster, at most.
const CLASSES: usize = 4;
/// The share of a strip that outliers take, at most.
const ASIDE: usize = 4;

impl ClustersView {
    pub(super) fn card_ui(
        &mut self,
        ui: &mut Ui,
        panel: &mut Panel<'_>,
        answer: &ClusterAnswer,
        chosen: &Chosen,
        place: usize,
        layout: Layout,
    ) {
        let rect = ui.max_rect();
        let rounding = CornerRadius::same(theme::ROUNDING);
        ui.painter().rect_filled(rect, rounding, theme::card(ui));
        let is_current = self.current == Some(number_at(answer, place));
        let stroke = if is_current { theme::focus(ui) } else { ui.visuals().window_stroke };
        ui.painter().rect_stroke(rect, rounding, stroke, StrokeKind::Inside);
        let inner = rect.shrink(PADDING);
        let row = |y: f32, height: f32| Rect::from_min_size(pos2(inner.left(), y), vec2(inner.width(), height));
        self.name_ui(ui, panel, answer, chosen, place, row(inner.top(), NAME - 4.0), layout);
        let mut y = inner.top() + NAME;
        if let Some(cluster) = answer.clusters.get(place).filter(|_| says(answer, place)) {
            let builder = UiBuilder::new().id_salt("words").max_rect(row(y, WORDS - 4.0)).layout(Direction::left_to_right(Align::Center));
            ui.scope_builder(builder, |ui| words_ui(ui, panel, cluster));
            y += WORDS;
        }
        let images = answer.images(place);
        let outliers = answer.clusters.get(place).map_or(0, |cluster| cluster.outliers);
        let rows = self.rows(answer, place, layout);
        let (shown, typical) = if rows > 1 || images.len() <= layout.columns {
            ((0..images.len()).collect::<Vec<_>>(), images.len() - outliers)
        } else {
            strip(images.len(), outliers, layout.columns)
        };
        let visible = ui.clip_rect();
        let top = y;
        let at = |slot: usize| {
            let (row, column) = ((slot / layout.columns) as f32, (slot % layout.columns) as f32);
            pos2(inner.left() + column * (layout.side + GAP), top + row * (layout.side + GAP))
        };
        let first = ((visible.top() - top) / (layout.side + GAP)).floor().max(0.0) as usize * layout.columns;
        for (slot, index) in shown.iter().enumerate().skip(first) {
            let frame = Rect::from_min_size(at(slot), Vec2::splat(layout.side));
            if frame.top() > visible.bottom() {
                break;
            }
            if slot == typical && outliers > 0 {
                let x = frame.left() - GAP / 2.0;
                ui.painter().vline(x, frame.shrink(2.0).y_range(), egui::Stroke::new(2.0, ui.visuals().weak_text_color()));
            }
            let image = images[*index];
            // Of oddities it is said which of them belong to one cluster.
            let odd = answer.kept.cluster_of(image).filter(|_| place == answer.clusters.len());
            if image_ui(ui, panel, images, Slot { image, frame, is_outlier: slot >= typical, odd }) {
                self.current = Some(number_at(answer, place));
            }
        }
        ui.advance_cursor_after_rect(rect);
    }

    /// The line with the name of a cluster; pressing it selects its images.
    #[expect(clippy::too_many_arguments, reason = "what a line is painted of")]
    fn name_ui(
        &mut self,
        ui: &mut Ui,
        panel: &mut Panel<'_>,
        answer: &ClusterAnswer,
        chosen: &Chosen,
        place: usize,
        rect: Rect,
        layout: Layout,
    ) {
        let (title, spoken, images) = (answer.title(place), spoken_at(answer, place), answer.images(place));
        let number = number_at(answer, place);
        let is_whole = chosen.is_whole(answer, place);
        let response = ui.interact(rect, ui.scope_id().with("name"), Sense::click());
        let words = format!("{spoken}, {}", count(images.len(), "image"));
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_whole, &words));
        if response.hovered() || response.has_focus() {
            ui.painter().rect_filled(rect.expand(2.0), CornerRadius::same(theme::ROUNDING), ui.visuals().faint_bg_color);
        }
        if response.clicked() {
            self.current = Some(number);
            if ui.input(|input| input.modifiers.command) {
                toggle(panel, answer, chosen, place);
            } else {
                panel.view.selection.set(images.iter().copied());
            }
            ui.request_repaint();
        } else if response.secondary_clicked() && !is_whole {
            panel.view.selection.set(images.iter().copied());
        }
        response.context_menu(|ui| image_menu_ui(ui, panel, images[0]));
        let builder = UiBuilder::new().id_salt("line").max_rect(rect).layout(Direction::left_to_right(Align::Center));
        ui.scope_builder(builder, |ui| {
            // Words that can be marked would take the press on the cluster that they stand on.
            ui.style_mut().interaction.selectable_labels = false;
            let mut is_chosen = is_whole;
            let is_part = !is_whole && chosen.counts[place] > 0;
            let check = ui.add(Checkbox::without_text(&mut is_chosen).indeterminate(is_part));
            check.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_whole, format!("Select {spoken}")));
            if check.on_hover_text("Adds all its images to the selection, or takes them out").clicked() {
                self.current = Some(number);
                toggle(panel, answer, chosen, place);
            }
            ui.with_layout(Direction::right_to_left(Align::Center), |ui| {
                let button = ui.add(Button::new("Name…").small());
                button.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Name {spoken}")));
                if button.on_hover_text("Labels all its images, in one act that Ctrl+Z takes back").clicked() {
                    self.current = Some(number);
                    panel.view.selection.set(images.iter().copied());
                    name(panel);
                }
                if place < answer.clusters.len() && images.len() > layout.columns {
                    let is_unfolded = self.unfolded.contains(&number);
                    let words = if is_unfolded { "Show fewer".to_owned() } else { format!("Show all {}", grouped(images.len())) };
                    if ui.add(Button::new(words).small()).on_hover_text("The most typical first, outliers last").clicked() {
                        self.current = Some(number);
                        if !self.unfolded.remove(&number) {
                            self.unfolded.insert(number);
                        }
                    }
                }
                ui.with_layout(Direction::left_to_right(Align::Center), |ui| {
                    let room = ui.available_width();
                    let longest = ((room / 2.0 / 8.0) as usize).max(8);
                    let title = RichText::new(shortened(title, longest)).size(15.0);
                    let cluster = answer.clusters.get(place);
                    let is_given = cluster.is_none_or(|cluster| cluster.name.is_none() || cluster.is_named);
                    if is_given {
                        line(ui, title.strong());
                    } else {
                        line(ui, title.italics().weak())
                            .on_hover_text("Most of its labelled images are of this class; Name… gives it to all");
                    }
                    line(ui, RichText::new(facts(answer, place)).weak());
                });
            });
        });
    }
}

/// An image of a strip, and where it is painted.
struct Slot {
    image: ItemId,
    frame: Rect,
    is_outlier: bool,
    /// The cluster of an oddity.
    odd: Option<usize>,
}

/// One image of a strip. Returns whether it was clicked.
fn image_ui(ui: &mut Ui, panel: &mut Panel<'_>, list: &[ItemId], slot: Slot) -> bool {
    let Slot { image: id, frame, is_outlier, odd } = slot;
    let Some(cell) = cell(panel, id) else { return false };
    let response = ui.interact(frame, ui.scope_id().with(id.0), Sense::click());
    let mut selection = std::mem::take(&mut panel.view.selection);
    pick_clicked(ui, &response, list, id, &mut selection);
    let is_selected = selection.contains(id);
    let is_cursor = is_selected && selection.cursor() == Some(id);
    panel.view.selection = selection;
    if response.double_clicked() {
        panel.view.selection.set([id]);
        panel.view.viewer = Some(Viewer::default());
    }
    paint(ui, frame, &cell, (is_selected, is_cursor), response.hovered() || response.has_focus());
    let mut words = cell.name.clone();
    if let Some((label, _)) = &cell.label {
        words = format!("{words}, {label}");
    }
    if is_outlier {
        words.push_str(", an outlier");
    }
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &words));
    let is_clicked = response.clicked();
    if response.context_menu_opened() || response.secondary_clicked() {
        response.context_menu(|ui| image_menu_ui(ui, panel, id));
    } else {
        let more = match odd {
            _ if is_outlier => "\nFar less typical than the others of this cluster".to_owned(),
            Some(cluster) => format!("\nCluster {cluster}"),
            None => String::new(),
        };
        response.on_hover_text(format!("{words}{more}"));
    }
    is_clicked
}

/// The places of the images in a strip, typical ones and then outliers, and how many are typical.
fn strip(images: usize, outliers: usize, columns: usize) -> (Vec<usize>, usize) {
    let aside = outliers.min((columns / ASIDE).max(1));
    let typical = (columns - aside).min(images - outliers);
    // Of outliers the oddest.
    ((0..typical).chain(images - aside..images).collect(), typical)
}

/// Size, spread and outliers in words.
fn facts(answer: &ClusterAnswer, place: usize) -> String {
    let Some(cluster) = answer.clusters.get(place) else {
        return format!("{} in {} that are small", count(answer.odd.len(), "image"), count(answer.oddities, "cluster"));
    };
    let number = if cluster.name.is_some() { format!("cluster {} · ", cluster.number) } else { String::new() };
    let outliers = if cluster.outliers > 0 { format!(" · {}", count(cluster.outliers, "outlier")) } else { String::new() };
    format!("{number}{} · spread {:.2}{outliers}", count(cluster.images.len(), "image"), cluster.spread)
}

/// The classes and the words of a cluster.
fn words_ui(ui: &mut Ui, panel: &mut Panel<'_>, cluster: &ImageCluster) {
    let all = count(cluster.images.len(), "image");
    for (class, images) in cluster.classes.iter().take(CLASSES) {
        if ui.available_width() < 90.0 {
            break;
        }
        let words = format!("{} {}", shortened(class, 24), grouped(*images));
        let hover = format!("{} of {all}; press to see all of {class}", grouped(*images));
        if chip_ui(ui, &words, panel.colour(class), &hover).clicked() {
            panel.show(Scope::Class(class.clone()));
        }
    }
    if cluster.classes.len() > CLASSES {
        ui.label(RichText::new(format!("+{}", cluster.classes.len() - CLASSES)).weak().small());
    }
    if !cluster.words.is_empty() {
        let shares: Vec<String> = cluster.words.iter().map(|(word, share)| format!("{word} {:.0} %", 100.0 * share)).collect();
        line(ui, RichText::new(shares.join("   ")).small().weak())
            .on_hover_text("Words of captions that are more frequent here than elsewhere, with the share of images that have them");
    }
}

fn paint(ui: &Ui, frame: Rect, cell: &Cell, (is_selected, is_cursor): (bool, bool), is_hovered: bool) {
    let painter = ui.painter();
    let rounding = CornerRadius::same(4);
    let ground = if is_selected { ui.visuals().selection.bg_fill } else { theme::behind_pictures(ui) };
    painter.rect_filled(frame, rounding, ground);
    let picture = frame.shrink(3.0);
    match &cell.thumbnail {
        Some((texture, size)) => {
            painter.image(*texture, fitted(*size, picture), WHOLE, Color32::WHITE);
        }
        None if cell.broken => {
            let font = TextStyle::Small.resolve(ui.style());
            painter.text(frame.center(), Align2::CENTER_CENTER, "cannot be shown", font, ui.visuals().weak_text_color());
        }
        None => {}
    }
    if let Some((_, colour)) = &cell.label {
        let bar = Rect::from_min_max(pos2(frame.left(), frame.bottom() - 4.0), frame.max);
        painter.rect_filled(bar, CornerRadius { nw: 0, ne: 0, sw: 4, se: 4 }, *colour);
    }
    if is_selected || is_hovered {
        let stroke = if is_cursor || is_hovered { theme::focus(ui) } else { ui.visuals().selection.stroke };
        painter.rect_stroke(frame, rounding, stroke, StrokeKind::Inside);
    }
}
