//! The text of a chip's box on the map.

use crate::model::Model;
use console::glyph::Missing;
use console::words;
use decode::state::{Activity, ChipState};
use diagnosis::Progress;
use images::Reading;
use layouts::TileKind;
use machine::snapshot::AccessError;
use machine::words::counted;
use ratatui::text::Span;
use std::collections::BTreeMap;

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
        busy(model, chip, TileKind::Eth, if wide { "erisc" } else { "E" }, wide),
        busy(model, chip, TileKind::Tensix, if wide { "tensix" } else { "T" }, wide),
    ];
    if wide {
        lines.push(Span::styled(last_words(chip), model.theme.dim()));
    }
    if let Some((tiles, since)) = model.pulse.stands_on(info.id) {
        let now = model.verdict().map_or(since, |verdict| verdict.cycles);
        let stood = words::brief(now.saturating_sub(since));
        let text = if wide {
            format!("{} for >{stood}", counted(tiles as u64, "tile stands", "tiles stand"))
        } else {
            format!("!{tiles} >{stood}")
        };
        lines.insert(1, Span::styled(text, model.theme.bad()));
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

/// What the launched cores of a kind do, as far as that is known; unread cores are not counted.
fn busy(model: &Model, chip: &ChipState, kind: TileKind, name: &str, wide: bool) -> Span<'static> {
    let (mut all, mut launched, mut in_vain) = (0, 0, false);
    // Of each word, one stands for all.
    let mut counts: BTreeMap<&str, (Progress, usize)> = BTreeMap::new();
    let tiles = chip.tiles.iter().filter(|t| t.kind == kind && !t.harvested);
    for core in tiles.flat_map(|t| &t.cores) {
        match &core.activity {
            Reading::Known(Activity::Running) => {
                all += 1;
                launched += 1;
                if let Some(progress) = model.progress(core) {
                    counts.entry(progress.word()).or_insert((progress, 0)).1 += 1;
                }
            }
            Reading::Known(_) => all += 1,
            Reading::Unknown(_) | Reading::Absent => {}
            // A failed read differs from a range that was not requested.
            Reading::Unread(why) => in_vain |= *why != AccessError::NotRequested,
        }
    }
    if all == 0 {
        let unread = model.glyphs.missing(Missing::Unread);
        let why = if in_vain { "unread" } else { "not read" };
        let text = if wide { format!("{name} {unread} {why}") } else { format!("{name} {unread}") };
        return Span::raw(text);
    }
    // The better ones come first.
    let mut counts: Vec<(Progress, usize)> = counts.into_values().collect();
    counts.sort_unstable();
    match counts.last() {
        None if wide => {
            let sign = model.glyphs.activity(Activity::Running);
            Span::raw(format!("{name} {launched}{sign} of {all}"))
        }
        None => Span::raw(format!("{name} {launched}/{all}")),
        Some((worst, _)) => {
            let sign = |(progress, count): &(Progress, usize)| {
                format!(" {count}{}", model.glyphs.progress(*progress))
            };
            let signs: String = counts.iter().map(sign).collect();
            let of = if wide { format!(" of {all}") } else { String::new() };
            Span::styled(format!("{name}{signs}{of}"), model.theme.progress(*worst))
        }
    }
}

/// The commonest waypoints of the chip's Tensix cores, so that changes show on the map.
fn last_words(chip: &ChipState) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
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
