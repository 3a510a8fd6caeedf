//! Requests over the NoC that a tile has sent and that were not answered, by the words of its network
//! interfaces.

use layouts::{ChipLayout, NocAddr, NocXy, Space, TileKind};
use machine::place::Place;
use machine::snapshot::{Snapshot, Span};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Reads.
    Read,
    /// Writes that are acknowledged.
    Write,
    /// Atomics.
    Atomic,
}

/// Transaction ids of a network interface.
const IDS: u32 = 16;
/// Bits of a command buffer's control word (wormhole.md 3.3).
const IS_ATOMIC: u32 = 1;
const IS_WRITE: u32 = 1 << 1;
const IS_MULTICAST: u32 = 1 << 5;
/// The blocks of the network interfaces, by their NoC.
const BLOCKS: [&str; 2] = ["niu0", "niu1"];

/// The words of a tile's network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its NoC.
    pub noc: usize,
    /// The counts of answers and of words sent.
    pub answers: Span,
    /// The counters of requests outstanding, by transaction id.
    pub outstanding: Span,
    /// The command buffers up to the control word: the rest does not say where a request went.
    pub commands: Vec<Span>,
}

/// Requests of a transaction id that were not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The transaction id.
    pub id: u32,
    /// How many.
    pub count: u8,
    /// The tile and the address to which the last one went, if exactly one command buffer tells.
    pub to: Option<(NocXy, u64)>,
}

impl Interface {
    /// Returns the interface of a tile with a NoC and a block of registers.
    fn new(layout: &ChipLayout, place: Place, (noc, block): (usize, u64)) -> Self {
        let span = |at, len| Span { addr: place.at(at), len };
        let counters = block + layout.niu.counter.at;
        let outstanding = layout.niu_counters.outstanding.at;
        let buffers = &layout.niu.command_buffer;
        let command =
            |number| span(block + buffers.nth(number), (layout.niu_command.ctrl.at + 4) as u32);
        Self {
            noc,
            answers: span(counters, outstanding as u32),
            outstanding: span(counters + outstanding, 4 * IDS),
            commands: (0..buffers.count).map(command).collect(),
        }
    }

    /// Returns those of a tile.
    pub fn of_tile(layout: &ChipLayout, place: Place, kind: TileKind) -> Vec<Self> {
        let block = |(noc, name): (usize, &&str)| {
            let block = layout.block(Space::Tile(kind), name)?;
            Some(Self::new(layout, place, (noc, block)))
        };
        BLOCKS.iter().enumerate().filter_map(block).collect()
    }

    /// Returns the words that tell which requests were not answered: where they went only if a snapshot
    /// shows that there are any.
    pub fn spans(self, snapshot: &Snapshot) -> Vec<Span> {
        let counts = snapshot.bytes(self.outstanding.addr, self.outstanding.len);
        let any = counts.is_ok_and(|bytes| bytes.iter().any(|byte| *byte != 0));
        let commands = if any { self.commands } else { Vec::new() };
        [self.answers, self.outstanding].into_iter().chain(commands).collect()
    }

    /// Returns the one kind of request of which more were sent than answered, if the counts were read.
    fn unanswered(&self, layout: &ChipLayout, snapshot: &Snapshot) -> Option<Request> {
        let counters = &layout.niu_counters;
        let count = |at: u64| {
            let addr = NocAddr { offset: self.answers.addr.offset + at, ..self.answers.addr };
            snapshot.word(addr).ok()
        };
        let kinds = [
            (Request::Read, counters.reads_sent.at, counters.read_responses_received.at),
            (Request::Write, counters.nonposted_writes_sent.at, counters.write_acks_received.at),
            (
                Request::Atomic,
                counters.nonposted_atomics_sent.at,
                counters.atomic_responses_received.at,
            ),
        ];
        let open = kinds
            .into_iter()
            .filter(|(_, sent, answered)| count(*sent) != count(*answered))
            .map(|(kind, ..)| kind);
        let open: Vec<Request> = open.collect();
        if let [kind] = open.as_slice() { Some(*kind) } else { None }
    }

    /// Returns the requests that were not answered, of this kind where a command buffer tells that;
    /// none if the counters were not read.
    pub fn open(
        &self,
        layout: &ChipLayout,
        snapshot: &Snapshot,
        request: Option<Request>,
    ) -> Option<Vec<Open>> {
        let request = request.or_else(|| self.unanswered(layout, snapshot));
        let bytes = snapshot.bytes(self.outstanding.addr, self.outstanding.len).ok()?;
        let counts = bytes.chunks(4).filter_map(|word| word.first().copied());
        let open = (0..).zip(counts).filter(|(_, count)| *count != 0);
        let found = open.map(|(id, count)| {
            let ends = self.commands.iter().filter_map(|command| {
                let bytes = snapshot.bytes(command.addr, command.len).ok()?;
                endpoint(layout, bytes, (self.noc, id), request)
            });
            // Two buffers with requests of one kind and id do not tell which came last.
            let ends: Vec<_> = ends.collect();
            let to = if let [end] = ends.as_slice() { Some(*end) } else { None };
            Open { id, count, to }
        });
        Some(found.collect())
    }
}

/// Returns the tile and the address to which the last request of a command buffer went, if it is of
/// this kind and has this transaction id.
fn endpoint(
    layout: &ChipLayout,
    command: &[u8],
    (noc, id): (usize, u32),
    request: Option<Request>,
) -> Option<(NocXy, u64)> {
    // It was never used.
    if command.iter().all(|byte| *byte == 0) {
        return None;
    }
    let registers = &layout.niu_command;
    let word = |at: u64| {
        let bytes = command.get(at as usize..at as usize + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let control = word(registers.ctrl.at)?;
    let made = match (control & IS_ATOMIC != 0, control & IS_WRITE != 0) {
        (true, _) => Request::Atomic,
        (false, true) => Request::Write,
        (false, false) => Request::Read,
    };
    let own_id = word(registers.packet_tag.at)? >> 10 & 0xF;
    if request.is_some_and(|request| made != request) || own_id != id || control & IS_MULTICAST != 0
    {
        return None;
    }
    let (low, mid) = if made == Request::Write {
        (word(registers.ret_lo.at)?, word(registers.ret_mid.at)?)
    } else {
        (word(registers.targ_lo.at)?, word(registers.targ_mid.at)?)
    };
    let (x, y) = ((mid >> 4 & 0x3F) as u8, (mid >> 10 & 0x3F) as u8);
    // NoC 1 counts from the opposite corner.
    let (x, y) = if noc == 0 { (x, y) } else { (9u8.checked_sub(x)?, 11u8.checked_sub(y)?) };
    let tile = NocXy { x, y };
    layout.tile_at(tile)?;
    Some((tile, u64::from(mid & 0xF) << 32 | u64::from(low)))
}
