//! Derives the waits from the facts of channels and kernels.

mod clients;
mod routers;
mod stages;

use crate::state::{
    ChipState, FabricState, LinkCondition, LinkState, Party, RouterState, Wait, WaitReason, Waits,
};
use images::Reading;
use layouts::{ChipId, EthId, NocXy};
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Returns the waits in a snapshot.
pub(super) fn find(
    fabric: &FabricState,
    mesh: &Mesh,
    chips: &[ChipState],
    links: &[LinkState],
    cycles: u64,
) -> Waits {
    let turns = fabric.routers.iter().filter(|router| stages::serves(router));
    let turns = turns.filter_map(|r| Some((Party::Router(r.at), r.turns()?))).collect();
    let (all, notes) = (Vec::new(), BTreeMap::new());
    let mut search = Search { fabric, mesh, chips, links, all, notes, turns };
    search.clients();
    search.muxes();
    search.routers();
    search.all.sort_by_key(|wait| (wait.waiter, wait.on, wait.reason));
    search.all.dedup_by_key(|wait| (wait.waiter, wait.on, wait.reason));
    Waits { cycles, all: search.all, notes: search.notes, turns: search.turns }
}

/// The control channel drops packets without a free slot.
const CONTROL: u8 = 2;

/// Returns a known count, else 0: an unread party is not reported as waiting.
fn count(reading: &Reading<u64>) -> u64 {
    reading.known().map_or(0, |count| *count)
}

struct Search<'a> {
    fabric: &'a FabricState,
    mesh: &'a Mesh,
    chips: &'a [ChipState],
    links: &'a [LinkState],
    all: Vec<Wait>,
    notes: BTreeMap<Party, String>,
    turns: BTreeMap<Party, u64>,
}

impl<'a> Search<'a> {
    fn add(&mut self, who: Party, on: Party, reason: WaitReason, marks: [&Reading<u64>; 2]) {
        let [a, b] = marks.map(|mark| mark.known().map_or(0, |count| *count));
        // Two counters of 32 bits.
        self.all.push(Wait { waiter: who, on, reason, mark: a << 32 | b & 0xFFFF_FFFF });
    }

    fn note(&mut self, party: Party, words: impl Into<String>) {
        self.notes.entry(party).or_insert_with(|| words.into());
    }

    fn router(&self, at: EthId) -> Option<&'a RouterState> {
        self.fabric.routers.iter().find(|router| router.at == at)
    }

    fn router_on(&self, chip: ChipId, tile: NocXy) -> Option<&'a RouterState> {
        let mut routers = self.fabric.routers.iter();
        routers.find(|router| router.at.chip == chip && router.tile == tile)
    }

    fn peer(&self, at: EthId) -> Option<EthId> {
        super::peer(self.mesh, at)
    }

    /// Returns the problem of a router's link, from the router or both ends.
    fn ailment(&self, router: &RouterState) -> Option<&'static str> {
        let at = router.at;
        let found = self.links.iter().find(|state| state.link.a == at || state.link.b == at);
        // Over another link, packets continue to move.
        match (router.facts.link.name(), found.map(|state| state.condition)) {
            (Some("LINK_NONE_LEFT"), _) => Some("is down, and no other link goes there"),
            (Some("LINK_LOST"), _) => Some("is lost"),
            (Some("LINK_FALLBACK" | "LINK_RETURNING"), _) => None,
            (_, Some(LinkCondition::Down)) => Some("is down"),
            (_, Some(LinkCondition::Disagree)) => Some("is up at one end only"),
            _ => None,
        }
    }
}
