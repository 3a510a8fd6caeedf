//! `study traffic`: random packets between all pairs of chips of a fabric.

use super::measured::{failed, line};
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::json;
use crate::verbs::Style;
use crate::words;
use probe::fabric::FabricTopology;
use probe::study::traffic::{Asked, Round, study};
use serde::Serialize;

/// What a round's lists have room for on a mesh of two chips, and more seeds than anybody waits for.
const MOST_PACKETS: u64 = 10_000;
const MOST_SEEDS: u64 = 1_000_000;
const HEAD: [&str; 8] =
    ["SEED", "PACKETS", "ARRIVED", "WRONG", "DOUBLED", "MISSING", "STUCK", "EMULATED TIME"];
const WIDTHS: [usize; 8] = [6, 7, 7, 5, 7, 7, 5, 13];

/// What a person asked for.
pub(in crate::verbs) struct TrafficWords<'a> {
    pub(in crate::verbs) mesh: &'a str,
    pub(in crate::verbs) topology: &'a str,
    pub(in crate::verbs) packets: &'a str,
    pub(in crate::verbs) seed: u64,
    pub(in crate::verbs) seeds: &'a str,
}

#[derive(Serialize)]
struct Table<'a> {
    mesh: &'a str,
    topology: &'a str,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    seed: u64,
    packets: u64,
    sent: u64,
    arrived: u64,
    wrong_words: u64,
    doubled: u64,
    missing: u64,
    refused: u64,
    nacks: u64,
    unfinished: u64,
    cycles: u64,
}

fn row(round: &Round) -> Row {
    Row {
        seed: round.seed,
        packets: round.packets,
        sent: round.sent,
        arrived: round.arrived,
        wrong_words: round.wrong_words,
        doubled: round.doubled,
        missing: round.missing,
        refused: round.refused,
        nacks: round.nacks,
        unfinished: round.unfinished,
        cycles: round.cycles,
    }
}

pub(super) fn count(option: &str, words: &str, most: u64) -> Result<u64, Failure> {
    let usage = |why: String| Failure::Usage(format!("--{option} {words}: {why}"));
    let count = locate::number(words).map_err(&usage)?;
    if count == 0 || count > most {
        return Err(usage(format!("it can be from 1 to {most}")));
    }
    Ok(count)
}

/// A line for each seed.
pub(in crate::verbs) fn traffic(
    style: Style,
    asked: &TrafficWords<'_>,
) -> Result<Outcome, Failure> {
    let TrafficWords { mesh, topology, seed, .. } = *asked;
    let unknown = || {
        let names = FabricTopology::ALL.map(FabricTopology::name).join(", ");
        Failure::Usage(format!("--topology {topology}: it can be {names}"))
    };
    let asked = Asked {
        mesh,
        topology: FabricTopology::named(topology).ok_or_else(unknown)?,
        packets: count("packets", asked.packets, MOST_PACKETS)?,
        seed,
        seeds: count("seeds", asked.seeds, MOST_SEEDS)?,
    };
    line(style, &HEAD.map(str::to_owned), &WIDTHS)?;
    let mut broken = Ok(());
    let mut tell = |round: &Round| {
        let cells = [
            round.seed.to_string(),
            round.packets.to_string(),
            round.arrived.to_string(),
            round.wrong_words.to_string(),
            round.doubled.to_string(),
            (round.missing + round.packets.saturating_sub(round.sent)).to_string(),
            round.unfinished.to_string(),
            words::cycles(round.cycles),
        ];
        if broken.is_ok() {
            broken = line(style, &cells, &WIDTHS);
        }
    };
    let rounds = study(&asked, &mut tell).map_err(failed(mesh))?;
    broken?;
    if style.json {
        json(&Table { mesh, topology, rows: rounds.iter().map(row).collect() })?;
    }
    let right = rounds.iter().all(Round::is_right);
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
