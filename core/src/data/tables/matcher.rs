//! Which image of a library the path in a table means.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;

/// The images of a library, ready to be found by the paths that tables use. `T` is how the caller
/// names an image.
///
/// A path is compared component by component from its end; back slashes count as slashes. The image
/// that shares the most components wins, and one that is named whole wins over longer ones. These
/// are tried in turn, until one finds something: file names as they are, file names in any case,
/// the name as the stem of an image (`photo` for `photo.jpg`) and the stem of the name (`photo.png`
/// for `photo.jpg`), each as it is and then in any case.
///
/// # Complexity
/// Building sorts the images; finding takes a few binary searches for each component.
///
/// ```
/// use std::path::Path;
/// use tessera_core::data::tables::{PathMatch, Matcher};
///
/// let library = ["/x/a/b.jpg", "/x/c/b.jpg", "/x/c/d.jpg"].map(Path::new);
/// let matcher = Matcher::new(library.into_iter().enumerate());
/// assert_eq!(matcher.find("a/b.jpg"), PathMatch::One(0));
/// assert_eq!(matcher.find("b.jpg"), PathMatch::Several(2));
/// assert_eq!(matcher.find("elsewhere\\D.png"), PathMatch::One(2));
/// assert_eq!(matcher.find("e.jpg"), PathMatch::None);
/// ```
#[derive(Clone, Debug)]
pub struct Matcher<T> {
    entries: Vec<Entry<T>>,
    /// The entries in the order of [`Entry::parts`], for each way of comparing paths in [`LOOKS`].
    orders: [Vec<u32>; 4],
}

/// What a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMatch<T> {
    /// This image.
    One(T),
    /// No image of the library.
    None,
    /// So many paths fit equally well, and they are not all the same image.
    Several(usize),
}

#[derive(Clone, Debug)]
struct Entry<T> {
    id: T,
    path: String,
    folded: String,
}

/// A way of comparing paths: with or without case and endings.
#[derive(Clone, Copy)]
struct Look {
    is_folded: bool,
    is_stem: bool,
}

const LOOKS: [Look; 4] = [
    Look { is_folded: false, is_stem: false },
    Look { is_folded: true, is_stem: false },
    Look { is_folded: false, is_stem: true },
    Look { is_folded: true, is_stem: true },
];

impl<T> Entry<T> {
    /// The components from the last to the first.
    fn parts(&self, look: Look) -> impl Iterator<Item = &str> {
        let path = if look.is_folded { &self.folded } else { &self.path };
        path.rsplit('/').enumerate().map(move |(i, part)| if look.is_stem && i == 0 { stem(part) } else { part })
    }
}

/// A file name without its ending.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// A path with slashes alone, without empty components and those that stay in place.
fn normal(path: &str) -> String {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    parts.join("/")
}

impl<T: Copy + Eq> Matcher<T> {
    /// Gets ready for the images of a library.
    pub fn new<'a>(images: impl IntoIterator<Item = (T, &'a Path)>) -> Self {
        let entry = |(id, path): (T, &Path)| {
            let path = normal(&path.to_string_lossy());
            Entry { id, folded: path.to_lowercase(), path }
        };
        let entries: Vec<Entry<T>> = images.into_iter().map(entry).collect();
        let orders = LOOKS.map(|look| {
            let mut order: Vec<u32> = (0..entries.len() as u32).collect();
            order.sort_by(|a, b| entries[*a as usize].parts(look).cmp(entries[*b as usize].parts(look)));
            order
        });
        Self { entries, orders }
    }

    /// The image that `row_path` means. Blanks around it are dropped when it means none with them.
    pub fn find(&self, row_path: &str) -> PathMatch<T> {
        match self.find_exactly(row_path) {
            PathMatch::None if row_path.trim() != row_path => self.find_exactly(row_path.trim()),
            found => found,
        }
    }

    /// As [`Matcher::find`], for a table that lies in `folder`: a path first means the image that
    /// lies there as seen from the folder.
    pub fn find_from(&self, folder: &Path, row_path: &str) -> PathMatch<T> {
        let path = normal(&folder.join(row_path).to_string_lossy());
        let parts: Vec<&str> = path.rsplit('/').collect();
        let whole = self.range(0, &parts, parts.len() + 1);
        if whole.is_empty() { self.find(row_path) } else { self.verdict(&self.orders[0][whole]) }
    }

    fn find_exactly(&self, row_path: &str) -> PathMatch<T> {
        let path = normal(row_path);
        let folded = path.to_lowercase();
        // Each way of comparing, and whether the row's name loses its ending too.
        for (i, loses_ending) in [(0, false), (1, false), (2, false), (3, false), (2, true), (3, true)] {
            let mut parts: Vec<&str> = if LOOKS[i].is_folded { &folded } else { &path }.rsplit('/').collect();
            if loses_ending {
                parts[0] = stem(parts[0]);
            }
            let found = self.longest(i, &parts);
            if !found.is_empty() {
                return self.verdict(&self.orders[i][found]);
            }
        }
        PathMatch::None
    }

    /// The part of an order that shares the most components with a path, at least one.
    fn longest(&self, order: usize, parts: &[&str]) -> Range<usize> {
        if parts[0].is_empty() {
            return 0..0;
        }
        for n_shared in (1..=parts.len()).rev() {
            let range = self.range(order, &parts[..n_shared], n_shared);
            if !range.is_empty() {
                // With one component more to compare, only paths that end here are equal.
                let whole = self.range(order, &parts[..n_shared], n_shared + 1);
                return if n_shared == parts.len() && !whole.is_empty() { whole } else { range };
            }
        }
        0..0
    }

    /// The part of an order whose first `n` components are `parts`.
    fn range(&self, order: usize, parts: &[&str], n: usize) -> Range<usize> {
        let compare = |entry: &u32| self.entries[*entry as usize].parts(LOOKS[order]).take(n).cmp(parts.iter().copied());
        let start = self.orders[order].partition_point(|entry| compare(entry) == Ordering::Less);
        let length = self.orders[order][start..].partition_point(|entry| compare(entry) == Ordering::Equal);
        start..start + length
    }

    fn verdict(&self, fitting: &[u32]) -> PathMatch<T> {
        let mut ids = fitting.iter().map(|entry| self.entries[*entry as usize].id);
        match ids.next() {
            None => PathMatch::None,
            Some(first) if ids.all(|id| id == first) => PathMatch::One(first),
            Some(_) => PathMatch::Several(fitting.len()),
        }
    }
}
