//! Waits of clients and muxes.

use super::Search;
use super::stages::is_stopped;
use crate::state::{
    Activity, Actor, ClientState, FabricPort, MuxChannelState, MuxState, OPENED, Party, SIGNALLED,
    WaitReason,
};
use images::Reading;
use layouts::CoreId;

const NOTHING: &Reading<u64> = &Reading::Absent;
const READY: &str = "READY_FOR_TRAFFIC";
/// `connection_t`.
const OPEN: &str = "OPEN_CONNECTION";
const CLOSE_REQUESTED: &str = "CLOSE_CONNECTION_REQUEST";

fn owner(port: FabricPort) -> Party {
    match port {
        FabricPort::Router { router: at, .. } => Party::Router(at),
        FabricPort::Mux { mux: core, .. } => Party::Mux(core),
    }
}

impl<'a> Search<'a> {
    /// Returns the channel that is waited for. A stopped router's empty channel has no facts: its
    /// wait for the router is added.
    fn channel_of(&mut self, port: FabricPort) -> Party {
        match port {
            FabricPort::Mux { mux: core, channel } => Party::MuxChannel(core, channel),
            FabricPort::Router { router: at, channel } => {
                let on = Party::Sender(at, channel);
                if self.router(at).is_some_and(is_stopped) {
                    self.add(on, Party::Router(at), WaitReason::Router, [NOTHING; 2]);
                }
                on
            }
        }
    }

    fn is_mux(&self, core: CoreId) -> bool {
        self.fabric.muxes.iter().any(|mux| mux.at == core)
    }

    /// Returns the connections of all kernels but muxes, with their numbers.
    fn parties(&self) -> Vec<(Party, &'a ClientState)> {
        let mut found: Vec<(Party, &ClientState)> = Vec::new();
        for client in self.fabric.clients.iter().filter(|client| !self.is_mux(client.at)) {
            let before = found.iter().filter(|(_, other)| other.at == client.at).count();
            found.push((Party::Client(client.at, before as u8), client));
        }
        found
    }

    pub(super) fn clients(&mut self) {
        let parties = self.parties();
        for (who, client) in &parties {
            let Some(to) = client.to.filter(|_| runs(&client.activity)) else { continue };
            self.client(*who, client, to);
            if client.stage.is_some_and(|stage| stage.next == Actor::Clients) {
                let others = parties.iter().filter(|(party, _)| party != who);
                for (party, _) in others.filter(|(_, other)| is_late(other, client)) {
                    self.add(*who, *party, WaitReason::Clients, [&client.facts.sent, NOTHING]);
                }
            }
        }
    }

    fn client(&mut self, who: Party, client: &ClientState, to: FabricPort) {
        let marks = [&client.facts.sent, self.returned(to)];
        match (client.stage.and_then(|stage| stage.reason), client.facts.waits.known()) {
            (Some(WaitReason::Teardown), _) => {
                let on = self.channel_of(to);
                self.add(who, on, WaitReason::Teardown, marks);
            }
            (Some(WaitReason::Ready), _) => self.add(who, owner(to), WaitReason::Ready, marks),
            (_, Some(true)) => {
                let on = self.channel_of(to);
                self.add(who, on, WaitReason::Slot, marks);
            }
            _ => {}
        }
    }

    /// Adds the waits of running muxes for clients whose kernels have ended and that have not closed
    /// their channels: nobody ends the mux before.
    fn left_open(&mut self) {
        for (who, client) in self.parties() {
            let Some(FabricPort::Mux { mux: core, channel: index }) = client.to else { continue };
            let mux = self.fabric.muxes.iter().find(|mux| mux.at == core && runs(&mux.activity));
            let channel = mux.and_then(|mux| mux.channels.get(usize::from(index)));
            let is_open = channel.is_some_and(|it| it.facts.connection.is(OPEN));
            let opened = client.stage.is_some_and(|stage| stage.rank == OPENED);
            let ended =
                matches!(client.activity, Reading::Known(Activity::Done | Activity::Waiting));
            if is_open && opened && ended {
                self.note(who, "its kernel has ended and has not closed its channel of the mux");
                self.add(Party::Mux(core), who, WaitReason::Clients, [&client.facts.sent, NOTHING]);
            }
        }
    }

    /// Returns a count that moves with the slots that a channel has returned: of a router, those of
    /// its last client; of a mux that counts its channels nowhere, the packets that it handed over.
    fn returned(&self, to: FabricPort) -> &'a Reading<u64> {
        match to {
            FabricPort::Router { router: at, channel: index } => {
                let senders = self.router(at).map(|router| &router.senders);
                let channel = senders.and_then(|senders| senders.get(usize::from(index)));
                channel.map_or(NOTHING, |channel| &channel.facts.client_credits)
            }
            FabricPort::Mux { mux: core, channel: index } => {
                let mux = self.fabric.muxes.iter().find(|mux| mux.at == core);
                let channel = mux.and_then(|mux| mux.channels.get(usize::from(index)));
                let counts = channel.map(|channel| &channel.facts.forwarded).into_iter();
                let mut counts = counts.chain(mux.map(|mux| &mux.facts.handed_over));
                let own = self.fabric.clients.iter().find(|client| client.at == core);
                let router = own.and_then(|own| own.to).filter(|to| to.mux().is_none());
                let known = counts.find(|count| count.known().is_some());
                known.or_else(|| Some(self.returned(router?))).unwrap_or(NOTHING)
            }
        }
    }

    pub(super) fn muxes(&mut self) {
        self.left_open();
        for mux in &self.fabric.muxes {
            let mut clients = self.fabric.clients.iter();
            let Some(router) = clients.find(|client| client.at == mux.at) else { continue };
            if runs(&mux.activity) {
                self.mux(mux, router);
            } else if !mux.facts.status.is("TERMINATED") {
                self.note(Party::Mux(mux.at), "its kernel does not run");
            }
            for channel in &mux.channels {
                self.channel(mux, router, channel);
            }
        }
    }

    /// Adds the wait of a mux that opens or closes its own connection.
    fn mux(&mut self, mux: &MuxState, router: &ClientState) {
        let (who, Some(to)) = (Party::Mux(mux.at), router.to) else { return };
        let marks = [&router.facts.sent, NOTHING];
        let moved = self.returned(to).known().filter(|_| may_hand_over(mux, router));
        if let Some(moved) = moved {
            self.turns.insert(who, *moved);
            self.note(who, "it has packets, and room at its router, and hands none over");
        }
        match router.stage.and_then(|stage| stage.reason) {
            Some(WaitReason::Ready) => self.add(who, owner(to), WaitReason::Ready, marks),
            Some(WaitReason::Teardown) => {
                let on = self.channel_of(to);
                self.add(who, on, WaitReason::Teardown, marks);
            }
            _ => {}
        }
    }

    fn channel(&mut self, mux: &MuxState, router: &ClientState, place: &MuxChannelState) {
        let who = Party::MuxChannel(mux.at, place.index);
        let marks = [&place.facts.forwarded, &place.facts.closes];
        let queued = place.facts.queued.known().is_some_and(|queued| *queued > 0);
        let asks = match place.facts.connection.name() {
            Some(CLOSE_REQUESTED) if mux.keeps_close_requests() => {
                let port = FabricPort::Mux { mux: mux.at, channel: place.index };
                self.fabric.clients.iter().any(|client| client.to == Some(port))
            }
            Some(CLOSE_REQUESTED) => true,
            Some(OPEN) => place.facts.connected.known() == Some(&false),
            _ => false,
        };
        if !queued && !asks {
            return;
        }
        let full = router.facts.slots.known().is_some()
            && router.facts.used.known() == router.facts.slots.known();
        match (mux.facts.holder.known(), router.to) {
            _ if !runs(&mux.activity) || !mux.facts.status.is(READY) => {
                self.add(who, Party::Mux(mux.at), WaitReason::Ready, marks);
            }
            (Some(holder), _) if *holder != u64::from(place.index) => {
                let on = Party::MuxChannel(mux.at, *holder as u8);
                self.add(who, on, WaitReason::Turn, marks);
            }
            (holder, Some(to)) if queued && (holder.is_some() || full) => {
                let on = self.channel_of(to);
                self.add(who, on, WaitReason::Slot, marks);
            }
            (None, Some(to)) if queued => {
                let moved = [self.returned(to), NOTHING];
                self.add(who, Party::Mux(mux.at), WaitReason::Drain, moved);
            }
            _ => {}
        }
    }
}

/// Whether a mux that does not tell which channel it serves has packets and room at its router.
fn may_hand_over(mux: &MuxState, router: &ClientState) -> bool {
    let queued = |channel: &MuxChannelState| channel.facts.queued.known().is_some_and(|it| *it > 0);
    let used = router.facts.used.known().zip(router.facts.slots.known());
    mux.facts.holder.known().is_none()
        && mux.facts.status.is(READY)
        && mux.channels.iter().any(queued)
        && used.is_some_and(|(used, slots)| used < slots)
}

fn runs(activity: &Reading<Activity>) -> bool {
    *activity == Reading::Known(Activity::Running)
}

/// Whether another client of the same mux has not signalled its close to the termination master.
fn is_late(other: &ClientState, master: &ClientState) -> bool {
    other.mux().is_some()
        && other.mux() == master.mux()
        && other.stage.is_none_or(|stage| stage.rank < SIGNALLED)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::find;
    use super::*;
    use crate::state::{FabricState, RouterState, SenderState, Waits};
    use images::fabric::{
        ClientFacts, Enumerator, MuxChannelFacts, MuxFacts, RouterCounts, RouterFacts, SenderFacts,
    };
    use layouts::{ChipId, ClusterDescriptor, CoreKind, EthId, NocXy};
    use machine::target::Mesh;

    const AT: CoreId =
        CoreId { chip: ChipId(0), tile: NocXy { x: 2, y: 2 }, core: CoreKind::Brisc };

    fn known(count: u64) -> Reading<u64> {
        Reading::Known(count)
    }

    /// Returns the waits of a mux of tt-metal with this many packets, of which this many slots of its
    /// router's 8 are used.
    fn waits(queued: u64, used: u64) -> Waits {
        let (image, activity) = (String::new(), Reading::Known(Activity::Running));
        let router = EthId { chip: ChipId(0), channel: 8 };
        let to = Some(FabricPort::Router { router, channel: 0 });
        let mut ready = Enumerator::unnamed(1);
        ready.name = Some(READY.into());
        let facts = MuxFacts { status: Reading::Known(ready), ..MuxFacts::default() };
        let of_channel = MuxChannelFacts { queued: known(queued), ..MuxChannelFacts::default() };
        let channel =
            MuxChannelState { index: 0, facts: of_channel, head: None, candidates: Vec::new() };
        let mux = MuxState {
            at: AT,
            image: image.clone(),
            activity: activity.clone(),
            waypoint: Reading::Absent,
            facts,
            channels: vec![channel],
        };
        let facts = ClientFacts { slots: known(8), used: known(used), ..ClientFacts::default() };
        let client = ClientState {
            at: AT,
            image: image.clone(),
            name: "router".to_owned(),
            activity: activity.clone(),
            waypoint: Reading::Absent,
            facts,
            to,
            entry: None,
            stage: None,
        };
        let facts = SenderFacts { client_credits: known(77), ..SenderFacts::default() };
        let sender = SenderState {
            index: 0,
            virtual_channel: 0,
            slots: 8,
            facts,
            in_flight_at_most: None,
            head: None,
            candidates: Vec::new(),
        };
        let router = RouterState {
            at: router,
            tile: NocXy { x: 9, y: 6 },
            plane: None,
            image,
            activity,
            waypoint: Reading::Absent,
            facts: RouterFacts::default(),
            counts: RouterCounts::default(),
            senders: vec![sender],
            receivers: Vec::new(),
            status_entries: Vec::new(),
            downstream: Vec::new(),
        };
        let fabric = FabricState {
            routers: vec![router],
            muxes: vec![mux],
            clients: vec![client],
            ..FabricState::default()
        };
        let n300 = ClusterDescriptor::shipped("n300").unwrap().unwrap();
        find(&fabric, &Mesh::from_descriptor(&n300), &[], &[], 0)
    }

    #[test]
    fn a_mux_that_may_hand_over_a_packet_should_turn() {
        let who = Party::Mux(AT);
        let may = waits(3, 2);
        assert_eq!(may.turns.get(&who), Some(&77), "{may:?}");
        let says = "it has packets, and room at its router, and hands none over";
        assert_eq!(may.notes.get(&who).map(String::as_str), Some(says));
        for may_not in [waits(0, 2), waits(3, 8)] {
            assert_eq!((may_not.turns.get(&who), may_not.notes.get(&who)), (None, None));
        }
    }
}
