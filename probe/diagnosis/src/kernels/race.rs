//! The ops of the link race: each waits for sync words of the other end's op.

use super::Search;
use crate::look::Kernel;
use decode::state::{Party, WaitReason};

impl Search<'_> {
    pub(super) fn link_race(&mut self, kernel: &Kernel<'_>) {
        let own = Party::Core(kernel.core.id);
        // Every wait of it yields to base firmware, which beats.
        let beats = kernel.core.heartbeat.known().map_or(0, |beat| u64::from(*beat));
        self.turns(kernel, kernel.mark().wrapping_add(beats));
        // `link_race_wait_t`.
        let reason = match kernel.number("link_race_state.waits_for") {
            Some(1) => WaitReason::Handshake,
            Some(2) => WaitReason::Message,
            Some(3) => WaitReason::Completion,
            _ => return,
        };
        if let Some(on) = self.other_end(kernel) {
            self.add(own, on, reason, kernel.mark());
        }
    }
}
