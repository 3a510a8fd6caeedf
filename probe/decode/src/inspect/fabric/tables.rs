//! Decodes routing tables in the L1 of routers.

use super::site::Site;
use crate::state::TablesState;
use images::fabric::TablesLayout;
use layouts::EthId;
use machine::fabric::{Entry, FabricNode, RoutingTables};
use machine::snapshot::Span;
use symbols::Field;

/// Bits of an entry.
const ENTRY_BITS: u64 = 3;
/// The exit node of a mesh without an exit.
const NO_EXIT: u8 = 0xFF;

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
    let part = |field: Field| {
        let start = field.offset as usize;
        bytes.get(start..start + field.size as usize)
    };
    let (rows, columns) = (number(layout.rows)?, number(layout.columns)?);
    let mut inter_mesh = entries(layout, part(layout.inter_mesh)?, u64::MAX);
    let exits = part(layout.exits)?.iter();
    let mut exit_nodes: Vec<_> =
        exits.map(|exit| (*exit != NO_EXIT).then(|| u16::from(*exit))).collect();
    let last_entry = inter_mesh.iter().rposition(|entry| *entry != Entry::Absent);
    let last_exit = exit_nodes.iter().rposition(Option::is_some);
    let meshes = last_entry.max(last_exit).map_or(0, |last| last + 1);
    inter_mesh.truncate(meshes);
    exit_nodes.truncate(meshes);
    Some(TablesState {
        at,
        place: (number(layout.row)?, number(layout.column)?),
        shape: (rows, columns),
        tables: RoutingTables {
            node: FabricNode {
                mesh: number(layout.mesh)? as u16,
                device: number(layout.device)? as u16,
            },
            intra_mesh: entries(layout, part(layout.intra_mesh)?, rows.saturating_mul(columns)),
            inter_mesh,
            exit_nodes,
        },
    })
}

/// Decodes packed entries: entry i begins at bit 3i.
fn entries(layout: &TablesLayout, bytes: &[u8], most: u64) -> Vec<Entry> {
    let count = (bytes.len() as u64 * 8 / ENTRY_BITS).min(most);
    let bit =
        |bit: u64| bytes.get((bit / 8) as usize).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
    let code = |entry: u64| {
        (0..ENTRY_BITS).map(|n| u64::from(bit(ENTRY_BITS * entry + n)) << n).sum::<u64>()
    };
    let named = |code: u64| match layout.directions.iter().find(|(known, _)| *known == code) {
        Some((_, route)) => Entry::To(*route),
        None if code == layout.here => Entry::Here,
        None => Entry::Absent,
    };
    (0..count).map(|entry| named(code(entry))).collect()
}
