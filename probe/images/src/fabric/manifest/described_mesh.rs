//! The mesh that a manifest describes: for bytes that were captured without discovery.

use super::{FabricManifest, LocalChip, ManifestChip};
use layouts::{ChipCoord, ChipId, EthId};
use machine::target::{Chip, Link, Mesh};

impl FabricManifest {
    /// Returns the chips and links of the manifest's host. A chip's number is UMD's, its position
    /// that in its mesh, and its links are those of routers whose other end is on the same host.
    pub fn mesh(&self) -> Mesh {
        let mut chips: Vec<Chip> = self
            .meshes
            .iter()
            .flat_map(|(&mesh, of)| of.chips.values().map(move |chip| (mesh, chip)))
            .filter_map(|(mesh, chip)| described(mesh, chip))
            .collect();
        chips.sort_by_key(|chip| chip.id);
        let ends = self.local_chips().flat_map(|(_, chip)| self.links(chip));
        let mut links: Vec<Link> = ends.map(|(a, b)| Link { a: a.min(b), b: a.max(b) }).collect();
        links.sort_unstable();
        links.dedup();
        Mesh { kind: self.run.chips, chips, links, problems: self.elsewhere(), ..Mesh::default() }
    }

    /// Returns the ends of the links of a chip's routers.
    fn links<'a>(&'a self, chip: &'a LocalChip) -> impl Iterator<Item = (EthId, EthId)> + 'a {
        chip.routers.iter().filter_map(|router| {
            let path = router.link.peer?;
            let peer = self.router(path)?;
            let of_peer = self.meshes.get(&path.node.mesh)?.chips.get(&path.node.device)?;
            Some((end(chip, router.eth_channel)?, end(of_peer.local.as_ref()?, peer.eth_channel)?))
        })
    }

    /// Says which routers lead to chips of other hosts.
    fn elsewhere(&self) -> Vec<String> {
        let routers = self.local_chips().flat_map(|(_, chip)| &chip.routers);
        let across: Vec<_> = routers.filter(|router| router.link.cross_host).collect();
        let Some(first) = across.first() else { return Vec::new() };
        let count = across.len();
        vec![format!("{count} routers, {} first, lead to another host's chips", first.path)]
    }
}

fn described(mesh: u16, chip: &ManifestChip) -> Option<Chip> {
    let local = chip.local.as_ref()?;
    let at = |index: usize| chip.position.get(index).and_then(|it| u8::try_from(*it).ok());
    // Row and column; on a line the position alone.
    let (x, y) = if chip.position.len() > 1 { (at(1), at(0)) } else { (at(0), Some(0)) };
    let place = |(x, y)| ChipCoord { x, y, rack: 0, shelf: mesh as u8 };
    Some(Chip {
        id: ChipId(u16::try_from(local.physical_chip_id).ok()?),
        coord: x.zip(y).map(place),
        pcie: false,
        unique_id: Some(local.asic_id),
        board: None,
        gateway: None,
        harvested_rows: None,
        seat: None,
    })
}

fn end(chip: &LocalChip, channel: u8) -> Option<EthId> {
    Some(EthId { chip: ChipId(u16::try_from(chip.physical_chip_id).ok()?), channel })
}
