//! Routing tables of a chip: directions to the devices of its mesh (L0) and to other meshes (L1).

use super::{FabricError, FabricPlan};
use crate::words::router_image;
use images::ImageMap;
use launch::records::{field, size};
use launch::{ControlError, constant_of, image};
use machine::fabric::Direction;
use machine::fabric::{Entry, RoutingTables};

/// Bits of an entry.
const ENTRY_BITS: usize = 3;
/// The exit node of a mesh without an exit.
const NO_EXIT: u8 = 0xFF;

/// Returns the tables of every chip of a fabric, mesh after mesh.
pub fn routing_tables(plan: &FabricPlan) -> Vec<RoutingTables> {
    let next: Vec<_> = (0..plan.meshes.len()).map(|mesh| plan.next_meshes(mesh as u16)).collect();
    let tables = plan.nodes().map(|node| {
        let devices = plan.mesh_of(node).map_or(0, |mesh| mesh.chips.len()) as u16;
        let intra = (0..devices).map(|device| plan.within(node, device));
        let exits: Vec<_> = next.iter().map(|next| plan.exit_over(next, node)).collect();
        let inter = exits.iter().enumerate().map(|(mesh, exit)| match exit {
            Some((device, leaves)) => match plan.within(node, *device) {
                Entry::Here => Entry::To(*leaves),
                towards => towards,
            },
            None if mesh == usize::from(node.mesh) => Entry::Here,
            None => Entry::Absent,
        });
        RoutingTables {
            node,
            intra_mesh: intra.collect(),
            inter_mesh: inter.collect(),
            exit_nodes: exits.iter().map(|exit| exit.map(|(device, _)| device)).collect(),
        }
    });
    tables.collect()
}

/// Checks that tables name only existing chips and meshes. A table can form a loop.
///
/// # Errors
/// The first entry that names an absent chip.
pub fn check_tables(tables: &RoutingTables, plan: &FabricPlan) -> Result<(), FabricError> {
    let node = tables.node;
    let devices = plan.mesh_of(node).map_or(0, |mesh| mesh.chips.len());
    let meshes = plan.meshes.len();
    let is_set = |entry: &&(u32, Entry)| entry.1 != Entry::Absent;
    let list = |entries: &[Entry]| (0..).zip(entries.iter().copied()).collect::<Vec<_>>();
    let (intra, inter) = (list(&tables.intra_mesh), list(&tables.inter_mesh));
    let beyond = intra.iter().skip(devices).find(is_set);
    if let Some(&(device, _)) = beyond {
        return Err(FabricError::NoDevice { node, table: L0, device, devices });
    }
    if let Some(&(mesh, _)) = inter.iter().skip(meshes).find(is_set) {
        return Err(FabricError::NoMesh { node, table: L1, mesh, meshes });
    }
    for (table, entries) in [(L0, intra), (L1, inter)] {
        let unconnected = entries.into_iter().find_map(|(number, entry)| match entry {
            Entry::To(route) if plan.router(node, route, 0).is_none() => Some((number, route)),
            _ => None,
        });
        if let Some((entry, direction)) = unconnected {
            return Err(FabricError::NoNeighbor { node, table, entry, direction });
        }
    }
    let exits = (0..).zip(&tables.exit_nodes);
    for (mesh, device) in exits.filter_map(|(mesh, exit)| Some((mesh, (*exit)?))) {
        if mesh as usize >= meshes {
            return Err(FabricError::NoMesh { node, table: EXITS, mesh, meshes });
        }
        if usize::from(device) >= devices {
            let device = device.into();
            return Err(FabricError::NoDevice { node, table: EXITS, device, devices });
        }
    }
    Ok(())
}

/// Returns the bytes of `routing_l1_info_t`, by the member names of the router's image.
///
/// # Errors
/// `Settings` for a table that [`check_tables`] refuses or that does not fit; `NoImage` or
/// `NoMember`.
pub fn pack_tables(
    tables: &RoutingTables,
    images: &ImageMap,
    plan: &FabricPlan,
) -> Result<Vec<u8>, ControlError> {
    check_tables(tables, plan).map_err(|error| ControlError::Settings(error.to_string()))?;
    let mut packer = Packer::new(images, plan)?;
    let mesh = plan.mesh_of(tables.node);
    let (row, column) = mesh.map_or((0, 0), |mesh| mesh.place(tables.node.device.into()));
    let (rows, columns) = mesh.map_or((0, 0), |mesh| (mesh.rows, mesh.columns));
    packer.put("my_mesh_id", tables.node.mesh.into())?;
    packer.put("my_device_id", tables.node.device.into())?;
    packer.put("my_row", row as u64)?;
    packer.put("my_column", column as u64)?;
    packer.put("mesh_rows", rows as u64)?;
    packer.put("mesh_columns", columns as u64)?;
    packer.put_entries("intra_mesh.packed_directions", &tables.intra_mesh)?;
    packer.put_entries("inter_mesh.packed_directions", &tables.inter_mesh)?;
    packer.put_exits("exit_node_table", &tables.exit_nodes)?;
    Ok(packer.bytes)
}

const L0: &str = "L0";
const L1: &str = "L1";
const EXITS: &str = "exit node";
const TYPE: &str = "routing_l1_info_t";

/// Packs the tables into bytes.
struct Packer<'a> {
    images: &'a ImageMap,
    kernel: &'static str,
    bytes: Vec<u8>,
}

impl<'a> Packer<'a> {
    fn new(images: &'a ImageMap, plan: &FabricPlan) -> Result<Self, ControlError> {
        let kernel = router_image(plan.topology);
        let size = size(&*image(images, kernel)?, TYPE)?;
        Ok(Self { images, kernel, bytes: vec![0; size as usize] })
    }

    /// Returns the byte range of a member.
    fn range(&self, member: &str) -> Result<std::ops::Range<usize>, ControlError> {
        let field = field(&*image(self.images, self.kernel)?, &format!("{TYPE}.{member}"))?;
        let start = field.offset as usize;
        Ok(start..start + field.size as usize)
    }

    fn put(&mut self, member: &str, value: u64) -> Result<(), ControlError> {
        let range = self.range(member)?;
        let room = range.len().min(8);
        let fits = value.checked_shr(8 * room as u32).is_none_or(|rest| rest == 0);
        let place = self.bytes.get_mut(range.start..range.start + room);
        match (place, value.to_le_bytes().get(..room)) {
            (Some(place), Some(value)) if fits => place.copy_from_slice(value),
            _ => return Err(too_large(member, value)),
        }
        Ok(())
    }

    /// Packs entries: entry i begins at bit 3i.
    fn put_entries(&mut self, member: &str, entries: &[Entry]) -> Result<(), ControlError> {
        let range = self.range(member)?;
        let room = 8 * range.len() / ENTRY_BITS;
        if entries.len() > room {
            return Err(too_large(member, entries.len() as u64));
        }
        let code = |name| constant_of(self.images, self.kernel, name);
        let (here, absent) = (code("NO_DIRECTION")?, code("NO_ENTRY")?);
        let mut routes = Vec::new();
        for route in Direction::ALL {
            routes.push(code(route.name())?);
        }
        let outside = || too_large(member, entries.len() as u64);
        let bytes = self.bytes.get_mut(range).ok_or_else(outside)?;
        for number in 0..room {
            let code = match entries.get(number).unwrap_or(&Entry::Absent) {
                Entry::To(route) => *routes.get(route.index()).ok_or_else(outside)?,
                Entry::Here => here,
                Entry::Absent => absent,
            };
            for bit in (0..ENTRY_BITS).filter(|bit| code >> bit & 1 == 1) {
                let at = ENTRY_BITS * number + bit;
                if let Some(byte) = bytes.get_mut(at / 8) {
                    *byte |= 1 << (at % 8);
                }
            }
        }
        Ok(())
    }

    fn put_exits(&mut self, member: &str, exits: &[Option<u16>]) -> Result<(), ControlError> {
        let range = self.range(member)?;
        let named = exits.iter().flatten().max().copied().unwrap_or(0);
        if exits.len() > range.len() || named >= NO_EXIT.into() {
            return Err(too_large(member, exits.len().max(named.into()) as u64));
        }
        let outside = || too_large(member, exits.len() as u64);
        let bytes = self.bytes.get_mut(range).ok_or_else(outside)?;
        bytes.fill(NO_EXIT);
        for (byte, exit) in bytes.iter_mut().zip(exits) {
            *byte = exit.map_or(NO_EXIT, |device| device as u8);
        }
        Ok(())
    }
}

fn too_large(member: &str, value: u64) -> ControlError {
    ControlError::Settings(format!("{value} does not fit into {member} of a routing table"))
}
