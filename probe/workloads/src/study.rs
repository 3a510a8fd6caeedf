//! Studies: measurements on emulated meshes, each with a seed and a length, for the verb `study` and for tests.

pub mod bandwidth;
mod bench;
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

pub use rig::Rig;

/// By how many percent one figure lies above another.
fn deviation_percent(measured: f64, published: f64) -> f64 {
    100.0 * (measured / published - 1.0)
}
