//! The first images of a library, before anything else of it is read.

use std::path::Path;

use rusqlite::{Connection, Result};

use super::load::{image_of, place_of, roots};
use super::schema::{APPLICATION, SCHEMA, expected};
use super::seal;
use crate::ids::ItemId;
use crate::library::sqlite::{connect_to_read, connect_to_unchanging, foreign, is_log_empty};
use crate::library::state::State;

/// The first images of a library by their paths, and how many it has in all.
#[derive(Clone, Debug)]
pub struct FirstImages {
    /// These images alone, without captions and what users said.
    pub state: State,
    /// How many images the library has.
    pub images: usize,
}

/// The first `n` images of the database at `path`: rows that are as they were written, of a
/// database that is no other version and holds nothing foreign. `None` where there are none, and,
/// where no file may be made beside it, while another program writes to it.
pub(in crate::library) fn first(path: &Path, n: usize, leaves_alone: bool) -> Option<FirstImages> {
    let db = match leaves_alone {
        true if !is_log_empty(path) => return None,
        true => connect_to_unchanging(path),
        false => connect_to_read(path),
    };
    let db = db.ok()?;
    read(&db, n).ok()?.filter(|first| first.images > 0)
}

fn read(db: &Connection, n: usize) -> Result<Option<FirstImages>> {
    let fact = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if fact("application_id")? != APPLICATION || fact("user_version")? != SCHEMA || foreign(db, &expected(SCHEMA)?)?.is_some() {
        return Ok(None);
    }
    seal::teach(db)?;
    let mut state = State::default();
    state.roots = roots(db)?.into();
    let mut image = db.prepare(&format!("SELECT * FROM image WHERE id = ?1 AND {}", seal::holds("image")))?;
    let sql =
        format!("SELECT image, root, path, hash, bytes, modified, here FROM place WHERE {} ORDER BY root, path", seal::holds("place"));
    let mut places = db.prepare(&sql)?;
    let mut rows = places.query([])?;
    let mut found = 0;
    while found < n
        && let Some(row) = rows.next()?
    {
        let id = ItemId(row.get(0)?);
        if state.image(id).is_none() {
            let mut records = image.query([id.0])?;
            let Some(Ok((_, record))) = records.next()?.map(image_of) else { continue };
            if !record.is_live() {
                continue;
            }
            *state.edit(id) = record;
            found += 1;
        }
        state.edit(id).places.push(place_of(row)?);
    }
    let images = db.query_row("SELECT count(*) FROM image WHERE hash IS NOT NULL AND NOT removed", [], |row| row.get::<_, i64>(0))?;
    Ok(Some(FirstImages { state, images: images as usize }))
}
