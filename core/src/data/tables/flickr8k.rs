//! The form of `Flickr8k.token.txt`: an image, `#`, the number of a caption, a tab, the caption.

use std::path::Path;

use super::rows::{self, Draft, shown};
use super::table::TableRow;
use crate::error::{Error, Result};

/// The image, the number and the caption of a line.
fn split(line: &str) -> Option<(&str, u64, &str)> {
    let (head, caption) = line.split_once('\t')?;
    let (path, number) = head.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((path, number.parse().ok().filter(|_| is_number && !path.trim().is_empty())?, caption))
}

/// Whether a line has this form.
pub(super) fn fits(line: &str) -> bool {
    split(line).is_some()
}

pub(super) fn read(text: &str, draft: &mut Draft) -> Result<()> {
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        draft.step()?;
        if draft.is_spoilt(line, i + 1) {
            continue;
        }
        match split(line) {
            Some((_, _, caption)) if caption.trim().is_empty() => draft.problem(i + 1, "no caption after the tab"),
            Some((path, number, caption)) => {
                let row = draft.row(path, i + 1);
                draft.caption(row, number, caption, i + 1);
            }
            None => draft.problem(i + 1, format!("expected `image.jpg#0`, a tab and a caption, found `{}`", shown(line))),
        }
    }
    Ok(())
}

/// The text, and the number of rows in it.
pub(super) fn write(rows: &[TableRow], to: &Path) -> Result<(String, usize)> {
    let (mut text, mut n_rows) = (String::new(), 0);
    for row in rows {
        if row.path.contains(['\t', '\r', '\n']) {
            let found = format!("`{}`", shown(&row.path));
            return Err(Error::data(to, "paths without tabs and line breaks", found, "rename the image, or choose another format"));
        }
        let before = text.len();
        for (i, caption) in rows::captions(row).enumerate() {
            text.push_str(&format!("{}#{i}\t{}\n", row.path, rows::on_one_line(caption)));
        }
        n_rows += usize::from(text.len() > before);
    }
    Ok((text, n_rows))
}
