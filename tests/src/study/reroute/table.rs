//! The study `reroute`: a row for each seed, with the first of its outages.

use super::{Effect, Load, RerouteRound, RerouteStudy, study};
use crate::study::traffic::{MOST_PACKETS, MOST_SEEDS};
use machine::words::cycles;
use serde_json::{Value, json};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// Links of a fabric that go down and come up while data is in flight.
pub const STUDY: Study = Study {
    name: "reroute",
    about: "Take links of a fabric down during an all-gather or random packets, bring them up again, and print whether all data are correct; only links with a parallel one are taken down",
    options: &[
        Choice::new("mesh", "MESH", "t3000", "The mesh, and words of its scene"),
        Choice::optional(
            "topology",
            "TOPOLOGY",
            "What the routers are built for: line, ring, mesh or torus; mesh if the scene's words do not state it",
        ),
        Choice::optional("bytes", "N", "Bytes of the all-gather, 262144 if not given"),
        Choice::optional("packets", "N", "Send this many random packets instead"),
        Choice::new(
            "seed",
            "N",
            "0",
            "The first seed, which determines which links, when and for how long",
        ),
        Choice::new("seeds", "N", "5", "Number of seeds"),
    ],
    tables: &[ROUNDS],
    run,
};

const BYTES: u64 = 262_144;
const MOST_BYTES: u64 = 1 << 30;
const ROUNDS: Table = Table {
    name: "rows",
    columns: &[
        column("SEED", "seed", Unit::Count),
        column("LOST", "first_lost", Unit::Text(12)),
        column("AT", "from_cycles", Unit::Cycles),
        column("FOR", "lost_cycles", Unit::Cycles),
        column("CHIP", "chip", Unit::Count),
        column("HEALTHY", "healthy_cycles", Unit::Cycles),
        column("TOOK", "cycles", Unit::Cycles),
        column("REROUTED", "rerouted", Unit::Count),
        column("RESENT", "resent", Unit::Count),
        column("WRONG", "wrong", Unit::Count),
        column("DOUBLED", "duplicated", Unit::Count),
        column("MISSING", "missing", Unit::Count),
        column("EFFECT", "effect", Unit::Text(15)),
    ],
};

fn row(round: &RerouteRound) -> Value {
    let lost = round.outages.iter().map(|outage| {
        json!({
            "link": outage.link.to_string(),
            "from_cycles": outage.from_cycles,
            "cycles": outage.cycles,
        })
    });
    let more = match round.outages.len() {
        0 | 1 => String::new(),
        all => format!(" and {}", all - 1),
    };
    let first = round.outages.first();
    json!({
        "seed": round.seed,
        "first_lost": first.map(|outage| format!("{}{more}", outage.link)),
        "from_cycles": first.map(|outage| outage.from_cycles),
        "lost_cycles": first.map(|outage| outage.cycles),
        "lost": lost.collect::<Vec<_>>(),
        "chip": round.chip.map(|chip| chip.0),
        "healthy_cycles": round.healthy_cycles,
        "cycles": round.cycles,
        "rerouted": round.rerouted,
        "resent": round.resent,
        "wrong": round.wrong,
        "duplicated": round.doubled,
        "missing": round.missing,
        "effect": round.effect().word(),
        "cost_cycles": round.cost_cycles(),
    })
}

/// Number of slower rounds, the cost per packet in them, and the reasons of the others.
fn summary(rounds: &[RerouteRound]) -> String {
    let rounds_of = |effect| rounds.iter().filter(move |round| round.effect() == effect);
    let mut costs: Vec<u64> = rounds.iter().filter_map(RerouteRound::cost_cycles).collect();
    costs.sort_unstable();
    let cost = match (costs.get(costs.len() / 2), costs.last()) {
        (Some(median), Some(most)) => format!(
            ", by {} for each packet that was rerouted (median; {} at most)",
            cycles(*median),
            cycles(*most)
        ),
        _ => String::new(),
    };
    let late: u64 = rounds_of(Effect::NotWaitedFor).map(|round| round.rerouted).sum();
    format!(
        "{} of {}: slower{cost}\n{}: no packet was to use the link while it was down\n{}: {late} packets were rerouted, and no chip waited for them",
        rounds_of(Effect::Slower).count(),
        rounds.len(),
        rounds_of(Effect::NothingToSend).count(),
        rounds_of(Effect::NotWaitedFor).count(),
    )
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    options.not_both(["packets", "bytes"])?;
    let (mesh, scene) = (options.text("mesh"), options.scene()?);
    report.fact("mesh", mesh);
    report.fact("topology", scene.fabric.topology.name());
    let load = match (options.get("packets"), options.get("bytes")) {
        (Some(_), _) => Load::Packets(options.number("packets", [1, MOST_PACKETS])?),
        (None, Some(_)) => Load::AllGather(options.number("bytes", [1, MOST_BYTES])?),
        (None, None) => Load::AllGather(BYTES),
    };
    let (seed, seeds) = (options.seed()?, options.number("seeds", [1, MOST_SEEDS])?);
    let setup = RerouteStudy { scene, load, seed, seeds };
    let rounds = study(&setup, &mut |round| report.row(&ROUNDS, row(round)));
    let rounds = rounds.map_err(StudyError::on(mesh))?;
    report.note(summary(&rounds));
    Ok(rounds.iter().all(RerouteRound::is_right) && rounds.len() as u64 == seeds)
}
