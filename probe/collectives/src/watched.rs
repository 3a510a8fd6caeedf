//! A kernel of a run, as it was seen last.

use super::words::Values;
use machine::place::Place;

/// A kernel that was launched.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what a kernel is, and how far it is")]
pub(super) struct Watched {
    pub(super) place: Place,
    pub(super) kernel: &'static str,
    /// What it is, for people.
    pub(super) role: String,
    /// It moves data of an EDM.
    pub(super) has_channel: bool,
    /// A worker that takes data from a channel.
    pub(super) takes: bool,
    /// It sends and takes over the fabric.
    pub(super) over_fabric: bool,
    /// What each of its commands does.
    pub(super) flags: Vec<u16>,
    /// Bytes of a packet that it takes.
    pub(super) packet_bytes: u64,
    /// Bytes that it is to fill or to check, and in how many packets; none of one that moves data.
    pub(super) fills: (u64, u64),
    /// Its words when they were read last.
    pub(super) values: Values,
    /// Its go message said once that it has returned.
    pub(super) returned: bool,
    pub(super) finished: bool,
}
