//! The facts of a mux (tt-metal.md 5).

use super::builtin::{Members, Names, pair};
use super::enumeration::Enumerator;
use super::fact::Code;
use super::fact_table::facts;
use super::header::Header;
use super::location::{Formula, Location, Locations as _, Structure, Word};
use layouts::{ChipLayout, CoreKind, NocXy};
use symbols::Symbols;

facts! {
    /// The state of a mux.
    struct MuxFacts, located by MuxLocations, in built-in images by at: MuxNames<'_> {
        /// `fabric_mux_policy_t`.
        policy: Enumerator = at.state.names.known("forwarding_policy"),
        /// `EDMStatus`.
        status: Enumerator = at.state.names.named("EDMStatus", at.word("status")),
        /// `TerminationSignal`: 0 run, 1 graceful, 2 immediate.
        termination: Code = {
            at.state.names.named("TerminationSignal", at.word("termination_signal"))
        },
        /// Passes of its loop.
        passes: u64 = at.state.at("passes"),
        /// The channel that waits for a slot of the router; absent if none does.
        holder: u64 = at.state.at("holder"),
        /// Passes since the termination signal.
        drain_iters: u64 = at.state.at("drain_iters"),
        /// Packets left in its channels when it ended.
        abandoned: u64 = at.state.at("abandoned"),
        /// Packets of all channels that it has written into its router (`write_count`).
        handed_over: u64 = None,
        /// Of them, packets that have left its tile (`read_count`).
        retired: u64 = None,
        /// Whether all clients have closed: no more packets come.
        drain_initiated: bool = None,
        /// Whether what was left is sent and its connection to the router is closed.
        forwarder_done: bool = None,
        /// Number of channels.
        #[serde(skip)]
        channel_count: u64 = at.state.at("args.num_full_size_channels"),
        /// Bytes of a packet's header.
        #[serde(skip)]
        header_bytes: u64 = at.state.at("args.packet_header_bytes"),
        /// Address of its slots, channel after channel.
        #[serde(skip)]
        channels_address: u64 = at.state.at("args.channels_address"),
        /// The stream of its first channel's free slots.
        #[serde(skip)]
        first_stream: u64 = at.state.at("args.first_stream_id"),
    }
}

facts! {
    /// The state of a mux channel, from the mux and its client.
    struct MuxChannelFacts, located by MuxChannelLocations, in built-in images by at: MuxNames<'_> {
        /// Number of slots.
        slots: u64 = at.state.at("args.num_buffers_full_size_channel"),
        /// Bytes of a slot.
        slot_bytes: u64 = at.state.at("args.channel_buffer_size"),
        /// Address of the first slot, if the source gives it for each channel.
        slots_address: u64 = None,
        /// Packets that its client put in and that are not forwarded yet.
        queued: u64 = {
            let slots = at.state.at("args.num_buffers_full_size_channel");
            let first = at.state.word("args.first_stream_id");
            let free = first.map(|first| Formula::Credits(first, at.channel));
            pair(Formula::Difference, slots.map(|slots| slots.formula), free)
        },
        /// `connection_t`, written by the client: 0 unused, 1 open, 2 close requested.
        connection: Code = {
            let word = at.word(&format!("conn_semaphore[{}].value", at.channel));
            at.state.names.named("connection_t", word)
        },
        /// Whether the mux has seen its client's open, and has not answered a close.
        connected: bool = at.own("connected"),
        /// The client that opened it last.
        client: NocXy = pair(Formula::Tile, at.info("worker_x"), at.info("worker_y")),
        /// Packets forwarded to the router.
        forwarded: u64 = at.own("packets_forwarded"),
        /// Number of polls for a slot of the router.
        polls: u64 = at.own("polls"),
        /// Number of abandoned waits.
        skips: u64 = at.own("skips"),
        /// The longest time from the first poll without a slot until the packet was forwarded, in
        /// cycles.
        longest_wait_cycles: u64 = at.own("longest_wait_cycles"),
        /// Number of answered closes.
        closes: u64 = at.own("closes"),
    }
}

/// Locations of the facts of a mux and of its channels.
#[derive(Clone, Debug)]
pub struct MuxLayout {
    /// A word that every plan for a mux has.
    pub first_word: Word,
    /// The locations of its facts.
    pub facts: MuxLocations,
    /// Those of each channel.
    pub channels: Vec<MuxChannelLocations>,
    /// The headers that its packets may have.
    pub headers: Vec<Header>,
}

/// Resolves the names of a mux and of one of its channels.
struct MuxNames<'a> {
    state: Members<'a>,
    /// The words that clients and host write.
    words: &'a Structure,
    channel: u64,
}

const WORDS: &str = "fabric_mux_words_t";
/// A bound above the number of channels of any mux.
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
    /// Finds the locations; `None` for an image that is not a mux.
    pub(crate) fn find(layout: &ChipLayout, core: CoreKind, symbols: &Symbols) -> Option<Self> {
        const STATE: &str = "fabric_mux_state";
        const ADDRESS: &str = "fabric_mux_state.args.words_address";
        let names = Names(layout, symbols);
        if symbols.locate(STATE).is_err() {
            let forwarder = (core != CoreKind::Ncrisc).then_some(names);
            return names.tt_metal_mux().or_else(|| forwarder?.tt_metal_mux_v2());
        }
        let words = names.structure(WORDS, ADDRESS)?;
        let at = |channel| MuxNames { state: names.within(STATE), words: &words, channel };
        let most = names.constant("FABRIC_MUX_MAX_CHANNELS")?.min(MOST_CHANNELS);
        Some(Self {
            first_word: names.word(ADDRESS)?,
            facts: MuxLocations::builtin(&at(0)),
            channels: (0..most).map(|index| MuxChannelLocations::builtin(&at(index))).collect(),
            headers: [false, true].into_iter().filter_map(|two| names.header_of(two)).collect(),
        })
    }

    /// Returns every word of the mux's global that decoding needs.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let channels = self.channels.iter().flat_map(MuxChannelLocations::known);
        self.facts.known().chain(channels).flat_map(Location::words)
    }
}
