//! Links of a system: facing sides of neighbours, the links of the Graph, and the cables of each
//! cabling.

use super::PLAIN_CABLING;
use super::grid::{Grid, Side};
use super::raw::{RawAxis, RawPort, RawSystem};
use crate::address::{ChipId, EthId};
use crate::cluster::Problems;
use std::collections::{BTreeMap, BTreeSet};

type Ids = BTreeMap<(usize, usize), ChipId>;
type Links = Vec<(EthId, EthId)>;

/// All links by cabling.
pub(super) fn links(
    raw: &RawSystem,
    grids: &[Grid],
    ids: &Ids,
    problems: &mut Problems,
) -> BTreeMap<String, Links> {
    let graph = graph(raw, grids, ids, problems);
    let words = raw.meshes.iter().flat_map(|mesh| mesh.value.cabling.keys());
    let words: BTreeSet<&str> = words.map(String::as_str).chain([PLAIN_CABLING]).collect();
    let mut all = BTreeMap::new();
    for word in words {
        let mut links = graph.clone();
        for (at, (grid, mesh)) in grids.iter().zip(&raw.meshes).enumerate() {
            let joined = mesh.value.cabling.get(word).map_or(&[][..], Vec::as_slice);
            let line = mesh.line;
            links.extend(inside((at, grid), joined, ids, line, problems));
        }
        once(&links, word, problems);
        all.insert(word.to_owned(), links);
    }
    all
}

/// Links the facing sides of all neighbours in a mesh.
fn inside(
    (at, grid): (usize, &Grid),
    joined: &[RawAxis],
    ids: &Ids,
    line: u64,
    problems: &mut Problems,
) -> Links {
    let mut links = Vec::new();
    for (a, a_side, b, b_side) in grid.neighbours(joined) {
        let (Some(a_id), Some(b_id)) = (ids.get(&(at, a)), ids.get(&(at, b))) else { continue };
        let (near, far) = (grid.chips[a].channels(a_side), grid.chips[b].channels(b_side));
        if near.len() != far.len() {
            let what =
                format!("{} channels of chip {a_id} face {} of chip {b_id}", near.len(), far.len());
            problems.add(line, what);
        }
        links.extend(joined_by(*a_id, near, *b_id, far));
    }
    links
}

fn joined_by<'a>(
    a: ChipId,
    near: &'a [u8],
    b: ChipId,
    far: &'a [u8],
) -> impl Iterator<Item = (EthId, EthId)> + use<'a> {
    near.iter().zip(far).map(move |(near, far)| {
        let (a, b) = (EthId { chip: a, channel: *near }, EthId { chip: b, channel: *far });
        (a.min(b), a.max(b))
    })
}

/// Links the ports and edges that the file names.
fn graph(raw: &RawSystem, grids: &[Grid], ids: &Ids, problems: &mut Problems) -> Links {
    let mut links = Vec::new();
    for cable in &raw.graph {
        let line = cable.line;
        let [a, b] = &cable.value;
        let ends = (port(a, grids, ids), port(b, grids, ids));
        match ends {
            (Ok(a), Ok(b)) => links.push((a.min(b), a.max(b))),
            (Err(what), _) | (_, Err(what)) => problems.add(line, what),
        }
    }
    for edges in &raw.edges {
        let line = edges.line;
        let [a, b] = &edges.value.join;
        match (edge(a, edges.value.links, grids, ids), edge(b, edges.value.links, grids, ids)) {
            (Ok(a), Ok(b)) if a.len() == b.len() => {
                links.extend(a.into_iter().zip(b).map(|(a, b)| (a.min(b), a.max(b))));
            }
            (Ok(_), Ok(_)) => {
                problems.add(line, format!("the edges {} and {} are not equally long", a.1, b.1));
            }
            (Err(what), _) | (_, Err(what)) => problems.add(line, what),
        }
    }
    links
}

/// Returns the side and grid that a port names, and the number after the side's letter.
fn named<'a>(port: &RawPort, grids: &'a [Grid]) -> Result<(&'a Grid, Side, Option<usize>), String> {
    let RawPort(mesh, words) = port;
    let grid = grids.get(*mesh).ok_or_else(|| format!("there is no mesh {mesh}"))?;
    let (letter, number) = words.split_at_checked(1).unwrap_or(("", ""));
    let number = (!number.is_empty()).then(|| number.parse().ok());
    match (Side::called(letter), number) {
        (Some(side), Some(Some(number))) => Ok((grid, side, Some(number))),
        (Some(side), None) => Ok((grid, side, None)),
        _ => Err(format!("`{words}` is no port such as N0 or E4")),
    }
}

fn port(port: &RawPort, grids: &[Grid], ids: &Ids) -> Result<EthId, String> {
    let (grid, side, number) = named(port, grids)?;
    let missing = || format!("mesh {} has no port {}", port.0, port.1);
    let mut left = number.ok_or_else(missing)?;
    for index in grid.edge(side) {
        let channels = grid.chips[index].channels(side);
        if let Some(channel) = channels.get(left) {
            let chip = *ids.get(&(port.0, index)).ok_or_else(missing)?;
            return Ok(EthId { chip, channel: *channel });
        }
        left -= channels.len();
    }
    Err(missing())
}

fn edge(port: &RawPort, links: usize, grids: &[Grid], ids: &Ids) -> Result<Vec<EthId>, String> {
    let (grid, side, _) = named(port, grids)?;
    let mut ends = Vec::new();
    for index in grid.edge(side) {
        let missing = || {
            format!(
                "the chips of edge {} of mesh {} have no {links} channels there",
                port.1, port.0
            )
        };
        let channels = grid.chips[index].channels(side).get(..links).ok_or_else(missing)?;
        let chip = *ids.get(&(port.0, index)).ok_or_else(missing)?;
        ends.extend(channels.iter().map(|channel| EthId { chip, channel: *channel }));
    }
    Ok(ends)
}

/// Checks that no channel has two cables.
fn once(links: &Links, cabling: &str, problems: &mut Problems) {
    let mut used = BTreeSet::new();
    for end in links.iter().flat_map(|(a, b)| [a, b]) {
        if !used.insert(*end) {
            problems.add(
                0,
                format!("channel {} of chip {} is cabled twice ({cabling})", end.channel, end.chip),
            );
        }
    }
}
