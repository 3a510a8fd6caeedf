//! The JSON of `cores --merge`.

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
    operations: Vec<OnChip<'a>>,
    /// The chips that run the lowest operation, if others do not: likely the first to stand.
    likely_first: Vec<ChipId>,
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
    #[serde(flatten)]
    core: CoreId,
    /// The names of its words that moved since the snapshot before.
    moved: Vec<&'a str>,
}

/// The operations of a chip.
#[derive(Serialize, JsonSchema)]
struct OnChip<'a> {
    /// The chip's id.
    chip: ChipId,
    /// The host-assigned ids of the launch messages of its running cores; 0 is none.
    #[schemars(with = "Vec<u32>")]
    host_assigned_ids: &'a BTreeSet<u32>,
}

impl<'a> Merged<'a> {
    /// The shape of the tree.
    pub(crate) fn new(
        tree: &'a [Branch],
        apart: Option<u64>,
        operations: Option<&'a Operations>,
    ) -> Self {
        Self {
            apart_cycles: apart,
            branches: tree.iter().map(place).collect(),
            operations: operations.iter().flat_map(|it| &it.ids).map(on_chip).collect(),
            likely_first: operations.iter().flat_map(|it| it.behind()).collect(),
        }
    }
}

fn on_chip<'a>((chip, ids): (&ChipId, &'a BTreeSet<u32>)) -> OnChip<'a> {
    OnChip { chip: *chip, host_assigned_ids: ids }
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
    Merge { core, moved: moved.map(String::as_str).collect() }
}
