//! A kernel of a run, in its last observed state.

use super::words::Values;
use machine::place::Place;

/// A kernel that was launched.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) place: Place,
    pub(super) kernel: &'static str,
    /// Its role, for display.
    pub(super) role: String,
    /// Whether it is a worker that takes data from a channel.
    pub(super) takes: bool,
    /// Bytes of a packet that it takes.
    pub(super) packet_bytes: u64,
    /// Bytes to fill or check, and the number of packets; zero for a kernel that moves data.
    pub(super) fills: (u64, u64),
    /// Its words as last read.
    pub(super) values: Values,
    /// Whether its go message was once seen to report its return.
    pub(super) returned: bool,
    pub(super) finished: bool,
}

impl Watched {
    /// Returns its name, and its role if the name does not say it.
    pub(super) fn name(&self) -> String {
        let Self { kernel, role, .. } = self;
        if role == kernel { role.clone() } else { format!("{kernel} ({role})") }
    }
}
