//! Arranges the chips of a mesh in one row, or in rows and columns, each of which is a line or ring of its own in
//! one dimension.

use super::grid::{Edges, Grid};
use super::{FabricError, FabricMesh};
use launch::topology::TopologyKind;
use launch::topology::{FreeLinks, Topology};
use layouts::ChipId;
use machine::fabric::FabricTopology;
use machine::target::Mesh;

/// A mesh, and the planes for which all its edges have links.
pub(super) type Arranged = (FabricMesh, u32);

/// Arranges chips, preferably as in `hint` or by their coordinates.
pub(super) fn arrange(
    mesh: &Mesh,
    free: &FreeLinks,
    chips: &[ChipId],
    hint: Option<&FabricMesh>,
    topology: FabricTopology,
    planes: Option<u32>,
) -> Result<Arranged, FabricError> {
    if let [chip] = chips {
        let alone = FabricMesh::open(1, 1, vec![*chip]);
        return Ok((alone, planes.unwrap_or(u32::MAX)));
    }
    let by_coordinates = if hint.is_none() { coordinate_grid(mesh, chips) } else { None };
    let hint = hint.or(by_coordinates.as_ref());
    let most = most_links(free, chips);
    let requested = planes.map_or((1..=most.max(1)).rev().collect(), |planes| vec![planes]);
    let lines = hint.and_then(|hint| lines(free, hint, topology));
    let find = |planes: u32| match topology {
        FabricTopology::Line | FabricTopology::Ring if let Some(lines) = &lines => {
            match lines.lacking(free, planes) {
                Some((a, b)) => Err(too_many(free, lines, a, b, planes)),
                None => Ok(lines.clone()),
            }
        }
        FabricTopology::Line => line(mesh, free, chips, hint, planes),
        FabricTopology::Ring => ring(mesh, free, chips, planes),
        FabricTopology::Mesh | FabricTopology::Torus => {
            rectangle(free, chips, hint, topology, planes)
        }
    };
    let mut failed = None;
    for planes in requested {
        match find(planes) {
            Ok(found) => return Ok((found, planes)),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or(FabricError::NoPlanes))
}

fn most_links(free: &FreeLinks, chips: &[ChipId]) -> u32 {
    let pairs = chips.iter().flat_map(|&a| chips.iter().map(move |&b| (a, b)));
    pairs.map(|(a, b)| free.between(a, b).len() as u32).max().unwrap_or(0)
}

/// Returns the lines or rings of the rows and columns of a mesh that is more than two chips wide and
/// high: one of all chips would be too long for a packet's route, and would have turns. A ring needs
/// rows or columns that can be closed.
fn lines(free: &FreeLinks, hint: &FabricMesh, topology: FabricTopology) -> Option<FabricMesh> {
    let closings: &[(bool, bool)] = match topology {
        FabricTopology::Line => &[(false, false)],
        FabricTopology::Ring => &[(true, true), (true, false), (false, true)],
        FabricTopology::Mesh | FabricTopology::Torus => &[],
    };
    let is_wide = hint.rows > 2 && hint.columns > 2;
    let closed = |&(closed_rows, closed_columns): &(bool, bool)| {
        let lines = FabricMesh { closed_rows, closed_columns, ..hint.clone() };
        (is_wide && lines.lacking(free, 1).is_none()).then_some(lines)
    };
    closings.iter().find_map(closed)
}

fn line(
    mesh: &Mesh,
    free: &FreeLinks,
    chips: &[ChipId],
    hint: Option<&FabricMesh>,
    planes: u32,
) -> Result<FabricMesh, FabricError> {
    let hint = hint.filter(|hint| hint.rows == 1 && hint.lacking(free, planes).is_none());
    if let Some(hint) = hint {
        return Ok(hint.clone());
    }
    let found = Topology::find(mesh, chips, Some(TopologyKind::Line), planes)?;
    Ok(FabricMesh::open(1, found.size(), found.ranks))
}

fn ring(
    mesh: &Mesh,
    free: &FreeLinks,
    chips: &[ChipId],
    planes: u32,
) -> Result<FabricMesh, FabricError> {
    let found = Topology::find(mesh, chips, Some(TopologyKind::Ring), planes)?;
    let mut ring = FabricMesh::open(1, found.size(), found.ranks);
    ring.closed_rows = true;
    match ring.lacking(free, planes) {
        // A ring of two chips needs separate links for both directions.
        Some((a, b)) => Err(too_many(free, &ring, a, b, planes)),
        None => Ok(ring),
    }
}

fn rectangle(
    free: &FreeLinks,
    chips: &[ChipId],
    hint: Option<&FabricMesh>,
    topology: FabricTopology,
    planes: u32,
) -> Result<FabricMesh, FabricError> {
    if let Some(found) = rectangle_of(free, chips, hint, topology, planes) {
        return Ok(found);
    }
    // If one plane succeeds, links are missing.
    let fewer = if planes > 1 { rectangle_of(free, chips, hint, topology, 1) } else { None };
    let lacking = fewer.and_then(|found| {
        let (a, b) = found.lacking(free, planes)?;
        Some(too_many(free, &found, a, b, planes))
    });
    Err(lacking.unwrap_or(FabricError::NoRectangle(topology, chips.len())))
}

fn rectangle_of(
    free: &FreeLinks,
    chips: &[ChipId],
    hint: Option<&FabricMesh>,
    topology: FabricTopology,
    planes: u32,
) -> Option<FabricMesh> {
    let closings: &[(bool, bool)] = match topology {
        FabricTopology::Torus => &[(true, true), (true, false), (false, true)],
        _ => &[(false, false)],
    };
    let as_hinted = closings.iter().find_map(|&(closed_rows, closed_columns)| {
        let hinted = FabricMesh { closed_rows, closed_columns, ..hint?.clone() };
        (hinted.can_be_closed() && hinted.lacking(free, planes).is_none()).then_some(hinted)
    });
    as_hinted.or_else(|| {
        let edges = Edges::of(free, chips);
        let hinted = hint.map(|hint| vec![(hint.rows, hint.columns)]);
        let shapes = hinted.unwrap_or_else(|| shapes(chips.len())).into_iter();
        let shapes = shapes.flat_map(|shape| closings.iter().map(move |&closed| (shape, closed)));
        let mut found = shapes.filter_map(|((rows, columns), (closed_rows, closed_columns))| {
            let empty =
                FabricMesh { rows, columns, chips: Vec::new(), closed_rows, closed_columns };
            empty.can_be_closed().then(|| Grid::new(&edges, empty, planes).search()).flatten()
        });
        found.next()
    })
}

/// Returns rows and columns for a number of chips, the squarest first; one row only if there is no
/// other shape.
fn shapes(chips: usize) -> Vec<(usize, usize)> {
    let rows = (2..=chips.isqrt()).rev().filter(|rows| chips.is_multiple_of(*rows));
    let shapes: Vec<_> = rows.map(|rows| (rows, chips / rows)).collect();
    if shapes.is_empty() { vec![(1, chips)] } else { shapes }
}

fn too_many(free: &FreeLinks, mesh: &FabricMesh, a: ChipId, b: ChipId, planes: u32) -> FabricError {
    let (links, reserved) = (free.between(a, b).len(), free.reserved(a, b));
    let links = if mesh.is_shared(a, b) { links / 2 } else { links };
    FabricError::TooManyPlanes { a, b, planes, free: links, reserved }
}

/// Returns the rectangle of the chips by their coordinates.
fn coordinate_grid(mesh: &Mesh, chips: &[ChipId]) -> Option<FabricMesh> {
    let mut places = Vec::new();
    for &chip in chips {
        let coord = mesh.chip(chip)?.coord?;
        places.push(((coord.rack, coord.shelf), coord.y, coord.x, chip));
    }
    places.sort_unstable();
    let first = places.first()?;
    let columns = places.iter().take_while(|place| place.1 == first.1).count();
    let rows = places.len() / columns;
    let whole = rows * columns == places.len() && places.iter().all(|place| place.0 == first.0);
    let same = |index: usize| {
        let (place, left, above) = (
            places.get(index)?,
            places.get(index - index % columns)?,
            places.get(index % columns)?,
        );
        Some(place.1 == left.1 && place.2 == above.2)
    };
    let aligned = (0..places.len()).all(|index| same(index) == Some(true));
    let order = places.iter().map(|place| place.3).collect();
    (whole && aligned).then(|| FabricMesh::open(rows, columns, order))
}
