//! The packets of the Ethernet links in a part of the past, which runs again.

use super::{TravelError, Watcher};
use crate::mesh::packets::EthPacket;
use crate::past::History;

impl History {
    /// Returns the packets that were sent over Ethernet links in cycles from `from` up to `to`, in the
    /// order in which they were sent.
    ///
    /// # Errors
    /// The cycles are not in the history, or `watcher` returned false.
    pub fn eth_packets(
        &self,
        from: u64,
        to: u64,
        watcher: &mut Watcher<'_>,
    ) -> Result<Vec<EthPacket>, TravelError> {
        let mut rerun = self.rerun_at(from)?;
        rerun.mesh.seen_packets = Some(Vec::new());
        rerun.run(to.min(self.end), true, watcher)?;
        let mut packets = rerun.mesh.seen_packets.take().unwrap_or_else(Vec::new);
        packets.retain(|packet| (from..=to).contains(&packet.sent));
        packets.sort_by_key(|packet| (packet.sent, packet.from));
        Ok(packets)
    }
}
