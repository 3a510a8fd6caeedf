//! The tag table that ARC firmware keeps: which board a chip is on (wormhole.md 8).

use crate::access::{Access, Route};
use crate::snapshot::AccessError;
use layouts::{Space, TileKind, wormhole};

/// More tags than this no firmware has; a larger count is no table.
const MOST_TAGS: u32 = 256;

/// The 64-bit board id of a chip, word by word; nothing if its firmware keeps no such table.
pub(crate) fn board_id(access: &mut Access, route: &Route) -> Result<Option<u64>, AccessError> {
    let mut table = Table { access, route };
    let high = table.value("board_id_high")?;
    let low = table.value("board_id_low")?;
    Ok(high.zip(low).map(|(high, low)| u64::from(high) << 32 | u64::from(low)))
}

struct Table<'a> {
    access: &'a mut Access,
    route: &'a Route,
}

impl Table<'_> {
    /// The value of a tag: the table is {version, count, count * (tag | offset << 16)}.
    fn value(&mut self, name: &str) -> Result<Option<u32>, AccessError> {
        let arc = &wormhole().arc;
        let Some(tag) = arc.tag(name) else { return Ok(None) };
        let table = self.pointer("reset_unit.telemetry_table")?;
        let values = self.pointer("reset_unit.telemetry_values")?;
        let Some(count) = self.word(table, 1)? else { return Ok(None) };
        if !(arc.telemetry_min_count..=MOST_TAGS).contains(&count) {
            return Ok(None);
        }
        for index in 0..count {
            let entry = self.word(table, 2 + index)?.unwrap_or_default();
            if entry as u16 == tag {
                return self.word(values, entry >> 16);
            }
        }
        Ok(None)
    }

    fn pointer(&mut self, register: &str) -> Result<u32, AccessError> {
        let located = wormhole().register(Space::Tile(TileKind::Arc), register);
        let Some(located) = located else { return Ok(0) };
        self.access.word(self.route, wormhole().arc_tile(), located.offset)
    }

    /// A word of ARC's memory; nothing outside what a host can reach.
    fn word(&mut self, base: u32, index: u32) -> Result<Option<u32>, AccessError> {
        let address = base.checked_add(4 * index).filter(|_| base != 0);
        let Some(offset) = address.and_then(|at| wormhole().arc.to_noc(at)) else {
            return Ok(None);
        };
        self.access.word(self.route, wormhole().arc_tile(), offset).map(Some)
    }
}
