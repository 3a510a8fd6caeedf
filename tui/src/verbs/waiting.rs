//! What a one-shot verb says while it waits for its target.

use crate::machine::Machine;
use crate::output::say;
use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// After this long a person wonders whether anything happens.
const FIRST_WORD: Duration = Duration::from_secs(2);
/// And after this long again.
const NEXT_WORD: Duration = Duration::from_secs(10);

/// Says what is waited for, again and again, until it is dropped.
pub(super) struct Waiting {
    /// The channel closes with it.
    _over: Sender<()>,
}

impl Waiting {
    /// Begins to wait, for what the sentence says.
    pub(super) fn on(what: String) -> Self {
        let (over, end) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let mut pause = FIRST_WORD;
            while end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                say(&what);
                pause = NEXT_WORD;
            }
        });
        Self { _over: over }
    }
}

/// An open target, and what is said while it is read.
pub(super) struct Opened {
    machine: Machine,
    _waiting: Waiting,
}

impl Opened {
    pub(super) fn new(machine: Machine, words: &str) -> Self {
        Self { machine, _waiting: Waiting::on(format!("{words}: reading ...")) }
    }

    /// For a verb that says itself how far it is.
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
