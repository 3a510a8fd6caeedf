//! `study traffic`: random packets between all pairs of chips of a fabric.

use super::lines::Lines;
use super::measured::failed;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::json;
use crate::verbs::target::Style;
use crate::words;
use probe::spec::TargetSpec;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::scene::Scene;
use workloads::study::traffic::{TrafficRound, TrafficStudy, study};

/// Limits: the capacity of a round's lists on a mesh of two chips, and seeds.
pub(super) const MOST_PACKETS: u64 = 10_000;
pub(super) const MOST_SEEDS: u64 = 1_000_000;
const HEAD: [&str; 8] =
    ["SEED", "PACKETS", "ARRIVED", "WRONG", "DOUBLED", "MISSING", "STUCK", "EMULATED TIME"];
const WIDTHS: [usize; 8] = [6, 7, 7, 5, 7, 7, 5, 13];

/// The options.
pub(in crate::verbs) struct TrafficWords<'a> {
    pub(in crate::verbs) mesh: &'a str,
    pub(in crate::verbs) topology: Option<&'a str>,
    pub(in crate::verbs) mux_percent: &'a str,
    pub(in crate::verbs) packets: &'a str,
    pub(in crate::verbs) seed: u64,
    pub(in crate::verbs) seeds: &'a str,
}

/// Random packets between all pairs of chips of a fabric.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Traffic<'a> {
    /// The mesh.
    mesh: &'a str,
    /// What the routers are built for: line, ring, mesh or torus.
    topology: &'a str,
    /// Percentage of workers that use fabric muxes.
    mux_percent: u64,
    /// A row for each seed.
    rows: Vec<Row>,
}

/// The result of a seed.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// The seed.
    seed: u64,
    /// Packets to send.
    packets: u64,
    /// Packets handed to a router.
    sent: u64,
    /// Ranges of memory that arrived: a packet may write several.
    arrived: u64,
    /// Words that were wrong.
    wrong_words: u64,
    /// Packets received more than once.
    duplicated: u64,
    /// Ranges that did not arrive.
    missing: u64,
    /// Packets without a route.
    refused: u64,
    /// Negative acknowledges.
    nacks: u64,
    /// Workers that did not end.
    unfinished: u64,
    /// Emulated time of the slowest chip, in cycles of a nanosecond.
    cycles: u64,
}

fn row(round: &TrafficRound) -> Row {
    Row {
        seed: round.seed,
        packets: round.packets,
        sent: round.sent,
        arrived: round.arrived,
        wrong_words: round.wrong_words,
        duplicated: round.doubled,
        missing: round.missing,
        refused: round.refused,
        nacks: round.nacks,
        unfinished: round.unfinished,
        cycles: round.cycles,
    }
}

pub(super) fn count(option: &str, words: &str, most: u64) -> Result<u64, Failure> {
    at_most(option, words, 1, most)
}

fn at_most(option: &str, words: &str, least: u64, most: u64) -> Result<u64, Failure> {
    let usage = |why: String| Failure::Usage(format!("--{option} {words}: {why}"));
    let count = locate::number(words).map_err(&usage)?;
    if count < least || count > most {
        return Err(usage(format!("it can be from {least} to {most}")));
    }
    Ok(count)
}

/// The scene of the mesh's words: with a fabric, of the topology of the option or, without it, of
/// the words.
pub(super) fn scene(mesh: &str, topology: Option<&str>) -> Result<Scene, Failure> {
    let topology = topology.map(|name| format!(",topology={name}")).unwrap_or_default();
    let words = mesh.strip_prefix("emulator:").unwrap_or(mesh);
    match TargetSpec::parse(&format!("emulator:{words},run=fabric{topology}")) {
        Ok(TargetSpec::Emulator(scene)) => Ok(scene),
        Ok(_) => Err(Failure::Usage(format!("--mesh {mesh}: it is no emulated mesh"))),
        Err(error) => Err(Failure::Usage(format!("--mesh {mesh}: {error}"))),
    }
}

/// A line for each seed.
pub(in crate::verbs) fn traffic(
    style: Style,
    words: &TrafficWords<'_>,
) -> Result<Outcome, Failure> {
    let TrafficWords { mesh, topology, seed, .. } = *words;
    let scene = scene(mesh, topology)?;
    let topology = scene.fabric.topology.name();
    let mux_percent = at_most("mux", words.mux_percent, 0, 100)?;
    let options = TrafficStudy {
        pattern: scene.pattern,
        scene,
        packets: count("packets", words.packets, MOST_PACKETS)?,
        seed,
        seeds: count("seeds", words.seeds, MOST_SEEDS)?,
        mux_percent,
    };
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let mut tell = |round: &TrafficRound| {
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
        lines.say(&cells);
    };
    let rounds = study(&options, &mut tell).map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        json(Traffic { mesh, topology, mux_percent, rows: rounds.iter().map(row).collect() })?;
    }
    let right = rounds.iter().all(TrafficRound::is_right);
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
