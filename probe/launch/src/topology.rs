//! Neighbouring chips and the Ethernet sockets between them: the ring or line of a collective, and
//! rings of any length.

mod error;
mod free;
mod rotate;
mod search;
mod walk;

pub use error::{Missing, TopologyError, TopologyKind, not_counted};
pub use free::{FreeLinks, dispatch_reserved};
pub use walk::ring_of_hops;

use layouts::{ChipId, EthId};
use machine::target::Mesh;
use search::Graph;
use std::collections::BTreeSet;

/// A link as seen from one of its chips: the near end and the far end.
pub type Socket = (EthId, EthId);

/// The ring or line of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Whether the last rank and the first are neighbours.
    pub kind: TopologyKind,
    /// Chip of each rank.
    pub ranks: Vec<ChipId>,
    /// The sockets from each rank to the next. Those of a ring's last rank lead to the first.
    pub edges: Vec<Vec<Socket>>,
}

impl Topology {
    /// Returns the ring or line through exactly these chips (none: the whole mesh) with `links`
    /// links between neighbours. A ring of two uses the same links in both directions if there
    /// are no others.
    ///
    /// # Errors
    /// Why the chips form no such topology.
    pub fn find(
        mesh: &Mesh,
        chips: &[ChipId],
        kind: Option<TopologyKind>,
        links: u32,
    ) -> Result<Self, TopologyError> {
        let free = FreeLinks::of(mesh);
        let chips = requested(mesh, &free, chips)?;
        let ring = || through(&free, &chips, TopologyKind::Ring, links);
        let line = || through(&free, &chips, TopologyKind::Line, links);
        let (kind, ranks) = match kind {
            Some(TopologyKind::Ring) => (TopologyKind::Ring, ring()?),
            Some(TopologyKind::Line) => (TopologyKind::Line, line()?),
            None => match ring() {
                Ok(ranks) => (TopologyKind::Ring, ranks),
                Err(_) => (TopologyKind::Line, line()?),
            },
        };
        Ok(Self { kind, edges: sockets(&free, &ranks, kind, links as usize), ranks })
    }

    /// Returns the shortest path between two chips, as a line.
    ///
    /// # Errors
    /// Why present is no such path.
    pub fn line_between(
        mesh: &Mesh,
        from: ChipId,
        to: ChipId,
        links: u32,
    ) -> Result<Self, TopologyError> {
        let free = FreeLinks::of(mesh);
        requested(mesh, &free, &[from, to])?;
        let all: Vec<ChipId> = mesh.chips.iter().map(|chip| chip.id).collect();
        let path = |least| {
            let graph = Graph::new(&all, |a, b| free.between(a, b).len() >= least);
            graph.shortest(from, to)
        };
        let lacking = || {
            let missing = Missing::Parted(vec![from], vec![to]);
            let fewer = path(1).and_then(|path| free.lacking(&path, TopologyKind::Line, links));
            fewer.unwrap_or(TopologyError::NoTopology { kind: TopologyKind::Line, missing })
        };
        let ranks = path(links as usize).ok_or_else(lacking)?;
        let edges = sockets(&free, &ranks, TopologyKind::Line, links as usize);
        Ok(Self { kind: TopologyKind::Line, ranks, edges })
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// Returns the sockets from a rank to the next or, backward, to the previous one; none at the
    /// end of a line.
    pub fn sockets(&self, rank: usize, forward: bool) -> Vec<Socket> {
        let size = self.size();
        if forward {
            return self.edges.get(rank).map_or_else(Vec::new, Clone::clone);
        }
        let before = match self.kind {
            TopologyKind::Ring => Some((rank + size - 1) % size),
            TopologyKind::Line => rank.checked_sub(1),
        };
        let edge = before.and_then(|before| self.edges.get(before));
        edge.into_iter().flatten().map(|&(near, far)| (far, near)).collect()
    }
}

/// Checks that each of these chips is in the mesh and named once.
///
/// # Errors
/// The first that is not.
pub fn check_named(mesh: &Mesh, chips: &[ChipId]) -> Result<(), TopologyError> {
    let mut seen = BTreeSet::new();
    for &chip in chips {
        if mesh.chip(chip).is_none() {
            return Err(TopologyError::NoChip(chip, mesh.chips.len()));
        }
        if !seen.insert(chip) {
            return Err(TopologyError::Twice(chip));
        }
    }
    Ok(())
}

/// Returns the named chips after checking that each is in the mesh and named once. If none is
/// named, returns all chips of the mesh except those whose links are all reserved for dispatch: the
/// gateways of a TG are no part of its mesh.
fn requested(
    mesh: &Mesh,
    free: &FreeLinks,
    chips: &[ChipId],
) -> Result<Vec<ChipId>, TopologyError> {
    check_named(mesh, chips)?;
    let mut present: Vec<ChipId> = mesh.chips.iter().map(|chip| chip.id).collect();
    present.sort_unstable();
    let joined =
        |chip: &ChipId| present.iter().any(|&other| !free.between(*chip, other).is_empty());
    let requested = if chips.is_empty() {
        let mesh: Vec<ChipId> = present.iter().copied().filter(joined).collect();
        if mesh.is_empty() { present } else { mesh }
    } else {
        chips.to_vec()
    };
    if requested.len() < 2 {
        Err(TopologyError::TooFewChips(requested.len()))
    } else {
        Ok(requested)
    }
}

/// Returns an order of the chips in which each is a neighbour of the next.
fn through(
    free: &FreeLinks,
    chips: &[ChipId],
    kind: TopologyKind,
    links: u32,
) -> Result<Vec<ChipId>, TopologyError> {
    let graph = |least: usize| Graph::new(chips, move |a, b| free.between(a, b).len() >= least);
    let ring = kind == TopologyKind::Ring;
    let missing = match graph(links as usize).order(ring) {
        Ok(order) => return Ok(order),
        Err(missing) => missing,
    };
    // If fewer links, or those for dispatch too, give an order, links are what is missing.
    let fewer = graph(1).order(ring);
    let fewer = fewer.or_else(|_| {
        Graph::new(chips, |a, b| free.reserved(a, b) > 0 || !free.between(a, b).is_empty())
            .order(ring)
    });
    let lacking = fewer.ok().and_then(|order| free.lacking(&order, kind, links));
    Err(lacking.unwrap_or(TopologyError::NoTopology { kind, missing }))
}

/// Returns the sockets of each edge. tt-metal gives the two edges of a ring of two alternate links.
fn sockets(
    free: &FreeLinks,
    ranks: &[ChipId],
    kind: TopologyKind,
    links: usize,
) -> Vec<Vec<Socket>> {
    let pairs = pairs(ranks, kind);
    let edges = pairs.iter().enumerate().map(|(index, &(from, to))| {
        let all = free.between(from, to);
        if kind == TopologyKind::Ring && ranks.len() == 2 && all.len() >= 2 * links {
            return all.into_iter().skip(index).step_by(2).take(links).collect();
        }
        all.into_iter().take(links).collect()
    });
    edges.collect()
}

fn pairs(ranks: &[ChipId], kind: TopologyKind) -> Vec<(ChipId, ChipId)> {
    let mut pairs: Vec<_> = ranks.iter().copied().zip(ranks.iter().copied().skip(1)).collect();
    if let (TopologyKind::Ring, Some(&first), Some(&last)) = (kind, ranks.first(), ranks.last()) {
        pairs.push((last, first));
    }
    pairs
}

#[cfg(test)]
mod tests;
