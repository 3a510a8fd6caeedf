//! `export --to trace`: the packets of a fabric's traffic, to be sent again by `run --from`.

use crate::output::say;
use crate::target::open;
use console::exit::Failure;
use console::machine::{Machine, Opening};
use fabric::running_fabric;
use fabric::trace_read::{TraceFound, read_trace};
use launch::ControlError;
use machine::words::counted;

/// Returns the file, and what is in it, in words.
pub(super) fn trace(opening: &Opening) -> Result<(Vec<u8>, String), Failure> {
    let mut machine = open(opening)?;
    let failed = |error: ControlError| Failure::of_control(&opening.words, &error);
    let found = found(&mut machine).map_err(failed)?;
    let Some(TraceFound { trace, sent, unknown }) = found else {
        let why = "no router of the built-in fabric runs there, so that there are no packets";
        return Err(Failure::Usage(format!("--to trace: {}: {why}", opening.words)));
    };
    if trace.packets.is_empty() {
        let why = "no traffic kernel is on the chips of its fabric";
        return Err(Failure::Usage(format!("--to trace: {}: {why}", opening.words)));
    }
    for what in &unknown {
        say(what);
    }
    let packets = counted(trace.packets.len() as u64, "packet", "packets");
    let what = format!("{packets}, {sent} of them sent so far");
    Ok((trace.text().into_bytes(), what))
}

fn found(machine: &mut Machine) -> Result<Option<TraceFound>, ControlError> {
    let (target, images) = machine.session().parts();
    let plan = running_fabric(target, images)?;
    plan.map(|plan| read_trace(target, images, &plan)).transpose()
}
