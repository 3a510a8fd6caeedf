//! Words of one tile out of a look.

use super::head;
use crate::images::{HeaderFields, Spot, Word};
use crate::inspect::Inspection;
use crate::state::{HeadState, Reading};
use layouts::{ChipId, NocAddr, NocXy};
use symbols::Field;

/// A tile, being decoded.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) view: &'a Inspection<'a>,
    pub(super) chip: ChipId,
    pub(super) tile: NocXy,
}

/// Words of a tile whose address is itself read, if it was.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    site: Site<'a>,
    address: Option<u64>,
}

impl<'a> Site<'a> {
    pub(super) fn at(&self, offset: u64) -> NocAddr {
        NocAddr { chip: self.chip, tile: self.tile, offset }
    }

    pub(super) fn value(&self, word: Option<Word>) -> Reading<u64> {
        let Some(word) = word else { return Reading::Absent };
        match self.view.snapshot.bytes(self.at(word.addr), word.size) {
            Ok(bytes) => Reading::Known(Spot::value(bytes)),
            Err(reason) => Reading::Unread(reason),
        }
    }

    pub(super) fn small(&self, word: Option<Word>) -> Reading<u32> {
        self.value(word).map(|value| value as u32)
    }

    /// The name of an enumerator; `Absent` for a 0 that has none.
    pub(super) fn named(
        &self,
        word: Option<Word>,
        names: &[(u64, &'static str)],
    ) -> Reading<&'static str> {
        named(self.value(word), names)
    }

    /// `x | y << 16`; none where it is 0.
    pub(super) fn tile_at(&self, word: Option<Word>) -> Option<NocXy> {
        let xy = *self.value(word).known().filter(|xy| **xy != 0)?;
        Some(NocXy { x: xy as u8, y: (xy >> 16) as u8 })
    }

    /// A tile by the coordinate that a kernel uses: physical, or as a NIU with translation takes it. None where none was told.
    pub(super) fn other(&self, x: &Reading<u64>, y: &Reading<u64>) -> Option<NocXy> {
        let (x, y) = x.known().zip(y.known()).filter(|told| *told != (&0, &0))?;
        let (x, y) = (u8::try_from(*x).ok()?, u8::try_from(*y).ok()?);
        let harvested = self.view.mesh.chip(self.chip)?.harvested_rows.as_ref()?;
        self.view.layout().tiles.untranslated(x, y, harvested)
    }

    /// The difference of two 32-bit counters.
    pub(super) fn difference(&self, more: Option<Word>, less: Option<Word>) -> Reading<u64> {
        difference(self.value(more), self.value(less))
    }

    /// The packet at an address.
    pub(super) fn head(&self, fields: &HeaderFields, addr: u64) -> HeadState {
        let bytes = fields.bytes as u32;
        let packet = match self.view.snapshot.bytes(self.at(addr), bytes) {
            Ok(header) => head::decode(fields, header),
            Err(reason) => Reading::Unread(reason),
        };
        HeadState { addr, bytes, packet }
    }

    /// What stands where a word says.
    pub(super) fn told(&self, address: Word) -> Told<'a> {
        let address = self.value(Some(address)).known().copied();
        Told { site: *self, address: address.filter(|address| *address != 0) }
    }
}

impl Told<'_> {
    /// Where they stand.
    pub(super) fn address(&self) -> Option<u64> {
        self.address
    }

    pub(super) fn value(&self, field: Option<Field>) -> Reading<u64> {
        let Some((address, field)) = self.address.zip(field) else { return Reading::Absent };
        let word = Word { addr: address + field.offset, size: field.size.min(8) as u32 };
        self.site.value(Some(word))
    }
}

/// The name of an enumerator; `Absent` for a 0 that has none.
pub(super) fn named(value: Reading<u64>, names: &[(u64, &'static str)]) -> Reading<&'static str> {
    match value {
        Reading::Known(value) => match names.iter().find(|(known, _)| *known == value) {
            Some((_, name)) => Reading::Known(name),
            None if value == 0 => Reading::Absent,
            None => Reading::Unknown(value),
        },
        other => other.without(),
    }
}

/// The difference of two 32-bit counters.
pub(super) fn difference(more: Reading<u64>, less: Reading<u64>) -> Reading<u64> {
    match (more, less) {
        (Reading::Known(more), Reading::Known(less)) => {
            Reading::Known((more as u32).wrapping_sub(less as u32).into())
        }
        (Reading::Known(_), other) | (other, _) => other,
    }
}
