//! Rings of a given length for the microbenchmarks. They can visit a chip again over other links.

use super::Socket;
use super::error::TopologyError;
use super::free::FreeLinks;
use layouts::ChipId;
use machine::target::Mesh;

/// Steps after which the search stops.
const BUDGET: u32 = 200_000;

/// Returns a ring of this many hops, each over a link of its own, so that every Ethernet tile is on
/// at most one hop. The ring enters as many chips as possible, which are tried in this order; edges
/// that it repeats take other links (the guide's 12 hops on a T3000).
///
/// # Errors
/// If the mesh has no such ring.
pub fn ring_of_hops(
    mesh: &Mesh,
    hops: usize,
    chips: &[ChipId],
) -> Result<Vec<Socket>, TopologyError> {
    let free = FreeLinks::of(mesh);
    let mut search = SnakeWalk { free: &free, chips, hops, budget: BUDGET };
    let found = chips.iter().find_map(|&start| {
        let mut path = Vec::new();
        (hops >= 2 && search.extend(start, start, &mut path)).then_some(path)
    });
    found.ok_or(TopologyError::NoWalk(hops))
}

struct SnakeWalk<'a> {
    free: &'a FreeLinks,
    chips: &'a [ChipId],
    hops: usize,
    budget: u32,
}

impl SnakeWalk<'_> {
    fn extend(&mut self, start: ChipId, at: ChipId, path: &mut Vec<Socket>) -> bool {
        let wanted = self.hops.min(self.chips.len());
        let entered = |chip: ChipId| path.iter().filter(|(near, _)| near.chip == chip).count();
        let seen = self.chips.iter().filter(|&&chip| entered(chip) > 0).count();
        let left = self.hops - path.len();
        if left == 0 {
            return at == start && seen == wanted;
        }
        // The path has not left the chip that it is at.
        let new = wanted - seen - usize::from(entered(at) == 0);
        if self.budget == 0 || new + 1 > left {
            return false;
        }
        self.budget -= 1;
        let mut candidates: Vec<(usize, usize, Socket)> = Vec::new();
        for &next in self.chips {
            let unused =
                self.free.between(at, next).into_iter().find(|socket| !used(path, *socket));
            let ahead = self.chips.iter().filter(|&&far| entered(far) == 0);
            let onward = ahead.filter(|&&far| !self.free.between(next, far).is_empty()).count();
            candidates.extend(unused.map(|socket| (entered(next), onward, socket)));
        }
        candidates.sort_by_key(|&(entered, onward, _)| (entered, onward));
        for (_, _, socket) in candidates {
            path.push(socket);
            if self.extend(start, socket.1.chip, path) {
                return true;
            }
            path.pop();
        }
        false
    }
}

fn used(path: &[Socket], (near, far): Socket) -> bool {
    path.iter().any(|&hop| hop == (near, far) || hop == (far, near))
}
