//! One client, from the first byte to the last; then the cores go on.

use crate::debuggee::{Action, Debuggee, Thread, tid};
use crate::wire::{Received, Wire};
use gdbstub::common::Signal;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{GdbStub, GdbStubError, MultiThreadStopReason};
use launch::debugging::CoreControl;
use launch::outcome::RunError;
use layouts::CoreId;
use machine::target::Target;
use std::io;
use std::time::Duration;

/// How long to wait for the client before looking at the caller's wish.
const PATIENCE: Duration = Duration::from_millis(50);

type Machine<'a, 'b> = GdbStubStateMachine<'b, Debuggee<'a>, Wire>;
type StubError = GdbStubError<RunError, io::Error>;

/// Serves the cores to one client, as long as the caller wants. `tell` is given what the client
/// sees as an error only.
///
/// # Errors
/// When a core cannot be debugged or does not pause, and when the machine is lost. The cores that were
/// paused go on, as far as they can; those that do not are told of.
pub fn serve(
    target: &mut dyn Target,
    cores: &[CoreId],
    wire: Wire,
    wanted: &mut dyn FnMut() -> bool,
    tell: &mut dyn FnMut(&RunError),
) -> Result<(), RunError> {
    target.commanded_by("gdb");
    // All are asked before the first is paused.
    let mut threads = Vec::new();
    for core in cores {
        let control = CoreControl::attach(target, *core)?;
        threads.push(Thread { control, action: Action::Continue });
    }
    let mut debuggee = Debuggee { target, threads, software: Vec::new(), tell };
    let ended = debuggee.pause_all().and_then(|()| converse(&mut debuggee, wire, wanted));
    let Debuggee { target, mut threads, tell, .. } = debuggee;
    let left = threads.iter_mut().filter_map(|thread| thread.control.end(target).err());
    left.for_each(|error| tell(&error));
    ended
}

fn converse(
    debuggee: &mut Debuggee<'_>,
    wire: Wire,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<(), RunError> {
    let mut machine = match GdbStub::new(wire).run_state_machine(debuggee) {
        Ok(machine) => machine,
        Err(error) => return end(error),
    };
    while wanted() {
        machine = match turn(machine, debuggee) {
            Ok(Some(machine)) => machine,
            Ok(None) => return Ok(()),
            Err(error) => return end(error),
        };
    }
    Ok(())
}

/// The error that ended a session, if it is the machine's; a client may go whenever it likes.
fn end(error: StubError) -> Result<(), RunError> {
    error.into_target_error().map_or(Ok(()), Err)
}

/// Does the next thing; returns nothing when the client has gone.
fn turn<'a, 'b>(
    machine: Machine<'a, 'b>,
    debuggee: &mut Debuggee<'a>,
) -> Result<Option<Machine<'a, 'b>>, StubError> {
    match machine {
        GdbStubStateMachine::Idle(mut idle) => match idle.borrow_conn().wait(PATIENCE) {
            Received::Byte(byte) => idle.incoming_data(debuggee, byte).map(Some),
            Received::Nothing => Ok(Some(idle.into())),
            Received::End => Ok(None),
        },
        GdbStubStateMachine::Running(mut running) => match running.borrow_conn().take() {
            Received::Byte(byte) => running.incoming_data(debuggee, byte).map(Some),
            Received::End => Ok(None),
            Received::Nothing => match debuggee.look() {
                Ok(Some(reason)) => running.report_stop(debuggee, reason).map(Some),
                Ok(None) => Ok(Some(running.into())),
                // The client cannot be told why; the caller is.
                Err(error) => {
                    (debuggee.tell)(&error);
                    Ok(None)
                }
            },
        },
        GdbStubStateMachine::CtrlCInterrupt(interrupt) => {
            if let Err(error) = debuggee.pause_all() {
                (debuggee.tell)(&error);
                return Ok(None);
            }
            // All cores are paused; a client without a thread cannot show where.
            let stop =
                |tid| MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGINT };
            interrupt.interrupt_handled(debuggee, tid(0).map(stop)).map(Some)
        }
        GdbStubStateMachine::Disconnected(_) => Ok(None),
    }
}
