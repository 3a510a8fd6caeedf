//! The routing queues of base firmware and the transmit queues of Ethernet tiles: depth, what is in
//! flight, errors.

use decode::state::MeshState;
use layouts::{ChipId, EthId, NocAddr, NocXy, Space, TileKind};
use machine::snapshot::{Snapshot, Span};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// A queue of an Ethernet tile.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, Serialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum QueueKind {
    /// Requests of the host to base firmware.
    #[strum(serialize = "requests")]
    Requests,
    /// Requests that arrive from the peer.
    #[strum(serialize = "requests from the peer")]
    Arriving,
    /// Responses of base firmware to the host.
    #[strum(serialize = "responses")]
    Responses,
    /// Requests that leave to the peer.
    #[strum(serialize = "requests to the peer")]
    Leaving,
    /// The first transmit queue.
    #[strum(serialize = "transmit 0")]
    Transmit0,
    /// The second transmit queue.
    #[strum(serialize = "transmit 1")]
    Transmit1,
}

/// The transmit queues and their blocks of registers.
const TRANSMIT: [(QueueKind, &str); 2] =
    [(QueueKind::Transmit0, "txq0"), (QueueKind::Transmit1, "txq1")];

/// What the words of a queue say; none where they were not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueState {
    /// The Ethernet tile.
    pub at: EthId,
    /// The queue.
    pub kind: QueueKind,
    /// Whether chips without PCIe are reached over this tile.
    pub gateway: bool,
    /// Commands in a routing queue; null if it moved while it was read.
    pub depth: Option<u32>,
    /// Commands that it holds; null for a transmit queue.
    pub slots: Option<u32>,
    /// Requests that were taken and not answered, or packets that were begun and have not ended.
    pub in_flight: Option<u32>,
    /// Requests that were answered, or packets that have ended.
    pub done: Option<u32>,
    /// Errors of a routing queue, or packets that a transmit queue has sent again.
    pub errors: Option<u32>,
}

impl QueueKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether base firmware keeps it in L1.
    pub fn is_routing(self) -> bool {
        !matches!(self, Self::Transmit0 | Self::Transmit1)
    }
}

impl QueueState {
    /// Its depth in words: it may move while it is read; a transmit queue has none.
    pub fn depth_words(&self) -> String {
        match (self.depth, self.slots, self.done) {
            (Some(depth), Some(slots), _) => format!("{depth} of {slots}"),
            (None, Some(_), Some(_)) => "moving".to_owned(),
            _ => String::new(),
        }
    }
}

/// The Ethernet tiles over which chips without PCIe are reached.
fn gateways(state: &MeshState) -> BTreeSet<EthId> {
    let told = |chip: &decode::state::ChipState| {
        let known = chip.chip.gateway.iter().flatten();
        chip.gateways.iter().chain(known).copied().collect::<Vec<_>>()
    };
    state.chips.iter().flat_map(told).collect()
}

/// The tiles whose transmit queues are shown: gateways, and the linked tiles of a chip, or of all.
fn tiles(state: &MeshState, chip: Option<ChipId>) -> BTreeSet<EthId> {
    let ends = state.links.iter().flat_map(|link| [link.link.a, link.link.b]);
    let own = ends.filter(|end| chip.is_none_or(|chip| end.chip == chip));
    gateways(state).into_iter().chain(own).collect()
}

/// Where the words of one queue are.
struct Words {
    kind: QueueKind,
    /// The first word.
    at: NocAddr,
}

impl Words {
    /// The queues of a tile; those of base firmware only of a gateway.
    fn of(state: &MeshState, memory: &Snapshot, at: EthId, gateway: bool) -> Vec<Self> {
        let Some(tile) = state.eth(at).map(|tile| tile.xy) else { return Vec::new() };
        let place = |offset| NocAddr { chip: at.chip, tile, offset };
        let layout = state.layout();
        let blocks = TRANSMIT.into_iter().filter_map(|(kind, block)| {
            Some(Self { kind, at: place(layout.block(Space::Tile(TileKind::Eth), block)?) })
        });
        let (queues, l1) = (&layout.eth.queues, &layout.eth.l1);
        let pointer = memory.word(place(l1.queue_pointer.at)).unwrap_or(0);
        let base = layout.eth.routing.base_of(pointer);
        let routing = [
            (QueueKind::Requests, &queues.request),
            (QueueKind::Arriving, &queues.internal_in),
            (QueueKind::Responses, &queues.response),
            (QueueKind::Leaving, &queues.internal_out),
        ];
        let routing = routing.into_iter().filter(|_| gateway);
        let routing = routing.map(|(kind, queue)| Self { kind, at: place(base + queue.at) });
        routing.chain(blocks).collect()
    }

    fn word(&self, offset: u64) -> Span {
        Span { addr: NocAddr { offset: self.at.offset + offset, ..self.at }, len: 4 }
    }

    /// The words that tell its state: counters and indices of a routing queue, registers of another.
    fn spans(&self, state: &MeshState) -> Vec<Span> {
        let (queue, registers) = (&state.layout().eth.queue, &state.layout().registers.txq);
        if self.kind.is_routing() {
            let len = queue.read_index.at as u32 + 4;
            return vec![Span { addr: self.at, len }];
        }
        let words = [&registers.packet_starts, &registers.packet_ends, &registers.resends];
        words.iter().map(|register| self.word(register.at)).collect()
    }

    fn state(
        &self,
        state: &MeshState,
        memory: &Snapshot,
        (at, gateway): (EthId, bool),
    ) -> QueueState {
        let layout = state.layout();
        let word = |offset| memory.word(self.word(offset).addr).ok();
        let less = |more: Option<u32>, less: Option<u32>| Some(more?.wrapping_sub(less?));
        let (queue, registers) = (&layout.eth.queue, &layout.registers.txq);
        let (depth, slots, in_flight, done, errors);
        if self.kind.is_routing() {
            let routing = &layout.eth.routing;
            let held = less(word(queue.write_index.at), word(queue.read_index.at));
            // The write index is read before the read index: where commands pass between the two reads,
            // it is behind (7 of 4, by the modulus), and the depth is not known.
            let held = held.map(|held| held % routing.index_modulus.max(1));
            depth = held.filter(|held| *held <= routing.slots);
            slots = Some(routing.slots);
            let answered = [&queue.writes_answered, &queue.reads_answered];
            let requested = [&queue.writes_requested, &queue.reads_requested];
            let sum = |words: [&layouts::Entry; 2]| -> Option<u32> {
                words.iter().try_fold(0_u32, |sum, it| Some(sum.wrapping_add(word(it.at)?)))
            };
            done = sum(answered);
            in_flight = less(sum(requested), done);
            errors = word(queue.errors.at);
        } else {
            (depth, slots) = (None, None);
            done = word(registers.packet_ends.at);
            in_flight = less(word(registers.packet_starts.at), done);
            errors = word(registers.resends.at);
        }
        QueueState { at, kind: self.kind, gateway, depth, slots, in_flight, done, errors }
    }
}

fn words(
    state: &MeshState,
    memory: &Snapshot,
    chip: Option<ChipId>,
) -> Vec<((EthId, bool), Words)> {
    let gateways = gateways(state);
    let of = |at: EthId| {
        let gateway = gateways.contains(&at);
        Words::of(state, memory, at, gateway).into_iter().map(move |words| ((at, gateway), words))
    };
    tiles(state, chip).into_iter().flat_map(of).collect()
}

/// Returns what has to be read for the queues of all gateways and of the linked tiles of a chip, or of
/// all; `memory` tells where base firmware keeps its queues, once the pointers to them were read.
pub fn queue_spans(state: &MeshState, memory: &Snapshot, chip: Option<ChipId>) -> Vec<Span> {
    let pointer = state.layout().eth.l1.queue_pointer.at;
    let at = |(chip, tile): (ChipId, NocXy)| NocAddr { chip, tile, offset: pointer };
    let tiles = gateways(state).into_iter().filter_map(|end| Some((end.chip, state.eth(end)?.xy)));
    let pointers = tiles.map(|tile| Span { addr: at(tile), len: 4 });
    let words = words(state, memory, chip);
    pointers.chain(words.iter().flat_map(|(_, words)| words.spans(state))).collect()
}

/// Returns the queues of all gateways and of the linked tiles of a chip, or of all, as a snapshot shows
/// them.
pub fn queues(state: &MeshState, memory: &Snapshot, chip: Option<ChipId>) -> Vec<QueueState> {
    let words = words(state, memory, chip);
    words.iter().map(|(of, words)| words.state(state, memory, *of)).collect()
}
