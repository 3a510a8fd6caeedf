//! The vendor's simulator: its library runs in a child process and serves the BAR protocol.
//!
//! Nearly any bad access makes the library print to stdout and end its process, so its process is
//! not ours: the program is started again with a hidden argument, its stdin is the socket, and what
//! it prints is kept as its last words.

mod child;
mod host;
#[allow(unsafe_code, reason = "a foreign library is loaded and called")]
mod library;

use machine::bar::Bar;
use std::path::Path;

pub use child::{HostCommand, open};
pub use host::{HOST_ARGUMENT, host_if_asked};

/// Name of the list of refusals that goes with the simulator (wormhole.md 10.3).
pub const PROFILE: &str = "ttsim";

/// Loads a library into this very process, which its next bad access ends: for a process that exists
/// for it, and to measure what the way to a child costs.
///
/// # Errors
/// Why it cannot be loaded, in one sentence.
pub fn load_here(library: &Path) -> Result<Box<dyn Bar>, String> {
    match library::Library::load(library) {
        Ok(loaded) => Ok(Box::new(loaded)),
        Err(error) => Err(host::reason(library, &error)),
    }
}
