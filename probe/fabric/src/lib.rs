//! The fabric: routers on Ethernet cores that forward packets to any chip of a mesh, and to other
//! meshes.
//!
//! A [`FabricPlan`] made from a [`FabricRequest`] and a mesh assigns routers to Ethernet cores;
//! [`routing_tables`] returns the tables of its chips. Both are pure. [`Fabric`] launches a plan,
//! follows it and ends it; [`running_fabric`] finds a running one. [`client`] is a worker's
//! connection to a router's channel, [`mux`] joins several workers to one channel; [`traffic`]
//! sends packets and checks them, [`trace`] keeps them in a file to be sent again, and
//! [`status_queue`] reads the routers' reports.
//!
//! `decode` (`inspect/fabric`, `state/fabric`) decodes a fabric from a snapshot and `tui`
//! (`src/fabric`) shows it; the device's side is `firmware/device/fabric`.
//!
//! ```
//! use fabric::{FabricPlan, FabricRequest};
//! use layouts::{ChipId, ClusterDescriptor};
//! use machine::{fabric::FabricTopology, target::Mesh};
//!
//! let n300 = ClusterDescriptor::shipped("n300").expect("it is shipped").expect("it is sound");
//! let mesh = Mesh::from_descriptor(&n300);
//! let plan = FabricPlan::new(&mesh, &FabricRequest::new(FabricTopology::Line))?;
//! assert_eq!(plan.nodes().count(), 2);
//! assert!(plan.routers_of(ChipId(0)).count() > 0); // one for each link and routing plane
//! # Ok::<(), fabric::FabricError>(())
//! ```
//!
//! # Invariants
//!
//! A router's properties come from its image and its tables in L1, so that a fabric of tt-metal
//! decodes the same way. Stream ids and slot counts are constants of the router's ELF. The crate
//! does not depend on collectives.

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
mod packet;
mod plan;
mod progress;
pub mod random;
mod release;
mod replay;
mod request;
mod route;
mod settings;
pub mod status_queue;
mod stuck;
mod tables;
pub mod trace;
pub mod trace_read;
pub mod traffic;
mod traffic_launch;
mod traffic_lists;
pub mod traffic_outcome;
pub mod traffic_senders;
mod without;
mod words;

pub use tables::{check_tables, pack_tables, routing_tables};
pub use words::{ROUTER_IMAGES, router_image};

pub use bring_up::{Fabric, Rebuild};
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
pub use without::TakenOut;

#[cfg(test)]
mod tests;
