//! The window: the only module that knows egui.
//!
//! Data flows one way: a panel or a key makes a request (`requests`); `app` performs it before the
//! next frame, mostly as a command of the desk; the desk's results come back when it is polled.
//! Painting changes only the state of the window, and touches no file, lock or decoder.
//!
//! How to add a page:
//! 1. a variant and a line in `page::Page`: its name, what it shows, its key. Bar, menu, palette
//!    and list of keys follow;
//! 2. a file under `pages` with its state (`#[derive(Default)] pub struct ToyView`) and `impl
//!    PageUi for ToyView`;
//! 3. a field and an arm in `pages::Pages`, which the compiler demands;
//! 4. the page makes its requests through its `Panel`: `ask` for a command, `act` for an action,
//!    `show` for images of one kind;
//! 5. data of the library that the desk does not hold already is requested in `PageUi::refresh`,
//!    which is called when the page is turned to.

mod act;
pub mod actions;
mod app;
mod bars;
pub mod catalogue;
mod cell;
mod class_keys;
mod class_picker;
pub mod dialogs;
mod incoming;
mod kept;
mod key_names;
mod launch;
pub mod listing;
pub mod modal;
mod modals;
pub mod page;
pub mod pages;
pub mod panel;
pub mod pictures;
pub mod requests;
pub mod selection;
pub mod textures;
pub mod theme;
pub mod toasts;
pub mod view;
mod viewed;
mod viewer;
pub mod widgets;
mod window;
pub mod without;
pub mod words;

pub use app::App;
pub use launch::run;
