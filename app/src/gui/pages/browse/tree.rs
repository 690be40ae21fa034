//! The tree at the left: filters by kind, class and folder, with counts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use egui::{Color32, CornerRadius, Key, Pos2, Rect, Response, RichText, Role, ScrollArea, Sense, TextEdit, TextStyle, Ui, WidgetInfo};
use egui::{pos2, vec2};
use tessera_core::error::display;
use tessera_core::library::event::{RootId, UserLabel};

use crate::command::Command;
use crate::gui::actions::Action;
use crate::gui::class_picker::key_spot;
use crate::gui::listing::{Census, Scope};
use crate::gui::modal::Modal;
use crate::gui::panel::Panel;
use crate::gui::theme;
use crate::gui::widgets::rows::rows_ui;
use crate::gui::widgets::{class_words, one_line};
use crate::gui::words::{self, grouped};
use crate::session::class_tree::{ClassRow, ClassTree, NameFilter};

/// The width of a class's name in its menu, at most.
const MENU: f32 = 220.0;
/// The height of an entry.
const ROW: f32 = 24.0;
/// The width by which an entry stands to the right of that above it.
const INDENT: f32 = 13.0;
/// Entries from which on there is a field that filters them.
const MANY: usize = 15;
/// The height from which on classes and folders scroll apart.
const ROOMY: f32 = 240.0;
/// The share of it that classes take at most where there are more folders than fit.
const FOR_CLASSES: f32 = 0.62;

/// What is typed and open in the tree.
#[derive(Default)]
pub(super) struct TreeView {
    filter: String,
    /// Paths of the class nodes that are open.
    open: BTreeSet<String>,
    /// Folders that are open, and roots that are closed.
    turned: BTreeSet<(RootId, PathBuf)>,
    rows: Option<Rows>,
}

/// The rows that are shown, and what they were made of.
struct Rows {
    tree: Arc<ClassTree>,
    census: Arc<Census>,
    classes: Vec<ClassRow>,
    folders: Vec<FolderRow>,
}

/// A folder as it is shown.
struct FolderRow {
    root: RootId,
    path: PathBuf,
    name: String,
    whole: String,
    depth: usize,
    /// Whether it is open, where there are folders inside.
    fold: Option<bool>,
    images: usize,
}

/// An entry of the tree.
#[derive(Default)]
struct Entry<'a> {
    words: &'a str,
    count: usize,
    hover: &'a str,
    depth: usize,
    /// Whether it is open, where there is something below it.
    fold: Option<bool>,
    /// Whether others of its list have something below them, beside whose sign it stands.
    is_among_folds: bool,
    colour: Option<Color32>,
    key: Option<String>,
}

impl TreeView {
    pub(super) fn ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>) {
        let height = ui.available_height();
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            let top = ui.cursor().top();
            kinds_ui(ui, panel);
            self.filter_ui(ui, panel);
            self.make_rows(panel);
            let Some(rows) = self.rows.take() else { return };
            let step = ROW + ui.spacing().item_spacing.y;
            let [classes, folders] = [rows.classes.len(), rows.folders.len()].map(|n| n as f32 * step);
            // Two headings stand above the lists.
            let room = height - (ui.cursor().top() - top) - 2.0 * 36.0;
            let is_apart = room > ROOMY && classes + folders > room;
            let for_classes = classes.min((room - folders).max(FOR_CLASSES * room));
            let limit = |height: f32| if is_apart { height } else { f32::INFINITY };
            // What another text leaves is shown from its beginning.
            let filter = self.filter.clone();
            classes_head_ui(ui, panel);
            let is_tree = rows.tree.nodes().iter().any(|node| node.below > 0);
            list_ui(ui, &format!("classes {filter}"), limit(for_classes), rows.classes.len(), |ui, i| {
                self.class_ui(ui, panel, &rows.tree, rows.classes[i], is_tree)
            });
            folders_head_ui(ui, panel);
            let is_among_folds = rows.folders.iter().any(|row| row.fold.is_some());
            list_ui(ui, &format!("folders {filter}"), limit(room - for_classes), rows.folders.len(), |ui, i| {
                self.folder_ui(ui, panel, &rows.folders[i], is_among_folds)
            });
            self.rows.get_or_insert(rows);
        });
    }

    /// The field that filters classes and folders, where there are many.
    fn filter_ui(&mut self, ui: &mut Ui, panel: &Panel<'_>) {
        let n = panel.view.shown.class_tree().nodes().len() + panel.view.shown.census().folders.len();
        if n <= MANY && self.filter.is_empty() {
            return;
        }
        ui.add_space(6.0);
        let edit = TextEdit::singleline(&mut self.filter).hint_text("Filter classes and folders").desired_width(f32::INFINITY);
        let response = ui.add(edit.char_limit(200));
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter classes and folders"));
        if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
            self.filter.clear();
        }
        if response.changed() || response.lost_focus() {
            self.rows = None;
        }
    }

    /// Works out the rows anew where anything has changed.
    fn make_rows(&mut self, panel: &Panel<'_>) {
        let (tree, census) = (panel.view.shown.class_tree(), panel.view.shown.census());
        if self.rows.as_ref().is_some_and(|rows| Arc::ptr_eq(&rows.tree, &tree) && Arc::ptr_eq(&rows.census, &census)) {
            return;
        }
        let filter = NameFilter::new(&self.filter);
        let mut folders = Vec::new();
        for (id, root) in panel.state().into_iter().flat_map(|state| state.roots()) {
            // Of one that holds single files nothing is left once these are taken out.
            if census.is_nested(id) || root.is_of_files() && census.folders.get(&(id, PathBuf::new())).is_none_or(|images| *images == 0) {
                continue;
            }
            let name = root.path.file_name().unwrap_or(root.path.as_os_str()).to_string_lossy().into_owned();
            self.enter(&mut folders, &census, &filter, FolderRow::new(id, PathBuf::new(), name, display(&root.path), 0));
        }
        self.rows = Some(Rows { classes: tree.rows(&filter, &self.open), folders, tree, census });
    }

    /// Adds a folder and those inside it, as far as the filter lets them pass. Returns whether any
    /// does.
    fn enter(&self, rows: &mut Vec<FolderRow>, census: &Census, filter: &NameFilter, mut row: FolderRow) -> bool {
        let key = (row.root, row.path.clone());
        row.images = census.folders.get(&key).copied().unwrap_or(0);
        let inner = census.inside.get(&key).map(Vec::as_slice).unwrap_or_default();
        let is_open = !filter.is_empty() || self.turned.contains(&key) != (row.depth == 0);
        row.fold = (!inner.is_empty()).then_some(is_open);
        let (place, depth, root) = (rows.len(), row.depth + 1, row.root);
        let mut fits = filter.fits(&row.whole);
        rows.push(row);
        for path in inner.iter().filter(|_| is_open) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            fits |= self.enter(rows, census, filter, FolderRow::new(root, path.clone(), name, display(path), depth));
        }
        if !fits {
            rows.truncate(place);
        }
        fits
    }

    fn class_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, tree: &ClassTree, row: ClassRow, is_tree: bool) {
        let (i, is_own) = match row {
            ClassRow::Node(i) => (i, false),
            ClassRow::Own(i) => (i, true),
        };
        let Some(node) = tree.nodes().get(i) else { return };
        let is_group = node.below > 0 && !is_own;
        let count = if is_group { node.images } else { node.own };
        let key = panel.key_of(&node.path).filter(|_| node.is_class);
        let how = key.as_ref().map(|key| format!("; key {key} labels the selected images")).unwrap_or_default();
        let what = if is_group { format!("{} and all classes below it", node.path) } else { node.path.clone() };
        let hover = format!("{what}: {}{how}. Right-click for more", words::count(count, "image"));
        let alone = format!("{} alone", node.name);
        let is_open = !self.filter.trim().is_empty() || self.open.contains(&node.path);
        let entry = Entry {
            words: if is_own { &alone } else { &node.name },
            count,
            hover: &hover,
            depth: node.depth + usize::from(is_own),
            fold: is_group.then_some(is_open),
            is_among_folds: is_tree,
            colour: node.is_class.then(|| panel.colour(&node.path)),
            key: key.filter(|_| !is_own),
        };
        let scope = if is_group { Scope::Below(node.path.clone()) } else { Scope::Class(node.path.clone()) };
        let (response, is_turned) = scope_ui(ui, panel, scope, &entry);
        if is_turned {
            if !self.open.remove(&node.path) {
                self.open.insert(node.path.clone());
            }
            self.rows = None;
            self.make_rows(panel);
        }
        if node.is_class {
            response.context_menu(|ui| class_menu_ui(ui, panel, &node.path));
        }
    }

    fn folder_ui(&mut self, ui: &mut Ui, panel: &mut Panel<'_>, row: &FolderRow, is_among_folds: bool) {
        let hover = format!("{}. Right-click for more", row.whole);
        let entry = Entry {
            words: &row.name,
            count: row.images,
            hover: &hover,
            depth: row.depth,
            fold: row.fold,
            is_among_folds,
            ..Entry::default()
        };
        let (response, is_turned) = scope_ui(ui, panel, Scope::Folder(row.root, row.path.clone()), &entry);
        if is_turned {
            let key = (row.root, row.path.clone());
            if !self.turned.remove(&key) {
                self.turned.insert(key);
            }
            self.rows = None;
            self.make_rows(panel);
        }
        response.context_menu(|ui| folder_menu_ui(ui, panel, row));
    }
}

impl FolderRow {
    fn new(root: RootId, path: PathBuf, name: String, whole: String, depth: usize) -> Self {
        Self { root, path, name, whole, depth, fold: None, images: 0 }
    }
}

/// A list of so many rows, which scrolls where it is higher than the limit.
fn list_ui(ui: &mut Ui, id: &str, limit: f32, n: usize, row: impl FnMut(&mut Ui, usize)) {
    if limit.is_finite() {
        let area = ScrollArea::vertical().id_salt(id).max_height(limit).min_scrolled_height(limit.min(60.0)).auto_shrink([false, true]);
        area.show(ui, |ui| rows_ui(ui, ROW, n, row));
    } else {
        rows_ui(ui, ROW, n, row);
    }
}

/// The entries of all images and of those that need attention.
fn kinds_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    let census = panel.view.shown.census();
    let is_all = panel.view.shown.scopes.is_empty();
    if entry_ui(ui, is_all, &Entry { words: "All images", count: census.images, ..Entry::default() }).0.clicked() {
        panel.view.shown.scopes.clear();
        panel.end_search();
    }
    for (scope, count, hover) in [
        (Scope::Untagged, census.untagged, "Images without a class"),
        (Scope::Uncaptioned, census.uncaptioned, "Images without a caption: words find them by class and name only"),
        (Scope::Mispredicted, census.mispredicted, "Images whose class the recogniser did not find, judged without their object"),
        (Scope::Leaks, census.leaks, "Near copies of other objects: accuracy reads too high, or a label is wrong"),
        (Scope::Changed, census.changed, "Files whose contents are not those first imported"),
        (Scope::Missing, census.missing, "Files that are not where they were"),
        (Scope::Removed, census.removed, "Images that you removed; select and restore them here"),
    ] {
        if count > 0 || panel.view.shown.scopes.contains(&scope) {
            let mut words = scope.words(panel.state());
            words.get_mut(..1).map(str::make_ascii_uppercase).unwrap_or_default();
            scope_ui(ui, panel, scope, &Entry { words: &words, count, hover, ..Entry::default() });
        }
    }
}

fn classes_head_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.strong("Classes");
        if ui.small_button("+").on_hover_text("New class").clicked() {
            panel.view.open(Modal::ClassName(None));
        }
    });
    if panel.classes().is_empty() {
        ui.label(RichText::new("None yet. Select images and press +, or import folders that are classes.").weak().small());
    }
}

fn class_menu_ui(ui: &mut Ui, panel: &mut Panel<'_>, class: &str) {
    let selected = panel.view.selection.ids();
    let short = class_words(ui, class, MENU);
    ui.label(RichText::new(short).strong()).on_hover_text(class);
    if ui.add_enabled(!selected.is_empty(), egui::Button::new(format!("Label {} selected", selected.len()))).clicked() {
        panel.ask(Command::Label(selected, UserLabel::Class(class.to_owned())));
        ui.close();
    }
    ui.separator();
    if ui.button("Rename or merge…").clicked() {
        panel.view.open(Modal::ClassName(Some(class.to_owned())));
        ui.close();
    }
    if ui.button("Colour…").clicked() {
        let [r, g, b, _] = panel.colour(class).to_array();
        panel.view.open(Modal::Colour(class.to_owned(), [r, g, b]));
        ui.close();
    }
    if ui.button("Delete class…").clicked() {
        panel.view.open(Modal::DeleteClass(class.to_owned()));
        ui.close();
    }
}

fn folder_menu_ui(ui: &mut Ui, panel: &mut Panel<'_>, row: &FolderRow) {
    if ui.button("It moved…").on_hover_text(Action::Relocate.words().1).clicked() {
        let root = panel.state().and_then(|state| state.roots().find(|(id, _)| *id == row.root));
        if let Some(folder) = root.map(|(_, root)| root.path.components().chain(row.path.components()).collect()) {
            panel.view.ask_where_is(folder);
        }
        ui.close();
    }
}

fn folders_head_ui(ui: &mut Ui, panel: &mut Panel<'_>) {
    ui.add_space(8.0);
    ui.horizontal_wrapped(|ui| {
        ui.strong("Folders");
        let hover = Action::AddFolder.words().1;
        if ui.small_button("+").on_hover_text(hover).clicked() {
            panel.act(Action::AddFolder);
        }
        if ui.small_button("⟳").on_hover_text(Action::Rescan.words().1).clicked() {
            panel.act(Action::Rescan);
        }
    });
    if panel.state().is_none_or(|state| state.roots().next().is_none()) {
        ui.label(RichText::new("None yet. Press + to import a folder of images.").weak().small());
    }
}

/// An entry that filters the images; with Ctrl it is added to the filters that are set. A search
/// then runs among these images. Returns whether what is below it is to be shown or hidden.
fn scope_ui(ui: &mut Ui, panel: &mut Panel<'_>, scope: Scope, entry: &Entry<'_>) -> (Response, bool) {
    let is_shown = panel.view.shown.scopes.contains(&scope);
    let (response, is_turned) = entry_ui(ui, is_shown, entry);
    if response.clicked() {
        let joins = ui.input(|input| input.modifiers.command);
        match (joins, is_shown) {
            (true, true) => panel.view.shown.scopes.retain(|other| *other != scope),
            (true, false) => panel.view.shown.scopes.push(scope),
            (false, true) if panel.view.shown.scopes.len() == 1 => panel.view.shown.scopes.clear(),
            (false, _) => panel.view.shown.scopes = vec![scope],
        }
    }
    (response, is_turned)
}

fn entry_ui(ui: &mut Ui, is_shown: bool, entry: &Entry<'_>) -> (Response, bool) {
    let Entry { words, count, hover, depth, fold, is_among_folds, colour, key } = entry;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let mut left = rect.left() + 6.0 + *depth as f32 * INDENT;
    let is_turned = fold.is_some_and(|is_open| {
        let place = Rect::from_min_max(pos2(left - 4.0, rect.top()), pos2(left + 12.0, rect.bottom()));
        let fold = ui.interact(place, response.id.with("fold"), Sense::click());
        let verb = if is_open { "Close" } else { "Open" };
        fold.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{verb} {words}")));
        triangle(ui, pos2(left + 4.0, rect.center().y), is_open, fold.hovered() || fold.has_focus());
        fold.clicked()
    });
    if fold.is_some() || *is_among_folds {
        left += 15.0;
    }
    if ui.is_rect_visible(rect) {
        let rounding = CornerRadius::same(theme::ROUNDING);
        if is_shown || response.hovered() {
            let ground = if is_shown { ui.visuals().selection.bg_fill } else { ui.visuals().faint_bg_color };
            ui.painter().rect_filled(rect.with_min_x(left - 3.0), rounding, ground);
        }
        if response.has_focus() {
            ui.painter().rect_stroke(rect, rounding, theme::focus(ui), egui::StrokeKind::Inside);
        }
        if let Some(colour) = colour {
            key_spot(ui, pos2(left + 8.0, rect.center().y), *colour, key.as_deref());
            left += 24.0;
        }
        let number = one_line(ui, &grouped(*count), 60.0, ui.visuals().weak_text_color());
        let right = rect.right() - 6.0 - number.size().x;
        let font = TextStyle::Body.resolve(ui.style());
        let mut job = egui::text::LayoutJob::simple_singleline((*words).to_owned(), font, ui.visuals().text_color());
        job.wrap = egui::text::TextWrapping::truncate_at_width((right - left - 6.0).max(10.0));
        let name = ui.painter().layout_job(job);
        ui.painter().galley(pos2(left, rect.center().y - name.size().y / 2.0), name, ui.visuals().text_color());
        ui.painter().galley(pos2(right, rect.center().y - number.size().y / 2.0), number, ui.visuals().weak_text_color());
    }
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_shown, format!("{words} {count}")));
    (if hover.is_empty() { response } else { response.on_hover_text(*hover) }, is_turned)
}

/// The sign of an entry with something below it, which points down where that is shown.
fn triangle(ui: &Ui, centre: Pos2, is_open: bool, is_hovered: bool) {
    let points = match is_open {
        true => [vec2(-4.0, -2.5), vec2(4.0, -2.5), vec2(0.0, 3.5)],
        false => [vec2(-2.5, -4.0), vec2(3.5, 0.0), vec2(-2.5, 4.0)],
    };
    let colour = if is_hovered { theme::accent(ui) } else { ui.visuals().weak_text_color() };
    let points = points.map(|from| centre + from).to_vec();
    ui.painter().add(egui::Shape::convex_polygon(points, colour, egui::Stroke::NONE));
}
