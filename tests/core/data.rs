//! Folders of images, NORB files and tables are read as people mean them.

mod examples;
mod folders;
mod masks;
mod names;
mod norb;
mod plan;
mod scenes;
mod tables;
mod vectors;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tessera_core::data::{Dataset, Labels, OpenOptions};
use tessera_core::progress::Progress;

/// A folder with these files, all of them empty: opening a set looks into none.
fn folder(files: &[&str]) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    for file in files {
        touch(&dir.path().join(file));
    }
    dir
}

fn touch(path: &Path) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, b"").expect("a file");
}

#[track_caller]
fn open(path: &Path, labels: Labels) -> Dataset {
    try_open(path, labels).expect("a set")
}

fn try_open(path: &Path, labels: Labels) -> tessera_core::Result<Dataset> {
    Dataset::open(path, &OpenOptions { labels, ..OpenOptions::default() }, &Progress::default())
}

/// The name, class and group of every item, in order.
fn shape(set: &Dataset) -> Vec<(String, &str, &str)> {
    set.items.iter().map(|item| (item.name(), set.class_name(item.class), item.group.as_deref().unwrap_or("-"))).collect()
}

/// The files and reasons of what was left out.
fn skips(set: &Dataset) -> Vec<(String, &'static str)> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    set.skipped.iter().map(|skipped| (name(&skipped.path), skipped.reason)).collect()
}

/// A folder of the data that is not shipped, if there is such data here.
fn big_data(name: &str) -> Option<PathBuf> {
    std::env::var_os("TESSERA_DATA").map(|root| Path::new(&root).join(name))
}
