//! `record --on`: keeps the newest snapshots in memory until something is found.

use super::{Moments, Trigger, keep_moments};
use crate::interrupt;
use crate::output::say;
use crate::target::{open, report};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use console::recording::RecordingFile;
use diagnosis::{Diagnosis, Severity};
use machine::past::Keeps;
use probe::session::{WATCHED_CYCLES, Watch};
use recordings::FlightRecorder;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Snapshots that are recorded after the trigger.
const MORE: u64 = 4;
/// The least time between two verdicts, in cycles: they cost several snapshots.
const JUDGED_CYCLES: u64 = WATCHED_CYCLES / 4;

pub(super) fn run(
    target: &Opening,
    kept: &RecordingFile,
    (trigger, bytes, every_cycles): (Trigger, u64, u64),
) -> Result<Outcome, Failure> {
    interrupt::end_file(kept)?;
    let mut machine = open(&target.keeping(Keeps::Run))?;
    if machine.target().history().is_some() {
        let words = &target.words;
        return Err(Failure::Usage(format!(
            "--on: {words} is a recording, in which all has happened"
        )));
    }
    let asked = format!("{} in memory until {trigger:?}", console::words::bytes(bytes));
    kept.create(machine.target(), (&asked, Some(every_cycles)))?;
    kept.in_memory(FlightRecorder::new(usize::try_from(bytes).unwrap_or(usize::MAX)));
    let mut moments = Moments::new(&mut machine);
    let pressed = (trigger == Trigger::Key).then(enter_pressed);
    if pressed.is_some() {
        say("Enter writes the recording");
    }
    let gone = |error| Failure::of_access(&target.words, &error);
    let (mut watch, mut judged, mut due) = (Watch::new(WATCHED_CYCLES), 0, 0);
    loop {
        let mut snapshot = moments.take(&mut machine);
        kept.keep(machine.session(), &mut snapshot)?;
        if kept.is_stopped() {
            break;
        }
        let cycles = snapshot.state.cycles;
        if let Some(pressed) = &pressed {
            if pressed.load(Ordering::SeqCst) {
                break;
            }
        } else if due == 0 || cycles.saturating_sub(judged) >= JUDGED_CYCLES {
            let session = machine.session();
            session.look(&mut watch);
            let verdict = session.judge(&mut watch);
            judged = cycles;
            if let Some(found) = found(&verdict, trigger) {
                say(&format!("found: {found}"));
                kept.write_out()?;
                kept.mark_newest(&found, &found)?;
                break;
            }
        }
        due = cycles.max(due).saturating_add(every_cycles);
        let now = machine.target().now().map_err(gone)?;
        machine.session().pass(due.saturating_sub(now)).map_err(gone)?;
    }
    kept.write_out()?;
    let kept_all = keep_moments(&mut machine, target, kept, (MORE, every_cycles));
    let ended = kept.end();
    kept_all?;
    say(&ended?);
    if kept.is_stopped() {
        return Err(Failure::Interrupted);
    }
    report(target, &moments.take(&mut machine).state);
    Ok(Outcome::Findings)
}

/// The condition that is looked for.
fn found(verdict: &Diagnosis, trigger: Trigger) -> Option<String> {
    let least = if trigger == Trigger::Stall { Severity::Hang } else { Severity::Fault };
    let found = verdict.findings.iter().find(|finding| finding.severity >= least)?;
    Some(found.condition.name().to_owned())
}

/// Returns a flag that is set when a line, or the end, of standard input has come.
fn enter_pressed() -> Arc<AtomicBool> {
    let pressed = Arc::new(AtomicBool::new(false));
    let sets = Arc::clone(&pressed);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_line(&mut String::new());
        sets.store(true, Ordering::SeqCst);
    });
    pressed
}
