//! The integration tests of this crate, in one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod audit;
mod buffers;
mod catalog;
mod clean;
mod collectives;
mod collectives_fabric;
mod common;
mod debugging;
mod disrupt;
mod edm;
mod fabric_bring_up;
mod fabric_clients;
mod fabric_multicast;
mod fabric_reroute;
mod fabric_router;
mod fabric_seen;
mod fabric_trace;
mod failover;
#[path = "common/folder.rs"]
mod folder;
mod hosts;
mod identical;
mod images;
mod in_use;
mod inspect;
mod launched;
mod link_bench;
mod metal_kernels;
mod parts;
mod past;
mod preview;
mod quarantine;
mod remote;
mod sampling;
mod scene;
mod serve;
#[path = "common/sick.rs"]
mod sick;
mod telemetry;
mod vendor_child;
mod vendor_collectives;
mod vendor_fabric;
mod vendor_meshes;
mod vendor_metal;
mod vendor_refusals;
mod vendor_ring_ping;
mod vendor_simulator;
mod vendor_why;
mod verdicts;
