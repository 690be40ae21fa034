//! Classes as a tree: a name with `/` in it, such as `animal/dog`, is a path. Labels stay plain
//! names; the tree is only how many of them are shown.

use std::collections::{BTreeSet, HashMap};

/// The place of the class that is meant by a name: that of this name, or else one that differs in
/// capital letters alone. O(letters of all classes).
pub fn place_of_class(classes: &[impl AsRef<str>], name: &str) -> Option<usize> {
    let small = name.to_lowercase();
    let exact = classes.iter().position(|class| class.as_ref() == name);
    exact.or_else(|| classes.iter().position(|class| class.as_ref().to_lowercase() == small))
}

/// What a user types to find names: words that a name must contain, in any case and order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameFilter {
    words: Vec<String>,
}

impl NameFilter {
    /// The filter that a text stands for; without words it lets every name pass.
    pub fn new(text: &str) -> Self {
        Self { words: text.to_lowercase().split_whitespace().map(str::to_owned).collect() }
    }

    /// Whether it lets every name pass.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a name passes. O(name * words).
    pub fn fits(&self, name: &str) -> bool {
        self.is_empty() || self.fits_small(&name.to_lowercase())
    }

    /// Whether a name in small letters is a path, and each word begins one of its parts or a word
    /// of one: `dog ter` does those of `animal/dog/welsh-terrier`. O(name * words).
    pub fn begins_parts(&self, name: &str) -> bool {
        let parts = parts(name);
        let is_begun =
            |part: &str, word: &str| part.starts_with(word) || part.split(|c: char| !c.is_alphanumeric()).any(|own| own.starts_with(word));
        let begins = |word: &String| parts.iter().any(|part| is_begun(part, word));
        parts.len() > 1 && !self.is_empty() && self.words.iter().all(begins)
    }

    /// As [`NameFilter::fits`], for a name in small letters.
    pub fn fits_small(&self, name: &str) -> bool {
        self.words.iter().all(|word| name.contains(word.as_str()))
    }
}

/// A class, or what the names of several begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassNode {
    /// The class's name, or the beginning that the names below it share, without the last `/`.
    pub path: String,
    /// The part of the path that is shown beside the node.
    pub name: String,
    /// How many nodes stand above it.
    pub depth: usize,
    /// Whether a class has this name.
    pub is_class: bool,
    /// Images of the class of this name.
    pub own: usize,
    /// Those and all images of classes below it.
    pub images: usize,
    /// Nodes below it, which follow it in the list.
    pub below: usize,
    /// The path in small letters.
    small: String,
}

/// A row of the tree as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassRow {
    /// A node, by its number.
    Node(usize),
    /// Below an open node the class of the same name alone.
    Own(usize),
}

/// All classes as a tree.
#[derive(Clone, Debug, Default)]
pub struct ClassTree {
    nodes: Vec<ClassNode>,
}

/// A node while the tree is built.
#[derive(Default)]
struct Draft {
    path: String,
    name: String,
    is_class: bool,
    own: usize,
    children: Vec<usize>,
}

/// The parts of a class's name; names with an empty part are not parted.
pub(super) fn parts(name: &str) -> Vec<&str> {
    if is_parted(name) { name.split('/').collect() } else { vec![name] }
}

fn is_parted(name: &str) -> bool {
    name.split('/').all(|part| !part.trim().is_empty())
}

impl ClassTree {
    /// The tree of these classes, each with the number of its images. Nodes stand in the order of
    /// the first class below them; one that has a single class below it is joined with that one.
    /// O(length of all names).
    pub fn new<'a>(classes: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let mut drafts = vec![Draft::default()];
        let mut known: HashMap<(usize, &str), usize> = HashMap::new();
        for (name, images) in classes {
            let (mut at, mut end) = (0, 0);
            for part in parts(name) {
                end += part.len() + usize::from(end > 0);
                let next = drafts.len();
                let place = *known.entry((at, part)).or_insert(next);
                if place == next {
                    drafts.push(Draft { path: name[..end].to_owned(), name: part.to_owned(), ..Draft::default() });
                    drafts[at].children.push(next);
                }
                at = place;
            }
            drafts[at].is_class = true;
            drafts[at].own += images;
        }
        let mut tree = Self { nodes: Vec::with_capacity(drafts.len()) };
        let roots = drafts[0].children.clone();
        roots.into_iter().for_each(|child| tree.enter(&drafts, child, 0));
        tree
    }

    fn enter(&mut self, drafts: &[Draft], mut at: usize, depth: usize) {
        let mut name = drafts[at].name.clone();
        while let (false, [only]) = (drafts[at].is_class, drafts[at].children.as_slice()) {
            at = *only;
            name = format!("{name}/{}", drafts[at].name);
        }
        let Draft { path, is_class, own, children, .. } = &drafts[at];
        let place = self.nodes.len();
        let small = path.to_lowercase();
        self.nodes.push(ClassNode { path: path.clone(), name, depth, is_class: *is_class, own: *own, images: *own, below: 0, small });
        for child in children {
            let next = self.nodes.len();
            self.enter(drafts, *child, depth + 1);
            self.nodes[place].images += self.nodes[next].images;
        }
        self.nodes[place].below = self.nodes.len() - place - 1;
    }

    /// All nodes, each before those below it.
    pub fn nodes(&self) -> &[ClassNode] {
        &self.nodes
    }

    /// Whether a class is below this path, or has it as its name.
    pub fn has(&self, path: &str) -> bool {
        self.nodes.iter().any(|node| is_below(&node.path, path))
    }

    /// The rows that are shown while the nodes of these paths are open. With a filter all nodes
    /// with a class that passes are, and open. O(nodes).
    pub fn rows(&self, filter: &NameFilter, open: &BTreeSet<String>) -> Vec<ClassRow> {
        let mut fits: Vec<bool> = self.nodes.iter().map(|node| filter.fits_small(&node.small)).collect();
        // A node is shown with what is below it.
        let mut above: Vec<usize> = Vec::new();
        for (i, node) in self.nodes.iter().enumerate() {
            above.truncate(node.depth);
            if fits[i] {
                above.iter().for_each(|node| fits[*node] = true);
            }
            above.push(i);
        }
        let (mut rows, mut i) = (Vec::new(), 0);
        while let Some(node) = self.nodes.get(i) {
            let is_open = !filter.is_empty() || open.contains(&node.path);
            if fits[i] {
                rows.push(ClassRow::Node(i));
                if node.below > 0 && is_open && node.is_class && filter.fits_small(&node.small) {
                    rows.push(ClassRow::Own(i));
                }
            }
            i += if is_open { 1 } else { 1 + node.below };
        }
        rows
    }
}

/// Whether a class is one of those that a node of this path stands for.
pub fn is_below(class: &str, path: &str) -> bool {
    class.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') && is_parted(class))
}
