//! The routes of packets: first along the row, then along the column; to another mesh by the
//! nearest exit.

use super::{FabricPlan, Router};
use machine::fabric::{Direction, Entry, FabricNode};
use std::collections::{BTreeMap, VecDeque};

impl FabricPlan {
    /// Returns the next hop to a device of the same mesh: along the row to its column, then along
    /// the column. In a closed row or column it takes the shorter direction, east or south if both
    /// are equal. The lines and rings of a mesh have no turns, so that other rows' columns are absent.
    pub fn within(&self, from: FabricNode, device: u16) -> Entry {
        let Some(mesh) = self.mesh_of(from) else { return Entry::Absent };
        let (row, column) = mesh.place(usize::from(from.device));
        let (to_row, to_column) = mesh.place(usize::from(device));
        let along = shorter(column, to_column, mesh.columns, mesh.closed_rows);
        let across = shorter(row, to_row, mesh.rows, mesh.closed_columns);
        match (along, across) {
            (Some(_), Some(_)) if !self.topology.is_2d() => Entry::Absent,
            (Some((true, _)), _) => Entry::To(Direction::East),
            (Some((false, _)), _) => Entry::To(Direction::West),
            (None, Some((true, _))) => Entry::To(Direction::South),
            (None, Some((false, _))) => Entry::To(Direction::North),
            (None, None) => Entry::Here,
        }
    }

    /// Returns the hops between two devices of a mesh.
    pub fn hops(&self, from: FabricNode, device: u16) -> usize {
        let Some(mesh) = self.mesh_of(from) else { return 0 };
        let (row, column) = mesh.place(usize::from(from.device));
        let (to_row, to_column) = mesh.place(usize::from(device));
        let along = shorter(column, to_column, mesh.columns, mesh.closed_rows);
        let across = shorter(row, to_row, mesh.rows, mesh.closed_columns);
        along.map_or(0, |route| route.1) + across.map_or(0, |route| route.1)
    }

    /// Returns the nearest chip by which packets leave for another mesh, and the direction of its
    /// link. With [exits apart](Self::exits_apart), every other link between two meshes leads to
    /// the one with the higher number. None for their own mesh, or if no link leads there.
    pub fn exit(&self, from: FabricNode, mesh: u16) -> Option<(u16, Direction)> {
        self.exit_over(&self.next_meshes(mesh), from)
    }

    pub(super) fn exit_over(
        &self,
        next: &BTreeMap<u16, u16>,
        from: FabricNode,
    ) -> Option<(u16, Direction)> {
        let next = *next.get(&from.mesh)?;
        let leads = self.routers.iter().filter(|router| router.inter_mesh && router.plane == 0);
        let leads =
            leads.filter(|router| router.node.mesh == from.mesh && router.neighbor.mesh == next);
        let mut leads: Vec<&Router> = leads.collect();
        if self.exits_apart && leads.len() > 1 {
            let up = from.mesh < next;
            // Both meshes number the links by their ends in the lower mesh.
            leads.sort_unstable_by_key(|router| if up { router.eth } else { router.peer });
            leads = leads.into_iter().skip((!up).into()).step_by(2).collect();
        }
        let nearest = leads.into_iter().min_by_key(|router| {
            let device = router.node.device;
            (self.hops(from, device), device, router.direction)
        });
        nearest.map(|router| (router.node.device, router.direction))
    }

    /// Returns for each mesh the next mesh on the route to this one.
    pub(super) fn next_meshes(&self, mesh: u16) -> BTreeMap<u16, u16> {
        let mut next = BTreeMap::new();
        let mut queue = VecDeque::from([mesh]);
        while let Some(at) = queue.pop_front() {
            for router in self.routers.iter().filter(|router| router.inter_mesh) {
                let here = router.node.mesh;
                if router.neighbor.mesh == at && here != mesh && !next.contains_key(&here) {
                    next.insert(here, at);
                    queue.push_back(here);
                }
            }
        }
        next
    }

    /// Returns the next hop to any chip of the fabric. None at the destination, or if no link leads
    /// there.
    pub fn next_hop(&self, from: FabricNode, to: FabricNode) -> Option<Direction> {
        let (device, leaves) = if from.mesh == to.mesh {
            (to.device, None)
        } else {
            let (device, direction) = self.exit(from, to.mesh)?;
            (device, Some(direction))
        };
        match self.within(from, device) {
            Entry::To(direction) => Some(direction),
            Entry::Here => leaves,
            Entry::Absent => None,
        }
    }
}

/// Returns whether the shorter direction from one position of a row to another is forward, and the
/// distance.
fn shorter(from: usize, to: usize, length: usize, closed: bool) -> Option<(bool, usize)> {
    if from == to {
        return None;
    }
    if !closed {
        return Some((to > from, to.abs_diff(from)));
    }
    let forward = (to + length - from) % length;
    let back = length - forward;
    Some((forward <= back, forward.min(back)))
}
