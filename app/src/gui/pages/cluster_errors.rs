//! Errors by cluster, on the page of training: groups of images that look alike and of which the
//! recogniser takes many for another class.

use std::collections::BTreeMap;

use egui::{RichText, Ui};
use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;

use super::looks::no_clusters;
use crate::gui::actions::Action;
use crate::gui::page::Page;
use crate::gui::panel::Panel;
use crate::gui::widgets::{class_words, line};
use crate::gui::words::grouped;
use crate::session::reports::is_right;

/// Clusters that are listed.
const LISTED: usize = 8;

/// What was judged of a cluster.
#[derive(Default)]
struct Judged {
    images: usize,
    wrong: Vec<ItemId>,
}

/// The clusters with the most judged images that were taken for another class. A press selects
/// these images on the page Clusters.
pub(super) fn cluster_errors_ui(ui: &mut Ui, panel: &mut Panel<'_>, report: &Report) {
    let (Some(answer), Some(state)) = (panel.desk.clusters().answer().cloned(), panel.state()) else {
        ui.label(RichText::new(no_clusters(panel)).small().weak());
        return;
    };
    let mut by_cluster: BTreeMap<usize, Judged> = BTreeMap::new();
    for judged in &report.judged {
        let (Some(place), Some(is_right)) = (answer.place_of(judged.image), is_right(state, report, judged)) else { continue };
        let own = by_cluster.entry(place).or_default();
        own.images += 1;
        if !is_right {
            own.wrong.push(judged.image);
        }
    }
    let mut listed: Vec<(usize, Judged)> = by_cluster.into_iter().filter(|(_, own)| !own.wrong.is_empty()).collect();
    if listed.is_empty() {
        ui.label(RichText::new("None of the judged images in a cluster was taken for another class.").small().weak());
        return;
    }
    listed.sort_by_key(|(place, own)| (std::cmp::Reverse(own.wrong.len()), *place));
    ui.label(RichText::new("Images that look alike, and how many of them were taken for another class.").small().weak());
    for (place, own) in listed.into_iter().take(LISTED) {
        let title = answer.title(place);
        let words = format!("{} of {}", grouped(own.wrong.len()), grouped(own.images));
        ui.horizontal(|ui| {
            let button = ui.small_button("Show").on_hover_text("Selects these images on the page Clusters");
            let spoken = format!("Show {words} wrong in {title}");
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &spoken));
            if button.clicked() {
                panel.view.select_on(Page::Clusters, own.wrong.iter().copied());
                panel.act(Action::Show(Page::Clusters));
            }
            ui.label(RichText::new(words).strong());
            let short = class_words(ui, title, ui.available_width());
            line(ui, short).on_hover_text(title);
        });
    }
}
