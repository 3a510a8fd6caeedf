//! Sentences about failed runs and failed steps.

use crate::ControlError;
use crate::outcome::{Cause, Ended, Facts, Forbidden, Misfit, RunError, Stuck, User, Waypoint};
use layouts::ChipLayout;
use machine::place::Place;
use machine::snapshot::AccessError;
use machine::words::counted;
use std::fmt::{self, Display};

/// Most kernels that a sentence names.
const NAMED: usize = 8;

impl RunError {
    /// Returns all that is known, in one line. Tiles have the names of the chips' layout.
    pub fn sentence(&self, layout: &ChipLayout) -> String {
        if self.cause == Cause::CleanupFailed {
            return self.notes.join("; ");
        }
        let reach = if is_out_of_reach(self) { "unreachable: " } else { "" };
        let mut parts = vec![format!("{reach}{}", self.headline(layout))];
        parts.extend_from_slice(&self.notes);
        parts.join("; ")
    }
}

/// Returns true if a tile did not answer, which excludes refused accesses and lost devices.
fn is_out_of_reach(facts: &Facts) -> bool {
    match &facts.cause {
        Cause::Control(ControlError::TookTooLong { .. }) => true,
        Cause::Control(ControlError::Access { reason, .. }) | Cause::Access(reason) => match reason
        {
            AccessError::QueueError { .. } => true,
            AccessError::Refused(_)
            | AccessError::DeviceGone(_)
            | AccessError::Unreachable(_)
            | AccessError::Overtaken(_)
            | AccessError::Hung(_) => false,
            _ => !facts.notes.is_empty(),
        },
        _ => false,
    }
}

impl Facts {
    /// Returns the cause and the state of its core, without the notes.
    pub fn headline(&self, layout: &ChipLayout) -> String {
        let tile = self.core.map_or_else(|| "a tile".to_owned(), |core| core.name(layout));
        match &self.cause {
            Cause::InUse(user) => user.sentence(&tile),
            Cause::NotAllowed(forbidden) => forbidden.to_string(),
            Cause::Program(misfit) => misfit.sentence(self.core),
            Cause::Kernel(ended) => ended.sentence(&tile),
            Cause::TookTooLong(stuck) => stuck.sentence(layout, &tile, self),
            Cause::Undebuggable(why) => why.to_string(),
            Cause::CleanupFailed => "the cleanup failed".to_owned(),
            Cause::Control(
                error @ (ControlError::TookTooLong { .. }
                | ControlError::Access { reason: AccessError::QueueError { .. }, .. }),
            ) => step(layout, error),
            Cause::Control(error) => error.to_string(),
            Cause::Access(error) => reason(error),
        }
    }

    fn waiting_for(&self) -> &str {
        self.waiting_for.as_deref().unwrap_or("what it waits for is unknown")
    }
}

impl User {
    fn sentence(&self, tile: &str) -> String {
        match self {
            Self::Process(chip, holder) => {
                format!("chip {chip} is in use: process {holder} has it open")
            }
            Self::Kernel(kernel) => {
                let kernel = kernel.as_deref().unwrap_or("a kernel");
                format!("{tile} is in use: {kernel} runs there")
            }
            Self::Router(router) => format!(
                "{tile} is in use: {router} runs there, a router of a fabric that is up; a run brings \
                 up its own fabric and does not join another"
            ),
            Self::Application => {
                format!("{tile} is in use: an unknown application runs on the core")
            }
            Self::Client(router, client) => format!(
                "the router of {router} is in use: the client on {client} has its channel open"
            ),
        }
    }
}

impl Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ever(target, why) => write!(f, "{target}: {why}"),
            Self::SoFar { target, what, needs } => {
                let needs: Vec<&str> = needs.iter().map(|need| need.word()).collect();
                let needs = needs.join(",");
                write!(f, "{target} cannot be changed: {what} needs --allow {needs}")
            }
        }
    }
}

impl Misfit {
    fn sentence(&self, core: Option<Place>) -> String {
        let place = core.map_or_else(|| "this".to_owned(), |place| place.to_string());
        match self {
            Self::TwoWorkers => format!("two workers on {place}"),
            Self::NoChip(chip) => format!("there is no chip {chip}"),
            Self::NoKernels => format!("{place} runs no kernels"),
            Self::NoLink(a, b) => format!("the mesh has no link from {a} to {b}"),
            Self::Fault(error) => error.to_string(),
            Self::NoOutputRange(number) => format!("there is no output range {number}"),
            Self::Unchecked(chip) => format!("no worker checks an output range of chip {chip}"),
        }
    }
}

impl Ended {
    fn sentence(&self, tile: &str) -> String {
        match self {
            Self::Refused(None) => format!("{tile}: the kernel refused its arguments"),
            Self::Refused(Some(role)) => {
                format!("{tile}: the kernel refused its arguments ({role})")
            }
            Self::Stopped(role) => format!("{tile}: the kernel was stopped ({role})"),
            Self::RouterTerminated(router) => {
                format!("router {router} was terminated before it was up")
            }
            Self::RouterRefused(router, why) => format!("router {router} refused: {why}"),
        }
    }
}

impl Stuck {
    fn sentence(&self, layout: &ChipLayout, tile: &str, facts: &Facts) -> String {
        match self {
            Self::Kernels { left, of, waited_cycles } => {
                let named = left.iter().take(NAMED);
                let named = named.map(|(place, name)| format!("{} {name}", place.name(layout)));
                let more = left.len().saturating_sub(NAMED);
                let more = (more > 0).then(|| format!("and {more} more"));
                let (count, waited_us) = (left.len(), waited_cycles / 1_000);
                let names = named.chain(more).collect::<Vec<_>>().join(", ");
                format!("{count} of {of} kernels made no progress for {waited_us} us: {names}")
            }
            Self::Routers { stage, count, of, waited_cycles, router, status } => {
                let waited_us = waited_cycles / 1_000;
                let postcode = facts.waypoint.as_ref().map_or("", Waypoint::code);
                format!(
                    "the fabric {stage}: {count} of {of} made no progress for {waited_us} us: {router} is {status} at postcode {postcode}: {}",
                    facts.waiting_for()
                )
            }
            Self::Mux(router, clients) => format!(
                "the mux on {tile} does not answer: {clients} clients of the router of {router} wait for it"
            ),
            Self::Client(muxes, role) => {
                let mux = |(place, router): &(Place, _)| {
                    format!("the mux on {} of router {router}", place.name(layout))
                };
                let muxes: Vec<String> = muxes.iter().map(mux).collect();
                let fabric =
                    if muxes.is_empty() { "the fabric".to_owned() } else { muxes.join(" and ") };
                format!("a client of {fabric} does not answer: {tile} ({role}) stands still")
            }
            Self::Dropped(packets) => {
                let packets = counted((*packets).into(), "packet", "packets");
                format!("the fabric dropped {packets} of {tile}")
            }
        }
    }
}

impl Waypoint {
    /// Returns its code, or why it cannot be read.
    pub fn code(&self) -> &str {
        match self {
            Self::At(code) => code,
            Self::Unread(why) => why,
        }
    }
}

/// Returns the reason for display. It omits the flags of a queue error, which do not help the user
/// of a collective.
pub fn reason(error: &AccessError) -> String {
    match error {
        AccessError::QueueError { .. } => "its routing queue reported an error".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the sentence of a failed step, without raw words.
pub fn step(layout: &ChipLayout, error: &ControlError) -> String {
    match error {
        ControlError::TookTooLong { what, addr, waited_cycles, .. } => {
            let tile = Place::from(*addr).name(layout);
            let whose = if what.contains(&tile) { String::new() } else { format!("{tile}: ") };
            format!("{whose}{what}: not within {} us", waited_cycles / 1_000)
        }
        ControlError::Access { addr, reason: why } => {
            format!("{}: {}", Place::from(*addr).name(layout), reason(why))
        }
        other => other.to_string(),
    }
}
