//! Above the clusters: how they are found, how far that is, and what can be done with the selected
//! ones.

use egui::{Button, ComboBox, DragValue, Key, RichText, Ui};
use tessera_core::ids::ItemId;
use tessera_core::library::bonds::Bond;
use tessera_core::library::clusters::{ClusterAim, unused};
use tessera_core::library::looks::Look;
use tessera_core::plural::listed;

use super::super::looks::{LEARNED_OFF, LookChoice, look_choices};
use super::{Chosen, ClustersView, Wish, merge, name, split};
use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::panel::Panel;
use crate::gui::widgets::{DROP_DOWN, line, main_button};
use crate::gui::words::{self, count};
use crate::job::JobKind;
use crate::session::clusters::NOT_FOLLOWED;
use crate::session::desk::clusters::ClusterAnswer;

/// Images that can be said to belong together, or apart, at one time.
const PAIRED: usize = 100;
/// Clusters that can be asked for.
const MOST: usize = 10_000;
/// The words on the buttons that go on with a run, and that begin another one.
const GO_ON: &str = "Go on";
const ANEW: &str = "Begin anew";

impl ClustersView {
    /// How clusters are found.
    pub(super) fn head_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, answer: Option<&ClusterAnswer>) {
        let kept = answer.map(|answer| answer.kept.aim());
        let asked =
            |kept: &ClusterAim| Wish { look: kept.look.clone(), is_open: kept.clusters.is_none(), clusters: kept.clusters.unwrap_or(20) };
        let mut wish = self.wish.clone().or_else(|| kept.as_ref().map(asked)).unwrap_or(Wish { look: None, is_open: true, clusters: 20 });
        wish.look = self.look.clone().unwrap_or(wish.look);
        let before = wish.clone();
        ui.horizontal_wrapped(|ui| {
            let is_entered = wish_ui(ui, panel, &mut wish);
            if wish != before {
                self.wish = Some(wish.clone());
            }
            if wish.look != before.look {
                self.look = Some(wish.look.clone());
            }
            if let Some(job) = panel.desk.jobs().of(&JobKind::FindClusters) {
                self.wants_to_find = false;
                // Stop stands behind where these are, so that no second press meets another button.
                for words in [GO_ON, ANEW] {
                    ui.add_enabled(false, Button::new(words));
                }
                let stop = if job.stopping { "Stopping…" } else { "Stop" };
                let button = ui.add_enabled(!job.stopping, Button::new(stop));
                if button.on_hover_text("What was found until then stays; it can go on at any time").clicked() {
                    panel.ask(Command::Cancel(job.id));
                }
                ui.spinner();
                line(ui, RichText::new(words::job(&job)).weak());
                return;
            }
            let aim = ClusterAim {
                look: wish.look.clone(),
                clusters: (!wish.is_open).then_some(wish.clusters),
                ..kept.clone().unwrap_or_default()
            };
            // The usual ones are what the network sees, or else edges and colours.
            let is_usual = |look: &Option<Look>| matches!(look, Some(Look::Network | Look::Appearance));
            let is_by = |look: &Option<Look>| aim.look == *look || (aim.look.is_none() && is_usual(look));
            let same = kept.filter(|kept| kept.clusters == aim.clusters && is_by(&kept.look));
            let is_asked = panel.desk.clusters().is_known() && std::mem::take(&mut self.wants_to_find);
            let Some(same) = same else {
                let button = main_button(ui, "Find clusters").on_hover_text("Changes nothing in the library; can be stopped at any time");
                if button.clicked() || is_asked || is_entered {
                    self.look = Some(wish.look);
                    panel.ask(Command::FindClusters(aim));
                }
                return;
            };
            self.wish = None;
            let go_on = ui.button(GO_ON).on_hover_text("Twenty more passes over the images, from where it ended");
            if go_on.clicked() || is_asked {
                panel.ask(Command::FindClusters(same));
            } else if ui.button(ANEW).on_hover_text("Finds other clusters, from another start; names stay").clicked() {
                panel.view.selection.clear();
                panel.ask(Command::FindClusters(ClusterAim { seed: aim.seed.wrapping_add(1), ..aim }));
            }
        });
        if let Some(answer) = answer {
            told_ui(ui, panel, answer);
        }
    }

    /// What can be done with the selected images.
    pub(super) fn chosen_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, answer: &ClusterAnswer, chosen: &Chosen) {
        let (n, whole) = (chosen.total, chosen.whole(answer).len());
        let words = match (n, whole) {
            (0, _) => "Nothing selected".to_owned(),
            (_, 0 | 1) => format!("{} selected", count(n, "image")),
            _ => format!("{} of {} selected", count(n, "image"), count(whole, "cluster")),
        };
        // On a line of its own, so that the buttons, and the list below them, keep their places.
        line(ui, RichText::new(words).strong());
        ui.horizontal_wrapped(|ui| {
            let none = ui.add_enabled(!panel.view.selection.is_empty(), Button::new("Select none"));
            if none.on_hover_text("Escape").clicked() {
                panel.view.selection.clear();
            }
            let hover = "Of the selected images, those without a class stay selected";
            if ui.add_enabled(n > 0, Button::new("Only without a class")).on_hover_text(hover).clicked() {
                let without: Vec<ItemId> = panel.view.selection.iter().filter(|id| panel.label_of(*id).is_none()).collect();
                panel.view.selection.set(without);
            }
            if ui.add_enabled(n > 0, Button::new("Name…")).on_hover_text("Labels the selected images, in one act (L)").clicked() {
                name(panel);
            }
            let one_by_one = ui.add_enabled(n > 0, Button::new("Label one by one"));
            if one_by_one.on_hover_text("The selected images on the page Label, the most typical first").clicked() {
                panel.act(Action::LabelThese);
            }
            let hover = "Makes the selected clusters one, and goes on from there (M)";
            if ui.add_enabled(whole > 1, Button::new("Merge")).on_hover_text(hover).clicked() {
                merge(panel, answer, chosen);
            }
            let hover = "Makes the selected cluster two, and goes on from there (S)";
            if ui
                .add_enabled(whole == 1, Button::new("Split"))
                .on_hover_text(hover)
                .on_disabled_hover_text("Select one cluster first")
                .clicked()
            {
                split(panel, answer, chosen);
            }
            let is_paired = (2..=PAIRED).contains(&n);
            let together = ui.add_enabled(is_paired, Button::new("These belong together"));
            let disabled = format!("Select 2 to {PAIRED} images first");
            if together.on_hover_text("Goes on with these images in one cluster").on_disabled_hover_text(&disabled).clicked() {
                say(panel, answer, Bond::Together);
            }
            let apart = ui.add_enabled(is_paired, Button::new("These do not belong together"));
            if apart.on_hover_text("Goes on with each of these images in another cluster").on_disabled_hover_text(disabled).clicked() {
                say(panel, answer, Bond::Apart);
            }
        });
        ui.add_space(2.0);
    }
}

/// The vectors that are compared, and the number of clusters. Whether Enter was pressed in that.
fn wish_ui(ui: &mut Ui, panel: &Panel<'_>, wish: &mut Wish) -> bool {
    let all = look_choices(panel, panel.desk.clusters().sets());
    let chosen = all.iter().find(|choice| choice.look == wish.look && choice.is_there).or(all.first());
    let shown = chosen.map(|choice| choice.name.clone()).unwrap_or_default();
    ui.label("Compare by");
    let combo = ComboBox::from_id_salt("clusters by").selected_text(&shown).width(200.0).height(DROP_DOWN);
    let response = combo.show_ui(ui, |ui| {
        for LookChoice { look, name, hover, is_there } in &all {
            let button = ui.add_enabled(*is_there, Button::selectable(wish.look == *look, name));
            if button.on_hover_text(hover).on_disabled_hover_text(LEARNED_OFF).clicked() {
                wish.look.clone_from(look);
            }
        }
    });
    response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, format!("Compare by {shown}")));
    ui.label("Number");
    let open = "As many clusters as describe images best that took no part";
    ui.selectable_value(&mut wish.is_open, true, "Found by itself").on_hover_text(open);
    ui.selectable_value(&mut wish.is_open, false, "Given").on_hover_text("So many clusters as you say");
    let mut is_entered = false;
    if !wish.is_open {
        let number = ui.add(DragValue::new(&mut wish.clusters).range(1..=MOST).speed(0.2));
        let clusters = wish.clusters as f64;
        number.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::SpinButton, true, "Number of clusters");
            info.value = Some(clusters);
            info
        });
        is_entered = number.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    }
    is_entered
}

/// What is known of the clusters.
fn told_ui(ui: &mut Ui, panel: &mut Panel<'_>, answer: &ClusterAnswer) {
    let kept = &answer.kept;
    ui.horizontal_wrapped(|ui| {
        let shown = answer.clusters.len() + answer.oddities;
        let words = format!(
            "{} of {} by {} after {}",
            count(shown, "cluster"),
            count(kept.len(), "image"),
            kept.look().words(),
            count(kept.iterations() as usize, "iteration"),
        );
        ui.label(RichText::new(words).weak());
        if let Some(words) = unused(kept, shown) {
            ui.label(RichText::new(format!("· {words}")).weak());
        }
        if let Some((tried, hover)) = tried(kept.tried()) {
            ui.label(RichText::new(format!("· {tried}")).weak()).on_hover_text(hover);
        }
        if answer.left_out > 0 {
            let hover = "Nothing is known of them by which to compare, so they have no cluster";
            let words = format!("· {} cannot be compared by {}", count(answer.left_out, "image"), kept.look().words());
            ui.label(RichText::new(words).weak()).on_hover_text(hover);
        }
        let [together, apart] = answer.pairs;
        if together + apart > 0 {
            let words = format!("· {} together, {apart} apart", count(together, "pair"));
            ui.label(RichText::new(words).weak()).on_hover_text("What you said of images, by merging too; every run holds to it");
            if ui.small_button("Drop").on_hover_text("Drops what was said, and goes on without it").clicked() {
                panel.ask(Command::DropBonds);
            }
        }
        if !answer.follows_pairs && !panel.desk.jobs().is_running(&JobKind::FindClusters) {
            let hover = "Going on makes clusters follow it, where there are enough of them";
            ui.label(RichText::new(format!("· {NOT_FOLLOWED}")).weak()).on_hover_text(hover);
        }
    });
}

/// The numbers of clusters that were tried, in words, and what was measured.
fn tried(tried: &[(usize, f64)]) -> Option<(String, String)> {
    let best = tried.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let list = listed(tried.iter().map(|(clusters, _)| clusters));
    let lines: Vec<String> = tried.iter().map(|(clusters, likelihood)| format!("{clusters}: {likelihood:.2}")).collect();
    let hover = format!("The mean logarithm of the density of images left out, the higher the better:\n{}", lines.join("\n"));
    Some((format!("{list} tried, {} the best", best.0), hover))
}

/// Goes on with what is said of the selected images.
fn say(panel: &mut Panel<'_>, answer: &ClusterAnswer, bond: Bond) {
    let images: Vec<ItemId> = panel.view.selection.iter().filter(|id| answer.place_of(*id).is_some()).collect();
    panel.ask(Command::SayBond(images, bond));
}
