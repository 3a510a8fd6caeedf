//! Dispatch: it waits for cores to report that they are done, or for room in the completion queue.

use super::Search;
use crate::look::Kernel;
use decode::state::{Party, WaitReason};
use layouts::{CoreId, CoreKind};

impl Search<'_> {
    pub(super) fn dispatch(&mut self, kernel: &Kernel<'_>) {
        let (own, mark) = (Party::Core(kernel.core.id), kernel.mark());
        match kernel.waypoint() {
            // Cores that were told to go and have not reported.
            "PWW" => {
                let chip = kernel.core.id.chip;
                let awaited = |id: &&CoreId| id.chip == chip && id.core == CoreKind::Brisc;
                let awaited: Vec<CoreId> = self.kernels.keys().filter(awaited).copied().collect();
                for core in awaited {
                    self.add(own, Party::Core(core), WaitReason::Done, mark);
                }
            }
            "QRBW" => self.add(own, Party::Host, WaitReason::Read, mark),
            _ => self.turns(kernel, mark),
        }
    }
}
