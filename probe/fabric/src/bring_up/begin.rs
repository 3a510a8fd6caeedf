//! The start of a bring-up: nothing is written before all tiles are surveyed.

use super::{BringUpTask, Fabric};
use crate::builder::{fits, fresh_words, router_launch};
use crate::progress::FabricStage;
use crate::status_queue::StatusQueue;
use crate::tables::pack_tables;
use crate::words::{RouterImage, RouterWords};
use images::ImageMap;
use launch::occupancy::{
    Loaded, TileUse, check_holders, check_permissions, check_tiles, reserve_audit, survey_tiles,
};
use launch::outcome::{Cause, Misfit, RunError};
use launch::{
    ControlError, Firmware, Operation, OperationGroup, go_kernel, place_kernel, start_application,
};
use layouts::{ChipId, WritePermission};
use machine::place::Place;
use machine::target::Target;
use std::collections::{BTreeMap, BTreeSet};

impl Fabric {
    /// Refuses a fabric that cannot be brought up, or whose tiles are in use; nothing is written.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn refuse(&self, target: &mut dyn Target, images: &ImageMap) -> Result<(), RunError> {
        self.survey(target, images).map(drop)
    }

    /// Returns the operations of a bring-up, assuming that base firmware has every tile; nothing is
    /// accessed.
    ///
    /// # Errors
    /// When an image is missing or lacks a member, or something does not fit.
    pub fn writes(&self, images: &mut ImageMap) -> Result<Vec<Operation>, ControlError> {
        let places: BTreeSet<_> = self.plan.routers.iter().map(|router| router.place).collect();
        let takes =
            places.into_iter().map(|place| start_application(images, Firmware::BUILT_IN, place));
        let mut all = takes.collect::<Result<Vec<_>, _>>()?;
        all.extend(self.placed(images)?);
        for router in &self.plan.routers {
            all.push(go_kernel(images, Firmware::BUILT_IN.application, router.place)?);
        }
        Ok(all)
    }

    fn survey(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<BTreeMap<Place, TileUse>, RunError> {
        self.check_links(target)?;
        fits(images, &self.plan)?;
        for tables in &self.tables {
            pack_tables(tables, images, &self.plan)?;
        }
        for router in &self.plan.routers {
            router_launch(images, &self.plan, router, &self.settings, 1)?;
        }
        check_permissions(target, "a fabric", &[WritePermission::Write, WritePermission::Launch])?;
        check_holders(target)?;
        let places = self.plan.routers.iter().map(|router| router.place).collect();
        let found = survey_tiles(target, images, Vec::new(), places, &Loaded::default())?;
        check_tiles(&found)?;
        reserve_audit(target, "bring up a fabric")?;
        Ok(found)
    }

    pub(super) fn begin(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), RunError> {
        let found = self.survey(target, images)?;
        // The run id is the time, so that it differs from earlier ones.
        let now = target.now()? as u32;
        self.run_id = self.settings.run_id.unwrap_or(now).max(1);
        let mut takes = Vec::new();
        for (place, _) in found.into_iter().filter(|(_, finding)| *finding == TileUse::Cold) {
            takes.push(start_application(images, Firmware::BUILT_IN, place)?);
            self.taken.insert(place);
        }
        self.tasks
            .push_front(BringUpTask::Steps(FabricStage::TakeOver, OperationGroup::new(takes)));
        Ok(())
    }

    /// Checks that the mesh has the links of the plan.
    fn check_links(&self, target: &dyn Target) -> Result<(), RunError> {
        let mesh = target.mesh();
        for router in &self.plan.routers {
            let ends = (router.eth.min(router.peer), router.eth.max(router.peer));
            if !mesh.links.iter().any(|link| (link.a, link.b) == ends) {
                return Err(RunError::new(Cause::Program(Misfit::NoLink(ends.0, ends.1))));
            }
        }
        Ok(())
    }

    pub(super) fn launch(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(), RunError> {
        let words = RouterWords::of(images, self.plan.router_image())?;
        let follow = self.follow(words, FabricStage::Handshake)?;
        let mut tasks = vec![BringUpTask::Steps(
            FabricStage::Launch,
            OperationGroup::new(self.placed(images)?),
        )];
        // Messages to far chips take longer, so near chips come last.
        let mut gos: BTreeMap<(bool, ChipId), Vec<Operation>> = BTreeMap::new();
        for router in &self.plan.routers {
            let chip = router.eth.chip;
            let near = target.mesh().chip(chip).is_some_and(|chip| chip.pcie);
            let go = go_kernel(images, Firmware::BUILT_IN.application, router.place)?;
            gos.entry((near, chip)).or_default().push(go);
            self.running.insert(router.place);
        }
        for (_, go) in gos {
            tasks.push(BringUpTask::Steps(FabricStage::Launch, OperationGroup::new(go)));
        }
        tasks.push(BringUpTask::Follow(Box::new(follow)));
        tasks.into_iter().rev().for_each(|task| self.tasks.push_front(task));
        Ok(())
    }

    /// Returns the operations that write tables, queues and kernels of all routers.
    fn placed(&self, images: &mut ImageMap) -> Result<Vec<Operation>, ControlError> {
        let tables =
            RouterImage::of(images, self.plan.router_image())?.constant("routing_info_addr")?;
        let mut packed = BTreeMap::new();
        for table in &self.tables {
            packed.insert(table.node, pack_tables(table, images, &self.plan)?);
        }
        let mut operations = Vec::new();
        for router in &self.plan.routers {
            let launch = router_launch(images, &self.plan, router, &self.settings, self.run_id)?;
            let mut operation = Operation::new(format!("launch router {}", router.eth));
            operation.then(fresh_words(images, &self.plan, router)?);
            if let Some(bytes) = packed.get(&router.node) {
                operation.write(router.place.at(tables.into()), bytes.clone());
            }
            let queue =
                StatusQueue::placed(images, &self.plan, router, &self.settings, self.run_id)?;
            if let Some(queue) = queue {
                operation.then(queue.fresh(images, self.settings.status_entries)?);
            }
            operation.then(place_kernel(images, &launch)?);
            operations.push(operation);
        }
        Ok(operations)
    }
}
