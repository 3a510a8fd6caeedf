//! Requests over the NoC that a tile has sent and that were not answered, by the words of its network
//! interfaces.

use layouts::{ChipId, ChipLayout, NocAddr, NocXy, Space, TileKind};
use machine::place::Place;
use machine::snapshot::{Snapshot, Span};
use machine::target::Mesh;

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

/// Bytes of a flit (wormhole.md 3).
pub const FLIT_BYTES: u64 = 32;
/// Transaction ids of a network interface.
const IDS: u32 = 16;
/// Bytes of all counts of what an interface sends and is answered (wormhole.md 3.4).
const ALL_COUNTS: u32 = 64;
/// Bits of a command buffer's control word (wormhole.md 3.3).
const IS_ATOMIC: u32 = 1;
const IS_WRITE: u32 = 1 << 1;
const IS_INLINE: u32 = 1 << 3;
const IS_MULTICAST: u32 = 1 << 5;
/// The opcode of an atomic (wormhole.md 3.3), and that of the one which changes nothing if it fails.
const OPCODE: (u32, u32) = (12, 7);
const COMPARE_AND_SWAP: u32 = 4;
/// The blocks of the network interfaces, by their NoC.
const BLOCKS: [&str; 2] = ["niu0", "niu1"];

/// The words of a tile's network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its NoC.
    pub noc: usize,
    /// The counts of requests and of answers: registers are read word by word, so that these are no more
    /// than tell whether any was not answered.
    pub counts: [Span; 2],
    /// The counters of requests outstanding, by transaction id.
    pub outstanding: Span,
    /// The command buffers up to the length: the rest does not say where a request went.
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

/// A request that was sent again and again, and that changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How often.
    pub count: u32,
    /// The tile and the address to which it went, if exactly one command buffer tells.
    pub to: Option<(NocXy, u64)>,
}

impl Interface {
    /// Returns the interface of a tile with a NoC and a block of registers.
    fn new(layout: &ChipLayout, place: Place, (noc, block): (usize, u64)) -> Self {
        let span = |at, len| Span { addr: place.at(at), len };
        let counters = block + layout.niu.counter.at;
        let register = &layout.niu_counters;
        let outstanding = register.outstanding.at;
        let writes = register.nonposted_writes_sent.at;
        let buffers = &layout.niu.command_buffer;
        let command = |number| {
            span(block + buffers.nth(number), (layout.niu_command.at_len_be.at + 4) as u32)
        };
        Self {
            noc,
            counts: [
                span(counters, (register.nonposted_atomics_sent.at + 4) as u32),
                span(counters + writes, 4),
            ],
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

    /// Returns those of each tile with cores of a chip, compute tiles first.
    pub fn of_chip(mesh: &Mesh, chip: ChipId) -> impl Iterator<Item = (Place, Vec<Self>)> {
        let layout = mesh.layout();
        let ethernet = layout.grid().iter().filter(|tile| tile.kind == TileKind::Eth);
        let ethernet = ethernet.map(move |tile| (Place { chip, tile: tile.xy }, TileKind::Eth));
        let tiles = mesh.compute_tiles(chip).map(|place| (place, TileKind::Tensix)).chain(ethernet);
        tiles.map(|(place, kind)| (place, Self::of_tile(layout, place, kind)))
    }

    /// Returns the counts of the data that the tile has received for its reads and has sent with its writes, in
    /// flits of [`FLIT_BYTES`].
    pub fn data(&self, layout: &ChipLayout) -> impl Iterator<Item = Span> + use<> {
        let register = &layout.niu_counters;
        let counts = [
            register.read_words_received.at,
            register.nonposted_write_words_sent.at,
            register.posted_write_words_sent.at,
        ];
        let [Span { addr, .. }, _] = self.counts;
        let span = move |at| Span { addr: NocAddr { offset: addr.offset + at, ..addr }, len: 4 };
        counts.into_iter().map(span)
    }

    /// Returns the words that tell which requests were not answered: by transaction id only if a snapshot
    /// shows that there are any, and where they went only if it shows the ids; only the counts if it need
    /// not be known `which`.
    pub fn spans(self, layout: &ChipLayout, snapshot: &Snapshot, which: bool) -> Vec<Span> {
        let mut spans = self.counts.to_vec();
        if which && self.owed(layout, snapshot).is_some_and(|owed| !owed.is_empty()) {
            let counts = snapshot.bytes(self.outstanding.addr, self.outstanding.len);
            let any = counts.is_ok_and(|bytes| bytes.iter().any(|byte| *byte != 0));
            spans.push(self.outstanding);
            spans.extend(self.commands.iter().filter(|_| any));
        }
        spans
    }

    /// Returns the kinds of request of which more were sent than answered, or, of multicasts, fewer; none if
    /// the counts were not read.
    fn owed(&self, layout: &ChipLayout, snapshot: &Snapshot) -> Option<Vec<Request>> {
        let counters = &layout.niu_counters;
        let first = self.counts.first()?.addr;
        let count = |at: u64| snapshot.word(NocAddr { offset: first.offset + at, ..first }).ok();
        let kinds = [
            (Request::Read, counters.reads_sent.at, counters.read_responses_received.at),
            (Request::Write, counters.nonposted_writes_sent.at, counters.write_acks_received.at),
            (
                Request::Atomic,
                counters.nonposted_atomics_sent.at,
                counters.atomic_responses_received.at,
            ),
        ];
        let counts =
            kinds.map(|(kind, sent, answered)| Some((kind, count(sent)?, count(answered)?)));
        let counts = counts.into_iter().collect::<Option<Vec<_>>>()?;
        let owed = counts.into_iter().filter(|(_, sent, answered)| sent != answered);
        Some(owed.map(|(kind, ..)| kind).collect())
    }

    /// Returns the words that tell which request is sent again and again: the counts, and the whole command
    /// buffers.
    pub fn repeats(&self, layout: &ChipLayout) -> Vec<Span> {
        let len = (layout.niu_command.at_data.at + 4) as u32;
        let commands = self.commands.iter().map(|command| Span { len, ..*command });
        let first = self.counts.first().map(|first| Span { len: ALL_COUNTS, ..*first });
        first.into_iter().chain(commands).collect()
    }

    /// Returns the request that was sent again and again between snapshots, the oldest first: a read, an
    /// inline write or a compare-and-swap, the same in all. None if others were sent too, or words are
    /// missing.
    pub fn repeated(
        &self,
        layout: &ChipLayout,
        harvested_rows: &[u8],
        snapshots: &[&Snapshot],
    ) -> Option<Repeated> {
        let [answers, commands @ ..] = &*self.repeats(layout) else { return None };
        let read = |span: &Span| {
            let of = |it: &&Snapshot| it.bytes(span.addr, span.len).ok().map(<[u8]>::to_vec);
            snapshots.iter().map(of).collect::<Option<Vec<_>>>()
        };
        let counts = read(answers)?;
        let (first, last) = (counts.first()?, counts.last()?);
        let mut commands: Vec<Vec<Vec<u8>>> = commands.iter().map(read).collect::<Option<_>>()?;
        for command in commands.iter_mut().flatten() {
            untranslate(layout, harvested_rows, command);
        }
        if commands.iter().any(|same| same.iter().any(|now| Some(now) != same.first())) {
            return None;
        }
        let counters = &layout.niu_counters;
        let sent = |counters: &[u64]| -> Option<u32> {
            let more =
                counters.iter().map(|at| Some(word(last, *at)?.wrapping_sub(word(first, *at)?)));
            more.sum()
        };
        let kinds = [
            (Request::Read, sent(&[counters.reads_sent.at])?),
            (
                Request::Write,
                sent(&[counters.nonposted_writes_sent.at, counters.posted_writes_sent.at])?,
            ),
            (
                Request::Atomic,
                sent(&[counters.nonposted_atomics_sent.at, counters.posted_atomics_sent.at])?,
            ),
        ];
        let used = commands
            .iter()
            .filter_map(|same| same.first())
            .filter_map(|command| Some((kind_of(layout, command)?, command)));
        let used = used.filter(|(kind, _)| !kinds.contains(&(*kind, 0)));
        let used: Vec<_> = used.collect();
        if !used.iter().all(|(_, command)| changes_nothing(layout, command)) {
            return None;
        }
        let count = kinds.iter().map(|(_, count)| count).sum();
        let ends = used.iter().filter_map(|(kind, it)| endpoint(layout, it, self.noc, *kind));
        let ends: Vec<_> = ends.collect();
        let to = if let [end] = ends.as_slice() { Some(*end) } else { None };
        Some(Repeated { count, to }).filter(|it| it.count > 0)
    }

    /// Returns the registers by which [`sent_to_one`](Self::sent_to_one) chooses command buffers.
    pub fn heads<'a>(&'a self, layout: &'a ChipLayout) -> impl Iterator<Item = Span> + 'a {
        let registers = &layout.niu_command;
        let first = registers.ctrl.at;
        self.commands.iter().map(move |command| Span {
            addr: NocAddr { offset: command.addr.offset + first, ..command.addr },
            len: (registers.at_len_be.at + 4 - first) as u32,
        })
    }

    /// Returns the command buffers whose last request went to one tile, and is of a kind of which some
    /// were not answered.
    pub fn sent_to_one(&self, layout: &ChipLayout, snapshot: &Snapshot) -> Vec<Span> {
        let Some(owed) = self.owed(layout, snapshot) else { return Vec::new() };
        let first = layout.niu_command.ctrl.at as usize;
        let is_one = |head: Span| {
            let head = snapshot.bytes(head.addr, head.len).ok()?;
            let command = [&vec![0; first], head].concat();
            let one = word(&command, layout.niu_command.ctrl.at)? & IS_MULTICAST == 0;
            Some(one && owed.contains(&kind_of(layout, &command)?))
        };
        let commands = self.commands.iter().zip(self.heads(layout));
        commands.filter_map(|(command, head)| is_one(head)?.then_some(*command)).collect()
    }

    /// Returns the requests that were not answered, of this kind where a command buffer tells that;
    /// none if the counters were not read.
    pub fn open(
        &self,
        layout: &ChipLayout,
        snapshot: &Snapshot,
        request: Option<Request>,
    ) -> Option<Vec<Open>> {
        let owed = self.owed(layout, snapshot)?;
        if owed.is_empty() {
            return Some(Vec::new());
        }
        let only = if let [kind] = owed.as_slice() { Some(*kind) } else { None };
        let request = request.or(only);
        let bytes = snapshot.bytes(self.outstanding.addr, self.outstanding.len).ok()?;
        let counts = bytes.chunks(4).filter_map(|word| word.first().copied());
        let open = (0..).zip(counts).filter(|(_, count)| *count != 0);
        let found = open.map(|(id, count)| {
            let ends = self.commands.iter().filter_map(|command| {
                let bytes = snapshot.bytes(command.addr, command.len).ok()?;
                let made = kind_of(layout, bytes)?;
                let is_it = id_of(layout, bytes)? == id && request.is_none_or(|it| it == made);
                endpoint(layout, bytes, self.noc, made).filter(|_| is_it)
            });
            // Two buffers with requests of one kind and id do not tell which came last.
            let ends: Vec<_> = ends.collect();
            let to = if let [end] = ends.as_slice() { Some(*end) } else { None };
            Open { id, count, to }
        });
        Some(found.collect())
    }
}

/// Replaces the coordinates in a command buffer by those that the network interface puts there when the command
/// is sent: until then it has what the kernel has written, the translated ones.
fn untranslate(layout: &ChipLayout, harvested_rows: &[u8], command: &mut [u8]) {
    let registers = &layout.niu_command;
    for at in [registers.targ_mid.at, registers.ret_mid.at] {
        let Some(mid) = word(command, at) else { continue };
        let (x, y) = ((mid >> 4 & 0x3F) as u8, (mid >> 10 & 0x3F) as u8);
        let tile = layout.tiles.untranslated(x, y, harvested_rows);
        if let Some(NocXy { x, y }) = tile.filter(|it| (it.x, it.y) != (x, y)) {
            let mid = mid & 0xF | u32::from(x) << 4 | u32::from(y) << 10 | mid >> 16 << 16;
            command[at as usize..at as usize + 4].copy_from_slice(&mid.to_le_bytes());
        }
    }
}

/// Returns a word of a range.
fn word(bytes: &[u8], at: u64) -> Option<u32> {
    let bytes = bytes.get(at as usize..at as usize + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns the kind of the last request of a command buffer; none if it was never used: tt-metal's firmware
/// prepares buffers, and leaves their length 0.
fn kind_of(layout: &ChipLayout, command: &[u8]) -> Option<Request> {
    let control = word(command, layout.niu_command.ctrl.at)?;
    word(command, layout.niu_command.at_len_be.at).filter(|len| *len != 0)?;
    Some(match (control & IS_ATOMIC != 0, control & IS_WRITE != 0) {
        (true, _) => Request::Atomic,
        (false, true) => Request::Write,
        (false, false) => Request::Read,
    })
}

/// Whether the last request of a command buffer changes nothing if it is sent once more.
fn changes_nothing(layout: &ChipLayout, command: &[u8]) -> bool {
    let registers = &layout.niu_command;
    match kind_of(layout, command) {
        Some(Request::Read) | None => true,
        Some(Request::Write) => {
            word(command, registers.ctrl.at).is_some_and(|it| it & IS_INLINE != 0)
        }
        Some(Request::Atomic) => word(command, registers.at_len_be.at)
            .is_some_and(|it| it >> OPCODE.0 & OPCODE.1 == COMPARE_AND_SWAP),
    }
}

/// Returns the transaction id of the last request of a command buffer.
fn id_of(layout: &ChipLayout, command: &[u8]) -> Option<u32> {
    Some(word(command, layout.niu_command.packet_tag.at)? >> 10 & 0xF)
}

/// Returns the tile and the address to which the last request of a command buffer went, which is of this
/// kind.
fn endpoint(
    layout: &ChipLayout,
    command: &[u8],
    noc: usize,
    made: Request,
) -> Option<(NocXy, u64)> {
    let registers = &layout.niu_command;
    if word(command, registers.ctrl.at)? & IS_MULTICAST != 0 {
        return None;
    }
    let (low, mid) = if made == Request::Write {
        (word(command, registers.ret_lo.at)?, word(command, registers.ret_mid.at)?)
    } else {
        (word(command, registers.targ_lo.at)?, word(command, registers.targ_mid.at)?)
    };
    let (x, y) = ((mid >> 4 & 0x3F) as u8, (mid >> 10 & 0x3F) as u8);
    // NoC 1 counts from the opposite corner.
    let (x, y) = if noc == 0 { (x, y) } else { (9u8.checked_sub(x)?, 11u8.checked_sub(y)?) };
    let tile = NocXy { x, y };
    layout.tile_at(tile)?;
    Some((tile, u64::from(mid & 0xF) << 32 | u64::from(low)))
}

#[cfg(test)]
mod tests {
    use super::untranslate;
    use layouts::ChipKind;

    #[test]
    fn a_command_that_is_being_written_has_the_coordinates_of_the_one_that_was_sent() {
        let layout = ChipKind::Wormhole.layout();
        let at = layout.niu_command.targ_mid.at as usize;
        let command = |mid: u32| {
            let mut command = vec![0; 40];
            command[at..at + 4].copy_from_slice(&mid.to_le_bytes());
            untranslate(layout, &[8], &mut command);
            command
        };
        // 23-20 is 7-3 where row 8 is fused off; what is not translated stays, and so do other bits.
        assert_eq!(command(20 << 10 | 23 << 4 | 5), command(3 << 10 | 7 << 4 | 5));
        assert_ne!(command(3 << 10 | 7 << 4 | 5), command(3 << 10 | 6 << 4 | 5));
    }
}
