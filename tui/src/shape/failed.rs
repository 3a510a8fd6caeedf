//! The promised shape of a failure.

use crate::exit::{Failure, code};
use launch::ControlError;
use launch::outcome::RunError;
use serde::Serialize;

/// Why a run failed, and at which word, if the error names one.
#[derive(Serialize)]
pub(super) struct Error {
    message: String,
    exit_code: u8,
    kind: &'static str,
    #[serde(flatten)]
    place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_cycles: Option<u64>,
}

#[derive(Serialize)]
struct Place {
    chip: u16,
    tile: [u8; 2],
    addr: u64,
}

impl Error {
    pub(super) fn of(failure: &Failure, cause: Option<&RunError>) -> Self {
        let (mut addr, mut value, mut waited_cycles) = (None, None, None);
        match cause {
            Some(RunError::Control(ControlError::Access { addr: at, .. })) => addr = Some(*at),
            Some(RunError::Control(ControlError::TookTooLong {
                addr: at,
                value: last,
                waited_cycles: waited,
                ..
            })) => (addr, value, waited_cycles) = (Some(*at), Some(*last), Some(*waited)),
            _ => {}
        }
        let place = addr.map(|addr| Place {
            chip: addr.chip.0,
            tile: [addr.tile.x, addr.tile.y],
            addr: addr.offset,
        });
        Self {
            message: failure.to_string(),
            exit_code: code(&Err(failure.clone())),
            kind: cause.map_or(kind_of_failure(failure), kind_of_cause),
            place,
            value,
            waited_cycles,
        }
    }
}

fn kind_of_cause(cause: &RunError) -> &'static str {
    match cause {
        RunError::InUse(_) => "in-use",
        RunError::NotAllowed(_) => "not-allowed",
        RunError::Program(_) => "program",
        RunError::Kernel(_) => "kernel",
        RunError::TookTooLong(_) => "took-too-long",
        RunError::Control(_) => "control",
        RunError::Access(_) => "access",
    }
}

fn kind_of_failure(failure: &Failure) -> &'static str {
    match failure {
        Failure::Usage(_) => "usage",
        Failure::Unreachable(_) => "unreachable",
        Failure::Refused(_) => "refused",
        Failure::Finding(_) => "finding",
        Failure::Internal(_) => "internal",
        Failure::Interrupted => "interrupted",
        Failure::ClosedPipe => "closed-pipe",
    }
}
