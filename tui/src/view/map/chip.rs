//! The texts of a chip on the map: its title, and facts.

use super::arrows::Arrow;
use crate::model::Model;
use crate::pulse::Busy;
use crate::theme::Theme;
use console::glyph::Missing;
use console::words;
use decode::state::{Activity, ChipState};
use diagnosis::Progress;
use layouts::TileKind;
use ratatui::style::Style;
use ratatui::text::Span;
use std::collections::BTreeMap;

/// Chips this wide have facts in words.
const WIDE: u16 = 24;
/// Chips this wide are called chips.
const NAMED: u16 = 20;

/// The title of a chip in so many columns, of those from one chip to the next: its number, what stands
/// on it, and its links to chips elsewhere; whole parts only. Returns also how many of these links have no room.
pub(super) fn title(
    model: &Model,
    chip: &ChipState,
    arrows: &[Arrow],
    (columns, apart): (u16, u16),
    focused: bool,
) -> (Vec<Span<'static>>, usize) {
    let info = &chip.chip;
    let lit = model.pulse.is_member(info.id);
    let chosen = info.id == model.chip;
    let style = match (model.is_passed(info.id), lit) {
        (true, _) => model.theme.title(),
        (false, true) => model.theme.bad(),
        (false, false) => model.theme.border(chosen),
    };
    let style = if focused { Theme::selected() } else { style };
    let named = Some(format!("chip {}", info.id)).filter(|_| apart >= NAMED);
    let stands = stands(model, chip);
    let others = arrows.iter().map(Arrow::span).chain(stands.last().cloned());
    let others: usize = others.map(|part| 1 + part.width()).sum();
    let name = named.filter(|name| name.len() + others <= columns.into());
    let name = name.unwrap_or_else(|| info.id.to_string());
    let mut title = vec![Span::styled(name, style)];
    let mut room = usize::from(columns).saturating_sub(title.iter().map(Span::width).sum());
    let mut add = |part: Span<'static>| {
        let fits = part.width() < room;
        if fits {
            room -= part.width() + 1;
            title.extend([Span::raw(" "), part]);
        }
        fits
    };
    let least = stands.last().filter(|_| columns < NAMED).into_iter();
    let stands = if columns >= NAMED { stands.first() } else { None };
    for part in stands.into_iter().chain(least).cloned() {
        add(part);
    }
    let mut hidden = 0;
    for arrow in arrows {
        hidden += if add(arrow.span()) { 0 } else { arrow.count };
    }
    if let Some(ago) = model.seen_ago(info.id) {
        let text = format!("{} {} ago", model.glyphs.stale(), words::age(ago));
        add(Span::styled(text, model.theme.dim()));
    }
    if let Some(holder) = holder(chip, columns >= WIDE) {
        add(holder);
    }
    (title, hidden)
}

/// What stands on a chip: in words, and as short as it can be told.
fn stands(model: &Model, chip: &ChipState) -> Vec<Span<'static>> {
    let Some((tiles, since)) = model.pulse.stands_on(chip.chip.id) else { return Vec::new() };
    let now = model.verdict().map_or(since, |verdict| verdict.cycles);
    let stood = words::brief(now.saturating_sub(since));
    let style = model.theme.bad();
    vec![
        Span::styled(format!("!{tiles} >{stood}"), style),
        Span::styled(format!("!{tiles}"), style),
    ]
}

/// The process that has the chip's device open.
fn holder(chip: &ChipState, wide: bool) -> Option<Span<'static>> {
    let holder = chip.holders.first()?;
    let others = match chip.holders.len() - 1 {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    let text = if wide { format!("open in {holder}") } else { format!("pid {}", holder.pid) };
    Some(Span::styled(text + &others, Theme::key()))
}

/// The facts of a chip in so many columns and rows, the most important first.
pub(super) fn facts(
    model: &Model,
    chip: &ChipState,
    columns: u16,
    rows: u16,
) -> Vec<Vec<Span<'static>>> {
    if rows == 0 {
        return Vec::new();
    }
    let info = &chip.chip;
    let wide = columns >= WIDE;
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
        Some(board) if columns >= NAMED => format!("{board}  {route}"),
        _ => route,
    };
    let mut parts = vec![
        Span::raw(first),
        Span::styled(at, model.theme.dim()),
        busy(model, chip, TileKind::Eth, if wide { "erisc" } else { "E" }, wide),
        busy(model, chip, TileKind::Tensix, if wide { "tensix" } else { "T" }, wide),
    ];
    if wide {
        parts.push(Span::styled(last_words(chip), model.theme.dim()));
    }
    parts.retain(|part| part.width() > 0);
    let gap = if columns >= NAMED { 2 } else { 1 };
    flow(parts.into_iter().map(|part| vec![part]).collect(), columns, rows, gap)
}

/// Puts parts beside each other, as many as so many columns and rows hold; a part that has no room is
/// left out as a whole.
pub(super) fn flow(
    parts: Vec<Vec<Span<'static>>>,
    columns: u16,
    rows: u16,
    gap: usize,
) -> Vec<Vec<Span<'static>>> {
    let mut lines: Vec<Vec<Span<'static>>> = Vec::new();
    let mut used = 0;
    for part in parts {
        let wide: usize = part.iter().map(Span::width).sum();
        let fits = |from: usize| from + wide <= usize::from(columns);
        let more = lines.len() < usize::from(rows);
        match lines.last_mut() {
            Some(line) if fits(used + gap) => {
                line.push(Span::raw(" ".repeat(gap)));
                line.extend(part);
                used += gap + wide;
            }
            _ if more && fits(0) => {
                lines.push(part);
                used = wide;
            }
            _ => {}
        }
    }
    lines
}

/// What the launched cores of a kind do, as far as that is known.
fn busy(model: &Model, chip: &ChipState, kind: TileKind, name: &str, wide: bool) -> Span<'static> {
    let Some(busy) = model.busy.get(&(chip.chip.id, kind)) else { return Span::raw("") };
    let Busy { all, launched, progress, in_vain } = busy;
    if *all == 0 {
        let missing = in_vain.unwrap_or(Missing::Unread);
        let sign = model.glyphs.missing(missing);
        let why = if in_vain.is_some() { "unread" } else { "not read" };
        let text = if wide { format!("{name} {sign} {why}") } else { format!("{name} {sign}") };
        let style = if in_vain.is_some() { model.theme.missing(missing) } else { Style::new() };
        return Span::styled(text, style);
    }
    match progress.last() {
        None if wide => {
            let sign = model.glyphs.activity(Activity::Running);
            Span::raw(format!("{name} {launched}{sign} of {all}"))
        }
        None => Span::raw(format!("{name} {launched}/{all}")),
        Some((worst, _)) => {
            let sign = |(progress, count): &(Progress, usize)| {
                format!(" {count}{}", model.glyphs.progress(*progress))
            };
            let signs: String = progress.iter().map(sign).collect();
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
