//! Dispatch: it waits for cores to report that they are done, or for room in the completion queue, and
//! the prefetcher for the commands before. One that waits for commands is idle.

use super::{Search, has_returned};
use crate::look::Kernel;
use decode::state::{Party, WaitReason};
use layouts::CoreId;

/// `dispatch_mode`: the core reports to the dispatcher.
const DISPATCH_MODE_DEV: u8 = 0;
/// The kernels that let the host's commands act.
const DISPATCHERS: [&str; 2] = ["dispatch", "cq_dispatch"];

impl Search<'_> {
    pub(super) fn dispatch(&mut self, kernel: &Kernel<'_>) {
        let (own, mark) = (Party::Core(kernel.core.id), kernel.mark());
        match kernel.waypoint() {
            // Cores that were told to go and have not reported.
            "PWW" | "WCW" => {
                // A core that the host launched reports to the host.
                let awaited = self.near(kernel, |it| {
                    let launch = it.core.launch.known();
                    launch.is_some_and(|launch| launch.mode == DISPATCH_MODE_DEV)
                        && !it.serves()
                        && !has_returned(it)
                });
                let awaited = if awaited.is_empty() { self.stray(kernel) } else { awaited };
                if awaited.is_empty() && kernel.program() != "cq_dispatch_subordinate" {
                    let words = "dispatch waits for cores, and none of them has a go message";
                    self.note(Party::Host, words);
                    self.add(own, Party::Host, WaitReason::Done, mark);
                }
                for core in awaited {
                    self.add(own, Party::Core(core), WaitReason::Done, mark);
                }
            }
            "QRBW" => self.add(own, Party::Host, WaitReason::Read, mark),
            "PSW" => {
                for core in self.near(kernel, |it| DISPATCHERS.contains(&it.program())) {
                    self.add(own, Party::Core(core), WaitReason::Done, mark);
                }
            }
            _ if kernel.program() == "dispatch" => self.turns(kernel, mark),
            _ => {}
        }
    }

    /// Returns the cores of the same chip whose go messages were overwritten.
    fn stray(&self, kernel: &Kernel<'_>) -> Vec<CoreId> {
        let cores = self.look.cores().map(|(core, _)| core);
        let near = cores.filter(|core| core.id.chip == kernel.core.id.chip);
        near.filter(|core| self.look.stray_go(core).is_some()).map(|core| core.id).collect()
    }

    /// Returns the other running kernels of the same chip that are of a kind.
    fn near(&self, kernel: &Kernel<'_>, is: impl Fn(&Kernel<'_>) -> bool) -> Vec<CoreId> {
        let CoreId { chip, .. } = kernel.core.id;
        let near = self.kernels.values().filter(|it| it.core.id.chip == chip && is(it));
        near.map(|it| it.core.id).collect()
    }
}
