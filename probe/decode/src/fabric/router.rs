//! A router's facts.

use super::channels::{Edge, Receiver, Sender};
use super::enumeration::Enumerator;
use super::fact::{Code, facts};
use super::header::Header;
use super::location::{Formula, Location, Locations as _, Word};
use super::ours::{Members, Names, pair};
use super::tables::TablesLayout;
use layouts::{ChipLayout, NocXy};
use machine::fabric::{Direction, FabricNode};
use symbols::Symbols;

facts! {
    /// What a router says of itself.
    struct RouterFacts, located by RouterLocations, in our images by at: Members<'_> {
        /// `Linear`, `Ring`, `Mesh` or `Torus`.
        topology: Enumerator = at.names.known("topology"),
        /// Whose router it is.
        node: FabricNode = {
            let tables = at.names.constant("routing_info_addr");
            let of = |member| at.names.member(member, tables);
            let [mesh, device] = ["routing_l1_info_t.my_mesh_id", "routing_l1_info_t.my_device_id"];
            pair(Formula::Halves, of(device), of(mesh))
        },
        /// Where its link leads.
        direction: Direction = at.named("eth_chan_directions", "args.my_direction"),
        /// It is the one of its chip that the host talks to.
        master: bool = at.at("args.is_local_master"),
        /// What arrives over its link goes on in virtual channel 1.
        dateline: bool = at.at("args.dateline"),
        /// `EDMStatus`.
        status: Enumerator = {
            at.names.named("EDMStatus", at.names.pointed("edm_status_ptr_addr", 0))
        },
        /// How far its bring-up got (tt-metal.md 4.1).
        postcode: Code = at.names.named("fabric_postcode_t", at.names.pointed("postcode_addr", 0)),
        /// `TerminationSignal`: 0 run, 1 graceful, 2 immediate.
        termination: Code = {
            at.names.named("TerminationSignal", at.names.pointed("termination_signal_addr", 0))
        },
        /// Why it refused to run; 0 it did not.
        refusal: Code = at.at("refusal"),
        /// The word by which the routers of a chip meet: at the master those that have come, in the end at all how many there
        /// are.
        local_sync: u64 = at.names.pointed("edm_local_sync_ptr_addr", 0),
        /// Routers of its chip, as it was told.
        local_routers: u64 = at.at("args.num_local_edms"),
        /// Which link it uses: 0 its own.
        link: Code = at.at("link"),
        /// Changes of link so far.
        epoch: u64 = at.at("epoch"),
        /// The router whose link it uses.
        fallback: NocXy = at.at("fallback_xy"),
        /// Passes of its loop.
        passes: u64 = at.at("passes"),
    }
}

facts! {
    /// What a router dropped, expired, refused and reported.
    struct RouterCounts, located by RouterCountLocations, in our images by at: Members<'_> {
        /// Packets whose time to live was over.
        expired: u64 = at.at("expired"),
        /// Packets that made no progress for too long.
        timed_out: u64 = at.at("timed_out"),
        /// Packets without a table entry, a router in their direction, or a known command.
        routing_errors: u64 = at.at("routing_errors"),
        /// Senders that it told of packets that it dropped.
        nacks_sent: u64 = at.at("nacks_sent"),
        /// Packets of the control channel that found no room.
        control_dropped: u64 = at.at("control_dropped"),
        /// Entries that it wrote into its status queue.
        status_entries: u64 = at.at("status_entries"),
        /// Entries for which there was no room.
        status_entries_lost: u64 = at.at("status_entries_lost"),
    }
}

impl RouterCounts {
    /// Packets that it dropped: expired, timed out, or without a way; none if a count of them is not known.
    pub fn dropped(&self) -> Option<u64> {
        let all = [&self.expired, &self.timed_out, &self.routing_errors];
        all.into_iter().map(|count| count.known().copied()).sum()
    }
}

/// Where the facts of a router and of its channels stand.
#[derive(Clone, Debug)]
pub(crate) struct RouterLayout {
    pub(crate) facts: RouterLocations,
    pub(crate) counts: RouterCountLocations,
    pub(crate) senders: Vec<Sender>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) downstream: Vec<Edge>,
    pub(crate) header: Option<Header>,
    pub(crate) tables: Option<TablesLayout>,
}

impl RouterLayout {
    /// The words of a router; `None` for an image that is none.
    pub(crate) fn find(layout: &ChipLayout, symbols: &Symbols) -> Option<Self> {
        const STATE: &str = "fabric_router_state";
        let names = Names(layout, symbols);
        symbols.locate(STATE).ok()?;
        let state = names.within(STATE);
        Some(Self {
            facts: RouterLocations::ours(&state),
            counts: RouterCountLocations::ours(&state),
            senders: (0..16).map_while(|index| names.sender(STATE, index)).flatten().collect(),
            receivers: (0..8).map_while(|index| names.receiver(STATE, index)).flatten().collect(),
            downstream: names.downstream(&state),
            header: names.header(),
            tables: names.tables(),
        })
    }

    /// Every word that decoding may want.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word> {
        let senders = self.senders.iter().flat_map(|sender| sender.facts.known());
        let receivers = self.receivers.iter().flat_map(|receiver| receiver.facts.known());
        let downstream = self.downstream.iter().flat_map(|edge| edge.facts.known());
        let own = self.facts.known().chain(self.counts.known());
        own.chain(senders).chain(receivers).chain(downstream).flat_map(Location::words)
    }
}
