//! The words at the same address in every router of an architecture.

use super::cursor::{Cursor, Parsed};
use super::types::{Context, L1Region};

/// Words at the same address in every router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Areas {
    /// The heartbeat of the router's loop.
    pub heartbeat: Heartbeat,
    /// `FabricTelemetry`.
    pub telemetry: L1Region,
    /// `routing_l1_info_t`: own node, tables, state and command.
    pub routing_table: L1Region,
    /// The go message.
    pub go_msg: L1Region,
    /// The ring of launch messages.
    pub launch: L1Region,
    /// The read index of that ring.
    pub launch_read_index: L1Region,
    /// The mailbox of the Ethernet firmware, if the architecture has one.
    pub eth_mailbox: Option<L1Region>,
}

/// The heartbeat of a router's loop. On Wormhole base firmware beats in the same word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The word.
    pub word: L1Region,
    /// Its value under the mask, if the router wrote it.
    pub magic: u32,
    /// The mask of that value; the other bits count.
    pub magic_mask: u32,
    /// Passes of the loop from one count to the next.
    pub period_passes: u32,
}

impl Context<'_> {
    pub(super) fn areas(&self, at: &Cursor<'_>) -> Parsed<Areas> {
        let area = |key| self.region(&at.get(key)?);
        let heartbeat = at.get("heartbeat")?;
        Ok(Areas {
            heartbeat: Heartbeat {
                word: self.region(&heartbeat)?,
                magic: heartbeat.get("magic")?.number()?,
                magic_mask: heartbeat.get("magic_mask")?.number()?,
                period_passes: heartbeat.get("period_iters")?.number()?,
            },
            telemetry: area("fabric_telemetry")?,
            routing_table: area("routing_table")?,
            go_msg: area("go_msg")?,
            launch: area("launch")?,
            launch_read_index: area("launch_msg_rd_ptr")?,
            eth_mailbox: self.optional_region(at.get("eth_fw_mailbox")?)?,
        })
    }
}
