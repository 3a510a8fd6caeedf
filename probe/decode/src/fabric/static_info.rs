//! The constant part of `FabricTelemetry`: what the host wrote of a router before it started it
//! (tt-metal.md 4.2).

use super::builtin::pair;
use super::enumeration::Enumeration;
use super::location::{Formula, Location};

/// `FABRIC_TELEMETRY_VERSION`: the host has written the structure.
pub(crate) const TELEMETRY_VERSION: u64 = 1;

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
        let names = Some(Enumeration::directions());
        Some(Self {
            version: of("version")?.into(),
            node: node("mesh_id", "device_id")?,
            peer: node("neighbor_mesh_id", "neighbor_device_id")?,
            direction: Location { formula: of("direction")?, names },
        })
    }

    /// Returns a location of the structure, which counts only if the host has written it.
    pub(super) fn if_written(&self, location: &Location) -> Location {
        let Formula::Word(version) = self.version.formula else { return location.clone() };
        let either = Box::new([location.formula.clone(), Formula::Nothing]);
        Location {
            formula: Formula::If(version, TELEMETRY_VERSION, either),
            names: location.names.clone(),
        }
    }

    /// Returns all locations.
    pub(super) fn all(&self) -> [&Location; 4] {
        [&self.version, &self.node, &self.peer, &self.direction]
    }
}
