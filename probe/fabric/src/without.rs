//! What is taken out of a fabric, and the fabric of the chips that are left.

use super::request::Division;
use super::{FabricError, FabricMesh, FabricPlan, FabricRequest};
use layouts::ChipId;
use machine::fabric::{FabricNode, FabricTopology};
use machine::target::Mesh;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// What is taken out of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenOut {
    /// A chip.
    Chip(ChipId),
    /// All chips of a row of the mesh.
    Row(usize),
    /// All chips of a column of the mesh.
    Column(usize),
}

impl FromStr for TakenOut {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        let wrong =
            |_| format!("'{words}' is no chip, row or column, such as 5, row:1 or column:2");
        match words.split_once(':') {
            Some(("row", row)) => row.parse().map(Self::Row).map_err(wrong),
            Some(("column", column)) => column.parse().map(Self::Column).map_err(wrong),
            _ => words.parse().map(|chip| Self::Chip(ChipId(chip))).map_err(wrong),
        }
    }
}

impl fmt::Display for TakenOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chip(chip) => write!(f, "chip {chip}"),
            Self::Row(row) => write!(f, "row {row}"),
            Self::Column(column) => write!(f, "column {column}"),
        }
    }
}

impl TakenOut {
    /// Whether a device of a mesh is taken out with it.
    fn has(self, mesh: &FabricMesh, device: usize) -> bool {
        let (row, column) = mesh.place(device);
        match self {
            Self::Chip(chip) => mesh.chips.get(device) == Some(&chip),
            Self::Row(wanted) => wanted == row,
            Self::Column(wanted) => wanted == column,
        }
    }
}

impl FabricPlan {
    /// Returns the nodes of which no router was found: nothing of their chips was read.
    pub fn missing(&self) -> Vec<FabricNode> {
        let has = |node: &FabricNode| self.routers.iter().any(|router| router.node == *node);
        self.nodes().filter(|node| !has(node)).collect()
    }

    /// Refuses a fabric of which some chips do not answer.
    ///
    /// # Errors
    /// The nodes, and what brings up a fabric of the others.
    pub fn check_whole(&self) -> Result<(), String> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let nodes: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let chips = missing.iter().filter_map(|node| self.chip(*node));
        let options: Vec<String> = chips.map(|chip| format!("--without {chip}")).collect();
        Err(format!(
            "the fabric is incomplete: no router of {} answers; `meshscope fabric rebuild {}` builds it of the others",
            nodes.join(", "),
            options.join(" ")
        ))
    }

    /// Returns the chips that are taken out.
    ///
    /// # Errors
    /// The chip, row or column that the fabric does not have, or rows and columns of several meshes.
    pub fn chips_of(&self, out: &[TakenOut]) -> Result<BTreeSet<ChipId>, String> {
        let mut chips = BTreeSet::new();
        for it in out {
            if self.meshes.len() > 1 && !matches!(it, TakenOut::Chip(_)) {
                return Err(format!(
                    "{it}: of a fabric of several meshes only chips are taken out"
                ));
            }
            let found = self.meshes.iter().flat_map(|mesh| {
                let devices = (0..mesh.chips.len()).filter(|device| it.has(mesh, *device));
                devices.filter_map(|device| mesh.chips.get(device).copied())
            });
            let before = chips.len();
            chips.extend(found);
            if chips.len() == before {
                return Err(format!(
                    "the fabric has no {it}, or only one that is taken out already"
                ));
            }
        }
        Ok(chips)
    }

    /// Plans a fabric of the chips that are left, with open rows and columns if they cannot be closed.
    ///
    /// # Errors
    /// Why the chips that are left form no such fabric.
    pub fn without(&self, mesh: &Mesh, out: &BTreeSet<ChipId>) -> Result<Self, FabricError> {
        let left = |mesh: &FabricMesh| -> Vec<ChipId> {
            mesh.chips.iter().copied().filter(|chip| !out.contains(chip)).collect()
        };
        let parts: Vec<_> = self.meshes.iter().map(left).filter(|part| !part.is_empty()).collect();
        let chips = parts.iter().map(Vec::len).sum();
        if chips < 2 {
            return Err(FabricError::TooFewChips(chips));
        }
        let request =
            FabricRequest { division: Division::Chips(parts), ..FabricRequest::new(self.topology) };
        Self::new(mesh, &request).or_else(|error| {
            let open = match self.topology {
                FabricTopology::Ring => FabricTopology::Line,
                FabricTopology::Torus => FabricTopology::Mesh,
                FabricTopology::Line | FabricTopology::Mesh => return Err(error),
            };
            Self::new(mesh, &FabricRequest { topology: open, ..request })
        })
    }
}
