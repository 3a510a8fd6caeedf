//! The part of a kept snapshot that a plan asks for.

use layouts::NocAddr;
use machine::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};

/// Returns the part of a snapshot in a plan, with gaps where the snapshot has no bytes.
pub(crate) fn excerpt(moment: &Snapshot, plan: &Plan) -> Snapshot {
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
