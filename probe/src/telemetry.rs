//! What ARC firmware tells of a chip, read from the chip itself: the tag table that it keeps from
//! bundle 18.4 on (wormhole.md 8). Units and limits are those of tt-kmd's `telemetry.c`.

use layouts::{Arc, ChipId, ChipLayout, NocAddr, Space, TileKind};
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;
use std::collections::BTreeMap;
use transport::silicon::cards::{Sensor, Telemetry, Versions};

/// Returns what is told of each chip, or why nothing is.
pub fn telemetry(target: &mut dyn Target) -> Vec<(ChipId, Result<Telemetry, String>)> {
    let chips: Vec<ChipId> = target.mesh().chips.iter().map(|chip| chip.id).collect();
    chips.into_iter().map(|chip| (chip, of_chip(target, chip))).collect()
}

fn of_chip(target: &mut dyn Target, chip: ChipId) -> Result<Telemetry, String> {
    let layout = target.mesh().layout();
    let arc = &layout.arc;
    let mut read = |offsets: Option<Vec<u64>>| match offsets {
        Some(offsets) => words(target, (chip, layout), &offsets).map_err(|why| why.to_string()),
        None => Err("its ARC firmware keeps no table of tags, as before bundle 18.4".to_owned()),
    };
    let register = |name| layout.register(Space::Tile(TileKind::Arc), name).map(|it| it.offset);
    let pointers = ["reset_unit.telemetry_table", "reset_unit.telemetry_values"].map(register);
    let pointers = read(pointers.into_iter().collect())?;
    let [table, values] = *pointers.as_slice() else {
        return read(None).map(|_| Telemetry::default());
    };
    let head = read(arc.words(table, 0..2))?;
    let [version, count] = *head.as_slice() else {
        return read(None).map(|_| Telemetry::default());
    };
    if !arc.knows_telemetry(version) {
        let [_, major, minor, patch] = version.to_be_bytes();
        return Err(format!(
            "its ARC firmware keeps a table of the unknown version {major}.{minor}.{patch}"
        ));
    }
    let entries = arc.telemetry_entries(count).and_then(|entries| arc.words(table, entries));
    let entries: Vec<_> = read(entries)?.into_iter().map(Arc::telemetry_entry).collect();
    let values = read(arc.words(values, entries.iter().map(|entry| entry.1)))?;
    let tags = entries.iter().map(|entry| entry.0).zip(values);
    Ok(Tags { arc, values: tags.filter(|(_, value)| *value != u32::MAX).collect() }.telemetry())
}

/// Reads words of a chip's ARC tile.
fn words(
    target: &mut dyn Target,
    (chip, layout): (ChipId, &ChipLayout),
    offsets: &[u64],
) -> Result<Vec<u32>, AccessError> {
    let tile = layout.arc_tile();
    let addr = |offset: &u64| NocAddr { chip, tile, offset: *offset };
    let spans = offsets.iter().map(|offset| Span { addr: addr(offset), len: 4 }).collect();
    let snapshot = target.read(&Plan { spans });
    offsets.iter().map(|offset| snapshot.word(addr(offset))).collect()
}

/// The values of a chip's tags. All ones is none.
struct Tags<'a> {
    arc: &'a Arc,
    values: BTreeMap<u16, u32>,
}

impl Tags<'_> {
    fn value(&self, name: &str) -> Option<u32> {
        self.values.get(&self.arc.tag(name)?).copied()
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.value(name).map(i64::from)
    }

    fn id(&self, high: &str, low: &str) -> Option<u64> {
        Some(u64::from(self.value(high)?) << 32 | u64::from(self.value(low)?))
    }

    fn version(&self, name: &str) -> Option<String> {
        let [major, minor, patch, last] = self.value(name)?.to_be_bytes();
        Some(format!("{major}.{minor}.{patch}.{last}"))
    }

    fn telemetry(&self) -> Telemetry {
        let board = self.id("board_id_high", "board_id_low");
        let asic = self.id("asic_id_high", "asic_id_low");
        let digits = |id: u64| format!("{id:016X}");
        let times = |name: &str, factor: i64| self.number(name).map(|value| value * factor);
        let sensor =
            |now, limit, factor| Sensor { now: times(now, factor), limit: times(limit, factor) };
        // Ethernet firmware packs its version otherwise.
        let ethernet =
            |value: u32| format!("{}.{}.{}", value >> 16 & 0xFF, value >> 12 & 0xF, value & 0xFFF);
        Telemetry {
            board: board.and_then(|id| Some(self.arc.board(id)?.name.clone())),
            serial: board.map(digits),
            asic_id: asic.map(digits),
            firmware: Versions {
                bundle: self.version("firmware_bundle"),
                arc: self.version("arc_firmware"),
                ethernet: self.value("eth_firmware").map(ethernet),
                m3_application: self.version("m3_application"),
                m3_bootloader: self.version("m3_bootloader"),
                tt_flash: self.version("tt_flash"),
            },
            aiclk_mhz: self.number("aiclk"),
            axiclk_mhz: self.number("axiclk"),
            arcclk_mhz: self.number("arcclk"),
            heartbeat: self.number("heartbeat"),
            temperature_millicelsius: Sensor {
                // 16 bits of fraction.
                now: self.number("asic_temperature").map(|value| (value * 1000) >> 16),
                limit: times("thermal_throttle", 1000),
            },
            power_microwatts: sensor("tdp", "tdp_maximum", 1_000_000),
            current_milliamperes: sensor("tdc", "tdc_maximum", 1000),
            voltage_millivolts: Sensor {
                now: self.number("vcore"),
                limit: self.number("vdd_limits").map(|limits| limits >> 16),
            },
        }
    }
}
