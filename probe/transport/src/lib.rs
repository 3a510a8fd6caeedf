//! How a machine is reached: silicon, the vendor's simulator, a socket, the emulator behind its BAR; and what serves one to others.
//!
//! Each is a [`machine::bar::Bar`]. All of the machine's `unsafe` is here.

pub mod emulator_bar;
pub mod hosts;
pub mod serve;
pub mod shared_bar;
pub mod silicon;
pub mod socket_bar;
pub mod ttsim;
pub mod wire;

/// Bus transactions per second that watching a simulator should not exceed: it is as slow for everybody who waits for it.
const SIMULATOR_BUDGET: u32 = 20_000;
