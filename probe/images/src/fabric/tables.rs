//! The layout of a chip's routing tables in the L1 of its routers (tt-metal.md 4.8).

use super::builtin::Names;
use machine::fabric::{Direction, Entry, FabricNode, RoutingTables};
use std::ops::Range;
use symbols::Field;

/// Bits of an entry.
const ENTRY_BITS: usize = 3;
/// The exit node of a mesh without an exit.
const NO_EXIT: u8 = 0xFF;

/// Address and fields of the tables.
#[derive(Clone, Debug)]
pub struct TablesLayout {
    /// Address of the tables.
    pub address: u64,
    /// Their size.
    pub bytes: u64,
    /// The mesh of the router.
    pub mesh: Field,
    /// The device of the router.
    pub device: Field,
    /// The row of the router.
    pub row: Field,
    /// The column of the router.
    pub column: Field,
    /// Number of rows.
    pub rows: Field,
    /// Number of columns.
    pub columns: Field,
    /// The direction to each device of the mesh.
    pub intra_mesh: Field,
    /// The direction to each mesh.
    pub inter_mesh: Field,
    /// The exit to each mesh.
    pub exits: Field,
    /// The code of each direction in an entry.
    pub directions: Vec<(u64, Direction)>,
    /// The code of an entry for the router itself.
    pub here: u64,
    /// The code of an entry that leads nowhere.
    pub absent: u64,
}

impl TablesLayout {
    /// Finds the fields of tt-metal's `routing_l1_info_t` by their names, and the codes of its entries.
    pub(super) fn tt_metal(
        (address, bytes): (u64, u64),
        of: impl Fn(&str) -> Option<Field>,
        code: impl Fn(Direction) -> u64,
        (here, absent): (u64, u64),
    ) -> Option<Self> {
        Some(Self {
            address,
            bytes,
            mesh: of("my_mesh_id")?,
            device: of("my_device_id")?,
            row: of("my_mesh_coord_y")?,
            column: of("my_mesh_coord_x")?,
            rows: of("mesh_y_size")?,
            columns: of("mesh_x_size")?,
            intra_mesh: of("intra_mesh_direction_table")?,
            inter_mesh: of("inter_mesh_direction_table")?,
            exits: of("exit_node_table")?,
            directions: Direction::ALL.into_iter().map(|route| (code(route), route)).collect(),
            here,
            absent,
        })
    }
}

impl TablesLayout {
    /// Decodes the tables of a mesh of so many devices.
    pub fn decode(&self, bytes: &[u8], devices: u64) -> Option<RoutingTables> {
        let part = |field: Field| bytes.get(range(field));
        let devices = usize::try_from(devices).unwrap_or(usize::MAX);
        let mut inter_mesh = self.entries(part(self.inter_mesh)?, usize::MAX);
        let exits = part(self.exits)?.iter();
        let mut exit_nodes: Vec<_> =
            exits.map(|exit| (*exit != NO_EXIT).then(|| u16::from(*exit))).collect();
        let last_entry = inter_mesh.iter().rposition(|entry| *entry != Entry::Absent);
        let last_exit = exit_nodes.iter().rposition(Option::is_some);
        let meshes = last_entry.max(last_exit).map_or(0, |last| last + 1);
        inter_mesh.truncate(meshes);
        exit_nodes.truncate(meshes);
        let node = FabricNode {
            mesh: self.mesh.read(bytes)? as u16,
            device: self.device.read(bytes)? as u16,
        };
        let intra_mesh = self.entries(part(self.intra_mesh)?, devices);
        Some(RoutingTables { node, intra_mesh, inter_mesh, exit_nodes })
    }

    /// Decodes packed entries: entry i begins at bit 3i.
    fn entries(&self, bytes: &[u8], most: usize) -> Vec<Entry> {
        let count = (bytes.len() * 8 / ENTRY_BITS).min(most);
        let bit = |bit: usize| bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        let code = |entry: usize| {
            (0..ENTRY_BITS).map(|n| u64::from(bit(ENTRY_BITS * entry + n)) << n).sum::<u64>()
        };
        let named = |code: u64| match self.directions.iter().find(|(known, _)| *known == code) {
            Some((_, route)) => Entry::To(*route),
            None if code == self.here => Entry::Here,
            None => Entry::Absent,
        };
        (0..count).map(|entry| named(code(entry))).collect()
    }

    /// Writes a router's node, and its row and column in a mesh of so many rows and columns, into the
    /// bytes of a `routing_l1_info_t`.
    ///
    /// # Errors
    /// The number that does not fit.
    pub fn encode_place(
        &self,
        node: FabricNode,
        (row, column): (usize, usize),
        (rows, columns): (usize, usize),
        bytes: &mut [u8],
    ) -> Result<(), String> {
        for (field, value) in [
            (self.mesh, node.mesh.into()),
            (self.device, node.device.into()),
            (self.row, row),
            (self.column, column),
            (self.rows, rows),
            (self.columns, columns),
        ] {
            let value = (value as u64).to_le_bytes();
            let place = bytes.get_mut(range(field)).map_or(&mut [][..], |place| place);
            let (low, high) = value.split_at(place.len().min(value.len()));
            if place.len() > value.len() || high.iter().any(|byte| *byte != 0) {
                let number = u64::from_le_bytes(value);
                return Err(format!("{number} does not fit into the place of {node}"));
            }
            place.copy_from_slice(low);
        }
        Ok(())
    }

    /// Packs the entries and exit nodes of tables into the bytes of a `routing_l1_info_t`; all its
    /// other members stay as they are.
    ///
    /// # Errors
    /// The table with more entries, or a larger exit node, than it has room for.
    pub fn encode(&self, tables: &RoutingTables, bytes: &mut [u8]) -> Result<(), String> {
        let full = |what: &str, number: usize| format!("{number} does not fit into {what}");
        for (what, field, entries) in [
            ("L0", self.intra_mesh, &tables.intra_mesh),
            ("L1", self.inter_mesh, &tables.inter_mesh),
        ] {
            let too_many = || full(what, entries.len());
            let part = bytes.get_mut(range(field)).ok_or_else(too_many)?;
            let room = 8 * part.len() / ENTRY_BITS;
            if entries.len() > room {
                return Err(too_many());
            }
            for number in 0..room {
                let entry = entries.get(number).copied().unwrap_or(Entry::Absent);
                let code = self.code(entry).ok_or_else(too_many)?;
                for bit in 0..ENTRY_BITS {
                    let at = ENTRY_BITS * number + bit;
                    if let Some(byte) = part.get_mut(at / 8) {
                        *byte = *byte & !(1 << (at % 8)) | (code >> bit & 1) << (at % 8);
                    }
                }
            }
        }
        let exits = &tables.exit_nodes;
        let largest = exits.iter().flatten().max().copied().unwrap_or(0);
        let part = bytes.get_mut(range(self.exits)).filter(|part| exits.len() <= part.len());
        let part = part.ok_or_else(|| full("the exit nodes", exits.len()))?;
        if largest >= NO_EXIT.into() {
            return Err(full("the exit nodes", largest.into()));
        }
        part.fill(NO_EXIT);
        for (byte, exit) in part.iter_mut().zip(exits) {
            *byte = exit.map_or(NO_EXIT, |device| device as u8);
        }
        Ok(())
    }

    /// Returns the code of an entry; none of a direction that the image does not name.
    fn code(&self, entry: Entry) -> Option<u8> {
        let code = match entry {
            Entry::To(route) => self.directions.iter().find(|(_, known)| *known == route)?.0,
            Entry::Here => self.here,
            Entry::Absent => self.absent,
        };
        u8::try_from(code).ok()
    }
}

/// Returns the range of a member in the bytes of its struct.
fn range(field: Field) -> Range<usize> {
    let start = field.offset as usize;
    start..start.saturating_add(field.size as usize)
}

/// Returns a field of this many bytes.
pub(super) fn bytes_at(offset: u64, size: u64) -> Field {
    Field { offset, size, count: 1, stride: size, bit_size: 0, bit_shift: 0, signed: false }
}

impl Names<'_> {
    /// Finds the tables of this image.
    pub(super) fn tables(self) -> Option<TablesLayout> {
        const TYPE: &str = "routing_l1_info_t";
        let of = |member: &str| self.field(&format!("{TYPE}.{member}"));
        let code = |route: Direction| Some((self.constant(route.name())?, route));
        Some(TablesLayout {
            address: self.constant("routing_info_addr")?,
            bytes: self.1.type_named(TYPE)?.size()?,
            mesh: of("my_mesh_id")?,
            device: of("my_device_id")?,
            row: of("my_row")?,
            column: of("my_column")?,
            rows: of("mesh_rows")?,
            columns: of("mesh_columns")?,
            intra_mesh: of("intra_mesh.packed_directions")?,
            inter_mesh: of("inter_mesh.packed_directions")?,
            exits: of("exit_node_table")?,
            directions: Direction::ALL.into_iter().filter_map(code).collect(),
            here: self.constant("NO_DIRECTION")?,
            absent: self.constant("NO_ENTRY")?,
        })
    }
}
