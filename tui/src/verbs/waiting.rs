//! Messages of a one-shot verb while it waits for its target.

use crate::machine::Machine;
use crate::output::say;
use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// The first message comes after this time.
const FIRST_WORD: Duration = Duration::from_secs(2);
/// Further messages come at this interval.
const NEXT_WORD: Duration = Duration::from_secs(10);

/// Repeats a message until it is dropped.
pub(super) struct Waiting {
    /// Dropping it closes the channel.
    _over: Sender<()>,
}

impl Waiting {
    /// Starts waiting with this message.
    pub(super) fn on(message: String) -> Self {
        let (over, end) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let mut pause = FIRST_WORD;
            while end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                say(&message);
                pause = NEXT_WORD;
            }
        });
        Self { _over: over }
    }
}

/// An open target, with a message while it is read.
pub(super) struct Opened {
    machine: Machine,
    _waiting: Waiting,
}

impl Opened {
    pub(super) fn new(machine: Machine, words: &str) -> Self {
        Self { machine, _waiting: Waiting::on(format!("{words}: reading ...")) }
    }

    /// Ends the message, for verbs that report their own progress.
    pub(super) fn into_machine(self) -> Machine {
        self.machine
    }
}

impl Deref for Opened {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl DerefMut for Opened {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}
