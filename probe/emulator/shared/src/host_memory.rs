//! The client's memory, through the callbacks that the client installed.

use emulator::HostMemory;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use transport::ttsim::{self, DmaRead, DmaWrite, Library};

static INSTALLED: Mutex<(Option<DmaRead>, Option<DmaWrite>)> = Mutex::new((None, None));

/// Installs the callbacks for every machine of this process.
pub(crate) fn install(read: Option<DmaRead>, write: Option<DmaWrite>) {
    *INSTALLED.lock().unwrap_or_else(PoisonError::into_inner) = (read, write);
}

/// Loads another libttsim, with the client's callbacks: it takes none later.
pub(crate) fn load(library: &Path) -> Result<Library, String> {
    let (read, write) = installed();
    // SAFETY: the client installed them for a library with these entry points.
    unsafe { ttsim::load_for_program(library, read.zip(write)) }
}

fn installed() -> (Option<DmaRead>, Option<DmaWrite>) {
    *INSTALLED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Host memory as a device sees it; none until callbacks are installed.
#[derive(Debug)]
pub(crate) struct Callbacks;

impl HostMemory for Callbacks {
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        let (Some(read), _) = installed() else { return false };
        // SAFETY: the client installed this function to fill a buffer of that many bytes.
        unsafe { read(address, out.as_mut_ptr().cast(), out.len() as u32) };
        true
    }

    fn write(&self, address: u64, data: &[u8]) -> bool {
        let (_, Some(write)) = installed() else { return false };
        // SAFETY: the client installed this function to take that many bytes.
        unsafe { write(address, data.as_ptr().cast(), data.len() as u32) };
        true
    }
}
