//! Loops in routing tables, and the position of a packet in them after a number of hops.

use super::RouteEnd;
use fabric::FabricMesh;
use machine::fabric::Direction;

/// Rows and columns of the specification's example.
pub(super) const SIDE: usize = 4;
/// The entries for D16 in its tables, by device from 0: from D1 to D5, then D6, D7, D11, D10, D9,
/// D5 and so on.
const SPECIFIED: [(u16, Direction); 7] = [
    (0, Direction::South),
    (4, Direction::East),
    (5, Direction::East),
    (6, Direction::South),
    (10, Direction::West),
    (9, Direction::West),
    (8, Direction::North),
];

/// Entries of routing tables that form a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The device where packets begin, from 0.
    pub from: u16,
    /// Their destination, which they never reach.
    pub to: u16,
    /// By device the direction to the destination, in the order of a packet's route.
    pub entries: Vec<(u16, Direction)>,
}

impl Loop {
    /// Returns true if the mesh is large enough for the specification's example.
    pub(super) fn is_of_specification(mesh: &FabricMesh) -> bool {
        mesh.rows >= SIDE && mesh.columns >= SIDE
    }

    /// Returns the specification's loop, else one round the first four chips.
    pub(super) fn of(mesh: &FabricMesh) -> Option<Self> {
        let last = mesh.chips.len().checked_sub(1)? as u16;
        if (mesh.rows, mesh.columns) == (SIDE, SIDE) {
            return Some(Self { from: 0, to: last, entries: SPECIFIED.to_vec() });
        }
        let row = mesh.columns as u16;
        let entries = vec![
            (0, Direction::East),
            (1, Direction::South),
            (row + 1, Direction::West),
            (row, Direction::North),
        ];
        let room = mesh.rows >= 2 && mesh.columns >= 2 && last > row + 1;
        room.then_some(Self { from: 0, to: last, entries })
    }

    /// Returns the devices on a packet's route of this many hops, and its end.
    pub(super) fn walk(&self, mesh: &FabricMesh, hops: u8) -> Option<(Vec<u16>, RouteEnd)> {
        let mut at = self.from;
        let (mut route, mut end) = (Vec::new(), None);
        for _ in 0..hops {
            let (_, direction) = self.entries.iter().find(|(device, _)| *device == at)?;
            let (next, _) = mesh.neighbor(usize::from(at), *direction)?;
            at = next as u16;
            route.push(at);
            end = Some(RouteEnd { device: at, direction: direction.opposite() });
        }
        Some((route, end?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use layouts::ChipId;

    fn mesh(rows: usize, columns: usize) -> FabricMesh {
        let chips = (0..(rows * columns) as u16).map(ChipId).collect();
        FabricMesh { rows, columns, chips, closed_rows: false, closed_columns: false }
    }

    #[test]
    fn sixteen_chips_have_the_specifications_loop() {
        let found = Loop::of(&mesh(4, 4)).unwrap();
        assert_eq!((found.from, found.to), (0, 15));
        let (route, end) = found.walk(&mesh(4, 4), 10).unwrap();
        // D5 D6 D7 D11 D10 D9 D5 D6 D7 D11.
        assert_eq!(route, [4, 5, 6, 10, 9, 8, 4, 5, 6, 10]);
        assert_eq!(end, RouteEnd { device: 10, direction: Direction::North });
    }

    #[test]
    fn fewer_chips_have_one_round_the_first_four() {
        let found = Loop::of(&mesh(2, 4)).unwrap();
        let (route, end) = found.walk(&mesh(2, 4), 6).unwrap();
        assert_eq!((found.to, route), (7, vec![1, 5, 4, 0, 1, 5]));
        assert_eq!(end, RouteEnd { device: 5, direction: Direction::North });
        for (rows, columns) in [(1, 8), (2, 2), (1, 2)] {
            assert_eq!(Loop::of(&mesh(rows, columns)), None, "no device is outside the loop");
        }
    }
}
