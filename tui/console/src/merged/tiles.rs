//! Cores in few words: their kinds, and their tiles as rectangles of the grid of their kind.

use decode::state::{ChipState, MeshState, TileState};
use layouts::{ChipId, CoreId, CoreKind, NocXy, TileKind};
use std::collections::{BTreeMap, BTreeSet};

/// Some cores of a chip: `brisc 1-1..4-5 7-2`, `erisc e0-e3 e8`, `trisc0-2 of all 64 Tensix tiles`.
pub fn on_chip(chip: &ChipState, cores: impl IntoIterator<Item = CoreId>) -> String {
    let mut of_tiles: BTreeMap<NocXy, BTreeSet<CoreKind>> = BTreeMap::new();
    for core in cores {
        of_tiles.entry(core.tile).or_default().insert(core.core);
    }
    let mut same: BTreeMap<BTreeSet<CoreKind>, BTreeSet<NocXy>> = BTreeMap::new();
    for (tile, kinds) in of_tiles {
        same.entry(kinds).or_default().insert(tile);
    }
    let part = |(kinds, tiles)| format!("{} {}", self::kinds(kinds), self::tiles(chip, tiles));
    same.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// Some cores of a mesh; chips on which they are the same ones are named together.
pub fn on_mesh(state: &MeshState, cores: &BTreeSet<CoreId>) -> String {
    let mut same: Vec<(String, BTreeSet<u32>)> = Vec::new();
    for chip in &state.chips {
        let id = chip.chip.id;
        let here: Vec<CoreId> = cores.iter().filter(|core| core.chip == id).copied().collect();
        if here.is_empty() {
            continue;
        }
        let text = on_chip(chip, here);
        let number = u32::from(id.0);
        match same.iter_mut().find(|(known, _)| *known == text) {
            Some((_, chips)) => _ = chips.insert(number),
            None => same.push((text, BTreeSet::from([number]))),
        }
    }
    let part = |(text, numbers): (String, _)| format!("{}: {text}", chips_in_words(&numbers));
    same.into_iter().map(part).collect::<Vec<_>>().join("; ")
}

/// `chip 3`, `chips 0-3 7`.
pub(super) fn chips(ids: impl IntoIterator<Item = ChipId>) -> String {
    chips_in_words(&ids.into_iter().map(|chip| u32::from(chip.0)).collect())
}

fn chips_in_words(numbers: &BTreeSet<u32>) -> String {
    let noun = if numbers.len() == 1 { "chip" } else { "chips" };
    format!("{noun} {}", ranges("", numbers))
}

/// `0-3 7`, or with a prefix `e0-e3 e7`.
pub fn ranges(prefix: &str, numbers: &BTreeSet<u32>) -> String {
    let runs = runs(numbers.iter().map(|&number| number as usize));
    let part = |(from, to): &(usize, usize)| match to - from {
        0 => format!("{prefix}{from}"),
        _ => format!("{prefix}{from}-{prefix}{to}"),
    };
    runs.iter().map(part).collect::<Vec<_>>().join(" ")
}

/// The runs of successive numbers, first and last.
fn runs(numbers: impl IntoIterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 == number => *to = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

fn kinds(kinds: &BTreeSet<CoreKind>) -> String {
    let triscs = [CoreKind::Trisc0, CoreKind::Trisc1, CoreKind::Trisc2];
    let all = triscs.iter().all(|trisc| kinds.contains(trisc));
    let rest = kinds.iter().filter(|kind| !all || !triscs.contains(kind)).map(|kind| kind.name());
    rest.chain(all.then_some("trisc0-2")).collect::<Vec<_>>().join("+")
}

fn tiles(chip: &ChipState, tiles: &BTreeSet<NocXy>) -> String {
    let kind_of = |xy: &NocXy| chip.tiles.iter().find(|tile| tile.xy == *xy).map(|tile| tile.kind);
    let kind = tiles.first().and_then(kind_of);
    let peers: Vec<&TileState> =
        chip.tiles.iter().filter(|tile| Some(tile.kind) == kind && !tile.harvested).collect();
    let channel = |xy: &NocXy| {
        let tile = peers.iter().find(|tile| tile.xy == *xy)?;
        tile.eth.as_ref().map(|eth| u32::from(eth.channel))
    };
    if let Some(channels) = tiles.iter().map(channel).collect::<Option<BTreeSet<u32>>>() {
        return ranges("e", &channels);
    }
    if kind == Some(TileKind::Tensix) && tiles.len() > 1 && tiles.len() == peers.len() {
        return format!("of all {} Tensix tiles", tiles.len());
    }
    rectangles(tiles, &peers.iter().map(|tile| tile.xy).collect::<Vec<_>>())
}

/// The tiles as rectangles of the grid that their peers span: rows and columns of other kinds of
/// tiles, and rows that are fused off, are left out of it.
fn rectangles(tiles: &BTreeSet<NocXy>, peers: &[NocXy]) -> String {
    let columns: Vec<u8> =
        peers.iter().map(|xy| xy.x).collect::<BTreeSet<_>>().into_iter().collect();
    let rows: Vec<u8> = peers.iter().map(|xy| xy.y).collect::<BTreeSet<_>>().into_iter().collect();
    // First and last column, first and last row.
    let mut found: Vec<((usize, usize), (usize, usize))> = Vec::new();
    for (row, &y) in rows.iter().enumerate() {
        let has = |column: &usize| tiles.contains(&NocXy { x: columns[*column], y });
        for run in runs((0..columns.len()).filter(has)) {
            let above = found.iter_mut().find(|(known, rows)| *known == run && rows.1 + 1 == row);
            match above {
                Some((_, rows)) => rows.1 = row,
                None => found.push((run, (row, row))),
            }
        }
    }
    let at = |column: usize, row: usize| NocXy { x: columns[column], y: rows[row] };
    let part = |(run, lines): &((usize, usize), (usize, usize))| {
        let (from, to) = (at(run.0, lines.0), at(run.1, lines.1));
        if from == to { from.to_string() } else { format!("{from}..{to}") }
    };
    found.iter().map(part).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tiles: &[(u8, u8)]) -> String {
        // As on a chip: columns 0 and 5 and row 6 have other tiles, row 4 is fused off.
        let columns = [1, 2, 3, 4, 6, 7, 8, 9];
        let rows = [1, 2, 3, 5, 7, 8];
        let peers: Vec<NocXy> =
            rows.iter().flat_map(|&y| columns.map(|x| NocXy { x, y })).collect();
        rectangles(&tiles.iter().map(|&(x, y)| NocXy { x, y }).collect(), &peers)
    }

    #[test]
    fn tiles_are_rectangles_of_their_grid() {
        assert_eq!(of(&[(3, 2)]), "3-2");
        assert_eq!(of(&[(4, 3), (6, 3), (4, 5), (6, 5)]), "4-3..6-5");
        assert_eq!(of(&[(1, 1), (3, 1), (1, 2)]), "1-1..1-2 3-1");
        assert_eq!(of(&[(1, 1), (2, 1), (1, 2)]), "1-1..2-1 1-2");
    }

    #[test]
    fn numbers_are_ranges() {
        assert_eq!(ranges("e", &BTreeSet::from([0, 1, 2, 8, 15])), "e0-e2 e8 e15");
        assert_eq!(chips([ChipId(3)]), "chip 3");
        assert_eq!(chips([ChipId(3), ChipId(0), ChipId(1)]), "chips 0-1 3");
    }

    #[test]
    fn kinds_of_cores_are_short() {
        use CoreKind::{Brisc, Ncrisc, Trisc0, Trisc1, Trisc2};
        assert_eq!(kinds(&BTreeSet::from([Trisc0, Trisc1, Trisc2, Ncrisc])), "ncrisc+trisc0-2");
        assert_eq!(kinds(&BTreeSet::from([Brisc, Trisc1, Trisc2])), "brisc+trisc1+trisc2");
    }
}
