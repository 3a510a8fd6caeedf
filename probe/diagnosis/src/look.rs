//! A snapshot with its decoded state, and the kernels that run in it.

use decode::state::{Activity, CoreState, MeshState};
use images::ImageRole;
use layouts::{CoreId, EthId, NocXy};
use machine::place::Place;
use machine::snapshot::Snapshot;
use machine::target::Mesh;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A snapshot with its decoded state.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The bytes.
    pub snapshot: &'a Snapshot,
    /// The decoded state.
    pub state: &'a MeshState,
}

/// A kernel that was launched and has not returned, with its progress words.
pub(crate) struct Kernel<'a> {
    pub(crate) core: &'a CoreState,
    /// Its Ethernet tile, if it runs on one.
    pub(crate) end: Option<EthId>,
}

impl<'a> Look<'a> {
    /// Returns the cores of all tiles that were read.
    pub(crate) fn cores(self) -> impl Iterator<Item = (&'a CoreState, Option<EthId>)> {
        self.state.chips.iter().flat_map(|chip| {
            chip.tiles.iter().flat_map(|tile| {
                let end =
                    tile.eth.as_ref().map(|eth| EthId { chip: chip.chip.id, channel: eth.channel });
                tile.cores.iter().map(move |core| (core, end))
            })
        })
    }

    /// Returns the running kernels, by core.
    pub(crate) fn kernels(self) -> BTreeMap<CoreId, Kernel<'a>> {
        self.kernels_in(&[Activity::Running])
    }

    /// Returns the kernels that run or have ended, by core.
    pub(crate) fn launched(self) -> BTreeMap<CoreId, Kernel<'a>> {
        self.kernels_in(&[Activity::Running, Activity::Waiting, Activity::Done])
    }

    fn kernels_in(self, activities: &[Activity]) -> BTreeMap<CoreId, Kernel<'a>> {
        let is_in =
            |core: &CoreState| core.activity.known().is_some_and(|it| activities.contains(it));
        let kernels = self.cores().filter(|(core, _)| is_in(core));
        kernels.map(|(core, end)| (core.id, Kernel { core, end })).collect()
    }

    /// Returns the word at an address of a tile, if it was read.
    pub(crate) fn word(self, place: Place, offset: u64) -> Option<u32> {
        self.snapshot.word(place.at(offset)).ok()
    }
}

impl<'a> Kernel<'a> {
    /// Returns the name of the kernel's image, if it is known.
    pub(crate) fn name(&self) -> Option<&'a str> {
        let kernel = self.core.images.iter().find(|image| image.role == ImageRole::Kernel);
        kernel.map(|image| image.name.as_str())
    }

    /// Whether its waits are told by its words.
    pub(crate) fn has_rules(&self) -> bool {
        matches!(self.name(), Some("edm" | "ccl_worker" | "ring_ping" | "link_race" | "dispatch"))
    }

    /// Returns the waypoint; empty if it is not known.
    pub(crate) fn waypoint(&self) -> &'a str {
        self.core.waypoint.known().map_or("", String::as_str)
    }

    pub(crate) fn place(&self) -> Place {
        Place { chip: self.core.id.chip, tile: self.core.id.tile }
    }

    /// Returns a progress word by its name.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.word(name).map(|(_, value)| value)
    }

    /// Returns the address and value of a progress word.
    pub(crate) fn word(&self, name: &str) -> Option<(u64, u64)> {
        let word = self.core.words.iter().rfind(|word| &*word.name == name)?;
        Some((word.addr, *word.value.known()?))
    }

    /// Returns a number that changes when any of its words does, or its waypoint.
    pub(crate) fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for word in &self.core.words {
            word.value.known().hash(&mut hasher);
        }
        self.waypoint().hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns the tile of a coordinate pair in one word: x in the low half, y in the high half.
pub(crate) fn tile_of(xy: u64) -> NocXy {
    NocXy { x: xy as u8, y: (xy >> 16) as u8 }
}

/// Returns the other end of the link at an Ethernet tile.
pub(crate) fn peer(mesh: &Mesh, end: EthId) -> Option<EthId> {
    mesh.links.iter().find_map(|link| link.other_end(end))
}
