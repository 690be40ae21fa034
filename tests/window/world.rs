//! A window without a screen, in folders of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, HarnessBuilder};
use image::{Rgb, RgbImage};
use tempfile::TempDir;
use tessera::command::Command;
use tessera::gui::App;
use tessera::gui::dialogs::{Dialogs, Scripted};
use tessera::session::Session;
use tessera::session::bin::{Bin, Returned};
use tessera_core::data::Labels;
use tessera_core::library::state::State;
use tessera_core::progress::Progress;

/// A window and the folders that it may write to.
pub(crate) struct World {
    pub(crate) harness: Harness<'static, App>,
    pub(crate) folder: TempDir,
}

/// How long a test waits for a condition, generous for a busy machine.
const PATIENCE: Duration = Duration::from_secs(400);

/// A bin that is a folder. It takes no file of a name with `stays`, and is stopped before it gives
/// back one with `late` for the first time.
struct FolderBin(PathBuf, AtomicBool);

impl Bin for FolderBin {
    fn take(&self, path: &Path) -> Result<(), String> {
        let name = path.file_name().unwrap();
        if name.to_string_lossy().contains("stays") {
            return Err("this bin is full".into());
        }
        std::fs::create_dir_all(&self.0).unwrap();
        std::fs::rename(path, self.0.join(name)).map_err(|error| error.to_string())
    }

    fn put_back(&self, files: &[(PathBuf, u64)], _: &Progress) -> Vec<Returned> {
        let one = |(file, _): &(PathBuf, u64)| {
            let there = self.0.join(file.file_name().unwrap());
            if file.to_string_lossy().contains("late") && !self.1.swap(true, Ordering::Relaxed) {
                return Returned::Stopped;
            }
            match (there.exists(), file.exists()) {
                (false, _) => Returned::NotThere,
                (true, true) => Returned::Refused("another file lies there".into()),
                (true, false) => {
                    std::fs::rename(there, file).map_or_else(|error| Returned::Refused(error.to_string()), |()| Returned::Back)
                }
            }
        };
        files.iter().map(one).collect()
    }
}

impl World {
    /// A window of 1280 by 800 points, whose dialogs answer with these paths (relative ones lie in
    /// the world's folder).
    pub(crate) fn new(answers: &[&str]) -> Self {
        Self::of_size([1280.0, 800.0], answers)
    }

    /// A window on an empty library without learned features: the network would take most of the
    /// time.
    pub(crate) fn without_network() -> Self {
        let mut world = Self::new(&[]);
        let library = world.path("own.tessera");
        let mut empty = Session::new(0, 0).unwrap().open_or_create_library(&library).unwrap();
        empty.set_learned_features(false, &Progress::default()).unwrap();
        empty.close().unwrap();
        world.run(Command::Open(library));
        world.until("the library is open", |app| app.desk().state().is_some());
        world
    }

    /// A library of so many classes in a tree of three levels, with so many images of each.
    pub(crate) fn of_classes(classes: u32, images: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut table = "path,label\n".to_owned();
        for number in 0..classes * images {
            let (class, name) = (number % classes, format!("folder {:02}/{number:05}.png", number / 200));
            std::fs::create_dir_all(folder.path().join(&name).parent().unwrap()).unwrap();
            picture(number, 16).save(folder.path().join(&name)).unwrap();
            table += &format!("{name},realm {}/kind {}/breed {class:03}\n", class / 100, class / 10 % 10);
        }
        let table_at = folder.path().join("labels.csv");
        std::fs::write(&table_at, table).unwrap();
        let mut world = Self::without_network();
        world.run(Command::Import { folder: folder.path().to_owned(), labels: Labels::None, exclude: Vec::new(), table: Some(table_at) });
        world.until("it is all there", |app| app.desk().state().is_some_and(|state| state.classes().len() == classes as usize));
        drop(folder.keep());
        world.step();
        world
    }

    pub(crate) fn of_size(size: [f32; 2], answers: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dialogs = Scripted::new(answers.iter().map(|answer| folder.path().join(answer)));
        Self::with(folder, size, Box::new(dialogs))
    }

    /// A window that keeps everything in a folder, in which settings may lie already.
    pub(crate) fn with(folder: TempDir, size: [f32; 2], dialogs: Box<dyn Dialogs>) -> Self {
        let session = Session::new(2, 0).unwrap().with_data_folder(folder.path().join("data"));
        let session = session.with_bin(Arc::new(FolderBin(folder.path().join("bin"), AtomicBool::new(false))));
        let settings = folder.path().join("settings.ron");
        let builder: HarnessBuilder<App> = Harness::builder().with_size(size).allow_missing_glyphs();
        let harness = builder.build_eframe(move |creation| {
            let app = App::new(&creation.egui_ctx, session.clone(), Some(settings.clone()), dialogs);
            app.unwrap()
        });
        let mut world = Self { harness, folder };
        world.step();
        world
    }

    /// A window on a library that was filled from a folder.
    pub(crate) fn on(images: &Path) -> Self {
        let mut world = Self::new(&[]);
        world.run(Command::Open(images.to_owned()));
        world.until("the images are there", |app| {
            app.desk().state().is_some_and(|state| state.images().count() > 0) && !app.desk().jobs().is_busy()
        });
        world
    }

    pub(crate) fn app(&self) -> &App {
        self.harness.state()
    }

    pub(crate) fn state(&self) -> &State {
        self.app().desk().state().unwrap()
    }

    pub(crate) fn step(&mut self) {
        self.harness.run_steps(2);
    }

    /// Requests a command as a panel would.
    pub(crate) fn run(&mut self, command: Command) {
        self.harness.state_mut().ask(command);
        self.step();
    }

    /// Runs frames until a condition holds.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&App) -> bool) {
        let start = Instant::now();
        while !is_so(self.app()) {
            assert!(start.elapsed() < PATIENCE, "waited in vain until {what}; the log says {:?}", self.app().desk().notices().log());
            std::thread::sleep(Duration::from_millis(4));
            self.harness.step();
        }
        self.step();
    }

    /// Runs frames until no job is running.
    #[track_caller]
    pub(crate) fn rest(&mut self) {
        // A request is performed in the next frame, and its result taken in one frame later.
        self.step();
        self.until("everything is done", |app| !app.desk().jobs().is_busy());
        std::thread::sleep(Duration::from_millis(30));
        self.step();
    }

    #[track_caller]
    pub(crate) fn click(&mut self, label: &str) {
        self.harness.get_by_label(label).click();
        self.step();
    }

    /// Presses something with the pointer, as a hand does: down in one frame, up in a later one.
    #[track_caller]
    pub(crate) fn press(&mut self, label: &str) {
        let pos = self.harness.get_by_label(label).rect().center();
        self.harness.event(egui::Event::PointerMoved(pos));
        self.step();
        for pressed in [true, false] {
            let (button, modifiers) = (egui::PointerButton::Primary, egui::Modifiers::NONE);
            self.harness.event(egui::Event::PointerButton { pos, button, pressed, modifiers });
            self.step();
        }
    }

    /// Presses the first thing whose words hold these.
    #[track_caller]
    pub(crate) fn click_containing(&mut self, part: &str) {
        self.harness.get_all_by_label_contains(part).next().unwrap().click();
        self.step();
    }

    pub(crate) fn shows(&self, part: &str) -> bool {
        self.harness.query_all_by_label_contains(part).next().is_some()
    }

    #[track_caller]
    pub(crate) fn type_into(&mut self, field: &str, text: &str) {
        self.harness.get_by_role_and_label(Role::TextInput, field).focus();
        self.step();
        self.harness.get_by_role_and_label(Role::TextInput, field).type_text(text);
        self.step();
    }

    pub(crate) fn key(&mut self, key: Key) {
        self.harness.key_press(key);
        self.step();
    }

    pub(crate) fn ctrl(&mut self, key: Key) {
        self.harness.key_press_modifiers(Modifiers::COMMAND, key);
        self.step();
    }

    pub(crate) fn ctrl_shift(&mut self, key: Key) {
        self.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, key);
        self.step();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A picture of its own for each number: blocks of colours.
pub(crate) fn picture(number: u32, side: u32) -> RgbImage {
    let mix = |x: u32| x.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(0x9e37_79b9);
    RgbImage::from_fn(side, side, |x, y| {
        let value = mix(number * 97 + x / 4 * 7 + y / 4 * 31);
        Rgb([value as u8, (value >> 8) as u8, (value >> 16) as u8])
    })
}

/// A folder with `n` pictures in each of some class folders.
pub(crate) fn class_folders(to: &Path, classes: &[&str], n: u32) {
    for (c, class) in classes.iter().enumerate() {
        let folder = to.join(class);
        std::fs::create_dir_all(&folder).unwrap();
        for i in 0..n {
            picture(c as u32 * 1000 + i, 48).save(folder.join(format!("{i:03}.png"))).unwrap();
        }
    }
}
