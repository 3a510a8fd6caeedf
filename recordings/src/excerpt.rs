//! The part of a snapshot that a plan asks for.

use layouts::{ChipId, NocAddr, NocXy};
use machine::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};
use std::collections::BTreeMap;

/// Returns the part of a snapshot in a plan, with gaps where the snapshot has no bytes.
pub(crate) fn excerpt(moment: &Snapshot, plan: &Plan) -> Snapshot {
    let stopped = moment.stopped.clone();
    let mut part = Snapshot { sorted_gaps: true, stopped, ..Snapshot::default() };
    let gaps = Gaps::of(moment);
    for span in merged(plan) {
        let end = span.addr.offset.saturating_add(u64::from(span.len));
        let mut at = span.addr.offset;
        while at < end {
            at = step((moment, &gaps), NocAddr { offset: at, ..span.addr }, end, &mut part);
        }
    }
    part
}

/// Takes one piece or gap at `addr`; returns the start of the next one.
fn step(
    (moment, gaps): (&Snapshot, &Gaps<'_>),
    addr: NocAddr,
    end: u64,
    part: &mut Snapshot,
) -> u64 {
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
    let (reason, stop) = gaps.reason(addr, stop);
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

/// The gaps of a snapshot by tile, sorted and without overlaps.
struct Gaps<'a>(BTreeMap<(ChipId, NocXy), Vec<Missing<'a>>>);

/// Begin, end and reason of a gap in a tile.
type Missing<'a> = (u64, u64, &'a AccessError);

impl<'a> Gaps<'a> {
    fn of(moment: &'a Snapshot) -> Self {
        let mut tiles: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for Gap { span, reason } in &moment.gaps {
            let (start, len) = (span.addr.offset, u64::from(span.len));
            let gaps: &mut Vec<_> = tiles.entry((span.addr.chip, span.addr.tile)).or_default();
            gaps.push((start, start.saturating_add(len), reason));
        }
        for gaps in tiles.values_mut() {
            gaps.sort_by_key(|(start, ..)| *start);
            let mut covered = 0;
            gaps.retain_mut(|(start, end, _)| {
                *start = covered.max(*start);
                covered = covered.max(*end);
                start < end
            });
        }
        Self(tiles)
    }

    /// Returns why bytes from `addr` on are missing, and the end of that reason (at most `stop`).
    fn reason(&self, addr: NocAddr, stop: u64) -> (AccessError, u64) {
        let gaps = self.0.get(&(addr.chip, addr.tile)).map_or(&[][..], Vec::as_slice);
        let next = gaps.partition_point(|(_, end, _)| *end <= addr.offset);
        match gaps.get(next) {
            Some((start, end, reason)) if *start <= addr.offset => {
                ((*reason).clone(), stop.min(*end))
            }
            Some((start, ..)) => (AccessError::NotRecorded, stop.min(*start)),
            None => (AccessError::NotRecorded, stop),
        }
    }
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
