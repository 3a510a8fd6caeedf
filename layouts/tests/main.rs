//! The tests of this crate from outside, one program.

mod cluster;
mod systems;
mod wormhole;
