//! What differs between two snapshots, tile by tile: waypoints, and words by the names of the
//! members that stand there.

use crate::feed::MeshSnapshot;
use crate::members;
use decode::state::{ChipState, CoreState, MeshState, TileState};
use images::Reading;
use layouts::{ChipId, CoreId, NocAddr, NocXy, Space};
use machine::snapshot::Piece;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The differences of one tile.
#[derive(Debug, PartialEq, Eq)]
pub struct TileChange {
    /// The chip.
    pub chip: ChipId,
    /// The tile.
    pub tile: NocXy,
    /// Cores at another waypoint: before and after.
    pub waypoints: Vec<(CoreId, String, String)>,
    /// By address.
    pub words: Vec<WordChange>,
}

/// A word that differs.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordChange {
    /// Its address in the tile.
    pub addr: u64,
    /// The member of a known structure that holds it; null if none is known.
    pub name: Option<String>,
    /// The value before.
    pub before: u32,
    /// The value after.
    pub after: u32,
}

/// Returns the tiles that differ. Only what both snapshots read counts.
pub fn compare(before: &MeshSnapshot, after: &MeshSnapshot) -> Vec<TileChange> {
    let mut tiles = Tiles::new();
    for piece in &after.memory.pieces {
        let at = piece.addr;
        let words = words(before, piece);
        if !words.is_empty() {
            of(&mut tiles, at.chip, at.tile).words.extend(words);
        }
    }
    for core in cores(&after.state) {
        let known = |core: &CoreState| match &core.waypoint {
            Reading::Known(waypoint) => Some(waypoint.clone()),
            _ => None,
        };
        let was = before.state.core(core.id).and_then(known);
        if let (Some(was), Some(is)) = (was, known(core))
            && was != is
        {
            of(&mut tiles, core.id.chip, core.id.tile).waypoints.push((core.id, was, is));
        }
    }
    let mut changes: Vec<TileChange> = tiles.into_values().collect();
    for change in &mut changes {
        name(change, &after.state);
    }
    changes
}

type Tiles = BTreeMap<(ChipId, NocXy), TileChange>;

fn of(tiles: &mut Tiles, chip: ChipId, tile: NocXy) -> &mut TileChange {
    let none = TileChange { chip, tile, waypoints: Vec::new(), words: Vec::new() };
    tiles.entry((chip, tile)).or_insert(none)
}

fn cores(state: &MeshState) -> impl Iterator<Item = &CoreState> {
    let tiles = state.chips.iter().flat_map(|chip: &ChipState| &chip.tiles);
    tiles.flat_map(|tile: &TileState| &tile.cores)
}

/// Returns the words of a piece that differ.
fn words(before: &MeshSnapshot, piece: &Piece) -> Vec<WordChange> {
    let same = before.memory.bytes(piece.addr, piece.bytes.len() as u32);
    if same.is_ok_and(|bytes| *bytes == *piece.bytes) {
        return Vec::new();
    }
    let first = piece.addr.offset.next_multiple_of(4);
    let skipped = (first - piece.addr.offset) as usize;
    let words = piece.bytes.get(skipped..).unwrap_or_default().as_chunks::<4>().0;
    let changed = words.iter().zip((first..).step_by(4)).filter_map(|(word, addr)| {
        let after = u32::from_le_bytes(*word);
        let before = before.memory.word(NocAddr { offset: addr, ..piece.addr }).ok()?;
        (before != after).then_some(WordChange { addr, name: None, before, after })
    });
    changed.collect()
}

/// Names the words by the first core of the tile that has a member there.
fn name(change: &mut TileChange, state: &MeshState) {
    let of_tile = |core: &&CoreState| (core.id.chip, core.id.tile) == (change.chip, change.tile);
    let cores: Vec<&CoreState> = cores(state).filter(of_tile).collect();
    for word in &mut change.words {
        word.name = cores.iter().find_map(|core| {
            let over = members::over(core, word.addr, word.addr + 4);
            over.first().map(|(_, row)| row.path().to_owned())
        });
        // Registers have the names of the layout.
        let space = Space::Tile(state.layout().kind_at(change.tile));
        let register = || state.layout().name_of(space, word.addr).filter(|it| it.contains('.'));
        word.name = word.name.take().or_else(register);
    }
}
