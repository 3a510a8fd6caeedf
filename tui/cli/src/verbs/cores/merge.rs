//! `cores --merge`: one tree of kernel, function and source line, with the cores at each, and what
//! moved between two snapshots.

use super::CoresArguments;
use super::sample::{is_sampled, order, outcome, refused_all, sample, written};
use super::{check, read_set, say_findings};
use crate::amount;
use crate::interrupt::Stop;
use crate::output::{Columns, Page, json, say};
use crate::shape::{Cores, Merged};
use crate::target::{Style, end_of_all, judge, open, report};
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::{Machine, Opening};
use console::merged::{Branch, Operations, branches, on_mesh};
use console::words;
use decode::inspect::ReadSet;
use decode::profile::CoreProfile;
use decode::state::{CoreState, MeshState};
use layouts::CoreId;
use machine::samples::SampleOrder;
use machine::words::counted;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Most names of moved words that are printed at a branch.
const MOST_NAMES: usize = 2;

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &CoresArguments,
) -> Result<Outcome, Failure> {
    // Invalid arguments are reported before a target is opened.
    let place = options.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
    let over = amount::time("--for", &options.over).map_err(Failure::Usage)?;
    let every = options.every.as_str();
    let order = options.sample.as_deref().map(|count| order((count, every))).transpose()?;
    let stop = order.map(|_| Stop::listen()).transpose()?;
    let mut machine = open(target)?;
    let read_set = read_set(&machine.mesh(), place);
    let (before, now) = two(&mut machine, target, &read_set, over)?;
    check(&now, place)?;
    report(target, &now);
    let passes = |core: &CoreState| place.is_none_or(|p| p.has_core(core.id));
    let all = now.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    let cores: Vec<&CoreState> = all.filter(|core| passes(core)).collect();
    let sampled = |core: &&&CoreState| is_sampled(place, core);
    let profiles = match order.zip(stop.as_ref()) {
        Some((order, stop)) => {
            let ids = cores.iter().filter(sampled).map(|core| core.id).collect();
            profiles(&mut machine, target, &ids, (order, stop))?
        }
        None => Vec::new(),
    };
    // A recording may have no other moment within that time.
    let before = Some(before).filter(|before| before.cycles != now.cycles);
    let apart = before.as_ref().map(|before| now.cycles.saturating_sub(before.cycles));
    let tree = branches(style.looks.glyphs, &cores, before.as_ref(), &profiles);
    // Of one chip or tile there is nothing to compare.
    let operations = place.is_none().then(|| Operations::of(&now));
    if style.json {
        let merged = Merged::new(&tree, apart, operations.as_ref());
        let cores = Cores::new(&target.words, &now, false, passes);
        json(cores.with_profiles(&profiles).with_merged(merged))?;
    } else {
        style.print(page(&now, &tree, apart, operations.as_ref()))?;
    }
    say_findings(&now.chips, passes);
    Ok(if order.is_some() { outcome(&now, &profiles) } else { judge(&now) })
}

/// Two snapshots, a time apart.
fn two(
    machine: &mut Machine,
    target: &Opening,
    read_set: &ReadSet,
    over: u64,
) -> Result<(MeshState, MeshState), Failure> {
    let first = machine.take(read_set);
    if let Some(gone) = end_of_all(&first.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let passed = machine.session().pass(over);
    passed.map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let second = machine.take(read_set);
    match end_of_all(&second.memory) {
        Some(gone) => Err(Failure::of_access(&target.words, gone)),
        None => Ok((first.state, second.state)),
    }
}

fn profiles(
    machine: &mut Machine,
    target: &Opening,
    cores: &BTreeSet<CoreId>,
    order: (SampleOrder, &Stop),
) -> Result<Vec<CoreProfile>, Failure> {
    let profiles = sample(machine, target, cores, order)?;
    refused_all(target, &profiles)?;
    say(&written(cores));
    Ok(profiles)
}

fn page(
    state: &MeshState,
    tree: &[Branch],
    apart: Option<u64>,
    operations: Option<&Operations>,
) -> Page {
    let cores: usize = tree.iter().map(|branch| branch.cores.len()).sum();
    let moved: usize = tree.iter().map(|branch| branch.moved.len()).sum();
    let cores = counted(cores as u64, "core", "cores");
    let head = match apart {
        Some(apart) => format!("{cores}, {moved} moved in {}", words::cycles(apart)),
        None => format!("{cores}; what moves is unknown: both snapshots are of one moment"),
    };
    let operations = operations.map_or_else(String::new, |it| it.text() + "\n");
    Page::default().with(format!("{head}\n{operations}\n")).with(lines(state, tree))
}

/// The tree: kernels and functions once, each line with its cores. A kernel of which nothing more is
/// known has its cores beside it.
fn lines(state: &MeshState, tree: &[Branch]) -> Columns {
    let mut table = Columns::new(&["KERNEL", "COUNT", "WAYPOINT", "MOVED", "CORES"]);
    let (mut kernel, mut function) = (None, None);
    for branch in tree {
        if (branch.function.as_str(), branch.line.as_str()) == ("", "") {
            kernel = Some(&branch.kernel);
            for row in rows(state, branch, branch.kernel.clone()) {
                table.row(row);
            }
            continue;
        }
        if kernel != Some(&branch.kernel) {
            (kernel, function) = (Some(&branch.kernel), None);
            table.row(vec![branch.kernel.clone()]);
        }
        if function != Some(&branch.function) {
            function = Some(&branch.function);
            table.row(vec![format!("  {}", named(&branch.function))]);
        }
        for row in rows(state, branch, format!("    {}", named(&branch.line))) {
            table.row(row);
        }
    }
    table
}

fn named(text: &str) -> &str {
    if text.is_empty() { "?" } else { text }
}

/// The rows of a place: if only some of its cores moved, one for these and one for the others.
fn rows(state: &MeshState, branch: &Branch, place: String) -> Vec<Vec<String>> {
    let waypoints: Vec<&str> = branch.waypoints.iter().map(String::as_str).collect();
    let row = |place, moved, cores: &BTreeSet<CoreId>| {
        vec![place, cores.len().to_string(), waypoints.join(" "), moved, on_mesh(state, cores)]
    };
    let moved: BTreeSet<CoreId> = branch.moved.keys().copied().collect();
    let still: BTreeSet<CoreId> = branch.cores.difference(&moved).copied().collect();
    let is_silent = still.is_subset(&branch.silent);
    match (moved.is_empty(), still.is_empty()) {
        (true, false) if is_silent => {
            vec![row(place, format!("unknown: {}", words::NO_WAYPOINTS), &still)]
        }
        (true, _) => vec![row(place, String::new(), &still)],
        (_, true) => vec![row(place, words_of(branch), &moved)],
        _ => {
            let others = row(String::new(), "did not move".to_owned(), &still);
            vec![row(place, words_of(branch), &moved), others]
        }
    }
}

/// The words that moved on the most cores.
fn words_of(branch: &Branch) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in branch.moved.values().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(_, count)| Reverse(*count));
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let names: Vec<&str> = names.into_iter().take(MOST_NAMES).map(|(name, _)| name).collect();
    format!("{}{more}", names.join(", "))
}
