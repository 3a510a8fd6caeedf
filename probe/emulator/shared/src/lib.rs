//! The emulated mesh as a shared object with the entry points of libttsim, the vendor's simulator.
//!
//! Programs that open `libttsim.so` (tt-umd, tt-exalens, `meshscope --target ttsim:<library>`) open our
//! emulated n300 or T3000 instead, unchanged. The functions, their arguments and the bus addresses are those
//! of the vendor's documentation (wormhole.md 10.1, wormhole.md 10.2, wormhole.md 10.5).
//!
//! # Which mesh
//!
//! The environment variable [`MESH`] holds the words after `emulator:` of a target: `n300` (also when it is
//! not set), `n300,seed=3`, the path of a cluster descriptor. The mesh is as a host finds it after power on:
//! base firmware runs in the Ethernet tiles and has trained the links, and the Tensix tiles are in reset.
//! With `run=` or `at=` it is the scene that meshscope itself would open, with firmware booted and the
//! workload launched.
//!
//! # What is otherwise than in the vendor's library
//!
//! * Nothing ends the process. An access that silicon would not answer, or that is not modelled, reads as
//!   all ones and is told in a line on standard error. After words that name no mesh there is no device:
//!   config space reads as all ones.
//! * Each access to a BAR or to config space takes the emulator's fixed number of cycles, so a poll loop that
//!   never calls `libttsim_clock` also ends.
//! * `libttsim_exit` and `libttsim_init` give a mesh as new; nothing is left of the one before.
//! * Callbacks for host memory may also be set while the mesh runs.

#[allow(
    unsafe_code,
    reason = "C functions are exported, and a client's buffers are taken at its word"
)]
pub mod entry;
#[allow(unsafe_code, reason = "functions of the client are called")]
mod host_memory;
mod machine;
mod soc_descriptor;

pub use host_memory::{DmaRead, DmaWrite};
pub use machine::{BOOT_CYCLES, DEFAULT_MESH, MESH};
pub use soc_descriptor::soc_descriptor;
