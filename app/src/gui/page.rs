//! The pages of the window: their names, and the keys that turn to them.

use egui::{Key, KeyboardShortcut, Modifiers};

/// A page of the window. A new one is a variant here and a line in [`Page::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// All images.
    #[default]
    Browse,
    /// One image after another, to be labelled.
    Label,
    /// One image, its class and the reasons.
    Recognise,
    /// How good the recogniser is.
    Train,
    /// Saved models.
    Models,
    /// The library itself.
    Library,
    /// Near copies.
    Copies,
    /// Images like one.
    Similar,
    /// All images as points, near each other where they are alike.
    Map,
    /// Groups of images that look alike.
    Clusters,
}

/// How a page is listed in menus and in the bar on top.
#[derive(Clone, Copy, Debug)]
pub struct PageEntry {
    /// The page.
    pub page: Page,
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a sentence.
    pub hint: &'static str,
    shortcuts: [KeyboardShortcut; 1],
}

impl Page {
    /// All pages, in the order of the enum, which is that of the bar on top.
    pub const ALL: &[PageEntry] = &[
        entry(Self::Browse, "Browse", "All images", Key::Num1),
        entry(Self::Label, "Label", "One image after another, each with a suggestion that learns from every label", Key::Num2),
        entry(Self::Recognise, "Recognise", "One image, its class and the reasons", Key::Num3),
        entry(Self::Train, "Train", "How good the recogniser is, and what it confuses", Key::Num4),
        entry(Self::Models, "Models", "Saved models", Key::Num5),
        entry(Self::Library, "Library", "Folders, skipped files, copies, checks and the room it takes", Key::Num6),
        entry(Self::Copies, "Copies", "Copies and near copies in the whole library, compared side by side", Key::Num7),
        entry(Self::Similar, "Similar", "The images that are most like one, or like a part of it", Key::Num8),
        entry(Self::Map, "Map", "All images as points in the plane, near each other where they are alike", Key::Num9),
        entry(Self::Clusters, "Clusters", "Groups of images that look alike, found without labels, to be named at once", Key::Num0),
    ];

    /// How it is listed.
    pub fn entry(self) -> &'static PageEntry {
        &Self::ALL[self as usize]
    }

    /// The keys that turn to it.
    pub fn shortcuts(self) -> &'static [KeyboardShortcut] {
        &self.entry().shortcuts
    }
}

/// A page that Ctrl and a key turn to.
const fn entry(page: Page, name: &'static str, hint: &'static str, key: Key) -> PageEntry {
    PageEntry { page, name, hint, shortcuts: [KeyboardShortcut::new(Modifiers::COMMAND, key)] }
}

// The list is looked up by the number of the page.
const _: () = {
    let mut place = 0;
    while place < Page::ALL.len() {
        assert!(Page::ALL[place].page as usize == place, "the list is in the order of the enum");
        place += 1;
    }
};
