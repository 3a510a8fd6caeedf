//! Data of the PCIe function: TLB windows, their entries, and the ARC blocks behind BAR0.

use crate::address::NocXy;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// `bar.toml`: identity, windows and the layout of their entries.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// PCI vendor id.
    pub vendor_id: u16,
    /// PCI device id.
    pub device_id: u16,
    /// Names of the vendor's other chips, by PCI device id.
    pub other_devices: BTreeMap<u16, String>,
    /// Classes of windows in index order.
    pub windows: Vec<WindowClass>,
    /// The array of entries.
    pub config: WindowConfig,
    /// Layout of an entry above its local offset.
    pub entry: EntryFields,
    /// Values of the ordering field.
    pub ordering: OrderingValues,
}

/// Windows of one size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowClass {
    /// Index of the first window.
    pub first: u16,
    /// Number of windows.
    pub count: u16,
    /// Size of each window in bytes.
    pub bytes: u64,
    /// BAR0 offset of the first window.
    pub bar_offset: u64,
    /// Width of the entry's local_offset field.
    pub local_offset_bits: u32,
}

/// The array of entries.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowConfig {
    /// BAR0 offset of entry 0.
    pub bar_offset: u64,
    /// Size of an entry in bytes.
    pub entry_bytes: u64,
    /// Index of the window that belongs to tt-kmd.
    pub kernel_window: u16,
}

/// Bit positions of an entry's fields, relative to the width of local_offset.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryFields {
    /// Target x.
    pub x_end: u32,
    /// Target y.
    pub y_end: u32,
    /// Ordering mode, two bits.
    pub ordering: u32,
    /// Static virtual channel.
    pub static_vc: u32,
    /// Width of each coordinate.
    pub coordinate_bits: u32,
}

/// Values of the ordering field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderingValues {
    /// Value of [`Ordering::Relaxed`].
    pub relaxed: u8,
    /// Value of [`Ordering::Strict`].
    pub strict: u8,
}

/// The ordering of accesses through a window (wormhole.md 1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// For bulk data: reads after writes are ordered, writes may reorder unless on a static VC.
    Relaxed,
    /// For registers and queue pointers: everything in order.
    Strict,
}

/// One window and its place in BAR0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowSpec {
    /// Its index.
    pub index: u16,
    /// BAR0 offset of its first byte.
    pub base: u64,
    /// Its size in bytes, a power of two.
    pub bytes: u64,
    /// BAR0 offset of its entry.
    pub entry: u64,
    /// Width of local_offset in the entry.
    pub local_offset_bits: u32,
}

impl Bar {
    /// Returns PCI config word 0 of this chip: device and vendor.
    pub fn config_id(&self) -> u32 {
        u32::from(self.device_id) << 16 | u32::from(self.vendor_id)
    }

    /// The vendor's name of another chip, by its config word 0.
    pub(crate) fn other_device(&self, id: u32) -> Option<&str> {
        let name = self.other_devices.get(&((id >> 16) as u16));
        name.filter(|_| id as u16 == self.vendor_id).map(String::as_str)
    }

    /// Returns the number of windows, including tt-kmd's.
    pub fn window_count(&self) -> u16 {
        self.windows.iter().map(|class| class.count).sum()
    }

    /// Returns window `index`, or nothing past the last one.
    pub fn window(&self, index: u16) -> Option<WindowSpec> {
        let class = self.windows.iter().find(|c| (c.first..c.first + c.count).contains(&index))?;
        Some(WindowSpec {
            index,
            base: class.bar_offset + u64::from(index - class.first) * class.bytes,
            bytes: class.bytes,
            entry: self.config.bar_offset + u64::from(index) * self.config.entry_bytes,
            local_offset_bits: class.local_offset_bits,
        })
    }

    /// Returns the entry that points `window` at the block of `target` that contains `offset`.
    pub fn unicast_entry(
        &self,
        window: &WindowSpec,
        target: NocXy,
        offset: u64,
        ordering: Ordering,
    ) -> u64 {
        self.tlb_entry(window, target, offset, ordering, true)
    }

    /// As [`Bar::unicast_entry`], with a choice of the static virtual channel.
    pub fn tlb_entry(
        &self,
        window: &WindowSpec,
        target: NocXy,
        offset: u64,
        ordering: Ordering,
        static_vc: bool,
    ) -> u64 {
        let mask = |bits: u32| (1_u64 << bits) - 1;
        let field = |value: u64, at: u32| value << (window.local_offset_bits + at);
        let coordinate = |value: u8| u64::from(value) & mask(self.entry.coordinate_bits);
        let local = (offset / window.bytes) & mask(window.local_offset_bits);
        local
            | field(coordinate(target.x), self.entry.x_end)
            | field(coordinate(target.y), self.entry.y_end)
            | field(u64::from(self.ordering_value(ordering)), self.entry.ordering)
            | field(u64::from(static_vc), self.entry.static_vc)
    }

    fn ordering_value(&self, ordering: Ordering) -> u8 {
        match ordering {
            Ordering::Relaxed => self.ordering.relaxed,
            Ordering::Strict => self.ordering.strict,
        }
    }
}

/// `arc.toml`: access to the management processor, and the meaning of its numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arc {
    /// Offset from a crossbar address to the NoC address at the ARC tile.
    pub noc_base: u64,
    /// A telemetry table with fewer entries is invalid.
    pub telemetry_min_count: u32,
    /// So is one with more.
    pub telemetry_max_count: u32,
    /// The newest major version of the table whose layout is known.
    pub telemetry_newest_major: u32,
    /// Blocks that a host can reach.
    pub blocks: Vec<ArcBlock>,
    /// Names of telemetry tags.
    #[serde(deserialize_with = "numbered")]
    pub telemetry: BTreeMap<u16, String>,
    /// Card types.
    pub boards: Vec<Board>,
}

/// A block of the ARC crossbar.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArcBlock {
    /// Address as ARC sees it.
    pub xbar: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// A card type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Bits 51:36 of the board id.
    pub code: u16,
    /// Its name.
    pub name: String,
    /// Other names in cluster descriptors; the first is that which UMD writes.
    #[serde(default)]
    pub spellings: Vec<String>,
    /// Wormhole chips on it.
    pub chips: u8,
    /// Where Ethernet channels leave its chips, as far as that is known.
    #[serde(default)]
    connectors: Vec<Connector>,
}

/// What Ethernet channels of a chip lead to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Connector {
    /// Whether they are those of the chip with PCIe.
    pcie: bool,
    channels: Vec<u8>,
    name: String,
}

impl Arc {
    /// Returns the offset at the ARC tile (over NOC 0) of an ARC address, if a host can reach it.
    pub fn to_noc(&self, arc: u32) -> Option<u64> {
        let inside =
            |block: &ArcBlock| arc.checked_sub(block.xbar).is_some_and(|past| past < block.bytes);
        self.blocks.iter().any(inside).then(|| self.noc_base + u64::from(arc))
    }

    /// Returns the card type in a 64-bit board id.
    pub fn board(&self, board_id: u64) -> Option<&Board> {
        let code = (board_id >> 36) as u16;
        self.boards.iter().find(|board| board.code == code)
    }

    /// Returns the card type with this name in cluster descriptors, ignoring case.
    pub fn board_named(&self, kind: &str) -> Option<&Board> {
        let called = |board: &&Board| {
            let mut names = std::iter::once(&board.name).chain(&board.spellings);
            names.any(|name| name.eq_ignore_ascii_case(kind))
        };
        self.boards.iter().find(called)
    }

    /// Returns the offsets at the ARC tile of words of an ARC address, by index; nothing if a host
    /// cannot reach one.
    pub fn words(&self, base: u32, indices: impl IntoIterator<Item = u32>) -> Option<Vec<u64>> {
        let offset = |index: u32| {
            let address = base.checked_add(index.checked_mul(4)?).filter(|_| base != 0);
            address.and_then(|at| self.to_noc(at))
        };
        indices.into_iter().map(offset).collect()
    }

    /// Returns the indices of the entries of a telemetry table, which is {version, count, count *
    /// entry}; nothing if no table has so many.
    pub fn telemetry_entries(&self, count: u32) -> Option<Range<u32>> {
        let possible = self.telemetry_min_count..=self.telemetry_max_count;
        possible.contains(&count).then(|| 2..2 + count)
    }

    /// Whether the layout of a telemetry table of this version is known.
    pub fn knows_telemetry(&self, version: u32) -> bool {
        version >> 16 & 0xFF <= self.telemetry_newest_major
    }

    /// Returns the tag of an entry of a telemetry table, and the index of its value.
    pub fn telemetry_entry(entry: u32) -> (u16, u32) {
        (entry as u16, entry >> 16)
    }

    /// Returns the number of a telemetry tag.
    pub fn tag(&self, name: &str) -> Option<u16> {
        self.telemetry.iter().find(|(_, known)| *known == name).map(|(tag, _)| *tag)
    }
}

/// Parses the keys of a TOML table as numbers.
fn numbered<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<u16, String>, D::Error> {
    let text = BTreeMap::<String, String>::deserialize(deserializer)?;
    let number = |(key, name): (String, String)| match key.parse() {
        Ok(tag) => Ok((tag, name)),
        Err(_) => Err(serde::de::Error::custom(format!("tag {key:?} is not a number"))),
    };
    text.into_iter().map(number).collect()
}

impl Board {
    /// Returns what an Ethernet channel leads to: a cage, a bridge, or a trace to the other chip; of
    /// the chip with PCIe, or of the other one. None where that is not known.
    pub fn connector(&self, pcie: bool, channel: u8) -> Option<&str> {
        let leads = |it: &&Connector| it.pcie == pcie && it.channels.contains(&channel);
        self.connectors.iter().find(leads).map(|it| it.name.as_str())
    }

    /// Returns the name that UMD writes.
    pub fn umd_name(&self) -> &str {
        self.spellings.first().unwrap_or(&self.name)
    }

    /// Returns a board id of this type with the bits of its 32-bit form; that has no others.
    pub fn id_from_short(&self, short: u32) -> u64 {
        let (high, low) = (u64::from(short & 0xF000_0000), u64::from(short & 0x0FFF_FFFF));
        u64::from(self.code) << 36 | high << 4 | low
    }
}

/// Returns the 32-bit form of a 64-bit board id that base firmware publishes (wormhole.md 5.3).
pub fn short_board_id(board_id: u64) -> u32 {
    ((board_id >> 4) as u32 & 0xF000_0000) | (board_id as u32 & 0x0FFF_FFFF)
}
