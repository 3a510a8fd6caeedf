//! The rows of semaphores and circular buffers, by the launch messages of a chip's cores.

use crate::model::{List, Model};
use crate::table::{Cell, Rank, Row, Value};
use console::merged::kernel;
use decode::state::{Activity, CoreState, LaunchState};
use diagnosis::{Place, Progress, SEMAPHORE_BYTES, semaphore_span};
use layouts::NocAddr;
use machine::snapshot::Span as Range;
use ratatui::text::{Line, Span};

impl Model {
    /// What has to be read for the semaphores of the selected core.
    pub(crate) fn semaphore_words(&self) -> Vec<Range> {
        selected(self).and_then(semaphore_span).into_iter().collect()
    }
}

/// The core of the selected row.
fn selected(model: &Model) -> Option<&CoreState> {
    match model.lists[List::Semaphores].selected()?.place? {
        Place::Core(core) => model.mesh()?.core(core),
        _ => None,
    }
}

/// The rows of the cores whose launch message tells of semaphores or circular buffers.
pub(crate) fn semaphore_rows(model: &Model) -> Vec<Row> {
    let chips = model.mesh().map_or(&[][..], |mesh| &mesh.chips);
    let cores = chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
    let runs = |core: &&CoreState| core.activity.known() == Some(&Activity::Running);
    let rows = cores.filter(runs).filter_map(|core| row(model, core, core.launch.known()?));
    rows.enumerate().map(|(item, row)| Row { item, ..row }).collect()
}

fn row(model: &Model, core: &CoreState, launch: &LaunchState) -> Option<Row> {
    let (semaphores, buffers) = (launch.semaphores, launch.circular_buffers.as_ref());
    if semaphores.is_none() && buffers.is_none() {
        return None;
    }
    let progress = model.progress(core);
    let waits = match progress {
        Some(Progress::Waiting(on, reason)) => format!("{on}: {reason}"),
        _ => String::new(),
    };
    let stood = super::cores::stood(model, core.id, progress);
    let address = |address: Option<u64>| address.map_or_else(String::new, |it| format!("{it:#x}"));
    let count = buffers.map(|it| u64::from(it.mask.count_ones()));
    let text = |field, text: String| Cell::text(field, Span::raw(text));
    Some(Row {
        key: core.id.to_string(),
        item: 0,
        rank: model.pulse.held(core.id.chip, core.id.tile).unwrap_or(Rank::Moves),
        place: Some(Place::Core(core.id)),
        cells: vec![
            text("core", core.id.to_string()),
            text("kernel", kernel(core).unwrap_or_default()),
            Cell::number("semaphores", Span::raw(address(semaphores)), semaphores),
            Cell::number("config", Span::raw(address(buffers.map(|it| it.config))), None),
            Cell::number(
                "buffers",
                Span::raw(count.map_or_else(String::new, |it| it.to_string())),
                count,
            ),
            Cell::number("still", super::operations::still(model, stood), stood),
            text("waits", waits),
        ],
        hidden: vec![("chip", Value::Number(Some(core.id.chip.0.into())))],
    })
}

/// The values of the selected core's semaphores, and its circular buffers.
pub(crate) fn semaphore_detail(model: &Model) -> Vec<Line<'static>> {
    let Some((core, shown)) = selected(model).zip(model.shown.as_deref()) else {
        return Vec::new();
    };
    let Some(launch) = core.launch.known() else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(Range { addr, len }) = semaphore_span(core) {
        let at = |number: u64| NocAddr { offset: addr.offset + number * SEMAPHORE_BYTES, ..addr };
        let value =
            |number| shown.memory.word(at(number)).map_or("?".to_owned(), |it| it.to_string());
        let values: Vec<_> = (0..u64::from(len) / SEMAPHORE_BYTES).map(value).collect();
        lines.push(Line::raw(format!(
            "semaphores of {} from {addr} on: {}",
            core.id,
            values.join(" ")
        )));
    }
    if let Some(buffers) = &launch.circular_buffers {
        let used: Vec<_> =
            (0..64).filter(|at| buffers.mask >> at & 1 == 1).map(|at| at.to_string()).collect();
        let used = if used.is_empty() { "none".to_owned() } else { used.join(" ") };
        lines.push(Line::raw(format!(
            "circular buffers: {used}; configured at {:#x}",
            buffers.config
        )));
    }
    lines
}
