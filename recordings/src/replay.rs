//! A recording as a target: reads answer from the moment at which it stands.

use crate::error::RecordingError;
use crate::file::{self, Attachment};
use crate::format::Moment;
use layouts::NocAddr;
use machine::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};
use machine::target::{Abilities, Mesh, Target};
use std::path::Path;

/// An opened recording. Time stands still until [`Target::pass`] or [`Replay::seek`] moves it.
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
    /// Opens a recording; of a file that was cut off or spoilt, what is whole (see [`Replay::problems`]).
    ///
    /// # Errors
    /// When the file is no recording, is newer than this program, or is damaged before its first moment.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let contents = file::read(path)?;
        let times: Vec<u64> = contents.moments.iter().map(|moment| moment.cycles).collect();
        let session = contents.session;
        Ok(Self {
            name: path.display().to_string(),
            recorded_target: session.target,
            made_by: session.made_by,
            // The past passes when asked to.
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

    /// Target time of each moment, in device cycles, in order of recording.
    pub fn moments(&self) -> &[u64] {
        &self.times
    }

    /// Index of the moment at which reads are answered.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes to a moment; past the last one means the last one.
    pub fn seek(&mut self, index: usize) {
        self.position = index.min(self.times.len().saturating_sub(1));
        self.cycles = self.times.get(self.position).copied().unwrap_or(0);
    }

    /// The whole snapshot of the moment, as it was recorded.
    pub fn moment(&self) -> Option<&Snapshot> {
        self.moments.get(self.position)
    }

    /// The words that opened the recorded target, such as `emulator:n300`.
    pub fn recorded_target(&self) -> &str {
        &self.recorded_target
    }

    /// Version of the meshscope that recorded.
    pub fn made_by(&self) -> &str {
        &self.made_by
    }

    /// Files that travel with the recording, such as ELF images.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// What is not whole in the file, one sentence each; only the whole part is shown.
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

    /// Moves on to the last moment that is not later; at the last moment time stops.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        let end = self.times.last().copied().unwrap_or(0);
        self.cycles = self.cycles.saturating_add(cycles).min(end);
        while self.times.get(self.position + 1).is_some_and(|time| *time <= self.cycles) {
            self.position += 1;
        }
        Ok(())
    }
}

/// The part of a snapshot that a plan asks for, with gaps where it holds nothing.
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

/// Takes one piece or gap that begins at `addr`; gives where the next one begins.
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

/// Adds bytes; what continues the piece before joins it, so that a decoder with other ranges than the recorder's still
/// finds its bytes in one piece. The joined piece keeps its older times.
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

/// Why nothing is known from `addr` on, and up to where (at most `stop`) that holds.
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

/// The plan's ranges sorted, with overlapping and touching ones joined: the parts of a snapshot never overlap.
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
