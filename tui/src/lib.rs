//! The live view and the command line of meshscope: keys and snapshots in, frames and text out.
//!
//! The live view follows the Elm architecture: a [`message::Message`] and the [`model::Model`] go
//! through [`update()`], which returns the commands for the probe thread; [`view()`] reads the
//! model and draws. [`feed`] is that thread: it owns the target, reads what the screens show, and
//! publishes the newest [`feed::MeshSnapshot`]. The verbs take one snapshot each and print it as
//! text or JSON. The pages of `meshscope help` are in `src/manual`.
//!
//! ```
//! use ratatui::{Terminal, backend::TestBackend};
//! use tui::{Glyphs, model::Model, theme::Theme, view};
//!
//! let (theme, glyphs) = (Theme { color: false }, Glyphs { ascii: true });
//! let model = Model::new("emulator:n300", theme, glyphs, (80, 24));
//! let mut terminal = Terminal::new(TestBackend::new(80, 24))?;
//! terminal.draw(|frame| view(&model, frame))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! `update` and `view` are pure. Styles are defined in the theme only, keys in one table from which
//! help is printed. Every verb works the same on a live target and on a recording.
#![forbid(unsafe_code)]

mod args;
mod changes;
mod exit;
mod fabric;
pub mod feed;
mod found;
mod fresh;
mod geometry;
mod glyph;
pub mod halted;
mod help;
mod interrupt;
mod keys;
mod launching;
mod line;
mod lists;
mod locate;
mod machine;
mod manual;
mod members;
mod merged;
pub mod message;
pub mod model;
pub mod opening;
mod output;
mod panes;
mod past;
mod picture;
mod place;
mod player;
mod program;
mod reading;
mod recording;
pub mod run;
mod screen;
mod selection;
mod shape;
mod source;
pub mod terminal;
pub mod theme;
mod traffic;
mod update;
mod verbs;
mod verdict;
mod view;
mod words;

pub use args::DEFAULT_TARGET;
pub use glyph::Glyphs;
pub use program::run;
pub use transport::ttsim::run_host_if_requested;
pub use update::update;
pub use verbs::record_session;
pub use view::view;
