//! The ranges that a target refuses although the chip would answer, found by binary search.

use layouts::TileKind;
use machine::target::Refusal;

/// A refused range, and why.
#[derive(Debug)]
struct Refused {
    start: u64,
    end: u64,
    reason: String,
}

/// The refusals of a target by kind of tile, sorted and without overlaps.
#[derive(Debug)]
pub(super) struct Refusals([Vec<Refused>; 6]);

impl Refusals {
    pub(super) fn new(list: &[Refusal]) -> Self {
        let mut kinds = [const { Vec::new() }; 6];
        let mut sorted: Vec<&Refusal> = list.iter().collect();
        sorted.sort_by_key(|refusal| refusal.start);
        for Refusal { kind, start, end, reason } in sorted {
            let ranges: &mut Vec<Refused> = &mut kinds[index(*kind)];
            // Where two overlap, the first one's reason applies.
            let start = ranges.last().map_or(*start, |last| last.end.max(*start));
            if start < *end {
                ranges.push(Refused { start, end: *end, reason: reason.clone() });
            }
        }
        Self(kinds)
    }

    /// Returns why these bytes must not be accessed, if any of them is refused.
    pub(super) fn hit(&self, kind: TileKind, offset: u64, len: u64) -> Option<&str> {
        let ranges = &self.0[index(kind)];
        let first = ranges.partition_point(|range| range.end <= offset);
        let hit = ranges.get(first).filter(|range| range.start < offset.saturating_add(len));
        hit.map(|range| range.reason.as_str())
    }
}

fn index(kind: TileKind) -> usize {
    match kind {
        TileKind::Tensix => 0,
        TileKind::Eth => 1,
        TileKind::Dram => 2,
        TileKind::Arc => 3,
        TileKind::Pcie => 4,
        TileKind::Router => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_byte_of_a_refused_range_is_enough() {
        let refusal = |start, end, reason: &str| Refusal {
            kind: TileKind::Eth,
            start,
            end,
            reason: reason.into(),
        };
        let list = [refusal(0x30, 0x40, "b"), refusal(0x10, 0x20, "a"), refusal(0x38, 0x50, "c")];
        let refusals = Refusals::new(&list);
        let hit = |offset, len| refusals.hit(TileKind::Eth, offset, len);
        assert_eq!(hit(0, 0x10), None);
        assert_eq!(hit(0, 0x11), Some("a"));
        assert_eq!(hit(0x1F, 1), Some("a"));
        assert_eq!(hit(0x20, 0x10), None);
        assert_eq!(hit(0x20, 0x18), Some("b"));
        assert_eq!(hit(0x40, 4), Some("c"));
        assert_eq!(hit(0x50, u64::MAX), None);
        assert_eq!(refusals.hit(TileKind::Tensix, 0x10, 4), None);
    }
}
