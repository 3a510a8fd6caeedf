//! The project's own rules, and behaviour across crates.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod arrows;
mod backtraces;
mod books;
mod built_in;
mod children;
mod dependencies;
mod fabric_snapshot;
mod habits;
mod metal;
mod metal_buffers;
mod metal_clean;
mod metal_pause;
mod metal_step;
mod metal_why;
mod modules;
mod operations;
mod pictures;
mod recipes;
mod relay;
mod studies;
mod tt_fabric;
mod tt_fabric_manifest;
mod tt_fabric_states;
