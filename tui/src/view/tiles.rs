//! One tile as a cell of the chip grid: its most significant core, or its kind.

use crate::model::Model;
use console::glyph::{Missing, link_letter};
use console::reading::long;
use console::words;
use decode::state::{Activity, CoreState, LinkState, TileState};
use diagnosis::Progress;
use images::Reading;
use layouts::{ChipId, CoreId, EthId, TileKind};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The most significant core: one that stands or could not be read, then a launched one, then the
/// busiest.
pub(super) fn telling<'a>(model: &Model, tile: &'a TileState) -> Option<&'a CoreState> {
    let rank = |core: &&CoreState| match (Missing::of(&core.activity), core.activity.known()) {
        _ if model.progress(core) == Some(Progress::Still) => 7,
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

/// What a core does, or the reason why that is unknown, with its glyph.
pub(super) fn activity_words(model: &Model, core: &CoreState) -> Vec<Span<'static>> {
    let word = match (model.progress(core), core.activity.known()) {
        (Some(progress), _) => progress.word(),
        (None, Some(activity)) => words::activity(*activity),
        (None, None) => {
            let text = long(model.glyphs, &core.activity, |_| String::new());
            return vec![Span::styled(text, model.theme.reading(&core.activity, Style::new()))];
        }
    };
    vec![activity(model, core), Span::raw(format!(" {word}"))]
}

/// The glyph of what a core does, or of the reason why that is unknown.
pub(super) fn activity(model: &Model, core: &CoreState) -> Span<'static> {
    activity_of(model, core.id, &core.activity)
}

fn activity_of(model: &Model, core: CoreId, does: &Reading<Activity>) -> Span<'static> {
    let theme = model.theme;
    if let Some(progress) = model.progress_of(core, does) {
        let stands = model.pulse.stands(core.chip, core.tile).is_some();
        let lit = stands && matches!(progress, Progress::Waiting(..) | Progress::Still);
        let style = if lit { theme.bad() } else { theme.progress(progress) };
        Span::styled(model.glyphs.progress(progress), style)
    } else if let Some(&known) = does.known() {
        Span::styled(model.glyphs.activity(known), theme.activity(known))
    } else {
        let missing = Missing::of(does).unwrap_or(Missing::Unread);
        Span::styled(model.glyphs.missing(missing), theme.missing(missing))
    }
}

/// The link of an Ethernet tile.
pub(super) fn link<'a>(
    model: &'a Model,
    chip: ChipId,
    tile: &TileState,
) -> Option<(&'a LinkState, EthId)> {
    let end = EthId { chip, channel: tile.eth.as_ref()?.channel };
    let link = model.mesh()?.links.iter().find(|l| l.link.a == end || l.link.b == end)?;
    Some((link, if link.link.a == end { link.link.b } else { link.link.a }))
}

/// The cell's first line.
pub(super) fn cell(model: &Model, tile: &TileState, width: usize) -> Line<'static> {
    let theme = model.theme;
    if tile.harvested {
        return Line::styled(model.glyphs.harvested(), theme.dim());
    }
    let Some(core) = telling(model, tile) else {
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
pub(super) fn under(model: &Model, chip: ChipId, tile: &TileState) -> Line<'static> {
    if let Some((link, far)) = link(model, chip, tile) {
        let style = model.theme.link(link.condition);
        return Line::styled(format!("{} {far}", link_letter(link.condition)), style);
    }
    if tile.harvested || tile.kind != TileKind::Tensix {
        return Line::default();
    }
    let cores = model.cores_known(chip, tile);
    Line::from(cores.map(|(core, does)| activity_of(model, core, does)).collect::<Vec<_>>())
}

/// The waypoint.
pub(super) fn waypoint(model: &Model, core: &CoreState) -> Span<'static> {
    let known = match (model.progress(core), core.activity.known()) {
        (Some(progress), _) => model.theme.progress(progress),
        (None, Some(activity)) => model.theme.activity(*activity),
        (None, None) => Style::new(),
    };
    model.theme.span(model.glyphs, &core.waypoint, known)
}
