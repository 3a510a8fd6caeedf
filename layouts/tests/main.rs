//! Integration tests of this crate, in one program.

mod cluster;
mod contradictions;
mod systems;
mod umd;
mod wormhole;
