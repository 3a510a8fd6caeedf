//! The fabric: routers on Ethernet cores that hand packets on to any chip of a mesh, and to other meshes.
//!
//! `plan` and what it uses are pure: they turn a mesh and a wish into a [`FabricPlan`], which says which Ethernet core is which
//! router. `tables` says where each chip sends what. What launches a plan and ends it is in `bring_up`. `client` is a worker's end
//! of a router's channel, `mux` what stands between several workers and a router, and `traffic` sends packets and checks them.

mod arrange;
mod bring_up;
mod builder;
pub mod client;
mod counters;
mod error;
mod find;
mod follow;
mod grid;
mod mesh;
mod meshes;
pub mod mux;
mod plan;
mod progress;
pub mod random;
mod release;
mod request;
mod route;
mod settings;
mod standing;
pub mod status_queue;
mod tables;
pub mod traffic;
mod traffic_launch;
mod traffic_lists;
pub mod traffic_outcome;
mod words;

pub use tables::{check_tables, pack_tables, routing_tables};
pub use words::router_image;

pub use bring_up::Fabric;
pub use builder::{connection, fits, header_bytes, router_launch};
pub use counters::router_counters;
pub use error::FabricError;
pub use find::running_fabric;
pub use mesh::FabricMesh;
pub use plan::MOST_HOPS;
pub use plan::{FabricPlan, Router};
pub use progress::{FabricOutcome, FabricProgress, FabricStage, Termination};
pub use release::Release;
pub use request::{Division, FabricRequest};
pub use settings::FabricSettings;

#[cfg(test)]
mod tests;
