//! Rings of a wished length for the microbenchmarks, which may come to a chip again over other links.

use super::Socket;
use super::error::TopologyError;
use super::free::FreeLinks;
use layouts::ChipId;
use machine::target::Mesh;

/// Steps after which the search gives up.
const BUDGET: u32 = 200_000;

/// A ring of so many hops, each over a link of its own, so that every Ethernet tile has one part: it enters as many chips as
/// it can, and where it must come to chips again the revisited edges take other links (the guide's 12 hops on a T3000).
///
/// # Errors
/// There is none in this mesh.
pub fn ring_of_hops(mesh: &Mesh, hops: usize) -> Result<Vec<Socket>, TopologyError> {
    let mut chips: Vec<ChipId> = mesh.chips.iter().map(|chip| chip.id).collect();
    chips.sort_unstable();
    ring_of_hops_over(mesh, hops, &chips)
}

/// The same, with the chips tried in this order: another order finds another ring, where there are several.
///
/// # Errors
/// There is none over these chips.
pub fn ring_of_hops_over(
    mesh: &Mesh,
    hops: usize,
    chips: &[ChipId],
) -> Result<Vec<Socket>, TopologyError> {
    let free = FreeLinks::of(mesh);
    let mut search = Walk { free: &free, chips, hops, budget: BUDGET };
    let found = chips.iter().find_map(|&start| {
        let mut path = Vec::new();
        (hops >= 2 && search.extend(start, start, &mut path)).then_some(path)
    });
    found.ok_or(TopologyError::NoWalk(hops))
}

struct Walk<'a> {
    free: &'a FreeLinks,
    chips: &'a [ChipId],
    hops: usize,
    budget: u32,
}

impl Walk<'_> {
    fn extend(&mut self, start: ChipId, at: ChipId, path: &mut Vec<Socket>) -> bool {
        let wanted = self.hops.min(self.chips.len());
        let entered = |chip: ChipId| path.iter().filter(|(near, _)| near.chip == chip).count();
        let seen = self.chips.iter().filter(|&&chip| entered(chip) > 0).count();
        let left = self.hops - path.len();
        if left == 0 {
            return at == start && seen == wanted;
        }
        // The chip where it stands has not been left yet.
        let new = wanted - seen - usize::from(entered(at) == 0);
        if self.budget == 0 || new + 1 > left {
            return false;
        }
        self.budget -= 1;
        let mut ways: Vec<(usize, usize, Socket)> = Vec::new();
        for &next in self.chips {
            let unused =
                self.free.between(at, next).into_iter().find(|socket| !used(path, *socket));
            let ahead = self.chips.iter().filter(|&&far| entered(far) == 0);
            let onward = ahead.filter(|&&far| !self.free.between(next, far).is_empty()).count();
            ways.extend(unused.map(|socket| (entered(next), onward, socket)));
        }
        ways.sort_by_key(|&(entered, onward, _)| (entered, onward));
        for (_, _, socket) in ways {
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
