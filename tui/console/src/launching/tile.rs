//! A tile of a launch: the boot of its firmware, and what becomes of its kernel.

use decode::state::CoreState;
use images::ImageMap;
use launch::elf_kernel::{KernelSite, Left};
use launch::{ControlError, Operation, boot_tensix, start_application, stop_application};
use layouts::{CoreId, CoreKind, TileKind};
use machine::place::Place;

/// A tile of a launch.
pub struct LaunchedTile {
    /// The tile, its use and firmware.
    pub site: KernelSite,
    /// The core of the kernel.
    pub core: CoreId,
    /// Address of the runtime arguments; none of a kernel that ran already.
    pub config_base: Option<u64>,
    /// Whether this launch has booted its firmware.
    pub(super) booted: bool,
    /// Whether the kernel runs or has run.
    pub(super) started: bool,
    /// Whether the kernel has returned.
    pub returned: bool,
    /// What is left of it, once it was taken away.
    pub left: Option<Left>,
    /// The core, as it was last seen.
    pub seen: Option<CoreState>,
}

impl LaunchedTile {
    pub(super) fn new(site: KernelSite, core: CoreKind, config_base: Option<u64>) -> Self {
        let Place { chip, tile } = site.place;
        let core = CoreId { chip, tile, core };
        Self {
            site,
            core,
            config_base,
            booted: false,
            started: false,
            returned: false,
            left: None,
            seen: None,
        }
    }

    /// Returns the boot of its firmware, if it must be booted.
    pub(super) fn boot(&self, images: &mut ImageMap) -> Result<Option<Operation>, ControlError> {
        let Some(firmware) = self.site.boots else { return Ok(None) };
        let place = self.site.place;
        let is_ethernet = is_ethernet(images, place);
        let boot = if is_ethernet { start_application } else { boot_tensix };
        boot(images, firmware, place).map(Some)
    }

    /// Returns the end of the application that the launch has started on an Ethernet core; none if
    /// there is none, or if the kernel still runs there.
    pub(super) fn stop(&self, images: &ImageMap) -> Result<Option<Operation>, ControlError> {
        let over = self.returned || !matches!(self.left, None | Some(Left::Stays(_)));
        let place = self.site.place;
        let stops = is_ethernet(images, place) && (over || !self.started);
        let firmware = self.site.boots.filter(|_| stops);
        firmware.map(|firmware| stop_application(images, firmware, place)).transpose()
    }

    /// What became of the kernel, in a word.
    pub fn outcome(&self) -> &'static str {
        match &self.left {
            _ if self.returned => "returned",
            None => "running",
            Some(Left::Ended | Left::EndedWithApplication) => "ended",
            Some(Left::Rebooted) => "rebooted",
            Some(Left::InReset) => "in-reset",
            Some(Left::Stays(_)) => "stays",
        }
    }

    /// What is left of a kernel that was to be taken away, in a sentence.
    pub fn remark(&self) -> Option<String> {
        let said = match self.left.as_ref()? {
            Left::Ended => "has ended when it was told to",
            Left::EndedWithApplication => {
                "has ended when it was told to, and the application of its core too"
            }
            Left::Rebooted => "was taken away: its tile was reset, and its firmware booted again",
            Left::InReset => "was taken away: its tile was reset, and stays in reset",
            Left::Stays(why) => return Some(format!("{} still runs: {why}", self.core)),
        };
        Some(format!("{} {said}", self.core))
    }
}

pub(super) fn is_ethernet(images: &ImageMap, place: Place) -> bool {
    images.layout().kind_at(place.tile) == TileKind::Eth
}
