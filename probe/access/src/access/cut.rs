//! Ranges of a far chip cut into commands, and put together again.

use crate::planner::MergedRange;
use crate::queue::{BLOCK_ALIGN, BLOCK_BYTES, Command, Far, Stamped};
use layouts::ChipCoord;
use machine::snapshot::AccessError;

/// Where the commands that read a range begin. Memory is read in blocks: a little more than was
/// asked for does no harm there; a lone word and registers are read by words.
fn begin(run: &MergedRange) -> (u64, bool) {
    let (first, end) = (run.offset & !3, (run.offset + u64::from(run.len)).next_multiple_of(4));
    let blocks = run.memory && end - first > 4;
    (if blocks { first / BLOCK_ALIGN * BLOCK_ALIGN } else { first }, blocks)
}

pub(super) fn cut(coord: ChipCoord, run: &MergedRange, commands: &mut Vec<Command>) {
    let (start, blocks) = begin(run);
    let end = (run.offset + u64::from(run.len)).next_multiple_of(4);
    let step = if blocks { BLOCK_BYTES } else { 4 };
    for offset in (start..end).step_by(step) {
        let far = Far { coord, tile: run.tile, offset };
        let len = (end - offset).min(step as u64) as u32;
        // What a block leaves over may be a word.
        commands.push(if len > 4 { Command::ReadBlock(far, len) } else { Command::ReadWord(far) });
    }
}

/// The range out of what its commands read; the first error if one of them failed.
pub(super) fn join(
    run: &MergedRange,
    parts: impl Iterator<Item = Result<Stamped, AccessError>>,
) -> Result<Stamped, AccessError> {
    let mut whole = Stamped { bytes: Vec::with_capacity(run.len as usize), cycles: 0 };
    for part in parts {
        let part = part?;
        whole.cycles = whole.cycles.max(part.cycles);
        whole.bytes.extend(part.bytes);
    }
    whole.bytes.drain(..(run.offset - begin(run).0) as usize);
    whole.bytes.truncate(run.len as usize);
    Ok(whole)
}

/// Words up to the first 32-byte boundary, then blocks of whole words; registers by words alone.
pub(super) fn cut_write<'b>(
    coord: ChipCoord,
    run: &MergedRange,
    bytes: &'b [u8],
) -> Result<Vec<(Command, &'b [u8])>, AccessError> {
    let mut writes = Vec::new();
    let mut at = run.offset;
    let mut rest = bytes;
    while !rest.is_empty() {
        let far = Far { coord, tile: run.tile, offset: at };
        let blocks = run.memory && at.is_multiple_of(BLOCK_ALIGN) && rest.len() > 4;
        let (part, later) = rest.split_at(rest.len().min(if blocks { BLOCK_BYTES } else { 4 }));
        writes.push(if blocks {
            (Command::WriteBlock(far, part.len() as u32), part)
        } else {
            let broken = || AccessError::Refused("far chips take whole words only".into());
            let word = part.first_chunk().ok_or_else(broken)?;
            (Command::WriteWord(far, u32::from_le_bytes(*word)), &part[..0])
        });
        at += part.len() as u64;
        rest = later;
    }
    Ok(writes)
}
