//! Reading the state of a library from its tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, Row};

use super::log::{EVENTS, altered, read_event};
use crate::data::Meta;
use crate::ids::ItemId;
use crate::library::brought_vector::BroughtVector;
use crate::library::event::{Bond, Caption, ClassStyle, Content, ContentHash, FolderReading, FolderWord, Reward, RootId, UserLabel};
use crate::library::state::{Image, Place, Root, State};
use crate::raw_path::from_bytes;

/// Reads the folders in use.
pub(super) fn roots(db: &Connection) -> rusqlite::Result<BTreeMap<RootId, Root>> {
    let mut roots = BTreeMap::new();
    let mut query = db.prepare("SELECT id, path, labels, exclude FROM root")?;
    for row in query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?)))? {
        let (id, path, labels, exclude) = row?;
        let exclude = exclude.lines().map(str::to_owned).collect();
        roots.insert(RootId(id), Root { path: from_bytes(path), reading: FolderReading { labels, exclude } });
    }
    Ok(roots)
}

/// Reads the whole state, or what is wrong with a row.
pub(super) fn load(db: &Connection) -> rusqlite::Result<Result<State, String>> {
    let mut state = State::default();
    state.roots = Arc::new(roots(db)?);
    let mut query = db.prepare("SELECT * FROM image ORDER BY id")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (id, image) = match image_of(row) {
            Ok(parts) => parts,
            Err(found) => return Ok(Err(found)),
        };
        *state.edit(id) = image;
    }
    let mut query = db.prepare("SELECT image, text, by_user FROM caption ORDER BY image, position")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let captions = &mut state.edit(ItemId(row.get(0)?)).captions;
        // A list that grows by itself takes up to twice the memory.
        captions.reserve_exact(1);
        captions.push(Caption { text: row.get(1)?, by_user: row.get(2)? });
    }
    let mut query = db.prepare("SELECT image, query, value FROM reward")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        state.edit(ItemId(row.get(0)?)).rewards.insert(row.get(1)?, Reward(row.get(2)?));
    }
    let mut query = db.prepare("SELECT image, class FROM rejection")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        state.edit(ItemId(row.get(0)?)).rejected.insert(row.get(1)?);
    }
    let mut query = db.prepare("SELECT image, word FROM no_guess")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        state.edit(ItemId(row.get(0)?)).no_guesses.insert(row.get(1)?);
    }
    let mut query = db.prepare("SELECT image, name, steps FROM vector")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (image, name): (u32, String) = (row.get(0)?, row.get(1)?);
        let Some(vector) = BroughtVector::from_bytes(row.get_ref(2)?.as_blob()?) else {
            return Ok(Err(format!("image {image}: a vector `{name}` of no values, or only of 0")));
        };
        state.edit(ItemId(image)).vectors.insert(name, vector);
    }
    let mut query = db.prepare("SELECT image, other FROM not_copy")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        state.edit(ItemId(row.get(0)?)).not_copies.insert(ItemId(row.get(1)?));
    }
    let mut query = db.prepare("SELECT image, other, together FROM bond")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let bond = if row.get(2)? { Bond::Together } else { Bond::Apart };
        state.edit(ItemId(row.get(0)?)).bonds.insert(ItemId(row.get(1)?), bond);
    }
    let mut query = db.prepare("SELECT image, root, path, hash, bytes, modified, here FROM place NOT INDEXED")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let place = place_of(row)?;
        let places = &mut state.edit(ItemId(row.get(0)?)).places;
        places.reserve_exact(1);
        places.insert(places.partition_point(|other| (other.root, &other.path) < (place.root, &place.path)), place);
    }
    let mut classes = BTreeMap::new();
    let mut query = db.prepare("SELECT name, position, colour FROM class")?;
    for row in query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<u32>>(2)?)))? {
        let (name, position, colour) = row?;
        classes.insert(name, ClassStyle { position, colour: colour.map(|c| [(c >> 16) as u8, (c >> 8) as u8, c as u8]) });
    }
    state.classes = Arc::new(classes);
    let mut query = db.prepare("SELECT word, class FROM alias")?;
    let aliases: rusqlite::Result<_> = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect();
    state.aliases = Arc::new(aliases?);
    let mut query = db.prepare(&format!("{EVENTS} ORDER BY id"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        match read_event(row)? {
            (_, Some(event)) => state.record(&event),
            (id, None) => return Ok(Err(altered(id))),
        }
    }
    let next: Option<u32> = db.query_row("SELECT max(value) FROM fact WHERE name = 'next image'", [], |row| row.get(0))?;
    state.next_image = state.next_image.max(next.unwrap_or(1));
    Ok(Ok(state))
}

/// A place, of the columns after that of its image.
pub(super) fn place_of(row: &Row<'_>) -> rusqlite::Result<Place> {
    Ok(Place {
        root: RootId(row.get(1)?),
        path: from_bytes(row.get(2)?),
        hash: ContentHash(u128::from_be_bytes(row.get(3)?)),
        bytes: row.get::<_, i64>(4)? as u64,
        modified: row.get(5)?,
        here: row.get(6)?,
    })
}

/// An image record without captions and places, or what is wrong with its row.
pub(super) fn image_of(row: &Row<'_>) -> Result<(ItemId, Image), String> {
    let parse = || -> rusqlite::Result<_> {
        let id = ItemId(row.get("id")?);
        let hash: Option<[u8; 16]> = row.get("hash")?;
        let content = match hash {
            Some(hash) => Some(Content {
                hash: ContentHash(u128::from_be_bytes(hash)),
                size: (row.get("width")?, row.get("height")?),
                bytes: row.get::<_, i64>("bytes")? as u64,
                changed: row.get("changed")?,
            }),
            None => None,
        };
        let meta: String = row.get("meta")?;
        let said: String = row.get("user_said")?;
        let label: Option<String> = row.get("user_label")?;
        Ok((id, content, meta, said, label, row.get("folder_label")?, row.get("object")?, row.get("removed")?))
    };
    let (id, content, meta, said, label, folder_label, group, removed) = parse().map_err(|error| error.to_string())?;
    let meta: Meta = serde_json::from_str(&meta).map_err(|error| format!("image {}: {error}", id.0))?;
    let user = match (said.as_str(), label) {
        ("class", Some(class)) => UserLabel::Class(class),
        ("no class", _) => UserLabel::NoClass,
        _ => UserLabel::Unsaid,
    };
    let folder = FolderWord { label: folder_label, group, meta };
    Ok((id, Image { content, folder, user, removed, ..Image::new(id) }))
}
