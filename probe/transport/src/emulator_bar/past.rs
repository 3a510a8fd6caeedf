//! The past of an emulated mesh in this process.

use super::EmulatorBar;
use emulator::{
    Counts, EthPacket, EthPacketKind, History, HistoryLimits, HostTape, Journal, JournalError,
    NocWrite, Progress, TileRange, TravelError, Write, Writer,
};
use layouts::{ChipId, CoreKind, NocXy};
use machine::bar::OverCopy;
use machine::fault::EMULATED;
use machine::past::{
    PastChanges, PastError, PastPacket, PastProgress, PastWatcher, PastWrite, PastWriter,
    RecordedRun, WriteSearch,
};
use machine::snapshot::Span;
use machine::target::{Past, Target};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A [`Past`] over the history of an emulated mesh.
pub(crate) struct EmulatorPast {
    /// It learns from visits and searches, which has no effect on results.
    pub(super) history: Mutex<History>,
    /// The chips that the target knows, each with its index.
    pub(super) chips: Vec<(ChipId, usize)>,
    /// Makes a target of a copy of the mesh.
    pub(super) over: OverCopy,
}

impl EmulatorPast {
    /// Returns a copy, so that a long search keeps nobody waiting.
    fn copy(&self) -> History {
        self.history().clone()
    }

    /// Searches in a copy, and learns from it.
    fn search<T>(&self, search: impl FnOnce(&mut History) -> T) -> T {
        let mut copy = self.copy();
        let found = search(&mut copy);
        self.history().learn(&copy);
        found
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn range(&self, Span { addr, len }: &Span) -> Result<TileRange, PastError> {
        let chip = self.chips.iter().find(|(id, _)| *id == addr.chip);
        let (_, chip) = *chip.ok_or(PastError::NoMemory)?;
        let tile = (addr.tile.x, addr.tile.y);
        Ok(TileRange { chip, tile, addr: addr.offset, len: *len as usize })
    }

    /// Returns the end of a link as the target knows it.
    fn end(&self, (chip, channel): (usize, u8)) -> Option<(ChipId, u8)> {
        self.chips.iter().find(|(_, index)| *index == chip).map(|(id, _)| (*id, channel))
    }

    fn packet(&self, packet: &EthPacket) -> Option<PastPacket> {
        let EthPacket { from, to, queue, sent, arrives, len, kind } = *packet;
        let what = match kind {
            EthPacketKind::Write(addr) => format!("TXQ {queue}: {len} B to L1 {addr:#x}"),
            EthPacketKind::Register(addr) => format!("TXQ {queue}: to register {addr:#x}"),
            EthPacketKind::Raw => format!("TXQ {queue}: {len} B raw"),
        };
        let (from, to) = (self.end(from)?, self.end(to)?);
        Some(PastPacket { from, to, sent_cycles: sent, arrives_cycles: arrives, what })
    }

    fn write(&self, range: &TileRange, write: Write) -> PastWrite {
        let core = |hart: u8| core(range.tile, hart);
        let by = match write.by {
            Writer::Hart { hart, pc } => PastWriter::Core(core(hart), pc),
            Writer::Debugger { hart } => PastWriter::Debugger(core(hart)),
            Writer::Noc { from: (x, y), noc, packet } => {
                PastWriter::Noc { from: NocXy { x, y }, noc, packet: words(packet) }
            }
            Writer::Link { peer } => PastWriter::Link(peer.and_then(|peer| self.end(peer))),
            Writer::Mover => PastWriter::Mover,
            Writer::Host { device } => PastWriter::Host(device as u8),
            Writer::Dma { device } => PastWriter::Dma(device as u8),
            Writer::Reset => PastWriter::Reset,
        };
        let Write { cycle: at_cycles, addr: offset, old, new, .. } = write;
        PastWrite { at_cycles, offset, old, new, by }
    }
}

impl Past for EmulatorPast {
    fn cycles(&self) -> (u64, u64) {
        let history = self.history();
        (history.first(), history.end())
    }

    fn at(&self, cycles: u64, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Target>, PastError> {
        let mut history = self.history();
        let mesh = history.visit(cycles, &mut |it| watcher(progress(it))).map_err(error)?;
        let before = history.up_to(cycles);
        drop(history);
        Ok((self.over)(Box::new(EmulatorBar::copy(mesh, before))))
    }

    fn last_write(
        &self,
        span: Span,
        search: WriteSearch,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Option<PastWrite>, PastError> {
        let range = self.range(&span)?;
        let counts = if search.unchanged { Counts::AllWrites } else { Counts::Changes };
        let watcher = &mut |it| watcher(progress(it));
        let found = self.search(|it| it.last_write(range, counts, search.before_cycles, watcher));
        Ok(found.map_err(error)?.map(|write| self.write(&range, write)))
    }

    fn last_changes(
        &self,
        spans: &[Span],
        before_cycles: u64,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<PastChanges, PastError> {
        let ranges: Vec<TileRange> =
            spans.iter().map(|span| self.range(span)).collect::<Result<_, _>>()?;
        let watcher = &mut |it| watcher(progress(it));
        let found = self.search(|it| it.last_changes(&ranges, before_cycles, watcher));
        let found = found.map_err(error)?;
        let changes = found
            .changes
            .into_iter()
            .filter_map(|(which, write)| Some((which, self.write(ranges.get(which)?, write))));
        let changes = changes.collect();
        Ok(PastChanges { from_cycles: found.from, changes, bytes: found.bytes })
    }

    fn eth_packets(
        &self,
        (from, to): (u64, u64),
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Vec<PastPacket>, PastError> {
        let watcher = &mut |it| watcher(progress(it));
        let packets = self.copy().eth_packets(from, to, watcher).map_err(error)?;
        Ok(packets.iter().filter_map(|packet| self.packet(packet)).collect())
    }

    fn rerun(
        &self,
        run: &RecordedRun,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Box<dyn Past>, PastError> {
        let journal = Journal::from_bytes(&run.journal).map_err(unreadable)?;
        let tape = HostTape::from_bytes(&run.host_answers).map_err(unreadable)?;
        let mut watcher = |it| watcher(progress(it));
        let limits = HistoryLimits::default();
        let history = self.copy().execute((&journal, tape), run.end_cycles, limits, &mut watcher);
        let (history, checksum) = history.map_err(error)?;
        if checksum != run.checksum {
            return Err(PastError::Differs);
        }
        let (chips, over) = (self.chips.clone(), Arc::clone(&self.over));
        Ok(Box::new(Self { history: history.into(), chips, over }))
    }
}

/// Returns the core of a tile with this index.
pub(super) fn core((x, y): (u8, u8), hart: u8) -> CoreKind {
    let tile = EMULATED.layout().tile_at(NocXy { x, y });
    let core = tile.and_then(|tile| tile.kind.cores().get(usize::from(hart)));
    core.copied().unwrap_or(CoreKind::Erisc)
}

fn words(packet: NocWrite) -> &'static str {
    match packet {
        NocWrite::Write => "write",
        NocWrite::Inline => "inline write",
        NocWrite::Atomic => "atomic",
        NocWrite::ReadAnswer => "answer to a read",
        NocWrite::AtomicAnswer => "answer to an atomic",
    }
}

fn progress(Progress { from, to, cycle }: Progress) -> PastProgress {
    PastProgress { from_cycles: from, to_cycles: to, at_cycles: cycle }
}

fn unreadable(error: JournalError) -> PastError {
    PastError::Unreadable(error.to_string())
}

fn error(error: TravelError) -> PastError {
    match error {
        TravelError::Outside { first, last } => {
            PastError::Outside { first_cycles: first, last_cycles: last }
        }
        TravelError::NoSuchPlace => PastError::NoMemory,
        TravelError::Cancelled => PastError::Cancelled,
    }
}
