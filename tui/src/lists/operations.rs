//! The rows of operations: who runs which, and who is behind.

use crate::model::Model;
use crate::table::{Cell, Rank, Row, Value};
use console::merged::{Operations, Running, on_mesh, ranges, running};
use console::words;
use decode::state::Activity;
use diagnosis::Place;
use layouts::{ChipId, CoreId};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The operations that run, and their ids by chip.
fn all(model: &Model) -> (BTreeMap<u32, Running>, BTreeMap<ChipId, BTreeSet<u32>>) {
    let runs = |core: &console::seen::CoreSeen| core.activity.known() == Some(&Activity::Running);
    let of = |core: console::seen::CoreSeen| {
        Some((core.id, core.operation.filter(|id| *id != 0)?, core.kernel))
    };
    let cores: Vec<_> = model.cores_seen().filter(runs).filter_map(of).collect();
    let mut ids: BTreeMap<ChipId, BTreeSet<u32>> = BTreeMap::new();
    for (core, id, _) in &cores {
        ids.entry(core.chip).or_default().insert(*id);
    }
    (running(cores.into_iter()), ids)
}

/// The rows of all operations.
pub(crate) fn operation_rows(model: &Model) -> Vec<Row> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let (operations, ids) = all(model);
    let compared = Operations::with(mesh, ids);
    let behind = compared.behind();
    let folds = compared.are_too_many();
    let lowest =
        operations.iter().find(|(_, it)| it.cores.iter().any(|c| behind.contains(&c.chip)));
    let lowest = lowest.map(|(id, _)| *id);
    let row = |(item, (id, it)): (usize, (u32, Running))| {
        let chips: BTreeSet<u32> = it.cores.iter().map(|core| core.chip.0.into()).collect();
        let (state, style, rank) = match lowest {
            Some(lowest) if lowest == id => ("behind", model.theme.warn(), Rank::Slow),
            Some(_)
                if !chips.iter().all(|chip| behind.iter().any(|it| u32::from(it.0) == *chip)) =>
            {
                ("ahead", Style::new(), Rank::Moves)
            }
            _ if folds && it.cores.len() == 1 => ("", Style::new(), Rank::Idle),
            _ => ("", Style::new(), Rank::Moves),
        };
        let named = mesh.operations.get(&id.into());
        let kernels: Vec<&str> = it.kernels.iter().map(String::as_str).collect();
        let stood = stood(model, &it.cores);
        let text = |field, text: String| Cell::text(field, Span::raw(text));
        let count = it.cores.len() as u64;
        Row {
            key: id.to_string(),
            item,
            rank,
            place: it.cores.first().map(|core| Place::Core(*core)),
            cells: vec![
                Cell::number("id", Span::raw(id.to_string()), Some(id.into())),
                text("operation", named.map(|it| it.name.clone()).unwrap_or_default()),
                Cell::text("state", Span::styled(state, style)),
                text("chips", ranges("", &chips)),
                Cell::number("cores", Span::raw(count.to_string()), Some(count)),
                Cell::number("still", still(model, stood), stood),
                text("kernels", kernels.join(" ")),
            ],
            hidden: chips
                .iter()
                .map(|chip| ("chip", Value::Number(Some((*chip).into()))))
                .collect(),
        }
    };
    operations.into_iter().enumerate().map(row).collect()
}

/// How long the core of an operation that moved last stands, in cycles; 0 if one moves.
fn stood(model: &Model, cores: &BTreeSet<CoreId>) -> Option<u64> {
    let verdict = model.verdict()?;
    let stands =
        |core: &CoreId| super::cores::stood(model, *core, verdict.progress.get(core).copied());
    cores.iter().filter_map(stands).min()
}

/// That time in words.
fn still(model: &Model, stood: Option<u64>) -> Span<'static> {
    match stood {
        None => Span::raw(""),
        Some(0) => Span::styled("moves", model.theme.ok()),
        Some(cycles) => Span::raw(words::brief(cycles)),
    }
}

/// Who is behind, and all about the selected operation.
pub(crate) fn operation_detail(model: &Model, id: u32) -> Vec<Line<'static>> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let (operations, ids) = all(model);
    let mut lines = vec![Line::raw(Operations::with(mesh, ids).text())];
    if let Some(named) = mesh.operations.get(&id.into()) {
        lines.push(Line::raw(format!("parameters of {id}: {}", named.parameters)));
    }
    if let Some(it) = operations.get(&id) {
        lines.push(Line::raw(format!("cores of {id}: {}", on_mesh(mesh, &it.cores))));
    }
    lines
}
