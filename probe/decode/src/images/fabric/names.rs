//! Questions by name, and what is found by them.

use layouts::{ChipLayout, Space, TileKind};
use symbols::{Field, Symbols};

/// Streams at or above this are not used (`k_unused_stream_id`).
const UNUSED_STREAM: u64 = 32;

/// A word of a tile: L1 or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Address in L1.
    pub addr: u64,
    pub(crate) size: u32,
}

/// The slots of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    pub(crate) count: u64,
}

impl Slots {
    /// Where a slot begins; indices wrap.
    pub(crate) fn slot(self, index: u64) -> u64 {
        self.at + self.bytes * (index % self.count.max(1))
    }
}

/// Asks an image by name; what it does not know is `None`.
pub(super) struct Names<'a>(pub(super) &'a ChipLayout, pub(super) &'a Symbols);

impl Names<'_> {
    pub(super) fn constant(&self, name: &str) -> Option<u64> {
        self.1.constant(name)?.as_u64()
    }

    pub(super) fn named(&self, names: &[&'static str]) -> Vec<(u64, &'static str)> {
        names.iter().filter_map(|name| Some((self.constant(name)?, *name))).collect()
    }

    /// A scalar member of a global.
    pub(super) fn at(&self, path: &str) -> Option<Word> {
        let place = self.1.locate(path).ok()?;
        Some(Word { addr: place.address(), size: place.field.size.min(8) as u32 })
    }

    /// A word at an address that a constant names.
    pub(super) fn pointed(&self, name: &str, offset: u64) -> Option<Word> {
        Some(Word { addr: self.constant(name)?.checked_add(offset)?, size: 4 })
    }

    /// A scalar member of a type, at an address.
    pub(crate) fn member(&self, of: &str, address: Option<u64>) -> Option<Word> {
        let field = self.1.field(of).ok()?;
        Some(Word { addr: address?.checked_add(field.offset)?, size: field.size.min(8) as u32 })
    }

    pub(super) fn field(&self, of: &str) -> Option<Field> {
        self.1.field(of).ok()
    }

    /// What the file holds at a member of a constant table.
    pub(super) fn file(&self, path: &str) -> Option<u64> {
        let place = self.1.locate(path).ok()?;
        let mut bytes = [0; 8];
        let size = place.field.size.min(8) as usize;
        self.1.initial(place.address(), bytes.get_mut(..size)?).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    pub(super) fn slots(&self, table: &str) -> Option<Slots> {
        let of = |member: &str| self.file(&format!("{table}.{member}"));
        let slots =
            Slots { at: of("buffers_address")?, bytes: of("buffer_bytes")?, count: of("slots")? };
        (slots.count > 0).then_some(slots)
    }
}

/// The credit counter of a stream of an Ethernet tile.
pub fn stream(layout: &ChipLayout, kind: TileKind, id: u64) -> Option<Word> {
    let block = layout.block(Space::Tile(kind), "stream")?;
    let group = &layout.stream;
    let addr = block + id * group.bytes + group.space_available.at;
    (id < UNUSED_STREAM).then_some(Word { addr, size: 4 })
}
