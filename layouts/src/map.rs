//! The allow-list prepared for fast lookup: sorted stretches per space, one binary search each.

use crate::entry::{Access, AnyGroup, Entry};
use crate::ranges::{Range, Ranges, Space};

/// How a range may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// Memory: any alignment and length.
    Memory,
    /// Registers: aligned words of four bytes, one load each.
    Registers,
}

/// Bytes that may be read in the same way. Bytes outside of all stretches may not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    start: u64,
    end: u64,
    stand: Stand,
}

/// The stretches of one space, sorted, without overlaps; adjacent registers are joined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Map(Vec<Stretch>);

impl Map {
    /// Builds the stretches of these ranges; `group` returns the registers of a range.
    pub(crate) fn new<'a>(
        ranges: &[Range],
        group: impl Fn(&str) -> Option<&'a dyn AnyGroup>,
    ) -> Self {
        let mut stretches = Vec::new();
        for range in ranges.iter().filter(|r| !r.private && r.access == Access::Read) {
            if range.memory {
                let (start, end) = (range.start, range.end());
                stretches.push(Stretch { start, end, stand: Stand::Memory });
            } else if let Some(group) = range.group.as_deref().and_then(&group) {
                for (_, entry) in group.entries() {
                    stretches.extend(registers(range, entry));
                }
            }
        }
        stretches.sort_by_key(|stretch| stretch.start);
        let mut joined: Vec<Stretch> = Vec::with_capacity(stretches.len());
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
    pub(crate) fn stand(&self, offset: u64, len: u64) -> Option<Stand> {
        let after = self.0.partition_point(|stretch| stretch.start <= offset);
        let stretch = self.0.get(after.checked_sub(1)?)?;
        let within = offset < stretch.end && offset.checked_add(len)? <= stretch.end;
        let whole = stretch.stand == Stand::Memory || (offset | len).is_multiple_of(4);
        (within && whole).then_some(stretch.stand)
    }
}

fn both_registers(a: &Stretch, b: &Stretch) -> bool {
    (a.stand, b.stand) == (Stand::Registers, Stand::Registers)
}

/// Returns the elements of an entry in every instance of its range.
fn registers<'a>(range: &'a Range, entry: &'a Entry) -> impl Iterator<Item = Stretch> + 'a {
    let instances = 0..u64::from(range.instances).max(1);
    let blocks = instances.map(|i| range.start + i * range.instance_bytes());
    let count = if entry.access == Access::Read { entry.count } else { 0 };
    blocks.flat_map(move |block| {
        (0..count).map(move |n| {
            let start = block + entry.nth(n);
            Stretch { start, end: start + entry.bytes, stand: Stand::Registers }
        })
    })
}

/// One map per space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps([Map; 8]);

impl Maps {
    /// Builds the maps of all spaces.
    pub(crate) fn new<'a>(
        ranges: &Ranges,
        group: impl Fn(&str) -> Option<&'a dyn AnyGroup> + Copy,
    ) -> Self {
        Self(Ranges::spaces().map(|space| Map::new(ranges.of(space), group)))
    }

    /// Returns the map of a space.
    pub(crate) fn of(&self, space: Space) -> &Map {
        &self.0[space.index()]
    }
}
