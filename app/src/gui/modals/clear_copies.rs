//! What becomes of all groups of copies when the best image of each is kept, before it is done.

use egui::{RichText, Ui};
use tessera_core::library::clearance::Clearance;

use crate::command::Command;
use crate::gui::panel::Panel;
use crate::gui::widgets::main_button;
use crate::gui::words::count;
use crate::session::desk::near_copies::CopiesToClear;

/// Returns whether the window is to be closed. Enter presses no button of it.
pub(super) fn clear_copies_ui(ui: &mut Ui, panel: &mut Panel<'_>, copies: &CopiesToClear, to_bin: bool) -> bool {
    let CopiesToClear { sure, unsure, .. } = copies;
    let (of_sure, of_unsure) = (images(sure), images(unsure));
    let (all, groups) = (count(of_sure + of_unsure, "image"), count(sure.len() + unsure.len(), "group"));
    ui.heading(format!("Remove {all} of {groups}?"));
    ui.label("The best image of each group stays; the others are hidden. This is how they differ from it:");
    for (n, words) in [
        (copies.same_pixels, "the same pixels in another file"),
        (copies.rewritten, "recompressed or resized"),
        (copies.turned, "rotated, mirrored or cropped. Pictures of things that only point another way are found so, too"),
    ] {
        if n > 0 {
            ui.label(format!("{}: {words}", count(n, "group")));
        }
    }
    for (n, words) in [
        (copies.differing, "captions or classes differ: look at these first, they may be no copies"),
        (copies.views, "images may be other views of one object"),
    ] {
        if n > 0 {
            ui.colored_label(ui.visuals().warn_fg_color, format!("In {} {words}", count(n, "group")));
        }
    }
    ui.label(
        "The image that is kept takes over the captions of those that go, so that a search for their words finds it. It also takes over \
         their class: one that you gave them, or that of their folders where it has none; none where they have several.",
    );
    ui.label(if to_bin {
        "Their files go to the bin of the system, as long as the file that is kept is there. Undo (Ctrl+Z) brings the images back, and \
         their files while they are in the bin."
    } else {
        "All files stay where they are. Undo (Ctrl+Z) takes it back."
    });
    let has_both = of_sure > 0 && of_unsure > 0;
    if has_both {
        let words = format!(
            "The same pictures are those of {} in which nothing is rotated, mirrored or cropped, no captions or classes differ and \
             nothing may be another view. The other groups stay in the list, to be looked at one by one.",
            count(sure.len(), "group")
        );
        ui.label(RichText::new(words).weak());
    }
    ui.add_space(6.0);
    ui.horizontal_wrapped(|ui| {
        let mut cleared = None;
        if has_both && main_button(ui, &format!("Remove only the same pictures: {}", count(of_sure, "image"))).clicked() {
            cleared = Some(sure.clone());
        }
        let words = format!("Remove {}{all}", if has_both { "all " } else { "" });
        let button = if of_unsure == 0 { main_button(ui, &words) } else { ui.button(words) };
        if button.clicked() {
            cleared = Some([sure.as_slice(), unsure.as_slice()].concat());
        }
        let confirms = cleared.is_some();
        if let Some(cleared) = cleared {
            panel.ask(if to_bin { Command::RemoveToBin(cleared) } else { Command::Clear(cleared) });
        }
        ui.button("Cancel").clicked() || confirms
    })
    .inner
}

fn images(cleared: &[Clearance]) -> usize {
    cleared.iter().map(|clearance| clearance.removed.len()).sum()
}
