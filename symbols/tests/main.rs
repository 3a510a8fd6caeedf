//! The integration tests of this crate, one program.

mod bounds;
mod broken;
mod code;
mod expressions;
mod frames;
mod places;
mod questions;
mod split;
mod stacks;
mod stores;
mod types;
mod unwind;
mod values;
mod wheel;
