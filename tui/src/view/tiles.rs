//! One tile as a cell of the chip grid: its most significant core, or its kind.

use crate::glyph::{Missing, link_letter};
use crate::model::Model;
use crate::reading::span;
use crate::words;
use decode::state::{Activity, CoreState, LinkState, TileState};
use layouts::{EthId, TileKind};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The most significant core: one that could not be read, then a running one, then the busiest.
pub(super) fn telling(tile: &TileState) -> Option<&CoreState> {
    let rank = |core: &&CoreState| match (Missing::of(&core.activity), core.activity.known()) {
        (Some(Missing::Absent), _) => 0,
        (None, Some(Activity::Running)) => 5,
        (None, Some(Activity::Waiting)) => 4,
        (None, Some(Activity::Done)) => 3,
        (Some(Missing::Unread), _) | (None, Some(Activity::BaseFirmware)) => 2,
        (Some(_), _) => 6,
        (None, Some(Activity::InReset) | None) => 1,
    };
    // Among equals, the first core is chosen.
    tile.cores.iter().rev().max_by_key(rank)
}

/// The glyph of a core's activity, or of the reason why it is unknown.
pub(super) fn activity(model: &Model, core: &CoreState) -> Span<'static> {
    let theme = model.theme;
    if let Some(&known) = core.activity.known() {
        Span::styled(model.glyphs.activity(known), theme.activity(known))
    } else {
        let missing = Missing::of(&core.activity).unwrap_or(Missing::Unread);
        Span::styled(model.glyphs.missing(missing), theme.missing(missing))
    }
}

/// The link of an Ethernet tile.
pub(super) fn link<'a>(model: &'a Model, tile: &TileState) -> Option<(&'a LinkState, EthId)> {
    let end = EthId { chip: model.chip, channel: tile.eth.as_ref()?.channel };
    let link = model.mesh()?.links.iter().find(|l| l.link.a == end || l.link.b == end)?;
    Some((link, if link.link.a == end { link.link.b } else { link.link.a }))
}

/// The cell's first line.
pub(super) fn cell(model: &Model, tile: &TileState, width: usize) -> Line<'static> {
    let theme = model.theme;
    if tile.harvested {
        return Line::styled(model.glyphs.harvested(), theme.dim());
    }
    let Some(core) = telling(tile) else {
        let text = match tile.kind {
            TileKind::Router => model.glyphs.router(),
            kind => words::tile(kind),
        };
        return Line::styled(text, theme.dim());
    };
    let mut line = Vec::new();
    if width >= 9
        && let Some(eth) = &tile.eth
    {
        line.push(Span::styled(format!("{:<4}", format!("e{}", eth.channel)), theme.dim()));
    }
    line.push(activity(model, core));
    line.push(waypoint(model, core));
    Line::from(line)
}

/// The cell's second line, if rows are two high.
pub(super) fn under(model: &Model, tile: &TileState) -> Line<'static> {
    if let Some((link, far)) = link(model, tile) {
        let style = model.theme.link(link.condition);
        return Line::styled(format!("{} {far}", link_letter(link.condition)), style);
    }
    if tile.harvested || tile.kind != TileKind::Tensix {
        return Line::default();
    }
    Line::from(tile.cores.iter().map(|c| activity(model, c)).collect::<Vec<_>>())
}

/// The waypoint, underlined if it moved since the previous snapshot.
pub(super) fn waypoint(model: &Model, core: &CoreState) -> Span<'static> {
    let known = core.activity.known().map_or(Style::new(), |a| model.theme.activity(*a));
    let text = span(model.glyphs, model.theme, &core.waypoint, known);
    let before = model.mesh_before().and_then(|m| m.core(core.id));
    if before.is_some_and(|b| b.waypoint != core.waypoint) {
        let style = model.theme.moved(text.style);
        return text.style(style);
    }
    text
}
