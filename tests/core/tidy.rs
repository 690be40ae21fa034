//! What can be checked about the code itself: floors, file openings, lengths, leftovers,
//! dependencies.

use std::fs;
use std::path::{Path, PathBuf};

/// The floors of `core`, lowest first. A module uses only lower floors; modules of one floor do not
/// know each other.
const CORE: &[&[&str]] = &[
    &["error", "random", "ids", "descriptor", "hash", "raw_path", "storage", "bytes", "plural", "utc", "once", "joined"],
    &["progress", "envelope", "sparse", "learn", "json"],
    &["linalg"],
    &["nearest"],
    &["picture", "hamming", "text", "online_linear"],
    &["features", "network", "data", "cmt", "contextual", "ann", "copies", "cover_tree"],
    &["ckm", "canopy", "layout"],
    &["advise"],
    &["collection", "eval", "library"],
];

/// The floors of `app`.
const APP: &[&[&str]] = &[&["settings", "command", "ending", "job"], &["session"], &["cli", "gui"]];

/// Packages that must be used by the program itself, not only by its tests.
const USED: &[&str] = &["eframe", "egui", "image", "imageproc", "rayon", "rfd", "ron"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
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

/// The first path segments after as many `super::` as lead from a file at some depth to the top of
/// the crate.
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

/// The module of a file, as path segments from the top of its package: `core/src/ckm/mod.rs` is
/// `core`, `ckm`.
fn module_of(path: &str) -> Option<Vec<String>> {
    let (package, inside) = path.strip_suffix(".rs")?.split_once("/src/")?;
    let mut parts: Vec<String> = std::iter::once(package).chain(inside.split('/')).map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    Some(parts)
}

/// The paths that follow each `crate::` or `super::` of a text, also those inside braces, as
/// segments from the top.
fn paths_used(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut code = String::with_capacity(text.len());
    for word in lines.flat_map(str::split_whitespace) {
        if code.ends_with(is_letter) && word.starts_with(is_letter) {
            code.push(' ');
        }
        code.push_str(word);
    }
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with("::") || code[..at].ends_with(is_letter) {
                continue;
            }
            let (mut base, mut rest) = match start {
                "crate::" => (module[..1].to_vec(), &code[at + 7..]),
                "super::" => (module[..module.len() - 1].to_vec(), &code[at + 7..]),
                _ => (module.to_vec(), &code[at + 6..]),
            };
            while let Some(further) = rest.strip_prefix("super::") {
                base.pop();
                rest = further;
            }
            expand(base, rest, &mut found);
        }
    }
    found
}

/// Adds the paths of a use tree that begins where `rest` does. Returns what follows it.
fn expand<'a>(mut base: Vec<String>, mut rest: &'a str, found: &mut Vec<Vec<String>>) -> &'a str {
    loop {
        if let Some(list) = rest.strip_prefix('{') {
            rest = list;
            while !rest.starts_with('}') && !rest.is_empty() {
                let after = expand(base.clone(), rest, found);
                // What is no use tree, such as the body of a function, ends the list.
                if after.len() == rest.len() {
                    return "";
                }
                rest = after.strip_prefix(',').unwrap_or(after);
            }
            return rest.strip_prefix('}').unwrap_or(rest);
        }
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        rest = &rest[name.len()..];
        if !name.is_empty() && name != "self" {
            base.push(name);
        }
        match rest.strip_prefix("::") {
            Some(further) => rest = further,
            None => {
                found.push(base);
                return rest;
            }
        }
    }
}

#[test]
fn use_trees_are_understood() {
    let module: Vec<String> = ["core", "a", "b"].map(str::to_owned).into();
    let mut found =
        paths_used("use crate::x::{y::Z, self, w};\nuse super::c;\nuse super::super::d::E;\nfn f() { super::g::h(1) }", &module);
    found.sort();
    let expected: Vec<Vec<String>> = ["core a c", "core a g h", "core d E", "core x", "core x w", "core x y Z"]
        .iter()
        .map(|path| path.split(' ').map(str::to_owned).collect())
        .collect();
    assert!(expected.iter().all(|path| found.contains(path)), "{found:?}");
}

/// A module and what is inside it belong together; any other two files that need each other,
/// directly or by way of others, cannot be read one after the other.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let all: Vec<(Vec<String>, String)> = sources().into_iter().filter_map(|(path, text)| Some((module_of(&path)?, text))).collect();
    let number = |path: &[String]| all.iter().position(|(module, _)| module == path);
    let file_of = |path: &[String]| (1..=path.len()).rev().find_map(|n| number(&path[..n]));
    let uses = |at: usize| -> Vec<usize> {
        let (module, text) = &all[at];
        let used = paths_used(text, module).into_iter().filter_map(|path| file_of(&path));
        let is_apart = |other: &usize| !all[*other].0.starts_with(module) && !module.starts_with(&all[*other].0);
        used.filter(is_apart).collect()
    };
    let graph: Vec<Vec<usize>> = (0..all.len()).map(uses).collect();
    let reaches = |from: usize, to: usize| {
        let (mut seen, mut next) = (vec![false; all.len()], graph[from].clone());
        while let Some(at) = next.pop() {
            if at == to {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                next.extend(&graph[at]);
            }
        }
        false
    };
    let circles: Vec<String> = (0..all.len()).filter(|&at| reaches(at, at)).map(|at| all[at].0.join("::")).collect();
    assert!(circles.is_empty(), "these import each other in circles: {circles:#?}");
}

/// No two public types have the same name, so that a reader who has met a type knows it everywhere.
/// Errors and options are named by their modules.
#[test]
fn public_types_have_names_of_their_own() {
    let mut seen: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    let mut twice = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| path.contains("/src/")) {
        for line in text.lines() {
            let Some(rest) = line.trim_start().strip_prefix("pub ") else { continue };
            let Some((kind, rest)) = rest.split_once(' ') else { continue };
            if !["struct", "enum", "trait", "type", "union"].contains(&kind) {
                continue;
            }
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if ["Error", "Options", "Result"].contains(&name.as_str()) {
                continue;
            }
            if let Some(other) = seen.insert(name.clone(), path.clone()) {
                twice.push(format!("{name}: {other} and {path}"));
            }
        }
    }
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn comments_wrap_at_100_columns() {
    let mut long = Vec::new();
    for (path, text) in sources() {
        let mut is_code = false;
        for (number, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            if comment.starts_with("//") && comment.contains("```") {
                is_code = !is_code;
            }
            let is_table = comment.trim_start_matches(['/', '!', ' ']).starts_with('|');
            let is_word = comment.split_whitespace().count() <= 2;
            if comment.starts_with("//") && line.chars().count() > 100 && !is_code && !is_table && !is_word {
                long.push(format!("{path}:{}", number + 1));
            }
        }
    }
    assert!(long.is_empty(), "{} comments are longer, such as {:#?}", long.len(), &long[..long.len().min(20)]);
}
