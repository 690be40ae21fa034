//! What is asked for while the window is painted; all of it is done, in order, before the next
//! frame.

use std::path::PathBuf;

use super::actions::Action;
use super::dialogs::{Purpose, Wants};
use super::listing::Scope;
use super::page::Page;
use crate::command::Command;

/// Something to be done before the next frame.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Run a command by the desk.
    Command(Command),
    /// Do what an action of a menu, a key or the palette stands for.
    Action(Action),
    /// Turn to a page.
    TurnTo(Page),
    /// Show the images of one kind, and end the search.
    Show(Scope),
    /// Open the system's dialog for a path.
    OpenDialog(Purpose, Wants),
    /// Wait no longer for it.
    GiveUpDialog,
    /// A path was chosen.
    Chose(Purpose, PathBuf),
    /// Close the window though something is going on.
    Leave,
}
