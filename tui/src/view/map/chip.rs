//! The text of a chip's box on the map.

use crate::glyph::Missing;
use crate::model::Model;
use crate::words;
use decode::state::{Activity, ChipState, Reading};
use layouts::TileKind;
use machine::snapshot::AccessError;
use ratatui::text::Span;

/// The lines of a chip's box, the most important first.
pub(super) fn chip_lines(model: &Model, chip: &ChipState, wide: bool) -> Vec<Span<'static>> {
    let info = &chip.chip;
    let route = match (info.pcie, &info.gateway) {
        (true, _) => "PCIe".to_owned(),
        (false, Some(_)) if wide => {
            let first = chip.gateways.first().map(|first| format!("remote by {first}"));
            first.unwrap_or_else(|| "remote, no link up".to_owned())
        }
        (false, _) => "remote".to_owned(),
    };
    let at = info.coord.map_or("no coordinates".to_owned(), |c| {
        if wide {
            format!("x{} y{} rack {} shelf {}", c.x, c.y, c.rack, c.shelf)
        } else {
            format!("{},{}", c.x, c.y)
        }
    });
    let first = match &info.board {
        Some(board) if wide => format!("{board}  {route}"),
        _ => route,
    };
    let mut lines = vec![
        Span::raw(first),
        Span::styled(at, model.theme.dim()),
        Span::raw(running(model, chip, TileKind::Eth, if wide { "erisc" } else { "E" }, wide)),
        Span::raw(running(model, chip, TileKind::Tensix, if wide { "tensix" } else { "T" }, wide)),
    ];
    if wide {
        lines.push(Span::styled(last_words(chip), model.theme.dim()));
    }
    if let Some(holder) = chip.holders.first() {
        let others = match chip.holders.len() - 1 {
            0 => String::new(),
            more => format!(" +{more}"),
        };
        let text = if wide { format!("open in {holder}") } else { format!("pid {}", holder.pid) };
        // Second, because a low box has no room for the last lines.
        lines.insert(1, Span::styled(text + &others, model.theme.warn()));
    }
    lines
}

/// The number of running cores of a kind; unread cores are not counted.
fn running(model: &Model, chip: &ChipState, kind: TileKind, name: &str, wide: bool) -> String {
    let tiles = chip.tiles.iter().filter(|t| t.kind == kind && !t.harvested);
    let all: Vec<_> = tiles.flat_map(|t| &t.cores).map(|core| &core.activity).collect();
    let known: Vec<_> = all.iter().filter_map(|activity| activity.known()).collect();
    if known.is_empty() {
        let unread = model.glyphs.missing(Missing::Unread);
        // A failed read differs from a range that was not requested.
        let in_vain = |activity: &&Reading<Activity>| matches!(activity, Reading::Unread(why) if *why != AccessError::NotRequested);
        let why = if all.iter().any(in_vain) { "unread" } else { "not read" };
        return if wide { format!("{name} {unread} {why}") } else { format!("{name} {unread}") };
    }
    let run = known.iter().filter(|a| ***a == Activity::Running).count();
    let all = known.len();
    if wide { format!("{name} {run} of {all} run") } else { format!("{name} {run}/{all}") }
}

/// The commonest waypoints of the chip's Tensix cores, so that changes show on the map.
fn last_words(chip: &ChipState) -> String {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for core in chip.tiles.iter().filter(|t| t.kind == TileKind::Tensix).flat_map(|t| &t.cores) {
        if let Some(waypoint) = core.waypoint.known() {
            *counts.entry(waypoint).or_default() += 1;
        }
    }
    let tensix = chip.tiles.iter().filter(|t| t.kind == TileKind::Tensix).flat_map(|t| &t.cores);
    if counts.is_empty() && words::without_waypoints(tensix).is_some() {
        return words::NO_WAYPOINTS.to_owned();
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    all.iter().take(3).map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join("  ")
}
