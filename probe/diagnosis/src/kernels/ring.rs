//! Ring ping: a payload circles a ring of Ethernet tiles, by links and between siblings.

use super::Search;
use crate::look::{Kernel, tile_of};
use decode::state::{Party, WaitReason};
use layouts::{CoreId, CoreKind};
use machine::place::Place;

impl Search<'_> {
    pub(super) fn ring_ping(&mut self, kernel: &Kernel<'_>) {
        let (own, mark) = (Party::Core(kernel.core.id), kernel.mark());
        // Every wait of it yields to base firmware, which beats.
        let beats = kernel.core.heartbeat.known().map_or(0, |beat| u64::from(*beat));
        self.turns(kernel, mark.wrapping_add(beats));
        let reason = match kernel.waypoint() {
            "EHSW" | "LSYW" => WaitReason::Handshake,
            "PAYW" => WaitReason::Message,
            "ACKW" | "CMPW" | "TDNW" => WaitReason::Completion,
            "HOVW" | "HSLW" => WaitReason::Sibling,
            // It works, or delays the payload as asked.
            _ => return,
        };
        let on = match kernel.waypoint() {
            "HOVW" | "HSLW" | "LSYW" => sibling(kernel).map(Party::Core),
            _ => self.other_end(kernel),
        };
        // An offer that is repeated is no progress.
        let stage = || kernel.number("ring_ping_state.control.stage").map_or(mark, |stage| stage);
        let mark = if reason == WaitReason::Handshake { stage() } else { mark };
        if let Some(on) = on {
            self.add(own, on, reason, mark);
        }
    }
}

/// Returns the core that a ring ping hands its payload to on the same chip.
pub(crate) fn sibling(kernel: &Kernel<'_>) -> Option<CoreId> {
    if kernel.name() != Some("ring_ping") {
        return None;
    }
    let number = |member: &str| kernel.number(&format!("ring_ping_state.args.{member}"));
    let tile = tile_of(number("sibling_x")? | number("sibling_y")? << 16);
    let place = Place { chip: kernel.core.id.chip, tile };
    Some(Search::core(place, CoreKind::Erisc))
}
