//! A mesh of a fabric: its chips in rows and columns.

use launch::topology::{FreeLinks, Socket};
use layouts::ChipId;
use machine::fabric::Direction;

/// The chips of a mesh by device, row after row. A line or a ring is one row; of a mesh more than two
/// chips wide and high, every row and column is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricMesh {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The chip of each device.
    pub chips: Vec<ChipId>,
    /// Whether the last chip of each row is joined to the first.
    pub closed_rows: bool,
    /// Whether the last chip of each column is joined to the first.
    pub closed_columns: bool,
}

impl FabricMesh {
    /// Makes a mesh with open rows and columns.
    pub(super) fn open(rows: usize, columns: usize, chips: Vec<ChipId>) -> Self {
        Self { rows, columns, chips, closed_rows: false, closed_columns: false }
    }

    /// Returns the device of a chip.
    pub fn device(&self, chip: ChipId) -> Option<usize> {
        self.chips.iter().position(|&other| other == chip)
    }

    /// Returns row and column of a device.
    pub fn place(&self, device: usize) -> (usize, usize) {
        (device / self.columns.max(1), device % self.columns.max(1))
    }

    /// Whether closed rows and columns have at least two chips.
    pub(super) fn can_be_closed(&self) -> bool {
        (!self.closed_rows || self.columns > 1) && (!self.closed_columns || self.rows > 1)
    }

    /// Returns the number of devices along a direction, and whether the last is joined to the
    /// first.
    fn extent(&self, direction: Direction) -> (usize, bool) {
        if direction.is_along_row() {
            (self.columns, self.closed_rows)
        } else {
            (self.rows, self.closed_columns)
        }
    }

    /// Returns the next device in a direction, and whether the link to it closes a ring.
    pub fn neighbor(&self, device: usize, direction: Direction) -> Option<(usize, bool)> {
        let (row, column) = self.place(device);
        let (length, closed) = self.extent(direction);
        let at = if direction.is_along_row() { column } else { row };
        let forward = matches!(direction, Direction::East | Direction::South);
        let last = if forward { at + 1 == length } else { at == 0 };
        if length < 2 || last && !closed {
            return None;
        }
        let next = if forward { (at + 1) % length } else { (at + length - 1) % length };
        let (row, column) = if direction.is_along_row() { (row, next) } else { (next, column) };
        Some((row * self.columns + column, last))
    }

    /// Returns all neighbours of a device; with each, whether they form a ring of two.
    pub(super) fn around(&self, device: usize) -> Vec<(usize, bool)> {
        let routes = Direction::ALL.into_iter();
        let routes = routes.filter_map(|route| {
            let (neighbor, _) = self.neighbor(device, route)?;
            Some((neighbor, self.extent(route) == (2, true)))
        });
        routes.collect()
    }

    /// Whether two edges share the links of these chips.
    pub(super) fn is_shared(&self, a: ChipId, b: ChipId) -> bool {
        let (Some(a), Some(b)) = (self.device(a), self.device(b)) else { return false };
        self.around(a).contains(&(b, true))
    }

    /// Returns the links of a device in a direction, with the device at the other end and whether
    /// they close a ring.
    pub(super) fn sockets(
        &self,
        free: &FreeLinks,
        device: usize,
        direction: Direction,
    ) -> Option<(usize, bool, Vec<Socket>)> {
        let (neighbor, wraps) = self.neighbor(device, direction)?;
        let all = free.between(*self.chips.get(device)?, *self.chips.get(neighbor)?);
        if self.extent(direction) != (2, true) {
            return Some((neighbor, wraps, all));
        }
        // tt-metal assigns alternate links to the two edges of a ring of two.
        let every_other = all.into_iter().skip(usize::from(wraps)).step_by(2).collect();
        Some((neighbor, wraps, every_other))
    }

    /// Returns the first edge with fewer links than planes.
    pub(super) fn lacking(&self, free: &FreeLinks, planes: u32) -> Option<(ChipId, ChipId)> {
        let routes = (0..self.chips.len())
            .flat_map(|device| Direction::ALL.into_iter().map(move |route| (device, route)));
        routes.into_iter().find_map(|(device, route)| {
            let (neighbor, _, sockets) = self.sockets(free, device, route)?;
            let lacks = sockets.len() < planes as usize;
            let edge = (*self.chips.get(device)?, *self.chips.get(neighbor)?);
            lacks.then_some(edge)
        })
    }
}
