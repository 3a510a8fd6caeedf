//! The meshes of a fabric, and the links that join them.

use super::arrange::{Arranged, arrange};
use super::request::Division;
use super::{FabricError, FabricMesh, FabricRequest};
use launch::topology::{FreeLinks, Socket, check_named};
use layouts::ChipId;
use machine::fabric::{Direction, FabricNode, FabricTopology};
use machine::target::Mesh;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the requested meshes, and the planes for which all their edges have links.
pub(super) fn meshes(
    mesh: &Mesh,
    free: &FreeLinks,
    request: &FabricRequest,
) -> Result<(Vec<FabricMesh>, u32), FabricError> {
    if request.planes == Some(0) {
        return Err(FabricError::NoPlanes);
    }
    let all = requested(mesh, free, request)?;
    let parts = match &request.division {
        Division::Whole => vec![(all, None)],
        Division::Chips(parts) => parts.iter().map(|part| (part.clone(), None)).collect(),
        Division::Parts(parts) => cut(mesh, free, &all, request, *parts)?,
    };
    let arranged: Vec<Arranged> = parts
        .iter()
        .map(|(chips, hint)| {
            let (topology, planes) = (request.topology, request.planes);
            arrange(mesh, free, chips, hint.as_ref(), topology, planes)
        })
        .collect::<Result<_, _>>()?;
    let planes = arranged.iter().map(|(_, planes)| *planes).min().unwrap_or(1);
    Ok((arranged.into_iter().map(|(mesh, _)| mesh).collect(), planes))
}

/// Returns the requested chips, checked for existence and duplicates.
fn requested(
    mesh: &Mesh,
    free: &FreeLinks,
    request: &FabricRequest,
) -> Result<Vec<ChipId>, FabricError> {
    let named: Vec<ChipId> = match &request.division {
        Division::Chips(parts) => parts.iter().flatten().copied().collect(),
        _ => request.chips.clone(),
    };
    check_named(mesh, &named)?;
    let all = mesh.chips.iter().map(|chip| chip.id);
    let joined =
        |chip: &ChipId| mesh.chips.iter().any(|other| !free.between(*chip, other.id).is_empty());
    let chips = if named.is_empty() { all.filter(joined).collect() } else { named };
    if chips.len() < 2 { Err(FabricError::TooFewChips(chips.len())) } else { Ok(chips) }
}

/// Chips of a part, and their arrangement if it is known.
type MeshPart = (Vec<ChipId>, Option<FabricMesh>);

fn cut(
    mesh: &Mesh,
    free: &FreeLinks,
    chips: &[ChipId],
    request: &FabricRequest,
    parts: usize,
) -> Result<Vec<MeshPart>, FabricError> {
    let mut shelves: BTreeMap<_, Vec<ChipId>> = BTreeMap::new();
    for &chip in chips {
        let coord = mesh.chip(chip).and_then(|chip| chip.coord);
        shelves.entry(coord.map(|coord| (coord.rack, coord.shelf))).or_default().push(chip);
    }
    if shelves.len() == parts {
        return Ok(shelves.into_values().map(|part| (part, None)).collect());
    }
    let flat = if request.topology.is_2d() { FabricTopology::Mesh } else { FabricTopology::Line };
    let (whole, _) = arrange(mesh, free, chips, None, flat, None)?;
    let (rows, columns) = (whole.rows, whole.columns);
    let longer = rows.max(columns);
    if parts == 0 || !longer.is_multiple_of(parts) {
        let why = format!("they form {rows} rows of {columns}");
        return Err(FabricError::Division(parts, why));
    }
    let (rows, columns) =
        if rows >= columns { (rows / parts, columns) } else { (rows, columns / parts) };
    let part = |number: usize| {
        let of_part = |device: &usize| {
            let (row, column) = whole.place(*device);
            if whole.rows >= whole.columns {
                row / rows == number
            } else {
                column / columns == number
            }
        };
        let devices = (0..whole.chips.len()).filter(of_part);
        let chips: Vec<ChipId> =
            devices.filter_map(|device| whole.chips.get(device).copied()).collect();
        (chips.clone(), Some(FabricMesh::open(rows, columns, chips)))
    };
    Ok((0..parts).map(part).collect())
}

/// An edge between two meshes.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    pub(super) from: FabricNode,
    pub(super) direction: Direction,
    pub(super) to: FabricNode,
    /// The direction back, at `to`.
    pub(super) back: Direction,
    pub(super) sockets: Vec<Socket>,
}

pub(super) struct Exits {
    pub(super) exits: Vec<Exit>,
    pub(super) planes: u32,
}

impl Exits {
    /// Whether opposite flows can take different links without a deadlock: a packet changes its
    /// virtual channel once, where it first enters another mesh. So of two joined meshes, one has no
    /// further neighbor.
    pub(super) fn can_be_apart(&self) -> bool {
        let pairs: BTreeSet<(u16, u16)> =
            self.exits.iter().map(|exit| (exit.from.mesh, exit.to.mesh)).collect();
        let neighbors = |mesh: u16| pairs.iter().filter(|(a, b)| *a == mesh || *b == mesh).count();
        pairs.iter().all(|&(a, b)| neighbors(a) == 1 || neighbors(b) == 1)
            && pairs.len() < self.exits.len()
    }
}

/// Returns every edge between chips of different meshes with links for all planes and a free
/// direction at both ends. Without a requested number of planes, there are as many as each two
/// meshes' best edge has.
pub(super) fn exits(
    free: &FreeLinks,
    topology: FabricTopology,
    meshes: &[FabricMesh],
    planes: u32,
    wanted: Option<u32>,
) -> Result<Exits, FabricError> {
    let nodes = || {
        (0..).zip(meshes).flat_map(|(mesh, it)| {
            (0..).zip(&it.chips).map(move |(device, &chip)| (FabricNode { mesh, device }, chip))
        })
    };
    let mut edges = Vec::new();
    for (from, a) in nodes() {
        for (to, b) in nodes().filter(|(to, _)| to.mesh > from.mesh) {
            let sockets = free.between(a, b);
            if !sockets.is_empty() {
                edges.push((from, to, (a, b), sockets));
            }
        }
    }
    let mut best: BTreeMap<_, (u32, (ChipId, ChipId))> = BTreeMap::new();
    for (from, to, chips, sockets) in &edges {
        let best = best.entry((from.mesh, to.mesh)).or_insert((0, *chips));
        if sockets.len() as u32 > best.0 {
            *best = (sockets.len() as u32, *chips);
        }
    }
    for &(links, (a, b)) in best.values() {
        let Some(planes) = wanted.filter(|&planes| links < planes) else { continue };
        let (free, reserved) = (links as usize, free.reserved(a, b));
        return Err(FabricError::TooManyPlanes { a, b, planes, free, reserved });
    }
    let planes = best.values().map(|best| best.0).min().unwrap_or(planes).min(planes);
    all_joined(meshes.len(), &best.keys().copied().collect::<Vec<_>>())?;
    let mut cut_off: BTreeMap<_, _> =
        best.iter().map(|(pair, (_, chips))| (*pair, *chips)).collect();
    let mut used = used_directions(meshes);
    let mut exits = Vec::new();
    for (from, to, _, sockets) in edges {
        if sockets.len() < planes as usize {
            continue;
        }
        // In one row only the ends have a free direction.
        let Some((direction, back)) = free_directions(topology, &used, from, to) else { continue };
        cut_off.remove(&(from.mesh, to.mesh));
        used.entry(from).or_default().insert(direction);
        used.entry(to).or_default().insert(back);
        exits.push(Exit { from, direction, to, back, sockets });
    }
    match cut_off.into_values().next() {
        Some((a, b)) => Err(FabricError::NoDirection(a, b)),
        None => Ok(Exits { exits, planes }),
    }
}

/// Checks that every mesh can be reached from the first.
fn all_joined(meshes: usize, pairs: &[(u16, u16)]) -> Result<(), FabricError> {
    let mut reached = BTreeSet::from([0]);
    loop {
        let before = reached.len();
        for &(a, b) in pairs {
            if reached.contains(&a) || reached.contains(&b) {
                reached.extend([a, b]);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    let apart = (0..meshes as u16).find(|mesh| !reached.contains(mesh));
    apart.map_or(Ok(()), |mesh| Err(FabricError::Apart(mesh)))
}

fn used_directions(meshes: &[FabricMesh]) -> BTreeMap<FabricNode, BTreeSet<Direction>> {
    let mut used: BTreeMap<FabricNode, BTreeSet<Direction>> = BTreeMap::new();
    for (mesh, it) in (0..).zip(meshes) {
        for device in 0..it.chips.len() {
            let routes = Direction::ALL.into_iter();
            let routes = routes.filter(|&route| it.neighbor(device, route).is_some());
            used.insert(FabricNode { mesh, device: device as u16 }, routes.collect());
        }
    }
    used
}

/// Returns a free direction of each end, opposite ones if possible.
fn free_directions(
    topology: FabricTopology,
    used: &BTreeMap<FabricNode, BTreeSet<Direction>>,
    from: FabricNode,
    to: FabricNode,
) -> Option<(Direction, Direction)> {
    let unused = |node: FabricNode| {
        let routes = Direction::ALL.into_iter();
        let routes = routes.filter(|route| topology.is_2d() || route.is_along_row());
        let used = used.get(&node);
        routes.filter(|route| used.is_none_or(|used| !used.contains(route))).collect::<Vec<_>>()
    };
    let (here, there) = (unused(from), unused(to));
    let straight = here.iter().find(|route| there.contains(&route.opposite()));
    if let Some(&route) = straight {
        return Some((route, route.opposite()));
    }
    Some((*here.first()?, *there.first()?))
}
