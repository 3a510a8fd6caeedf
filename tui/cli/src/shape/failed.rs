//! The JSON of a failure.

use console::exit::{Failure, code};
use console::locate;
use diagnosis::Finding;
use launch::ControlError;
use launch::outcome::{Cause, Ended, Forbidden, Misfit, RunError, Stuck, User, Waypoint};
use launch::undebuggable::Undebuggable;
use layouts::NocAddr;
use machine::place::Place;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a run failed, with details.
#[derive(Serialize, JsonSchema)]
pub(super) struct Error {
    /// The sentence on standard error.
    message: String,
    /// The exit code of the program.
    exit_code: u8,
    /// Of a run that was checked or started: in-use, not-allowed, program, kernel, timed_out,
    /// left, control or access. Of other failures: usage, unreachable, refused, finding, internal,
    /// interrupted or closed-pipe.
    kind: &'static str,
    #[serde(flatten)]
    facts: Option<Facts>,
}

/// Details of the failure of a run that was checked or started.
#[derive(Serialize, JsonSchema)]
struct Facts {
    /// The cause, such as kernel-runs, no-progress or packets-dropped; or a reason of `gaps`.
    cause: &'static str,
    /// The tile that caused it, also by the verdict; null if it is not known.
    core: Option<Place>,
    /// The waypoint of its core, also by the verdict; null if it is not known.
    waypoint: Option<String>,
    /// What the run waited for, also by the verdict; null if that is not known.
    waiting_for: Option<String>,
    /// The target's own time when the run last made progress, in cycles of a nanosecond; null if it
    /// is not known.
    since_cycles: Option<u64>,
    /// Further details, a sentence each.
    notes: Vec<String>,
    /// Cycles of a nanosecond without progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_cycles: Option<u64>,
    #[serde(flatten)]
    word: Option<Word>,
}

/// The word that caused it.
#[derive(Serialize, JsonSchema)]
struct Word {
    #[serde(flatten)]
    at: NocAddr,
    /// Its value, if it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
}

impl Error {
    pub(super) fn of(failure: &Failure, error: Option<&RunError>, root: Option<&Finding>) -> Self {
        let names = error.map(|error| names(&error.cause));
        Self {
            message: failure.to_string(),
            exit_code: code(&Err(failure.clone())),
            kind: names.map_or_else(|| failure.into(), |(kind, _)| kind),
            facts: error.zip(names).map(|(error, (_, cause))| Facts::of(error, cause, root)),
        }
    }
}

impl Facts {
    fn of(error: &RunError, cause: &'static str, root: Option<&Finding>) -> Self {
        let core = error.core.or(root.and_then(|root| tile_of(root.place)));
        // What the verdict says of another tile is not about this failure.
        let root = root.filter(|root| tile_of(root.place) == core);
        let awaited = root.and_then(|root| root.chain.last());
        let awaited = awaited.map(|step| format!("{}: {}", step.reason, step.on));
        let (word, waited_cycles) = match &error.cause {
            Cause::Control(ControlError::Access { addr, .. }) => (Some((*addr, None)), None),
            Cause::Control(ControlError::TookTooLong { addr, value, waited_cycles, .. }) => {
                (Some((*addr, Some(*value))), Some(*waited_cycles))
            }
            Cause::TookTooLong(
                Stuck::Kernels { waited_cycles, .. } | Stuck::Routers { waited_cycles, .. },
            ) => (None, Some(*waited_cycles)),
            _ => (None, None),
        };
        Self {
            cause,
            core,
            waypoint: match &error.waypoint {
                Some(Waypoint::At(code)) => Some(code.clone()),
                Some(Waypoint::Unread(_)) | None => root.and_then(|root| root.waypoint.clone()),
            },
            waiting_for: error.waiting_for.clone().or(awaited),
            since_cycles: error.since_cycles,
            notes: error.notes.clone(),
            waited_cycles,
            word: word.map(|(at, value)| Word { at, value }),
        }
    }
}

/// The tile of a finding, if it is on one.
fn tile_of(root: diagnosis::Place) -> Option<Place> {
    match root {
        diagnosis::Place::Core(core) => Some(Place { chip: core.chip, tile: core.tile }),
        diagnosis::Place::Router(end) | diagnosis::Place::End(end) => {
            Place::of(locate::layout(), end).ok()
        }
        _ => None,
    }
}

/// The kind of a failure, and its cause.
fn names(cause: &Cause) -> (&'static str, &'static str) {
    match cause {
        Cause::InUse(user) => (
            "in-use",
            match user {
                User::Process(..) => "process",
                User::Kernel(_) => "kernel-runs",
                User::Router(_) => "router-runs",
                User::Application => "other-application",
                User::Client(..) => "open-channel",
            },
        ),
        Cause::NotAllowed(forbidden) => (
            "not-allowed",
            match forbidden {
                Forbidden::Ever(..) => "unchangeable",
                Forbidden::SoFar { .. } => "not-allowed",
            },
        ),
        Cause::Program(misfit) => (
            "program",
            match misfit {
                Misfit::TwoWorkers => "two-workers",
                Misfit::NoChip(_) => "no-chip",
                Misfit::NoKernels => "no-kernels",
                Misfit::NoLink(..) => "no-link",
                Misfit::Fault(_) => "no-fault",
                Misfit::NoOutputRange(_) => "no-output-range",
                Misfit::Unchecked(_) => "unchecked",
            },
        ),
        Cause::Kernel(ended) => (
            "kernel",
            match ended {
                Ended::Refused(_) => "arguments-refused",
                Ended::Stopped(_) => "stopped",
                Ended::RouterTerminated(_) => "router-terminated",
                Ended::RouterRefused(..) => "router-refused",
            },
        ),
        Cause::TookTooLong(stuck) => (
            "timed_out",
            match stuck {
                Stuck::Kernels { .. } => "no-progress",
                Stuck::Routers { .. } => "routers",
                Stuck::Mux(..) => "mux-does-not-answer",
                Stuck::Client(..) => "client-does-not-answer",
                Stuck::Dropped(_) => "packets-dropped",
            },
        ),
        Cause::Undebuggable(why) => (
            "undebuggable",
            match why {
                Undebuggable::NoInterface(_) => "no-debug-interface",
                Undebuggable::Active(..) => "active-ethernet-core",
                Undebuggable::InReset(_) => "core-in-reset",
                Undebuggable::Taken(_) => "other-debugger",
                Undebuggable::Runs { .. } => "core-runs",
                Undebuggable::NotPaused(_) => "not-paused",
                Undebuggable::NoAnswer(_) => "no-answer",
                Undebuggable::Busy(..) => "busy",
                Undebuggable::NoWatchLeft(..) => "no-watchpoint-left",
                Undebuggable::OutOfReach(..) => "out-of-reach",
            },
        ),
        Cause::CleanupFailed => ("left", "left"),
        Cause::Control(error) => (
            "control",
            match error {
                ControlError::NoImage(_) => "no-image",
                ControlError::NoMember(..) => "no-member",
                ControlError::NoRing => "no-ring",
                ControlError::Settings(_) => "settings",
                ControlError::Gone(error) | ControlError::Access { reason: error, .. } => {
                    error.name()
                }
                ControlError::TookTooLong { .. } => "timed_out",
            },
        ),
        Cause::Access(error) => ("access", error.name()),
    }
}
