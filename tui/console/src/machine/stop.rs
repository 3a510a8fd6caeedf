//! What `:stop` ends if no run is running: the ring ping, and the workers that write patterns.

use images::ImageMap;
use launch::{ControlError, Operation, OperationGroup, RingPing, running_workers, stop_workers};
use machine::target::Target;
use machine::words::counted;

/// Number of waits for the end of a ring ping, each as long as its step's time limit.
const WAITS: u32 = 10;

/// Kernels that are being stopped.
pub(super) struct StoppingKernels {
    count: usize,
    workers: OperationGroup,
    ring: Option<Ring>,
}

/// A ring ping that was requested to end. It ends with its lap; with a delay at each hop, that
/// takes longer than the time limit of one operation.
struct Ring {
    ping: RingPing,
    operation: Operation,
    /// Number of waits left.
    waits: u32,
}

impl StoppingKernels {
    /// Finds what runs on the mesh and can be stopped; writes nothing yet.
    pub(super) fn find(
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Option<Self>, ControlError> {
        let ping = match RingPing::on(target.mesh()) {
            Ok(ping) => Some(ping),
            Err(ControlError::NoRing) => None,
            Err(error) => return Err(error),
        };
        let ring = match ping {
            Some(ping) if ping.runs(target, images)? => {
                let operation = ping.tear_down(images)?;
                Some(Ring { ping, operation, waits: WAITS })
            }
            _ => None,
        };
        let places = running_workers(target, images)?;
        if ring.is_none() && places.is_empty() {
            return Ok(None);
        }
        target.never_stop_for_audit();
        let workers = OperationGroup::tolerant(stop_workers(images, &places)?);
        Ok(Some(Self { count: places.len(), workers, ring }))
    }

    /// The notice while it is being stopped.
    pub(super) fn begins(&self) -> String {
        self.sentence("tearing the ring ping down", "stopping ", "")
    }

    fn sentence(&self, ring: &str, before: &str, after: &str) -> String {
        let workers = counted(self.count as u64, "worker", "workers");
        let workers = format!("{before}{workers}{after}");
        match (&self.ring, self.count) {
            (Some(_), 0) => ring.to_owned(),
            (Some(_), _) => format!("{ring}, {workers}"),
            (None, _) => workers,
        }
    }

    /// Continues; returns a notice once all is stopped.
    pub(super) fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Option<String>, ControlError> {
        if !self.workers.poll(target)? {
            return Ok(None);
        }
        if let Some(ring) = &mut self.ring {
            match ring.operation.poll(target) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(ControlError::TookTooLong { .. }) if ring.waits > 0 => {
                    ring.waits -= 1;
                    ring.operation = ring.ping.await_finish(images)?;
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        match self.workers.failed() {
            [] => Ok(Some(self.sentence("the ring ping is torn down", "", " stopped"))),
            [first, ..] => Err(first.clone()),
        }
    }
}
