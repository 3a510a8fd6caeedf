//! Ring ping: a payload circles a ring of Ethernet tiles, by links and between siblings.

use super::Search;
use crate::look::{Kernel, tile_of};
use decode::state::{Party, WaitReason};
use layouts::CoreKind;
use machine::place::Place;

/// The waypoint of the delay at each hop.
const DELAYS: &str = "DWLW";

impl Search<'_> {
    pub(super) fn ring_ping(&mut self, kernel: &Kernel<'_>) {
        let (own, mark) = (Party::Core(kernel.core.id), kernel.mark());
        let reason = match kernel.waypoint() {
            "EHSW" => WaitReason::Handshake,
            "PAYW" => WaitReason::Message,
            "ACKW" | "CMPW" | "TDNW" => WaitReason::Completion,
            "HOVW" | "HSLW" | "LSYW" => WaitReason::Sibling,
            DELAYS => return,
            _ => return self.turns(kernel, mark),
        };
        let on = match reason {
            WaitReason::Sibling => sibling(kernel),
            _ => self.other_end(kernel),
        };
        if let Some(on) = on {
            self.add(own, on, reason, mark);
        }
    }
}

fn sibling(kernel: &Kernel<'_>) -> Option<Party> {
    let number = |member: &str| kernel.number(&format!("ring_ping_state.args.{member}"));
    let tile = tile_of(number("sibling_x")? | number("sibling_y")? << 16);
    let place = Place { chip: kernel.core.id.chip, tile };
    Some(Party::Core(Search::core(place, CoreKind::Erisc)))
}
