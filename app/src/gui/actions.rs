//! The actions of menus, keys and the palette, with their words and keys.

use egui::{Context, Key, KeyboardShortcut, Modifiers};
use tessera_core::library::suggest::LabelOrder;

use super::page::Page;
use crate::command::{Export, ExportFormat};

/// An action that a user can choose from a menu, by a key or in the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Choose what to open.
    Open,
    /// Choose a folder to add.
    AddFolder,
    /// Open the sample.
    Sample,
    /// Close the library.
    Close,
    /// Look at all folders again.
    Rescan,
    /// Choose where a folder is now that has moved.
    Relocate,
    /// Choose a file of captions or labels.
    ReadTable,
    /// Choose a file or folder to export to.
    Export(Export),
    /// Close the window.
    Quit,
    /// Undo the last act.
    Undo,
    /// Redo what was undone last.
    Redo,
    /// Select everything shown.
    SelectAll,
    /// Select nothing.
    SelectNone,
    /// Select what is not selected.
    Invert,
    /// Remove what is selected.
    Remove,
    /// Bring back what is selected.
    Restore,
    /// Purge what is selected.
    Forget,
    /// Write into the search box.
    Find,
    /// Reward the selected images as good answers to the search.
    Good,
    /// Reward them as bad answers.
    Bad,
    /// Take their rewards back.
    Unsaid,
    /// Search by visual similarity to the selected image.
    Like,
    /// Find images like the selected one on the page of similar images.
    Similar,
    /// Choose an image whose similar images are to be found.
    SimilarFile,
    /// List the rewards that were given.
    Lessons,
    /// Label what is selected, one after another.
    LabelThese,
    /// Label many images at once.
    LabelMany,
    /// Label in the order of expected usefulness.
    UsefulFirst,
    /// Label those first on which advisers disagree.
    DisputedFirst,
    /// Label in the order of paths.
    ByFolder,
    /// Label in random order.
    ByChance,
    /// Look for wrong labels.
    Review,
    /// Rename the class that is shown, or join it with another.
    RenameClass,
    /// Choose the colour of the class that is shown.
    ColourClass,
    /// Delete the class that is shown.
    DeleteClass,
    /// Recognise what is selected.
    Recognise,
    /// Choose an image to recognise.
    RecogniseFile,
    /// Choose a folder whose images are recognised.
    RecogniseFolder,
    /// Evaluate the recogniser.
    Train,
    /// Find clusters, or go on finding them.
    FindClusters,
    /// Ask a cluster about the collection.
    AskCluster,
    /// Save the recogniser.
    SaveModel,
    /// Load a model.
    LoadModel,
    /// Open the viewer.
    View,
    /// Show the file in the file manager.
    Reveal,
    /// Copy the path.
    CopyPath,
    /// Turn to a page.
    Show(Page),
    /// Change the settings.
    Settings,
    /// List what was done.
    History,
    /// List what happened.
    Log,
    /// Check the library.
    Check,
    /// Make a backup of the library.
    BackUp,
    /// Restore a backup.
    RestoreBackup,
    /// Open the menu, or the first of them.
    Menu,
    /// All actions by their words.
    Palette,
    /// All keys.
    Keys,
    /// What this is.
    About,
    /// Larger thumbnails.
    Larger,
    /// Smaller thumbnails.
    Smaller,
    /// Fill the screen, or stop filling it.
    FullScreen,
}

impl Action {
    /// All exports, in the order of menus and palette.
    pub const EXPORTS: [Self; 15] = [
        Self::Export(Export::Labels(ExportFormat::Csv)),
        Self::Export(Export::Labels(ExportFormat::Tsv)),
        Self::Export(Export::Labels(ExportFormat::JsonLines)),
        Self::Export(Export::Labels(ExportFormat::Coco)),
        Self::Export(Export::Labels(ExportFormat::ClassFolders)),
        Self::Export(Export::Captions(ExportFormat::Csv)),
        Self::Export(Export::Captions(ExportFormat::Tsv)),
        Self::Export(Export::Captions(ExportFormat::JsonLines)),
        Self::Export(Export::Captions(ExportFormat::Coco)),
        Self::Export(Export::Captions(ExportFormat::Flickr8k)),
        Self::Export(Export::Captions(ExportFormat::Sidecar)),
        Self::Export(Export::Predictions(ExportFormat::Csv)),
        Self::Export(Export::Predictions(ExportFormat::Tsv)),
        Self::Export(Export::Predictions(ExportFormat::JsonLines)),
        Self::Export(Export::Events),
    ];

    /// Actions that are listed before the pages.
    const BEFORE_PAGES: [Self; 48] = [
        Self::Open,
        Self::AddFolder,
        Self::Sample,
        Self::ReadTable,
        Self::Rescan,
        Self::Relocate,
        Self::Check,
        Self::BackUp,
        Self::RestoreBackup,
        Self::Close,
        Self::Quit,
        Self::Undo,
        Self::Redo,
        Self::SelectAll,
        Self::SelectNone,
        Self::Invert,
        Self::Remove,
        Self::Restore,
        Self::Forget,
        Self::Find,
        Self::Good,
        Self::Bad,
        Self::Unsaid,
        Self::Like,
        Self::Similar,
        Self::SimilarFile,
        Self::Lessons,
        Self::LabelThese,
        Self::LabelMany,
        Self::UsefulFirst,
        Self::DisputedFirst,
        Self::ByFolder,
        Self::ByChance,
        Self::Review,
        Self::RenameClass,
        Self::ColourClass,
        Self::DeleteClass,
        Self::Recognise,
        Self::RecogniseFile,
        Self::RecogniseFolder,
        Self::Train,
        Self::FindClusters,
        Self::AskCluster,
        Self::SaveModel,
        Self::LoadModel,
        Self::View,
        Self::Reveal,
        Self::CopyPath,
    ];

    /// Actions that are listed after the pages.
    const AFTER_PAGES: [Self; 10] = [
        Self::Settings,
        Self::History,
        Self::Log,
        Self::Menu,
        Self::Palette,
        Self::Keys,
        Self::About,
        Self::Larger,
        Self::Smaller,
        Self::FullScreen,
    ];

    /// All actions but the exports, in the order of the palette and of the list of keys.
    pub fn all() -> impl Iterator<Item = Self> {
        let pages = Page::ALL.iter().map(|entry| Self::Show(entry.page));
        Self::BEFORE_PAGES.into_iter().chain(pages).chain(Self::AFTER_PAGES)
    }

    /// Its name in menus, and a sentence about what it does.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Open => ("Open…", "Open a folder of images, a library, a collection, a model or an image"),
            Self::AddFolder => ("Add folder…", "Import another folder of images into this library"),
            Self::Sample => ("Open the sample", "A small world of toys to try everything on"),
            Self::Close => ("Close library", "Everything is saved already"),
            Self::Rescan => ("Look for new images", "Look at all imported folders again"),
            Self::Relocate => {
                ("A folder has moved…", "Choose where the images of a folder lie now; labels, captions and what was learned stay")
            }
            Self::ReadTable => ("Read captions or labels…", "From CSV, TSV, JSON lines, COCO JSON or Flickr8k token files"),
            Self::Export(what) => exported(what),
            Self::Quit => ("Quit", "Everything is saved already"),
            Self::Undo => ("Undo", "Take back the last act, everywhere"),
            Self::Redo => ("Redo", "Do again what was taken back"),
            Self::SelectAll => ("Select all", "Everything that is shown"),
            Self::SelectNone => ("Select none", "Nothing"),
            Self::Invert => ("Invert selection", "What is not selected, of what is shown"),
            Self::Remove => ("Remove", "Hide the selected images and their influence; can be undone"),
            Self::Restore => ("Restore", "Bring removed images back"),
            Self::Forget => ("Forget for good…", "Purge the selected images from the library and from all it learned; cannot be undone"),
            Self::Find => ("Search", "Find images by captions, classes and names"),
            Self::Good => {
                ("Good answer", "The selected images answer the search: the memory learns it, and finds like images for like words")
            }
            Self::Bad => ("Bad answer", "The selected images do not answer the search"),
            Self::Unsaid => ("Take the reward back", "Of the selected images as answers to this search"),
            Self::Like => (
                "Find alike",
                "Images that look like the selected one, or like the part of it that the viewer shows; words narrow that down",
            ),
            Self::Similar => (
                "Open in Similar",
                "The images that are most like the selected one, or like the part of it that the viewer shows, each with its distance",
            ),
            Self::SimilarFile => {
                ("Similar to an image…", "Choose an image from anywhere, and find those of the library that are most like it")
            }
            Self::Lessons => ("Lessons", "Rewards that you gave to answers, to be taken back one by one"),
            Self::RenameClass => ("Rename or merge class…", "Give the class that is shown another name, or join it with another"),
            Self::ColourClass => ("Colour of class…", "Choose the colour of the class that is shown"),
            Self::DeleteClass => ("Delete class…", "Take the class that is shown away; its images stay"),
            Self::Recognise => ("Recognise this image", "Ask the recogniser what the selected image shows, and why"),
            Self::RecogniseFile => ("Recognise an image…", "Choose an image from anywhere"),
            Self::RecogniseFolder => ("Recognise a folder…", "Recognise all images of a folder, without importing them"),
            Self::Train => ("Judge the recogniser", "Measure how often it is right on objects that it has not seen"),
            Self::FindClusters => {
                ("Find clusters", "Groups of images that look alike, without labels; or twenty more passes over those that are there")
            }
            Self::AskCluster => ("Ask a cluster…", "Questions about the collection on show, answered by the machines of a Dask scheduler"),
            Self::SaveModel => ("Save model as…", "Save what was learned, to be used elsewhere"),
            Self::LoadModel => ("Load model…", "Recognise with a model from elsewhere"),
            Self::View => ("View", "Look at the selected image"),
            Self::Reveal => ("Show in file manager", "Open the folder of the selected image"),
            Self::CopyPath => ("Copy path", "Of the selected images"),
            Self::LabelThese => ("Label one by one", "The selected images, each with a suggestion"),
            Self::LabelMany => ("Label many…", "Images that are suggested the same, or all chosen ones, at once"),
            Self::UsefulFirst => {
                ("Label in the order: most useful first", "Those of which the advisers are unsure, and that look unlike each other")
            }
            Self::DisputedFirst => ("Label in the order: disputed first", "Those on which the advisers disagree"),
            Self::ByFolder => ("Label in the order of folders", "By paths"),
            Self::ByChance => ("Label in any order", "By chance"),
            Self::Review => ("Review labels", "Find labels that look wrong, each with the reasons"),
            Self::Show(page) => (page.entry().name, page.entry().hint),
            Self::Settings => ("Settings", "Light or dark theme, sizes, and how the window works"),
            Self::History => ("History", "Everything that was done, to be taken back step by step"),
            Self::Log => ("Log", "What happened since the window was opened"),
            Self::Check => ("Check library", "Make sure that the library is sound"),
            Self::BackUp => (
                "Back up…",
                "Copy labels, captions, history and saved models to a folder, best on another disk; image files stay where they are",
            ),
            Self::RestoreBackup => ("Restore a backup…", "Make a library of a backup again; what it takes the place of is kept"),
            Self::Menu => ("Menu", "Opens the menu; arrows and Enter choose, Esc closes it"),
            Self::Palette => ("Commands", "Everything that can be done, by its words"),
            Self::Keys => ("Keyboard", "All keys"),
            Self::About => ("About", "What this is and what it is made of"),
            Self::Larger => ("Larger thumbnails", ""),
            Self::Smaller => ("Smaller thumbnails", ""),
            Self::FullScreen => ("Full screen", ""),
        }
    }

    /// Other words by which the palette finds it.
    pub fn other_words(self) -> &'static [&'static str] {
        match self {
            Self::BackUp => &["share", "give", "send", "copy"],
            Self::Relocate => &["moved", "missing", "lost", "relocate", "cannot be shown"],
            Self::SaveModel => &["share", "give"],
            Self::Keys => &["shortcuts"],
            Self::Settings => &["preferences", "options"],
            Self::Show(Page::Copies) => &["duplicates"],
            _ => &[],
        }
    }

    /// Its shortcuts, the first of which is shown in menus.
    pub fn shortcuts(self) -> &'static [KeyboardShortcut] {
        const fn key(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
            KeyboardShortcut::new(modifiers, key)
        }
        const CTRL: Modifiers = Modifiers::COMMAND;
        const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
        const NONE: Modifiers = Modifiers::NONE;
        match self {
            Self::Open => const { &[key(CTRL, Key::O)] },
            Self::AddFolder => const { &[key(CTRL_SHIFT, Key::O)] },
            Self::Rescan => const { &[key(NONE, Key::F5)] },
            Self::Close => const { &[key(CTRL, Key::W)] },
            Self::Quit => const { &[key(CTRL, Key::Q)] },
            Self::Redo => const { &[key(CTRL_SHIFT, Key::Z), key(CTRL, Key::Y)] },
            Self::Undo => const { &[key(CTRL, Key::Z)] },
            Self::SelectNone => const { &[key(CTRL_SHIFT, Key::A)] },
            Self::SelectAll => const { &[key(CTRL, Key::A)] },
            Self::Invert => const { &[key(CTRL, Key::I)] },
            Self::Remove => const { &[key(NONE, Key::Delete)] },
            Self::Find => const { &[key(CTRL, Key::F), key(NONE, Key::Slash)] },
            Self::Good => const { &[key(NONE, Key::G)] },
            Self::Bad => const { &[key(NONE, Key::B)] },
            Self::Unsaid => const { &[key(NONE, Key::N)] },
            Self::Like => const { &[key(NONE, Key::L)] },
            Self::Similar => const { &[key(Modifiers::SHIFT, Key::L)] },
            Self::Lessons => const { &[key(CTRL, Key::L)] },
            Self::Recognise => const { &[key(NONE, Key::E)] },
            Self::Train => const { &[key(CTRL, Key::T)] },
            Self::SaveModel => const { &[key(CTRL_SHIFT, Key::S), key(CTRL, Key::S)] },
            Self::View => const { &[key(NONE, Key::Enter)] },
            Self::Show(page) => page.shortcuts(),
            Self::LabelThese => const { &[key(CTRL_SHIFT, Key::L)] },
            Self::LabelMany => const { &[key(CTRL, Key::B)] },
            Self::Review => const { &[key(CTRL, Key::R)] },
            Self::Settings => const { &[key(CTRL, Key::Comma)] },
            Self::History => const { &[key(CTRL, Key::H)] },
            Self::Menu => const { &[key(NONE, Key::F10)] },
            Self::Palette => const { &[key(CTRL, Key::K), key(CTRL, Key::P)] },
            Self::Keys => const { &[key(NONE, Key::Questionmark), key(Modifiers::SHIFT, Key::Questionmark), key(NONE, Key::F1)] },
            Self::Larger => const { &[key(CTRL, Key::Plus), key(CTRL, Key::Equals)] },
            Self::Smaller => const { &[key(CTRL, Key::Minus)] },
            Self::FullScreen => const { &[key(NONE, Key::F11)] },
            _ => &[],
        }
    }

    /// Whether the shortcut is a plain key, which is ignored while a text field has the focus.
    fn is_bare(shortcut: &KeyboardShortcut) -> bool {
        !shortcut.modifiers.command && !matches!(shortcut.logical_key, Key::F1 | Key::F5 | Key::F10 | Key::F11)
    }

    /// The actions whose keys were pressed. Plain keys are ignored while a text field has the
    /// focus, and those of actions in whose place the page uses them itself (`is_taken`).
    pub fn pressed(ctx: &Context, is_taken: impl Fn(Self) -> bool) -> Vec<Self> {
        let writes = ctx.text_edit_focused();
        let has_focus = ctx.memory(|memory| memory.focused().is_some());
        let mut found = Vec::new();
        // Shortcuts with Shift come first, so that Ctrl+Shift+Z is not taken for Ctrl+Z.
        let mut all: Vec<(Self, &KeyboardShortcut)> =
            Self::all().flat_map(|action| action.shortcuts().iter().map(move |shortcut| (action, shortcut))).collect();
        all.sort_by_key(|(_, shortcut)| std::cmp::Reverse(shortcut.modifiers.shift));
        for (action, shortcut) in all {
            let text_keys = [Self::SelectAll, Self::SelectNone, Self::Undo, Self::Redo];
            let is_bare = Self::is_bare(shortcut);
            if writes && (is_bare || text_keys.contains(&action)) || is_bare && is_taken(action) {
                continue;
            }
            // Enter belongs to the widget that has the focus.
            if has_focus && shortcut.logical_key == Key::Enter {
                continue;
            }
            let is_it = |event: &egui::Event| match event {
                egui::Event::Key { key, modifiers, pressed: true, repeat: false, .. } => {
                    *key == shortcut.logical_key && modifiers.matches_logically(shortcut.modifiers)
                }
                _ => false,
            };
            let anew = ctx.input(|input| input.events.iter().filter(|event| is_it(event)).count());
            let presses = ctx.input_mut(|input| input.count_and_consume_key(shortcut.modifiers, shortcut.logical_key));
            match action {
                // Several presses within a frame count each; repeats of a held key count once.
                Self::Undo | Self::Redo => found.extend(std::iter::repeat_n(action, anew.max(presses.min(1)))),
                _ if presses > 0 && !found.contains(&action) => found.push(action),
                _ => {}
            }
        }
        found
    }

    /// The labelling order that it chooses.
    pub fn order(self) -> Option<LabelOrder> {
        match self {
            Self::UsefulFirst => Some(LabelOrder::Useful),
            Self::DisputedFirst => Some(LabelOrder::Disagreement),
            Self::ByFolder => Some(LabelOrder::Folder),
            Self::ByChance => Some(LabelOrder::Random),
            _ => None,
        }
    }

    /// The reward that it gives to an answer; none takes one back.
    pub fn reward(self) -> Option<f64> {
        match self {
            Self::Good => Some(1.0),
            Self::Bad => Some(-1.0),
            _ => None,
        }
    }

    /// Its first shortcut in words.
    pub fn key_words(self, ctx: &Context) -> String {
        let words = |shortcut: &KeyboardShortcut| {
            let key = shortcut.logical_key;
            let words = ctx.format_shortcut(shortcut);
            words.strip_suffix(key.name()).map_or_else(|| words.clone(), |modifiers| format!("{modifiers}{}", key.symbol_or_name()))
        };
        self.shortcuts().first().map(words).unwrap_or_default()
    }
}

/// An export's name in menus, and a sentence about what it does.
fn exported(what: Export) -> (&'static str, &'static str) {
    const LABELS: &str = "A row for each image with its class";
    const CAPTIONS: &str = "What is said of each image";
    const PREDICTIONS: &str = "What the recogniser says of each image, without having seen its object";
    match what {
        Export::Labels(format) if format.is_images() => {
            ("Export images in a folder for each class…", "Class folders of copies or links; told before anything is written")
        }
        Export::Labels(ExportFormat::Tsv) => ("Export labels as TSV…", LABELS),
        Export::Labels(ExportFormat::JsonLines) => ("Export labels as JSON lines…", LABELS),
        Export::Labels(ExportFormat::Coco) => ("Export labels as COCO JSON…", LABELS),
        Export::Labels(_) => ("Export labels as CSV…", LABELS),
        Export::Captions(ExportFormat::Tsv) => ("Export captions as TSV…", CAPTIONS),
        Export::Captions(ExportFormat::JsonLines) => ("Export captions as JSON lines…", CAPTIONS),
        Export::Captions(ExportFormat::Coco) => ("Export captions as COCO JSON…", CAPTIONS),
        Export::Captions(ExportFormat::Flickr8k) => ("Export captions as a Flickr8k token file…", CAPTIONS),
        Export::Captions(ExportFormat::Sidecar) => ("Export captions as a .txt for each image…", CAPTIONS),
        Export::Captions(_) => ("Export captions as CSV…", CAPTIONS),
        Export::Predictions(ExportFormat::Tsv) => ("Export predictions as TSV…", PREDICTIONS),
        Export::Predictions(ExportFormat::JsonLines) => ("Export predictions as JSON lines…", PREDICTIONS),
        Export::Predictions(_) => ("Export predictions as CSV…", PREDICTIONS),
        Export::Events => ("Export events as JSON lines…", "Everything that was ever done in this library"),
    }
}
