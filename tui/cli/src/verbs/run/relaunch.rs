//! `run --relaunch`: what failed because of a dead chip, or a core that stands still, runs again on the
//! chips that are left.

use super::list::ListRun;
use crate::interrupt::Stop;
use crate::output::say;
use crate::verbs::fabric::rebuild::{left_of, rebuild, running};
use collectives::{Request, RunSettings, Transport};
use console::exit::Failure;
use console::machine::Machine;
use console::run::Sweep;
use diagnosis::Diagnosis;
use layouts::ChipId;
use probe::session::WATCHED_CYCLES;
use std::collections::BTreeSet;

/// Launches the sizes that are left of a run on the chips that are left; none if no chip
/// is lost, or fewer than two are left.
pub(super) fn on_what_is_left(
    failed: &mut ListRun,
    words: &str,
    (machine, stop): (&mut Machine, &Stop),
) -> Result<Option<ListRun>, Failure> {
    if failed.verdict.is_none() {
        let watched = machine.diagnose(WATCHED_CYCLES);
        let name = machine.target().name().to_owned();
        let watched = watched.map_err(|error| Failure::of_access(&name, &error))?;
        failed.verdict = Some(watched.diagnosis);
    }
    let lost = failed.verdict.as_ref().map_or_else(BTreeSet::new, Diagnosis::lost_chips);
    let (dead, left): (Vec<ChipId>, Vec<ChipId>) =
        failed.ranks().iter().partition(|chip| lost.contains(chip));
    let list = |chips: &[ChipId]| {
        let names: Vec<String> = chips.iter().map(ToString::to_string).collect();
        format!("{} {}", if names.len() == 1 { "chip" } else { "chips" }, names.join(","))
    };
    if dead.is_empty() {
        say(
            "it is not relaunched: every chip of the run answers, and no core of them stands still",
        );
        return Ok(None);
    }
    if left.len() < 2 {
        say(&format!("it is not relaunched: without {} fewer than two are left", list(&dead)));
        return Ok(None);
    }
    failed.failure().iter().for_each(|failure| say(&failure.to_string()));
    failed.say_verdict();
    say(&format!("relaunched on {}, without {}", list(&left), list(&dead)));
    if let Transport::Fabric(_) = failed.job.sweep().request.transport {
        rebuild_running(machine, &lost, stop)?;
    }
    let sweep = failed.job.sweep();
    // Each chip keeps the size of its part.
    let (before, now) = (failed.ranks().len() as u64, left.len() as u64);
    let sizes = failed.sizes_left().into_iter();
    let sizes = sizes.map(|size| if sweep.request.op.cuts() { size / before * now } else { size });
    let sizes = sizes.collect();
    let again = Sweep {
        // What the chips that are left form.
        request: Request { chips: left, topology: None, ..sweep.request.clone() },
        sizes,
        settings: RunSettings { faults: Vec::new(), ..sweep.settings.clone() },
        pause_at: None,
        ..sweep.clone()
    };
    let mut list = ListRun::new(again, failed.streams(), machine)?;
    list.begin(words, machine)?;
    Ok(Some(list))
}

/// Lets a fabric of the chips that are left take the place of the one that runs, if one does.
fn rebuild_running(
    machine: &mut Machine,
    lost: &BTreeSet<ChipId>,
    stop: &Stop,
) -> Result<(), Failure> {
    let Some(old) = running(machine)? else { return Ok(()) };
    let new = left_of(machine, &old, lost)?;
    rebuild(machine, old, new, stop)
}
