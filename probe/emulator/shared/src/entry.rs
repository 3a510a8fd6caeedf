//! The entry points of libttsim, each a plain C function (names and signatures: wormhole.md 10.1).
//!
//! The library is one machine in one process. Calls from several threads are serialised. A call
//! from inside a DMA callback is refused, since the access that caused it is still running. A panic
//! does not leave a function: the machine is then dropped, and reads as devices that left the bus.

use crate::host_memory;
use crate::machine::{Machine, say};
use crate::process::{at_machine, on_bus};
use crate::served;
use std::ffi::c_void;
use std::sync::Once;
use std::thread::park;
use transport::ttsim::{DmaRead, DmaWrite};

/// Returns the device number of a bus, device and function word. There is one bus, and devices have
/// one function.
fn device(bus_device_function: u32) -> Option<u8> {
    let (device, function) = (bus_device_function >> 3, bus_device_function & 7);
    (device < 32 && function == 0).then_some(device as u8)
}

/// Builds the mesh that the environment names. On an error, prints it to standard error, and no
/// device exists.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_init() {
    at_machine((), |machine| {
        if machine.is_some() {
            return say("libttsim_init: the machine is already running");
        }
        match Machine::from_environment(served::kept()) {
            Ok(built) => *machine = Some(built),
            Err(error) => say(&error.to_string()),
        }
    });
    served::serve();
    if served::keeps() {
        stay_at_exit();
    }
}

/// Lets the process serve when the program has ended, until a signal ends it.
fn stay_at_exit() {
    static ONCE: Once = Once::new();
    extern "C" fn stay() {
        say("the program has ended; its mesh is served until this process is ended (Ctrl-C)");
        loop {
            park();
        }
    }
    ONCE.call_once(|| {
        // SAFETY: atexit(3) with a function of this library, which is not unloaded before it is
        // called: exit handlers of a library run when it is unloaded.
        let registered = unsafe { atexit(stay) } == 0;
        if !registered {
            say("the mesh ends with the program: atexit failed");
        }
    });
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

/// Drops the mesh, unless it outlives its program.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_exit() {
    if !served::keeps() {
        at_machine((), |machine| machine.take().map_or((), Machine::exit));
    }
}

/// Installs the functions through which devices reach host memory; either may be null.
///
/// # Safety
/// The functions must transfer `size` bytes at the given bus address, as long as the library is
/// loaded or until others are installed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_set_pci_dma_mem_callbacks(
    read: Option<DmaRead>,
    write: Option<DmaWrite>,
) {
    host_memory::install(read, write);
}

/// Reads a word of config space; all ones if there is no such device.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_pci_config_rd32(bus_device_function: u32, offset: u32) -> u32 {
    let Some(device) = device(bus_device_function) else { return u32::MAX };
    on_bus(u32::MAX, |bus| bus.config_read(device, offset))
}

/// Writes a word of config space, as a host does to query the size of a BAR. A BAR cannot be moved.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_pci_config_wr32(bus_device_function: u32, offset: u32, data: u32) {
    let Some(device) = device(bus_device_function) else { return };
    on_bus((), |bus| bus.config_write(device, offset, data));
}

/// Reads bytes at a bus address.
///
/// # Safety
/// `bytes` must point to `size` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_pci_mem_rd_bytes(address: u64, bytes: *mut c_void, size: u32) {
    if bytes.is_null() || size == 0 {
        return;
    }
    // SAFETY: the caller guarantees room for that many bytes, initialised here before the slice is
    // made.
    let out = unsafe {
        bytes.cast::<u8>().write_bytes(0xFF, size as usize);
        std::slice::from_raw_parts_mut(bytes.cast::<u8>(), size as usize)
    };
    on_bus((), |bus| bus.bus_read(address, out));
}

/// Writes bytes at a bus address.
///
/// # Safety
/// `bytes` must point to `size` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_pci_mem_wr_bytes(address: u64, bytes: *const c_void, size: u32) {
    if bytes.is_null() || size == 0 {
        return;
    }
    // SAFETY: the caller guarantees that many bytes.
    let data = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size as usize) };
    on_bus((), |bus| bus.bus_write(address, data));
}

/// Exists for clients that resolve the symbol. Tiles of Wormhole are reached through windows, so
/// this reads all ones and prints a message.
///
/// # Safety
/// `bytes` must be null or point to `size` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_tile_rd_bytes(
    x: u32,
    y: u32,
    address: u64,
    bytes: *mut c_void,
    size: u32,
) {
    say(&format!("libttsim_tile_rd_bytes of {x}-{y} at {address:#x}: not on Wormhole"));
    if !bytes.is_null() {
        // SAFETY: the caller guarantees room for that many bytes.
        unsafe { bytes.cast::<u8>().write_bytes(0xFF, size as usize) };
    }
}

/// Exists for clients that resolve the symbol. It prints a message and has no effect.
///
/// # Safety
/// No requirement: the bytes are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libttsim_tile_wr_bytes(
    x: u32,
    y: u32,
    address: u64,
    _bytes: *const c_void,
    _size: u32,
) {
    say(&format!("libttsim_tile_wr_bytes of {x}-{y} at {address:#x}: not on Wormhole"));
}

/// Advances time by `clocks` cycles of 1 ns.
#[unsafe(no_mangle)]
pub extern "C" fn libttsim_clock(clocks: u32) {
    on_bus((), |bus| bus.clock(u64::from(clocks)));
}
