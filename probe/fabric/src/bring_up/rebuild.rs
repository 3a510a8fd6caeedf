//! A running fabric is ended, and another one takes its place.

use super::Fabric;
use crate::progress::{FabricOutcome, FabricProgress, Termination};
use crate::{FabricPlan, FabricSettings};
use images::ImageMap;
use launch::Operation;
use launch::outcome::RunError;
use machine::target::Target;

/// A fabric that takes the place of one that runs, such as that of the chips that are left when one is
/// dead.
#[derive(Debug)]
pub struct Rebuild {
    /// The one that runs, until it is down.
    old: Option<Fabric>,
    new: Fabric,
}

impl Rebuild {
    /// Makes one that has not begun. The routers of the old fabric are told to return at once: packets
    /// in them are lost. Those of chips that the new one does not have may stand still.
    pub fn new(old: FabricPlan, new: FabricPlan) -> Self {
        let mut old = Fabric::found(old, FabricSettings::default());
        let chips = old.plan.meshes.iter().flat_map(|mesh| mesh.chips.iter().copied());
        old.given_up = chips.filter(|chip| new.node(*chip).is_none()).collect();
        old.terminate(Termination::Immediately);
        Self { old: Some(old), new: Fabric::new(new, FabricSettings::default()) }
    }

    /// Returns the operations by which the new fabric comes up; nothing is accessed.
    ///
    /// # Errors
    /// As [`Fabric::writes`].
    pub fn writes(&self, images: &mut ImageMap) -> Result<Vec<Operation>, launch::ControlError> {
        self.new.writes(images)
    }

    /// Takes down what is up, in the next polls.
    pub fn cancel(&mut self) {
        self.new.terminate(Termination::Immediately);
    }

    /// Runs until time has to pass. It is finished when the new fabric is up.
    ///
    /// # Errors
    /// Why the old one did not go down, or the new one did not come up.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<FabricProgress, RunError> {
        if let Some(old) = &mut self.old {
            match old.poll(target, images)? {
                FabricProgress::Finished(FabricOutcome::Down) => self.old = None,
                going => return Ok(going),
            }
        }
        self.new.poll(target, images)
    }
}
