//! A mux's words (tt-metal.md 5).

use super::STATUSES;
use super::header::HeaderFields;
use super::names::{Names, Word};
use layouts::ChipLayout;
use symbols::{Field, Symbols};

/// What a mux keeps of a channel.
#[derive(Clone, Debug)]
pub struct MuxChannelPlace {
    pub(crate) forwarded: Option<Word>,
    pub(crate) polls: Option<Word>,
    pub(crate) skips: Option<Word>,
    pub(crate) longest_wait: Option<Word>,
    pub(crate) connected: Option<Word>,
    pub(crate) closes: Option<Word>,
    pub(crate) connection: Option<Field>,
    pub(crate) worker_x: Option<Field>,
    pub(crate) worker_y: Option<Field>,
}

/// A mux's words: those of its own global, and those that others write, whose address it was told.
#[derive(Clone, Debug)]
pub struct MuxLayout {
    pub(crate) policy: Option<&'static str>,
    pub(crate) statuses: Vec<(u64, &'static str)>,
    pub(crate) words_address: Word,
    pub(crate) words_bytes: u64,
    pub(crate) status: Option<Field>,
    pub(crate) termination: Option<Field>,
    pub(crate) channel_count: Option<Word>,
    pub(crate) slots: Option<Word>,
    pub(crate) slot_bytes: Option<Word>,
    pub(crate) header_bytes: Option<Word>,
    pub(crate) channels_address: Option<Word>,
    pub(crate) first_stream: Option<Word>,
    pub(crate) passes: Option<Word>,
    pub(crate) holder: Option<Word>,
    pub(crate) drain_iters: Option<Word>,
    pub(crate) abandoned: Option<Word>,
    pub(crate) channels: Vec<MuxChannelPlace>,
    pub(crate) headers: Vec<HeaderFields>,
}

/// `fabric_mux_policy_t`.
const POLICIES: [&str; 5] = [
    "UNBOUNDED_WAIT",
    "NO_WAIT",
    "UNBOUNDED_WAIT_TEARDOWN",
    "BOUNDED_WAIT_32768",
    "BOUNDED_WAIT_256",
];
const STATE: &str = "fabric_mux_state";
const WORDS: &str = "fabric_mux_words_t";
/// More channels than any mux has.
const MOST_CHANNELS: u64 = 64;

impl MuxLayout {
    /// The words of a mux; `None` for an image that is none.
    pub(in crate::images) fn find(layout: &ChipLayout, symbols: &Symbols) -> Option<Self> {
        let names = Names(layout, symbols);
        symbols.locate(STATE).ok()?;
        let state = |member: &str| names.at(&format!("{STATE}.{member}"));
        let words = |member: &str| names.field(&format!("{WORDS}.{member}"));
        let policy = names.constant("forwarding_policy");
        let policies = names.named(&POLICIES);
        let most = names.constant("FABRIC_MUX_MAX_CHANNELS")?.min(MOST_CHANNELS);
        let channel = |index: u64| {
            let own = |member: &str| state(&format!("channels[{index}].{member}"));
            MuxChannelPlace {
                forwarded: own("packets_forwarded"),
                polls: own("polls"),
                skips: own("skips"),
                longest_wait: own("longest_wait_cycles"),
                connected: own("connected"),
                closes: own("closes"),
                connection: words(&format!("conn_semaphore[{index}].value")),
                worker_x: words(&format!("conn_info[{index}].worker_x")),
                worker_y: words(&format!("conn_info[{index}].worker_y")),
            }
        };
        Some(Self {
            policy: policies.iter().find(|(n, _)| Some(*n) == policy).map(|(_, name)| *name),
            statuses: names.named(&STATUSES),
            words_address: state("args.words_address")?,
            words_bytes: symbols.type_named(WORDS)?.size()?,
            status: words("status"),
            termination: words("termination_signal"),
            channel_count: state("args.num_full_size_channels"),
            slots: state("args.num_buffers_full_size_channel"),
            slot_bytes: state("args.channel_buffer_size"),
            header_bytes: state("args.packet_header_bytes"),
            channels_address: state("args.channels_address"),
            first_stream: state("args.first_stream_id"),
            passes: state("passes"),
            holder: state("holder"),
            drain_iters: state("drain_iters"),
            abandoned: state("abandoned"),
            channels: (0..most).map(channel).collect(),
            headers: [false, true].into_iter().filter_map(|two| names.header_of(two)).collect(),
        })
    }

    /// Every word of its own global that decoding may want.
    pub(crate) fn words(&self) -> Vec<Word> {
        let own = [
            Some(self.words_address),
            self.channel_count,
            self.slots,
            self.slot_bytes,
            self.header_bytes,
            self.channels_address,
            self.first_stream,
            self.passes,
            self.holder,
            self.drain_iters,
            self.abandoned,
        ];
        let channels = self
            .channels
            .iter()
            .flat_map(|c| [c.forwarded, c.polls, c.skips, c.longest_wait, c.connected, c.closes]);
        own.into_iter().chain(channels).flatten().collect()
    }
}
