//! Opens the window on the screen, by eframe.

use std::path::PathBuf;

use tessera_core::error::contained;

use super::app::App;
use super::dialogs::Native;
use crate::ending::on_request;
use crate::session::Session;
use crate::settings::Settings;

const WAY_OUT: &str =
    "run it on a desktop with OpenGL, install the packages that the README lists, or use the command line (`tessera --help`)";

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _: &mut eframe::Frame) {
        App::logic(self, ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        App::ui(self, ui);
    }
}

/// Opens the window and waits until it is closed.
///
/// # Errors
/// When there is no screen, or what is needed to paint on it is missing; the words say which
/// package to install.
pub fn run(open: Option<PathBuf>, session: Session) -> anyhow::Result<()> {
    let icon = eframe::icon_data::from_png_bytes(include_bytes!("../../../assets/icon.png")).unwrap_or_default();
    let viewport = egui::ViewportBuilder::default()
        .with_title("Tessera")
        .with_app_id("tessera")
        .with_icon(icon)
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([760.0, 480.0]);
    let options = eframe::NativeOptions { viewport, renderer: eframe::Renderer::Glow, ..Default::default() };
    let start = move |creation: &eframe::CreationContext<'_>| -> Result<Box<dyn eframe::App>, Box<dyn std::error::Error + Send + Sync>> {
        let mut app = App::new(&creation.egui_ctx, session, Settings::place(), Box::new(Native::default()))?;
        if let Some(path) = open {
            // Dialogs begin beside it, wherever the program was started.
            app.open(std::path::absolute(&path).unwrap_or(path));
        }
        let window = creation.egui_ctx.clone();
        on_request(move || {
            window.send_viewport_cmd(egui::ViewportCommand::Close);
            window.request_repaint();
        })?;
        Ok(Box::new(app))
    };
    // Some graphics libraries panic when a package is missing; the message is the same then.
    let outcome = contained(|| eframe::run_native("Tessera", options, Box::new(start)));
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => anyhow::bail!("cannot open a window: {error}; {WAY_OUT}"),
        Err(words) => anyhow::bail!("cannot open a window: {}; {WAY_OUT}", crate::job::mistake(&words)),
    }
}
