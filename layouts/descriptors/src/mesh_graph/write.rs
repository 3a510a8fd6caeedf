//! Writes a mesh as a mesh graph descriptor.

use super::grids::{Grid, Shelf, shelves};
use layouts::{ChipId, ClusterDescriptor, DescribedChip};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// A mesh as a mesh graph descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshGraph {
    /// The descriptor in the text format.
    pub text: String,
    /// How many links it does not count: those beyond the number that all neighbours have.
    pub beyond: usize,
}

/// Describes the chips of each rack and shelf as a grid, and counts the links between the grids.
///
/// # Errors
/// Chips that are no grid, or neighbours without a link, in one sentence.
pub fn mesh_graph_of(mesh: &ClusterDescriptor) -> Result<MeshGraph, String> {
    let shelves = shelves(mesh)?;
    let grids =
        shelves.iter().map(|shelf| shelf.grid(&mesh.links)).collect::<Result<Vec<_>, _>>()?;
    let mut kinds: Vec<Grid> = Vec::new();
    for grid in &grids {
        if !kinds.contains(grid) {
            kinds.push(*grid);
        }
    }
    let of: BTreeMap<ChipId, usize> = (0..)
        .zip(&shelves)
        .flat_map(|(number, shelf)| shelf.chips().map(move |chip| (chip, number)))
        .collect();
    let mut joined: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for (a, b) in &mesh.links {
        if let (Some(a), Some(b)) = (of.get(&a.chip), of.get(&b.chip))
            && a != b
        {
            *joined.entry([*a.min(b), *a.max(b)]).or_default() += 1;
        }
    }
    let described = grids.iter().map(Grid::links).sum::<usize>() + joined.values().sum::<usize>();
    let pins = shelves.iter().map(|shelf| pins(mesh, shelf)).collect::<Vec<_>>();
    let node = |number: &usize| {
        let kind = grids.get(*number).and_then(|grid| kinds.iter().position(|kind| kind == grid));
        format!("mesh {{ mesh_descriptor: \"M{}\" mesh_id: {number} }}", kind.unwrap_or_default())
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, &kinds, grids.len(), &joined, &node);
    let _ = (0..).zip(&pins).try_for_each(|(number, pins)| write_pins(&mut text, number, pins));
    Ok(MeshGraph { text, beyond: mesh.links.len().saturating_sub(described) })
}

/// A chip of a mesh, and tray and location of each place at which it is to stand.
type Pin = (usize, Vec<[u32; 2]>);

/// Returns the pinnings of a mesh: those that are described, else the place of its first chip, if that is known.
fn pins(mesh: &ClusterDescriptor, shelf: &Shelf) -> Vec<Pin> {
    let chips = || shelf.chips().filter_map(|id| mesh.chip(id)).enumerate();
    let own = chips().filter(|(_, chip)| !chip.pinned.is_empty());
    let own: Vec<Pin> = own.map(|(number, chip)| (number, chip.pinned.clone())).collect();
    if !own.is_empty() {
        return own;
    }
    let seat = |(number, chip): (usize, &DescribedChip)| {
        let seat = chip.seat.as_ref()?;
        Some((number, vec![[seat.tray, seat.asic_location]]))
    };
    chips().take(1).filter_map(seat).collect()
}

fn write_pins(out: &mut String, mesh: usize, pins: &[Pin]) -> fmt::Result {
    for (chip, places) in pins {
        writeln!(out, "pinnings {{")?;
        writeln!(out, "  logical_fabric_node_id {{ mesh_id: {mesh} chip_id: {chip} }}")?;
        for [tray, location] in places {
            writeln!(
                out,
                "  physical_asic_position {{ tray_id: {tray} asic_location: {location} }}"
            )?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn write(
    out: &mut String,
    kinds: &[Grid],
    count: usize,
    joined: &BTreeMap<[usize; 2], usize>,
    node: &dyn Fn(&usize) -> String,
) -> fmt::Result {
    for (number, Grid { dims: [rows, columns], rings, links, hosts }) in (0..).zip(kinds) {
        let kind = |ring: bool| if ring { "RING" } else { "LINE" };
        let types = match *rings {
            [false, false] => String::new(),
            [a, b] => format!(" dim_types: [ {}, {} ]", kind(a), kind(b)),
        };
        writeln!(out, "mesh_descriptors {{")?;
        writeln!(out, "  name: \"M{number}\"")?;
        writeln!(out, "  arch: WORMHOLE_B0")?;
        writeln!(out, "  device_topology {{ dims: [ {rows}, {columns} ]{types} }}")?;
        writeln!(out, "  host_topology {{ dims: [ {}, {} ] }}", hosts[0], hosts[1])?;
        writeln!(out, "  channels {{ count: {links} policy: RELAXED }}")?;
        writeln!(out, "}}")?;
    }
    if count == 1 {
        return writeln!(out, "top_level_instance {{ {} }}", node(&0));
    }
    writeln!(out, "graph_descriptors {{")?;
    writeln!(out, "  name: \"G0\"")?;
    writeln!(out, "  type: \"FABRIC\"")?;
    (0..count).try_for_each(|number| writeln!(out, "  instances {{ {} }}", node(&number)))?;
    for ([a, b], links) in joined {
        writeln!(out, "  connections {{")?;
        writeln!(out, "    nodes {{ {} }}", node(a))?;
        writeln!(out, "    nodes {{ {} }}", node(b))?;
        writeln!(out, "    channels {{ count: {links} policy: RELAXED }}")?;
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")?;
    writeln!(out, "top_level_instance {{ graph {{ graph_descriptor: \"G0\" graph_id: 0 }} }}")
}
