//! The JSON of `changes` and `diff`.

use console::changes::{TileChange, WordChange};
use layouts::{ChipId, NocXy};
use machine::notes::Note;
use schemars::JsonSchema;
use serde::Serialize;

/// What differs between two moments or targets. Only what both have read is compared.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Changes<'a> {
    /// The words that name what is compared.
    target: &'a str,
    /// The earlier target time, or that of the first target, in cycles of a nanosecond.
    from_cycles: u64,
    /// The later target time, or that of the second target, in cycles of a nanosecond.
    to_cycles: u64,
    /// What a recording notes between the two moments: commands, lines of the audit log, messages of
    /// status queues.
    notes: Vec<Noted>,
    /// The tiles that differ.
    tiles: Vec<Tile<'a>>,
}

/// What was done or reported.
#[derive(Serialize, JsonSchema)]
struct Noted {
    /// Its kind: command, audit, or status.
    kind: &'static str,
    /// Host time, in microseconds since the Unix epoch.
    host_micros: u64,
    /// It in words.
    text: String,
}

/// The differences of one tile.
#[derive(Serialize, JsonSchema)]
struct Tile<'a> {
    /// The chip's id.
    chip: ChipId,
    /// NOC 0 coordinates of the tile: x, y.
    tile: NocXy,
    /// Cores at another waypoint.
    waypoints: Vec<Waypoint<'a>>,
    /// Words of 32 bits that differ, by address.
    words: &'a [WordChange],
}

/// A core at another waypoint.
#[derive(Serialize, JsonSchema)]
struct Waypoint<'a> {
    /// The core, such as erisc.
    core: &'static str,
    /// The waypoint before.
    before: &'a str,
    /// The waypoint after.
    after: &'a str,
}

impl<'a> Changes<'a> {
    pub(crate) fn new(
        target: &'a str,
        (from, to): (u64, u64),
        notes: &[Note],
        tiles: &'a [TileChange],
    ) -> Self {
        let noted = |note: &Note| {
            let (kind, text) = (note.kind(), note.to_string());
            Noted { kind, host_micros: note.host_micros(), text }
        };
        let (notes, tiles) =
            (notes.iter().map(noted).collect(), tiles.iter().map(Tile::new).collect());
        Self { target, from_cycles: from, to_cycles: to, notes, tiles }
    }
}

impl<'a> Tile<'a> {
    fn new(change: &'a TileChange) -> Self {
        let waypoints = change.waypoints.iter().map(|(core, before, after)| Waypoint {
            core: core.core.name(),
            before,
            after,
        });
        Self {
            chip: change.chip,
            tile: change.tile,
            waypoints: waypoints.collect(),
            words: &change.words,
        }
    }
}
