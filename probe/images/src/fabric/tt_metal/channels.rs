//! Channels, routers downstream and packet headers of tt-metal's routers.

use super::allocations::Allocations;
use super::arguments::RuntimeArguments;
use super::{MOST_CHANNELS, NO_CONSTANT, PRIVATE, UNCOUNTED};
use crate::fabric::builtin::{Names, pair};
use crate::fabric::channels::{
    Edge, EdgeLocations, Receiver, ReceiverLocations, Sender, SenderLocations,
};
use crate::fabric::enumeration::Enumeration;
use crate::fabric::header::Header;
use crate::fabric::location::{Formula, Located, Location, Slots, Word};
use machine::fabric::Direction;
use std::sync::Arc;

/// Virtual channels of a router.
const VIRTUAL_CHANNELS: u64 = 3;
/// Downstream edges of a router in a virtual channel.
const EDGES: u32 = 3;
/// Extension words of the header of one dimension, and bytes of the route in that of two.
const EXTENSION_WORDS: std::ops::Range<u64> = 0..4;
const ROUTE_BYTES: std::ops::Range<u64> = 1..128;

const NO_RECEIVER_COUNT: &str = "the router keeps it in registers; the peer's counts bound it";
pub(in crate::fabric) const NO_ACKNOWLEDGES: &str = "the channel has no first-level acknowledge";
pub(in crate::fabric) const COUNTED_IN_L1: &str =
    "credits are counted in L1; the processed count is in a register";
pub(in crate::fabric) const COUNTED_BY_STREAM: &str =
    "credits are counted by a stream register, which is cleared";

/// What a router keeps to itself of a sender channel, or does not count.
pub(in crate::fabric) fn private_to_senders() -> SenderLocations {
    SenderLocations {
        in_flight: Located::Nowhere(PRIVATE),
        remote_free_slots: Located::Nowhere(PRIVATE),
        sent: Located::Nowhere(UNCOUNTED),
        dropped: Located::Nowhere(UNCOUNTED),
        oldest: Located::Nowhere(PRIVATE),
        last_progress: Located::Nowhere(UNCOUNTED),
        ..SenderLocations::default()
    }
}

/// What a router keeps to itself of a receiver channel, or does not count.
pub(in crate::fabric) fn private_to_receivers() -> ReceiverLocations {
    ReceiverLocations {
        held: Located::Nowhere(NO_RECEIVER_COUNT),
        received: Located::Nowhere(UNCOUNTED),
        completed: Located::Nowhere(UNCOUNTED),
        dropped: Located::Nowhere(UNCOUNTED),
        waits_for: Located::Nowhere(PRIVATE),
        pending: Located::Nowhere(PRIVATE),
        oldest: Located::Nowhere(PRIVATE),
        last_progress: Located::Nowhere(UNCOUNTED),
        ..ReceiverLocations::default()
    }
}

/// The values of `connection_t` (tt-metal.md 4.2), their constants, and their names.
const CONNECTIONS: [(u64, &str, &str); 3] = [
    (0, "unused_connection_value", "UNUSED_CONNECTION"),
    (1, "open_connection_value", "OPEN_CONNECTION"),
    (2, "close_connection_request_value", "CLOSE_CONNECTION_REQUEST"),
];

/// Returns the names of `connection_t` for a source without them.
pub(in crate::fabric) fn connection_names() -> Arc<Enumeration> {
    Arc::new(Enumeration::new(&CONNECTIONS.map(|(value, _, name)| (value, name))))
}

fn constant(value: u64) -> Located {
    Located::At(Formula::Constant(value).into())
}

impl Names<'_> {
    /// Returns the words of a constant array.
    pub(super) fn words(self, name: &str) -> Option<Vec<u64>> {
        let bytes = self.1.constant(name)?.bytes;
        let word =
            |chunk: &[u8]| chunk.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
        Some(bytes.chunks_exact(4).map(word).collect())
    }

    /// Returns a byte of a constant array of flags.
    fn flag(self, name: &str, index: u64) -> Option<Location> {
        let bytes = self.1.constant(name)?.bytes;
        let byte = bytes.get(usize::try_from(index).ok()?)?;
        Some(Formula::Constant((*byte).into()).into())
    }

    /// Returns the stream whose number is a constant.
    fn stream_of(self, name: &str) -> Option<Word> {
        self.stream(Some(self.constant(name)?))
    }

    /// Number of sender channels of each virtual channel.
    fn senders_of(self, virtual_channel: u64) -> u64 {
        let count = self.constant(&format!("ACTUAL_VC{virtual_channel}_SENDER_CHANNELS"));
        count.unwrap_or(0).min(MOST_CHANNELS)
    }

    /// Returns the virtual channel of a sender channel, and its position in the table of streams
    /// that all routers of the fabric share (`fabric_position_for_compact_sender`).
    fn position(self, index: u64) -> (u8, u64) {
        let mut first = 0;
        for virtual_channel in 0..VIRTUAL_CHANNELS {
            let next = first + self.senders_of(virtual_channel);
            if index < next {
                let start = self.constant(&format!("VC{virtual_channel}_FABRIC_POSITION_START"));
                return (virtual_channel as u8, start.unwrap_or(0).saturating_add(index - first));
            }
            first = next;
        }
        (0, index)
    }

    /// Returns the virtual channel of a receiver channel (`vc_of_receiver_channel`).
    fn virtual_channel_of_receiver(self, index: u64) -> u8 {
        let of_second = if self.senders_of(1) > 0 { 2 } else { 1 };
        if self.senders_of(2) > 0 && index == of_second { 2 } else { index as u8 }
    }

    /// Whether the credits of a virtual channel are counted in L1 instead of by streams.
    fn counts_in_l1(self, virtual_channel: u8) -> bool {
        self.constant(&format!("vc{virtual_channel}_uses_counter_credits"))
            .is_some_and(|counts| counts != 0)
    }

    /// Whether receivers of a virtual channel acknowledge packets before they forward them.
    fn acknowledges(self, virtual_channel: u8) -> bool {
        self.constant(&format!("ENABLE_FIRST_LEVEL_ACK_VC{virtual_channel}"))
            .is_some_and(|enabled| enabled != 0)
    }

    pub(super) fn tt_metal_senders(self, arguments: Option<&RuntimeArguments>) -> Vec<Sender> {
        let count = self.constant("NUM_SENDER_CHANNELS").unwrap_or(0).min(MOST_CHANNELS);
        let slots = Allocations::find(self).map_or_else(Vec::new, |found| found.senders);
        (0..count)
            .map(|index| {
                let (virtual_channel, _) = self.position(index);
                Sender {
                    index: index as u8,
                    virtual_channel,
                    slots: slots.get(index as usize).map_or(0, |slots| slots.count),
                    facts: self.sender_locations(index, slots.get(index as usize), arguments),
                }
            })
            .collect()
    }

    fn sender_locations(
        self,
        index: u64,
        slots: Option<&Slots>,
        arguments: Option<&RuntimeArguments>,
    ) -> SenderLocations {
        let (virtual_channel, position) = self.position(index);
        let free = self.stream_of(&format!("sender_channel_{position}_free_slots_stream_id"));
        let in_l1 = self.counts_in_l1(virtual_channel);
        let counter = |name: &str| {
            let first = self.constant(&format!("to_sender_remote_{name}_counters_base_address"))?;
            Some(Word { addr: first.checked_add(4 * index)?, size: 4 })
        };
        let stream = |name: &str| self.stream_of(&format!("to_sender_{index}_pkts_{name}_id"));
        let info = |member: &str| self.client_info(index, member);
        let argument = |of: Option<Formula>| Located::or(of, NO_CONSTANT);
        SenderLocations {
            serviced: Located::or(self.flag("is_sender_channel_serviced", index), NO_CONSTANT),
            slots_address: slots.map_or_else(Located::default, |slots| constant(slots.at)),
            slot_bytes: slots.map_or_else(Located::default, |slots| constant(slots.bytes)),
            free_slots: Located::or(free, NO_CONSTANT),
            queued: Located::or(
                slots.and_then(|slots| {
                    let all = Formula::Constant(slots.count);
                    pair(Formula::Difference, all, free.map(Formula::Word))
                }),
                NO_CONSTANT,
            ),
            completions: if in_l1 {
                Located::Nowhere(COUNTED_IN_L1)
            } else {
                Located::or(stream("completed"), NO_CONSTANT)
            },
            completed: if in_l1 {
                Located::or(counter("completion"), NO_CONSTANT)
            } else {
                Located::Nowhere(COUNTED_BY_STREAM)
            },
            acknowledges: match (self.acknowledges(virtual_channel), in_l1) {
                (false, _) => Located::Nowhere(NO_ACKNOWLEDGES),
                (true, true) => Located::Nowhere(COUNTED_IN_L1),
                (true, false) => Located::or(stream("acked"), NO_CONSTANT),
            },
            connection: match arguments.and_then(|arguments| arguments.connection(index)) {
                Some(formula) => Located::At(Location { formula, names: self.connection_names() }),
                None => Located::Nowhere(NO_CONSTANT),
            },
            last_client: Located::or(
                pair(Formula::Tile, info("worker_xy.x"), info("worker_xy.y")),
                NO_CONSTANT,
            ),
            client_credits: argument(self.of_client(index, "worker_semaphore_address")),
            client_teardown: argument(self.of_client(index, "worker_teardown_semaphore_address")),
            read_counter: argument(info("edm_read_counter")),
            write_counter: argument(arguments.and_then(|found| found.write_counter(index))),
            ..private_to_senders()
        }
    }

    /// Returns a member of a channel's `EDMChannelWorkerLocationInfo`.
    fn client_info(self, index: u64, member: &str) -> Option<Formula> {
        let name = format!("local_sender_channel_{index}_connection_info_addr");
        let at = self.constant(&name).filter(|at| *at != 0);
        self.member(&format!("EDMChannelWorkerLocationInfo.{member}"), at)
    }

    /// Returns a word of the client whose address the client wrote.
    fn of_client(self, index: u64, address: &str) -> Option<Formula> {
        match (self.client_info(index, "worker_xy")?, self.client_info(index, address)?) {
            (Formula::Word(xy), Formula::Word(address)) => Some(Formula::Elsewhere(xy, address)),
            _ => None,
        }
    }

    /// Returns the names of `connection_t`: in tt-metal they are constants.
    pub(super) fn connection_names(self) -> Option<Arc<Enumeration>> {
        let named = CONNECTIONS
            .into_iter()
            .map(|(_, constant, name)| Some((self.constant(constant)?, name)));
        Some(Arc::new(Enumeration::new(&named.collect::<Option<Vec<_>>>()?)))
    }

    pub(super) fn tt_metal_receivers(self) -> Vec<Receiver> {
        let count = self.constant("NUM_RECEIVER_CHANNELS").unwrap_or(0).min(MOST_CHANNELS);
        let slots = Allocations::find(self).map_or_else(Vec::new, |found| found.receivers);
        (0..count)
            .map(|index| Receiver {
                index: index as u8,
                virtual_channel: self.virtual_channel_of_receiver(index),
                slots: slots.get(index as usize).map_or(0, |slots| slots.count),
                facts: self.receiver_locations(index, slots.get(index as usize)),
            })
            .collect()
    }

    fn receiver_locations(self, index: u64, slots: Option<&Slots>) -> ReceiverLocations {
        let arrived = self.stream_of(&format!("to_receiver_{index}_pkts_sent_id"));
        ReceiverLocations {
            serviced: Located::or(self.flag("is_receiver_channel_serviced", index), NO_CONSTANT),
            slots_address: slots.map_or_else(Located::default, |slots| constant(slots.at)),
            slot_bytes: slots.map_or_else(Located::default, |slots| constant(slots.bytes)),
            arrived: Located::or(arrived, NO_CONSTANT),
            ..private_to_receivers()
        }
    }

    /// Returns the credits for the routers downstream in virtual channel 0. In two dimensions their
    /// compact indexes are the directions in order, without the router's own; in one dimension
    /// there is one, straight ahead.
    pub(super) fn tt_metal_edges(self, arguments: Option<&RuntimeArguments>) -> Vec<Edge> {
        let own = self.constant("my_direction").and_then(|own| Direction::ALL.get(own as usize));
        let Some(own) = own.copied() else { return Vec::new() };
        let towards: Vec<_> = match self.constant("is_2d_fabric") {
            Some(0) | None => vec![own.opposite()],
            Some(_) => Direction::ALL.into_iter().filter(|direction| *direction != own).collect(),
        };
        let edge = |(index, direction): (u32, Direction)| {
            let edge = index + 1;
            let credits =
                self.stream_of(&format!("vc_0_free_slots_from_downstream_edge_{edge}_stream_id"));
            let tile = arguments.and_then(|found| {
                let [x, y] = found.downstream(index);
                pair(Formula::Tile, x, y)
            });
            Edge {
                direction,
                virtual_channel: 0,
                straight: false,
                facts: EdgeLocations {
                    tile: Located::or(tile, NO_CONSTANT),
                    credits: Located::or(credits, NO_CONSTANT),
                },
            }
        };
        (0..EDGES).zip(towards).map(edge).collect()
    }

    /// Returns the header that the router is built for: the type of its channels' packets.
    pub(super) fn tt_metal_header(self) -> Option<Header> {
        let two_dimensional = match self.constant("is_2d_fabric") {
            Some(two) => two != 0,
            // Of both types, a mux has the one with which it is built.
            None => !self.header_types(true).is_empty(),
        };
        let found = self.header_types(two_dimensional);
        let slots = self.words("RECEIVER_NUM_BUFFERS_ARRAY").and_then(|all| all.first().copied());
        let used = found.iter().find(|name| {
            let buffer = format!(
                "StaticSizedEthChannelBuffer<tt::tt_fabric::{name}, {}>",
                slots.unwrap_or(0)
            );
            self.1.type_named(&buffer).is_some()
        });
        self.header_named(used.or(found.first())?, two_dimensional)
    }

    /// Returns the names of the header types for one or two dimensions.
    fn header_types(self, two_dimensional: bool) -> Vec<String> {
        let (ty, all) = if two_dimensional {
            ("HybridMeshPacketHeaderT", ROUTE_BYTES)
        } else {
            ("LowLatencyPacketHeaderT", EXTENSION_WORDS)
        };
        let names = all.map(|parameter| format!("{ty}<{parameter}>"));
        names.filter(|name| self.1.type_named(name).is_some()).collect()
    }
}
