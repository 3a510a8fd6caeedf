//! The machine of this process, of which each access waits for its turn.

use crate::machine::{Bus, Machine, say};
use machine::bar::Bar;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

static MACHINE: Mutex<Option<Machine>> = Mutex::new(None);

thread_local! {
    /// Whether this thread is inside one of the functions.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs an action on the slot of the machine; returns `absent` if that is not possible.
pub(crate) fn at_machine<T: Copy>(absent: T, action: impl FnOnce(&mut Option<Machine>) -> T) -> T {
    if INSIDE.replace(true) {
        say("refused: a DMA callback called back into the library");
        return absent;
    }
    let mut machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let done = catch_unwind(AssertUnwindSafe(|| action(&mut machine)));
    INSIDE.set(false);
    done.unwrap_or_else(|_| {
        say("internal error in the emulator: its devices are gone");
        *machine = None;
        absent
    })
}

/// Runs an action on the bar of the machine, for a thread that serves it; none if there is no machine.
pub(crate) fn with_bar<T>(action: impl FnOnce(&mut dyn Bar) -> T) -> Option<T> {
    with_machine(|machine| action(machine.bar()))
}

/// Runs an action on the machine, for a thread that serves it; none if there is no machine.
pub(crate) fn with_machine<T>(action: impl FnOnce(&mut Machine) -> T) -> Option<T> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(action)
}

/// Runs an action on the bus of the machine; returns `absent` if there is none.
pub(crate) fn on_bus<T: Copy>(absent: T, action: impl FnOnce(&mut dyn Bus) -> T) -> T {
    at_machine(absent, |machine| machine.as_mut().map_or(absent, |machine| machine.on_bus(action)))
}
