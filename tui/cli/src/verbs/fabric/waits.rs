//! `fabric waits`: waits that last between two snapshots.

use super::follow;
use crate::args::WaitsArguments;
use crate::output::{json, say, text};
use crate::shape;
use crate::target::{Style, end_of_all, open, report};
use console::exit::{Failure, Outcome};
use console::fabric::wait;
use console::machine::{Machine, Opening};
use decode::inspect::ReadSet;
use diagnosis::WaitGraph;
use std::fmt::Write as _;

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &WaitsArguments,
) -> Result<Outcome, Failure> {
    let mut machine = open(target)?;
    let present = go_back(&mut machine, options.over);
    let read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
    let (read_set, first) = follow(&mut machine, read_set);
    if let Some(gone) = end_of_all(&first.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let mut over = options.over;
    let (last, apart) = loop {
        let gone = |gone| Failure::of_access(&target.words, &gone);
        let before = machine.target().now().map_err(gone)?;
        match present {
            Some(moment) => machine.session().seek(moment),
            None => machine.session().pass(over).map_err(gone)?,
        }
        let (_, last) = follow(&mut machine, read_set.clone());
        if let Some(gone) = end_of_all(&last.memory) {
            return Err(Failure::of_access(&target.words, gone));
        }
        let apart = last.state.cycles.saturating_sub(first.state.cycles);
        if apart > 0 || machine.target().now().map_err(gone)? == before {
            break (last, apart);
        }
        over = over.saturating_mul(2).max(1);
    };
    let waits = last.fabric_waits().lasting(first.fabric_waits());
    report(target, &last.state);
    if style.json {
        json(shape::fabric_waits(&target.words, &last.state, &waits, apart))?;
    } else {
        text(&page(&waits))?;
    }
    if apart == 0 {
        say("there is only one snapshot: two are needed to find waits");
        return Ok(Outcome::Partial);
    }
    Ok(conclude(&waits, apart, !last.state.gaps.is_empty()))
}

/// Reports what the waits amount to.
fn conclude(waits: &WaitGraph, apart: u64, gaps: bool) -> Outcome {
    let still = waits.still.len();
    if waits.all.is_empty() && still == 0 {
        if gaps {
            say("no waits among the parts that could be read");
            return Outcome::Partial;
        }
        say(&format!("no waits: nothing was blocked for {apart} cycles"));
        return Outcome::Healthy;
    }
    if still > 0 {
        let routers = if still == 1 { "a router is" } else { "routers are" };
        let count = if still == 1 { String::new() } else { format!("{still} ") };
        let unawaited = if waits.all.is_empty() { ", and nothing waits for it yet" } else { "" };
        say(&format!("{count}{routers} stuck: no loop ran for {apart} cycles{unawaited}"));
        if waits.all.is_empty() {
            return Outcome::Findings;
        }
    }
    let deadlocks = waits.cycles().len();
    let found = match deadlocks {
        0 => "no deadlock".to_owned(),
        1 => "a deadlock".to_owned(),
        n => format!("{n} deadlocks"),
    };
    say(&format!("{} waits without progress for {apart} cycles; {found}", waits.all.len()));
    Outcome::Findings
}

/// Goes back in a recording by a time, or to the moment before; returns the moment at which it was.
fn go_back(machine: &mut Machine, cycles: u64) -> Option<usize> {
    let history = machine.target().history()?;
    let (times, at) = (history.moments(), history.position());
    let due = times.get(at)?.saturating_sub(cycles);
    let before = times.get(..at)?.iter().rposition(|time| *time <= due);
    let before = before.unwrap_or(at.saturating_sub(1));
    history.seek(before);
    Some(at)
}

fn page(waits: &WaitGraph) -> String {
    let mut page = String::new();
    for (n, cycle) in waits.cycles().iter().enumerate() {
        let n = n + 1;
        let _ = writeln!(page, "deadlock {n}: {} wait for each other", cycle.len());
    }
    for line in waits.tree() {
        let _ = writeln!(page, "{}", wait(waits, &line));
    }
    page
}
