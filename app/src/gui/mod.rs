//! The window: the only module that knows egui.
//!
//! It goes one way: a panel or a key asks (`asks`), `app` answers before the next frame by telling
//! the desk, and what the desk says comes back by its poll. Painting changes nothing but how the
//! window stands, and touches no file, lock or decoder.
//!
//! How a page is added:
//! 1. a variant and a line in `page::Page`: its name, what it shows, its key. Bar, menu, palette
//!    and list of keys follow;
//! 2. a file under `pages` with its state (`#[derive(Default)] pub struct ToyView`) and `impl
//!    PageUi for ToyView`;
//! 3. a field and an arm in `pages::Pages`, which the compiler asks for;
//! 4. what it wants done it asks of its `Panel`: `ask` a command, `act` an action, `show` images of
//!    one kind;
//! 5. what it needs of the library besides what the desk holds it asks for in `PageUi::refresh`,
//!    when it is turned to.

mod act;
pub mod actions;
mod app;
pub mod asks;
mod bars;
pub mod catalogue;
mod cell;
mod class_keys;
pub mod dialogs;
mod incoming;
mod kept;
mod launch;
pub mod listing;
pub mod modal;
mod modals;
pub mod page;
pub mod pages;
pub mod panel;
pub mod pictures;
pub mod selection;
pub mod textures;
pub mod theme;
pub mod toasts;
pub mod view;
mod viewed;
mod viewer;
pub mod widgets;
mod window;
pub mod words;

pub use app::App;
pub use launch::run;
