//! The studies beside what they must show, on small meshes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod fabric_loop;
mod links;
mod mux;
