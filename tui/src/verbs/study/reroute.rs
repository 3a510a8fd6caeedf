//! `study reroute`: links of a fabric are lost and come back while data are under way.

use super::measured::{failed, line};
use super::traffic::{count, scene};
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::Style;
use crate::words;
use probe::study::reroute::{Asked, Load, Round, study};
use serde::Serialize;

/// What the lists of a round of packets have room for on small meshes, and more than anybody waits for.
const MOST_PACKETS: u64 = 10_000;
const MOST_BYTES: u64 = 1 << 30;
const MOST_SEEDS: u64 = 1_000_000;
const HEAD: [&str; 9] =
    ["SEED", "LOST", "AT", "FOR", "HEALTHY", "TOOK", "REROUTED", "RESENT", "WRONG"];
const WIDTHS: [usize; 9] = [6, 16, 12, 12, 12, 12, 8, 6, 5];

/// What a person asked for.
pub(in crate::verbs) struct RerouteWords<'a> {
    pub(in crate::verbs) mesh: &'a str,
    pub(in crate::verbs) topology: Option<&'a str>,
    pub(in crate::verbs) bytes: &'a str,
    pub(in crate::verbs) packets: Option<&'a str>,
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
struct Lost {
    link: String,
    from_cycles: u64,
    cycles: u64,
}

#[derive(Serialize)]
struct Row {
    seed: u64,
    lost: Vec<Lost>,
    healthy_cycles: u64,
    cycles: u64,
    rerouted: u64,
    resent: u64,
    wrong: u64,
    doubled: u64,
    missing: u64,
}

fn row(round: &Round) -> Row {
    let lost = round.outages.iter().map(|outage| Lost {
        link: outage.link.to_string(),
        from_cycles: outage.from_cycles,
        cycles: outage.cycles,
    });
    Row {
        seed: round.seed,
        lost: lost.collect(),
        healthy_cycles: round.healthy_cycles,
        cycles: round.cycles,
        rerouted: round.rerouted,
        resent: round.resent,
        wrong: round.wrong,
        doubled: round.doubled,
        missing: round.missing,
    }
}

/// A line for each seed; of several outages the first, and how many more.
pub(in crate::verbs) fn reroute(
    style: Style,
    asked: &RerouteWords<'_>,
) -> Result<Outcome, Failure> {
    let RerouteWords { mesh, topology, seed, .. } = *asked;
    let scene = scene(mesh, topology)?;
    let topology = scene.fabric.topology.name();
    let load = match asked.packets {
        Some(packets) => Load::Packets(count("packets", packets, MOST_PACKETS)?),
        None => Load::AllGather(count("bytes", asked.bytes, MOST_BYTES)?),
    };
    let asked = Asked { scene, load, seed, seeds: count("seeds", asked.seeds, MOST_SEEDS)? };
    let mut told = false;
    let mut broken = Ok(());
    let mut tell = |round: &Round| {
        if !std::mem::replace(&mut told, true) {
            broken = line(style, &HEAD.map(str::to_owned), &WIDTHS);
        }
        let more = round.outages.len().saturating_sub(1);
        let more = if more == 0 { String::new() } else { format!(" and {more}") };
        let first = round.outages.first();
        let of = |cycles: Option<u64>| cycles.map(words::cycles).unwrap_or_default();
        let cells = [
            round.seed.to_string(),
            first.map(|outage| format!("{}{more}", outage.link)).unwrap_or_default(),
            of(first.map(|outage| outage.from_cycles)),
            of(first.map(|outage| outage.cycles)),
            words::cycles(round.healthy_cycles),
            words::cycles(round.cycles),
            round.rerouted.to_string(),
            round.resent.to_string(),
            (round.wrong + round.doubled + round.missing).to_string(),
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
    let right = rounds.iter().all(Round::is_right) && rounds.len() as u64 == asked.seeds;
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
