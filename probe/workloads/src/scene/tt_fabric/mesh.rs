//! The mesh for which a fabric's kernels were compiled: what their arguments depend on.

use machine::target::{Chip, Link, Mesh};
use serde::{Deserialize, Serialize};

/// A mesh, as far as kernels depend on it: routers are compiled for links, and clients have the
/// coordinates of tiles, which depend on the rows that are fused off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetalMesh {
    /// How the request named it.
    pub name: String,
    /// For each chip, the rows of compute tiles that are fused off.
    pub fused_off_rows: Vec<Vec<u8>>,
    /// The links, such as `0:e8-1:e0`.
    pub links: Vec<String>,
}

impl MetalMesh {
    /// Describes a mesh.
    pub fn new(name: &str, mesh: &Mesh) -> Self {
        let rows = |chip: &Chip| {
            let mut rows: Vec<_> = chip.harvested_rows.iter().flatten().copied().collect();
            rows.sort_unstable();
            rows
        };
        Self {
            name: name.to_owned(),
            fused_off_rows: mesh.chips.iter().map(rows).collect(),
            links: mesh.links.iter().map(|Link { a, b }| format!("{a}-{b}")).collect(),
        }
    }

    /// Checks that kernels for this mesh can run on another.
    ///
    /// # Errors
    /// The first difference, in one sentence.
    pub(super) fn check(&self, mesh: &Mesh) -> Result<(), String> {
        let Self { name, fused_off_rows, links } = self;
        let there = Self::new(name, mesh);
        let [ours, theirs] = [fused_off_rows.len(), there.fused_off_rows.len()];
        if ours != theirs {
            return Err(format!(
                "its kernels are for {name}, which has {ours} chips; this mesh has {theirs}"
            ));
        }
        if let Some(link) = links.iter().find(|link| !there.links.contains(link)) {
            return Err(format!(
                "its kernels are for {name}, which has the link {link}; this mesh does not"
            ));
        }
        if let Some(link) = there.links.iter().find(|link| !links.contains(link)) {
            return Err(format!(
                "its kernels are for {name}, which does not have the link {link}; this mesh does"
            ));
        }
        let mut rows = fused_off_rows.iter().zip(&there.fused_off_rows).enumerate();
        match rows.find(|(_, (ours, theirs))| ours != theirs) {
            Some((chip, (ours, theirs))) => Err(format!(
                "its kernels are for {name}, where the rows {ours:?} of chip {chip} are fused off; \
                 of this mesh {theirs:?} are"
            )),
            None => Ok(()),
        }
    }
}
