//! Waits of routers that start or end: for the peer, the routers of the chip, the host, or their
//! own packets.

use super::{CONTROL, Search, count};
use crate::state::{Activity, Party, Reading, RouterState, WaitReason};
use layouts::EthId;

const NOTHING: [&Reading<u64>; 2] = [&Reading::Absent; 2];
/// The statuses of routers that have not met all others.
const EARLY: [&str; 2] = ["STARTED", "REMOTE_HANDSHAKE_COMPLETE"];
/// The status before the kernel has begun.
const NOT_STARTED: &str = "NOT_STARTED";
const READY: &str = "READY_FOR_TRAFFIC";
/// The waypoint of a router that waits for the connections of the routers of its chip.
const CONNECTS: &str = "FSCW";
/// The waypoint of a router whose packets have all left.
const DRAINED: &str = "TDNW";

impl<'a> Search<'a> {
    /// Adds the waits of a router before its first packet and after its last one.
    pub(super) fn stage(&mut self, router: &'a RouterState) {
        let who = Party::Router(router.at);
        let code = router.waypoint.known().map(String::as_str);
        match router.facts.status.name() {
            _ if is_stopped(router) => {}
            Some("STARTED") => self.handshake(router),
            Some("REMOTE_HANDSHAKE_COMPLETE") => self.local_sync(router),
            Some("LOCAL_HANDSHAKE_COMPLETE") => {
                let master = self.siblings(router).find(|r| r.facts.master == Reading::Known(true));
                let on = master.map_or(Party::Host, |master| Party::Router(master.at));
                self.add(who, on, WaitReason::Begin, NOTHING);
            }
            Some(READY) if code == Some(CONNECTS) => {
                let late = self.siblings(router).filter(|r| !r.facts.status.is(READY));
                for other in late.collect::<Vec<_>>() {
                    self.add(who, Party::Router(other.at), WaitReason::LocalSync, NOTHING);
                }
            }
            Some(READY) if is_terminating(router) => {
                if code == Some(DRAINED) {
                    self.leave(router);
                } else {
                    self.drain(router);
                }
            }
            _ => {}
        }
    }

    /// Adds the waits of the host, which starts traffic only when all routers have met.
    pub(super) fn host(&mut self) {
        if self.all.iter().any(|wait| wait.on == Party::Host) {
            let late = |r: &&RouterState| r.facts.status.name().is_some_and(|s| EARLY.contains(&s));
            for router in self.fabric.routers.iter().filter(late) {
                self.add(Party::Host, Party::Router(router.at), WaitReason::Handshake, NOTHING);
            }
        }
    }

    fn handshake(&mut self, router: &RouterState) {
        let who = Party::Router(router.at);
        if let Some(ailment) = self.ailment(router) {
            self.note(Party::Link(router.at), ailment);
            self.add(who, Party::Link(router.at), WaitReason::Handshake, NOTHING);
            return;
        }
        let peer = self.peer(router.at);
        let on = peer.map_or(Party::Link(router.at), Party::Router);
        self.add(who, on, WaitReason::Handshake, NOTHING);
        match peer.map(|at| self.router(at)) {
            Some(None) => self.note(on, "no router was found there"),
            Some(Some(peer)) if !is_stopped(peer) => {
                let status = peer.facts.status.name();
                if let Some(status) = status.filter(|s| *s != NOT_STARTED && !EARLY.contains(s)) {
                    self.note(on, format!("it is {status} and has met another router"));
                }
            }
            _ => {}
        }
    }

    /// Adds the waits of a master for routers without a complete handshake, and of the others for
    /// the master.
    fn local_sync(&mut self, router: &RouterState) {
        let who = Party::Router(router.at);
        let is_master = router.facts.master == Reading::Known(true);
        let late = |other: &&RouterState| {
            if is_master {
                other.facts.status.is("STARTED")
            } else {
                other.facts.master == Reading::Known(true)
            }
        };
        for other in self.siblings(router).filter(late).collect::<Vec<_>>() {
            self.add(who, Party::Router(other.at), WaitReason::LocalSync, NOTHING);
        }
        if let (true, Some(met), Some(routers)) =
            (is_master, router.facts.local_sync.known(), router.facts.local_routers.known())
        {
            let words = format!("its edm_local_sync is {met}, and its chip has {routers} routers");
            self.note(who, words);
        }
    }

    /// Adds the wait of a drained router, which ends when its peer has drained.
    fn leave(&mut self, router: &RouterState) {
        let Some(at) = self.peer(router.at) else { return };
        let on = Party::Router(at);
        self.add(Party::Router(router.at), on, WaitReason::Leave, NOTHING);
        match self.router(at) {
            None => self.note(on, "no router was found there"),
            Some(peer) if !is_stopped(peer) && peer.facts.termination.value() == Some(0) => {
                self.note(on, "it has no termination signal");
            }
            Some(_) => {}
        }
    }

    /// Adds the waits of a router with a termination signal for its own packets.
    fn drain(&mut self, router: &RouterState) {
        let at = router.at;
        let senders =
            router.senders.iter().filter(|s| s.virtual_channel != CONTROL).filter_map(|s| {
                let holds = count(&s.facts.queued) + s.in_flight() > 0;
                holds.then_some((Party::Sender(at, s.index), [&s.facts.sent, &s.facts.completed]))
            });
        let receivers =
            router.receivers.iter().filter(|r| r.virtual_channel != CONTROL).filter_map(|r| {
                let holds = count(&r.facts.arrived) + count(&r.facts.held) > 0;
                holds.then_some((
                    Party::Receiver(at, r.index),
                    [&r.facts.received, &r.facts.completed],
                ))
            });
        for (on, marks) in senders.chain(receivers) {
            self.add(Party::Router(at), on, WaitReason::Drain, marks);
        }
    }

    fn siblings(&self, router: &RouterState) -> impl Iterator<Item = &'a RouterState> + use<'a> {
        let at: EthId = router.at;
        self.fabric.routers.iter().filter(move |r| r.at.chip == at.chip && r.at != at)
    }
}

fn is_terminating(router: &RouterState) -> bool {
    router.facts.termination.value().is_some_and(|signal| signal != 0)
}

/// Whether the router's loop should turn.
pub(super) fn serves(router: &RouterState) -> bool {
    let has_termination = router.facts.termination.value().is_none_or(|signal| signal != 0);
    router.facts.status.is(READY)
        && router.activity == Reading::Known(Activity::Running)
        && !has_termination
        && !is_stopped(router)
}

/// Returns the progress of the router's loop: its passes, which it updates rarely while busy, plus
/// its packets.
pub(super) fn turns(router: &RouterState) -> Option<u64> {
    let sent = router.senders.iter().flat_map(|s| [&s.facts.sent, &s.facts.completed]);
    let received = router.receivers.iter().flat_map(|r| [&r.facts.received, &r.facts.completed]);
    let packets = sent.chain(received).map(count).fold(0, u64::wrapping_add);
    let facts = &router.facts;
    let loops = facts.tx_heartbeat.known().or_else(|| facts.passes.known())?;
    Some(loops.wrapping_add(packets))
}

/// Whether a router serves no packets.
pub(super) fn is_stopped(router: &RouterState) -> bool {
    stop_reason(router).is_some()
}

/// Returns why a router serves no packets; none if it does.
pub(super) fn stop_reason(router: &RouterState) -> Option<String> {
    let code = router.waypoint.known().map(String::as_str);
    match (router.facts.status.name(), router.activity.known()) {
        (Some("REFUSED"), _) => {
            let name = router.refusal_name().unwrap_or("unknown reason");
            Some(format!("it refused to run: {name}"))
        }
        (Some("TERMINATED"), _) => Some("it has ended (TERMINATED)".to_owned()),
        (_, Some(Activity::Running)) if code == Some("PASW") => {
            Some("it is paused (PASW)".to_owned())
        }
        (_, Some(Activity::Running)) if router.facts.state.is("PAUSED") => {
            Some("it is paused (RouterState PAUSED)".to_owned())
        }
        (_, Some(Activity::Running) | None) => None,
        (_, Some(_)) => Some("its kernel does not run".to_owned()),
    }
}
