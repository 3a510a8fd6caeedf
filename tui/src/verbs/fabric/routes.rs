//! `fabric tables` and `fabric path`: what the routing tables in L1 say, and where that leads a packet.

use super::follow;
use crate::args::{PathArguments, TablesArguments};
use crate::exit::{Failure, Outcome};
use crate::locate::{self, Place};
use crate::machine::{Machine, Opening};
use crate::output::{Columns, json, say, text};
use crate::shape;
use crate::verbs::{Style, cores, end_of_all, open, tell};
use layouts::ChipId;
use probe::fabric::{Entry, FabricNode};
use probe::inspect::{Interest, fabric_table_spans, fabric_tables, fabric_ways};
use probe::state::{FabricWay, MeshState, TablesState, WayEnd};
use probe::target::Mesh;
use std::fmt::Write as _;

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
    let (state, tables) = read(target, &mut machine, place)?;
    tell(target, &state);
    if style.json {
        json(&shape::fabric_tables(&target.words, &state, &tables))?;
    } else {
        let pages: Vec<_> = groups(&tables).iter().map(|group| page(&state, group)).collect();
        text(&pages.join("\n"))?;
    }
    if tables.is_empty() {
        say("no router of a fabric runs there");
    }
    let mut outcome = Outcome::Healthy;
    for pair in groups(&tables).windows(2) {
        let [Some(a), Some(b)] = [pair[0].first(), pair[1].first()] else { continue };
        if a.at.chip == b.at.chip {
            say(&format!("the tables of {} are others than those of {}", b.at, a.at));
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

pub(super) fn path(
    target: &Opening,
    style: Style,
    options: &PathArguments,
) -> Result<Outcome, Failure> {
    let mut machine = open(target)?;
    let mesh = machine.mesh();
    let from = ChipId(options.from);
    cores::check_on(&mesh, Some(Place::Chip(from)))?;
    let (state, tables) = read(target, &mut machine, None)?;
    let to = destination(&mesh, &tables, &options.to)?;
    tell(target, &state);
    if !tables.iter().any(|tables| tables.at.chip == from) {
        return Err(Failure::Usage(format!("no router of a fabric runs on chip {from}")));
    }
    let ways = fabric_ways(&mesh, &state.fabric, &tables, from, to);
    if style.json {
        json(&shape::fabric_ways(&target.words, &state, from, to, &ways))?;
    } else {
        text(&ways.iter().map(way).collect::<String>())?;
    }
    let arrive = ways.iter().all(|way| way.end == WayEnd::Arrived);
    Ok(if arrive { Outcome::Healthy } else { Outcome::Findings })
}

/// Routers, then the tables of those of a place.
fn read(
    target: &Opening,
    machine: &mut Machine,
    place: Option<Place>,
) -> Result<(MeshState, Vec<TablesState>), Failure> {
    let interest = Interest { links: true, fabric: true, proofs: true, ..Interest::default() };
    let (interest, mut sample) = follow(machine, interest);
    super::narrow(&mut sample.state.fabric, place);
    let spans = fabric_table_spans(machine.session().images(), &sample.state.fabric.routers);
    let sample = machine.take(&Interest { spans, ..interest });
    if let Some(gone) = end_of_all(&sample.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let images = machine.session().images();
    let mut tables = Vec::new();
    for read in fabric_tables(&sample.memory, images, &sample.state.fabric) {
        match read {
            Ok(found) => tables.push(found),
            Err((span, reason)) => say(&format!("tables at {}: {reason}", span.addr)),
        }
    }
    Ok((sample.state, tables))
}

/// A chip by its number, or a node of the fabric as `M0D3`.
fn destination(mesh: &Mesh, tables: &[TablesState], words: &str) -> Result<FabricNode, Failure> {
    let parts = words.strip_prefix(['M', 'm']).and_then(|rest| rest.split_once(['D', 'd']));
    if let Some((mesh, device)) = parts {
        let number = |text: &str| {
            text.parse()
                .map_err(|_| Failure::Usage(format!("'{words}' is not a node such as M0D3")))
        };
        return Ok(FabricNode { mesh: number(mesh)?, device: number(device)? });
    }
    let Place::Chip(chip) = locate::place(words).map_err(Failure::Usage)? else {
        return Err(Failure::Usage(format!(
            "'{words}' is not a chip, such as 7, nor a node, such as M0D3"
        )));
    };
    cores::check_on(mesh, Some(Place::Chip(chip)))?;
    let there = tables.iter().find(|tables| tables.at.chip == chip);
    let none = || Failure::Usage(format!("no router of a fabric runs on chip {chip}"));
    there.map(|tables| tables.tables.node).ok_or_else(none)
}

/// Tables that follow each other and are alike on a chip.
fn groups(tables: &[TablesState]) -> Vec<&[TablesState]> {
    tables.chunk_by(|a, b| a.at.chip == b.at.chip && a.tables == b.tables).collect()
}

fn page(state: &MeshState, group: &[TablesState]) -> String {
    let Some(TablesState { at, place, shape, tables }) = group.first() else {
        return String::new();
    };
    let copies: Vec<_> = group.iter().map(|tables| format!("e{}", tables.at.channel)).collect();
    let (chip, node) = (at.chip, tables.node);
    let mut page = format!(
        "chip {chip}  {node}  row {} column {} of {} x {}  in {}\n",
        place.0,
        place.1,
        shape.0,
        shape.1,
        copies.join(" ")
    );
    let mut l0 = Columns::new(&["L0 DEVICE", "CHIP", "NEXT"]);
    for (device, next) in tables.intra_mesh.iter().enumerate() {
        let of = FabricNode { mesh: node.mesh, device: device as u16 };
        l0.row(vec![device.to_string(), chip_of(state, of), entry(*next)]);
    }
    page += &l0.text();
    if tables.inter_mesh.iter().any(|next| matches!(next, Entry::To(_))) {
        let mut l1 = Columns::new(&["L1 MESH", "NEXT", "EXIT DEVICE"]);
        for (mesh, next) in tables.inter_mesh.iter().enumerate() {
            let exit = tables.exit_nodes.get(mesh).copied().flatten();
            let exit = exit.map_or("-".to_owned(), |device| device.to_string());
            l1.row(vec![mesh.to_string(), entry(*next), exit]);
        }
        page += &l1.text();
    }
    page
}

fn chip_of(state: &MeshState, node: FabricNode) -> String {
    let mut routers = state.fabric.routers.iter();
    let there = routers.find(|router| router.node.known() == Some(&node));
    there.map_or("-".to_owned(), |router| router.at.chip.to_string())
}

fn entry(entry: Entry) -> String {
    match entry {
        Entry::To(direction) => direction.name().to_owned(),
        Entry::Here => "here".to_owned(),
        Entry::Absent => "-".to_owned(),
    }
}

fn way(way: &FabricWay) -> String {
    let mut words = String::new();
    if let Some(first) = way.hops.first() {
        let _ = write!(words, "chip {}", first.out.chip);
    }
    for hop in &way.hops {
        let second = if hop.virtual_channel == 1 { ", virtual channel 1" } else { "" };
        let (out, into) = (hop.out, hop.into);
        let _ = write!(words, "\n  {} {out} -> {into}{second}", hop.direction.name());
    }
    let hops = match way.hops.len() {
        0 => String::new(),
        1 => " after 1 hop".to_owned(),
        n => format!(" after {n} hops"),
    };
    let end = match way.end {
        WayEnd::Arrived => "arrived".to_owned(),
        WayEnd::NoEntry(at) => format!("dropped: the tables of {at} have no entry for it"),
        WayEnd::NoRouter(at, direction) => {
            format!("dropped: the plane of {at} has no router towards {direction}")
        }
        WayEnd::Loop(at) => {
            format!("goes round: it comes back to {at} until its time to live is over")
        }
        WayEnd::Unread(at) => format!("unknown: nothing was read at {at}"),
    };
    words += if way.hops.is_empty() { "" } else { "\n" };
    words + &end + &hops + "\n"
}
