//! The study `traffic`: a row for each seed.

use super::{TrafficRound, TrafficStudy, study};
use serde_json::{Value, json};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// Random packets between all pairs of chips of a fabric.
pub const STUDY: Study = Study {
    name: "traffic",
    about: "Send random packets between all pairs of chips of a fabric, and print whether each arrives exactly once, whole and in order",
    options: &[
        Choice::new(
            "mesh",
            "MESH",
            "t3000",
            "The mesh, and words of its scene: t3000,topology=ring,dateline=off or galaxy,cabling=torus,meshes=2",
        ),
        Choice::optional(
            "topology",
            "TOPOLOGY",
            "What the routers are built for: line, ring, mesh or torus; mesh if the scene's words do not state it",
        ),
        Choice::new(
            "mux",
            "PERCENT",
            "0",
            "How many of a hundred workers use fabric muxes, one for each direction, of all policies",
        ),
        Choice::new("packets", "N", "1000", "Packets of each seed"),
        Choice::new(
            "seed",
            "N",
            "0",
            "The first seed, which determines senders, receivers and payloads",
        ),
        Choice::new("seeds", "N", "5", "Number of seeds"),
    ],
    tables: &[ROUNDS],
    run,
};

/// Limits: the capacity of a round's lists on a mesh of two chips, and seeds.
pub(in crate::study) const MOST_PACKETS: u64 = 10_000;
pub(in crate::study) const MOST_SEEDS: u64 = 1_000_000;

const ROUNDS: Table = Table {
    name: "rows",
    columns: &[
        column("SEED", "seed", Unit::Count),
        column("PACKETS", "packets", Unit::Count),
        column("SENT", "sent", Unit::Count),
        column("ARRIVED", "arrived", Unit::Count),
        column("WRONG", "wrong_words", Unit::Count),
        column("DOUBLED", "duplicated", Unit::Count),
        column("MISSING", "missing", Unit::Count),
        column("STUCK", "unfinished", Unit::Count),
        column("EMULATED TIME", "cycles", Unit::Cycles),
    ],
};

fn row(round: &TrafficRound) -> Value {
    json!({
        "seed": round.seed,
        "packets": round.packets,
        "sent": round.sent,
        "arrived": round.arrived,
        "wrong_words": round.wrong_words,
        "duplicated": round.doubled,
        "missing": round.missing,
        "refused": round.refused,
        "nacks": round.nacks,
        "unfinished": round.unfinished,
        "cycles": round.cycles,
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (mesh, scene) = (options.text("mesh"), options.scene()?);
    report.fact("mesh", mesh);
    report.fact("topology", scene.fabric.topology.name());
    let setup = TrafficStudy {
        pattern: scene.pattern,
        scene,
        packets: options.number("packets", [1, MOST_PACKETS])?,
        seed: options.seed()?,
        seeds: options.number("seeds", [1, MOST_SEEDS])?,
        mux_percent: options.number("mux", [0, 100])?,
    };
    report.fact("mux_percent", setup.mux_percent);
    let rounds = study(&setup, &mut |round| report.row(&ROUNDS, row(round)));
    Ok(rounds.map_err(StudyError::on(mesh))?.iter().all(TrafficRound::is_right))
}
