//! The live view of meshscope: keys and snapshots in, frames out.
//!
//! It follows the Elm architecture: a [`message::Message`] and the [`model::Model`] go
//! through [`update()`], which returns the commands for the probe thread ([`console::feed`]);
//! [`view()`] reads the model and draws. The verbs are those of `cli`.
//!
//! ```
//! use ratatui::{Terminal, backend::TestBackend};
//! use console::glyph::Glyphs;
//! use tui::{model::Model, theme::Theme, view};
//!
//! let (theme, glyphs) = (Theme::new(false), Glyphs { ascii: true });
//! let model = Model::new("emulator:n300", theme, glyphs, (80, 24));
//! let mut terminal = Terminal::new(TestBackend::new(80, 24))?;
//! terminal.draw(|frame| view(&model, frame))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! `update` and `view` are pure. Styles are defined in the theme only, keys in one table from which
//! help is printed.
#![forbid(unsafe_code)]

mod busy;
mod geometry;
mod help;
mod history;
mod keys;
mod lens;
mod lists;
pub mod message;
pub mod model;
mod palette;
mod panes;
mod picture;
mod place;
mod program;
mod pulse;
mod route;
mod routes;
mod screen;
mod selection;
mod settings;
mod shade;
mod source;
mod table;
pub mod terminal;
pub mod theme;
mod update;
mod view;

pub use program::run;
pub use transport::ttsim::run_host_if_requested;
pub use update::update;
pub use view::view;
