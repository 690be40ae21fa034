//! What this program is, and what it is made of.

use egui::Ui;

pub(super) fn about_ui(ui: &mut Ui) {
    ui.heading(concat!("Tessera ", env!("CARGO_PKG_VERSION")));
    ui.label("Finds and recognises images on one's own computer: it learns in one pass from folders, labels, captions and corrections, shows why it answered as it did, and can forget.");
    ui.add_space(6.0);
    ui.strong("Nothing leaves this computer");
    ui.label("There is no network code in this program, no account and no telemetry. Images stay where they are; what the library knows is in its own folder. A cluster that you name is asked by Python.");
    ui.add_space(6.0);
    ui.strong("Method");
    ui.label("Recognition is a compositional kernel machine over corners, gradient blocks and colour squares, after Gens and Domingos; a score is the exact sum of the pieces shown. Search is a contextual memory tree, after Sun, Beygelzimer, Daumé III, Langford and Mineiro. Suggestions mix several advisers, one of them multiclass learning by contextual search, after Guruganesh, Liu, Schneider and Wang.");
    ui.add_space(6.0);
    ui.strong("Licences");
    ui.label("Tessera: MIT or Apache-2.0. It stands on egui and eframe, image, imageproc, rayon, ron, rfd, SQLite and other free packages under MIT, Apache-2.0, BSD, Zlib, ISC, Unlicense and public-domain terms; its fonts are under the OFL and the Ubuntu font licence.");
}
