//! `docs/cli.md` and the program's `--help` as data that can be compared.

use std::collections::BTreeSet;

use crate::world::World;

/// A command as the page or the help describes it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Command {
    /// The words after `tessera`.
    pub(super) name: String,
    /// Its positional arguments, in order: `LIBRARY`, `FOLDER...`, `[IMAGE...]`.
    pub(super) arguments: Vec<String>,
    /// Its options: `--to MODEL`, or `--by memory|index` when the values are listed.
    pub(super) options: BTreeSet<String>,
}

/// A part of the page under one heading.
struct Section {
    title: String,
    options: BTreeSet<String>,
    keys: BTreeSet<String>,
    /// The anchors of this page that it points to.
    links: Vec<String>,
}

/// The whole page.
pub(super) struct Page(Vec<Section>);

/// The texts between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The anchor that GitHub makes of a heading.
pub(super) fn anchor(title: &str) -> String {
    let letters = title.to_lowercase().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c)).collect::<String>();
    letters.replace(' ', "-")
}

impl Section {
    fn new(title: &str, lines: &[&str]) -> Self {
        let mut section = Self { title: title.to_owned(), options: BTreeSet::new(), keys: BTreeSet::new(), links: Vec::new() };
        let mut head = String::new();
        for line in lines {
            section.links.extend(line.split("](#").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
            let Some(row) = line.strip_prefix("| ") else {
                if !line.starts_with("|-") {
                    head.clear();
                }
                continue;
            };
            // A pipe within a cell is written with a backslash.
            let first = row.replace("\\|", "\u{1}").split('|').next().unwrap_or_default().trim().replace('\u{1}', "|");
            match head.as_str() {
                "" => head = first,
                "option" => section.options.extend(quoted(&first)),
                "key" => section.keys.extend(quoted(&first)),
                _ => {}
            }
        }
        section
    }

    /// The commands in the heading.
    fn commands(&self) -> Vec<Command> {
        let command = |line: String| {
            let mut words = line.split(' ').skip(1).peekable();
            let mut name = Vec::new();
            while let Some(word) = words.next_if(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-')) {
                name.push(word);
            }
            Command { name: name.join(" "), arguments: words.map(str::to_owned).collect(), options: BTreeSet::new() }
        };
        quoted(&self.title).into_iter().filter(|line| line.split(' ').next() == Some("tessera")).map(command).collect()
    }
}

impl Page {
    pub(super) fn new(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let heads: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with("##")).collect();
        let ends = heads.iter().skip(1).copied().chain([lines.len()]);
        let section = |(&at, end): (&usize, usize)| Section::new(lines[at].trim_start_matches('#').trim(), &lines[at + 1..end]);
        Self(heads.iter().zip(ends).map(section).collect())
    }

    /// The options of every command.
    pub(super) fn global_options(&self) -> BTreeSet<String> {
        self.0.iter().find(|section| section.title == "For every command").map(|section| section.options.clone()).unwrap_or_default()
    }

    /// A section and those that it refers to, if they are no commands.
    fn with_shared<'a>(&'a self, section: &'a Section) -> impl Iterator<Item = &'a Section> {
        let is_meant = |other: &&Section| other.commands().is_empty() && section.links.contains(&anchor(&other.title));
        std::iter::once(section).chain(self.0.iter().filter(is_meant))
    }

    /// All commands with their own options and those of the sections that they refer to.
    pub(super) fn commands(&self) -> Vec<Command> {
        let of = |section| {
            let options: BTreeSet<String> = self.with_shared(section).flat_map(|section| section.options.clone()).collect();
            section.commands().into_iter().map(move |command| Command { options: options.clone(), ..command })
        };
        self.0.iter().flat_map(of).collect()
    }

    /// The keys of a command.
    pub(super) fn keys(&self, command: &str) -> BTreeSet<String> {
        let is_it = |section: &&Section| section.commands().iter().any(|own| own.name == command);
        let section = self.0.iter().find(is_it).unwrap_or_else(|| panic!("{command} is not on the page"));
        self.with_shared(section).flat_map(|section| section.keys.clone()).collect()
    }
}

/// A command as its `--help` describes it, and the names of its subcommands.
pub(super) fn help(world: &World, name: &str) -> (Command, Vec<String>) {
    let words = name.split(' ').filter(|word| !word.is_empty()).chain(["-h"]);
    let text = world.run(words).ended(0).stdout;
    let (mut part, mut entries) = ("", Vec::<(&str, String)>::new());
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        match line {
            "Commands:" | "Arguments:" | "Options:" => part = line,
            "" => part = "",
            _ if part.is_empty() => {}
            _ if indent <= 6 => entries.push((part, line.trim_start().to_owned())),
            _ => {
                let entry = &mut entries.last_mut().unwrap().1;
                *entry = format!("{entry} {}", line.trim_start());
            }
        }
    }
    let (mut command, mut subcommands) = (Command { name: name.to_owned(), ..Command::default() }, Vec::new());
    for (part, entry) in entries {
        let (head, rest) = entry.split_once("  ").unwrap_or((&entry, ""));
        let values = rest.split_once("[possible values: ").and_then(|(_, rest)| Some(rest.split_once(']')?.0.replace(", ", "|")));
        let plain = |value: &str| values.clone().unwrap_or_else(|| value.replace(['<', '>', '[', ']'], ""));
        match part {
            "Commands:" if head != "help" => subcommands.push(head.to_owned()),
            "Arguments:" => {
                let (value, dots) = head.strip_suffix("...").map_or((head, ""), |value| (value, "..."));
                let value = format!("{}{dots}", plain(value));
                command.arguments.push(if head.starts_with('[') { format!("[{value}]") } else { value });
            }
            "Options:" if !head.starts_with("-h") && !head.starts_with("-V") => {
                let option = match head.split_once(" <") {
                    Some((flag, value)) => format!("{flag} {}", plain(value)),
                    None => head.to_owned(),
                };
                command.options.insert(option);
            }
            _ => {}
        }
    }
    (command, subcommands)
}

/// All commands without subcommands, as `--help` describes them.
pub(super) fn all_help(world: &World) -> Vec<Command> {
    let (mut queue, mut found) = (vec![String::new()], Vec::new());
    while let Some(name) = queue.pop() {
        let (command, subcommands) = help(world, &name);
        if subcommands.is_empty() || name.is_empty() {
            found.push(command);
        }
        queue.extend(subcommands.into_iter().map(|word| format!("{name} {word}").trim().to_owned()));
    }
    found
}
