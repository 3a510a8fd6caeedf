//! Decodes routing tables in the L1 of routers.

use super::site::Site;
use crate::state::TablesState;
use images::fabric::TablesLayout;
use layouts::EthId;
use machine::snapshot::Span;
use symbols::Field;

/// The tables of a router, being decoded.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    pub(super) site: Site<'a>,
    pub(super) layout: &'a TablesLayout,
    pub(super) at: EthId,
}

impl Tables<'_> {
    /// Returns the span of the tables.
    pub(super) fn span(&self) -> Span {
        Span { addr: self.site.at(self.layout.address), len: self.layout.bytes as u32 }
    }

    /// Decodes the tables, if the snapshot has them.
    pub(super) fn state(&self) -> Option<TablesState> {
        let Span { addr, len } = self.span();
        let bytes = self.site.view.snapshot.bytes(addr, len).ok()?;
        decode(self.layout, self.at, bytes)
    }
}

fn decode(layout: &TablesLayout, at: EthId, bytes: &[u8]) -> Option<TablesState> {
    let number = |field: Field| field.read(bytes);
    let shape = (number(layout.rows)?, number(layout.columns)?);
    let tables = layout.decode(bytes, shape.0.saturating_mul(shape.1))?;
    Some(TablesState { at, place: (number(layout.row)?, number(layout.column)?), shape, tables })
}
