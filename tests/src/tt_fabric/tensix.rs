//! The L1 of a compute tile with a client of a router, and what every client is launched with.

use super::compile::Build;
use super::tile;
use fabric::Router;
use machine::place::Place;
use workloads::scene::tt_fabric::{Kernel, L1Words};

/// The base of kernel configurations (tt-metal.md 1.5).
pub(super) const CONFIG_BASE: u64 = 0x8960;
/// Where the kernels' text is linked, and their own words and buffers.
pub(super) const TEXT: u32 = 0x30000;
pub(super) const WORDS: u32 = 0x40000;

/// Semaphores of a client of a router: of the connection's end, and of the cursor.
pub(super) const CONNECTION_SEMAPHORES: usize = 2;

/// Returns the arguments of a client of a router: the channel, and its semaphores.
pub(super) fn connection_arguments(router: &Router) -> [u32; 3] {
    [router.eth.channel.into(), 0, 1]
}

/// Returns the kernel of a client of a router.
pub(super) fn kernel(
    build: &Build,
    place: Place,
    arguments: Vec<u32>,
    words: Vec<L1Words>,
) -> Kernel {
    Kernel {
        elf: build.elf(),
        name: build.name.clone(),
        chip: place.chip.0,
        tile: tile(place.tile),
        config_base: CONFIG_BASE,
        text_offset: u64::from(TEXT) - CONFIG_BASE,
        arguments,
        ncrisc: None,
        semaphores: vec![0; CONNECTION_SEMAPHORES],
        words,
    }
}
