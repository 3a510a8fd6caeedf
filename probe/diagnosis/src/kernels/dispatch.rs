//! Dispatch: it waits for cores to report that they are done, or for room in the completion queue.

use super::Search;
use crate::look::Kernel;
use decode::state::{Party, WaitReason};
use layouts::CoreId;

/// `dispatch_mode`: the core reports to the dispatcher.
const DISPATCH_MODE_DEV: u8 = 0;

impl Search<'_> {
    pub(super) fn dispatch(&mut self, kernel: &Kernel<'_>) {
        let (own, mark) = (Party::Core(kernel.core.id), kernel.mark());
        match kernel.waypoint() {
            // Cores that were told to go and have not reported.
            "PWW" => {
                // A core that the host launched reports to the host.
                let dispatched = |it: &&Kernel<'_>| {
                    it.core.launch.known().is_some_and(|launch| launch.mode == DISPATCH_MODE_DEV)
                };
                let id = kernel.core.id;
                let near = self.kernels.values().filter(|it| it.core.id.chip == id.chip);
                let awaited = near.filter(dispatched).map(|it| it.core.id);
                let awaited: Vec<CoreId> = awaited.filter(|core| *core != id).collect();
                if awaited.is_empty() {
                    let words = "dispatch waits for cores, and none of them has a go message";
                    self.note(Party::Host, words);
                    self.add(own, Party::Host, WaitReason::Done, mark);
                }
                for core in awaited {
                    self.add(own, Party::Core(core), WaitReason::Done, mark);
                }
            }
            "QRBW" => self.add(own, Party::Host, WaitReason::Read, mark),
            _ => self.turns(kernel, mark),
        }
    }
}
