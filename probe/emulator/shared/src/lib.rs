//! The emulated mesh as a shared object with the entry points of libttsim, the vendor's simulator.
//!
//! Programs that open `libttsim.so` (tt-umd, tt-exalens, `meshscope --target ttsim:<library>`) open
//! an emulated n300 or T3000 instead, unchanged. The functions, their arguments and the bus
//! addresses are those of the vendor's documentation (wormhole.md 10.1, wormhole.md 10.2,
//! wormhole.md 10.5).
//!
//! # Choice of the mesh
//!
//! The environment variable [`MESH`] holds the part after `emulator:` of a target: `n300` (the
//! default), `n300,seed=3`, the path of a cluster descriptor. The mesh is in the state after power
//! on: base firmware runs in the Ethernet tiles and has trained the links, and the Tensix tiles are
//! in reset. With `run=` or `at=` it is the scene that meshscope itself would open, with firmware
//! booted and the workload launched.
//!
//! If [`SOCKET`] is set, the mesh is served there to `meshscope --target socket:PATH` while the program
//! drives it, and with [`KEEP`] after the program has ended. Only then has the library threads.
//!
//! # Differences from the vendor's library
//!
//! * No error ends the process. An access that silicon would not answer, or that is not modelled,
//!   reads as all ones and is reported in a line on standard error. If the variable names no mesh,
//!   there is no device: config space reads as all ones.
//! * Each access to a BAR or to config space takes the emulator's fixed number of cycles, so a poll
//!   loop that never calls `libttsim_clock` also ends.
//! * `libttsim_init` after `libttsim_exit` builds a new mesh, without any state of the previous
//!   one.
//! * Callbacks for host memory may also be set while the mesh runs.

#[allow(unsafe_code, reason = "exports C functions that trust a client's buffers")]
pub mod entry;
mod error;
#[allow(unsafe_code, reason = "calls functions of the client")]
mod host_memory;
mod machine;
mod process;
mod served;
mod soc_descriptor;
#[allow(unsafe_code, reason = "mutexes in shared memory are taken and given back")]
mod umd_mutex;

pub use error::MachineError;
pub use machine::{BOOT_CYCLES, DEFAULT_MESH, MESH};
pub use served::{KEEP, SOCKET};
pub use soc_descriptor::soc_descriptor;
