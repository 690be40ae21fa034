//! What can be checked about the code itself: floors, file openings, lengths, leftovers, dependencies.

use std::fs;
use std::path::{Path, PathBuf};

/// The floors of `core`, lowest first. A module uses only lower floors; modules of one floor do not know each other.
const CORE: &[&[&str]] = &[
    &["error", "random", "ids", "descriptor", "raw_path", "storage", "bytes"],
    &["progress", "envelope", "sparse", "learn"],
    &["linalg"],
    &["nearest"],
    &["picture", "hamming", "text", "online_linear"],
    &["features", "data", "cmt", "contextual"],
    &["ckm"],
    &["advise"],
    &["eval", "library"],
];

/// The floors of `app`.
const APP: &[&[&str]] = &[&["settings", "command", "job"], &["session"], &["cli", "gui"]];

/// Packages that must be used by the program itself, not only by its tests.
const USED: &[&str] = &["eframe", "egui", "image", "imageproc", "rayon", "rfd", "ron"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All Rust files of the repository, as paths from its root with their text.
fn sources() -> Vec<(String, String)> {
    let mut folders: Vec<PathBuf> = ["core", "app", "tests", "benches"].iter().map(|name| root().join(name)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(found.len() > 30, "the walk found {} files only", found.len());
    found
}

/// The code without comments and white space.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n").replace(char::is_whitespace, "")
}

/// The first path segments after each `crate::`, also those inside `crate::{…}`.
fn modules_used(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in code(text).split("crate::").skip(1) {
        let parts = match rest.strip_prefix('{') {
            None => vec![rest],
            Some(list) => {
                let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => {
                            parts.push(&list[start..i]);
                            break;
                        }
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            parts.push(&list[start..i]);
                            start = i + 1;
                        }
                        _ => {}
                    }
                }
                parts
            }
        };
        names.extend(parts.into_iter().map(|part| part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()));
    }
    names
}

/// The first path segments after as many `super::` as lead from a file at some depth to the top of the crate.
fn modules_above(text: &str, depth: usize) -> Vec<String> {
    let code = code(text);
    let chain = "super::".repeat(depth.max(1));
    let tops = code.match_indices(&chain).filter(|(at, _)| !code[..*at].ends_with("super::"));
    let names = tops.map(|(at, _)| code[at + chain.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
    names.filter(|name| !name.is_empty() && name != "super").collect()
}

fn floors_hold(package: &str, floors: &[&[&str]], exempt: &[&str]) {
    let floor = |module: &str| floors.iter().position(|floor| floor.contains(&module));
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(inside) = path.strip_prefix(&format!("{package}/src/")) else { continue };
        let module = inside.split(['/', '.']).next().unwrap();
        if exempt.contains(&module) {
            continue;
        }
        let own = floor(module).unwrap_or_else(|| panic!("{path}: module `{module}` stands on no floor"));
        let depth = inside.trim_end_matches("/mod.rs").matches('/').count() + 1;
        let used = modules_used(&text).into_iter().chain(modules_above(&text, depth));
        for used in used.filter(|used| *used != module) {
            match floor(&used) {
                Some(other) if other < own => {}
                // The error type and its result are named at the top of the crate.
                None if ["Error", "Result"].contains(&used.as_str()) => {}
                _ => wrong.push(format!("{path} uses {used}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn core_imports_only_downwards() {
    floors_hold("core", CORE, &["lib"]);
}

#[test]
fn app_imports_only_downwards() {
    floors_hold("app", APP, &["lib", "main"]);
}

#[test]
fn only_the_command_line_knows_clap_and_stdout() {
    for (path, text) in sources() {
        let is_face = path.starts_with("app/src/cli/") || path.starts_with("app/src/main.rs");
        if path.contains("/src/") && !is_face {
            let code = code(&text);
            for word in ["clap::", "println!", "io::stdout", "eprintln!", "io::stderr", "process::exit"] {
                assert!(!code.contains(word), "{path} has {word}");
            }
        }
    }
}

#[test]
fn only_the_window_knows_egui() {
    for (path, text) in sources() {
        if path.contains("/src/") && !path.starts_with("app/src/gui/") {
            let code = code(&text);
            for word in ["egui::", "eframe::", "rfd::"] {
                assert!(!code.contains(word), "{path} has {word}");
            }
        }
    }
}

/// What would make the thread that paints wait: files, locks, other threads, decoding.
#[test]
fn painting_never_waits() {
    let waits = [
        "std::fs",
        "fs::",
        "File::",
        ".lock()",
        "hold(",
        ".recv()",
        ".join()",
        "thread::sleep",
        ".decode(",
        ".exists()",
        ".is_file()",
        ".is_dir()",
        ".metadata()",
        "canonicalize",
        "read_dir",
    ];
    for (path, text) in sources() {
        // The system's dialogs wait on threads of their own.
        if path.starts_with("app/src/gui/") && !path.ends_with("/dialogs.rs") {
            let code = code(&text);
            for word in waits {
                assert!(!code.contains(word), "{path} has {word}");
            }
        }
    }
}

#[test]
fn every_file_says_first_what_it_is_for() {
    for (path, text) in sources() {
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//! ") && first.len() > 12, "{path} begins with {first:?}");
    }
}

#[test]
fn no_file_is_longer_than_800_lines() {
    for (path, text) in sources() {
        assert!(text.lines().count() <= 800, "{path} has {} lines", text.lines().count());
    }
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["todo", "unimplemented", "dbg"].map(|mark| format!("{mark}!"));
    for (path, text) in sources() {
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{path} has {mark}");
        }
    }
}

#[test]
fn named_packages_do_real_work() {
    let all = sources();
    for package in USED {
        let users: Vec<&str> = ["core", "app"]
            .into_iter()
            .filter(|member| {
                let manifest = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
                let normal = manifest.split("[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
                normal.lines().any(|line| line.starts_with(&format!("{package}.")) || line.starts_with(&format!("{package} ")))
            })
            .filter(|member| {
                all.iter().any(|(path, text)| path.starts_with(&format!("{member}/src/")) && code(text).contains(&format!("{package}::")))
            })
            .collect();
        assert!(!users.is_empty(), "{package} is used by tests at most");
    }
}

#[test]
fn panics_unwind_in_release() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let release = manifest.split("[profile.release]").nth(1).unwrap().split("\n[").next().unwrap();
    assert!(release.contains("panic = \"unwind\""), "a codec that panics must be caught");
}
