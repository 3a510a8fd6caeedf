//! The vendor's simulator: its library runs in a child process and serves the BAR protocol.
//!
//! Nearly any bad access makes the library print to stdout and end its process, so its process is
//! not ours: the program is started again with a hidden argument, its stdin is the socket, and what
//! it prints is kept as its last words.

mod child;
mod host;
#[allow(unsafe_code, reason = "a foreign library is loaded and called")]
mod library;

use crate::SIMULATOR_BUDGET;
use machine::bar::Bar;
use machine::target::Abilities;
use std::path::Path;

pub use child::{HostCommand, open};
pub use host::{HOST_ARGUMENT, host_if_asked};

/// What the simulator can do, and what it must not be asked (wormhole.md 10.3).
///
/// # Errors
/// What is wrong with the shipped list.
pub fn abilities() -> Result<Abilities, String> {
    let refusals = layouts::ttsim_refusals()?;
    Ok(Abilities {
        stepped_time: true,
        budget: Some(SIMULATOR_BUDGET),
        refusals,
        ..Abilities::default()
    })
}

/// Loads a library into this very process, which its next bad access ends: for a process that exists
/// for it, and to measure what the way to a child costs.
///
/// # Errors
/// Why it cannot be loaded, in one sentence.
pub fn load_here(library: &Path) -> Result<Box<dyn Bar>, String> {
    match library::Library::load(library) {
        Ok(loaded) => Ok(Box::new(loaded)),
        Err(error) => Err(host::reason(library, error)),
    }
}
