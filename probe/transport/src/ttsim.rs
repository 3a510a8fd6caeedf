//! The vendor's simulator: its library runs in a child process and serves the BAR protocol.
//!
//! Nearly any bad access makes the library print to stdout and end its process. It therefore runs
//! in a child: the program is started again with a hidden argument, its stdin is the socket, and
//! its output is kept for the error message.

mod child;
mod host;
#[allow(unsafe_code, reason = "a foreign library is loaded and called")]
mod library;

use crate::SIMULATOR_BUDGET;
use machine::target::Abilities;
use std::path::Path;

pub use child::{HostCommand, open};
pub use host::{HOST_ARGUMENT, run_host_if_requested};
pub use library::{Dma, DmaRead, DmaWrite, Library};

/// Returns what the simulator supports, and what must not be read (wormhole.md 10.3).
///
/// # Errors
/// When the shipped list is invalid.
pub fn abilities() -> Result<Abilities, String> {
    let refusals = layouts::ttsim_refusals()?;
    Ok(Abilities {
        stepped_time: true,
        budget: Some(SIMULATOR_BUDGET),
        refusals,
        ..Abilities::default()
    })
}

/// Loads a library into this process, which its next bad access ends.
///
/// # Errors
/// Why it cannot be loaded, in one sentence.
pub fn load_here(library: &Path) -> Result<Library, String> {
    Library::load(library).map_err(|error| host::reason(library, error))
}

/// As [`load_here`]; the library's devices reach host memory through these functions.
///
/// # Errors
/// As [`load_here`].
///
/// # Safety
/// The functions must transfer that many bytes at a bus address, as long as the library is loaded.
#[allow(unsafe_code, reason = "the caller answers for the functions")]
pub unsafe fn load_for_program(library: &Path, dma: Option<Dma>) -> Result<Library, String> {
    // SAFETY: the caller answers for the functions.
    let loaded = unsafe { Library::load_with(library, dma) };
    loaded.map_err(|error| host::reason(library, error))
}
