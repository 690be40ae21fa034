//! Requests made while the window is painted; they are performed, in order, before the next frame.

use std::path::PathBuf;

use super::actions::Action;
use super::dialogs::{Purpose, Wants};
use super::listing::Scope;
use super::page::Page;
use crate::command::Command;

/// A request, performed before the next frame.
#[derive(Clone, Debug)]
pub enum Request {
    /// Run a command on the desk.
    Command(Command),
    /// Perform an action of a menu, a key or the palette.
    Action(Action),
    /// Turn to a page.
    TurnTo(Page),
    /// Show the images of one kind, and end the search.
    Show(Scope),
    /// Open the system's dialog for a path.
    OpenDialog(Purpose, Wants),
    /// Stop waiting for the system's dialog.
    GiveUpDialog,
    /// A path was chosen.
    Chose(Purpose, PathBuf),
    /// Close the window although jobs are running.
    Leave,
}
