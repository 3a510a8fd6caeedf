//! The constant part of `FabricTelemetry`: what the host wrote of a router before it started it
//! (tt-metal.md 4.2).

use super::builtin::pair;
use super::enumeration::Enumeration;
use super::location::{Formula, Location};
use machine::fabric::Direction;
use std::sync::Arc;

/// Locations in `StaticInfo`.
#[derive(Clone, Debug)]
pub(crate) struct StaticInfo {
    /// The version of the structure; another value than 1: the host did not write it.
    pub(crate) version: Location,
    /// The router's fabric node.
    pub(crate) node: Location,
    /// The node at the other end of its link.
    pub(crate) peer: Location,
    /// The direction of its link.
    pub(crate) direction: Location,
}

impl StaticInfo {
    /// Finds the members of the structure by name.
    pub(super) fn find(of: impl Fn(&str) -> Option<Formula>) -> Option<Self> {
        let node = |mesh: &str, device: &str| pair(Formula::Halves, of(device), of(mesh));
        let all: Vec<_> = (0..).zip(Direction::ALL.map(Direction::name)).collect();
        let names = Some(Arc::new(Enumeration::new(&all)));
        Some(Self {
            version: of("version")?.into(),
            node: node("mesh_id", "device_id")?,
            peer: node("neighbor_mesh_id", "neighbor_device_id")?,
            direction: Location { formula: of("direction")?, names },
        })
    }

    /// Returns all locations.
    pub(super) fn all(&self) -> [&Location; 4] {
        [&self.version, &self.node, &self.peer, &self.direction]
    }
}
