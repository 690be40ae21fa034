//! Import images, captions and labels into a library.

use std::path::Path;
use std::sync::Mutex;

use tessera_core::data::tables::{self, Table};
use tessera_core::data::{Dataset, OpenOptions, Source};
use tessera_core::library::Library;
use tessera_core::library::import::{ImportOptions, Imported, TableRead, hold, import};
use tessera_core::library::relocate::{Relocated, relocate};
use tessera_core::picture::decode::WHOLE;
use tessera_core::{Error, Result};

use super::Session;

impl Session {
    /// Imports a folder of images.
    ///
    /// # Errors
    /// As [`import`].
    pub fn import(&self, library: &Mutex<Library>, folder: &Path, options: &ImportOptions) -> Result<Imported> {
        self.in_turn(|| import(library, folder, options, &self.progress))
    }

    /// Writes the pictures of a NORB set as PNG files under `to`, in a folder for each category. Returns how many.
    ///
    /// # Errors
    /// As [`Dataset::open`]; [`Error::Data`] when it is no NORB set; [`Error::Io`].
    pub fn unpack(&self, norb: &Path, to: &Path) -> Result<usize> {
        let data = Dataset::open(norb, &OpenOptions::default(), &self.progress)?;
        let frames = data.items.iter().filter(|item| matches!(item.source, Source::Frame { .. })).count();
        if frames == 0 {
            return Err(Error::data(norb, "a NORB -dat.mat file", "plain pictures", "leave out --unpack"));
        }
        self.progress.begin("Unpacking", frames as u64);
        for (i, item) in data.items.iter().enumerate() {
            self.progress.step()?;
            let Source::Frame { .. } = &item.source else { continue };
            let folder = to.join(data.class_name(item.class));
            std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
            let picture = data.picture(i, &*self.decoder, WHOLE, &self.progress)?.pixels;
            let meta = &item.meta;
            let number = |value: Option<u32>| value.map_or_else(String::new, |value| format!("_{value}"));
            let name = format!(
                "{}_{:02}{}{}{}{}.png",
                data.class_name(item.class),
                meta.instance.unwrap_or_default(),
                number(meta.elevation),
                number(meta.azimuth),
                number(meta.lighting),
                meta.camera.map_or_else(String::new, |camera| format!("_{}", camera.short()))
            );
            super::export::save_png(&picture, &folder.join(name))?;
        }
        Ok(frames)
    }

    /// Reads a file of captions and labels.
    ///
    /// # Errors
    /// As [`tables::read`].
    pub fn read_table(&self, file: &Path) -> Result<Table> {
        tables::read(file, &self.progress)
    }

    /// Takes over the captions and labels of a table.
    ///
    /// # Errors
    /// As [`Library::read_table`].
    pub fn take_table(&self, library: &Mutex<Library>, table: &Table, file: &Path) -> Result<TableRead> {
        let name = tessera_core::error::display(Path::new(file.file_name().unwrap_or_default()));
        hold(library).read_table(table, &name)
    }

    /// Tells a library where a folder went.
    ///
    /// # Errors
    /// As [`relocate`].
    pub fn relocate(&self, library: &Mutex<Library>, old: &Path, new: &Path) -> Result<Relocated> {
        self.in_turn(|| relocate(library, old, new, &self.progress))
    }
}
