//! Tests that no channels wait for each other in a cycle, which could deadlock.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// A link in one direction, by the router that sends, and its virtual channel.
type Channel = (EthId, u32);

/// Returns the channels for which a packet in each channel can wait, by plan, tables and the rule
/// of virtual channels: straight ahead over a dateline it continues in channel 1; after a turn, or
/// in another mesh, it starts in channel 0, unless the exits are apart.
fn waits(plan: &FabricPlan, dateline: bool) -> BTreeMap<Channel, BTreeSet<Channel>> {
    let mut waits: BTreeMap<Channel, BTreeSet<Channel>> = BTreeMap::new();
    for from in plan.nodes() {
        for to in plan.nodes() {
            let (mut at, mut before): (_, Option<(&Router, u32)>) = (from, None);
            while let Some(route) = plan.next_hop(at, to) {
                let router = plan.router(at, route, 0).unwrap();
                let virtual_channel = match before {
                    Some((last, now))
                        if plan.exits_apart || last.direction == route && !last.inter_mesh =>
                    {
                        let arrived = plan.router_at(last.peer).unwrap();
                        if arrived.dateline && dateline { 1 } else { now }
                    }
                    _ => 0,
                };
                let channel = (router.eth, virtual_channel);
                waits.entry(channel).or_default();
                if let Some((last, now)) = before {
                    waits.entry((last.eth, now)).or_default().insert(channel);
                }
                (at, before) = (router.neighbor, Some((router, virtual_channel)));
            }
            assert!(at == to || at == from && plan.next_hop(from, to).is_none());
        }
    }
    waits
}

/// Returns true if the waits have a cycle: removes channels that do not wait until none is left, or
/// a cycle.
fn has_cycle(mut waits: BTreeMap<Channel, BTreeSet<Channel>>) -> bool {
    loop {
        let waiting: BTreeSet<Channel> = waits.keys().copied().collect();
        let before = waits.len();
        waits.retain(|_, others| others.iter().any(|other| waiting.contains(other)));
        if waits.len() == before {
            return before > 0;
        }
    }
}

#[test]
fn no_channels_wait_in_a_circle() {
    for (name, plan) in all() {
        assert!(!has_cycle(waits(&plan, true)), "{name}");
    }
}

#[test]
fn without_the_dateline_rings_and_toruses_have_a_circle() {
    use FabricTopology::{Mesh, Ring, Torus};
    for (name, topology) in [
        ("t3000", Ring),
        ("galaxy", Ring),
        ("galaxy,cabling=torus", Ring),
        ("galaxy,cabling=ring", Torus),
        ("galaxy,cabling=torus", Torus),
    ] {
        assert!(has_cycle(waits(&whole(name, topology), false)), "{name} {topology}");
    }
    let request = FabricRequest { division: Division::Parts(2), ..FabricRequest::new(Mesh) };
    let halves = plan("t3000", &request);
    assert!(has_cycle(waits(&halves, false)), "exits apart in one virtual channel");
    // With two chips, no packet continues over a second link.
    assert!(!has_cycle(waits(&whole("t3000", Torus), false)));
}
