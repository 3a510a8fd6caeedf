//! Words of a tile in a snapshot.

use super::head;
use crate::inspect::Inspection;
use crate::state::HeadState;
use images::fabric::{Header, Location, Memory, Reader, Word, stream};
use images::{Member, Reading};
use layouts::{ChipId, NocAddr, NocXy};
use machine::snapshot::Span;

/// A tile, being decoded.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) view: &'a Inspection<'a>,
    pub(super) chip: ChipId,
    pub(super) tile: NocXy,
}

/// A bound above the slots of any channel (`MAX_CHANNEL_BUFFER_SLOTS`).
const MOST_SLOTS: u64 = 127;

/// The slots of a channel.
pub(super) struct Slots<'a> {
    pub(super) header: &'a Header,
    /// Address of the first.
    pub(super) first: u64,
    /// Bytes of a slot.
    pub(super) bytes: u64,
    pub(super) count: u64,
}

impl Slots<'_> {
    pub(super) fn addr(&self, slot: u64) -> Option<u64> {
        self.first.checked_add(slot.checked_mul(self.bytes)?)
    }
}

impl Site<'_> {
    pub(super) fn at(&self, offset: u64) -> NocAddr {
        NocAddr { chip: self.chip, tile: self.tile, offset }
    }

    /// Returns the spans that locations refer to by addresses that were read.
    pub(super) fn leads<'l>(&self, locations: impl Iterator<Item = &'l Location>) -> Vec<Span> {
        let mut leads = Vec::new();
        locations.for_each(|location| Reader(self).leads(location, &mut leads));
        let span = |lead: &images::fabric::Lead| {
            let site = Self { tile: lead.tile.unwrap_or(self.tile), ..*self };
            Span { addr: site.at(lead.addr), len: lead.len as u32 }
        };
        leads.iter().map(span).collect()
    }

    /// Decodes the packet at an address.
    pub(super) fn head(&self, header: &Header, addr: u64) -> HeadState {
        let bytes = header.bytes as u32;
        let packet = match self.view.snapshot.bytes(self.at(addr), bytes) {
            Ok(found) => head::decode(header, found),
            Err(reason) => Reading::Unread(reason),
        };
        HeadState { addr, bytes, packet }
    }

    /// Decodes the packets of all slots.
    pub(super) fn heads(&self, slots: &Slots<'_>) -> Vec<HeadState> {
        let addresses = (0..slots.count.min(MOST_SLOTS)).filter_map(|slot| slots.addr(slot));
        addresses.map(|addr| self.head(slots.header, addr)).collect()
    }
}

impl Memory for Site<'_> {
    fn word(&self, word: Word) -> Reading<u64> {
        match self.view.snapshot.bytes(self.at(word.addr), word.size) {
            Ok(bytes) => Reading::Known(Member::value(bytes)),
            Err(reason) => Reading::Unread(reason),
        }
    }

    fn elsewhere(&self, tile: NocXy, word: Word) -> Reading<u64> {
        Self { tile, ..*self }.word(word)
    }

    fn is_l1(&self, tile: NocXy, word: Word) -> bool {
        let layout = self.view.layout();
        let bytes = layout.tile_at(tile).and_then(|tile| layout.l1_bytes(tile.kind));
        bytes.is_some_and(|bytes| word.addr < bytes)
    }

    fn credits(&self, id: u64) -> Option<Word> {
        let layout = self.view.layout();
        stream(layout, layout.tile_at(self.tile)?.kind, id)
    }

    fn tile(&self, x: u64, y: u64) -> Option<NocXy> {
        let (x, y) = (u8::try_from(x).ok()?, u8::try_from(y).ok()?);
        let harvested = self.view.mesh.chip(self.chip)?.harvested_rows.as_ref()?;
        self.view.layout().tiles.untranslated(x, y, harvested)
    }
}
