//! The ERISC data mover: each channel waits for a worker, or for the other end of the link.

use super::Search;
use crate::look::{Kernel, peer, tile_of};
use decode::state::{Actor, EDM, EDM_CHANNEL, FactValue, Party, Stage, WaitReason};
use layouts::EthId;

/// `edm_phase_t`.
const PHASES: [&str; 7] = [
    "EDM_NOT_STARTED",
    "EDM_HANDSHAKE",
    "EDM_RUNNING",
    "EDM_TEARDOWN",
    "EDM_FINISHED",
    "EDM_STOPPED",
    "EDM_REFUSED",
];
const RUNNING: &str = "EDM_RUNNING";

fn phase(kernel: &Kernel<'_>) -> Option<&'static str> {
    PHASES.get(kernel.number("edm_state.phase")? as usize).copied()
}

/// The words of a channel that decide what it waits for.
struct Channel {
    index: u8,
    is_sender: bool,
    sent: u64,
    completed: u64,
    worker_signals: u64,
    workers: Vec<u64>,
}

impl Channel {
    fn of(kernel: &Kernel<'_>, index: u8) -> Option<Self> {
        let state = |member: &str| kernel.number(&format!("edm_state.channels[{index}].{member}"));
        let args =
            |member: &str| kernel.number(&format!("edm_state.args.channel[{index}].{member}"));
        if state("done")? != 0 {
            return None;
        }
        let workers = (0..args("workers")?).filter_map(|n| args(&format!("worker_xy[{n}]")));
        Some(Self {
            index,
            is_sender: args("is_sender")? != 0,
            sent: state("messages_sent")?,
            completed: state("completed")?,
            worker_signals: state("worker_signals")?,
            workers: workers.collect(),
        })
    }

    fn stage(&self) -> Option<&'static Stage> {
        Stage::find(EDM_CHANNEL, |fact| match fact {
            "role" => Some(FactValue::text(if self.is_sender { "sender" } else { "receiver" })),
            "in_flight" => Some(FactValue::number(self.sent != self.completed)),
            _ => None,
        })
    }

    /// Progress counts of the channel in one number.
    fn mark(&self) -> u64 {
        self.sent << 32 ^ self.completed << 16 ^ self.worker_signals
    }
}

impl Search<'_> {
    pub(super) fn edm(&mut self, kernel: &Kernel<'_>) {
        let Some(end) = kernel.end else { return };
        let own = Party::Core(kernel.core.id);
        let beats = kernel.core.heartbeat.known().map_or(0, |beat| u64::from(*beat));
        let passes = kernel.number("edm_state.passes").map_or(0, |passes| passes);
        self.turns(kernel, passes.wrapping_add(beats));
        let Some(phase) = phase(kernel) else { return };
        let named = |fact: &str| (fact == "phase").then(|| FactValue::text(phase));
        let reason = Stage::find(EDM, named).and_then(|stage| stage.reason);
        if let Some(reason) = reason {
            if let Some(on) = self.other_end(kernel) {
                self.add(own, on, reason, 0);
            }
        } else if phase == RUNNING {
            let count = kernel.number("edm_state.args.channels").map_or(0, |count| count as u8);
            for channel in (0..count).filter_map(|index| Channel::of(kernel, index)) {
                self.edm_channel(kernel, end, &channel);
            }
        }
    }

    fn edm_channel(&mut self, kernel: &Kernel<'_>, end: EthId, channel: &Channel) {
        let (own, mark) = (Party::Channel(end, channel.index), channel.mark());
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
        let serves = self
            .at(far)
            .is_some_and(|peer| peer.name() == Some("edm") && phase(peer) == Some(RUNNING));
        Some(match on {
            Party::Core(_) if serves => Party::Channel(far, index),
            other => other,
        })
    }
}
