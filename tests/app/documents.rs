//! The documents and the program say the same: commands, options, keys of `--json`, exit codes,
//! examples, links.

pub(crate) mod keys;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::world::World;
use page::{Page, all_help, anchor};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The documents for people, as paths from the root.
fn documents() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/benchmarks"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && name != "CHANGELOG.md" {
                found.push(if folder.is_empty() { name } else { format!("{folder}/{name}") });
            }
        }
    }
    found.sort();
    assert!(found.len() > 10, "{found:?}");
    found
}

#[test]
fn the_page_of_the_command_line_has_every_command_and_option() {
    let (world, page) = (World::new(), Page::new(&read("docs/cli.md")));
    let global = page.global_options();
    let mut told: BTreeMap<String, page::Command> = page.commands().into_iter().map(|command| (command.name.clone(), command)).collect();
    for mut command in all_help(&world) {
        assert!(command.options.is_superset(&global), "{global:?} of {command:?}");
        command.options = command.options.difference(&global).cloned().collect();
        let on_page = told.remove(&command.name).unwrap_or_else(|| panic!("`tessera {}` is not on the page", command.name));
        assert_eq!(on_page, command, "what docs/cli.md says, and what `tessera {} -h` says", command.name);
    }
    assert!(told.is_empty(), "these are no commands: {told:?}");
}

#[test]
fn the_page_of_the_command_line_has_every_exit_code() {
    let text = read("docs/cli.md");
    let table = text.split("## Exit codes").nth(1).unwrap().split("\n## ").next().unwrap();
    let codes: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()).skip(1).collect();
    let help = World::new().run(["-h"]).ended(0).stdout.replace('\n', " ");
    let told = help.split("Exit codes: ").nth(1).unwrap().split("; ").map(|part| part.trim().split(' ').next().unwrap());
    assert_eq!(codes, told.collect::<Vec<_>>());
}

/// Lines of code blocks, those in fences and those that are set in.
fn code_lines(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            found.push(line.trim());
        }
    }
    found
}

#[test]
fn examples_name_commands_and_options_that_there_are() {
    let page = Page::new(&read("docs/cli.md"));
    let flags = |options: &BTreeSet<String>| -> BTreeSet<String> {
        options.iter().filter_map(|option| Some(option.split(' ').next()?.to_owned())).collect()
    };
    let (global, commands) = (flags(&page.global_options()), page.commands());
    let mut n = 0;
    for name in documents() {
        let text = read(&name);
        for line in code_lines(&text) {
            let line = line.split(" #").next().unwrap_or_default();
            let starts = ["&& ", "; do ", "| "].iter().flat_map(|before| line.match_indices(before).map(|(at, _)| at + before.len()));
            for rest in starts.chain([0]).filter_map(|at| line[at..].strip_prefix("tessera ")) {
                let rest = rest.split(" && ").next().unwrap_or_default().split(';').next().unwrap_or_default();
                let is_it = |command: &&page::Command| rest == command.name || rest.starts_with(&format!("{} ", command.name));
                let named = commands.iter().filter(|command| !command.name.is_empty()).find(is_it);
                let Some(command) = named else {
                    // A file for the window.
                    assert!(!rest.starts_with(|c: char| c.is_ascii_lowercase()), "{name}: `tessera {rest}` is no command");
                    continue;
                };
                let words = rest.split([' ', '[', ']', '|']).take_while(|word| *word != "--" && *word != ">");
                for flag in
                    words.filter(|word| word.starts_with('-') && word.len() > 1 && !word[1..].starts_with(|c: char| c.is_ascii_digit()))
                {
                    let flag = flag.split('=').next().unwrap_or_default();
                    assert!(global.contains(flag) || flags(&command.options).contains(flag), "{name}: no {flag} in `tessera {rest}`");
                }
                n += 1;
            }
        }
    }
    assert!(n > 30, "{n} examples");
}

#[test]
fn links_lead_somewhere() {
    for name in documents() {
        let text = read(&name);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target) {
            if target.starts_with("https://") {
                continue;
            }
            let (file, part) = target.split_once('#').map_or((target, None), |(file, part)| (file, Some(part)));
            let path = if file.is_empty() { name.clone() } else { format!("{}/{file}", Path::new(&name).parent().unwrap().display()) };
            let path = root().join(path.trim_start_matches('/'));
            assert!(path.exists(), "{name}: {target}");
            if let Some(part) = part {
                let text = fs::read_to_string(&path).unwrap();
                let mut titles = text.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#').trim()));
                assert!(titles.any(|title| title == part), "{name}: {target}");
            }
        }
    }
}

#[test]
fn the_readme_is_short_and_leads_everywhere() {
    let text = read("README.md");
    assert!(text.len() < 7000, "{} bytes", text.len());
    for command in ["cargo build --release", "cargo test --locked"] {
        assert!(text.contains(command), "{command}");
    }
    for name in documents().iter().filter(|name| *name != "README.md" && !name.starts_with("docs/benchmarks/")) {
        assert!(text.contains(&format!("({name})")), "no link to {name}");
    }
    let benchmarks = read("BENCHMARKS.md");
    for name in documents().iter().filter(|name| name.starts_with("docs/benchmarks/")) {
        assert!(benchmarks.contains(&format!("({name}")), "no link to {name}");
    }
}
