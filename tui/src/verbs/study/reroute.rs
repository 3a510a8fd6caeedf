//! `study reroute`: links of a fabric that go down and come up while data is in flight.

use super::lines::Lines;
use super::measured::failed;
use super::traffic::{MOST_PACKETS, MOST_SEEDS, count, scene};
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::target::Style;
use crate::words;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::reroute::{Effect, Load, RerouteRound, RerouteStudy, study};

/// Limits.
const MOST_BYTES: u64 = 1 << 30;
const HEAD: [&str; 11] = [
    "SEED", "LOST", "AT", "FOR", "CHIP", "HEALTHY", "TOOK", "REROUTED", "RESENT", "WRONG", "EFFECT",
];
const WIDTHS: [usize; 11] = [6, 12, 11, 11, 4, 11, 11, 8, 6, 5, 15];

/// The options.
pub(in crate::verbs) struct RerouteWords<'a> {
    pub(in crate::verbs) mesh: &'a str,
    pub(in crate::verbs) topology: Option<&'a str>,
    pub(in crate::verbs) bytes: &'a str,
    pub(in crate::verbs) packets: Option<&'a str>,
    pub(in crate::verbs) seed: u64,
    pub(in crate::verbs) seeds: &'a str,
}

/// Links of a fabric that go down and come up while data is in flight.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Reroutes<'a> {
    /// The mesh.
    mesh: &'a str,
    /// What the routers are built for: line, ring, mesh or torus.
    topology: &'a str,
    /// A row for each seed.
    rows: Vec<Row>,
}

/// A link that is down for a while.
#[derive(Serialize, JsonSchema)]
struct Lost {
    /// The link.
    link: String,
    /// Time from the start until it goes down, in cycles of a nanosecond.
    from_cycles: u64,
    /// Time that it is down, in cycles of a nanosecond.
    cycles: u64,
}

/// The result of a seed.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// The seed.
    seed: u64,
    /// The links that go down.
    lost: Vec<Lost>,
    /// The id of the chip that received its data last, whose times these are; null with random
    /// packets.
    chip: Option<u16>,
    /// Time without an outage, in cycles of a nanosecond.
    healthy_cycles: u64,
    /// Time with the outages, in cycles of a nanosecond.
    cycles: u64,
    /// Packets sent over another link.
    rerouted: u64,
    /// Packets sent again when the link was up.
    resent: u64,
    /// Words that were wrong.
    wrong: u64,
    /// Packets received more than once.
    duplicated: u64,
    /// Packets not received.
    missing: u64,
    /// slower, nothing to send, or not waited for.
    effect: &'static str,
    /// The additional time per rerouted packet, in cycles of a nanosecond; null if it was not
    /// slower.
    cost_cycles: Option<u64>,
}

fn row(round: &RerouteRound) -> Row {
    let lost = round.outages.iter().map(|outage| Lost {
        link: outage.link.to_string(),
        from_cycles: outage.from_cycles,
        cycles: outage.cycles,
    });
    Row {
        seed: round.seed,
        lost: lost.collect(),
        chip: round.chip.map(|chip| chip.0),
        healthy_cycles: round.healthy_cycles,
        cycles: round.cycles,
        rerouted: round.rerouted,
        resent: round.resent,
        wrong: round.wrong,
        duplicated: round.doubled,
        missing: round.missing,
        effect: round.effect().word(),
        cost_cycles: round.cost_cycles(),
    }
}

/// Number of slower rounds, the cost per packet in them, and the reasons of the others.
fn summary(rounds: &[RerouteRound]) -> String {
    let rounds_of = |effect| rounds.iter().filter(move |round| round.effect() == effect);
    let mut costs: Vec<u64> = rounds.iter().filter_map(RerouteRound::cost_cycles).collect();
    costs.sort_unstable();
    let cost = match (costs.get(costs.len() / 2), costs.last()) {
        (Some(median), Some(most)) => format!(
            ", by {} for each packet that was rerouted (median; {} at most)",
            words::cycles(*median),
            words::cycles(*most)
        ),
        _ => String::new(),
    };
    let late: u64 = rounds_of(Effect::NotWaitedFor).map(|round| round.rerouted).sum();
    format!(
        "{} of {}: slower{cost}\n{}: no packet was to use the link while it was down\n{}: {late} packets were rerouted, and no chip waited for them\n",
        rounds_of(Effect::Slower).count(),
        rounds.len(),
        rounds_of(Effect::NothingToSend).count(),
        rounds_of(Effect::NotWaitedFor).count(),
    )
}

/// A line for each seed; of several outages the first, and the number of others.
pub(in crate::verbs) fn reroute(
    style: Style,
    words: &RerouteWords<'_>,
) -> Result<Outcome, Failure> {
    let RerouteWords { mesh, topology, seed, .. } = *words;
    let scene = scene(mesh, topology)?;
    let topology = scene.fabric.topology.name();
    let load = match words.packets {
        Some(packets) => Load::Packets(count("packets", packets, MOST_PACKETS)?),
        None => Load::AllGather(count("bytes", words.bytes, MOST_BYTES)?),
    };
    let options =
        RerouteStudy { scene, load, seed, seeds: count("seeds", words.seeds, MOST_SEEDS)? };
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let mut tell = |round: &RerouteRound| {
        let more = round.outages.len().saturating_sub(1);
        let more = if more == 0 { String::new() } else { format!(" and {more}") };
        let first = round.outages.first();
        let text = |cycles: Option<u64>| cycles.map(words::cycles).unwrap_or_default();
        let cells = [
            round.seed.to_string(),
            first.map(|outage| format!("{}{more}", outage.link)).unwrap_or_default(),
            text(first.map(|outage| outage.from_cycles)),
            text(first.map(|outage| outage.cycles)),
            round.chip.map_or_else(|| "-".to_owned(), |chip| chip.0.to_string()),
            words::cycles(round.healthy_cycles),
            words::cycles(round.cycles),
            round.rerouted.to_string(),
            round.resent.to_string(),
            (round.wrong + round.doubled + round.missing).to_string(),
            round.effect().word().to_owned(),
        ];
        lines.say(&cells);
    };
    let rounds = study(&options, &mut tell).map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        json(Reroutes { mesh, topology, rows: rounds.iter().map(row).collect() })?;
    } else {
        style.note(&summary(&rounds))?;
    }
    let right = rounds.iter().all(RerouteRound::is_right) && rounds.len() as u64 == options.seeds;
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
