//! The allow-list prepared for fast lookup: sorted stretches per space, one binary search each.

use crate::entry::{AnyGroup, Entry, ReadAccess};
use crate::ranges::{Range, Ranges, Space};

/// How a range may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Memory: any alignment and length.
    Memory,
    /// Registers: aligned words of four bytes, one load each.
    Registers,
}

/// Bytes that may be read in the same way. Bytes outside of all stretches may not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReadableRange {
    start: u64,
    end: u64,
    stand: ReadMode,
}

/// The stretches of one space, sorted, without overlaps; adjacent registers are joined.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadableMap(Vec<ReadableRange>);

impl ReadableMap {
    /// Builds the stretches of these ranges; `group` returns the registers of a range.
    pub(crate) fn new<'a>(
        ranges: &[Range],
        group: impl Fn(&str) -> Option<&'a dyn AnyGroup>,
    ) -> Self {
        let mut stretches = Vec::new();
        for range in ranges.iter().filter(|r| !r.private && r.access == ReadAccess::Read) {
            if range.memory {
                let (start, end) = (range.start, range.end());
                stretches.push(ReadableRange { start, end, stand: ReadMode::Memory });
            } else if let Some(group) = range.group.as_deref().and_then(&group) {
                for (_, entry) in group.entries() {
                    stretches.extend(registers(range, entry));
                }
            }
        }
        stretches.sort_by_key(|stretch| stretch.start);
        let mut joined: Vec<ReadableRange> = Vec::with_capacity(stretches.len());
        for next in stretches {
            match joined.last_mut() {
                Some(last) if last.end == next.start && both_registers(last, &next) => {
                    last.end = next.end;
                }
                _ => joined.push(next),
            }
        }
        Self(joined)
    }

    /// Returns how the `len` bytes at `offset` may be read, if all of them may be.
    pub(crate) fn stand(&self, offset: u64, len: u64) -> Option<ReadMode> {
        let after = self.0.partition_point(|stretch| stretch.start <= offset);
        let stretch = self.0.get(after.checked_sub(1)?)?;
        let within = offset < stretch.end && offset.checked_add(len)? <= stretch.end;
        let whole = stretch.stand == ReadMode::Memory || (offset | len).is_multiple_of(4);
        (within && whole).then_some(stretch.stand)
    }
}

fn both_registers(a: &ReadableRange, b: &ReadableRange) -> bool {
    (a.stand, b.stand) == (ReadMode::Registers, ReadMode::Registers)
}

/// Returns the elements of an entry in every instance of its range.
fn registers<'a>(range: &'a Range, entry: &'a Entry) -> impl Iterator<Item = ReadableRange> + 'a {
    let instances = 0..u64::from(range.instances).max(1);
    let blocks = instances.map(|i| range.start + i * range.instance_bytes());
    let count = if entry.access == ReadAccess::Read { entry.count } else { 0 };
    blocks.flat_map(move |block| {
        (0..count).map(move |n| {
            let start = block + entry.nth(n);
            ReadableRange { start, end: start + entry.bytes, stand: ReadMode::Registers }
        })
    })
}

/// One map per space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps([ReadableMap; 8]);

impl Maps {
    /// Builds the maps of all spaces.
    pub(crate) fn new<'a>(
        ranges: &Ranges,
        group: impl Fn(&str) -> Option<&'a dyn AnyGroup> + Copy,
    ) -> Self {
        Self(Ranges::spaces().map(|space| ReadableMap::new(ranges.of(space), group)))
    }

    pub(crate) fn of(&self, space: Space) -> &ReadableMap {
        &self.0[space.index()]
    }
}
