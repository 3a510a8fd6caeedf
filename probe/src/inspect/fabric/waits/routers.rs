//! Routers that wait: for their peers, for each other, for the link and the NoC.

use super::Search;
use crate::fabric::Direction;
use crate::state::{Activity, Party, Reading, ReceiverState, RouterState, SenderState, WaitReason};
use layouts::EthId;

const NOTHING: &Reading<u64> = &Reading::Absent;
/// `fabric_wait_t`.
const FOR_DOWNSTREAM: u32 = 1;
const FOR_NOC: u32 = 2;
/// The control channel drops what finds no room.
const CONTROL: u8 = 2;

fn count(reading: &Reading<u64>) -> u64 {
    reading.known().copied().unwrap_or_default()
}

impl<'a> Search<'a> {
    pub(super) fn routers(&mut self) {
        for router in &self.fabric.routers {
            if let Some(words) = stands(router) {
                self.note(Party::Router(router.at), words);
            }
            self.stage(router);
            for channel in router.senders.iter().filter(|s| s.virtual_channel != CONTROL) {
                self.sender(router, channel);
            }
            for channel in router.receivers.iter().filter(|r| r.virtual_channel != CONTROL) {
                self.receiver(router, channel);
            }
        }
    }

    /// Bring-up and the way out.
    fn stage(&mut self, router: &RouterState) {
        let who = Party::Router(router.at);
        let marks = [NOTHING, NOTHING];
        let Some(status) = router.status.known().copied() else { return };
        match status {
            "STARTED" => {
                let on = self.peer(router.at).map_or(Party::Link(router.at), Party::Router);
                self.add(who, on, WaitReason::Handshake, marks);
            }
            "REMOTE_HANDSHAKE_COMPLETE" => {
                for other in self.sync_partners(router) {
                    self.add(who, Party::Router(other), WaitReason::LocalSync, marks);
                }
            }
            "LOCAL_HANDSHAKE_COMPLETE" => {
                let is_master = |r: &&RouterState| r.master == Reading::Known(true);
                let master = self.siblings(router).find(is_master);
                let on = master.map_or(Party::Host, |master| Party::Router(master.at));
                self.add(who, on, WaitReason::Begin, marks);
            }
            "READY_FOR_TRAFFIC" if router.termination.known() == Some(&1) => {
                let peer = self.peer(router.at).and_then(|at| self.router(at));
                if let Some(peer) = peer.filter(|peer| peer.termination.known() == Some(&0)) {
                    self.add(who, Party::Router(peer.at), WaitReason::Leave, marks);
                }
            }
            _ => {}
        }
    }

    fn siblings(&self, router: &RouterState) -> impl Iterator<Item = &'a RouterState> + use<'a> {
        let at = router.at;
        self.fabric.routers.iter().filter(move |r| r.at.chip == at.chip && r.at != at)
    }

    /// A master waits for those whose handshake is not complete, the others wait for the master.
    fn sync_partners(&self, router: &RouterState) -> Vec<EthId> {
        let late = |other: &&RouterState| match router.master {
            Reading::Known(true) => other.status == Reading::Known("STARTED"),
            _ => other.master == Reading::Known(true),
        };
        self.siblings(router).filter(late).map(|other| other.at).collect()
    }

    fn sender(&mut self, router: &RouterState, channel: &SenderState) {
        let who = Party::Sender(router.at, channel.index);
        let (queued, in_flight) = (count(&channel.queued), count(&channel.in_flight));
        if queued + in_flight == 0 {
            return;
        }
        let starved = queued > 0 && channel.remote_free_slots == Reading::Known(0);
        let full = in_flight > 0 && queued + in_flight >= channel.slots;
        let reason = if starved { WaitReason::Credit } else { WaitReason::Completion };
        let marks = [&channel.sent, &channel.completed];
        if let Some(ailment) = self.ailment(router) {
            self.note(Party::Link(router.at), ailment);
            self.add(who, Party::Link(router.at), WaitReason::Link, marks);
        } else if stands(router).is_some() {
            self.add(who, Party::Router(router.at), reason, marks);
        } else if starved || full {
            let receiver = self.receiver_of(router, channel.virtual_channel);
            self.add(who, receiver.unwrap_or(Party::Link(router.at)), reason, marks);
        }
    }

    /// The receiver channel at the other end, if it holds anything.
    fn receiver_of(&self, router: &RouterState, virtual_channel: u8) -> Option<Party> {
        let peer = self.router(self.peer(router.at)?)?;
        let found = peer.receivers.iter().find(|r| r.virtual_channel == virtual_channel)?;
        let holds = count(&found.arrived) + count(&found.held) > 0;
        holds.then_some(Party::Receiver(peer.at, found.index))
    }

    fn receiver(&mut self, router: &RouterState, channel: &ReceiverState) {
        let who = Party::Receiver(router.at, channel.index);
        if count(&channel.arrived) + count(&channel.held) == 0 {
            return;
        }
        let marks = [&channel.received, &channel.completed];
        if stands(router).is_some() {
            self.add(who, Party::Router(router.at), WaitReason::Completion, marks);
            return;
        }
        match channel.waits_for.known() {
            Some(&FOR_DOWNSTREAM) => {
                for direction in &channel.pending {
                    let on = self.downstream(router, channel, *direction);
                    let on = on.unwrap_or(Party::Router(router.at));
                    self.add(who, on, WaitReason::Downstream(*direction), marks);
                }
            }
            Some(&FOR_NOC) => self.add(who, Party::Noc(router.at), WaitReason::Noc, marks),
            // Everything of it has left; only the completion cannot.
            _ if count(&channel.arrived) == 0 => {
                if let Some(ailment) = self.ailment(router) {
                    self.note(Party::Link(router.at), ailment);
                    self.add(who, Party::Link(router.at), WaitReason::Link, marks);
                }
            }
            _ => {}
        }
    }

    /// The sender channel of the router of this plane into which a packet goes on (tt-metal.md 4.4).
    fn downstream(
        &self,
        router: &RouterState,
        channel: &ReceiverState,
        towards: Direction,
    ) -> Option<Party> {
        let mine = *router.direction.known()?;
        let edge = router.downstream.iter().find(|edge| edge.direction == towards)?;
        let next = self.router_on(router.at.chip, edge.tile?)?;
        let straight = towards == mine.opposite();
        let over = channel.virtual_channel == 1 || router.dateline == Reading::Known(true);
        let second = next.senders.iter().find(|s| s.virtual_channel == 1);
        if let Some(second) = second.filter(|_| straight && over) {
            return Some(Party::Sender(next.at, second.index));
        }
        let two_dimensional = matches!(router.topology, Some("Mesh" | "Torus"));
        let index = match (two_dimensional, mine.index() > towards.index()) {
            (false, _) => 1,
            (true, true) => mine.index(),
            (true, false) => mine.index() + 1,
        };
        Some(Party::Sender(next.at, index as u8))
    }
}

/// Why a router does nothing for anybody, if it does not.
fn stands(router: &RouterState) -> Option<&'static str> {
    let code = router.waypoint.known().map(String::as_str);
    match router.activity.known() {
        Some(Activity::Running) if code == Some("PASW") => Some("it is paused (PASW)"),
        Some(Activity::Running) | None => None,
        Some(_) => Some("its kernel does not run"),
    }
}
