//! The study `pause`: a row for each seed and transport.

use super::{PauseError, PauseRound, PauseStudy, study};
use crate::study::traffic::MOST_SEEDS;
use serde_json::{Value, json};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// All-gathers that are paused at random moments, counted and resumed.
pub const STUDY: Study = Study {
    name: "pause",
    about: "Pause all-gathers at random moments, count their credits, resume them, and check their data",
    options: &[
        Choice::new("mesh", "MESH", "t3000", "The mesh, and words of its scene"),
        Choice::new(
            "transport",
            "TRANSPORT",
            "both",
            "How the data travel: edm (over links with an EDM at each end), fabric or both",
        ),
        Choice::new("bytes", "N", "262144", "Bytes of the all-gather"),
        Choice::new("seed", "N", "0", "The first seed: the moment of the pause"),
        Choice::new("seeds", "N", "5", "Number of seeds of each transport"),
    ],
    tables: &[ROUNDS],
    run,
};

const MOST_BYTES: u64 = 1 << 30;
const ROUNDS: Table = Table {
    name: "rows",
    columns: &[
        column("SEED", "seed", Unit::Count),
        column("TRANSPORT", "transport", Unit::Text(9)),
        column("AT", "at_cycles", Unit::Cycles),
        column("TOOK", "took_cycles", Unit::Cycles),
        column("PARKED", "parked", Unit::Count),
        column("WAIT", "waited", Unit::Count),
        column("COUNTS", "counts", Unit::Count),
        column("IN FLIGHT", "in_flight", Unit::Count),
        column("MISCOUNTS", "miscounts", Unit::Count),
        column("WRONG", "wrong", Unit::Count),
    ],
};

fn row(transport: &str, round: &PauseRound) -> Value {
    json!({
        "seed": round.seed,
        "transport": transport,
        "at_cycles": round.at_cycles,
        "took_cycles": round.took_cycles,
        "parked": round.parked,
        "waited": round.waited,
        "counts": round.balance.counts(),
        "in_flight": round.balance.in_flight,
        "miscounts": round.balance.miscounts,
        "wrong": round.wrong,
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let known = [("edm", Some(false)), ("fabric", Some(true)), ("both", None)];
    let only = options.one_of("transport", &known)?;
    let (mesh, scene) = (options.text("mesh"), options.scene()?);
    report.fact("mesh", mesh);
    let (seed, seeds) = (options.seed()?, options.number("seeds", [1, MOST_SEEDS])?);
    let bytes = options.number("bytes", [1, MOST_BYTES])?;
    let mut rounds = Vec::new();
    for (transport, over_fabric) in [("edm", false), ("fabric", true)] {
        if only.is_some_and(|only| only != over_fabric) {
            continue;
        }
        let setup = PauseStudy { scene: scene.clone(), over_fabric, bytes, seed, seeds };
        let found = study(&setup, &mut |round| report.row(&ROUNDS, row(transport, round)));
        rounds.extend(found.map_err(|error| match error {
            PauseError::Setup(why) => StudyError::Usage(format!("{mesh}: {why}")),
            PauseError::Run(why) => StudyError::Finding(format!("{mesh}: {why}")),
        })?);
    }
    let wrong = rounds.iter().filter(|round| round.wrong > 0).count();
    let unequal = rounds.iter().filter(|round| !round.balance.miscounts.is_empty()).count();
    rounds.iter().flat_map(|it| &it.balance.miscounts).for_each(|it| report.note(it.as_str()));
    report.note(format!(
        "of {} runs {unequal} had credits that did not add up, and {wrong} wrong data",
        rounds.len()
    ));
    Ok(rounds.iter().all(PauseRound::is_right))
}
