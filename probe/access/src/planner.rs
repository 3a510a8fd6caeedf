//! Merges the ranges of a plan into as few bus transactions as possible.

use crate::bus::Batch;
use layouts::{ChipId, NocAddr, NocXy, ReadMode};
use machine::snapshot::Span;

/// Memory between two requested ranges is read along if it is shorter than this, because another
/// transaction would cost more: on PCIe one read brings 64 bytes for the price of four
/// (wormhole.md 1.4).
const NEAR_BRIDGE_BYTES: u64 = 64;

/// Through a queue a command costs as much as 128 bytes of a block (wormhole.md 10.6.C,
/// wormhole.md 10.6.E).
const FAR_BRIDGE_BYTES: u64 = 128;

/// A range read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MergedRange {
    pub(crate) tile: NocXy,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// Whether it is plain memory; otherwise registers.
    pub(crate) memory: bool,
}

impl MergedRange {
    /// Returns the sort key of the runs of one chip.
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

    /// Returns the range to read for a span of at least one byte.
    pub(crate) fn of(span: &Span, stand: ReadMode) -> Self {
        let NocAddr { tile, offset, .. } = span.addr;
        if stand == ReadMode::Registers {
            return Self { tile, offset, len: span.len, memory: false };
        }
        // Memory is read as whole words, as PCIe windows require.
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

/// Merges the requested ranges of one chip, sorted by tile and address. Each requested range lies
/// in one run.
pub(crate) fn merge(
    requested: impl Iterator<Item = MergedRange>,
    remote: bool,
) -> Vec<MergedRange> {
    let bridge = if remote { FAR_BRIDGE_BYTES } else { NEAR_BRIDGE_BYTES };
    let mut runs: Vec<MergedRange> = Vec::new();
    for next in requested {
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

    fn ranges(requested: &[Span], remote: bool) -> Vec<(u8, u64, u32)> {
        let stand = |span: &Span| match span.addr.offset {
            0xFFB0_0000.. => ReadMode::Registers,
            _ => ReadMode::Memory,
        };
        let mut runs: Vec<MergedRange> =
            requested.iter().map(|span| MergedRange::of(span, stand(span))).collect();
        runs.sort_unstable_by_key(MergedRange::place);
        let merged = merge(runs.into_iter(), remote);
        merged.iter().map(|r| (r.tile.x, r.offset, r.len)).collect()
    }

    #[test]
    fn neighbours_merge_and_distant_ranges_do_not() {
        let requested = [span(2, 0, 4), span(1, 0x40, 8), span(1, 0x10, 4), span(1, 0x1000, 4)];
        let near = vec![(1, 0x10, 0x38), (1, 0x1000, 4), (2, 0, 4)];
        assert_eq!(ranges(&requested, false), near);
    }

    #[test]
    fn a_queue_bridges_more_than_a_window() {
        let requested = [span(1, 0, 4), span(1, 0x60, 4)];
        assert_eq!(ranges(&requested, false).len(), 2);
        assert_eq!(ranges(&requested, true), vec![(1, 0, 0x64)]);
    }

    #[test]
    fn odd_bytes_become_words_and_overlaps_vanish() {
        let requested = [span(1, 3, 2), span(1, 0, 16), span(1, 4, 2)];
        assert_eq!(ranges(&requested, false), vec![(1, 0, 16)]);
    }

    #[test]
    fn registers_join_only_without_a_hole() {
        let requested = [span(1, 0xFFB1_21F0, 4), span(1, 0xFFB1_21F4, 4), span(1, 0xFFB1_21FC, 4)];
        let runs = ranges(&requested, false);
        assert_eq!(runs, vec![(1, 0xFFB1_21F0, 8), (1, 0xFFB1_21FC, 4)]);
    }
}
