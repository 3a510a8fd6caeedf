//! The constant part of `FabricTelemetry`: what the host wrote of a router before it started it
//! (tt-metal.md 4.2).

use super::builtin::pair;
use super::enumeration::Enumeration;
use super::location::{Formula, Location};

/// `FABRIC_TELEMETRY_VERSION`: the host has written the structure.
const VERSION: u64 = 1;

/// Locations in `StaticInfo`, which count only if the host has written it.
#[derive(Clone, Debug)]
pub struct StaticInfo {
    /// The router's fabric node.
    pub node: Location,
    /// The node at the other end of its link.
    pub peer: Location,
    /// The direction of its link.
    pub direction: Location,
}

impl StaticInfo {
    /// Finds the members of the structure by name.
    pub(super) fn find(of: impl Fn(&str) -> Option<Formula>) -> Option<Self> {
        let Formula::Word(version) = of("version")? else { return None };
        let if_written =
            |formula| pair(|of| Formula::If(version, VERSION, of), formula, Formula::Nothing);
        let node = |mesh: &str, device: &str| {
            if_written(pair(Formula::Halves, of(device), of(mesh))?.formula)
        };
        let names = Some(Enumeration::directions());
        Some(Self {
            node: node("mesh_id", "device_id")?,
            peer: node("neighbor_mesh_id", "neighbor_device_id")?,
            direction: Location { names, ..if_written(of("direction")?)? },
        })
    }

    /// Returns all locations.
    pub(super) fn all(&self) -> [&Location; 3] {
        [&self.node, &self.peer, &self.direction]
    }
}
