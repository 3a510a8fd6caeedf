//! The foreign library behind safe calls (entry points: wormhole.md 10.1).

use layouts::{ChipKind, NocXy};
use libloading::Library as Shared;
use machine::bar::{Bar, BarOp, MOST_DEVICES};
use machine::snapshot::AccessError;
use machine::window;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;

/// Longest time of one call, in clocks: the library takes a `u32`.
const CLOCKS_PER_CALL: u64 = 1 << 20;

/// Config offset of the lower half of BAR 0; each BAR has 64 bits.
const BAR0_CONFIG: u32 = 0x10;

/// Reads bytes of host memory: bus address, destination, length.
pub type DmaRead = unsafe extern "C" fn(u64, *mut c_void, u32);
/// Writes bytes of host memory: bus address, source, length.
pub type DmaWrite = unsafe extern "C" fn(u64, *const c_void, u32);

/// Both of them.
pub type Dma = (DmaRead, DmaWrite);

type ConfigRead = unsafe extern "C" fn(u32, u32) -> u32;

/// A loaded and initialised libttsim. There is one per process, and it is not thread-safe.
pub struct Library {
    config_read: ConfigRead,
    config_write: unsafe extern "C" fn(u32, u32, u32),
    exit: unsafe extern "C" fn(),
    read: unsafe extern "C" fn(u64, *mut c_void, u32),
    write: unsafe extern "C" fn(u64, *const c_void, u32),
    clock: unsafe extern "C" fn(u32),
    chip: ChipKind,
    devices: u8,
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
        // SAFETY: there are no functions.
        unsafe { Self::load_with(path, None) }
    }

    /// Loads and initialises the library, whose devices reach host memory through these functions.
    ///
    /// # Safety
    /// They must transfer that many bytes at a bus address.
    pub(super) unsafe fn load_with(path: &Path, dma: Option<Dma>) -> Result<Self, LoadError> {
        // SAFETY: a person named this library to be loaded into this process, which exists for it.
        let shared = unsafe { Shared::new(path)? };
        // SAFETY: these are the documented signatures of the entry points (wormhole.md 10.1); the
        // pointers stay valid because `_shared` lives as long as they do.
        unsafe {
            let init = *shared.get::<unsafe extern "C" fn()>(b"libttsim_init\0")?;
            let config_read: ConfigRead = *shared.get(b"libttsim_pci_config_rd32\0")?;
            let config_write = *shared.get(b"libttsim_pci_config_wr32\0")?;
            let exit = *shared.get(b"libttsim_exit\0")?;
            let read = *shared.get(b"libttsim_pci_mem_rd_bytes\0")?;
            let write = *shared.get(b"libttsim_pci_mem_wr_bytes\0")?;
            let clock = *shared.get(b"libttsim_clock\0")?;
            if let Some((read, write)) = dma {
                let set: unsafe extern "C" fn(DmaRead, DmaWrite) =
                    *shared.get(b"libttsim_set_pci_dma_mem_callbacks\0")?;
                set(read, write);
            }
            init();
            let id = config_read(0, 0);
            let chip = ChipKind::of_config_id(id).ok_or(LoadError::Device(id))?;
            let (clocks, bars) = (0, BTreeMap::new());
            let another = |device: &u8| config_read(u32::from(*device) << 3, 0) != id;
            let devices = (0..MOST_DEVICES).find(another).unwrap_or(MOST_DEVICES);
            Ok(Self {
                config_read,
                config_write,
                exit,
                read,
                write,
                clock,
                chip,
                devices,
                clocks,
                bars,
                _shared: shared,
            })
        }
    }

    /// Ends its machine.
    pub fn exit(self) {
        // SAFETY: the call takes nothing, and no other follows.
        unsafe { (self.exit)() };
    }

    /// Reads a word of the config space of a device.
    #[must_use]
    pub fn config(&self, device: u8, offset: u32) -> u32 {
        // SAFETY: the call takes plain numbers, which the library checks.
        unsafe { (self.config_read)(u32::from(device) << 3, offset) }
    }

    /// Writes a word of the config space of a device.
    pub fn write_config(&self, device: u8, offset: u32, value: u32) {
        // SAFETY: the call takes plain numbers, which the library checks.
        unsafe { (self.config_write)(u32::from(device) << 3, offset, value) };
    }

    /// Returns the physical address of a BAR, which the simulator never moves.
    fn bar(&mut self, device: u8, bar: u8) -> u64 {
        if let Some(&base) = self.bars.get(&(device, bar)) {
            return base;
        }
        let offset = BAR0_CONFIG + 4 * u32::from(bar);
        let low = self.config(device, offset) & !0xF;
        let base = u64::from(self.config(device, offset + 4)) << 32 | u64::from(low);
        self.bars.insert((device, bar), base);
        base
    }

    /// Reads bytes at a bus address.
    pub fn read(&self, address: u64, out: &mut [u8]) {
        // SAFETY: the buffer behind the pointer has room for that many bytes.
        unsafe { (self.read)(address, out.as_mut_ptr().cast(), out.len() as u32) };
    }

    /// Writes bytes at a bus address.
    pub fn write(&self, address: u64, bytes: &[u8]) {
        // SAFETY: the buffer behind the pointer holds that many bytes.
        unsafe { (self.write)(address, bytes.as_ptr().cast(), bytes.len() as u32) };
    }

    /// Lets time pass.
    pub fn pass(&mut self, cycles: u64) {
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
                    answer.extend(self.config(*device, u32::from(*offset)).to_le_bytes());
                }
                BarOp::Read { device, bar, offset, len, .. } => {
                    let start = answer.len();
                    answer.resize(start + *len as usize, 0);
                    let address = self.bar(*device, *bar) + offset;
                    self.read(address, &mut answer[start..]);
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

    fn most_devices(&self) -> u8 {
        self.devices
    }
}
