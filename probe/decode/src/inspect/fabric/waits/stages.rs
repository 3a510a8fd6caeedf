//! Routers that come up or end: who waits for its peer, for the routers of its chip, for the host, or for its own packets.

use super::{CONTROL, Search, count};
use crate::state::{Activity, Party, Reading, RouterState, WaitReason};
use layouts::EthId;

const NOTHING: [&Reading<u64>; 2] = [&Reading::Absent; 2];
/// What the routers of a chip are that have not met all others.
const EARLY: [&str; 2] = ["STARTED", "REMOTE_HANDSHAKE_COMPLETE"];
/// Its kernel has not begun.
const NOT_STARTED: &str = "NOT_STARTED";
const READY: &str = "READY_FOR_TRAFFIC";
/// Waits for the routers of its chip to connect to it.
const CONNECTS: &str = "FSCW";
/// Everything of it has left.
const DRAINED: &str = "TDNW";

impl<'a> Search<'a> {
    /// What a router waits for before its first packet and after its last one.
    pub(super) fn stage(&mut self, router: &'a RouterState) {
        let who = Party::Router(router.at);
        let code = router.waypoint.known().map(String::as_str);
        match router.facts.status.name() {
            _ if stands(router) => {}
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
            Some(READY) if is_told_to_end(router) => {
                if code == Some(DRAINED) {
                    self.leave(router);
                } else {
                    self.drain(router);
                }
            }
            _ => {}
        }
    }

    /// Whoever brings the fabric up waits for all routers before it lets the first one begin.
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
            Some(None) => self.note(on, "no router is seen there"),
            Some(Some(peer)) if !stands(peer) => {
                let status = peer.facts.status.name();
                if let Some(status) = status.filter(|s| *s != NOT_STARTED && !EARLY.contains(s)) {
                    self.note(on, format!("it is {status} and has met another router"));
                }
            }
            _ => {}
        }
    }

    /// A master waits for those whose handshake is not complete, the others wait for the master.
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

    /// It has nothing left; it goes when its peer has nothing left either.
    fn leave(&mut self, router: &RouterState) {
        let Some(at) = self.peer(router.at) else { return };
        let on = Party::Router(at);
        self.add(Party::Router(router.at), on, WaitReason::Leave, NOTHING);
        match self.router(at) {
            None => self.note(on, "no router is seen there"),
            Some(peer) if !stands(peer) && peer.facts.termination.value() == Some(0) => {
                self.note(on, "nobody told it to end");
            }
            Some(_) => {}
        }
    }

    /// It was told to end, and still holds packets.
    fn drain(&mut self, router: &RouterState) {
        let at = router.at;
        let senders =
            router.senders.iter().filter(|s| s.virtual_channel != CONTROL).filter_map(|s| {
                let holds = count(&s.facts.queued) + count(&s.facts.in_flight) > 0;
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

fn is_told_to_end(router: &RouterState) -> bool {
    router.facts.termination.value().is_some_and(|signal| signal != 0)
}

/// Should its loop turn, whether or not there are packets?
pub(super) fn serves(router: &RouterState) -> bool {
    let has_termination = router.facts.termination.value().is_none_or(|signal| signal != 0);
    router.facts.status.is(READY)
        && router.activity == Reading::Known(Activity::Running)
        && !has_termination
        && !stands(router)
}

/// What moves when its loop turns: the passes, which it tells only now and then while it is busy, and the packets.
pub(super) fn turns(router: &RouterState) -> Option<u64> {
    let sent = router.senders.iter().flat_map(|s| [&s.facts.sent, &s.facts.completed]);
    let received = router.receivers.iter().flat_map(|r| [&r.facts.received, &r.facts.completed]);
    let packets = sent.chain(received).map(count).fold(0, u64::wrapping_add);
    Some(router.facts.passes.known()?.wrapping_add(packets))
}

/// Does a router do nothing for anybody?
pub(super) fn stands(router: &RouterState) -> bool {
    why(router).is_some()
}

/// Why it does nothing for anybody, if it does not.
pub(super) fn why(router: &RouterState) -> Option<String> {
    let code = router.waypoint.known().map(String::as_str);
    match (router.facts.status.name(), router.activity.known()) {
        (Some("REFUSED"), _) => {
            let name = router.refusal_name().unwrap_or("nobody knows why");
            Some(format!("it refused to run: {name}"))
        }
        (Some("TERMINATED"), _) => Some("it has ended (TERMINATED)".to_owned()),
        (_, Some(Activity::Running)) if code == Some("PASW") => {
            Some("it is paused (PASW)".to_owned())
        }
        (_, Some(Activity::Running) | None) => None,
        (_, Some(_)) => Some("its kernel does not run".to_owned()),
    }
}
