//! The networks that the user brought: listed, added, removed, and had look at a library's images.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use tessera_core::error::display;
use tessera_core::library::encoded::Encoded;
use tessera_core::network::{BroughtNetwork, ImageWishes};

use super::context::{Context, Event};
use super::library_act::state_and;
use super::notices::{count, done, problem};
use super::part::Part;
use super::view::Notice;
use super::{Message as DeskMessage, Session};
use crate::job::JobKind;
use crate::session::networks::name_for;

/// The networks that the user brought, as last listed.
#[derive(Default)]
pub struct Networks {
    known: Option<Vec<(String, BroughtNetwork)>>,
}

/// The names of all networks, and what is known of them.
pub(super) struct Message(Vec<(String, BroughtNetwork)>);

impl Part for Networks {
    type Message = Message;
    const OUTLIVES_LIBRARY: bool = true;

    fn new(ctx: &Context) -> io::Result<Self> {
        let session = ctx.session.clone();
        ctx.short(move || listed(&session));
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Message) {
        self.known = Some(message.0);
    }

    fn hear(&mut self, _: &mut Context, _: Event) {}
}

impl Networks {
    /// The networks by name; `None` while they are not known.
    pub fn list(&self) -> Option<&[(String, BroughtNetwork)]> {
        self.known.as_deref()
    }
}

/// Tries the network in a file or a folder, and keeps it under a name, or else under the file's.
pub(super) fn add(ctx: &mut Context, path: PathBuf, name: Option<String>) {
    ctx.job(JobKind::AddNetwork, move |session| {
        let name = name.unwrap_or_else(|| name_for(&path));
        let network = session.add_network(&name, &[path], &ImageWishes::default())?;
        let words = format!("Added the network `{name}`: {}", in_words(&network));
        Ok(vec![listed(session), DeskMessage::from(done(words))])
    });
}

/// Looks at all images of the library with a network, and brings its vectors as a set of its name.
pub(super) fn bring(ctx: &mut Context, name: String) {
    ctx.library_job(JobKind::BringVectors, move |session, library| {
        let Encoded { set, images, looked, failed, changed, act, cancelled, .. } = session.bring_network_vectors(library, &name, None)?;
        let mut words = format!("Looked at {}: {} in `{set}` are new or changed", count(looked, "image"), count(changed, "vector"));
        if let Some(first) = failed.first() {
            let (n, path, detail) = (failed.len(), display(&first.path), &first.detail);
            let path = if detail.contains(&*path) { String::new() } else { format!("{path}: ") };
            let _ = write!(words, "; {n} of {images} could not be looked at, the first: {path}{detail}");
        }
        if cancelled {
            words.push_str("; it was stopped, and what was done stays");
        }
        Ok(state_and(library, Notice { undo: act, ..done(words) }))
    });
}

/// What is known of a network, in words: its picture, its time and its memory.
pub fn in_words(network: &BroughtNetwork) -> String {
    let BroughtNetwork { image, text, image_ms, megabytes, .. } = network;
    let kind = if text.is_some() { "images and text" } else { "images" };
    let memory = megabytes.map(|megabytes| format!(", {megabytes} MB of memory when it was tried")).unwrap_or_default();
    format!("{kind}, {} x {} pixels, {image_ms:.1} ms an image{memory}", image.width, image.height)
}

/// Removes a network.
pub(super) fn remove(ctx: &mut Context, name: String) {
    let session = ctx.session.clone();
    ctx.short(move || match session.networks().remove(&name) {
        Ok(()) => vec![listed(&session), DeskMessage::from(done(format!("Removed the network `{name}`")))],
        Err(error) => vec![problem(error).into()],
    });
}

/// Those that can be read; problems with the others.
fn listed(session: &Session) -> DeskMessage {
    let all = match session.networks().list() {
        Ok(all) => all,
        Err(error) => return problem(error).into(),
    };
    let (mut known, mut messages) = (Vec::new(), Vec::new());
    for (name, network) in all {
        match network {
            Ok(network) => known.push((name, network)),
            Err(error) => messages.push(DeskMessage::from(problem(error))),
        }
    }
    messages.push(Message(known).into());
    messages.into()
}
