//! The past of an emulated mesh on the screens: its run is executed again up to a cycle, and a copy
//! of the mesh is read. The mesh itself stands still meanwhile.

mod search;

pub use search::{Found, Search, who_wrote};

use crate::words;
use decode::inspect::ReadSet;
use images::ImageMap;
use layouts::{CoreId, NocAddr};
use machine::history::Watched;
use machine::past::{PastError, PastWriter, WriteSearch};
use machine::snapshot::Span;
use machine::target::Past;
use probe::session::{Inspected, Session, StageChange};
use probe::spec::Moment;
use std::sync::Arc;

/// Longest range that is searched for its last change, in bytes.
const MOST_BYTES: u64 = 4096;

/// What is shown of the past.
pub struct PastView {
    past: Arc<dyn Past>,
    /// The times of the snapshots that were on screen, and of the moments that were gone to.
    pub times: Vec<u64>,
    /// The index of the moment on screen.
    pub position: usize,
    /// The snapshot at a cycle, and what it read.
    shown: Option<(u64, ReadSet, Inspected)>,
}

impl PastView {
    /// Begins at the last of these times, which are sorted.
    ///
    /// # Errors
    /// Why the target has no past.
    pub fn begin(session: &mut Session, times: &[u64]) -> Result<Self, String> {
        let past = session
            .target()
            .past()
            .map_err(|why| format!("{why}; `meshscope record FILE` keeps moments of any target"))?;
        let (first, last) = past.cycles();
        let mut times: Vec<u64> =
            times.iter().copied().filter(|time| (first..=last).contains(time)).collect();
        if times.is_empty() {
            times.push(last);
        }
        let position = times.len() - 1;
        Ok(Self { past: past.into(), times, position, shown: None })
    }

    /// Returns the cycle that is shown.
    pub fn cycles(&self) -> u64 {
        self.times.get(self.position).copied().unwrap_or(0)
    }

    /// Goes to the snapshot before or after; returns false behind the last one.
    pub fn step(&mut self, by: isize) -> bool {
        let to = self.position.saturating_add_signed(by);
        self.position = to.min(self.times.len() - 1);
        to < self.times.len()
    }

    /// Goes to a cycle.
    ///
    /// # Errors
    /// The past that is kept does not contain it.
    pub fn go_to(&mut self, moment: Moment) -> Result<(), String> {
        let (first, last) = self.past.cycles();
        let moment = match moment {
            Moment::Number(number) => self.times.get(number).map_or(moment, |it| Moment::At(*it)),
            time => time,
        };
        let Some(to) = moment.cycle_in((first, last)) else {
            let (first, last) = (words::cycles(first), words::cycles(last));
            return Err(format!("the past of the mesh is kept from {first} to {last}"));
        };
        self.position = match self.times.binary_search(&to) {
            Ok(at) => at,
            Err(at) => {
                self.times.insert(at, to);
                at
            }
        };
        Ok(())
    }

    /// Begins to search for the last change of a word or member.
    ///
    /// # Errors
    /// Something larger is selected.
    pub fn last_change(&self, watched: &[Watched]) -> Result<Search, String> {
        let small = |it: &&Watched| it.range.end.saturating_sub(it.range.start) <= MOST_BYTES;
        let selected = watched.first().filter(small).and_then(|it| Some((it, it.tile?)));
        let Some((watched, tile)) = selected else {
            return Err("select a word on the core screen: its last change is searched".into());
        };
        let addr = NocAddr { chip: watched.chip, tile, offset: watched.range.start };
        let len = (watched.range.end - watched.range.start) as u32;
        // The cycle right after a change shows it: the one before that is searched next.
        let search =
            WriteSearch { before_cycles: self.cycles().saturating_sub(1), unchanged: false };
        let past = Arc::clone(&self.past);
        Ok(Search::begin(format!("a change of {addr}"), move |watcher| {
            let found = past.last_write(Span { addr, len }, search, watcher);
            let found = found.map_err(|error: PastError| error.to_string())?;
            let none = || format!("{addr} did not change before in the past that is kept");
            let shown_at = Some(found.ok_or_else(none)?.at_cycles + 1);
            Ok(Found { notice: None, shown_at })
        }))
    }

    /// Begins to search for the last change of the stage of a party on these cores; `words` says what
    /// it is.
    pub fn last_stage(
        &self,
        cores: Vec<CoreId>,
        images: ImageMap,
        words: fn(&StageChange) -> String,
    ) -> Search {
        let (past, before) = (Arc::clone(&self.past), self.cycles());
        Search::begin("a change of the stage".to_owned(), move |watcher| {
            let found = Session::stage_before(past.as_ref(), images, &cores, before, watcher)?;
            let none = || "no stage of what is selected changed before in the past that is kept";
            let found = found.ok_or_else(none)?;
            Ok(Found { notice: Some(words(&found)), shown_at: Some(found.at_cycles) })
        })
    }

    /// Returns the snapshot of the moment. A copy is read once: reading takes time in it.
    ///
    /// # Errors
    /// The moment cannot be executed again.
    pub fn inspect(
        &mut self,
        session: &mut Session,
        read_set: &ReadSet,
    ) -> Result<Inspected, String> {
        let cycles = self.cycles();
        if let Some((at, read, inspected)) = &self.shown
            && (*at, read) == (cycles, read_set)
        {
            return Ok(inspected.clone());
        }
        let copy = self.past.at(cycles, &mut |_| true).map_err(|error| error.to_string())?;
        let inspected = session.inspect_instead(copy, read_set);
        self.shown = Some((cycles, read_set.clone(), inspected.clone()));
        Ok(inspected)
    }
}

/// Returns who wrote, in words.
pub fn writer(by: &PastWriter) -> String {
    match by {
        PastWriter::Core(core, pc) => format!("{}, instruction at {pc:#x}", core.name()),
        PastWriter::Debugger(core) => format!("a debugger, through {}", core.name()),
        PastWriter::Noc { from, noc, packet } => format!("NoC {noc} {packet} from tile {from}"),
        PastWriter::Link(Some((chip, channel))) => format!("the Ethernet peer {chip}:e{channel}"),
        PastWriter::Link(None) => "the Ethernet peer".to_owned(),
        PastWriter::Mover => "the mover of the tile".to_owned(),
        PastWriter::Host(device) => format!("the host, over PCIe device {device}"),
        PastWriter::Dma(device) => format!("the DMA engine of PCIe device {device}"),
        PastWriter::Reset => "a reset of the chip".to_owned(),
    }
}

/// Returns a word as a number, other bytes as they are in memory.
pub fn value(bytes: &[u8]) -> String {
    match <[u8; 4]>::try_from(bytes) {
        Ok(word) => format!("{:#010x}", u32::from_le_bytes(word)),
        Err(_) => words::hex(bytes),
    }
}
