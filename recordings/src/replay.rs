//! A recording as a target: reads are answered from the current moment.

use crate::error::RecordingError;
use crate::file::{self, Attachment};
use crate::format::Moment;
use layouts::NocAddr;
use machine::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};
use machine::target::{Abilities, Mesh, Target};
use std::path::Path;

/// An open recording. Its time changes only through [`Target::pass`] and [`Replay::seek`].
#[derive(Debug)]
pub struct Replay {
    name: String,
    recorded_target: String,
    made_by: String,
    abilities: Abilities,
    mesh: Mesh,
    attachments: Vec<Attachment>,
    problems: Vec<String>,
    times: Vec<u64>,
    moments: Vec<Snapshot>,
    position: usize,
    cycles: u64,
}

impl Replay {
    /// Opens a recording, or the undamaged part of one (see [`Replay::problems`]).
    ///
    /// # Errors
    /// If the file is not a recording, is newer than this version, or is damaged before its first
    /// moment.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let contents = file::read(path)?;
        let times: Vec<u64> = contents.moments.iter().map(|moment| moment.cycles).collect();
        let session = contents.session;
        Ok(Self {
            name: path.display().to_string(),
            recorded_target: session.target,
            made_by: session.made_by,
            // Time passes on request.
            abilities: Abilities { stepped_time: true, ..session.abilities },
            mesh: session.mesh,
            attachments: contents.attachments,
            problems: contents.problems,
            cycles: times.first().copied().unwrap_or(0),
            times,
            moments: contents.moments.into_iter().map(Moment::into_snapshot).collect(),
            position: 0,
        })
    }

    /// Returns the target time of each moment, in device cycles, in recorded order.
    pub fn moments(&self) -> &[u64] {
        &self.times
    }

    /// Returns the index of the current moment.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes to a moment; an index past the end means the last moment.
    pub fn seek(&mut self, index: usize) {
        self.position = index.min(self.times.len().saturating_sub(1));
        self.cycles = self.times.get(self.position).copied().unwrap_or(0);
    }

    /// Returns the whole snapshot of the current moment, as recorded.
    pub fn moment(&self) -> Option<&Snapshot> {
        self.moments.get(self.position)
    }

    /// Returns the words that opened the recorded target, such as `emulator:n300`.
    pub fn recorded_target(&self) -> &str {
        &self.recorded_target
    }

    /// Returns the version of the meshscope that recorded.
    pub fn made_by(&self) -> &str {
        &self.made_by
    }

    /// Returns the attached files, such as ELF images.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// Returns messages about damaged parts of the file, which are not shown.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl Target for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    fn read(&mut self, plan: &Plan) -> Snapshot {
        self.moment().map(|moment| excerpt(moment, plan)).unwrap_or_default()
    }

    fn write(&mut self, _addr: NocAddr, _bytes: &[u8]) -> Result<(), AccessError> {
        Err(AccessError::Refused("a recording cannot be written to".into()))
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(self.cycles)
    }

    /// Goes to the last moment that is not later. Time stops at the last moment.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        let end = self.times.last().copied().unwrap_or(0);
        self.cycles = self.cycles.saturating_add(cycles).min(end);
        while self.times.get(self.position + 1).is_some_and(|time| *time <= self.cycles) {
            self.position += 1;
        }
        Ok(())
    }
}

/// Returns the part of a snapshot in a plan, with gaps where the snapshot has no bytes.
fn excerpt(moment: &Snapshot, plan: &Plan) -> Snapshot {
    let mut part = Snapshot::default();
    for span in merged(plan) {
        let end = span.addr.offset.saturating_add(u64::from(span.len));
        let mut at = span.addr.offset;
        while at < end {
            at = step(moment, NocAddr { offset: at, ..span.addr }, end, &mut part);
        }
    }
    part
}

/// Takes one piece or gap at `addr`; returns the start of the next one.
fn step(moment: &Snapshot, addr: NocAddr, end: u64, part: &mut Snapshot) -> u64 {
    let same_tile = |other: NocAddr| (other.chip, other.tile) == (addr.chip, addr.tile);
    let after = moment.pieces.partition_point(|piece| piece.addr <= addr);
    let before =
        after.checked_sub(1).and_then(|i| moment.pieces.get(i)).filter(|p| same_tile(p.addr));
    if let Some(piece) = before
        && let Some(bytes) = piece.bytes.get((addr.offset - piece.addr.offset) as usize..)
        && !bytes.is_empty()
    {
        let len = (end - addr.offset).min(bytes.len() as u64);
        let bytes = bytes.get(..len as usize).unwrap_or_default();
        append(part, piece, addr, bytes);
        return addr.offset + len;
    }
    let next = moment.pieces.get(after).filter(|piece| same_tile(piece.addr));
    let stop = next.map_or(end, |piece| piece.addr.offset.min(end));
    let (reason, stop) = reason(moment, addr, stop);
    let len = (stop - addr.offset) as u32;
    part.gaps.push(Gap { span: Span { addr, len }, reason });
    stop
}

/// Appends bytes, joined to the piece before if contiguous, so that a decoder whose ranges differ
/// from the recorder's still finds its bytes in one piece. The joined piece keeps the older times.
fn append(part: &mut Snapshot, piece: &Piece, addr: NocAddr, bytes: &[u8]) {
    if let Some(last) = part.pieces.last_mut()
        && (last.addr.chip, last.addr.tile) == (addr.chip, addr.tile)
        && last.addr.offset.saturating_add(last.bytes.len() as u64) == addr.offset
    {
        last.bytes.extend(bytes.iter().copied());
        last.target_cycles = last.target_cycles.min(piece.target_cycles);
        last.host_micros = last.host_micros.min(piece.host_micros);
    } else {
        let (target_cycles, host_micros) = (piece.target_cycles, piece.host_micros);
        part.pieces.push(Piece { addr, target_cycles, host_micros, bytes: bytes.into() });
    }
}

/// Returns why bytes from `addr` on are missing, and the end of that reason (at most `stop`).
fn reason(moment: &Snapshot, addr: NocAddr, stop: u64) -> (AccessError, u64) {
    let gaps = moment
        .gaps
        .iter()
        .filter(|gap| (gap.span.addr.chip, gap.span.addr.tile) == (addr.chip, addr.tile));
    let mut nearest = stop;
    for gap in gaps {
        let (start, len) = (gap.span.addr.offset, u64::from(gap.span.len));
        let end = start.saturating_add(len);
        if (start..end).contains(&addr.offset) {
            return (gap.reason.clone(), end.min(stop));
        }
        if start > addr.offset {
            nearest = nearest.min(start);
        }
    }
    (AccessError::NotRecorded, nearest)
}

/// Returns the plan's ranges sorted, with overlapping and adjacent ones joined: the pieces of a
/// snapshot never overlap.
fn merged(plan: &Plan) -> Vec<Span> {
    let mut spans: Vec<Span> = plan.spans.iter().copied().filter(|span| span.len > 0).collect();
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        let end = span.addr.offset.saturating_add(u64::from(span.len));
        if let Some(last) = joined.last_mut()
            && (last.addr.chip, last.addr.tile) == (span.addr.chip, span.addr.tile)
            && span.addr.offset <= last.addr.offset.saturating_add(u64::from(last.len))
            && let Ok(len) = u32::try_from(end - last.addr.offset)
        {
            last.len = last.len.max(len);
        } else {
            joined.push(span);
        }
    }
    joined
}
