//! Why a search found the selected image: its score as a sum, and its path through the memory tree.

use egui::{Align2, CollapsingHeader, Color32, CornerRadius, Rect, RichText, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};
use tessera_core::ids::ItemId;
use tessera_core::library::guess::Guess;

use crate::command::Command;
use crate::gui::panel::Panel;
use crate::gui::theme;
use crate::gui::widgets::{heading, one_line};
use crate::gui::words::count;
use crate::session::why::{RouterReason, Why, memories};

/// The image whose explanation was requested, and the number of the search: each is requested once.
#[derive(Default)]
pub(in crate::gui::pages) struct AskedReasons(Option<(ItemId, u64)>);

pub(super) fn why_ui(ui: &mut Ui, panel: &mut Panel<'_>, asked: &mut AskedReasons, id: ItemId) {
    let hits = panel.desk.searching().hits().filter(|_| panel.desk.searching().hit(id).is_some());
    if let Some(wanted) = hits.map(|hits| (id, hits.number))
        && asked.0.replace(wanted) != Some(wanted)
    {
        panel.ask(Command::Why(id));
    }
    let Some(why) = panel.desk.searching().why().filter(|why| why.image == id) else { return };
    heading(ui, "Why it was found");
    if let Some(matched) = &why.matched {
        ui.label(RichText::new(format!("Answered by {matched}.")).weak());
    }
    ui.label(RichText::new(format!("Its score, {:.3}, is the sum of", why.score)).weak());
    let most = why.terms.iter().map(|(_, value)| value.abs()).fold(f64::MIN_POSITIVE, f64::max);
    for (term, value) in &why.terms {
        term_ui(ui, &term.words(), *value, most);
    }
    ways_ui(ui, why);
    guesses_ui(ui, panel, id);
}

/// The words that were guessed for the image, each with a button that rejects it.
fn guesses_ui(ui: &mut Ui, panel: &mut Panel<'_>, id: ItemId) {
    let guessed = panel.desk.searching().hit(id).map(|hit| hit.guessed.clone()).unwrap_or_default();
    for word in &guessed {
        let Guess { noun, chance } = &word.guess;
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(format!("guessed: {noun}, {chance:.2}")).weak());
            let button = ui.small_button("X").on_hover_text("Not so: it is not guessed for this image again");
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Reject the guess {noun}")));
            if button.clicked() {
                panel.ask(Command::RejectGuess(vec![id], noun.clone()));
            }
        });
    }
}

/// A term of the score as a bar; negative terms have another colour.
fn term_ui(ui: &mut Ui, words: &str, value: f64, most: f64) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{words} {value:+.3}")));
    let name_width = (rect.width() * 0.4).min(150.0);
    let name = one_line(ui, words, name_width - 6.0, ui.visuals().text_color());
    ui.painter().galley(pos2(rect.left(), rect.center().y - name.size().y / 2.0), name, ui.visuals().text_color());
    let room = Rect::from_min_max(pos2(rect.left() + name_width, rect.top() + 4.0), pos2(rect.right() - 52.0, rect.bottom() - 4.0));
    let colour = if value < 0.0 { ui.visuals().error_fg_color } else { theme::accent(ui) };
    let full = Rect::from_min_size(room.min, vec2(room.width() * (value.abs() / most) as f32, room.height()));
    ui.painter().rect_filled(room, CornerRadius::same(3), ui.visuals().faint_bg_color);
    ui.painter().rect_filled(full, CornerRadius::same(3), colour);
    let font = TextStyle::Small.resolve(ui.style());
    let at = pos2(rect.right(), rect.center().y);
    ui.painter().text(at, Align2::RIGHT_CENTER, format!("{value:+.3}"), font, ui.visuals().text_color());
    response.on_hover_text(format!("{words}: {value:+.4}"));
}

fn ways_ui(ui: &mut Ui, why: &Why) {
    for way in &why.ways {
        let tree = if why.ways.len() > 1 { format!(" (tree {})", way.tree) } else { String::new() };
        let words = format!("How the memory came to it{tree}");
        // A header is as wide as its words, and all that stands below it then as wide as that.
        let around = ui.spacing().indent + ui.spacing().button_padding.x;
        let short = one_line(ui, &words, ui.available_width() - around, Color32::PLACEHOLDER);
        let is_cut = short.elided;
        let header = CollapsingHeader::new(short).id_salt(("way", way.tree)).show(ui, |ui| {
            ui.label(
                RichText::new(format!("By {}. Each sends the query left (below 0) or right; the words below it moved it most. Another colour: the router says otherwise, but the other side was looked at as well.", count(way.turns.len(), "router"))).weak().small(),
            );
            for turn in &way.turns {
                turn_ui(ui, turn);
            }
            ui.label(
                RichText::new(format!(
                    "then a leaf with {} to score",
                    memories(way.memories)
                ))
                .small(),
            );
        });
        if is_cut {
            header.header_response.on_hover_text(words);
        }
    }
}

/// A router's margin on a line from -1 to 1, the side taken, and the words that decided.
fn turn_ui(ui: &mut Ui, turn: &RouterReason) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 16.0), Sense::hover());
    let side = if turn.right { "right" } else { "left" };
    let words = format!("{:+.2}, {side}", turn.margin);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    let room = Rect::from_min_max(pos2(rect.left(), rect.center().y - 2.0), pos2(rect.right() - 76.0, rect.center().y + 2.0));
    let at = |value: f64| room.left() + room.width() * (value.clamp(-1.0, 1.0) as f32 + 1.0) / 2.0;
    ui.painter().rect_filled(room, CornerRadius::same(2), ui.visuals().faint_bg_color);
    let colour = if turn.follows() { theme::accent(ui) } else { ui.visuals().warn_fg_color };
    let (low, high) = (at(turn.margin.min(0.0)), at(turn.margin.max(0.0)));
    ui.painter().rect_filled(Rect::from_x_y_ranges(low..=high.max(low + 1.0), room.y_range()), CornerRadius::same(2), colour);
    ui.painter().vline(at(0.0), rect.y_range(), egui::Stroke::new(1.0, ui.visuals().weak_text_color()));
    let font = TextStyle::Small.resolve(ui.style());
    ui.painter().text(pos2(rect.right(), rect.center().y), Align2::RIGHT_CENTER, words, font, ui.visuals().text_color());
    let aside = if turn.follows() { "" } else { ". The router says otherwise: this leaf was looked at as well because it nearly says so" };
    response.on_hover_text(format!("{} memories left, {} right{aside}", turn.counts[0], turn.counts[1]));
    if !turn.words.is_empty() {
        let told: Vec<String> = turn.words.iter().map(|(word, value)| format!("{word} {value:+.2}")).collect();
        ui.add(egui::Label::new(RichText::new(told.join("   ")).weak().small()).truncate());
    }
}
