//! What would change without one training image: for the image that was recognised last, and for
//! the images that the recogniser was judged by.

use egui::{RichText, Ui};
use tessera_core::ckm::harm::Harm;
use tessera_core::ids::ItemId;

use super::panel::Panel;
use super::words::count;
use crate::command::Command;
use crate::job::JobKind;
use crate::session::desk::view::{Recognition, WithoutImage};

/// Offers to leave a training image out, and shows what came of it.
pub(super) fn without_ui(ui: &mut Ui, panel: &mut Panel<'_>, image: ItemId) {
    let recognition = panel.desk.recognising().recognition().cloned();
    let harm = panel.desk.recognising().harm().and_then(|(harm, _)| harm.of(image).map(|of| in_words(of, harm.judged)));
    if recognition.is_none() && harm.is_none() {
        return;
    }
    let found = panel.desk.recognising().without().filter(|without| without.image == image).cloned();
    ui.horizontal_wrapped(|ui| {
        if let Some(recognition) = &recognition {
            let hover = format!("Recognises {} again, by all training images but this one", recognition.name);
            if ui.button("What would change without it").on_hover_text(hover).clicked() {
                panel.ask(Command::LeaveOut(image));
            }
            if panel.desk.jobs().is_running(&JobKind::LeaveOut) {
                ui.spinner();
            }
        }
        if let Some(harm) = harm {
            ui.label(RichText::new(harm).weak());
        }
        if let (Some(recognition), Some(found)) = (&recognition, &found) {
            ui.label(changes(recognition, found));
        }
    });
}

/// What a training image does to the images that the recogniser was judged by. A lead is a score's
/// share of what elements that are all the same would give, its mean over the classes.
pub(super) fn in_words(harm: &Harm, judged: usize) -> String {
    let (gain, spread) = (100.0 * harm.gain.value, 100.0 * harm.gain.spread);
    if (harm.misled, harm.helped) == (0, 0) {
        let moved = if harm.lead > 0.0 { "a little further ahead" } else { "a little less ahead" };
        return format!("Without it no more of {} would be right, but right answers would be {moved}.", count(judged, "judged image"));
    }
    format!(
        "Without it {} more of {} would be right, {} fewer: {gain:+.1} ± {spread:.1} points of mean recall.",
        harm.misled,
        count(judged, "judged image"),
        harm.helped
    )
}

/// What became of an answer without a training image.
fn changes(recognition: &Recognition, without: &WithoutImage) -> String {
    let [(was, _), ..] = recognition.scores.as_slice() else { return String::new() };
    if without.was_left_out {
        return "Nothing would change: it shows the same object, so it was left out already.".into();
    }
    let Some((now, _)) = without.scores.first() else { return "No class would have a score.".into() };
    let change = |(class, score): &(String, f64)| {
        let before = recognition.scores.iter().find(|(name, _)| name == class)?.1;
        let moved = score - before;
        (moved.abs() > 5e-5).then(|| format!("{class} {score:.2} ({moved:+.2})"))
    };
    let moved: Vec<String> = without.scores.iter().filter_map(change).collect();
    let gone = recognition.scores.iter().filter(|(class, _)| without.scores.iter().all(|(name, _)| name != class));
    let moved: Vec<String> = moved.into_iter().chain(gone.map(|(class, _)| format!("{class} would have no image"))).collect();
    let answer = if now == was { format!("Still {was}") } else { format!("The answer would be {now}, not {was}") };
    if moved.is_empty() { format!("{answer}; no score would change.") } else { format!("{answer}: {}.", moved.join(", ")) }
}
