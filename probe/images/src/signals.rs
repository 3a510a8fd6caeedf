//! The names of a go message's signals.

use crate::kinds::GoSignal;
use symbols::Symbols;

/// Each signal with the constant that names it.
const NAMES: [(GoSignal, &str); 6] = [
    (GoSignal::Done, "RUN_MSG_DONE"),
    (GoSignal::Init, "RUN_MSG_INIT"),
    (GoSignal::Go, "RUN_MSG_GO"),
    (GoSignal::ResetReadPtr, "RUN_MSG_RESET_READ_PTR"),
    (GoSignal::ResetReadPtrFromHost, "RUN_MSG_RESET_READ_PTR_FROM_HOST"),
    (GoSignal::ReplayTrace, "RUN_MSG_REPLAY_TRACE"),
];

/// The signals of one image, from its constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signals {
    values: [Option<u8>; NAMES.len()],
    /// The core acknowledges that it is up.
    pub init: u8,
    /// The core runs.
    pub go: u8,
    /// The core has run.
    pub done: u8,
}

impl Signals {
    /// Finds the constants; none if the image lacks init, go or done.
    pub(super) fn find(symbols: &Symbols) -> Option<Self> {
        let value = |name: &str| u8::try_from(symbols.constant(name)?.as_u64()?).ok();
        let [done, init, go] = ["RUN_MSG_DONE", "RUN_MSG_INIT", "RUN_MSG_GO"].map(value);
        let values = NAMES.map(|(_, name)| value(name));
        Some(Self { values, init: init?, go: go?, done: done? })
    }

    /// Returns the signal of a value.
    pub fn named(&self, value: u8) -> Option<GoSignal> {
        let known = NAMES.iter().zip(self.values);
        known.filter(|(_, own)| *own == Some(value)).map(|((signal, _), _)| *signal).next()
    }
}
