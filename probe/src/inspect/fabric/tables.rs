//! Routing tables out of the L1 of routers.

use crate::fabric::{Entry, FabricNode, RoutingTables};
use crate::images::{ImageMap, TablesLayout};
use crate::snapshot::{AccessError, Snapshot, Span};
use crate::state::{FabricState, RouterState, TablesState};
use layouts::{CoreId, CoreKind, NocAddr};
use symbols::Field;

/// Bits of an entry.
const ENTRY_BITS: u64 = 3;
/// No device is the exit to a mesh.
const NO_EXIT: u8 = 0xFF;

/// Where the tables of routers stand: a look that has these can tell them.
pub fn fabric_table_spans<'a>(
    images: &ImageMap,
    routers: impl IntoIterator<Item = &'a RouterState>,
) -> Vec<Span> {
    let spans =
        routers.into_iter().filter_map(|router| Some(span(router, layout(images, router)?)));
    spans.collect()
}

/// The tables of each router that a look has read.
pub fn fabric_tables(
    shot: &Snapshot,
    images: &ImageMap,
    fabric: &FabricState,
) -> Vec<Result<TablesState, (Span, AccessError)>> {
    let read = |router: &RouterState| {
        let layout = layout(images, router)?;
        let span = span(router, layout);
        match shot.bytes(span.addr, span.len) {
            Ok(bytes) => Some(Ok(decode(layout, router, bytes))),
            Err(AccessError::NotAsked) => None,
            Err(reason) => Some(Err((span, reason))),
        }
    };
    fabric.routers.iter().filter_map(read).collect()
}

fn layout<'a>(images: &'a ImageMap, router: &RouterState) -> Option<&'a TablesLayout> {
    let core = CoreId { chip: router.at.chip, tile: router.tile, core: CoreKind::Erisc };
    images.fabric_image(core)?.router.as_ref()?.tables.as_ref()
}

fn span(router: &RouterState, layout: &TablesLayout) -> Span {
    let addr = NocAddr { chip: router.at.chip, tile: router.tile, offset: layout.address };
    Span { addr, len: layout.bytes as u32 }
}

fn decode(layout: &TablesLayout, router: &RouterState, bytes: &[u8]) -> TablesState {
    let number = |field: Field| field.read(bytes).unwrap_or_default();
    let part = |field: Field| {
        let start = field.offset as usize;
        bytes.get(start..start + field.size as usize).unwrap_or_default()
    };
    let (rows, columns) = (number(layout.rows), number(layout.columns));
    let mut inter_mesh = entries(layout, part(layout.inter_mesh), u64::MAX);
    let exits = part(layout.exits).iter();
    let mut exit_nodes: Vec<_> =
        exits.map(|exit| (*exit != NO_EXIT).then(|| u16::from(*exit))).collect();
    let last_entry = inter_mesh.iter().rposition(|entry| *entry != Entry::Absent);
    let last_exit = exit_nodes.iter().rposition(Option::is_some);
    let meshes = last_entry.max(last_exit).map_or(0, |last| last + 1);
    inter_mesh.truncate(meshes);
    exit_nodes.truncate(meshes);
    TablesState {
        at: router.at,
        place: (number(layout.row), number(layout.column)),
        shape: (rows, columns),
        tables: RoutingTables {
            node: FabricNode {
                mesh: number(layout.mesh) as u16,
                device: number(layout.device) as u16,
            },
            intra_mesh: entries(layout, part(layout.intra_mesh), rows * columns),
            inter_mesh,
            exit_nodes,
        },
    }
}

/// Entry i stands in bits 3i and up.
fn entries(layout: &TablesLayout, bytes: &[u8], most: u64) -> Vec<Entry> {
    let count = (bytes.len() as u64 * 8 / ENTRY_BITS).min(most);
    let bit =
        |bit: u64| bytes.get((bit / 8) as usize).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
    let code = |entry: u64| {
        (0..ENTRY_BITS).map(|n| u64::from(bit(ENTRY_BITS * entry + n)) << n).sum::<u64>()
    };
    let named = |code: u64| match layout.directions.iter().find(|(known, _)| *known == code) {
        Some((_, way)) => Entry::To(*way),
        None if code == layout.here => Entry::Here,
        None => Entry::Absent,
    };
    (0..count).map(|entry| named(code(entry))).collect()
}
