//! The rows of cores on which a kernel was launched, or that could not be read.

use crate::model::Model;
use crate::table::{Cell, Rank, Row, Value};
use console::words;
use decode::state::{Activity, ChipState, TileState};
use diagnosis::{Place, Progress};
use images::{ImageRole, Reading};
use layouts::{ChipId, CoreId};
use machine::snapshot::AccessError;
use ratatui::style::Style;
use ratatui::text::Span;

/// The rows of all cores with a kernel.
pub(crate) fn core_rows(model: &Model) -> Vec<Row> {
    let chips = model.mesh().map_or(&[][..], |mesh| &mesh.chips);
    let tiles = chips.iter().flat_map(|chip| chip.tiles.iter().map(move |tile| (chip, tile)));
    let cores = tiles.flat_map(|(chip, tile)| of_tile(model, chip, tile));
    cores.enumerate().map(|(item, row)| Row { item, ..row }).collect()
}

fn of_tile(model: &Model, chip: &ChipState, tile: &TileState) -> Vec<Row> {
    let cores = model.cores_known(chip.chip.id, tile);
    let listed = |activity: &Reading<Activity>| match activity {
        Reading::Known(activity) => *activity == Activity::Running,
        Reading::Unread(AccessError::NotRequested | AccessError::NotRecorded) | Reading::Absent => {
            false
        }
        Reading::Unread(_) | Reading::Unknown(_) => true,
    };
    let cores = cores.filter(|(_, activity)| listed(activity) && !tile.harvested);
    cores.map(|(core, activity)| row(model, chip.chip.id, tile, (core, activity))).collect()
}

fn row(
    model: &Model,
    chip: ChipId,
    tile: &TileState,
    (core, activity): (CoreId, &Reading<Activity>),
) -> Row {
    let progress = model.progress_of(core, activity).filter(|_| activity.known().is_some());
    let rank = model.pulse.held(chip, tile.xy);
    let rank = rank.filter(|_| progress != Some(Progress::Progressing));
    let held = rank.is_some();
    let rank = match (progress, rank) {
        _ if activity.known().is_none() => Rank::Fault,
        (_, Some(rank)) => rank,
        (Some(Progress::Still), _) => Rank::Slow,
        (Some(Progress::Idle | Progress::Ended), _) => Rank::Idle,
        _ => Rank::Moves,
    };
    let style = if held { model.theme.bad() } else { Style::new() };
    let state = match progress {
        Some(progress) => {
            let own = if held { style } else { model.theme.progress(progress) };
            let text = format!("{} {}", model.glyphs.progress(progress), progress.word());
            Span::styled(text, own)
        }
        None if activity.known().is_some() => Span::raw("launched"),
        None => Span::styled("not readable", model.theme.bad()),
    };
    let waits = match progress {
        Some(Progress::Waiting(on, reason)) => format!("{on}: {reason}"),
        _ => String::new(),
    };
    let stood = stood(model, core, progress);
    let still = match stood {
        None => Span::raw(""),
        Some(0) => Span::styled("moves", model.theme.ok()),
        Some(cycles) => Span::styled(words::brief(cycles), style),
    };
    let (kernel, waypoint, at) = code(model, tile, core);
    let text = |field, text: String| Cell::text(field, Span::raw(text));
    Row {
        key: core.to_string(),
        item: 0,
        rank,
        place: Some(Place::Core(core)),
        cells: vec![
            Cell::text("core", Span::styled(core.to_string(), style)),
            text("kernel", kernel),
            Cell::text("state", state),
            Cell::number("still", still, stood),
            text("wayp", waypoint),
            text("waits", waits),
            text("at", at),
        ],
        hidden: vec![("chip", Value::Number(Some(chip.0.into())))],
    }
}

/// How long a core stands by the verdict, in cycles; 0 if it moves.
pub(super) fn stood(model: &Model, core: CoreId, progress: Option<Progress>) -> Option<u64> {
    let verdict = model.verdict().filter(|verdict| verdict.missing.is_empty())?;
    match progress? {
        Progress::Progressing => Some(0),
        Progress::Waiting(..) | Progress::Still => {
            Some(verdict.cycles.saturating_sub(verdict.moved.get(&core)?.cycles))
        }
        _ => None,
    }
}

/// The kernel of a core, its waypoint and the source lines of it, as far as they are known.
fn code(model: &Model, tile: &TileState, id: CoreId) -> (String, String, String) {
    let read = tile.cores.iter().find(|core| core.id == id && core.activity.known().is_some());
    if let Some(core) = read {
        let kernel = core.images.iter().find(|image| image.role == ImageRole::Kernel);
        let kernel = kernel.map(|image| image.name.clone()).unwrap_or_default();
        let waypoint = core.waypoint.known().cloned().unwrap_or_default();
        return (kernel, waypoint, words::sources(core).unwrap_or_default());
    }
    let seen = model.shown.as_deref().and_then(|shown| shown.seen.get(&(id.chip, id.tile)));
    let seen = seen.and_then(|cores| cores.iter().find(|core| core.id == id));
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    seen.map_or_else(Default::default, |core| {
        (text(&core.kernel), text(&core.waypoint), String::new())
    })
}
