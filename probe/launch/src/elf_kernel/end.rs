//! Taking a kernel away: by its termination word, else by what its tile offers.

use super::site::KernelSite;
use crate::l1_range::constant_in;
use crate::occupancy::check_permissions;
use crate::outcome::RunError;
use crate::tensix::boot_images;
use crate::{ControlError, Operation, done_condition, image, mailbox};
use images::{Image, ImageMap, TerminationWord};
use layouts::{ChipLayout, CoreKind, NocAddr, TileKind, WritePermission};
use machine::place::Place;
use machine::target::Target;
use std::collections::VecDeque;
use std::sync::Arc;

/// The values of the word, with those of firmware/device/LAUNCH.txt 4.
const SIGNALS: [(&str, u64); 2] = [("GRACEFULLY_TERMINATE", 1), ("IMMEDIATELY_TERMINATE", 2)];
/// How long a kernel may take to end after a signal, in cycles: 5 ms.
const PATIENCE_CYCLES: u64 = 5_000_000;

/// What is left of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// It ended when it was told to.
    Ended,
    /// It ended when it was told to, and with it the application of its Ethernet core.
    EndedWithApplication,
    /// Its tile was reset, and its firmware booted again.
    Rebooted,
    /// Its tile was reset, and stays in reset: its firmware is not one that can be booted.
    InReset,
    /// It still runs; why.
    Stays(String),
}

/// A kernel that is being taken away, polled between snapshots.
#[derive(Debug)]
pub struct Ending {
    site: KernelSite,
    firmware: Arc<Image>,
    /// Its termination word.
    word: Option<NocAddr>,
    attempts: VecDeque<Attempt>,
    current: Option<(Operation, Left)>,
}

/// What is tried, the gentlest first.
#[derive(Clone, Copy, Debug)]
enum Attempt {
    /// This value in its termination word.
    Signal(u32),
    /// The word that ends the application of an Ethernet core.
    Exit,
    /// A reset of its tile.
    Reset,
}

impl Ending {
    /// Begins to end the kernel of a tile; writes nothing yet. `kernel` is its image, if known.
    ///
    /// # Errors
    /// When the tile cannot be read, or an image is missing.
    pub fn begin(
        target: &mut dyn Target,
        images: &ImageMap,
        site: &KernelSite,
        kernel: Option<&str>,
    ) -> Result<Self, RunError> {
        target.never_stop_for_audit();
        let (place, firmware) = (site.place, image(images, site.firmware_name()?)?);
        let own = kernel.and_then(|name| images.named(name)).cloned();
        let word = own.as_deref().and_then(Image::termination_word);
        let word = word.map(|word| termination_address(target, place, word)).transpose()?.flatten();
        let signals = termination_values(own.as_ref()).map(Attempt::Signal);
        let signals = signals.into_iter().filter(|_| word.is_some());
        let is_ethernet = firmware.core == CoreKind::Erisc;
        let last = if is_ethernet { Attempt::Exit } else { Attempt::Reset };
        let attempts = signals.chain([last]).collect();
        Ok(Self { site: site.clone(), firmware, word, attempts, current: None })
    }

    /// Continues; returns what is left of the kernel once that is known.
    ///
    /// # Errors
    /// When the tile cannot be written, or firmware does not boot.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<Option<Left>, RunError> {
        loop {
            if let Some((operation, left)) = &mut self.current {
                match operation.poll(target) {
                    Ok(false) => return Ok(None),
                    Ok(true) => return Ok(Some(left.clone())),
                    Err(ControlError::TookTooLong { .. }) if left.is_by_request() => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let Some(attempt) = self.attempts.pop_front() else {
                return Ok(Some(Left::serves_its_link()));
            };
            self.current = Some(self.attempt(attempt, target, images)?);
        }
    }

    /// Returns the operation of an attempt, and what it leaves: nothing to do leaves the kernel.
    fn attempt(
        &self,
        attempt: Attempt,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(Operation, Left), RunError> {
        let stays = |left| Ok((Operation::default(), left));
        match (attempt, self.word) {
            (Attempt::Signal(value), Some(word)) => Ok((self.signal(word, value)?, Left::Ended)),
            (Attempt::Signal(_), None) => stays(Left::Stays("it has no termination word".into())),
            // An Ethernet core is never reset: it serves its link, and the chips behind it.
            (Attempt::Exit, _) => {
                let Some((addr, bit)) = exit_flag(&self.firmware, self.site.place) else {
                    return stays(Left::serves_its_link());
                };
                let old = target.read_word(addr)?;
                Ok((self.signal(addr, old | bit)?, Left::EndedWithApplication))
            }
            (Attempt::Reset, _) => {
                let needs = [WritePermission::Reset];
                if let Err(error) = check_permissions(target, "resetting its tile", &needs) {
                    return stays(Left::Stays(error.headline(self.site.layout())));
                }
                match reset_operation(images, &self.site)? {
                    Some(reset) => Ok(reset),
                    None => stays(Left::Stays("its tile has no reset".to_owned())),
                }
            }
        }
    }

    /// Returns the write of a word that ends the kernel, and the wait for its return.
    fn signal(&self, word: NocAddr, value: u32) -> Result<Operation, ControlError> {
        let place = self.site.place;
        let (go, done) = done_condition(mailbox(&self.firmware)?);
        let mut operation = Operation::new(format!("end the kernel on {place}"));
        operation.write_word(word, value);
        operation.wait_for("the kernel has returned", place.at(go), done, PATIENCE_CYCLES);
        Ok(operation)
    }
}

impl Left {
    /// Whether the kernel ended because it was told to.
    fn is_by_request(&self) -> bool {
        matches!(self, Self::Ended | Self::EndedWithApplication)
    }

    fn serves_its_link() -> Self {
        Self::Stays("an Ethernet core is not reset, because it serves its link".to_owned())
    }
}

/// Returns the address of the word that ends a kernel; none if the word that leads to it is 0.
///
/// # Errors
/// When the tile cannot be read.
pub fn termination_address(
    target: &mut dyn Target,
    place: Place,
    word: TerminationWord,
) -> Result<Option<NocAddr>, ControlError> {
    let (pointer, offset) = match word {
        TerminationWord::At(at) => return Ok(Some(place.at(at))),
        TerminationWord::Behind { pointer, offset } => (place.at(pointer), offset),
    };
    let start = target.read_word(pointer);
    let start = start.map_err(|reason| ControlError::Access { addr: pointer, reason })?;
    Ok((start != 0).then(|| place.at(u64::from(start) + offset)))
}

/// Returns the values of a kernel's termination word: gracefully, at once.
pub fn termination_values(kernel: Option<&Arc<Image>>) -> [u32; 2] {
    SIGNALS.map(|(name, usual)| constant_in(kernel.into_iter(), name).unwrap_or(usual) as u32)
}

/// Returns word and bit of `exit_erisc_kernel` of the launch message, by which an application and
/// those kernels that check it end.
pub fn exit_flag(application: &Image, place: Place) -> Option<(NocAddr, u32)> {
    let path = "mailboxes->launch[0].kernel_config.exit_erisc_kernel";
    let at = application.symbols.locate(path).ok()?.address();
    Some((place.at(at & !3), 1 << (8 * (at & 3))))
}

/// Returns the operation that resets a compute tile, and what it leaves: its firmware, booted again
/// where the images of all cores are known, or else a tile in reset. None if the tile has no reset.
///
/// # Errors
/// When an image is missing or does not describe its mailbox.
pub fn reset_operation(
    images: &mut ImageMap,
    site: &KernelSite,
) -> Result<Option<(Operation, Left)>, ControlError> {
    let known = |core: &CoreKind| site.firmware.iter().any(|image| image.core == *core);
    let is_compute = site.layout().kind_at(site.place.tile) == TileKind::Tensix;
    if is_compute && site.cores().iter().all(known) {
        return Ok(Some((boot_images(images, &site.firmware, site.place)?, Left::Rebooted)));
    }
    Ok(hold_operation(site.layout(), site.place).map(|operation| (operation, Left::InReset)))
}

/// Returns the operation that holds all cores of a compute tile in reset; none for another tile.
pub fn hold_operation(layout: &ChipLayout, place: Place) -> Option<Operation> {
    let at = layout.soft_reset(TileKind::Tensix)?;
    let mut operation = Operation::new(format!("hold {place} in reset"));
    operation.write_word(place.at(at), layout.tensix.reset_all);
    (layout.kind_at(place.tile) == TileKind::Tensix).then_some(operation)
}
