//! Routing tables of a chip: directions to the devices of its mesh (L0) and to other meshes (L1).

use super::{FabricError, FabricPlan};
use images::ImageMap;
use launch::{ControlError, image};
use machine::fabric::{Entry, RoutingTables};

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
    let image = image(images, plan.router_image())?;
    let layout = image.router.as_ref().and_then(|router| router.tables.as_ref());
    let layout = layout.ok_or_else(|| {
        let name = plan.router_image().to_owned();
        ControlError::NoMember(name, "routing_l1_info_t".to_owned())
    })?;
    let mesh = plan.mesh_of(tables.node);
    let place = mesh.map_or((0, 0), |mesh| mesh.place(tables.node.device.into()));
    let shape = mesh.map_or((0, 0), |mesh| (mesh.rows, mesh.columns));
    let mut bytes = vec![0; layout.bytes as usize];
    let unfit =
        |why| ControlError::Settings(format!("the routing tables of {}: {why}", tables.node));
    layout.encode_place(tables.node, place, shape, &mut bytes).map_err(unfit)?;
    layout.encode(tables, &mut bytes).map_err(unfit)?;
    Ok(bytes)
}

const L0: &str = "L0";
const L1: &str = "L1";
const EXITS: &str = "exit node";
