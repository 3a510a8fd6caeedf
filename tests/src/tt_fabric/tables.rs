//! `routing_l1_info_t`: node, routing tables and paths of a chip, as tt-metal's host writes them.
//!
//! The offsets are those of tt-metal.md 1.5 relative to the structure; the encodings are those of
//! `fabric_common.h`.

use super::{BuildError, Fabric};
use fabric::routing_tables;
use machine::fabric::{Direction, Entry, FabricNode};

const MESH_ID: usize = 32;
const DEVICE_ID: usize = 34;
const INTRA_MESH: usize = 36;
const INTER_MESH: usize = 132;
const PATHS: usize = 516;
/// Offset of the multicast trees behind the paths of a mesh.
const TREES: usize = 1028;
const EXIT_NODES: usize = 1676;
const COORDINATES: usize = 2700;
const BYTES: usize = 2704;
/// Entries of the tables.
const DEVICES: usize = 256;
const MESHES: usize = 1024;
/// Entries of a line's paths, and bytes of each.
const LINE_PATHS: usize = 64;
const LINE_PATH_BYTES: usize = 16;
/// Table entries that are no direction.
const HERE: u8 = 5;
const ABSENT: u8 = 6;
const NO_EXIT: u8 = 0xFF;

/// Returns the structure of a node; the state manager, which is first, is cleared.
pub(super) fn routing_info(fabric: &Fabric, node: FabricNode) -> Result<Vec<u32>, BuildError> {
    let plan = &fabric.plan;
    let tables = routing_tables(plan).into_iter().find(|tables| tables.node == node);
    let mesh = plan.mesh_of(node);
    let (Some(tables), Some(mesh)) = (tables, mesh) else {
        return Err(BuildError(format!("{node} has no routing tables")));
    };
    let mut bytes = vec![0; BYTES];
    let mut put = |at: usize, value: &[u8]| {
        if let Some(place) = bytes.get_mut(at..at + value.len()) {
            place.copy_from_slice(value);
        }
    };
    put(MESH_ID, &node.mesh.to_le_bytes());
    put(DEVICE_ID, &node.device.to_le_bytes());
    put(INTRA_MESH, &packed(&tables.intra_mesh, DEVICES));
    put(INTER_MESH, &packed(&tables.inter_mesh, MESHES));
    if plan.topology.is_2d() {
        let (row, column) = mesh.place(node.device.into());
        let (rows, columns) = (axis(mesh.rows, [2, 1]), axis(mesh.columns, [1, 2]));
        put(PATHS, &[rows, columns].concat());
        let trees = [tree(mesh.rows, row, [2, 1]), tree(mesh.columns, column, [1, 2])];
        put(PATHS + TREES, &trees.concat());
        put(COORDINATES, &[row, column, mesh.rows, mesh.columns].map(|value| value as u8));
    } else {
        put(PATHS, &(0..LINE_PATHS).flat_map(line_path).collect::<Vec<_>>());
        let column = mesh.place(node.device.into()).1;
        put(COORDINATES, &[0, column as u8, 1, mesh.columns as u8]);
    }
    let exit = |mesh: usize| tables.exit_nodes.get(mesh).copied().flatten();
    let exits = (0..MESHES).map(|mesh| exit(mesh).map_or(NO_EXIT, |device| device as u8));
    put(EXIT_NODES, &exits.collect::<Vec<_>>());
    Ok(bytes.chunks_exact(4).map(word).collect())
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Packs directions: entry i is the three bits from bit 3i.
fn packed(entries: &[Entry], count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count * 3 / 8];
    for number in 0..count {
        let code = match entries.get(number) {
            Some(Entry::To(direction)) => direction_code(*direction),
            Some(Entry::Here) => HERE,
            Some(Entry::Absent) | None => ABSENT,
        };
        for bit in (0..3).filter(|bit| code >> bit & 1 == 1) {
            let at = 3 * number + bit;
            if let Some(byte) = bytes.get_mut(at / 8) {
                *byte |= 1 << (at % 8);
            }
        }
    }
    bytes
}

/// Returns a direction's value in `eth_chan_directions`.
pub(super) fn direction_code(direction: Direction) -> u8 {
    direction.index() as u8
}

/// Returns the path of a packet over this many hops of a line: two bits a hop.
fn line_path(hops: usize) -> [u8; LINE_PATH_BYTES] {
    const WRITE: u8 = 1;
    const FORWARD: u8 = 2;
    let mut bytes = [0; LINE_PATH_BYTES];
    for hop in 0..hops {
        let action = if hop + 1 == hops { WRITE } else { FORWARD };
        if let Some(byte) = bytes.get_mut(hop / 4) {
            *byte |= action << (2 * (hop % 4));
        }
    }
    bytes
}

/// Returns the actions along an axis: for each destination a row with the action at each position,
/// two bits each. `[up, down]` are the codes towards higher and lower positions.
fn axis(length: usize, [up, down]: [u8; 2]) -> Vec<u8> {
    let row = |to: usize| {
        let mut row = vec![0; length.div_ceil(4)];
        for at in 0..length {
            let action = match at.cmp(&to) {
                std::cmp::Ordering::Less => up,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => down,
            };
            if let Some(byte) = row.get_mut(at / 4) {
                *byte |= action << (2 * (at % 4));
            }
        }
        row
    };
    (0..length).flat_map(row).collect()
}

/// Returns the tree of an axis that multicasts from a position: an edge for each other position,
/// descendants before ancestors. An edge has the child, its parent, and the action at the parent.
fn tree(length: usize, root: usize, [up, down]: [u8; 2]) -> Vec<u8> {
    let mut children: Vec<usize> = (0..length).filter(|child| *child != root).collect();
    children.sort_by_key(|child| std::cmp::Reverse(child.abs_diff(root)));
    let edge = |child: usize| {
        let (parent, action) = if child > root { (child - 1, up) } else { (child + 1, down) };
        (child as u16 | (parent as u16) << 6 | u16::from(action) << 12).to_le_bytes()
    };
    children.into_iter().flat_map(edge).collect()
}
