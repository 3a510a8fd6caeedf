//! The study `clean`: a row for each launcher or fault, and transport.

use super::faults::{self, Faulted};
use super::{Killed, processes, study, transports};
use crate::study::{MESHSCOPE, meshscope};
use serde_json::{Value, json};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// Launchers killed at random moments, and what `clean` then does; faults in mid-run, and what the
/// run's own teardown does.
pub const STUDY: Study = Study {
    name: "clean",
    about: "Kill launchers at random moments of an all-gather, and print what `clean` then does",
    options: &[
        Choice::new("mesh", "MESH", "n300", "The mesh"),
        Choice::new("seed", "N", "0", "Seed of the moments"),
        Choice::new("seeds", "N", "20", "Number of moments of each launcher over each transport"),
        Choice::flag(
            "sigkill",
            "Start `run` and the live view as processes on a served mesh, and send them SIGKILL, instead of forgetting a run of this process",
        ),
        Choice::flag(
            "faults",
            "Disturb all-gathers that nobody kills, and print what their own teardown does: a link is down for 10 us, a link flaps, a core is stuck for a while, all links between two chips are lost and come back",
        ),
        MESHSCOPE,
    ],
    tables: &[KILLED, FAULTS],
    run,
};

/// Limit of the moments: more take days.
const MOST: u64 = 100_000;
const KILLED: Table = Table {
    name: "rows",
    columns: &[
        column("LAUNCHER", "launcher", Unit::Text(13)),
        column("TRANSPORT", "transport", Unit::Text(9)),
        column("MOMENTS", "moments", Unit::Count),
        column("STOOD", "stood", Unit::Count),
        column("ESCALATED", "escalated", Unit::Count),
        column("LEFT", "left_behind", Unit::Count),
        column("WRONG NEXT", "wrong", Unit::Count),
    ],
};
const FAULTS: Table = Table {
    name: "faults",
    columns: &[
        column("FAULT", "fault", Unit::Text(11)),
        column("TRANSPORT", "transport", Unit::Text(9)),
        column("MOMENTS", "moments", Unit::Count),
        column("SURVIVED", "survived", Unit::Count),
        column("RESTORED", "restored", Unit::Count),
        column("LEFT", "left_behind", Unit::Count),
        column("WRONG", "wrong", Unit::Count),
    ],
};

fn killed_row(killed: &Killed) -> Value {
    json!({
        "launcher": killed.launcher,
        "transport": killed.transport.name(),
        "moments": killed.moments,
        "stood": killed.stood,
        "escalated": killed.escalated,
        "left_behind": killed.left,
        "wrong": killed.wrong,
        "notes": killed.sentences,
    })
}

fn fault_row(faulted: &Faulted) -> Value {
    json!({
        "fault": faulted.kind.name(),
        "transport": faulted.transport.name(),
        "moments": faulted.moments,
        "survived": faulted.survived,
        "restored": faulted.restored,
        "left_behind": faulted.left,
        "wrong": faulted.wrong,
        "notes": faulted.sentences,
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    options.not_both(["sigkill", "faults"])?;
    let (mesh, seed) = (options.text("mesh"), options.seed()?);
    let count = options.number("seeds", [1, MOST])?;
    report.fact("mesh", mesh);
    report.fact("seed", seed);
    if options.get("faults").is_some() {
        return disturb(mesh, seed, count, report);
    }
    let killed = if options.get("sigkill").is_some() {
        let (program, moments) = (meshscope(options)?, processes::ROWS * count);
        let mut tell = |done| report.progress(done, moments, "moments");
        processes::study(&program, mesh, seed, count, &mut tell)?
    } else {
        let moments = transports().len() as u64 * count;
        let found = study(mesh, seed, count, &mut |done| report.progress(done, moments, "moments"));
        found.map_err(StudyError::on(mesh))?
    };
    for it in &killed {
        report.row(&KILLED, killed_row(it));
    }
    killed.iter().flat_map(|it| &it.sentences).for_each(|it| report.note(it.as_str()));
    Ok(killed.iter().all(|it| it.left + it.wrong == 0))
}

fn disturb(mesh: &str, seed: u64, count: u64, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let moments = (transports().len() * faults::Kind::ALL.len()) as u64 * count;
    let mut tell = |done| report.progress(done, moments, "moments");
    let found = faults::study(mesh, seed, count, &mut tell).map_err(StudyError::on(mesh))?;
    for it in &found {
        report.row(&FAULTS, fault_row(it));
    }
    found.iter().flat_map(|it| &it.sentences).for_each(|it| report.note(it.as_str()));
    let good = |it: &Faulted| it.survived + it.restored == it.moments && it.left + it.wrong == 0;
    Ok(found.iter().all(good))
}
