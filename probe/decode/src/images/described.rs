//! Routers that fabric manifests describe, by core, and manifests that do not fit the mesh.

use super::ImageMap;
use crate::fabric::RouterLayout;
use crate::fabric::manifest::FabricManifest;
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::fabric::FabricNode;
use machine::target::Mesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What manifests say.
#[derive(Clone, Debug, Default)]
pub(super) struct Manifests {
    routers: BTreeMap<CoreId, Arc<DescribedRouter>>,
    findings: Vec<String>,
}

/// A router of a manifest.
#[derive(Debug)]
pub(crate) struct DescribedRouter {
    /// Its path in the manifest, such as `M0/C0/E0`.
    pub(crate) name: String,
    /// The node of its chip, and that of its peer's chip.
    pub(crate) nodes: (FabricNode, Option<FabricNode>),
    pub(crate) layout: RouterLayout,
}

impl ImageMap {
    /// Adds the routers of a manifest. Its chips are found by the ids that their firmware publishes;
    /// a manifest of other chips is a finding.
    pub fn add_manifest(&mut self, file: &str, manifest: &FabricManifest, mesh: &Mesh) {
        let ids: Vec<u64> = mesh.chips.iter().filter_map(|chip| chip.unique_id).collect();
        for chip in &mesh.chips {
            let local = chip.unique_id.and_then(|id| manifest.chip(id));
            for router in local.iter().flat_map(|(_, local)| &local.routers) {
                let Some((tile, (_, local))) =
                    mesh.layout().eth_channel(router.eth_channel).zip(local)
                else {
                    continue;
                };
                let core = CoreId { chip: chip.id, tile, core: CoreKind::Erisc };
                let layout = manifest.layout(local, router);
                let nodes = (router.path.node, router.link.peer.map(|peer| peer.node));
                let described = DescribedRouter { name: router.path.to_string(), nodes, layout };
                self.manifests.routers.insert(core, Arc::new(described));
            }
        }
        let all: Vec<u64> = manifest.local_chips().map(|(_, chip)| chip.asic_id).collect();
        let missing: Vec<u64> = all.iter().copied().filter(|id| !ids.contains(id)).collect();
        if missing.is_empty() {
            return;
        }
        let named: Vec<_> = missing.iter().map(|id| format!("{id:#018x}")).collect();
        let named = named.join(", ");
        self.manifests.findings.push(if missing.len() == all.len() {
            format!("{file}: it is of other chips: the mesh has none of the ASICs {named}")
        } else {
            format!("{file}: the mesh has no ASIC {named}")
        });
    }

    /// Returns the router that a manifest describes on a core.
    pub(crate) fn described(&self, core: CoreId) -> Option<&DescribedRouter> {
        self.manifests.routers.get(&core).map(AsRef::as_ref)
    }

    /// Returns the tiles of routers that manifests describe.
    pub(crate) fn described_tiles(&self) -> impl Iterator<Item = (ChipId, NocXy)> {
        self.manifests.routers.keys().map(|core| (core.chip, core.tile))
    }

    /// Returns what is wrong with the manifests, one sentence each.
    pub(crate) fn manifest_findings(&self) -> &[String] {
        &self.manifests.findings
    }
}
