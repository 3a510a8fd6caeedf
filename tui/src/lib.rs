//! The picture and the command line of meshscope: keys and samples in, pictures and text out.
#![forbid(unsafe_code)]

mod args;
mod exit;
mod fabric;
pub mod feed;
mod geometry;
mod glyph;
mod interrupt;
mod keys;
mod line;
mod locate;
mod machine;
mod manual;
mod members;
pub mod message;
pub mod model;
mod output;
mod place;
mod program;
pub mod run;
mod screen;
mod shape;
pub mod terminal;
pub mod theme;
mod traffic;
mod update;
mod verbs;
mod view;
mod words;

pub use args::DEFAULT_TARGET;
pub use glyph::Glyphs;
pub use program::run;
pub use transport::ttsim::host_if_asked;
pub use update::update;
pub use view::view;
