//! Facts of a router's channels.

use super::fact::{Code, facts};
use super::location::{Formula, Location, Slots, Word};
use super::ours::{Members, Names, pair};
use layouts::NocXy;
use machine::fabric::Direction;

facts! {
    /// What a router and its client say of a sender channel.
    struct SenderFacts, located by SenderLocations, in our images by at: ChannelNames<'_> {
        /// Packets that its producer put in and that were not handed to the link: slots less free slots.
        queued: u64 = at.queued(),
        /// Packets on the link or at the peer: sent and not completed.
        in_flight: u64 = at.state.difference("packets_sent", "packets_completed"),
        /// Completions that arrived and were not taken.
        completions: u64 = at.completions(),
        /// Slots that the peer's receiver channel has left for all senders of its virtual channel; nobody counts those of the
        /// control channel.
        remote_free_slots: u64 = {
            at.state.names.at(&format!("fabric_router::remotes[{}].free_slots", at.virtual_channel))
        },
        /// Packets that left the head: sent or dropped.
        sent: u64 = at.state.at("packets_sent"),
        /// Packets of which the peer has said that they have left it.
        completed: u64 = at.state.at("packets_completed"),
        /// Packets dropped.
        dropped: u64 = at.state.at("packets_dropped"),
        /// `connection_t`: 0 unused, 1 open, 2 close requested.
        connection: Code = {
            let word = at.client("local_sender_channel_0_connection_semaphore_addr");
            at.state.names.named("connection_t", word)
        },
        /// The client that opened it last, whether or not it has closed it.
        last_client: NocXy = pair(Formula::Tile, at.info("worker_x"), at.info("worker_y")),
        /// Its free slots.
        #[serde(skip)]
        free_slots: u64 = at.stream("free_slots_stream_id").map(Location::from),
        /// Where its oldest packet begins.
        #[serde(skip)]
        oldest: u64 = at.slot(),
        /// When it made progress last, in the low half of the wall clock.
        #[serde(skip)]
        last_progress: u64 = at.state.at("last_progress"),
        /// Packets taken from it: the next client goes on from here.
        #[serde(skip)]
        read_counter: u64 = at.info("edm_read_counter").map(Location::from),
        /// Packets put into it by the client before.
        #[serde(skip)]
        write_counter: u64 = at.client("local_sender_channel_0_connection_buffer_index_addr"),
    }
}

facts! {
    /// What a router says of a receiver channel.
    struct ReceiverFacts, located by ReceiverLocations, in our images by at: ChannelNames<'_> {
        /// Packets that arrived and were not taken.
        arrived: u64 = at.arrived(),
        /// Packets taken and not completed.
        held: u64 = at.state.difference("packets_received", "packets_completed"),
        /// Packets taken so far.
        received: u64 = at.state.at("packets_received"),
        /// Packets whose completion was sent.
        completed: u64 = at.state.at("packets_completed"),
        /// Packets dropped.
        dropped: u64 = at.state.at("packets_dropped"),
        /// `fabric_wait_t` of the head: 0 nothing, 1 a router downstream, 2 the NoC, 3 the transmit queue.
        waits_for: Code = at.state.named("fabric_wait_t", "waits_for"),
        /// Where the head still has to go.
        pending: Vec<Direction> = at.state.at("pending"),
        /// Where its oldest packet begins.
        #[serde(skip)]
        oldest: u64 = {
            let tail = at.private("tail").map(Formula::Word);
            at.if_rerouted(tail, at.slot().map(|location| location.formula))
        },
        /// When it made progress last, in the low half of the wall clock.
        #[serde(skip)]
        last_progress: u64 = at.state.at("last_progress"),
    }
}

facts! {
    /// What a router knows of the router of its plane towards a direction.
    struct EdgeFacts, located by EdgeLocations, in our images by at: EdgeNames<'_> {
        /// Its tile.
        tile: NocXy = at.state.at(&format!("args.downstream_xy[{}]", at.direction.index())),
        /// Free slots of its sender channel that this router may fill.
        credits: u64 = Some(at.credits.into()),
    }
}

/// A sender channel of a router.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) index: u8,
    pub(crate) virtual_channel: u8,
    pub(crate) slots: u64,
    pub(crate) facts: SenderLocations,
}

/// A receiver channel of a router.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) index: u8,
    pub(crate) virtual_channel: u8,
    pub(crate) slots: u64,
    pub(crate) facts: ReceiverLocations,
}

/// Credits for the router of this plane towards a direction.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) direction: Direction,
    pub(crate) virtual_channel: u8,
    /// Only if that is straight on: away from where this router's own link leads.
    pub(crate) straight: bool,
    pub(crate) facts: EdgeLocations,
}

/// Asks an image for a channel of a router.
struct ChannelNames<'a> {
    /// Its part of the router's state.
    state: Members<'a>,
    /// Its entry in the image's table of channels.
    table: Members<'a>,
    /// Its part of the router's private state.
    private: Members<'a>,
    slots: Slots,
    index: u8,
    virtual_channel: u8,
}

/// A channel that the image may have and does not use: its table entry has no slots.
type Entry<T> = Option<T>;

impl<'a> ChannelNames<'a> {
    /// Of the senders or of the receivers; `None` past the end of the table.
    fn find(names: Names<'a>, state: &str, kind: &str, index: u8) -> Option<Entry<Self>> {
        let table = format!("fabric_channel_places.{kind}[{index}]");
        names.1.locate(&table).ok()?;
        let Some(slots) = names.slots(&table) else { return Some(None) };
        Some(Some(Self {
            state: names.within(format!("{state}.{kind}[{index}]")),
            private: names.within(format!("fabric_router::{kind}[{index}]")),
            virtual_channel: names.file(&format!("{table}.virtual_channel"))? as u8,
            table: names.within(table),
            slots,
            index,
        }))
    }

    fn stream(&self, id: &str) -> Option<Word> {
        self.table.names.stream(self.table.names.file(&self.table.path(id)))
    }

    fn private(&self, member: &str) -> Option<Word> {
        self.private.word(member)
    }

    /// The slot of the oldest packet.
    fn slot(&self) -> Option<Location> {
        let index = Box::new(self.state.at("slot")?.formula);
        Some(Formula::Slot(self.slots, index).into())
    }

    fn queued(&self) -> Option<Location> {
        let free = self.stream("free_slots_stream_id").map(Formula::Word);
        pair(Formula::Difference, Formula::Constant(self.slots.count), free)
    }

    /// The router keeps the address of the stream that counts. While the link is lost none tells of completions, and what the
    /// own one still brings does not count.
    fn completions(&self) -> Option<Location> {
        let own = self.stream("completed_stream_id")?;
        let Some(counting) = self.private("completions") else { return Some(own.into()) };
        let counts = |of| Formula::If(counting, own.addr, of);
        pair(counts, Formula::Word(own), Formula::Constant(0))
    }

    fn arrived(&self) -> Option<Location> {
        let own = self.stream("pkts_sent_stream_id").map(Formula::Word);
        self.if_rerouted(self.rerouted_stream().map(Formula::Word), own)
    }

    /// What counts while the link is lost.
    fn rerouted_stream(&self) -> Option<Word> {
        let names = self.state.names;
        let first = names.constant("fallback_arrived_0_stream_id")?;
        names.stream(Some(first + u64::from(self.index)))
    }

    /// The first while packets come over another link, else the second: the router keeps the address of the stream that counts.
    fn if_rerouted(&self, rerouted: Option<Formula>, own: Option<Formula>) -> Option<Location> {
        match self.private("arrived").zip(self.rerouted_stream()) {
            Some((counting, stream)) => {
                pair(|of| Formula::If(counting, stream.addr, of), rerouted, own)
            }
            None => own.map(Location::from),
        }
    }

    /// A word that its client writes. Those of a channel stand 16 bytes apart from those of the next (as in tt-metal.md 5.1).
    fn client(&self, first: &str) -> Option<Location> {
        self.state.names.pointed(first, u64::from(self.index) * 16)
    }

    /// What its client has told of itself.
    fn info(&self, member: &str) -> Option<Formula> {
        const TYPE: &str = "EDMChannelWorkerLocationInfo";
        let names = self.state.names;
        let first = names.constant("local_sender_channel_0_connection_info_addr")?;
        let at = first + u64::from(self.index) * names.1.type_named(TYPE)?.size()?;
        names.member(&format!("{TYPE}.{member}"), Some(at))
    }
}

/// Asks an image for the router towards a direction.
struct EdgeNames<'a> {
    state: &'a Members<'a>,
    direction: Direction,
    credits: Word,
}

impl Names<'_> {
    /// `None` past the end of the table.
    pub(super) fn sender(self, state: &str, index: u8) -> Option<Entry<Sender>> {
        let found = ChannelNames::find(self, state, "senders", index)?;
        Some(found.map(|at| Sender {
            index,
            virtual_channel: at.virtual_channel,
            slots: at.slots.count,
            facts: SenderLocations::ours(&at),
        }))
    }

    /// `None` past the end of the table.
    pub(super) fn receiver(self, state: &str, index: u8) -> Option<Entry<Receiver>> {
        let found = ChannelNames::find(self, state, "receivers", index)?;
        Some(found.map(|at| Receiver {
            index,
            virtual_channel: at.virtual_channel,
            slots: at.slots.count,
            facts: ReceiverLocations::ours(&at),
        }))
    }

    /// Credits by direction: one stream each in virtual channel 0 and the control channel, and one for the router straight on
    /// in virtual channel 1.
    pub(super) fn downstream(self, state: &Members<'_>) -> Vec<Edge> {
        const EACH: [(u8, &str); 2] = [
            (0, "vc_0_free_slots_from_downstream_edge_1_stream_id"),
            (2, "control_free_slots_from_downstream_edge_1_stream_id"),
        ];
        let edge = |direction, virtual_channel, straight, stream| {
            let at = EdgeNames { state, direction, credits: self.stream(stream)? };
            Some(Edge { direction, virtual_channel, straight, facts: EdgeLocations::ours(&at) })
        };
        let mut edges = Vec::new();
        for (virtual_channel, name) in EACH {
            let first = self.constant(name);
            edges.extend(Direction::ALL.into_iter().filter_map(|direction| {
                let stream = first.map(|first| first + direction.index() as u64);
                edge(direction, virtual_channel, false, stream)
            }));
        }
        let dateline = self.is_topology(&["Ring", "Torus"]);
        let second = self.constant("vc_1_free_slots_from_downstream_edge_1_stream_id");
        let straight = Direction::ALL.into_iter().filter(|_| dateline);
        edges.extend(straight.filter_map(|direction| edge(direction, 1, true, second)));
        edges
    }

    /// Is the image's topology one of these?
    pub(super) fn is_topology(self, names: &[&str]) -> bool {
        let topology = self.constant("topology");
        topology.is_some() && names.iter().any(|name| self.constant(name) == topology)
    }
}
