//! Routers that fabric manifests describe, by core, and manifests that do not fit the mesh.

use super::{Image, ImageMap, ImageRole, Provenance};
use crate::fabric::RouterLayout;
use crate::fabric::manifest::FabricManifest;
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use machine::fabric::FabricNode;
use machine::target::Mesh;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The name of a router of which neither image nor manifest is known.
pub const UNKNOWN_ROUTER: &str = "?";

/// What manifests say.
#[derive(Clone, Debug, Default)]
pub(super) struct Manifests {
    routers: BTreeMap<CoreId, Arc<DescribedRouter>>,
    files: Vec<ManifestFile>,
    /// A router that no manifest and no image describes.
    unknown: OnceLock<RouterLayout>,
}

/// A manifest's file, and how its chips fit the mesh.
#[derive(Clone, Debug)]
struct ManifestFile {
    name: String,
    /// The number of ranks of its run, each of which writes a file.
    world_size: u32,
    /// ASIC ids of its chips that the mesh does not have.
    missing: Vec<u64>,
    fits: bool,
}

/// The source of a router's locations.
#[derive(Clone, Copy)]
pub struct RouterSource<'a> {
    /// The name of the image, or the router's path in the manifest.
    pub name: &'a str,
    /// Its locations.
    pub layout: &'a RouterLayout,
    /// What gives them.
    pub kind: SourceKind,
}

/// What gives a router's locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Its ELF.
    Image,
    /// A manifest, which proves no start.
    Manifest,
    /// The areas at fixed addresses, for a kernel that is not known.
    FixedAreas,
}

/// A router of a manifest.
#[derive(Debug)]
pub struct DescribedRouter {
    /// Its path in the manifest, such as `M0/C0/E0`.
    pub name: String,
    /// The node of its chip, and that of its peer's chip.
    pub nodes: (FabricNode, Option<FabricNode>),
    /// Its locations.
    pub layout: RouterLayout,
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
        let all = manifest.local_chips().map(|(_, chip)| chip.asic_id);
        let (here, missing): (Vec<_>, _) = all.partition(|id| ids.contains(id));
        let (name, world_size) = (file.to_owned(), manifest.run.world_size);
        let fits = !here.is_empty();
        self.manifests.files.push(ManifestFile { name, world_size, missing, fits });
    }

    /// Returns the router that a manifest describes on a core.
    pub fn described(&self, core: CoreId) -> Option<&DescribedRouter> {
        self.manifests.routers.get(&core).map(AsRef::as_ref)
    }

    /// Returns the tiles of routers that manifests describe.
    pub(crate) fn described_tiles(&self) -> impl Iterator<Item = (ChipId, NocXy)> {
        self.manifests.routers.keys().map(|core| (core.chip, core.tile))
    }

    /// Returns the source of the locations of a router of which neither image nor manifest is known.
    pub fn unknown_router(&self) -> RouterSource<'_> {
        let layout = self.manifests.unknown.get_or_init(|| RouterLayout::published(self.layout()));
        RouterSource { name: UNKNOWN_ROUTER, layout, kind: SourceKind::FixedAreas }
    }

    /// Returns the source of a router's locations; `image` is the core's image of the fabric. A
    /// manifest comes after an image whose text was found in L1 or that this process loaded, and
    /// before one that a file of the host names.
    pub fn router_source<'a>(
        &'a self,
        core: CoreId,
        image: Option<&'a Image>,
    ) -> Option<RouterSource<'a>> {
        let image = image.and_then(|image| {
            let layout = image.router.as_ref()?;
            Some(RouterSource { name: &image.name, layout, kind: SourceKind::Image })
        });
        let manifest = self.described(core).map(|router| RouterSource {
            name: &router.name,
            layout: &router.layout,
            kind: SourceKind::Manifest,
        });
        let is_named_only = |image: &RouterSource<'_>| {
            let load = self.resolved(core).into_iter().find(|load| load.image.name == image.name);
            load.is_some_and(|load| load.evidence == Provenance::Recorded)
        };
        match image {
            Some(image) if manifest.is_none() || !is_named_only(&image) => Some(image),
            _ => manifest,
        }
    }

    /// Returns the name of a kernel that was found on a core and is no router. An ELF without debug
    /// information does not say what it is.
    pub fn other_kernel(&self, core: CoreId) -> Option<&str> {
        let kernel = self.found(core, ImageRole::Kernel)?.image;
        (kernel.router.is_none() && kernel.has_debug_info()).then_some(&*kernel.name)
    }

    /// Whether an ELF with debug information is that of the kernel on a core.
    pub fn has_described_kernel(&self, core: CoreId) -> bool {
        let mut kernels = self.loads(core).into_iter().map(|load| load.image);
        kernels.any(|image| image.role == ImageRole::Kernel && image.has_debug_info())
    }

    /// Returns what is wrong with the manifests, one sentence each. The chips of another host are
    /// in the file of its rank.
    pub fn manifest_findings(&self) -> Vec<String> {
        let files = &self.manifests.files;
        let another_fits = |of: &ManifestFile| {
            files.iter().any(|it| it.fits && it.world_size == of.world_size && it.name != of.name)
        };
        let wrong = files.iter().filter(|file| !file.missing.is_empty());
        let wrong = wrong.filter(|file| file.fits || file.world_size == 1 || !another_fits(file));
        let sentence = |ManifestFile { name, missing, fits, .. }: &ManifestFile| {
            let ids: Vec<_> = missing.iter().map(|id| format!("{id:#018x}")).collect();
            let ids = ids.join(", ");
            if *fits {
                format!("{name}: the mesh has no ASIC {ids}")
            } else {
                format!("{name}: it is of other chips: the mesh has none of the ASICs {ids}")
            }
        };
        wrong.map(sentence).collect()
    }
}
