//! Packets that go the wrong way, or nowhere.

use super::Case;
use crate::condition::{Condition, Severity};
use crate::finding::{Confidence, Evidence, Finding};
use crate::kernels::last_packet;
use crate::look::{Kernel, peer};
use crate::place::Place;
use decode::state::{FabricPort, Party, RouterState};
use images::Reading;
use layouts::{ChipId, EthId};
use machine::fabric::FabricNode;

/// `fabric_traffic_phase_t`: everything is sent; waits for the remaining arrivals.
const RECEIVING: u64 = 8;

impl Case<'_> {
    /// Returns the routers that have dropped packets without a way.
    pub(super) fn misrouted(&self) -> Vec<Finding> {
        let routers = self.last.state.fabric.routers.iter();
        let dropped = routers.filter_map(|router| {
            let count = *router.counts.routing_errors.known().filter(|count| **count > 0)?;
            let words = format!(
                "router {} has dropped {count} packets: its tables have no way for them",
                router.at
            );
            let on = Party::Router(router.at);
            let place = Place::Router(router.at);
            Some(self.finding(Condition::PacketMisrouted, place, on, words))
        });
        dropped.collect()
    }

    /// Returns the senders of traffic on a line whose packets make a wrong number of hops.
    pub(super) fn wrong_hops(&self) -> Vec<Finding> {
        let senders = self.launched.values().filter(|it| it.name() == Some("fabric_traffic"));
        senders.filter_map(|sender| self.wrong_hops_of(sender)).collect()
    }

    fn wrong_hops_of(&self, sender: &Kernel<'_>) -> Option<Finding> {
        let packet = last_packet(self.last, sender)?;
        let id = sender.core.id;
        let client = format!("clients[{}]", packet.connection);
        let mut clients = self.last.state.fabric.clients.iter();
        let to = clients.find(|client_of| client_of.at == id && client_of.name == client)?.to?;
        let FabricPort::Router { router: first, .. } = to else { return None };
        let reached = self.after_hops(first, packet.hops);
        if reached.and_then(|chip| self.node(chip)) == Some(packet.to) {
            return None;
        }
        let reached = reached.map_or("beyond the last chip".to_owned(), |chip| {
            self.node(chip).map_or(format!("to chip {chip}"), |node| format!("to {node}"))
        });
        let words = format!(
            "core {id}: its packets for {} make {} hops from router {first}, which leads {reached}",
            packet.to, packet.hops
        );
        let mut finding =
            self.finding(Condition::PacketMisrouted, Place::Core(id), Party::Core(id), words);
        let run = sender.number("fabric_traffic_state.args.run_id");
        let waiting = self.kernels.values().filter(|it| {
            it.number("fabric_traffic_state.args.run_id") == run
                && it.number("fabric_traffic_state.phase") == Some(RECEIVING)
        });
        finding.waiting = finding.waiting.max(waiting.count());
        if finding.waiting == 0 {
            finding.severity = Severity::Fault;
        }
        finding.confidence = Confidence::Certain;
        finding.evidence.push(Evidence {
            at: Some(packet.at),
            name: format!("{id} fabric_traffic_packet_t"),
            value: format!("destination {}, {} hops", packet.to, packet.hops),
        });
        Some(finding)
    }

    /// Returns the chip that a packet reaches on a line from its first router on; none if the line
    /// ends before.
    fn after_hops(&self, first: EthId, hops: u8) -> Option<ChipId> {
        let routers = &self.last.state.fabric.routers;
        let direction = |router: &RouterState| router.facts.direction.known().copied();
        let towards = routers.iter().find(|router| router.at == first).and_then(direction)?;
        let mut at = first;
        for _ in 1..hops {
            let chip = peer(self.mesh, at)?.chip;
            let onward = |router: &&RouterState| {
                router.at.chip == chip && direction(router) == Some(towards)
            };
            at = routers.iter().find(onward)?.at;
        }
        Some(peer(self.mesh, at)?.chip)
    }

    fn node(&self, chip: ChipId) -> Option<FabricNode> {
        let mut routers = self.last.state.fabric.routers.iter();
        routers.find_map(|router| match &router.facts.node {
            Reading::Known(node) if router.at.chip == chip => Some(*node),
            _ => None,
        })
    }
}
