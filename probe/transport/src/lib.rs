//! Access to machines: silicon, the vendor's simulator, sockets, the emulator; and the server of a
//! machine.
//!
//! Each is a [`machine::bar::Bar`], but for an [`agent`], which is a [`machine::target::Target`]:
//!
//! - [`silicon`] opens the devices of tt-kmd and maps their BARs;
//! - [`ttsim`] runs `libttsim` in a child process, because a bad access ends its process;
//! - [`socket_bar`] is the client of [`serve`], whose mesh outlives its clients; [`wire`] is their
//!   protocol;
//! - [`emulator_bar`] drives the emulated mesh in this process;
//! - [`umd`] is client and server of the simulation server of tt-umd;
//! - [`agent`] reads and writes targets on other hosts, a plan at a time;
//! - [`hosts`] joins the machines of several hosts; [`shared_bar`] lets several clients use one.
//!
//! A BAR takes batches of operations and returns the bytes that they read.
//!
//! ```
//! use machine::bar::{Bar, BarOp};
//! use transport::emulator_bar::EmulatorBar;
//!
//! let chip = emulator::ChipConfig { pcie: true, ..Default::default() };
//! let config = emulator::MeshConfig { chips: vec![chip], ..Default::default() };
//! let mut bar = EmulatorBar::new(emulator::Mesh::new(config).expect("one chip is a mesh"));
//! let mut answer = Vec::new();
//! bar.submit(&[BarOp::ConfigRead { device: 0, offset: 0 }], &mut answer).expect("it answers");
//! assert_eq!(answer, 0x401E_1E52_u32.to_le_bytes());
//! ```
//!
//! # Invariants
//!
//! All `unsafe` of machine access is here. This crate does not judge addresses; `access` does, and
//! [`serve`] those of clients, which may use another `access`.

pub mod agent;
pub mod emulator_bar;
pub mod hosts;
mod process;
pub mod serve;
pub mod shared_bar;
pub mod silicon;
pub mod socket_bar;
pub mod ttsim;
pub mod umd;
pub mod wire;

/// Bus transactions per second that monitoring a simulator should not exceed: the bus slows the
/// simulation for all of its clients.
const SIMULATOR_BUDGET: u32 = 20_000;
