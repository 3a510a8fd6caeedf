//! Completes a long path by reversing parts of it (Posa's rotations). It finds orders in large
//! grids that a depth-first search does not.

/// Rotations after which it stops.
const BUDGET: u32 = 20_000;

/// Extends a path at its end if possible, else reverses the part behind a neighbour of its end,
/// until the path is as wanted. Returns false if the budget ran out; the path is then the longest
/// one found.
pub(super) fn rotate(
    near: &[Vec<usize>],
    path: &mut Vec<usize>,
    wanted: impl Fn(&[usize]) -> bool,
) -> bool {
    let mut longest = path.clone();
    let mut random = 1_u64;
    for _ in 0..BUDGET {
        if wanted(path) {
            return true;
        }
        if path.len() > longest.len() {
            longest.clone_from(path);
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let draw = (random >> 33) as usize;
        if draw.is_multiple_of(8) {
            path.reverse();
        }
        let Some(neighbours) = path.last().and_then(|&end| near.get(end)) else { break };
        if let Some(&next) = neighbours.iter().find(|next| !path.contains(next)) {
            path.push(next);
            continue;
        }
        let pivot = neighbours.get(draw / 8 % neighbours.len().max(1));
        let place = pivot.and_then(|pivot| path.iter().position(|chip| chip == pivot));
        if let Some(tail) = place.and_then(|place| path.get_mut(place + 1..)) {
            tail.reverse();
        }
    }
    *path = longest;
    false
}
