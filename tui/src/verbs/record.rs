//! `record`: keeps moments of a target in a file, which is a target itself afterwards.

use super::fabric;
use super::target::{open, report};
use crate::exit::{Failure, Outcome};
use crate::machine::{Machine, Opening};
use crate::output::say;
use crate::{interrupt, locate};
use decode::inspect::ReadSet;
use recordings::{RecordingError, Writer};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More moments than this are a mistake of the unit.
const MOST: u64 = 100_000;
/// More cycles than this between two moments, ten seconds of the target, are one too.
const MOST_CYCLES: u64 = 10_000_000_000;

pub(super) fn run(
    target: &Opening,
    file: &Path,
    moments: &str,
    every: &str,
) -> Result<Outcome, Failure> {
    let count = number("--moments", moments, 1..=MOST)?;
    let cycles = number("--every", every, 0..=MOST_CYCLES)?;
    if file.exists() {
        let name = file.display();
        return Err(Failure::Usage(format!("{name}: exists already, and is not overwritten")));
    }
    let kept = Kept { file: file.into(), writer: Arc::default() };
    let at_signal = kept.clone();
    interrupt::watch(move || at_signal.interrupted())?;
    let mut machine = open(target)?.into_machine();
    let gaps = keep(&mut machine, target, &kept, count, cycles);
    // Whatever ended it, what is in the file can be opened.
    let moments = kept.end()?;
    let gaps = gaps?;
    let moments = words(moments);
    say(&format!("{}: {moments}, look at it with --target {0}", file.display()));
    Ok(if gaps == 0 { Outcome::Healthy } else { Outcome::Partial })
}

/// A number that a person gave, if it lies in the range.
fn number(what: &str, text: &str, range: RangeInclusive<u64>) -> Result<u64, Failure> {
    let number = locate::number(text).map_err(|why| Failure::Usage(format!("{what}: {why}")))?;
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = range.into_inner();
    Err(Failure::Usage(format!("{what} {number}: it can be from {least} to {most}")))
}

/// Keeps so many moments and counts what could not be read.
fn keep(
    machine: &mut Machine,
    target: &Opening,
    kept: &Kept,
    count: u64,
    cycles: u64,
) -> Result<usize, Failure> {
    // Whoever looks at the recording later may open any core.
    let read_set = ReadSet {
        details: true,
        fabric: true,
        fabric_tables: true,
        ..ReadSet::everything(&machine.mesh())
    };
    {
        let mut writer = kept.lock();
        *writer = Some(Writer::create(&kept.file, machine.target()).map_err(|e| failed(&e))?);
    }
    let mut gaps = 0;
    for moment in 0..count {
        if moment > 0 {
            machine.target().pass(cycles).map_err(|e| Failure::of_access(&target.words, &e))?;
        }
        let snapshot = fabric::whole(machine, &read_set);
        gaps += snapshot.memory.gaps.len();
        if let Some(writer) = kept.lock().as_mut() {
            writer.append(&snapshot.memory).map_err(|e| failed(&e))?;
        }
        if moment == 0 {
            report(target, &snapshot.state);
        }
    }
    Ok(gaps)
}

fn failed(error: &RecordingError) -> Failure {
    Failure::Usage(error.to_string())
}

fn words(moments: u32) -> String {
    machine::words::counted(moments.into(), "moment", "moments")
}

/// The file that is being written, within reach of the watcher of signals.
#[derive(Clone)]
struct Kept {
    file: PathBuf,
    writer: Arc<Mutex<Option<Writer>>>,
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes the file, or removes one without a moment, which would only be in the way of the next.
    fn end(&self) -> Result<u32, Failure> {
        finish(&mut self.lock(), &self.file)
    }

    /// The same, for ever: the verb must not write on while the process ends.
    fn interrupted(&self) -> Option<String> {
        let mut writer = self.lock();
        let said = writer.is_some().then(|| {
            let name = self.file.display();
            match finish(&mut writer, &self.file) {
                Ok(0) => format!("{name}: nothing was recorded"),
                Ok(moments) => format!("{name}: {} kept", words(moments)),
                Err(failure) => failure.to_string(),
            }
        });
        std::mem::forget(writer);
        said
    }
}

fn finish(writer: &mut Option<Writer>, file: &Path) -> Result<u32, Failure> {
    let Some(writer) = writer.take() else { return Ok(0) };
    let moments = writer.moments();
    if moments > 0 {
        writer.finish().map_err(|e| failed(&e))?;
    } else {
        drop(writer);
        let _ = std::fs::remove_file(file);
    }
    Ok(moments)
}
