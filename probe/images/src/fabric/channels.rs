//! The facts of a router's channels.

use super::builtin::{Members, Names, pair};
use super::fact::Code;
use super::fact_table::facts;
use super::location::{Formula, Location, Slots, Word};
use layouts::NocXy;
use machine::fabric::Direction;

facts! {
    /// The state of a sender channel, from the router and its client.
    struct SenderFacts, located by SenderLocations, in built-in images by at: ChannelNames<'_> {
        /// Whether the router serves the channel.
        serviced: bool = Some(Formula::Constant(1).into()),
        /// Address of the first slot.
        slots_address: u64 = Some(Formula::Constant(at.slots.at).into()),
        /// Bytes of a slot, with the header.
        slot_bytes: u64 = Some(Formula::Constant(at.slots.bytes).into()),
        /// Free slots, as the client sees them.
        free_slots: u64 = at.stream("free_slots_stream_id").map(Location::from),
        /// Packets that the client put in and that are not sent yet: slots minus free slots.
        queued: u64 = at.queued(),
        /// Packets on the link or at the peer: sent, not completed.
        in_flight: u64 = at.state.difference("packets_sent", "packets_completed"),
        /// Completions that arrived and are not processed.
        completions: u64 = at.completions(),
        /// First-level acknowledges that arrived and are not processed.
        acknowledges: u64 = None,
        /// Free slots of the peer's receiver channel, shared by all senders of the virtual channel;
        /// not counted for the control channel.
        remote_free_slots: u64 = {
            at.state.names.at(&format!("fabric_router::remotes[{}].free_slots", at.virtual_channel))
        },
        /// Packets removed from the head: sent or dropped.
        sent: u64 = at.state.at("packets_sent"),
        /// Packets that the peer has completed.
        completed: u64 = at.state.at("packets_completed"),
        /// Packets dropped.
        dropped: u64 = at.state.at("packets_dropped"),
        /// `connection_t`: 0 unused, 1 open, 2 close requested.
        connection: Code = {
            let word = at.client("local_sender_channel_0_connection_semaphore_addr");
            at.state.names.named("connection_t", word)
        },
        /// The last client that opened the channel, even if it has closed it.
        last_client: NocXy = pair(Formula::Tile, at.info("worker_x"), at.info("worker_y")),
        /// The word of the last client in which the router returns slots.
        client_credits: u64 = None,
        /// The word of the last client in which the router answers its close.
        client_teardown: u64 = None,
        /// Address of the oldest packet.
        #[serde(skip)]
        oldest: u64 = at.slot(),
        /// Time of the last progress, the low half of the wall clock.
        #[serde(skip)]
        last_progress: u64 = at.state.at("last_progress"),
        /// Packets taken from the channel: the next client continues at this count.
        #[serde(skip)]
        read_counter: u64 = at.info("edm_read_counter").map(Location::from),
        /// Packets put in by the previous client.
        #[serde(skip)]
        write_counter: u64 = at.client("local_sender_channel_0_connection_buffer_index_addr"),
    }
}

facts! {
    /// The state of a receiver channel.
    struct ReceiverFacts, located by ReceiverLocations, in built-in images by at: ChannelNames<'_> {
        /// Whether the router serves the channel.
        serviced: bool = Some(Formula::Constant(1).into()),
        /// Address of the first slot.
        slots_address: u64 = Some(Formula::Constant(at.slots.at).into()),
        /// Bytes of a slot, with the header.
        slot_bytes: u64 = Some(Formula::Constant(at.slots.bytes).into()),
        /// Packets that arrived and are not taken yet.
        arrived: u64 = at.arrived(),
        /// Packets taken, not completed.
        held: u64 = at.state.difference("packets_received", "packets_completed"),
        /// Packets taken.
        received: u64 = at.state.at("packets_received"),
        /// Packets whose completion was sent.
        completed: u64 = at.state.at("packets_completed"),
        /// Packets dropped.
        dropped: u64 = at.state.at("packets_dropped"),
        /// `fabric_wait_t` of the head: 0 nothing, 1 router downstream, 2 NoC, 3 transmit queue.
        waits_for: Code = at.state.named("fabric_wait_t", "waits_for"),
        /// Directions to which the head is still to be forwarded.
        pending: Vec<Direction> = at.state.at("pending"),
        /// Address of the oldest packet.
        #[serde(skip)]
        oldest: u64 = {
            let tail = at.private("tail").map(Formula::Word);
            at.if_rerouted(tail, at.slot().map(|location| location.formula))
        },
        /// Time of the last progress, the low half of the wall clock.
        #[serde(skip)]
        last_progress: u64 = at.state.at("last_progress"),
    }
}

facts! {
    /// The router downstream in a direction, in the same plane.
    struct EdgeFacts, located by EdgeLocations, in built-in images by at: EdgeNames<'_> {
        /// The router's tile.
        tile: NocXy = at.state.at(&format!("args.downstream_xy[{}]", at.direction.index())),
        /// Free slots of that router's sender channel for this router.
        credits: u64 = Some(at.credits.clone().into()),
    }
}

/// A sender or receiver channel of a router.
#[derive(Clone, Debug)]
pub struct RouterChannel<L> {
    /// Its number.
    pub index: u8,
    /// Its virtual channel.
    pub virtual_channel: u8,
    /// Number of its slots.
    pub slots: u64,
    /// The locations of its facts.
    pub facts: L,
}

/// A sender channel of a router.
pub type Sender = RouterChannel<SenderLocations>;

/// A receiver channel of a router.
pub type Receiver = RouterChannel<ReceiverLocations>;

/// Credits for the router downstream in a direction.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The direction.
    pub direction: Direction,
    /// Its virtual channel.
    pub virtual_channel: u8,
    /// Whether it exists only straight ahead: opposite to this router's own link.
    pub straight: bool,
    /// The locations of its facts.
    pub facts: EdgeLocations,
}

/// Resolves the names of a channel of a router.
struct ChannelNames<'a> {
    /// The channel's part of the router's state.
    state: Members<'a>,
    /// The channel's entry in the image's table of channels.
    table: Members<'a>,
    /// The channel's part of the router's private state.
    private: Members<'a>,
    slots: Slots,
    index: u8,
    virtual_channel: u8,
}

/// A table entry; none for an unused channel, which has no slots.
type Entry<T> = Option<T>;

impl<'a> ChannelNames<'a> {
    /// Finds a sender or receiver channel; `None` past the end of the table.
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

    fn channel<L>(&self, facts: fn(&Self) -> L) -> RouterChannel<L> {
        let Self { index, virtual_channel, slots, .. } = *self;
        RouterChannel { index, virtual_channel, slots: slots.count, facts: facts(self) }
    }

    fn stream(&self, id: &str) -> Option<Word> {
        self.table.names.stream(self.table.names.file(&self.table.path(id)))
    }

    fn private(&self, member: &str) -> Option<Word> {
        self.private.word(member)
    }

    /// Returns the slot of the oldest packet.
    fn slot(&self) -> Option<Location> {
        let index = Box::new(self.state.at("slot")?.formula);
        Some(Formula::Slot(self.slots, index).into())
    }

    fn queued(&self) -> Option<Location> {
        let free = self.stream("free_slots_stream_id").map(Formula::Word);
        pair(Formula::Difference, Formula::Constant(self.slots.count), free)
    }

    /// Returns the count of completions. The router stores the address of the stream in use. While
    /// the link is lost, no stream is, and the channel's own stream does not count.
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

    /// Returns the stream that counts arrivals while the link is lost.
    fn rerouted_stream(&self) -> Option<Word> {
        let names = self.state.names;
        let first = names.constant("fallback_arrived_0_stream_id")?;
        names.stream(Some(first + u64::from(self.index)))
    }

    /// Returns the first formula while packets arrive over another link, else the second: the
    /// router stores the address of the stream in use.
    fn if_rerouted(&self, rerouted: Option<Formula>, own: Option<Formula>) -> Option<Location> {
        match self.private("arrived").zip(self.rerouted_stream()) {
            Some((counting, stream)) => {
                pair(|of| Formula::If(counting, stream.addr, of), rerouted, own)
            }
            None => own.map(Location::from),
        }
    }

    /// Returns a word that the client writes. Channels are 16 bytes apart (as in tt-metal.md 5.1).
    fn client(&self, first: &str) -> Option<Location> {
        self.state.names.pointed(first, u64::from(self.index) * 16)
    }

    /// Returns a member of the client's `EDMChannelWorkerLocationInfo`.
    fn info(&self, member: &str) -> Option<Formula> {
        const TYPE: &str = "EDMChannelWorkerLocationInfo";
        let names = self.state.names;
        let first = names.constant("local_sender_channel_0_connection_info_addr")?;
        let at = first + u64::from(self.index) * names.1.type_named(TYPE)?.size()?;
        names.member(&format!("{TYPE}.{member}"), Some(at))
    }
}

/// Resolves the names of the router downstream in a direction.
struct EdgeNames<'a> {
    state: &'a Members<'a>,
    direction: Direction,
    credits: Formula,
}

impl Names<'_> {
    /// Finds a sender channel; `None` past the end of the table.
    pub(super) fn sender(self, state: &str, index: u8) -> Option<Entry<Sender>> {
        let found = ChannelNames::find(self, state, "senders", index)?;
        Some(found.map(|at| at.channel(SenderLocations::builtin)))
    }

    /// Finds a receiver channel; `None` past the end of the table.
    pub(super) fn receiver(self, state: &str, index: u8) -> Option<Entry<Receiver>> {
        let found = ChannelNames::find(self, state, "receivers", index)?;
        Some(found.map(|at| at.channel(ReceiverLocations::builtin)))
    }

    /// Returns the credits by direction: in virtual channel 0 a stream for each; in the control
    /// channel a word; in virtual channel 1 a stream for each, or one for the router straight ahead.
    pub(super) fn downstream(self, state: &Members<'_>) -> Vec<Edge> {
        let edge = |direction, virtual_channel, straight, credits: Option<Formula>| {
            let at = EdgeNames { state, direction, credits: credits? };
            Some(Edge { direction, virtual_channel, straight, facts: EdgeLocations::builtin(&at) })
        };
        let stream = |first: &str, index: usize| {
            let first = self.constant(first)?;
            self.stream(Some(first + index as u64)).map(Formula::Word)
        };
        let words = self.constant("ROUTER_WORDS");
        let second = "vc_1_free_slots_from_downstream_edge_1_stream_id";
        let each = |virtual_channel, straight, credits: &dyn Fn(usize) -> Option<Formula>| {
            let edges = Direction::ALL.into_iter();
            let edges = edges.map(|it| edge(it, virtual_channel, straight, credits(it.index())));
            edges.flatten().collect::<Vec<_>>()
        };
        let mut edges =
            each(0, false, &|at| stream("vc_0_free_slots_from_downstream_edge_1_stream_id", at));
        edges.extend(each(2, false, &|at| {
            self.member(&format!("fabric_router_words_t.control_credits[{at}]"), words)
        }));
        match self.constant("num_vc1_sender_channels") {
            Some(0) | None => {}
            Some(1) => edges.extend(each(1, true, &|_| stream(second, 0))),
            Some(_) => edges.extend(each(1, false, &|at| stream(second, at))),
        }
        edges
    }

    /// Whether the image's topology is one of these.
    pub(super) fn is_topology(self, names: &[&str]) -> bool {
        let topology = self.constant("topology");
        topology.is_some() && names.iter().any(|name| self.constant(name) == topology)
    }
}
