//! The images that are shown: filters, sort order, the resulting list, and counts.

use std::collections::HashSet;
use std::sync::Arc;

use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::library::state::State;

use super::listing::{Census, Scope, Sort, list};
use super::selection::Selection;
use crate::session::class_tree::ClassTree;
use crate::session::desk::Desk;

/// The images that are shown. List and counts are computed anew only when something has changed.
#[derive(Default)]
pub struct Catalogue {
    /// The filters, all of which an image has to pass.
    pub scopes: Vec<Scope>,
    /// The sort order.
    pub sort: Sort,
    census: Arc<Census>,
    classes: Arc<Vec<String>>,
    tree: Arc<ClassTree>,
    list: Arc<Vec<ItemId>>,
    made_for: Option<MadeFor>,
}

/// What list and counts were computed from.
struct MadeFor {
    state: State,
    report: Option<Arc<Report>>,
    scopes: Vec<Scope>,
    sort: Sort,
}

/// What has changed.
#[derive(Debug, Default)]
pub struct Changes {
    /// Whether the library, or the report on its recogniser, has changed.
    pub library: bool,
    /// The images to search among, if these have changed; `None` inside means all.
    pub narrowed: Option<Option<Arc<Vec<ItemId>>>>,
}

impl Catalogue {
    /// The images that are shown, in order.
    pub fn list(&self) -> Arc<Vec<ItemId>> {
        Arc::clone(&self.list)
    }

    /// The number of images of each kind.
    pub fn census(&self) -> Arc<Census> {
        Arc::clone(&self.census)
    }

    /// The names of all classes, in order.
    pub fn classes(&self) -> Arc<Vec<String>> {
        Arc::clone(&self.classes)
    }

    /// All classes as a tree, with the number of their images.
    pub fn class_tree(&self) -> Arc<ClassTree> {
        Arc::clone(&self.tree)
    }

    /// Forgets the library; the sort order stays.
    pub fn clear(&mut self) {
        *self = Self { sort: self.sort, ..Self::default() };
    }

    /// Brings list and counts up to date with the open library, and deselects images that are gone;
    /// where these images are what the page shows, also those that are no longer shown.
    pub fn refresh(&mut self, desk: &Desk, selection: &mut Selection, are_shown: bool) -> Changes {
        let Some(state) = desk.state() else { return Changes::default() };
        let report = desk.recognising().report().map(|(report, _)| report);
        let is_same_report = |old: &MadeFor| old.report.as_ref().map(Arc::as_ptr) == report.map(Arc::as_ptr);
        let old = self.made_for.as_ref();
        let is_same_library = old.is_some_and(|old| old.state.is_same(state) && is_same_report(old));
        if is_same_library && old.is_some_and(|old| old.scopes == self.scopes && old.sort == self.sort) {
            return Changes::default();
        }
        if !is_same_library {
            let had_images = self.census.images > 0;
            self.census = Arc::new(Census::new(state, report.map(|report| &**report)));
            self.classes = Arc::new(state.classes().into_iter().map(|(name, _)| name.to_owned()).collect());
            let images = |class: &String| self.census.classes.get(class).copied().unwrap_or(0);
            self.tree = Arc::new(ClassTree::new(self.classes.iter().map(|class| (class.as_str(), images(class)))));
            // A class that was merged, renamed or deleted is shown no more.
            let tree = &self.tree;
            self.scopes.retain(|scope| match scope {
                Scope::Class(class) => state.class(class).is_some(),
                Scope::Below(path) => tree.has(path),
                _ => true,
            });
            // Without images only removed ones are left to filter.
            if had_images && self.census.images == 0 {
                self.scopes.retain(|scope| *scope == Scope::Removed && self.census.removed > 0);
            }
        }
        self.census.tidy(&mut self.scopes);
        self.list = Arc::new(list(state, &self.census, &self.scopes, self.sort));
        // An import that was undone leaves records without images.
        selection.retain(|id| state.image(id).is_some_and(|image| image.content.is_some()));
        if are_shown && (!self.scopes.is_empty() || old.is_some_and(|old| old.scopes != self.scopes)) {
            // Images that are not shown must not stay selected: labels apply to the selection.
            let shown: HashSet<ItemId> = self.list.iter().copied().collect();
            selection.retain(|id| shown.contains(&id));
        }
        let was_narrowed = old.is_some_and(|old| !old.scopes.is_empty());
        let is_narrowed = !self.scopes.is_empty();
        let narrowed = (is_narrowed || was_narrowed).then(|| is_narrowed.then(|| self.list()));
        let made_for = MadeFor { state: state.clone(), report: report.cloned(), scopes: self.scopes.clone(), sort: self.sort };
        self.made_for = Some(made_for);
        Changes { library: !is_same_library, narrowed }
    }
}
