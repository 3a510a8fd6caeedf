//! The JSON of `cores --merge`.

use super::xy;
use console::merged::{Branch, Operations};
use layouts::{ChipId, CoreId};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Cores that are at the same place, together.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Merged<'a> {
    /// Time between the two snapshots, in cycles of a nanosecond; null if both are of one moment of
    /// a recording.
    apart_cycles: Option<u64>,
    /// The places, by kernel, function and line.
    branches: Vec<Place<'a>>,
    /// The operations that chips run, if no place was named.
    operations: Vec<OnChip>,
    /// The chips that run the lowest operation, if others do not: likely the first to stand.
    likely_first: Vec<u16>,
}

/// A place, and the cores at it.
#[derive(Serialize, JsonSchema)]
struct Place<'a> {
    /// Kernel, or the firmware of cores without one.
    kernel: &'a str,
    /// The function; null if it is unknown.
    function: Option<&'a str>,
    /// File and line; null if they are unknown.
    line: Option<&'a str>,
    /// The waypoints of its cores, or what they do without one.
    waypoints: Vec<&'a str>,
    /// Its cores.
    cores: Vec<Merge<'a>>,
}

/// A core at a place.
#[derive(Serialize, JsonSchema)]
struct Merge<'a> {
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of its tile: x, y.
    tile: [u8; 2],
    /// erisc, brisc, ncrisc, trisc0, trisc1 or trisc2.
    core: &'static str,
    /// The names of its words that moved since the snapshot before.
    moved: Vec<&'a str>,
}

/// The operations of a chip.
#[derive(Serialize, JsonSchema)]
struct OnChip {
    /// The chip's id.
    chip: u16,
    /// The host-assigned ids of the launch messages of its running cores; 0 is none.
    host_assigned_ids: Vec<u32>,
}

impl<'a> Merged<'a> {
    /// The shape of the tree.
    pub(crate) fn new(
        tree: &'a [Branch],
        apart: Option<u64>,
        operations: Option<&Operations>,
    ) -> Self {
        Self {
            apart_cycles: apart,
            branches: tree.iter().map(place).collect(),
            operations: operations.iter().flat_map(|it| &it.ids).map(on_chip).collect(),
            likely_first: operations.iter().flat_map(|it| it.behind()).map(|it| it.0).collect(),
        }
    }
}

fn on_chip((chip, ids): (&ChipId, &BTreeSet<u32>)) -> OnChip {
    OnChip { chip: chip.0, host_assigned_ids: ids.iter().copied().collect() }
}

fn place(branch: &Branch) -> Place<'_> {
    let known = |text| Some(text).filter(|text: &&str| !text.is_empty());
    Place {
        kernel: &branch.kernel,
        function: known(branch.function.as_str()),
        line: known(branch.line.as_str()),
        waypoints: branch.waypoints.iter().map(String::as_str).collect(),
        cores: branch.cores.iter().map(|core| merge(branch, *core)).collect(),
    }
}

fn merge(branch: &Branch, core: CoreId) -> Merge<'_> {
    let moved = branch.moved.get(&core).into_iter().flatten();
    Merge {
        chip: core.chip.0,
        tile: xy(core.tile),
        core: core.core.name(),
        moved: moved.map(String::as_str).collect(),
    }
}
