//! A long path made whole by turning parts of it round (Posa's rotations): what depth first does not find in a large grid.

/// Turns after which it gives up.
const BUDGET: u32 = 20_000;

/// Extends a path at its end where it can, else turns round what comes after a neighbour of its end; until it is what was
/// wanted. False: it gave up, and the path is the longest that it had.
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
