//! The client's memory, through the callbacks that it installed.

use emulator::HostMemory;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Reads bytes of host memory: bus address, where they go, how many.
pub type DmaRead = unsafe extern "C" fn(u64, *mut c_void, u32);
/// Writes bytes of host memory: bus address, where they are, how many.
pub type DmaWrite = unsafe extern "C" fn(u64, *const c_void, u32);

static INSTALLED: Mutex<(Option<DmaRead>, Option<DmaWrite>)> = Mutex::new((None, None));

/// Keeps the callbacks for every machine of this process.
pub(crate) fn install(read: Option<DmaRead>, write: Option<DmaWrite>) {
    *INSTALLED.lock().unwrap_or_else(PoisonError::into_inner) = (read, write);
}

fn installed() -> (Option<DmaRead>, Option<DmaWrite>) {
    *INSTALLED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Host memory as the device sees it; there is none until callbacks are installed.
#[derive(Debug)]
pub(crate) struct Callbacks;

impl HostMemory for Callbacks {
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        let (Some(read), _) = installed() else { return false };
        // SAFETY: the client installed this function to be given a place for that many bytes.
        unsafe { read(address, out.as_mut_ptr().cast(), out.len() as u32) };
        true
    }

    fn write(&self, address: u64, data: &[u8]) -> bool {
        let (_, Some(write)) = installed() else { return false };
        // SAFETY: the client installed this function to be given that many bytes.
        unsafe { write(address, data.as_ptr().cast(), data.len() as u32) };
        true
    }
}
