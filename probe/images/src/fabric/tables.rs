//! The layout of a chip's routing tables in the L1 of its routers (tt-metal.md 4.8).

use super::builtin::Names;
use machine::fabric::Direction;
use symbols::Field;

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
}

impl TablesLayout {
    /// Finds the fields of tt-metal's `routing_l1_info_t` by their names, and the codes of its entries.
    pub(super) fn tt_metal(
        (address, bytes): (u64, u64),
        of: impl Fn(&str) -> Option<Field>,
        code: impl Fn(Direction) -> u64,
        here: u64,
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
        })
    }
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
        })
    }
}
