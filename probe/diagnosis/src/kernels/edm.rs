//! The ERISC data mover: each channel waits for a worker, or for the other end of the link.

use super::Search;
use crate::look::{Kernel, peer, tile_of};
use decode::state::{Actor, EdmChannel, Party, Stage, WaitReason, kernel_stage};
use layouts::EthId;

fn stage(kernel: &Kernel<'_>) -> Option<&'static Stage> {
    kernel_stage("edm", |word| kernel.number(word), Some(kernel.waypoint()))
}

/// Progress counts of a channel in one number.
fn mark(channel: &EdmChannel) -> u64 {
    channel.sent << 32 ^ channel.completed << 16 ^ channel.worker_signals
}

impl Search<'_> {
    pub(super) fn edm(&mut self, kernel: &Kernel<'_>) {
        let Some(end) = kernel.end else { return };
        let own = Party::Core(kernel.core.id);
        let beats = kernel.core.heartbeat.known().map_or(0, |beat| u64::from(*beat));
        let passes = kernel.number("edm_state.passes").map_or(0, |passes| passes);
        self.turns(kernel, passes.wrapping_add(beats));
        let Some(stage) = stage(kernel) else { return };
        if let Some(reason) = stage.reason {
            if let Some(on) = self.other_end(kernel) {
                self.add(own, on, reason, 0);
                // Until then it serves no worker.
                for channel in EdmChannel::all(|word| kernel.number(word)) {
                    self.add(Party::Channel(end, channel.index), own, WaitReason::Core, 0);
                }
            }
        } else if stage.is_serving() {
            for channel in EdmChannel::all(|word| kernel.number(word)) {
                self.edm_channel(kernel, end, &channel);
            }
        }
    }

    fn edm_channel(&mut self, kernel: &Kernel<'_>, end: EthId, channel: &EdmChannel) {
        let (own, mark) = (Party::Channel(end, channel.index), mark(channel));
        let Some(stage) = channel.stage() else { return };
        let Some(reason) = stage.reason else { return };
        if stage.next == Actor::Peer {
            if let Some(on) = self.other_channel(kernel, end, channel.index) {
                self.add(own, on, reason, mark);
            }
            return;
        }
        for xy in &channel.workers {
            let worker = Self::brisc(kernel, tile_of(*xy));
            self.add(own, Party::Core(worker), reason, mark);
        }
        if channel.workers.is_empty() {
            self.add(own, Party::Core(kernel.core.id), WaitReason::Core, mark);
        }
    }

    /// Returns the channel at the other end, or what is there instead of its EDM.
    fn other_channel(&mut self, kernel: &Kernel<'_>, end: EthId, index: u8) -> Option<Party> {
        let on = self.other_end(kernel)?;
        let far = peer(self.mesh, end)?;
        let serves = self.at(far).is_some_and(|peer| {
            peer.name() == Some("edm") && stage(peer).is_some_and(Stage::is_serving)
        });
        Some(match on {
            Party::Core(_) if serves => Party::Channel(far, index),
            other => other,
        })
    }
}
