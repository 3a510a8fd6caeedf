//! `record`: keeps moments of a target in a file, which is a target itself afterwards.

use super::tell;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::machine::Machine;
use crate::output::say;
use probe::inspect::Interest;
use recordings::{RecordingError, Writer};
use std::path::Path;

/// More moments than this are a mistake of the unit.
const MOST: u64 = 100_000;

pub(super) fn run(
    target: &str,
    file: &Path,
    moments: &str,
    every: &str,
) -> Result<Outcome, Failure> {
    let number = |what: &str, text: &str| {
        locate::number(text).map_err(|why| Failure::Usage(format!("{what}: {why}")))
    };
    let (count, cycles) = (number("--moments", moments)?, number("--every", every)?);
    if !(1..=MOST).contains(&count) {
        return Err(Failure::Usage(format!("--moments {count}: from 1 to {MOST} can be kept")));
    }
    if file.exists() {
        let name = file.display();
        return Err(Failure::Usage(format!("{name}: exists already, and is not overwritten")));
    }
    let mut machine = Machine::open(target)?;
    // Whoever looks at the recording later may open any core.
    let interest = Interest { details: true, ..Interest::everything(&machine.mesh()) };
    let failed = |e: RecordingError| Failure::Usage(e.to_string());
    let mut writer = Writer::create(file, machine.target()).map_err(failed)?;
    let mut gaps = 0;
    for moment in 0..count {
        if moment > 0 {
            machine.target().pass(cycles).map_err(|e| Failure::of_access(target, &e))?;
        }
        let sample = machine.take(&interest);
        if moment == 0 {
            tell(target, &sample.state);
        }
        gaps += sample.memory.gaps.len();
        writer.append(&sample.memory).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    let moments = if count == 1 { "1 moment".to_owned() } else { format!("{count} moments") };
    say(&format!("{}: {moments}, look at it with --target {0}", file.display()));
    Ok(if gaps == 0 { Outcome::Healthy } else { Outcome::Partial })
}
