//! The foreign library behind safe calls (entry points: wormhole.md 10.1).

use layouts::{ChipKind, NocXy};
use libloading::Library as Shared;
use machine::bar::{Bar, BarOp};
use machine::snapshot::AccessError;
use machine::window;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;

/// Longest time of one call, in clocks: the library takes a `u32`.
const CLOCKS_PER_CALL: u64 = 1 << 20;

/// Config offset of the lower half of BAR 0; each BAR has 64 bits.
const BAR0_CONFIG: u16 = 0x10;

type ConfigRead = unsafe extern "C" fn(u32, u32) -> u32;

/// A loaded and initialised libttsim. There is one per process, and it is not thread-safe.
pub(super) struct Library {
    config_read: ConfigRead,
    read: unsafe extern "C" fn(u64, *mut c_void, u32),
    write: unsafe extern "C" fn(u64, *const c_void, u32),
    clock: unsafe extern "C" fn(u32),
    chip: ChipKind,
    clocks: u64,
    bars: BTreeMap<(u8, u8), u64>,
    // Dropped last; the pointers above point into it.
    _shared: Shared,
}

/// Why a library cannot be used.
pub(super) enum LoadError {
    /// The loader refuses it.
    Loader(libloading::Error),
    /// Its first device is none, or no chip that this program knows: word 0 of config space.
    Device(u32),
}

impl From<libloading::Error> for LoadError {
    fn from(error: libloading::Error) -> Self {
        Self::Loader(error)
    }
}

impl Library {
    /// Loads and initialises the library.
    pub(super) fn load(path: &Path) -> Result<Self, LoadError> {
        // SAFETY: a person named this library to be loaded into this process, which exists for it.
        let shared = unsafe { Shared::new(path)? };
        // SAFETY: these are the documented signatures of the entry points (wormhole.md 10.1); the
        // pointers stay valid because `_shared` lives as long as they do.
        unsafe {
            let init = *shared.get::<unsafe extern "C" fn()>(b"libttsim_init\0")?;
            let config_read: ConfigRead = *shared.get(b"libttsim_pci_config_rd32\0")?;
            let read = *shared.get(b"libttsim_pci_mem_rd_bytes\0")?;
            let write = *shared.get(b"libttsim_pci_mem_wr_bytes\0")?;
            let clock = *shared.get(b"libttsim_clock\0")?;
            init();
            let id = config_read(0, 0);
            let chip = ChipKind::of_config_id(id).ok_or(LoadError::Device(id))?;
            let (clocks, bars) = (0, BTreeMap::new());
            Ok(Self { config_read, read, write, clock, chip, clocks, bars, _shared: shared })
        }
    }

    fn config(&self, device: u8, offset: u16) -> u32 {
        // SAFETY: the call takes plain numbers, which the library checks.
        unsafe { (self.config_read)(u32::from(device) << 3, u32::from(offset)) }
    }

    /// Returns the physical address of a BAR, which the simulator never moves.
    fn bar(&mut self, device: u8, bar: u8) -> u64 {
        if let Some(&base) = self.bars.get(&(device, bar)) {
            return base;
        }
        let offset = BAR0_CONFIG + 4 * u16::from(bar);
        let low = self.config(device, offset) & !0xF;
        let base = u64::from(self.config(device, offset + 4)) << 32 | u64::from(low);
        self.bars.insert((device, bar), base);
        base
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        // SAFETY: the buffer behind the pointer holds that many bytes.
        unsafe { (self.write)(address, bytes.as_ptr().cast(), bytes.len() as u32) };
    }

    fn pass(&mut self, cycles: u64) {
        let mut left = cycles;
        while left > 0 {
            let now = left.min(CLOCKS_PER_CALL);
            // SAFETY: the call takes a plain number.
            unsafe { (self.clock)(now as u32) };
            left -= now;
        }
        self.clocks += cycles;
    }
}

impl Bar for Library {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        for op in batch {
            match op {
                BarOp::ConfigRead { device, offset } => {
                    answer.extend(self.config(*device, *offset).to_le_bytes());
                }
                BarOp::Read { device, bar, offset, len, .. } => {
                    let start = answer.len();
                    answer.resize(start + *len as usize, 0);
                    let address = self.bar(*device, *bar) + offset;
                    // SAFETY: the buffer behind the pointer has room for `len` bytes.
                    unsafe { (self.read)(address, answer[start..].as_mut_ptr().cast(), *len) };
                }
                BarOp::Write { device, bar, offset, bytes } => {
                    let address = self.bar(*device, *bar) + offset;
                    self.write(address, bytes);
                }
                BarOp::Point { device, window, x, y, page, order } => {
                    let tile = NocXy { x: *x, y: *y };
                    if let Some((offset, entry)) =
                        window::entry(self.chip().bar(), *window, tile, *page, *order)
                    {
                        let address = self.bar(*device, 0) + offset;
                        self.write(address, &entry.to_le_bytes());
                    }
                }
                BarOp::Pass { cycles } => self.pass(*cycles),
                BarOp::Now => answer.extend(self.clocks.to_le_bytes()),
            }
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }
}
