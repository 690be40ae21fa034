//! The settings, which are kept between runs.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use tessera_core::ckm::unknown::UnknownCurve;
use tessera_core::library::suggest::LabelOrder;
use tessera_core::{Result, envelope};

/// The settings. Each field is read by itself; a missing or wrong one gets its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Light, dark, or as the system has it.
    pub theme: Theme,
    /// Scale of everything in the window; 1 by default.
    pub scale: f32,
    /// Side of a thumbnail in the grid, in points.
    pub thumbnail_side: f32,
    /// The share of images of known classes that the recogniser answers: others count as unknown;
    /// `None` takes what was found when it was judged.
    pub answered: Option<f64>,
    /// Hits of a search, at most.
    pub hits: usize,
    /// Leaves of the caption memory that a search visits: more find more, and take longer.
    pub search_leaves: usize,
    /// The order in which images are labelled.
    pub label_order: LabelOrder,
    /// Threads of the pool; 0 for as many as the machine has.
    pub threads: usize,
    /// Memory budget for decoding pictures, in megabytes, for all of them together.
    pub picture_megabytes: u64,
    /// Memory for thumbnails in the window, in megabytes.
    pub thumbnail_megabytes: usize,
    /// The address of the Dask scheduler that is asked about collections; empty asks on this
    /// machine.
    pub scheduler: String,
    /// The Python interpreter that has the package for that; empty is `python3`.
    pub python: String,
    /// Libraries and folders that were opened recently, the last first.
    pub recents: Vec<PathBuf>,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Dark letters on light.
    Light,
    /// Light letters on dark.
    Dark,
}

impl Theme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Its name in the file of settings.
    fn name(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            scale: 1.0,
            thumbnail_side: 128.0,
            answered: None,
            hits: 100,
            search_leaves: SEARCH_LEAVES,
            label_order: LabelOrder::default(),
            threads: 0,
            picture_megabytes: PICTURE_MEGABYTES,
            thumbnail_megabytes: 96,
            scheduler: String::new(),
            python: String::new(),
            recents: Vec::new(),
        }
    }
}

/// Default number of leaves of the caption memory that a search visits.
pub const SEARCH_LEAVES: usize = tessera_core::library::search::LEAVES;
/// Default memory budget for decoding pictures, in megabytes.
pub const PICTURE_MEGABYTES: u64 = 2048;

/// The usual memory budget for the elements of a library's images, in megabytes.
pub const ELEMENT_MEGABYTES: u64 = (tessera_core::library::ELEMENTS_IN_MEMORY >> 20) as u64;
/// Recently opened libraries and folders that are kept.
const RECENTS: usize = 12;
/// The largest settings file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The entries of a map in their order, also those whose keys are the same.
struct Entries(Vec<(ron::Value, ron::Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Entries, M::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Entries(all))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl Settings {
    /// The path of the user's settings file.
    pub fn place() -> Option<PathBuf> {
        dirs::config_dir().map(|folder| folder.join("tessera").join("settings.ron"))
    }

    /// Reads settings. Returns a sentence for each problem with the file; the rest of it is used.
    pub fn load(path: &Path) -> (Self, Vec<String>) {
        let usual = Self::default();
        let text = match fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (usual, Vec::new()),
            Err(error) => return (usual, vec![format!("{}: cannot be read ({error}); the usual settings are used", path.display())]),
            Ok(meta) if meta.len() > LONGEST => {
                return (
                    usual,
                    vec![format!("{}: expected settings, found a file that is too long; the usual settings are used", path.display())],
                );
            }
            Ok(_) => match fs::read_to_string(path) {
                Ok(text) => text,
                Err(error) => return (usual, vec![format!("{}: cannot be read ({error}); the usual settings are used", path.display())]),
            },
        };
        let Entries(entries) = match ron::from_str::<Entries>(&text) {
            Ok(entries) => entries,
            Err(error) => {
                // It is moved aside, because the next change of a setting would overwrite it.
                let aside = path.with_extension("ron.bad");
                let kept = match fs::rename(path, &aside) {
                    Ok(()) => format!("; the file is kept as {}", aside.display()),
                    Err(_) => String::new(),
                };
                let words = format!("{}: expected settings in RON, found {error}; the usual settings are used{kept}", path.display());
                return (usual, vec![words]);
            }
        };
        let mut settings = usual;
        let mut problems = Vec::new();
        let mut known = BTreeSet::new();
        for (name, value) in &entries {
            let ron::Value::String(name) = name else { continue };
            if !known.insert(name) {
                problems.push(format!("{}: `{name}` stands twice; the first of them is used", path.display()));
            } else if let Err(expected) = settings.take(name, value) {
                problems.push(format!("{}: `{name}` {expected}; the usual value is used", path.display()));
            }
        }
        (settings, problems)
    }

    fn take(&mut self, name: &str, value: &ron::Value) -> Result<(), String> {
        fn read<T: serde::de::DeserializeOwned>(value: &ron::Value, what: &str) -> Result<T, String> {
            value.clone().into_rust().map_err(|_| format!("must be {what}"))
        }
        fn within<T: PartialOrd>(value: T, low: T, high: T, what: &str) -> Result<T, String> {
            if value >= low && value <= high { Ok(value) } else { Err(format!("must be {what}")) }
        }
        match name {
            "theme" => {
                let expected = "\"System\", \"Light\" or \"Dark\"";
                let name: String = read(value, expected)?;
                let theme = Theme::ALL.into_iter().find(|theme| theme.name() == name);
                self.theme = theme.ok_or_else(|| format!("must be {expected}"))?;
            }
            "scale" => self.scale = within(read(value, "a number")?, 0.5, 3.0, "0.5 to 3")?,
            "thumbnail_side" => self.thumbnail_side = within(read(value, "a number")?, 64.0, 256.0, "64 to 256")?,
            "answered" => {
                let expected = "\"usual\", or a number from 0.5 to 1";
                let usual = read::<String>(value, expected).is_ok_and(|word| word == "usual");
                self.answered = if usual { None } else { Some(within(read(value, expected)?, UnknownCurve::LEAST, 1.0, expected)?) };
            }
            // A bar of confidence, which this version has not.
            "unknown_below" => {}
            "hits" => self.hits = within(read(value, "a whole number")?, 1, 10_000, "1 to 10000")?,
            "search_leaves" => self.search_leaves = within(read(value, "a whole number")?, 1, 4096, "1 to 4096")?,
            "label_order" => {
                let name: String = read(value, "a text")?;
                let order = LabelOrder::ALL.into_iter().find(|order| order.name() == name);
                self.label_order = order.ok_or("must be \"useful\", \"disagreement\", \"folder\" or \"random\"")?;
            }
            "threads" => self.threads = within(read(value, "a whole number")?, 0, 1024, "0 to 1024")?,
            "picture_megabytes" => self.picture_megabytes = within(read(value, "a whole number")?, 64, 65_536, "64 to 65536")?,
            "thumbnail_megabytes" => self.thumbnail_megabytes = within(read(value, "a whole number")?, 16, 4096, "16 to 4096")?,
            "scheduler" => self.scheduler = read(value, "a text")?,
            "python" => self.python = read(value, "a text")?,
            "recents" => self.recents = read::<Vec<PathBuf>>(value, "a list of paths")?.into_iter().take(RECENTS).collect(),
            _ => return Err("is no setting of this version".into()),
        }
        Ok(())
    }

    /// Writes the settings, all or nothing.
    ///
    /// # Errors
    /// [`tessera_core::Error::Io`].
    pub fn save(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(tessera_core::Error::io("create", folder))?;
        }
        envelope::replace(path, self.to_ron().as_bytes())
    }

    /// The settings as a RON map, one setting a line.
    fn to_ron(&self) -> String {
        let text = |value: &str| ron::to_string(value).unwrap_or_else(|_| "\"\"".into());
        // A path that is not valid text cannot be written to the file, so it is not remembered.
        let recents: Vec<String> = self.recents.iter().filter_map(|path| path.to_str()).map(text).collect();
        format!(
            "{{\n    \"theme\": \"{}\",\n    \"scale\": {:?},\n    \"thumbnail_side\": {:?},\n    \"answered\": {},\n    \"hits\": {},\n    \
             \"search_leaves\": {},\n    \"label_order\": \"{}\",\n    \
             \"threads\": {},\n    \"picture_megabytes\": {},\n    \"thumbnail_megabytes\": {},\n    \
             \"scheduler\": {},\n    \"python\": {},\n    \"recents\": [{}],\n}}\n",
            self.theme.name(),
            self.scale,
            self.thumbnail_side,
            self.answered.map_or_else(|| "\"usual\"".to_owned(), |share| format!("{share:?}")),
            self.hits,
            self.search_leaves,
            self.label_order.name(),
            self.threads,
            self.picture_megabytes,
            self.thumbnail_megabytes,
            text(&self.scheduler),
            text(&self.python),
            recents.join(", ")
        )
    }

    /// Adds a path to the recently opened ones.
    pub fn remember(&mut self, path: &Path) {
        self.recents.retain(|recent| recent != path);
        self.recents.insert(0, path.to_owned());
        self.recents.truncate(RECENTS);
    }
}
