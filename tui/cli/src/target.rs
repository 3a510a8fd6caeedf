//! Shared by the verbs: output style, an opened target, a snapshot of it, and its outcome.

use crate::output::{say, say_once_each};
pub(crate) use crate::verb::Style;
pub(crate) use crate::waiting::keep_open;
use crate::waiting::{Opened, Waiting, kept};
use console::exit::{Failure, Outcome};
use console::feed::MeshSnapshot;
use console::locate::{self, Where};
use console::machine::{Machine, Opening};
use console::{reading, words};
use decode::inspect::ReadSet;
use decode::state::MeshState;
use diagnosis::Health;
use images::Reading;
use layouts::CoreId;
use machine::snapshot::{AccessError, Snapshot};
use machine::target::Mesh;

/// Opens the target; says what is waited for if that or a later read takes long.
pub(crate) fn open(target: &Opening) -> Result<Opened, Failure> {
    let waiting = Waiting::on(&target.words);
    if let Some(machine) = kept() {
        return Ok(Opened::new(machine, waiting));
    }
    let machine = Machine::open(target, &waiting.listener())?;
    Ok(Opened::new(machine, waiting))
}

/// Opens the target and takes a snapshot.
pub(crate) fn inspect(
    target: &Opening,
    read_set: impl FnOnce(&Mesh) -> ReadSet,
) -> Result<MeshSnapshot, Failure> {
    let mut machine = open(target)?;
    let read_set = read_set(&machine.mesh());
    let snapshot = machine.take(&read_set);
    match end_of_all(&snapshot.memory) {
        Some(gone) => Err(Failure::of_access(&target.words, gone)),
        None => Ok(snapshot),
    }
}

/// The core of this place.
pub(crate) fn core_of(place: Where, mesh: &Mesh) -> Result<CoreId, Failure> {
    locate::core_of(place, mesh).map_err(Failure::Usage)
}

/// Why the machine is lost, if it was before anything could be read.
pub(crate) fn end_of_all(memory: &Snapshot) -> Option<&AccessError> {
    let mut reasons = memory.gaps.iter().map(|gap| &gap.reason);
    let gone = reasons.find(|reason| matches!(reason, AccessError::DeviceGone(_)));
    gone.filter(|_| memory.pieces.is_empty())
}

/// Reports time and cost of the snapshot, and its problems, on standard error.
pub(crate) fn report(target: &Opening, state: &MeshState) {
    let cost = state.transactions;
    say(&format!(
        "{} at {} of its own time, {cost} bus transactions",
        target.words,
        words::cycles(state.cycles)
    ));
    say_once_each(state.problems.iter().cloned());
    if !state.gaps.is_empty() {
        say(&format!(
            "{} ranges could not be read; the first: {}",
            state.gaps.len(),
            first_gap(state)
        ));
    }
}

fn first_gap(state: &MeshState) -> String {
    state.gaps.first().map_or_else(String::new, |g| format!("{}: {}", g.span.addr, g.reason))
}

/// The outcome of a snapshot of the whole mesh.
pub(crate) fn judge(state: &MeshState) -> Outcome {
    Outcome::of(Health::of_snapshot(state), false)
}

/// A reading in a cell of a table.
pub(crate) fn cell<T>(style: Style, reading: &Reading<T>, show: impl Fn(&T) -> String) -> String {
    reading::short(style.looks.glyphs, reading, show)
}
