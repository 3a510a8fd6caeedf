//! `record`: writes snapshots of a target to a file, which is itself a target.

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

/// Limit of the number of snapshots.
const MOST: u64 = 100_000;
/// Limit of the cycles between two snapshots, ten seconds of the target.
const MOST_CYCLES: u64 = 10_000_000_000;

pub(super) fn run(
    target: &Opening,
    file: &Path,
    moments: &str,
    every: &str,
) -> Result<Outcome, Failure> {
    let count = number("--moments", moments, 1..=MOST)?;
    let cycles = number("--every", every, 0..=MOST_CYCLES)?;
    let kept = RecordingFile::new(file)?;
    kept.end_at_signals()?;
    let mut machine = open(target)?;
    let gaps =
        kept.create(&mut machine).and_then(|()| keep(&mut machine, target, &kept, count, cycles));
    // The file is valid however the recording ended.
    let moments = kept.end()?;
    let gaps = gaps?;
    let moments = words(moments);
    say(&format!("{}: {moments}, open it with --target {0}", file.display()));
    Ok(if gaps == 0 { Outcome::Healthy } else { Outcome::Partial })
}

/// Parses a number within a range.
pub(super) fn number(option: &str, text: &str, range: RangeInclusive<u64>) -> Result<u64, Failure> {
    let number = locate::number(text).map_err(|why| Failure::Usage(format!("{option}: {why}")))?;
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = range.into_inner();
    Err(Failure::Usage(format!("{option} {number}: it can be from {least} to {most}")))
}

/// Records snapshots and counts the gaps.
pub(super) fn keep(
    machine: &mut Machine,
    target: &Opening,
    kept: &RecordingFile,
    count: u64,
    cycles: u64,
) -> Result<usize, Failure> {
    // Every core is recorded, as the recording may be opened at any.
    let read_set = ReadSet {
        details: true,
        fabric: true,
        fabric_tables: true,
        // A replay knows kernels by their texts.
        texts: true,
        ..ReadSet::everything(&machine.mesh())
    };
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
            attach(machine, kept)?;
            report(target, &snapshot.state);
        }
    }
    Ok(gaps)
}

/// Attaches the ELFs that run and are not built in, so that the recording is decoded anywhere.
fn attach(machine: &mut Machine, kept: &RecordingFile) -> Result<(), Failure> {
    let mut writer = kept.lock();
    let Some(writer) = writer.as_mut() else { return Ok(()) };
    for (name, elf) in machine.images().attachments() {
        writer.attach_elf(&name, elf).map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn failed(error: &RecordingError) -> Failure {
    Failure::Usage(error.to_string())
}

pub(super) fn words(moments: u32) -> String {
    machine::words::counted(moments.into(), "moment", "moments")
}

/// The file being written, shared with the signal watcher.
#[derive(Clone)]
pub(super) struct RecordingFile {
    file: PathBuf,
    writer: Arc<Mutex<Option<Writer>>>,
}

impl RecordingFile {
    /// Refuses a file that exists.
    pub(super) fn new(file: &Path) -> Result<Self, Failure> {
        if file.exists() {
            let name = file.display();
            return Err(Failure::Usage(format!("{name}: exists already, and is not overwritten")));
        }
        Ok(Self { file: file.into(), writer: Arc::default() })
    }

    /// Lets a signal finish the file and end the process.
    pub(super) fn end_at_signals(&self) -> Result<(), Failure> {
        let at_signal = self.clone();
        interrupt::watch(move || at_signal.interrupted())
    }

    /// Creates the file.
    pub(super) fn create(&self, machine: &mut Machine) -> Result<(), Failure> {
        let writer = Writer::create(&self.file, machine.target()).map_err(|e| failed(&e))?;
        *self.lock() = Some(writer);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes the file, or removes it if it contains no snapshot.
    pub(super) fn end(&self) -> Result<u32, Failure> {
        finish(&mut self.lock(), &self.file)
    }

    /// The same, keeping the lock: the verb must not write while the process ends.
    fn interrupted(&self) -> Option<String> {
        let mut writer = self.lock();
        let message = writer.is_some().then(|| {
            let name = self.file.display();
            match finish(&mut writer, &self.file) {
                Ok(0) => format!("{name}: nothing recorded"),
                Ok(moments) => format!("{name}: {} recorded", words(moments)),
                Err(failure) => failure.to_string(),
            }
        });
        std::mem::forget(writer);
        message
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
