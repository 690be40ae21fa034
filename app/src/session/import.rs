//! Imports images, captions and labels into a library.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Mutex;

use image::RgbImage;
use tessera_core::data::plan::ImportPlan;
use tessera_core::data::tables::Table;
use tessera_core::data::{Dataset, ImageSource, Item, OpenOptions};
use tessera_core::envelope::replace;
use tessera_core::library::Library;
use tessera_core::library::event::UserLabel;
use tessera_core::library::features::hash_file;
use tessera_core::library::import::{ImportOptions, Imported, TableRead, TakenFile, hold, import, import_file, plan};
use tessera_core::library::relocate::{Relocated, relocate};
use tessera_core::library::state::State;
use tessera_core::picture::decode::WHOLE;
use tessera_core::plural::count;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::Session;
use super::copies::plain;
use super::export::{png, save_png};

/// What is told of images that have the class of a folder inside.
pub fn of_folders_inside(plan: &ImportPlan) -> String {
    let keep = if plan.of_folders_inside == 1 { "keeps its class" } else { "keep their classes" };
    format!("{} {keep} from folders inside that were imported by themselves", count(plan.of_folders_inside, "image"))
}

/// What is told of images of the library that an import would leave out.
pub fn known_left_out(plan: &ImportPlan) -> String {
    let stay = if plan.known_left_out == 1 { "is left out and stays" } else { "are left out and stay" };
    format!("{} of the library {stay} in it; remove them there if you want", count(plan.known_left_out, "image"))
}

impl Session {
    /// Imports a folder of images.
    ///
    /// # Errors
    /// As [`import`].
    pub fn import(&self, library: &Mutex<Library>, folder: &Path, options: &ImportOptions) -> Result<Imported> {
        self.in_turn(|| import(library, folder, options, &self.progress))
    }

    /// Takes one image file in where it lies, and labels it, in one act.
    ///
    /// # Errors
    /// As [`import_file`].
    pub fn import_file(&self, library: &Mutex<Library>, file: &Path, label: &UserLabel) -> Result<TakenFile> {
        self.in_turn(|| import_file(library, file, label, &self.progress))
    }

    /// Saves a picture as a PNG file, and takes it in with its label, as one act; `replaces` is
    /// whether in place of a file that is there. A new file that is not taken in is deleted again.
    ///
    /// # Errors
    /// [`Error::Exists`]; [`Error::Io`]; as [`import_file`].
    pub fn keep_picture(
        &self,
        library: &Mutex<Library>,
        picture: &RgbImage,
        to: &Path,
        label: &UserLabel,
        replaces: bool,
    ) -> Result<TakenFile> {
        // What can be refused before a file is written is refused then.
        {
            let held = hold(library);
            if let Some(why) = held.read_only() {
                return Err(why.error(held.folder()));
            }
            held.acts().label(&[], label)?;
            let full = std::path::absolute(to).map_err(Error::io("write", to))?;
            let folder = full.parent().unwrap_or(&full);
            let folder = std::fs::canonicalize(folder).map_err(Error::io("write into", folder))?;
            if std::fs::canonicalize(held.folder()).is_ok_and(|own| folder.starts_with(&own)) {
                return Err(Error::data(to, "a place for an image", "one in the library's own folder", "choose another folder"));
            }
        }
        let was_there = to.exists();
        save_png(picture, to, replaces)?;
        let taken = self.import_file(library, to, label);
        if taken.is_err() && !was_there {
            // The error says why there is no image; a file that stays does no harm.
            let _ = std::fs::remove_file(to);
        }
        taken
    }

    /// What an import of a folder into a library in this state would take in; nothing is changed.
    ///
    /// # Errors
    /// As [`plan`].
    pub fn plan_import(&self, state: Option<&State>, folder: &Path, options: &ImportOptions) -> Result<ImportPlan> {
        plan(state, folder, options, &self.progress)
    }

    /// Writes the pictures of a NORB set as PNG files under `to`, in a folder for each category.
    /// They are named by their metadata in the set; when two would have the same name, each also
    /// gets the number of its pair. Returns how many were written.
    ///
    /// # Errors
    /// As [`Dataset::open`]; [`Error::Data`] when it is no NORB set, or when a destination exists
    /// with other contents; [`Error::Io`].
    pub fn unpack(&self, norb: &Path, to: &Path) -> Result<usize> {
        let data = Dataset::open(norb, &OpenOptions::default(), &self.progress)?;
        let frames: Vec<usize> = (0..data.items.len()).filter(|i| matches!(data.items[*i].source, ImageSource::Frame { .. })).collect();
        if frames.is_empty() {
            return Err(Error::data(norb, "a NORB -dat.mat file", "plain pictures", "leave out --unpack"));
        }
        let names: Vec<String> = frames.iter().map(|i| short_name(&data, &data.items[*i])).collect();
        // On some systems two names that differ only in case are the same.
        let is_one_each = names.iter().map(|name| name.to_lowercase()).collect::<HashSet<_>>().len() == names.len();
        self.progress.begin("Unpacking", frames.len() as u64);
        for (i, short) in frames.iter().zip(names) {
            self.progress.step()?;
            let item = &data.items[*i];
            let name = if is_one_each { short } else { item.name() };
            let folder = to.join(plain(data.class_name(item.class)));
            std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
            let picture = data.picture(*i, &*self.decoder, WHOLE, &self.progress)?.pixels;
            let path = folder.join(format!("{}.png", plain(&name)));
            let bytes = png(&picture).map_err(|error| Error::io("write", &path)(std::io::Error::other(error)))?;
            match std::fs::read(&path) {
                Ok(there) if there == bytes => {}
                Err(error) if error.kind() == ErrorKind::NotFound => replace(&path, &bytes)?,
                _ => return Err(Error::data(&path, "no file, or the same picture", "another one", "unpack into another folder")),
            }
        }
        Ok(frames.len())
    }

    /// Records in a library that an imported folder has moved.
    ///
    /// # Errors
    /// As [`relocate`].
    pub fn relocate(&self, library: &Mutex<Library>, old: &Path, new: &Path) -> Result<Relocated> {
        self.in_turn(|| relocate(library, old, new, &self.progress))
    }
}

/// Allows imports to take in forgotten images below a folder again. Returns how many files that
/// are.
///
/// # Errors
/// As [`import`]; [`Error::Cancelled`].
pub fn allow_forgotten(library: &Mutex<Library>, folder: &Path, options: &ImportOptions, progress: &Progress) -> Result<usize> {
    let forgotten = hold(library).forgotten()?;
    if forgotten.is_empty() {
        return Ok(0);
    }
    let data = Dataset::open(folder, &options.open(None, folder), progress)?;
    progress.begin("Looking for what was forgotten", data.items.len() as u64);
    let mut allowed = 0;
    for item in &data.items {
        progress.step()?;
        let ImageSource::File(path) = &item.source else { continue };
        // Files that cannot be read are reported by the import.
        if let Some(hash) = hash_file(path).ok().filter(|hash| forgotten.contains(hash)) {
            hold(library).allow_forgotten(hash)?;
            allowed += 1;
        }
    }
    Ok(allowed)
}

/// Imports the captions and labels of a table.
///
/// # Errors
/// As [`Library::read_table`].
pub fn take_table(library: &Mutex<Library>, table: &Table, file: &Path) -> Result<TableRead> {
    let name = tessera_core::error::display(Path::new(file.file_name().unwrap_or_default()));
    hold(library).read_table(table, &name)
}

/// The name of a picture, made of its metadata without the number of its pair.
fn short_name(data: &Dataset, item: &Item) -> String {
    let meta = &item.meta;
    let number = |value: Option<u32>| value.map_or_else(String::new, |value| format!("_{value}"));
    format!(
        "{}_{:02}{}{}{}{}",
        data.class_name(item.class),
        meta.instance.unwrap_or_default(),
        number(meta.elevation),
        number(meta.azimuth),
        number(meta.lighting),
        meta.camera.map_or_else(String::new, |camera| format!("_{}", camera.short()))
    )
}
