//! A kernel of a run, in its last observed state.

use super::words::Values;
use machine::place::Place;

/// A kernel that was launched.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "kind and progress of a kernel")]
pub(super) struct Watched {
    pub(super) place: Place,
    pub(super) kernel: &'static str,
    /// Its role, for display.
    pub(super) role: String,
    /// Whether it moves data of an EDM.
    pub(super) has_channel: bool,
    /// Whether it is a worker that takes data from a channel.
    pub(super) takes: bool,
    /// Whether it sends and receives over the fabric.
    pub(super) over_fabric: bool,
    /// The flags of each command.
    pub(super) flags: Vec<u16>,
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
