//! The meshes and chips of a manifest.

use super::cursor::{Cursor, Parsed};
use super::path::{self, RouterPath};
use super::router::ManifestRouter;
use super::types::Context;
use machine::fabric::FabricNode;
use std::collections::{BTreeMap, BTreeSet};

/// A mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestMesh {
    /// Number of chips by dimension: of a two-dimensional mesh, rows and columns.
    pub shape: Vec<u16>,
    /// Whether rows (x) and columns (y) are rings; none if the mesh has not two dimensions.
    pub torus: Option<Torus>,
    /// Whether links across the mesh shorten its columns.
    pub express_routing: bool,
    /// How each virtual channel transports credits; empty for a mesh of another host.
    pub credit_transport: BTreeMap<u8, CreditTransport>,
    /// The chips by device number.
    pub chips: BTreeMap<u16, ManifestChip>,
}

/// The dimensions of a mesh that are rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Along a row.
    pub x: bool,
    /// Along a column.
    pub y: bool,
}

/// How a virtual channel transports credits between the ends of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditTransport {
    /// Whether counters in L1 carry them instead of stream registers.
    pub counters: bool,
    /// Why counters do.
    pub reasons: Vec<String>,
}

/// A chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestChip {
    /// Its position: in a two-dimensional mesh, row and column.
    pub position: Vec<u16>,
    /// What this host knows of it; none for a chip of another host.
    pub local: Option<LocalChip>,
}

/// A chip of the host that wrote the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalChip {
    /// UMD's number of the chip on this host.
    pub physical_chip_id: u32,
    /// The 64-bit id that its firmware publishes.
    pub asic_id: u64,
    /// Use of its links off the grid: `none`, `intermesh_boundary` or `express_chord`.
    pub z_port_role: String,
    /// How its routers synchronize; none if it has no routers.
    pub local_sync: Option<LocalSync>,
    /// Its routers, each on another Ethernet channel.
    pub routers: Vec<ManifestRouter>,
}

/// The synchronization of a chip's routers when they start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalSync {
    /// The router with which the others synchronize.
    pub master: RouterPath,
    /// Number of routers.
    pub routers: u8,
    /// The Ethernet channels of the routers, one bit each.
    pub channels_mask: u32,
}

impl LocalChip {
    /// Returns the router of an Ethernet channel.
    pub fn router(&self, eth_channel: u8) -> Option<&ManifestRouter> {
        self.routers.iter().find(|router| router.eth_channel == eth_channel)
    }
}

impl Context<'_> {
    /// Reads the meshes. No two chips have the same ASIC id.
    pub(super) fn meshes(&self, at: &Cursor<'_>) -> Parsed<BTreeMap<u16, ManifestMesh>> {
        let mut meshes = BTreeMap::new();
        let mut asics = BTreeSet::new();
        for (mesh, at) in at.numbered("M")? {
            let chips = at.get("chips")?;
            let mut found = BTreeMap::new();
            for (device, at) in chips.numbered("C")? {
                let chip = self.chip(&at, FabricNode { mesh, device })?;
                if let Some(local) = &chip.local
                    && !asics.insert(local.asic_id)
                {
                    let what = format!("is {:#018x}, which another chip has", local.asic_id);
                    return Err(at.get("asic_id")?.refused(what));
                }
                found.insert(device, chip);
            }
            meshes.insert(mesh, mesh_of(&at, found)?);
        }
        Ok(meshes)
    }

    fn chip(&self, at: &Cursor<'_>, node: FabricNode) -> Parsed<ManifestChip> {
        let position = at.get("mesh_coord")?.numbers()?;
        if !at.get("is_local")?.flag()? {
            return Ok(ManifestChip { position, local: None });
        }
        let sync = at.get("local_sync")?.present();
        let local = LocalChip {
            physical_chip_id: at.get("physical_chip_id")?.number()?,
            asic_id: asic_id(&at.get("asic_id")?)?,
            z_port_role: at.get("z_port_role")?.text()?.to_owned(),
            local_sync: sync.map(|at| local_sync(&at)).transpose()?,
            routers: self.routers(&at.get("routers")?, node)?,
        };
        Ok(ManifestChip { position, local: Some(local) })
    }

    fn routers(&self, at: &Cursor<'_>, node: FabricNode) -> Parsed<Vec<ManifestRouter>> {
        let mut channels = BTreeSet::new();
        let router = |at: Cursor<'_>| {
            let what = "is unknown: a direction and a routing plane are expected, such as `E0`";
            let key = path::router_key(at.key()).ok_or_else(|| at.refused(what))?;
            let (direction, plane) = key;
            let router = self.router(&at, RouterPath { node, direction, plane })?;
            let channel = router.eth_channel;
            let what = || at.refused(format!("is on channel {channel}, as another router"));
            if channels.insert(channel) { Ok(router) } else { Err(what()) }
        };
        at.entries()?.map(router).collect()
    }
}

fn mesh_of(at: &Cursor<'_>, chips: BTreeMap<u16, ManifestChip>) -> Parsed<ManifestMesh> {
    let torus = |at: Cursor<'_>| Ok(Torus { x: at.get("x")?.flag()?, y: at.get("y")?.flag()? });
    let mut credit_transport = BTreeMap::new();
    if let Some(transport) = at.find("credit_transport") {
        for (virtual_channel, at) in transport.numbered("vc")? {
            let backing = [("stream_register", false), ("l1_counter", true)];
            let counters = at.get("backing")?.one_of(&backing)?;
            let reasons = at.get("reasons")?.texts()?.into_iter().map(str::to_owned).collect();
            credit_transport.insert(virtual_channel, CreditTransport { counters, reasons });
        }
    }
    Ok(ManifestMesh {
        shape: at.get("shape")?.numbers()?,
        torus: at.find("torus").map(torus).transpose()?,
        express_routing: at.get("express_routing")?.flag()?,
        credit_transport,
        chips,
    })
}

fn asic_id(at: &Cursor<'_>) -> Parsed<u64> {
    let digits = at.text()?.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    let id = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    id.ok_or_else(|| at.refused("is no hexadecimal number such as 0x0000000000000001"))
}

fn local_sync(at: &Cursor<'_>) -> Parsed<LocalSync> {
    Ok(LocalSync {
        master: path::router(&at.get("master")?)?,
        routers: at.get("num_routers")?.number()?,
        channels_mask: at.get("router_channels_mask")?.number()?,
    })
}
