//! A command as a list of steps, polled between snapshots.

use layouts::{NoChannel, NocAddr};
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{Preview, Target};
use std::collections::VecDeque;
use thiserror::Error;

/// Why a command cannot be built or failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControlError {
    /// There is no image of this name.
    #[error("there is no image {0}")]
    NoImage(String),
    /// The image's debug information lacks a member that the command writes.
    #[error("{0} does not describe {1}")]
    NoMember(String, String),
    /// The mesh has no ring of links.
    #[error("the mesh has no ring of links")]
    NoRing,
    /// The settings are invalid; why, in one sentence.
    #[error("{0}")]
    Settings(String),
    /// The target was lost while time was to pass.
    #[error("{0}")]
    Gone(AccessError),
    /// An access failed.
    #[error("{addr}: {reason}")]
    Access {
        /// The address.
        addr: NocAddr,
        /// Why.
        reason: AccessError,
    },
    /// A condition was not met before its deadline.
    #[error("{what}: {addr} is {value:#x} after {waited_cycles} cycles")]
    TookTooLong {
        /// What was waited for.
        what: String,
        /// The word that was polled.
        addr: NocAddr,
        /// Its value at the deadline.
        value: u32,
        /// How long it was waited for, in cycles of the target's own time.
        waited_cycles: u64,
        /// Start of the wait, in cycles of the target's own time.
        since_cycles: u64,
    },
}

impl From<NoChannel> for ControlError {
    fn from(error: NoChannel) -> Self {
        Self::Settings(error.to_string())
    }
}

/// What a word must hold before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Anything but zero.
    Nonzero,
    /// These bits have this value.
    Masked {
        /// The bits.
        mask: u32,
        /// Their value.
        value: u32,
    },
}

impl Condition {
    /// Returns true if the word fulfils it.
    pub fn holds(self, word: u32) -> bool {
        match self {
            Self::Nonzero => word != 0,
            Self::Masked { mask, value } => word & mask == value,
        }
    }
}

/// One step of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Writes bytes.
    Write {
        /// The address.
        addr: NocAddr,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Waits until a word fulfils a condition.
    Await {
        /// What is waited for, in words.
        what: String,
        /// The word.
        addr: NocAddr,
        /// The condition.
        until: Condition,
        /// Longest wait, in cycles of the target's own time.
        deadline_cycles: u64,
    },
}

/// A command in progress.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    name: String,
    steps: VecDeque<Step>,
    waiting_since: Option<u64>,
}

/// Interval at which a wait reads its word, in cycles.
pub(super) const STEP_CYCLES: u64 = 2_000;

/// Default deadline of a wait, in cycles: 20 ms of the target's own time.
const PATIENCE_CYCLES: u64 = 20_000_000;

impl Operation {
    /// Makes an empty command; the name is for display.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the remaining steps.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.steps.iter()
    }

    /// Returns what the writes of commands would touch. Writes nothing.
    pub fn preview(operations: &[Self], target: &mut dyn Target) -> Preview {
        let mut whole = Preview::default();
        for step in operations.iter().flat_map(Self::steps) {
            let Step::Write { addr, bytes } = step else { continue };
            let found = target.preview_write(Span { addr: *addr, len: bytes.len() as u32 });
            whole.accesses.extend(found.accesses);
            whole.gaps.extend(found.gaps);
        }
        whole
    }

    /// Adds the steps of another command.
    pub fn then(&mut self, other: Self) {
        self.steps.extend(other.steps);
    }

    /// Appends a write of bytes.
    pub fn write(&mut self, addr: NocAddr, bytes: Vec<u8>) {
        self.steps.push_back(Step::Write { addr, bytes });
    }

    /// Appends a write of a word.
    pub fn write_word(&mut self, addr: NocAddr, word: u32) {
        self.write(addr, word.to_le_bytes().to_vec());
    }

    /// Appends a wait until the word at `addr` fulfils a condition; `what` describes the condition.
    pub fn wait(&mut self, what: impl Into<String>, addr: NocAddr, until: Condition) {
        self.wait_for(what, addr, until, PATIENCE_CYCLES);
    }

    /// Appends a wait of at most `deadline_cycles`.
    pub fn wait_for(
        &mut self,
        what: impl Into<String>,
        addr: NocAddr,
        until: Condition,
        deadline_cycles: u64,
    ) {
        self.steps.push_back(Step::Await { what: what.into(), addr, until, deadline_cycles });
    }

    /// Carries out steps until one has to wait; the caller lets time pass. Returns true if all
    /// steps are done.
    ///
    /// # Errors
    /// A failed access or a wait that took too long. Either ends the command.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<bool, ControlError> {
        loop {
            self.write_on(target, u64::MAX)?;
            let Some(addr) = self.awaited() else { return Ok(true) };
            let snapshot = target.read(&Plan { spans: vec![Span { addr, len: 4 }] });
            let now = target.now().map_err(|reason| ControlError::Access { addr, reason })?;
            if !self.judge(&snapshot, now)? {
                return Ok(false);
            }
        }
    }

    /// Makes the writes before the next wait until `room` bytes are written. Returns the number of
    /// bytes written.
    pub(super) fn write_on(
        &mut self,
        target: &mut dyn Target,
        room: u64,
    ) -> Result<u64, ControlError> {
        let mut written = 0;
        while written < room
            && let Some(Step::Write { addr, bytes }) = self.steps.front()
        {
            let addr = *addr;
            target.commanded_by(&self.name);
            let result = target.write(addr, bytes);
            result.map_err(|reason| ControlError::Access { addr, reason })?;
            written += bytes.len() as u64;
            self.steps.pop_front();
        }
        Ok(written)
    }

    /// Returns the word that the current step waits for, if it is a wait.
    pub(super) fn awaited(&self) -> Option<NocAddr> {
        match self.steps.front()? {
            Step::Await { addr, .. } => Some(*addr),
            Step::Write { .. } => None,
        }
    }

    /// Removes the current wait if its word fulfils the condition. Returns whether it did.
    pub(super) fn judge(&mut self, snapshot: &Snapshot, now: u64) -> Result<bool, ControlError> {
        let Some(Step::Await { what, addr, until, deadline_cycles }) = self.steps.front() else {
            return Ok(false);
        };
        let addr = *addr;
        let value = snapshot.word(addr).map_err(|reason| ControlError::Access { addr, reason })?;
        if until.holds(value) {
            self.waiting_since = None;
            self.steps.pop_front();
            return Ok(true);
        }
        let since_cycles = *self.waiting_since.get_or_insert(now);
        let waited_cycles = now.saturating_sub(since_cycles);
        if waited_cycles <= *deadline_cycles {
            return Ok(false);
        }
        let what = what.clone();
        Err(ControlError::TookTooLong { what, addr, value, waited_cycles, since_cycles })
    }

    /// Polls to the end and lets time pass in between: for scenes and scripts, not for the probe
    /// thread.
    ///
    /// # Errors
    /// As [`Operation::poll`], and when time cannot pass.
    pub fn finish(mut self, target: &mut dyn Target) -> Result<(), ControlError> {
        while !self.poll(target)? {
            target.pass(STEP_CYCLES).map_err(ControlError::Gone)?;
        }
        Ok(())
    }
}
