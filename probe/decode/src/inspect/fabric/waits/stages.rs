//! Waits of routers that start or end: for the peer, the routers of the chip, the host, or their
//! own packets. The stages say which.

use super::{CONTROL, Search, count};
use crate::state::{Activity, Actor, MET, Party, RouterState, SERVES, Stage, WaitReason};
use images::Reading;
use layouts::EthId;

const NOTHING: [&Reading<u64>; 2] = [&Reading::Absent; 2];

impl<'a> Search<'a> {
    /// Adds the waits of a router before its first packet and after its last one.
    pub(super) fn stage(&mut self, router: &'a RouterState) {
        let Some(stage) = router.stage().filter(|_| !is_stopped(router)) else { return };
        let Some(reason) = stage.reason else { return };
        match stage.next {
            Actor::Peer if reason == WaitReason::Handshake => self.handshake(router),
            Actor::Peer => self.leave(router),
            Actor::Siblings => self.siblings_before(router, stage, reason),
            Actor::Master => self.master(router, reason),
            Actor::Host => self.add(Party::Router(router.at), Party::Host, reason, NOTHING),
            Actor::Itself => self.drain(router),
            _ => {}
        }
    }

    /// Adds the waits of the host, which starts traffic only when all routers have met.
    pub(super) fn host(&mut self) {
        if self.all.iter().any(|wait| wait.on == Party::Host) {
            let late = |r: &&RouterState| r.stage().is_some_and(|stage| stage.rank < MET);
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
            Some(None) => self.absent(on),
            Some(Some(peer)) if !is_stopped(peer) => {
                let has_met = peer.stage().is_some_and(|stage| stage.rank >= MET);
                if let Some(status) = peer.facts.status.name().filter(|_| has_met) {
                    self.note(on, format!("it is {status} and has met another router"));
                }
            }
            _ => {}
        }
    }

    /// Adds the waits for routers of the chip in an earlier stage, and for those that are not found.
    fn siblings_before(&mut self, router: &RouterState, stage: &Stage, reason: WaitReason) {
        let who = Party::Router(router.at);
        let late = |other: &&RouterState| other.stage().is_some_and(|it| it.rank < stage.rank);
        for other in self.siblings(router).filter(late).collect::<Vec<_>>() {
            self.add(who, Party::Router(other.at), reason, NOTHING);
        }
        for channel in router.facts.local_channels.known().map_or(&[][..], |all| &all.0) {
            let at = EthId { chip: router.at.chip, channel: *channel };
            if self.router(at).is_none() {
                self.add(who, Party::Router(at), reason, NOTHING);
                self.absent(Party::Router(at));
            }
        }
        let synchronizes = stage.rank < MET;
        let sync = router.facts.local_sync.known().zip(router.facts.local_routers.known());
        if let Some((met, routers)) = sync.filter(|_| synchronizes) {
            let expected = routers.saturating_sub(1);
            let words = format!("its edm_local_sync is {met} of {expected}: ");
            self.note(who, words + &count_words(*met, expected));
        }
    }

    fn master(&mut self, router: &RouterState, reason: WaitReason) {
        let who = Party::Router(router.at);
        let found = self.siblings(router).find(|it| it.facts.master == Reading::Known(true));
        let told = router.facts.master_channel.known();
        let at = found
            .map(|master| master.at)
            .or_else(|| Some(EthId { chip: router.at.chip, channel: u8::try_from(*told?).ok()? }));
        match at {
            Some(at) => {
                self.add(who, Party::Router(at), reason, NOTHING);
                if found.is_none() {
                    self.absent(Party::Router(at));
                }
            }
            None if reason == WaitReason::Begin => self.add(who, Party::Host, reason, NOTHING),
            None => {}
        }
    }

    /// Adds the wait of a drained router, which ends when its peer has drained.
    fn leave(&mut self, router: &RouterState) {
        let Some(at) = self.peer(router.at) else { return };
        let on = Party::Router(at);
        self.add(Party::Router(router.at), on, WaitReason::Leave, NOTHING);
        match self.router(at) {
            None => self.absent(on),
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

    /// Notes what was found in place of a router.
    fn absent(&mut self, router: Party) {
        let Party::Router(at) = router else { return };
        let chip = self.chips.iter().find(|state| state.chip.id == at.chip);
        let tiles = chip.into_iter().flat_map(|state| &state.tiles);
        let mut tiles =
            tiles.filter(|tile| tile.eth.as_ref().map(|eth| eth.channel) == Some(at.channel));
        let core = tiles.next().and_then(|tile| tile.cores.first());
        let found = match core.and_then(|core| core.activity.known()) {
            Some(Activity::InReset) => ": its core is in reset",
            Some(Activity::BaseFirmware) => ": its core runs base firmware only",
            Some(Activity::Waiting) => ": no kernel was launched on its core",
            Some(Activity::Running) => ": the kernel on its core is not known as a router",
            Some(Activity::Done) => ": the kernel on its core has ended",
            None => "",
        };
        self.note(router, format!("no router was found there{found}"));
    }

    fn siblings(&self, router: &RouterState) -> impl Iterator<Item = &'a RouterState> + use<'a> {
        let at: EthId = router.at;
        self.fabric.routers.iter().filter(move |r| r.at.chip == at.chip && r.at != at)
    }
}

/// What a master sees of the routers that it waits for; it waits for exactly this count.
fn count_words(met: u64, expected: u64) -> String {
    match expected.checked_sub(met) {
        Some(1) => "one router of its chip has not met its peer".to_owned(),
        Some(missing) => format!("{missing} routers of its chip have not met their peers"),
        None => "more routers have reported than its chip has, and it waits forever".to_owned(),
    }
}

/// Whether the router's loop should turn.
pub(super) fn serves(router: &RouterState) -> bool {
    let runs = router.activity == Reading::Known(Activity::Running);
    let serves = router.stage().is_some_and(|stage| stage.rank == SERVES);
    serves && runs && !is_stopped(router)
}

/// Whether a router serves no packets.
pub(super) fn is_stopped(router: &RouterState) -> bool {
    stop_reason(router).is_some()
}

/// Returns why a router serves no packets; none if it does.
pub(super) fn stop_reason(router: &RouterState) -> Option<String> {
    let code = router.waypoint.known().map(String::as_str);
    match router.stage()?.name {
        "refused" => {
            let name = router.refusal_name().unwrap_or("unknown reason");
            Some(format!("it refused to run: {name}"))
        }
        "terminated" => Some("it has ended (TERMINATED)".to_owned()),
        "not running" => Some("its kernel does not run".to_owned()),
        "paused" if code == Some("PASW") => Some("it is paused (PASW)".to_owned()),
        "paused" => Some("it is paused (RouterState PAUSED)".to_owned()),
        _ => None,
    }
}
