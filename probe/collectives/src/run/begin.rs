//! The start of a run, and the launch of a layer of its program.

use super::Run;
use crate::edm_builder::EDM;
use crate::in_use::judge;
use crate::launcher::{Layer, muxes};
use crate::report::Stage;
use crate::task::RunTask;
use crate::worker::WORKER;
use images::ImageMap;
use launch::occupancy::TileUse;
use launch::outcome::RunError;
use launch::{Firmware, OperationGroup, boot_tensix, start_application};
use layouts::TileKind;
use machine::target::Target;

impl Run {
    /// Checks that the mesh is free, and schedules the boots and take-overs. Nothing is written
    /// before it has finished.
    pub(super) fn judge(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), RunError> {
        let found = judge(target, images, &self.program, &self.launcher.loaded, &self.faults)?;
        self.launcher.begin(target.now()?);
        self.restore.are_free();
        let (mut boots, mut takes) = (Vec::new(), Vec::new());
        for (place, finding) in found {
            let ethernet = images.layout().kind_at(place.tile) == TileKind::Eth;
            if !ethernet {
                self.launcher.loaded.firmware.insert(place);
            }
            if finding != TileUse::Cold {
                continue;
            }
            if ethernet {
                takes.push(start_application(images, Firmware::BUILT_IN, place)?);
                self.taken.push(place);
            } else {
                boots.push(boot_tensix(images, Firmware::BUILT_IN, place)?);
            }
        }
        self.tasks.push_front(RunTask::Steps(Stage::TakeOver, OperationGroup::new(takes)));
        self.tasks.push_front(RunTask::Steps(Stage::Boot, OperationGroup::new(boots)));
        Ok(())
    }

    pub(super) fn launch(
        &mut self,
        layer: Layer,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), RunError> {
        let park = self.settings.park.take_if(|park| park.stage() == layer.stage());
        let mesh = target.mesh();
        let launch = self.launcher.launch(mesh, images, &self.program, (layer, park))?;
        let mut tasks = vec![RunTask::Steps(Stage::Launch, OperationGroup::new(launch.place))];
        if layer == Layer::Transfer {
            self.launched += 1;
            tasks.push(RunTask::Moves);
        }
        for (chip, go) in launch.go {
            tasks.push(RunTask::Goes(chip));
            tasks.push(RunTask::Steps(Stage::Launch, OperationGroup::new(go)));
        }
        tasks.push(RunTask::Gone(layer));
        tasks.into_iter().rev().for_each(|task| self.tasks.push_front(task));
        let workers = layer.workers(&self.program).iter().map(|plan| (plan.place, WORKER));
        self.running.extend(workers);
        if layer == Layer::Transfer {
            self.running.extend(self.program.edms.iter().map(|plan| (plan.place, EDM)));
            let muxes = muxes(images, &self.program)?;
            self.running.extend(muxes.iter().map(|mux| (mux.place, mux.kernel())));
        }
        Ok(())
    }
}
