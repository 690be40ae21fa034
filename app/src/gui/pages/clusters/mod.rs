//! The page of clusters: how they are found above, a strip of typical images of each below, and the
//! selected image at the right.

mod card;
mod head;
mod list;

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use egui::{FocusDirection, Key, Modifiers, Panel as Side, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::looks::Look;

use super::browse::captions::CaptionDrafts;
use super::browse::inspector::inspector_ui;
use super::label::keys::{is_free, pressed};
use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::class_keys::label_keys;
use crate::gui::modal::Modal;
use crate::gui::panel::{PageUi, Panel};
use crate::gui::selection::Pick;
use crate::gui::widgets::{confined_ui, is_narrow, main_button, nothing_ui, side_panel};
use crate::job::JobKind;
use crate::session::desk::clusters::ClusterAnswer;

/// The number of oddities among clusters.
const ODDITIES: usize = usize::MAX;
/// Why clusters are not shown.
const HIDDEN: &str = "They were found with learned features, which are off; the page Train turns these on again, and \
                      other clusters can be found above";
/// Clusters that Page Up and Page Down pass.
const LEAP: usize = 4;

/// The state of the page.
#[derive(Default)]
pub struct ClustersView {
    /// Whether clusters are to be found, or gone on with, as soon as it is known which there are.
    pub(in crate::gui) wants_to_find: bool,
    captions: CaptionDrafts,
    wish: Option<Wish>,
    /// The vectors that the user chose last, whichever clusters are shown; none before that.
    look: Option<Option<Look>>,
    /// The number of the cluster that keys are about.
    current: Option<usize>,
    /// The clusters of which all images are shown, by their numbers.
    unfolded: BTreeSet<usize>,
    /// Whether the list is to be scrolled to the current cluster.
    is_hidden: bool,
    /// The part of the list that was visible last: its top and its height.
    seen: (f32, f32),
    /// What was selected when that was last counted, of which clusters.
    counted: Option<Counted>,
}

/// What is to be found next.
#[derive(Clone, Debug, PartialEq)]
struct Wish {
    /// The vectors that are compared; `None` for the usual ones.
    look: Option<Look>,
    /// Whether the number of clusters is left open.
    is_open: bool,
    /// The number otherwise.
    clusters: usize,
}

/// A count of selected images, which holds as long as selection and clusters are the same.
struct Counted {
    of: (Weak<ClusterAnswer>, Arc<BTreeSet<ItemId>>),
    chosen: Arc<Chosen>,
}

/// The clusters that are selected, each by its place.
struct Chosen {
    /// For each place the images that are selected.
    counts: Vec<usize>,
    /// Selected images with a cluster.
    total: usize,
}

impl Chosen {
    fn of(panel: &Panel<'_>, answer: &ClusterAnswer) -> Self {
        let mut counts = vec![0; answer.len()];
        for image in panel.view.selection.iter() {
            if let Some(place) = answer.place_of(image) {
                counts[place] += 1;
            }
        }
        Self { total: counts.iter().sum(), counts }
    }

    fn is_whole(&self, answer: &ClusterAnswer, place: usize) -> bool {
        self.counts[place] == answer.images(place).len()
    }

    /// The numbers of the clusters of which all images are selected.
    fn whole(&self, answer: &ClusterAnswer) -> Vec<usize> {
        let clusters = answer.clusters.iter().enumerate();
        clusters.filter(|(place, _)| self.is_whole(answer, *place)).map(|(_, cluster)| cluster.number).collect()
    }
}

impl PageUi for ClustersView {
    fn sides_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let has_room = !is_narrow(ui) || !panel.view.selection.is_empty();
        if has_room && panel.desk.clusters().answer().is_some_and(|answer| !answer.is_empty()) {
            side_panel(Side::right("cluster details"), ui, 270.0, 200.0).show(ui, |ui| {
                confined_ui(ui, |ui| inspector_ui(ui, panel, &mut self.captions, None));
            });
        }
    }

    fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        if panel.state().is_none_or(|state| state.images().next().is_none()) {
            nothing_ui(ui, "No images yet", "Import a folder of images; groups of them that look alike are then found here");
            ui.vertical_centered(|ui| {
                if main_button(ui, "Add folder…").clicked() {
                    panel.act(Action::AddFolder);
                }
            });
            return;
        }
        let answer = panel.desk.clusters().answer().filter(|answer| !answer.is_empty()).cloned();
        self.head_ui(ui, panel, answer.as_deref());
        let Some(answer) = answer else {
            empty_ui(ui, panel);
            return;
        };
        label_keys(ui, panel);
        self.seek(panel, &answer);
        let chosen = self.chosen(panel, &answer);
        self.keys(ui, panel, &answer, &chosen);
        self.chosen_ui(ui, panel, &answer, &chosen);
        self.list_ui(ui, panel, &answer, &chosen);
    }
}

impl ClustersView {
    /// What is selected, counted when it or the clusters are others.
    fn chosen(&mut self, panel: &Panel<'_>, answer: &Arc<ClusterAnswer>) -> Arc<Chosen> {
        let selected = panel.view.selection.images();
        let is_same =
            |of: &(Weak<ClusterAnswer>, Arc<BTreeSet<ItemId>>)| of.0.as_ptr() == Arc::as_ptr(answer) && Arc::ptr_eq(&of.1, selected);
        if let Some(counted) = self.counted.as_ref().filter(|counted| is_same(&counted.of)) {
            return Arc::clone(&counted.chosen);
        }
        let chosen = Arc::new(Chosen::of(panel, answer));
        self.counted = Some(Counted { of: (Arc::downgrade(answer), Arc::clone(selected)), chosen: Arc::clone(&chosen) });
        chosen
    }

    /// Turns to the cluster of the image that another page selected here, and shows all of it.
    fn seek(&mut self, panel: &mut Panel<'_>, answer: &ClusterAnswer) {
        if let Some(place) = panel.view.selection.take_sought_image().and_then(|image| answer.place_of(image)) {
            let number = number_at(answer, place);
            self.unfolded.insert(number);
            (self.current, self.is_hidden) = (Some(number), true);
        }
    }

    fn keys(&mut self, ui: &Ui, panel: &mut Panel<'_>, answer: &ClusterAnswer, chosen: &Chosen) {
        if !is_free(ui, panel) {
            return;
        }
        let mut at = self.current.and_then(|number| place_of_number(answer, number));
        let has_focus = ui.ctx().memory(|memory| memory.focused().is_some());
        let last = answer.len() - 1;
        let moves = [
            (Key::ArrowUp, at.unwrap_or(0).saturating_sub(1)),
            (Key::ArrowDown, at.map_or(0, |at| (at + 1).min(last))),
            (Key::PageUp, at.unwrap_or(0).saturating_sub(LEAP)),
            (Key::PageDown, (at.unwrap_or(0) + LEAP).min(last)),
            (Key::Home, 0),
            (Key::End, last),
        ];
        if let Some((_, place)) = moves.into_iter().find(|(key, _)| taken(ui, Modifiers::NONE, *key)) {
            // Other keys of this frame are about that cluster.
            at = Some(place);
            (self.current, self.is_hidden) = (Some(number_at(answer, place)), true);
        }
        for (key, by) in [(Key::ArrowLeft, -1), (Key::ArrowRight, 1)] {
            for (modifiers, pick) in [(Modifiers::SHIFT, Pick::Range), (Modifiers::NONE, Pick::Alone)] {
                if taken(ui, modifiers, key) {
                    let place = at.unwrap_or(0);
                    let images = answer.images(place);
                    let is_elsewhere = panel.view.selection.cursor().is_none_or(|id| answer.place_of(id) != Some(place));
                    if is_elsewhere {
                        panel.view.selection.pick(images, images[0], Pick::Alone);
                    } else {
                        panel.view.selection.step(images, by, pick);
                    }
                    (self.current, self.is_hidden) = (Some(number_at(answer, place)), true);
                }
            }
        }
        if !has_focus && let Some(place) = at {
            if pressed(ui, Key::Enter) {
                panel.view.selection.set(answer.images(place).iter().copied());
            } else if pressed(ui, Key::Space) {
                toggle(panel, answer, chosen, place);
            }
        }
        if !panel.view.selection.is_empty() && pressed(ui, Key::Escape) {
            panel.view.selection.clear();
        }
        if pressed(ui, Key::L) {
            if let Some(place) = at.filter(|_| chosen.total == 0) {
                panel.view.selection.set(answer.images(place).iter().copied());
            }
            name(panel);
        } else if pressed(ui, Key::M) {
            merge(panel, answer, chosen);
        } else if pressed(ui, Key::S) {
            split(panel, answer, chosen);
        }
    }
}

/// Whether a key that also leads from one button to the next was pressed; here it does not.
fn taken(ui: &Ui, modifiers: Modifiers, key: Key) -> bool {
    let is_pressed = ui.input_mut(|input| input.consume_key(modifiers, key));
    if is_pressed {
        ui.memory_mut(|memory| {
            memory.move_focus(FocusDirection::None);
            memory.focused().into_iter().for_each(|focused| memory.surrender_focus(focused));
        });
    }
    is_pressed
}

/// The number of the cluster at a place.
fn number_at(answer: &ClusterAnswer, place: usize) -> usize {
    answer.clusters.get(place).map_or(ODDITIES, |cluster| cluster.number)
}

fn place_of_number(answer: &ClusterAnswer, number: usize) -> Option<usize> {
    (0..answer.len()).find(|place| number_at(answer, *place) == number)
}

/// The title of a cluster for those who do not see it, with its number, which is written beside it.
fn spoken_at(answer: &ClusterAnswer, place: usize) -> String {
    let title = answer.title(place);
    match answer.clusters.get(place) {
        Some(cluster) if cluster.name.is_some() => format!("{title} (cluster {})", cluster.number),
        _ => title.to_owned(),
    }
}

/// Adds a cluster to the selection, or takes it out.
fn toggle(panel: &mut Panel<'_>, answer: &ClusterAnswer, chosen: &Chosen, place: usize) {
    let images: BTreeSet<ItemId> = answer.images(place).iter().copied().collect();
    let selected: BTreeSet<ItemId> = panel.view.selection.iter().collect();
    let selection = if chosen.is_whole(answer, place) { &selected - &images } else { &selected | &images };
    panel.view.selection.set(selection);
}

/// Asks for the name of the selected images.
fn name(panel: &mut Panel<'_>) {
    if panel.view.selection.is_empty() {
        panel.view.toasts.note("Select a cluster first: press its name, or go to it by arrow keys");
    } else {
        panel.view.open(Modal::ClassName(None));
    }
}

fn merge(panel: &mut Panel<'_>, answer: &ClusterAnswer, chosen: &Chosen) {
    let clusters = chosen.whole(answer);
    if clusters.len() < 2 {
        panel.view.toasts.note("Select two clusters or more first, by their boxes");
    } else {
        panel.ask(Command::MergeClusters(clusters));
        panel.view.selection.clear();
    }
}

fn split(panel: &mut Panel<'_>, answer: &ClusterAnswer, chosen: &Chosen) {
    match chosen.whole(answer)[..] {
        [cluster] => {
            panel.ask(Command::SplitCluster(cluster));
            panel.view.selection.clear();
        }
        _ => panel.view.toasts.note("Select one cluster first: press its name, or go to it by arrow keys and press Enter"),
    }
}

fn empty_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let clusters = panel.desk.clusters();
    if panel.desk.jobs().is_running(&JobKind::FindClusters) {
        nothing_ui(ui, "Finding clusters", "They are shown after the first pass over the images, and get better while you watch");
    } else if let Some(words) = clusters.failure() {
        nothing_ui(ui, "No clusters were found", words);
    } else if clusters.is_hidden() {
        nothing_ui(ui, "The clusters are not shown", HIDDEN);
    } else if clusters.is_known() {
        let words = "Clusters are groups of images that look alike, found without labels; nothing is changed by looking";
        nothing_ui(ui, "Which images are of one kind?", words);
    }
}
