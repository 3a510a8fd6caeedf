//! Studies: measurements on emulated meshes with a seed, for the verb `study` and for tests.

pub mod bandwidth;
mod bench;
pub mod clean;
pub mod latency;
pub mod mux;
pub mod published;
pub mod race;
pub mod relaunch;
pub mod reroute;
mod rig;
pub mod time_out;
pub mod traffic;
pub mod transport;
pub mod ttl;
pub mod watching;
pub mod why;

pub use rig::Rig;

/// Returns by how many percent a measured figure is above (or, negative, below) a published one.
fn deviation_percent(measured: f64, published: f64) -> f64 {
    100.0 * (measured / published - 1.0)
}
