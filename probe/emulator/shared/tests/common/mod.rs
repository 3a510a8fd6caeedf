//! A client of the library that uses only its C functions, as tt-umd and others do.
#![allow(unreachable_pub, unsafe_code, reason = "a module of a test that calls C functions")]

use libloading::Library;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shared object that cargo built beside the test binary.
pub fn library() -> PathBuf {
    let name = "libmeshscope_ttsim.so";
    std::env::current_exe().unwrap().with_file_name(name)
}

/// Two chips like an n300, without harvested rows.
pub fn whole_n300() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.join("tests/data/n300_whole.yaml").to_str().unwrap().to_owned()
}

pub type DmaRead = extern "C" fn(u64, *mut c_void, u32);
pub type DmaWrite = extern "C" fn(u64, *const c_void, u32);

/// A process has one machine, so tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// The running library; each client has a new mesh.
pub struct Client {
    library: Library,
    _turn: MutexGuard<'static, ()>,
}

/// Device 0's BARs.
pub const BAR0: u64 = 0x1_0000_0000;
pub const BAR2: u64 = 0x1_2000_0000;
pub const ENTRIES: u64 = BAR0 + 0x1FC0_0000;

impl Client {
    pub fn on(mesh: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: all tests of this process wait for their turn before they touch the environment,
        // and the library reads it only in `libttsim_init`.
        unsafe { std::env::set_var("MESHSCOPE_MESH", mesh) };
        Self::begin(turn)
    }

    pub fn on_environment() -> Self {
        Self::begin(TURN.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn begin(turn: MutexGuard<'static, ()>) -> Self {
        // SAFETY: the library is part of this project and does nothing when loaded.
        let library = unsafe { Library::new(library()).unwrap() };
        let client = Self { library, _turn: turn };
        client.plain("libttsim_init");
        client
    }

    pub fn plain(&self, name: &str) {
        // SAFETY: these functions have no arguments and no result.
        unsafe { self.library.get::<extern "C" fn()>(name).unwrap()() };
    }

    pub fn config(&self, bdf: u32, offset: u32) -> u32 {
        let name = "libttsim_pci_config_rd32";
        // SAFETY: the documented signature.
        unsafe { self.library.get::<extern "C" fn(u32, u32) -> u32>(name).unwrap()(bdf, offset) }
    }

    pub fn config_function(&self) -> extern "C" fn(u32, u32) -> u32 {
        // SAFETY: the documented signature; the library stays loaded as long as the client
        // uses it.
        unsafe { *self.library.get("libttsim_pci_config_rd32").unwrap() }
    }

    pub fn set_config(&self, bdf: u32, offset: u32, value: u32) {
        type Write = extern "C" fn(u32, u32, u32);
        // SAFETY: the documented signature.
        let write = unsafe { self.library.get::<Write>("libttsim_pci_config_wr32").unwrap() };
        write(bdf, offset, value);
    }

    pub fn read(&self, address: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0x55; len];
        let name = "libttsim_pci_mem_rd_bytes";
        // SAFETY: the documented signature; the buffer has that many bytes.
        unsafe {
            let read = self.library.get::<extern "C" fn(u64, *mut c_void, u32)>(name).unwrap();
            read(address, bytes.as_mut_ptr().cast(), len as u32);
        }
        bytes
    }

    pub fn write(&self, address: u64, bytes: &[u8]) {
        let name = "libttsim_pci_mem_wr_bytes";
        // SAFETY: the documented signature; the buffer has that many bytes.
        unsafe {
            let write = self.library.get::<extern "C" fn(u64, *const c_void, u32)>(name).unwrap();
            write(address, bytes.as_ptr().cast(), bytes.len() as u32);
        }
    }

    pub fn clock(&self, clocks: u32) {
        // SAFETY: the documented signature.
        unsafe { self.library.get::<extern "C" fn(u32)>("libttsim_clock").unwrap()(clocks) };
    }

    pub fn host_memory(&self, read: Option<DmaRead>, write: Option<DmaWrite>) {
        type Install = extern "C" fn(Option<DmaRead>, Option<DmaWrite>);
        let name = "libttsim_set_pci_dma_mem_callbacks";
        // SAFETY: the documented signature; the functions belong to this program, which
        // outlives the library.
        unsafe { self.library.get::<Install>(name).unwrap()(read, write) };
    }

    pub fn tile_read(&self, x: u32, y: u32, address: u64) -> u32 {
        type TileRead = extern "C" fn(u32, u32, u64, *mut c_void, u32);
        let mut word = [0; 4];
        // SAFETY: the documented signature; the buffer has four bytes.
        unsafe {
            let read = self.library.get::<TileRead>("libttsim_tile_rd_bytes").unwrap();
            read(x, y, address, word.as_mut_ptr().cast(), 4);
        }
        u32::from_le_bytes(word)
    }

    pub fn word(&self, address: u64) -> u32 {
        u32::from_le_bytes(self.read(address, 4).try_into().unwrap())
    }

    pub fn set_word(&self, address: u64, value: u32) {
        self.write(address, &value.to_le_bytes());
    }

    /// Writes an entry of window `index`.
    pub fn entry(&self, index: u64, entry: u64) {
        self.write(ENTRIES + 8 * index, &entry.to_le_bytes());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.plain("libttsim_exit");
    }
}
