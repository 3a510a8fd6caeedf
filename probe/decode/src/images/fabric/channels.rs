//! Channels of a router.

use super::names::{Names, Slots, Word, stream};
use layouts::TileKind;

/// A sender channel of a router.
#[derive(Clone, Debug)]
pub struct SenderPlace {
    pub(crate) index: u8,
    pub(crate) virtual_channel: u8,
    pub(crate) slots: Slots,
    pub(crate) free_slots: Option<Word>,
    pub(crate) pkts_completed: Option<Word>,
    /// The stream that counts completions, by its address: none of its own while the link is lost.
    pub(crate) completions: Option<Word>,
    pub(crate) remote_free_slots: Option<Word>,
    pub(crate) sent: Option<Word>,
    pub(crate) completed: Option<Word>,
    pub(crate) dropped: Option<Word>,
    pub(crate) slot: Option<Word>,
    pub(crate) last_progress: Option<Word>,
    pub(crate) connection: Option<Word>,
    pub(crate) worker_x: Option<Word>,
    pub(crate) worker_y: Option<Word>,
    pub(crate) read_counter: Option<Word>,
    pub(crate) write_counter: Option<Word>,
}

/// A receiver channel of a router.
#[derive(Clone, Debug)]
pub struct ReceiverPlace {
    pub(crate) index: u8,
    pub(crate) virtual_channel: u8,
    pub(crate) slots: Slots,
    pub(crate) pkts_sent: Option<Word>,
    /// What counts instead while the link is lost.
    pub(crate) fallback_arrived: Option<Word>,
    /// The stream that counts, by its address.
    pub(crate) arrived: Option<Word>,
    /// The address of the oldest packet.
    pub(crate) tail: Option<Word>,
    pub(crate) received: Option<Word>,
    pub(crate) completed: Option<Word>,
    pub(crate) dropped: Option<Word>,
    pub(crate) slot: Option<Word>,
    pub(crate) waits_for: Option<Word>,
    pub(crate) pending: Option<Word>,
    pub(crate) last_progress: Option<Word>,
}

/// Credits for one downstream router.
#[derive(Clone, Debug)]
pub struct DownstreamPlace {
    /// None: straight on.
    pub(crate) direction: Option<u8>,
    pub(crate) virtual_channel: u8,
    pub(crate) credits: Word,
    /// Where that router is: of this direction, or of each.
    pub(crate) xy: Vec<Word>,
}

/// A channel that the image may have and does not use: its table entry has no slots.
pub(super) type Entry<T> = Option<T>;

impl Names<'_> {
    /// `None` past the end of the table.
    pub(super) fn sender(&self, state: &str, index: u8) -> Option<Entry<SenderPlace>> {
        let table = format!("fabric_channel_places.senders[{index}]");
        self.1.locate(&table).ok()?;
        let Some(slots) = self.slots(&table) else { return Some(None) };
        let of = |member: &str| self.file(&format!("{table}.{member}"));
        let own = |member: &str| self.at(&format!("{state}.senders[{index}].{member}"));
        let info = self.constant("local_sender_channel_0_connection_info_addr");
        let size = self.1.type_named("EDMChannelWorkerLocationInfo").and_then(|ty| ty.size());
        let info = info.zip(size).map(|(first, size)| first + u64::from(index) * size);
        let member =
            |name: &str| self.member(&format!("EDMChannelWorkerLocationInfo.{name}"), info);
        // The two words of a channel stand 16 bytes apart from those of the next (as in tt-metal.md 5.1).
        let sixteen = u64::from(index) * 16;
        let virtual_channel = of("virtual_channel")? as u8;
        Some(Some(SenderPlace {
            index,
            virtual_channel,
            slots,
            free_slots: of("free_slots_stream_id").and_then(|id| stream(self.0, TileKind::Eth, id)),
            pkts_completed: of("completed_stream_id")
                .and_then(|id| stream(self.0, TileKind::Eth, id)),
            completions: self.at(&format!("fabric_router::senders[{index}].completions")),
            remote_free_slots: self.remote_free_slots(virtual_channel),
            sent: own("packets_sent"),
            completed: own("packets_completed"),
            dropped: own("packets_dropped"),
            slot: own("slot"),
            last_progress: own("last_progress"),
            connection: self.pointed("local_sender_channel_0_connection_semaphore_addr", sixteen),
            worker_x: member("worker_x"),
            worker_y: member("worker_y"),
            read_counter: member("edm_read_counter"),
            write_counter: self
                .pointed("local_sender_channel_0_connection_buffer_index_addr", sixteen),
        }))
    }

    /// Slots that the peer's receiver channel has left for all senders of a virtual channel; nobody counts those of the control channel.
    fn remote_free_slots(&self, virtual_channel: u8) -> Option<Word> {
        self.at(&format!("fabric_router::remotes[{virtual_channel}].free_slots"))
    }

    /// `None` past the end of the table.
    pub(super) fn receiver(&self, state: &str, index: u8) -> Option<Entry<ReceiverPlace>> {
        let table = format!("fabric_channel_places.receivers[{index}]");
        self.1.locate(&table).ok()?;
        let Some(slots) = self.slots(&table) else { return Some(None) };
        let of = |member: &str| self.file(&format!("{table}.{member}"));
        let own = |member: &str| self.at(&format!("{state}.receivers[{index}].{member}"));
        let private =
            |member: &str| self.at(&format!("fabric_router::receivers[{index}].{member}"));
        let fallback = self.constant("fallback_arrived_0_stream_id");
        let fallback =
            fallback.and_then(|first| stream(self.0, TileKind::Eth, first + u64::from(index)));
        Some(Some(ReceiverPlace {
            index,
            virtual_channel: of("virtual_channel")? as u8,
            slots,
            pkts_sent: of("pkts_sent_stream_id").and_then(|id| stream(self.0, TileKind::Eth, id)),
            fallback_arrived: private("arrived").and(fallback),
            arrived: private("arrived"),
            tail: private("tail"),
            received: own("packets_received"),
            completed: own("packets_completed"),
            dropped: own("packets_dropped"),
            slot: own("slot"),
            waits_for: own("waits_for"),
            pending: own("pending"),
            last_progress: own("last_progress"),
        }))
    }

    /// Credits by direction: one stream each in virtual channel 0 and the control channel, and one for the router straight on
    /// in virtual channel 1.
    pub(super) fn downstream(&self, state: &str) -> Vec<DownstreamPlace> {
        const EDGES: [(u8, &str); 2] = [
            (0, "vc_0_free_slots_from_downstream_edge_1_stream_id"),
            (2, "control_free_slots_from_downstream_edge_1_stream_id"),
        ];
        let eth = |id| stream(self.0, TileKind::Eth, id);
        let xy = |direction| self.at(&format!("{state}.args.downstream_xy[{direction}]"));
        let edges = EDGES.into_iter().filter_map(|(vc, name)| Some((vc, self.constant(name)?)));
        let each = edges.flat_map(|(virtual_channel, first)| {
            (0..4u8).filter_map(move |direction| {
                Some((direction, virtual_channel, eth(first + u64::from(direction))?))
            })
        });
        let mut places: Vec<_> = each
            .map(|(direction, virtual_channel, credits)| DownstreamPlace {
                direction: Some(direction),
                virtual_channel,
                credits,
                xy: xy(direction).into_iter().collect(),
            })
            .collect();
        let first = self.constant("vc_1_free_slots_from_downstream_edge_1_stream_id");
        let second = self.constant("topology").is_some_and(|topology| {
            ["Ring", "Torus"].iter().any(|name| self.constant(name) == Some(topology))
        });
        places.extend(first.filter(|_| second).and_then(eth).map(|credits| DownstreamPlace {
            direction: None,
            virtual_channel: 1,
            credits,
            xy: (0..4).filter_map(xy).collect(),
        }));
        places
    }
}
