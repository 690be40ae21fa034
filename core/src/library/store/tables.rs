//! The tables of the state: what a change or a place does to their rows.

use rusqlite::{Transaction, params};

use crate::ids::ItemId;
use crate::library::event::{Bond, Change, ContentHash, Field, FolderWord, UserLabel};
use crate::library::state::Place;
use crate::raw_path::to_bytes;

/// Brings the tables to the state after a change.
pub(super) fn project(tx: &Transaction<'_>, change: &Change) -> rusqlite::Result<()> {
    match change {
        Change::Image(image, field) => {
            put_image(tx, *image)?;
            project_field(tx, image.0, field)?;
        }
        Change::Class(name, swap) => match swap.1 {
            Some(look) => {
                let colour = look.colour.map(|[r, g, b]| u32::from_be_bytes([0, r, g, b]));
                let sql = "INSERT INTO class (name, position, colour) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET position = ?2, colour = ?3";
                tx.execute(sql, params![name, look.position, colour])?;
            }
            None => {
                tx.execute("DELETE FROM class WHERE name = ?1", [name])?;
            }
        },
        Change::Alias(word, swap) => match &swap.1 {
            Some(class) => {
                tx.execute("INSERT INTO alias (word, class) VALUES (?1, ?2) ON CONFLICT (word) DO UPDATE SET class = ?2", [word, class])?;
            }
            None => {
                tx.execute("DELETE FROM alias WHERE word = ?1", [word])?;
            }
        },
        Change::Root(root, swap) => {
            let path = &swap.1.0;
            tx.execute("UPDATE root SET path = ?2, shown = ?3 WHERE id = ?1", params![root.0, to_bytes(path), path.to_string_lossy()])?;
        }
        Change::Reading(root, swap) => {
            let sql = "UPDATE root SET labels = ?2, exclude = ?3 WHERE id = ?1";
            tx.execute(sql, params![root.0, swap.1.labels, swap.1.exclude.join("\n")])?;
        }
    }
    Ok(())
}

fn project_field(tx: &Transaction<'_>, image: u32, field: &Field) -> rusqlite::Result<()> {
    match field {
        Field::Content(swap) => {
            let sql = "UPDATE image SET hash = ?2, width = ?3, height = ?4, bytes = ?5, changed = ?6 WHERE id = ?1";
            let content = swap.1;
            tx.prepare_cached(sql)?.execute(params![
                image,
                content.map(|c| hash_bytes(c.hash)),
                content.map(|c| c.size.0),
                content.map(|c| c.size.1),
                content.map(|c| c.bytes as i64),
                content.map(|c| c.changed)
            ])?;
        }
        Field::Folder(swap) => {
            let FolderWord { label, group, meta } = &swap.1;
            let meta = serde_json::to_string(meta).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let sql = "UPDATE image SET folder_label = ?2, object = ?3, meta = ?4 WHERE id = ?1";
            tx.prepare_cached(sql)?.execute(params![image, label, group, meta])?;
        }
        Field::Label(swap) => {
            let (said, label) = match &swap.1 {
                UserLabel::Unsaid => ("nothing", None),
                UserLabel::Class(class) => ("class", Some(class)),
                UserLabel::NoClass => ("no class", None),
            };
            tx.prepare_cached("UPDATE image SET user_said = ?2, user_label = ?3 WHERE id = ?1")?.execute(params![image, said, label])?;
        }
        Field::Captions(swap) => {
            tx.prepare_cached("DELETE FROM caption WHERE image = ?1")?.execute([image])?;
            let mut insert = tx.prepare_cached("INSERT INTO caption (image, position, text, by_user) VALUES (?1, ?2, ?3, ?4)")?;
            for (position, caption) in swap.1.iter().enumerate() {
                insert.execute(params![image, position as i64, caption.text, caption.by_user])?;
            }
        }
        Field::Reward(query, swap) => match swap.1 {
            Some(reward) => {
                let sql =
                    "INSERT INTO reward (image, query, value) VALUES (?1, ?2, ?3) ON CONFLICT (image, query) DO UPDATE SET value = ?3";
                tx.prepare_cached(sql)?.execute(params![image, query, reward.0])?;
            }
            None => {
                tx.prepare_cached("DELETE FROM reward WHERE image = ?1 AND query = ?2")?.execute(params![image, query])?;
            }
        },
        Field::Rejection(class, swap) => {
            let sql = if swap.1 {
                "INSERT OR IGNORE INTO rejection (image, class) VALUES (?1, ?2)"
            } else {
                "DELETE FROM rejection WHERE image = ?1 AND class = ?2"
            };
            tx.prepare_cached(sql)?.execute(params![image, class])?;
        }
        Field::Guess(word, swap) => {
            let sql = if swap.1 {
                "INSERT OR IGNORE INTO no_guess (image, word) VALUES (?1, ?2)"
            } else {
                "DELETE FROM no_guess WHERE image = ?1 AND word = ?2"
            };
            tx.prepare_cached(sql)?.execute(params![image, word])?;
        }
        Field::Vector(set, swap) => match &swap.1 {
            Some(vector) => {
                let sql = "INSERT INTO vector (image, name, steps) VALUES (?1, ?2, ?3) ON CONFLICT (image, name) DO UPDATE SET steps = ?3";
                tx.prepare_cached(sql)?.execute(params![image, set, vector.to_bytes()])?;
            }
            None => {
                tx.prepare_cached("DELETE FROM vector WHERE image = ?1 AND name = ?2")?.execute(params![image, set])?;
            }
        },
        Field::NotCopy(other, swap) => {
            let sql = if swap.1 {
                "INSERT OR IGNORE INTO not_copy (image, other) VALUES (?1, ?2)"
            } else {
                "DELETE FROM not_copy WHERE image = ?1 AND other = ?2"
            };
            tx.prepare_cached(sql)?.execute(params![image, other.0])?;
        }
        Field::Bond(other, swap) => match swap.1 {
            Some(bond) => {
                let sql =
                    "INSERT INTO bond (image, other, together) VALUES (?1, ?2, ?3) ON CONFLICT (image, other) DO UPDATE SET together = ?3";
                tx.prepare_cached(sql)?.execute(params![image, other.0, bond == Bond::Together])?;
            }
            None => {
                tx.prepare_cached("DELETE FROM bond WHERE image = ?1 AND other = ?2")?.execute(params![image, other.0])?;
            }
        },
        Field::Removed(swap) => {
            tx.prepare_cached("UPDATE image SET removed = ?2 WHERE id = ?1")?.execute(params![image, swap.1])?;
        }
    }
    Ok(())
}

/// Enters a place, or what is known of it now.
pub(super) fn put_place(tx: &Transaction<'_>, image: ItemId, place: &Place) -> rusqlite::Result<()> {
    let sql = "INSERT INTO place (root, path, shown, image, hash, bytes, modified, here) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (root, path) DO UPDATE SET image = ?4, hash = ?5, bytes = ?6, modified = ?7, here = ?8";
    let shown = place.path.to_string_lossy();
    let (bytes, modified) = (place.bytes as i64, place.modified);
    tx.execute(sql, params![place.root.0, to_bytes(&place.path), shown, image.0, hash_bytes(place.hash), bytes, modified, place.here])?;
    Ok(())
}

/// Makes sure that an image has a row.
pub(super) fn put_image(tx: &Transaction<'_>, image: ItemId) -> rusqlite::Result<()> {
    tx.execute("INSERT OR IGNORE INTO image (id) VALUES (?1)", [image.0])?;
    Ok(())
}

/// A hash as it stands in a row.
pub(super) fn hash_bytes(hash: ContentHash) -> [u8; 16] {
    hash.0.to_be_bytes()
}
