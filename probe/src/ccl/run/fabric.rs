//! The fabric of a run: brought up before the first kernel and taken down after the last one, unless somebody else's runs already.

use super::Run;
use crate::ccl::report::{RunError, Stage};
use crate::ccl::transport::Crossing;
use crate::fabric::{Fabric, FabricProgress, FabricSettings, Termination};
use crate::images::ImageMap;
use crate::target::Target;

/// The fabric of a program, as one that is to come up or as one that somebody else has.
pub(super) fn ownership(crossing: &Crossing) -> Fabric {
    let (plan, settings) = (crossing.plan.clone(), FabricSettings::default());
    if crossing.found { Fabric::found(plan, settings) } else { Fabric::new(plan, settings) }
}

/// Is it the kernel of a mux?
pub(super) fn is_mux(kernel: &str) -> bool {
    kernel.starts_with("fabric_mux_")
}

impl Run {
    /// Is the fabric somebody else's?
    fn is_found(&self) -> bool {
        self.program.crossing.as_ref().is_some_and(|crossing| crossing.found)
    }

    /// Polls the fabric; tells whether it is where it should be.
    pub(super) fn poll_fabric(
        &mut self,
        stage: Stage,
        done: &mut (u64, u64),
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        let found = self.is_found();
        let Some(fabric) = &mut self.fabric else { return Ok(true) };
        if stage == Stage::FabricDown {
            if found {
                return Ok(true);
            }
            fabric.terminate(Termination::Gracefully);
        }
        let progress = fabric.poll(target, images)?;
        target.commanded_by(self.program.op.name());
        match progress {
            FabricProgress::Going { done: now, of, .. } => {
                *done = (now, of);
                Ok(false)
            }
            FabricProgress::Up | FabricProgress::Down => Ok(true),
        }
    }

    /// The fabric is to go down, whatever it is at; not one that somebody else has, nor one that was never begun.
    pub(super) fn leave_fabric(&mut self, way: Termination) -> bool {
        let found = self.is_found();
        let Some(fabric) = &mut self.fabric else { return false };
        if found {
            return false;
        }
        fabric.terminate(way);
        true
    }
}
