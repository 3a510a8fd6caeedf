//! `fabric tables` and `fabric path`: the routing tables in L1, and the path of a packet by them.

use super::follow;
use crate::args::{PathArguments, TablesArguments};
use crate::output::{json, say, text};
use crate::shape;
use crate::target::{Style, end_of_all, open, report};
use crate::verbs::cores;
use console::exit::{Failure, Outcome};
use console::fabric::{self, Addressee, groups};
use console::locate::{self, NamedPlace};
use console::machine::{Machine, Opening};
use decode::inspect::{ReadSet, fabric_routes};
use decode::state::{MeshState, RouteEnd, TablesState};
use machine::snapshot::Snapshot;

pub(super) fn tables(
    target: &Opening,
    style: Style,
    options: &TablesArguments,
) -> Result<Outcome, Failure> {
    let place = options.place.as_deref().map(locate::place).transpose();
    let place = place.map_err(Failure::Usage)?;
    let mut machine = open(target)?;
    let mesh = machine.mesh();
    cores::check_on(&mesh, place)?;
    let state = read(target, &mut machine, place)?;
    let tables = &state.fabric.tables;
    if style.json {
        json(shape::fabric_tables(&target.words, &state))?;
    } else {
        let page = |group: &&[TablesState]| {
            let text = group.first().map(|tables| fabric::tables_text(&state, tables));
            format!("{}\n{}", fabric::tables_title(group), text.unwrap_or_default())
        };
        let pages: Vec<_> = groups(tables).iter().map(page).collect();
        text(&pages.join("\n"))?;
    }
    if tables.is_empty() {
        say("no router of a fabric runs there");
    }
    let mut outcome = Outcome::Healthy;
    for pair in groups(tables).windows(2) {
        let [Some(a), Some(b)] = [pair[0].first(), pair[1].first()] else { continue };
        if a.at.chip == b.at.chip {
            say(&format!("the tables of {} differ from those of {}", b.at, a.at));
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

pub(super) fn path(
    target: &Opening,
    style: Style,
    options: PathArguments,
) -> Result<Outcome, Failure> {
    let mut machine = open(target)?;
    let mesh = machine.mesh();
    for end in [options.from, options.to] {
        if let Addressee::Chip(chip) = end {
            cores::check_on(&mesh, Some(NamedPlace::Chip(chip)))?;
        }
    }
    let state = read(target, &mut machine, None)?;
    let to = options.to.node(&state).map_err(Failure::Usage)?;
    options.from.node(&state).map_err(Failure::Usage)?;
    let from = options.from.chip(&state).map_err(Failure::Usage)?;
    let routes = fabric_routes(&state, from, to);
    if style.json {
        json(shape::fabric_routes(&target.words, &state, from, to, &routes))?;
    } else {
        text(&fabric::routes_text(&routes))?;
    }
    let arrive = routes.iter().all(|route| route.end == RouteEnd::Arrived);
    Ok(if arrive { Outcome::Healthy } else { Outcome::Findings })
}

/// Routers and their tables, or only those of the given place.
fn read(
    target: &Opening,
    machine: &mut Machine,
    place: Option<NamedPlace>,
) -> Result<MeshState, Failure> {
    read_memory(target, machine, place).map(|(state, _)| state)
}

/// Routers and their tables, or only those of the given place, and the bytes that were read.
pub(super) fn read_memory(
    target: &Opening,
    machine: &mut Machine,
    place: Option<NamedPlace>,
) -> Result<(MeshState, Snapshot), Failure> {
    let read_set = ReadSet { links: true, proofs: true, ..ReadSet::default() };
    let (_, snapshot) = follow(machine, ReadSet { fabric: true, fabric_tables: true, ..read_set });
    if let Some(gone) = end_of_all(&snapshot.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let mut state = snapshot.state;
    super::narrow(&mut state.fabric, place);
    report(target, &state);
    Ok((state, snapshot.memory))
}
