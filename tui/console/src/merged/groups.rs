//! Groups of equal cores of a chip: same waypoint, activity, go signal and kernel.

use super::kernel;
use crate::glyph::Glyphs;
use crate::{reading, words};
use decode::state::{ChipState, CoreState};
use images::Reading;
use layouts::CoreKind;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A group is an outlier if another one has this many times as many cores of the same kind.
const MANY: usize = 4;

/// Cores of a chip that are equal.
pub struct Group<'a> {
    /// Waypoint, activity, go signal and kernel, as they are printed.
    pub cells: [String; 4],
    /// The cores.
    pub cores: Vec<&'a CoreState>,
    /// Whether they are few, and many cores of the same kind differ from them.
    pub is_outlier: bool,
}

/// The groups of a chip: outliers first, then the largest.
pub fn groups(glyphs: Glyphs, chip: &ChipState) -> Vec<Group<'_>> {
    let mut equal: BTreeMap<[String; 4], Vec<&CoreState>> = BTreeMap::new();
    for core in chip.tiles.iter().flat_map(|tile| &tile.cores) {
        equal.entry(cells(glyphs, core)).or_default().push(core);
    }
    let mut most: BTreeMap<CoreKind, usize> = BTreeMap::new();
    for (kind, count) in equal.values().flat_map(|cores| kinds(cores)) {
        let most = most.entry(kind).or_default();
        *most = count.max(*most);
    }
    let is_outlier =
        |cores: &[&CoreState]| kinds(cores).iter().all(|(kind, count)| count * MANY <= most[kind]);
    let group = |(cells, cores): (_, Vec<_>)| {
        let is_outlier = is_outlier(&cores);
        Group { cells, cores, is_outlier }
    };
    let mut groups: Vec<Group<'_>> = equal.into_iter().map(group).collect();
    groups.sort_by_key(|group| (!group.is_outlier, Reverse(group.cores.len())));
    groups
}

/// The word for a core in a summary: its waypoint, or what it does without one.
pub fn label(glyphs: Glyphs, core: &CoreState) -> String {
    match (&core.waypoint, &core.activity) {
        (Reading::Known(waypoint), _) => waypoint.clone(),
        (_, Reading::Known(activity)) => words::activity(*activity).to_owned(),
        (_, activity) => reading::long(glyphs, activity, |_| String::new()),
    }
}

fn kinds(cores: &[&CoreState]) -> BTreeMap<CoreKind, usize> {
    let mut counts = BTreeMap::new();
    for core in cores {
        *counts.entry(core.id.core).or_default() += 1;
    }
    counts
}

fn cells(glyphs: Glyphs, core: &CoreState) -> [String; 4] {
    [
        reading::short(glyphs, &core.waypoint, Clone::clone),
        reading::short(glyphs, &core.activity, |a| words::activity(*a).to_owned()),
        reading::short(glyphs, &core.go, |g| words::go(*g).to_owned()),
        kernel(core).unwrap_or_default(),
    ]
}
