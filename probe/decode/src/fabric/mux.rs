//! Facts of a mux (tt-metal.md 5).

use super::enumeration::Enumerator;
use super::fact::{Code, facts};
use super::header::Header;
use super::location::{Formula, Location, Locations as _, Structure, Word};
use super::ours::{Members, Names, pair};
use layouts::{ChipLayout, NocXy};
use symbols::Symbols;

facts! {
    /// What a mux says of itself.
    struct MuxFacts, located by MuxLocations, in our images by at: MuxNames<'_> {
        /// `fabric_mux_policy_t`.
        policy: Enumerator = at.state.names.known("forwarding_policy"),
        /// `EDMStatus`.
        status: Enumerator = at.state.names.named("EDMStatus", at.word("status")),
        /// `TerminationSignal`: 0 run, 1 graceful, 2 immediate.
        termination: Code = {
            at.state.names.named("TerminationSignal", at.word("termination_signal"))
        },
        /// Turns of its loop.
        passes: u64 = at.state.at("passes"),
        /// The channel that waits for a slot of the router; absent while none does.
        holder: u64 = at.state.at("holder"),
        /// Passes since it was told to end.
        drain_iters: u64 = at.state.at("drain_iters"),
        /// Packets that it left behind when it ended.
        abandoned: u64 = at.state.at("abandoned"),
        /// Its channels.
        #[serde(skip)]
        channel_count: u64 = at.state.at("args.num_full_size_channels"),
        /// Bytes of a slot.
        #[serde(skip)]
        slot_bytes: u64 = at.state.at("args.channel_buffer_size"),
        /// Bytes of a packet's header.
        #[serde(skip)]
        header_bytes: u64 = at.state.at("args.packet_header_bytes"),
        /// Where its slots begin, channel after channel.
        #[serde(skip)]
        channels_address: u64 = at.state.at("args.channels_address"),
        /// The stream of its first channel's free slots.
        #[serde(skip)]
        first_stream: u64 = at.state.at("args.first_stream_id"),
    }
}

facts! {
    /// What a mux and its client say of a channel.
    struct MuxChannelFacts, located by MuxChannelLocations, in our images by at: MuxNames<'_> {
        /// How many packets it holds at most.
        slots: u64 = at.state.at("args.num_buffers_full_size_channel"),
        /// Packets that its client put in and that were not forwarded.
        queued: u64 = {
            let slots = at.state.at("args.num_buffers_full_size_channel");
            let first = at.state.word("args.first_stream_id");
            let free = first.map(|first| Formula::Credits(first, at.channel));
            pair(Formula::Difference, slots.map(|slots| slots.formula), free)
        },
        /// What the client wrote, `connection_t`: 0 unused, 1 open, 2 close requested.
        connection: Code = {
            let word = at.word(&format!("conn_semaphore[{}].value", at.channel));
            at.state.names.named("connection_t", word)
        },
        /// The mux has seen that its client opened it, and has not answered a close.
        connected: bool = at.own("connected"),
        /// The client that opened it last.
        client: NocXy = pair(Formula::Tile, at.info("worker_x"), at.info("worker_y")),
        /// Packets handed to the router.
        forwarded: u64 = at.own("packets_forwarded"),
        /// Polls for a slot of the router.
        polls: u64 = at.own("polls"),
        /// Waits that were given up.
        skips: u64 = at.own("skips"),
        /// Cycles from the first poll without a slot until the packet was forwarded, at most.
        longest_wait_cycles: u64 = at.own("longest_wait_cycles"),
        /// Closes of clients that were answered.
        closes: u64 = at.own("closes"),
    }
}

/// Where the facts of a mux and of its channels stand.
#[derive(Clone, Debug)]
pub(crate) struct MuxLayout {
    /// The word that has the address of those that others write.
    pub(crate) words_address: Word,
    pub(crate) facts: MuxLocations,
    pub(crate) channels: Vec<MuxChannelLocations>,
    pub(crate) headers: Vec<Header>,
}

/// Asks an image for a mux, and for one of its channels.
struct MuxNames<'a> {
    state: Members<'a>,
    /// What others write.
    words: Structure,
    channel: u64,
}

const WORDS: &str = "fabric_mux_words_t";
/// More channels than any mux has.
const MOST_CHANNELS: u64 = 64;

impl MuxNames<'_> {
    fn word(&self, member: &str) -> Option<Formula> {
        self.state.names.inside(self.words, &format!("{WORDS}.{member}"))
    }

    fn own(&self, member: &str) -> Option<Location> {
        self.state.at(&format!("channels[{}].{member}", self.channel))
    }

    fn info(&self, member: &str) -> Option<Formula> {
        self.word(&format!("conn_info[{}].{member}", self.channel))
    }
}

impl MuxLayout {
    /// The words of a mux; `None` for an image that is none.
    pub(crate) fn find(layout: &ChipLayout, symbols: &Symbols) -> Option<Self> {
        const STATE: &str = "fabric_mux_state";
        let names = Names(layout, symbols);
        symbols.locate(STATE).ok()?;
        let words = names.structure(WORDS, &format!("{STATE}.args.words_address"))?;
        let at = |channel| MuxNames { state: names.within(STATE), words, channel };
        let most = names.constant("FABRIC_MUX_MAX_CHANNELS")?.min(MOST_CHANNELS);
        Some(Self {
            words_address: words.address,
            facts: MuxLocations::ours(&at(0)),
            channels: (0..most).map(|index| MuxChannelLocations::ours(&at(index))).collect(),
            headers: [false, true].into_iter().filter_map(|two| names.header_of(two)).collect(),
        })
    }

    /// Every word of its own global that decoding may want.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word> {
        let channels = self.channels.iter().flat_map(MuxChannelLocations::known);
        self.facts.known().chain(channels).flat_map(Location::words)
    }
}
