//! The fabric: its clients, its muxes, and traffic over it.

pub mod client;
pub mod mux;
pub mod traffic;
mod traffic_launch;
mod traffic_lists;
pub mod traffic_outcome;
