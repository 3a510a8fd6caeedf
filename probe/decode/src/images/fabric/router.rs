//! A router's words.

use super::STATUSES;
use super::channels::{DownstreamPlace, ReceiverPlace, SenderPlace};
use super::header::HeaderFields;
use super::names::{Names, Word};
use super::tables::TablesLayout;
use layouts::ChipLayout;
use symbols::Symbols;

/// A router's words.
#[derive(Clone, Debug)]
pub struct RouterLayout {
    pub(crate) topology: Option<&'static str>,
    pub(crate) statuses: Vec<(u64, &'static str)>,
    pub(crate) status: Option<Word>,
    pub(crate) postcode: Option<Word>,
    pub(crate) termination: Option<Word>,
    pub(crate) refusal: Option<Word>,
    pub(crate) refusals: Vec<(u64, &'static str)>,
    pub(crate) local_sync: Option<Word>,
    pub(crate) local_routers: Option<Word>,
    pub(crate) link: Option<Word>,
    pub(crate) epoch: Option<Word>,
    pub(crate) fallback_xy: Option<Word>,
    pub(crate) direction: Option<Word>,
    pub(crate) master: Option<Word>,
    pub(crate) dateline: Option<Word>,
    pub(crate) mesh_id: Option<Word>,
    pub(crate) device_id: Option<Word>,
    pub(crate) passes: Option<Word>,
    pub(crate) counts: Vec<(&'static str, Word)>,
    pub(crate) senders: Vec<SenderPlace>,
    pub(crate) receivers: Vec<ReceiverPlace>,
    pub(crate) downstream: Vec<DownstreamPlace>,
    pub(crate) header: Option<HeaderFields>,
    pub(crate) tables: Option<TablesLayout>,
}

const TOPOLOGIES: [&str; 5] = ["NeighborExchange", "Linear", "Ring", "Mesh", "Torus"];
/// `fabric_refusal_t` without the first, which is none.
const REFUSALS: [&str; 4] = ["BAD_ARGUMENTS", "OTHER_PROTOCOL", "OTHER_SLOTS", "OTHER_NEIGHBOR"];
const COUNTS: [&str; 7] = [
    "expired",
    "timed_out",
    "routing_errors",
    "nacks_sent",
    "control_dropped",
    "status_entries",
    "status_entries_lost",
];

impl RouterLayout {
    /// The words of a router; `None` for an image that is none.
    pub(in crate::images) fn find(layout: &ChipLayout, symbols: &Symbols) -> Option<Self> {
        const STATE: &str = "fabric_router_state";
        let names = Names(layout, symbols);
        symbols.locate(STATE).ok()?;
        let state = |member: &str| names.at(&format!("{STATE}.{member}"));
        let routing = names.constant("routing_info_addr");
        let topology = names.constant("topology");
        let named = TOPOLOGIES.iter().find(|name| names.constant(name) == topology);
        Some(Self {
            topology: named.copied().filter(|_| topology.is_some()),
            statuses: names.named(&STATUSES),
            status: names.pointed("edm_status_ptr_addr", 0),
            postcode: names.pointed("postcode_addr", 0),
            termination: names.pointed("termination_signal_addr", 0),
            refusal: state("refusal"),
            refusals: names.named(&REFUSALS),
            local_sync: names.pointed("edm_local_sync_ptr_addr", 0),
            local_routers: state("args.num_local_edms"),
            link: state("link"),
            epoch: state("epoch"),
            fallback_xy: state("fallback_xy"),
            direction: state("args.my_direction"),
            master: state("args.is_local_master"),
            dateline: state("args.dateline"),
            mesh_id: names.member("routing_l1_info_t.my_mesh_id", routing),
            device_id: names.member("routing_l1_info_t.my_device_id", routing),
            passes: state("passes"),
            counts: COUNTS.iter().filter_map(|name| Some((*name, state(name)?))).collect(),
            senders: (0..16).map_while(|index| names.sender(STATE, index)).flatten().collect(),
            receivers: (0..8).map_while(|index| names.receiver(STATE, index)).flatten().collect(),
            downstream: names.downstream(STATE),
            header: names.header(),
            tables: names.tables(),
        })
    }
}

impl RouterLayout {
    /// Every word that decoding may want.
    pub(crate) fn words(&self) -> Vec<Word> {
        let own = [
            self.status,
            self.postcode,
            self.termination,
            self.refusal,
            self.local_sync,
            self.local_routers,
            self.link,
            self.epoch,
            self.fallback_xy,
            self.direction,
            self.master,
            self.dateline,
            self.mesh_id,
            self.device_id,
            self.passes,
        ];
        let senders = self.senders.iter().flat_map(|s| {
            [
                s.free_slots,
                s.pkts_completed,
                s.completions,
                s.remote_free_slots,
                s.sent,
                s.completed,
                s.dropped,
                s.slot,
                s.last_progress,
                s.connection,
                s.worker_x,
                s.worker_y,
                s.read_counter,
                s.write_counter,
            ]
        });
        let receivers = self.receivers.iter().flat_map(|r| {
            [
                r.pkts_sent,
                r.fallback_arrived,
                r.arrived,
                r.tail,
                r.received,
                r.completed,
                r.dropped,
                r.slot,
                r.waits_for,
                r.pending,
                r.last_progress,
            ]
        });
        let downstream =
            self.downstream.iter().flat_map(|d| d.xy.iter().copied().chain([d.credits]).map(Some));
        let counts = self.counts.iter().map(|(_, word)| Some(*word));
        own.into_iter()
            .chain(senders)
            .chain(receivers)
            .chain(downstream)
            .chain(counts)
            .flatten()
            .collect()
    }
}
