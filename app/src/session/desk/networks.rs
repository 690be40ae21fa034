//! The networks that the user brought: listed, added, removed.

use std::io;
use std::path::PathBuf;

use tessera_core::network::{BroughtNetwork, ImageWishes};

use super::context::{Context, Event};
use super::notices::{done, problem};
use super::part::Part;
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

/// Tries the network in a file or a folder, and keeps it.
pub(super) fn add(ctx: &mut Context, path: PathBuf) {
    ctx.job(JobKind::AddNetwork, move |session| {
        let name = name_for(&path);
        let network = session.add_network(&name, &[path], &ImageWishes::default())?;
        let words = format!("Added the network `{name}`: {:.1} ms an image", network.image_ms);
        Ok(vec![listed(session), DeskMessage::from(done(words))])
    });
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
