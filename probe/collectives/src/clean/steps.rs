//! The operations of each stage.

use super::find::{Standing, unrest};
use super::report::{Done, Found, Remains};
use super::{Clean, CleanStage};
use crate::edm_builder::EDM;
use crate::teardown;
use crate::worker::WORKER;
use images::ImageMap;
use launch::elf_kernel::{KernelSite, Left, exit_flag, hold_operation, reset_operation};
use launch::occupancy::check_permissions;
use launch::outcome::RunError;
use launch::{
    ControlError, Firmware, Operation, done_condition, image, mailbox, return_application,
};
use layouts::{TileKind, WritePermission};
use machine::place::Place;
use machine::target::Target;
use std::collections::BTreeSet;

/// How long kernels may take to end gracefully, in cycles: 10 ms. They drain their links.
const GRACEFUL_CYCLES: u64 = 10_000_000;
/// How long a ring ping may take, in cycles: 200 ms. It ends with its lap, which can have a delay at
/// each hop.
const LAP_CYCLES: u64 = 200_000_000;
const RING_PING: &str = "ring_ping";
/// How long kernels may take to end at once, in cycles: 2 ms.
const AT_ONCE_CYCLES: u64 = 2_000_000;
/// `PAUSE_NEVER`: a parked kernel is let go on, since it drains nothing.
const PAUSE_NEVER: u32 = u32::MAX;

/// An operation, its tile, and what is done there when it has ended.
type Steps = Vec<(Operation, Place, Done)>;

impl Clean {
    /// Returns the operations of a stage.
    pub(super) fn steps(
        &mut self,
        stage: CleanStage,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<Steps, RunError> {
        match stage {
            CleanStage::Gracefully(rank) => {
                let escalate = self.settings.escalate;
                // Kernels of other tools are left to these tools, unless it is asked for.
                let may = |tile: &&Standing| tile.rank == rank && (escalate || tile.is_built_in());
                Ok(self.signals(images, may, (0, GRACEFUL_CYCLES), Done::Ended)?)
            }
            CleanStage::AtOnce => {
                Ok(self.signals(images, |_| true, (1, AT_ONCE_CYCLES), Done::EndedAtOnce)?)
            }
            CleanStage::Exit => self.exits(target, images),
            CleanStage::Reset => self.resets(target, images),
            CleanStage::Hold => Ok(self.holds(images)),
            CleanStage::Clear => self.clears(target, images),
            CleanStage::GiveBack => Ok(self.returns(target, images)),
            CleanStage::Find | CleanStage::Check => Ok(Steps::new()),
        }
    }

    /// Tells kernels to end, and waits until they have returned.
    fn signals(
        &self,
        images: &ImageMap,
        may: impl FnMut(&&Standing) -> bool,
        (value, patience_cycles): (usize, u64),
        done: Done,
    ) -> Result<Steps, ControlError> {
        let mut steps = Steps::new();
        let running = self.tiles.iter().filter(|tile| tile.runs && !tile.signals.is_empty());
        for tile in running.filter(may) {
            let mut operation = Operation::new(format!("end what runs on {}", tile.place));
            for signal in &tile.signals {
                let value = signal.values.get(value).copied().unwrap_or(0);
                operation.write_word(signal.word, value);
            }
            for pause in &tile.pauses {
                operation.write_word(*pause, PAUSE_NEVER);
            }
            let laps = matches!(&tile.found, Found::Kernels(names) if names == &[RING_PING]);
            let graceful = done == Done::Ended;
            let patience_cycles = if laps && graceful { LAP_CYCLES } else { patience_cycles };
            wait(&mut operation, images, tile, patience_cycles)?;
            steps.push((operation, tile.place, done));
        }
        Ok(steps)
    }

    /// Ends kernels of Ethernet cores together with their application.
    fn exits(&self, target: &mut dyn Target, images: &ImageMap) -> Result<Steps, RunError> {
        let mut steps = Steps::new();
        for tile in self.tiles.iter().filter(|tile| tile.runs && is_ethernet(images, tile.place)) {
            let Some(site) = &tile.site else { continue };
            let firmware = image(images, site.firmware_name()?)?;
            let Some((addr, bit)) = exit_flag(&firmware, tile.place) else { continue };
            let Ok(old) = target.read_word(addr) else { continue };
            let mut operation = Operation::new(format!("end the application on {}", tile.place));
            operation.write_word(addr, old | bit);
            wait(&mut operation, images, tile, AT_ONCE_CYCLES)?;
            steps.push((operation, tile.place, Done::EndedWithApplication));
        }
        Ok(steps)
    }

    /// Resets the compute tiles on which kernels stay, and boots their firmware again.
    fn resets(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<Steps, RunError> {
        let needs = [WritePermission::Reset];
        let refused = check_permissions(target, "resetting a compute tile", &needs).err();
        let mut steps = Steps::new();
        for tile in &mut self.tiles {
            let resets = tile.runs || tile.found == Found::UnknownFirmware;
            let Some(site) = tile.site.as_ref().filter(|_| resets) else { continue };
            if is_ethernet(images, tile.place) {
                continue;
            }
            if let Some(refused) = &refused {
                tile.left = Some(Remains::not_allowed(refused.headline(images.layout())));
                continue;
            }
            let known = tile.found != Found::UnknownFirmware;
            let reset = if known { reset_operation(images, site)? } else { None };
            let hold = || hold_operation(images.layout(), tile.place);
            let reset = reset.or_else(|| Some((hold()?, Left::InReset)));
            let done = |left: &Left| match left {
                Left::Rebooted => Done::Rebooted,
                _ => Done::HeldInReset,
            };
            steps.extend(reset.map(|(operation, left)| (operation, tile.place, done(&left))));
        }
        Ok(steps)
    }

    /// Holds compute tiles in reset whose firmware did not boot again.
    fn holds(&self, images: &ImageMap) -> Steps {
        let layout = images.layout();
        let failed = |tile: &&Standing| {
            tile.runs
                && tile.left.as_ref().is_some_and(|left| left.stage == Some(CleanStage::Reset))
        };
        let hold = |tile: &Standing| {
            Some((hold_operation(layout, tile.place)?, tile.place, Done::HeldInReset))
        };
        self.tiles.iter().filter(failed).filter_map(hold).collect()
    }

    /// Clears what is not at rest on tiles whose kernels have ended.
    fn clears(&mut self, target: &mut dyn Target, images: &ImageMap) -> Result<Steps, RunError> {
        let ended = self.tiles.iter().filter(|tile| !tile.runs);
        let sites: Vec<KernelSite> = ended.filter_map(|tile| tile.site.clone()).collect();
        match unrest(target, images, &sites) {
            Ok(unrest) => self.unrest = unrest,
            Err(why) => self.problems.push(format!("not all credits could be read: {why}")),
        }
        let places: BTreeSet<Place> =
            self.unrest.iter().map(|word| Place::from(word.addr)).collect();
        let mut steps = Steps::new();
        for place in places {
            let kernel = if is_ethernet(images, place) { EDM } else { WORKER };
            let mut operation = teardown::clear(images, place, kernel)?;
            for word in self.unrest.iter().filter(|word| Place::from(word.addr) == place) {
                operation.write_word(word.addr, 0);
            }
            steps.push((operation, place, Done::Cleared));
        }
        Ok(steps)
    }

    /// Returns Ethernet cores to base firmware.
    fn returns(&mut self, target: &mut dyn Target, images: &ImageMap) -> Steps {
        let mut steps = Steps::new();
        for tile in self.tiles.iter_mut().filter(|tile| tile.taken && !tile.runs) {
            match return_application(target, images, Firmware::BUILT_IN, tile.place) {
                Ok(operation) => steps.push((operation, tile.place, Done::Returned)),
                Err(error) => tile.note(CleanStage::GiveBack, Done::Returned, Some(&error)),
            }
        }
        steps
    }
}

/// Appends the wait until the kernels of a tile have returned.
fn wait(
    operation: &mut Operation,
    images: &ImageMap,
    tile: &Standing,
    patience_cycles: u64,
) -> Result<(), ControlError> {
    let Some(site) = &tile.site else { return Ok(()) };
    let firmware = image(images, site.firmware_name()?)?;
    let (word, done) = done_condition(mailbox(&firmware)?);
    operation.wait_for("what runs returns", tile.place.at(word), done, patience_cycles);
    Ok(())
}

pub(super) fn is_ethernet(images: &ImageMap, place: Place) -> bool {
    images.layout().kind_at(place.tile) == TileKind::Eth
}
