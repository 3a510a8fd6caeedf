//! The waits that are the same in all snapshots, and when each party came to a stand.

use super::{LEAST_APART_CYCLES, core_of};
use crate::graph::WaitGraph;
use crate::look::Look;
use decode::state::{Party, Wait, WaitReason};
use layouts::{CoreId, CoreKind};
use machine::target::Mesh;
use machine::words::in_words;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// When a party came to a stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Stop {
    /// The target's time at the first snapshot that shows it as it stands now, in cycles.
    pub cycles: u64,
    /// Whether an earlier snapshot shows it otherwise: if not, it may have stopped long before.
    pub seen: bool,
    /// The party.
    #[serde(rename = "who", serialize_with = "in_words")]
    #[schemars(with = "String")]
    pub party: Party,
}

/// What stands in all snapshots of a mesh.
pub(super) struct Lasting {
    pub(super) waits: WaitGraph,
    /// The first one first.
    pub(super) stops: Vec<Stop>,
    /// The cores of parties that still wait for the same, and were given some of it meanwhile.
    pub(super) served: BTreeSet<CoreId>,
}

impl Lasting {
    pub(super) fn of(mesh: &Mesh, looks: &[Look<'_>]) -> Self {
        let all: Vec<WaitGraph> = looks.iter().map(|look| WaitGraph::of(mesh, *look)).collect();
        let mut waits = lasting(&all);
        let mut stops: Vec<Stop> =
            waits.all.iter().map(|wait| stop(wait.waiter, &all, |then| has(then, wait))).collect();
        if !any_heart_beats(looks) {
            waits.still.retain(|party| !rests_on_heartbeat(*party));
        }
        let turns = waits.turns.clone();
        stops.extend(
            waits
                .still
                .iter()
                .map(|party| stop(*party, &all, |then| then.turns.get(party) == turns.get(party))),
        );
        // Of several waits of a party, the oldest counts.
        stops.sort_unstable();
        let mut once = BTreeSet::new();
        stops.retain(|stop| once.insert(stop.party));
        stand_before(mesh, &mut waits);
        wait_with(mesh, &mut waits);
        Self { waits, stops, served: served(mesh, &all) }
    }
}

/// Whether the heartbeat of any Ethernet core moves under a kernel: the vendor's simulator beats on
/// idle cores only.
pub(super) fn any_heart_beats(looks: &[Look<'_>]) -> bool {
    let beats = |look: &Look<'_>| -> BTreeMap<CoreId, Option<u32>> {
        let kernels = look.kernels().into_values().filter(|kernel| kernel.end.is_some());
        kernels.map(|it| (it.core.id, it.core.heartbeat.known().copied())).collect()
    };
    let Some((first, last)) = looks.first().zip(looks.last()) else { return false };
    let before = beats(first);
    beats(last).iter().any(|(core, beat)| before.get(core).is_some_and(|then| then != beat))
}

/// Whether a party's turns are told by the heartbeat: a kernel on an Ethernet core, which yields to
/// base firmware while it waits. A router counts its own.
fn rests_on_heartbeat(party: Party) -> bool {
    matches!(party, Party::Core(core) if core.core == CoreKind::Erisc)
}

/// Returns the cores whose parties wait for the same in the last graph as in an earlier one, with another
/// mark.
fn served(mesh: &Mesh, all: &[WaitGraph]) -> BTreeSet<CoreId> {
    let Some((last, before)) = all.split_last() else { return BTreeSet::new() };
    let mut marks: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for wait in before.iter().flat_map(|then| then.all.iter()) {
        marks.entry((wait.waiter, wait.on, wait.reason)).or_default().insert(wait.mark);
    }
    let was_served = |wait: &&Wait| {
        let then = marks.get(&(wait.waiter, wait.on, wait.reason));
        then.is_some_and(|then| then.iter().any(|mark| *mark != wait.mark))
    };
    last.all.iter().filter(was_served).filter_map(|wait| core_of(mesh, wait.waiter)).collect()
}

/// Returns when a party came to what holds for it in the last snapshot.
fn stop(party: Party, all: &[WaitGraph], holds: impl Fn(&WaitGraph) -> bool) -> Stop {
    let since = all.iter().rposition(|then| !holds(then)).map_or(0, |moving| moving + 1);
    let cycles = all.get(since).or(all.last()).map_or(0, |then| then.cycles);
    Stop { cycles, seen: since > 0, party }
}

fn has(waits: &WaitGraph, wait: &Wait) -> bool {
    waits.all.contains(wait)
}

/// Returns the waits of the last snapshot that were the same in all.
fn lasting(all: &[WaitGraph]) -> WaitGraph {
    let Some((last, before)) = all.split_last() else { return WaitGraph::default() };
    let mut lasting = last.clone();
    if before.is_empty() {
        lasting.waits.all.clear();
    }
    for then in before {
        let shorter = last.lasting(then);
        lasting.waits.all.retain(|wait| has(&shorter, wait));
        lasting.waits.notes.extend(shorter.waits.notes);
    }
    // What has not turned since the first snapshot stands.
    if let Some(first) = before.first() {
        lasting.still = last.lasting(first).still;
    }
    // The loop of a router turns all the time: one that stood lately stands.
    let apart = |then: &&WaitGraph| last.cycles.saturating_sub(then.cycles) >= LEAST_APART_CYCLES;
    if let Some(then) = before.iter().rfind(apart) {
        let lately = last.lasting(then);
        let routers = lately.still.into_iter().filter(|it| matches!(it, Party::Router(_)));
        for router in routers {
            if lasting.still.insert(router)
                && let Some(note) = lately.waits.notes.get(&router)
            {
                lasting.waits.notes.insert(router, note.clone());
            }
        }
    }
    lasting
}

/// Lets the parties of a core that stands wait for that core, whatever they waited for when it
/// stopped.
fn stand_before(mesh: &Mesh, waits: &mut WaitGraph) {
    let still: BTreeMap<CoreId, Party> =
        waits.still.iter().filter_map(|party| Some((core_of(mesh, *party)?, *party))).collect();
    for wait in &mut waits.waits.all {
        let core = core_of(mesh, wait.waiter).and_then(|core| still.get(&core));
        if let Some(core) = core {
            (wait.on, wait.reason) = (*core, WaitReason::Core);
        }
    }
    waits.waits.all.retain(|wait| wait.waiter != wait.on);
}

/// Lets a core that others wait for wait for what its mux or its connections wait for.
fn wait_with(mesh: &Mesh, waits: &mut WaitGraph) {
    let waiters: BTreeSet<Party> = waits.all.iter().map(|wait| wait.waiter).collect();
    let cores = waits.all.iter().filter_map(|wait| match wait.on {
        Party::Core(core) if !waiters.contains(&wait.on) => Some(core),
        _ => None,
    });
    let cores: BTreeSet<CoreId> = cores.collect();
    let parts = waits.all.iter().filter(|wait| {
        matches!(wait.waiter, Party::Mux(_) | Party::MuxChannel(..) | Party::Client(..))
    });
    let of_cores = parts.filter_map(|wait| {
        let core = core_of(mesh, wait.waiter).filter(|core| cores.contains(core))?;
        (core_of(mesh, wait.on) != Some(core))
            .then(|| Wait { waiter: Party::Core(core), ..wait.clone() })
    });
    let of_cores: Vec<Wait> = of_cores.collect();
    waits.waits.all.extend(of_cores);
    waits.waits.all.sort_by_key(|wait| (wait.waiter, wait.on, wait.reason));
    waits.waits.all.dedup_by_key(|wait| (wait.waiter, wait.on, wait.reason));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use layouts::{ChipId, ClusterDescriptor, NocXy};

    fn core(x: u8) -> CoreId {
        CoreId { chip: ChipId(0), tile: NocXy { x, y: 2 }, core: CoreKind::Brisc }
    }

    /// Returns the graph of a snapshot in which a core waits for a slot of a channel, and has had this
    /// many.
    fn graph(mark: u64) -> WaitGraph {
        let (waiter, on) = (Party::Client(core(1), 0), Party::MuxChannel(core(2), 0));
        let mut graph = WaitGraph::default();
        graph.waits.all.push(Wait { waiter, on, reason: WaitReason::Slot, mark });
        graph
    }

    #[test]
    fn who_waits_for_the_same_and_was_given_some_of_it_is_served() {
        let n300 = ClusterDescriptor::shipped("n300").unwrap().unwrap();
        let served = |marks: &[u64]| {
            let graphs: Vec<WaitGraph> = marks.iter().map(|mark| graph(*mark)).collect();
            served(&Mesh::from_descriptor(&n300), &graphs)
        };
        assert_eq!(served(&[5, 9]), BTreeSet::from([core(1)]));
        assert_eq!(served(&[5, 9, 9]), BTreeSet::from([core(1)]));
        assert_eq!(served(&[9, 9]), BTreeSet::new());
        assert_eq!(served(&[9]), BTreeSet::new());
    }
}
