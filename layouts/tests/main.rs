//! Integration tests of this crate, in one program.

mod cluster;
mod systems;
mod wormhole;
