//! From what somebody wants to read to as few bus transactions as possible.

use crate::bus::Batch;
use layouts::{ChipId, NocAddr, NocXy, Stand};
use machine::snapshot::Span;

/// Memory between two wanted ranges is read along when it is shorter than another transaction is
/// worth: on PCIe one read brings 64 bytes for the price of four (wormhole.md 1.4).
const NEAR_BRIDGE_BYTES: u64 = 64;

/// Through a queue a command costs as much as 128 bytes of a block (wormhole.md 10.6.C, wormhole.md 10.6.E).
const FAR_BRIDGE_BYTES: u64 = 128;

/// A range to read in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MergedRange {
    pub(crate) tile: NocXy,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// Plain memory; otherwise registers.
    pub(crate) memory: bool,
}

impl MergedRange {
    /// What runs of one chip are sorted by.
    pub(crate) fn place(&self) -> (NocXy, u64) {
        (self.tile, self.offset)
    }

    fn end(&self) -> u64 {
        self.offset + u64::from(self.len)
    }

    pub(crate) fn span(&self, chip: ChipId) -> Span {
        let addr = NocAddr { chip, tile: self.tile, offset: self.offset };
        Span { addr, len: self.len }
    }

    /// What is read for a wanted range of at least one byte.
    pub(crate) fn of(span: &Span, stand: Stand) -> Self {
        let NocAddr { tile, offset, .. } = span.addr;
        if stand == Stand::Registers {
            return Self { tile, offset, len: span.len, memory: false };
        }
        // Memory is read as whole words, because PCIe windows want them.
        let (start, end) = (offset & !3, (offset + u64::from(span.len)).next_multiple_of(4));
        Self { tile, offset: start, len: (end - start) as u32, memory: true }
    }

    /// Adds the accesses of its first `len` bytes: memory in bulk, registers word by word.
    #[inline]
    pub(crate) fn read<'b>(&self, batch: Batch<'b>, device: u8, len: u32) -> Batch<'b> {
        if self.memory {
            return batch.read(device, self.tile, self.offset, len);
        }
        let words = (self.offset..self.offset + u64::from(len)).step_by(4);
        words.fold(batch, |batch, at| batch.register(device, self.tile, at))
    }
}

/// Merges the wanted ranges of one chip, sorted by tile and address. Each wanted range lies in one
/// run.
pub(crate) fn merge(wanted: impl Iterator<Item = MergedRange>, remote: bool) -> Vec<MergedRange> {
    let bridge = if remote { FAR_BRIDGE_BYTES } else { NEAR_BRIDGE_BYTES };
    let mut runs: Vec<MergedRange> = Vec::new();
    for next in wanted {
        match runs.last_mut() {
            Some(run) if joins(run, &next, bridge) => {
                run.len = (run.end().max(next.end()) - run.offset) as u32;
            }
            _ => runs.push(next),
        }
    }
    runs
}

fn joins(run: &MergedRange, next: &MergedRange, bridge: u64) -> bool {
    let reach = if run.memory { bridge } else { 0 };
    run.tile == next.tile
        && run.memory == next.memory
        && next.offset <= run.end() + reach
        && u32::try_from(next.end() - run.offset).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(x: u8, offset: u64, len: u32) -> Span {
        Span { addr: NocAddr { chip: ChipId(0), tile: NocXy { x, y: 1 }, offset }, len }
    }

    fn ranges(wanted: &[Span], remote: bool) -> Vec<(u8, u64, u32)> {
        let stand = |span: &Span| match span.addr.offset {
            0xFFB0_0000.. => Stand::Registers,
            _ => Stand::Memory,
        };
        let mut runs: Vec<MergedRange> =
            wanted.iter().map(|span| MergedRange::of(span, stand(span))).collect();
        runs.sort_unstable_by_key(MergedRange::place);
        let merged = merge(runs.into_iter(), remote);
        merged.iter().map(|r| (r.tile.x, r.offset, r.len)).collect()
    }

    #[test]
    fn neighbours_merge_and_strangers_do_not() {
        let wanted = [span(2, 0, 4), span(1, 0x40, 8), span(1, 0x10, 4), span(1, 0x1000, 4)];
        let near = vec![(1, 0x10, 0x38), (1, 0x1000, 4), (2, 0, 4)];
        assert_eq!(ranges(&wanted, false), near);
    }

    #[test]
    fn a_queue_bridges_more_than_a_window() {
        let wanted = [span(1, 0, 4), span(1, 0x60, 4)];
        assert_eq!(ranges(&wanted, false).len(), 2);
        assert_eq!(ranges(&wanted, true), vec![(1, 0, 0x64)]);
    }

    #[test]
    fn odd_bytes_become_words_and_overlaps_vanish() {
        let wanted = [span(1, 3, 2), span(1, 0, 16), span(1, 4, 2)];
        assert_eq!(ranges(&wanted, false), vec![(1, 0, 16)]);
    }

    #[test]
    fn registers_join_only_without_a_hole() {
        let wanted = [span(1, 0xFFB1_21F0, 4), span(1, 0xFFB1_21F4, 4), span(1, 0xFFB1_21FC, 4)];
        let runs = ranges(&wanted, false);
        assert_eq!(runs, vec![(1, 0xFFB1_21F0, 8), (1, 0xFFB1_21FC, 4)]);
    }
}
