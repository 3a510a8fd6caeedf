//! Reads the tag table of ARC firmware: the board of a chip (wormhole.md 8).

use crate::bus::Bus;
use layouts::{Arc as ArcLayout, Space, TileKind};
use machine::snapshot::AccessError;

/// Reads the 64-bit board id of a PCIe chip; nothing if its firmware keeps no such table. These are
/// registers, so that each word is one load: the pointers in one batch, the table in a second and
/// third, the values in a fourth.
pub(crate) fn board_id(bus: &mut Bus, device: u8) -> Result<Option<u64>, AccessError> {
    let layout = bus.layout();
    let mut arc = Arc { bus, device };
    let pointers = ["reset_unit.telemetry_table", "reset_unit.telemetry_values"];
    let register = |name| layout.register(Space::Tile(TileKind::Arc), name);
    let [Some(table), Some(values)] = pointers.map(register) else { return Ok(None) };
    let found = arc.registers(&[table.offset, values.offset])?;
    let &[table, values] = found.as_slice() else { return Ok(None) };
    let Some(count) = arc.words(table, [1])?.and_then(|words| words.first().copied()) else {
        return Ok(None);
    };
    let Some(entries) = layout.arc.telemetry_entries(count) else { return Ok(None) };
    let Some(entries) = arc.words(table, entries)? else { return Ok(None) };
    let place = |name| {
        let tag = layout.arc.tag(name)?;
        let mut entries = entries.iter().map(|entry| ArcLayout::telemetry_entry(*entry));
        entries.find(|entry| entry.0 == tag).map(|entry| entry.1)
    };
    let (Some(high), Some(low)) = (place("board_id_high"), place("board_id_low")) else {
        return Ok(None);
    };
    let id = arc.words(values, [high, low])?;
    Ok(id.and_then(|id| id.into_iter().map(u64::from).reduce(|high, low| high << 32 | low)))
}

struct Arc<'a> {
    bus: &'a mut Bus,
    device: u8,
}

impl Arc<'_> {
    fn registers(&mut self, offsets: &[u64]) -> Result<Vec<u32>, AccessError> {
        let layout = self.bus.layout();
        let mut batch = self.bus.batch();
        for &offset in offsets {
            batch = batch.register(self.device, layout.arc_tile(), offset);
        }
        let mut answer = batch.run();
        offsets.iter().map(|_| answer.word()).collect()
    }

    /// Reads words of ARC's memory by index; nothing if one is outside of the host's reach.
    fn words(
        &mut self,
        base: u32,
        indices: impl IntoIterator<Item = u32>,
    ) -> Result<Option<Vec<u32>>, AccessError> {
        let offsets = self.bus.layout().arc.words(base, indices);
        offsets.map(|offsets| self.registers(&offsets)).transpose()
    }
}
