//! The vendor's simulator: its library runs in a child process and serves the BAR protocol.
//!
//! Nearly any bad access makes the library print to stdout and end its process, so its process is
//! not ours: the program is started again with a hidden argument, its stdin is the socket, and what
//! it prints is kept as its last words.

mod child;
mod host;
#[allow(unsafe_code, reason = "a foreign library is loaded and called")]
mod library;

pub use child::{HostCommand, open};
pub use host::{HOST_ARGUMENT, host_if_asked};

/// Name of the list of refusals that goes with the simulator (wormhole.md 10.3).
pub const PROFILE: &str = "ttsim";
