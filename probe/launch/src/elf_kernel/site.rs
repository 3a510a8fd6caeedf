//! The tile on which a kernel is to run, and its firmware.

use crate::occupancy::{Loaded, TileUse, check_tiles, survey_tiles};
use crate::outcome::{Cause, Misfit, RunError};
use crate::{ControlError, Firmware, image};
use images::{Image, ImageMap, ImageRole};
use layouts::{ChipLayout, CoreId, CoreKind, TileKind};
use machine::place::Place;
use machine::target::{Mesh, Target};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A tile on which a kernel can be launched.
#[derive(Clone, Debug)]
pub struct KernelSite {
    /// The tile.
    pub place: Place,
    /// What uses it.
    pub usage: TileUse,
    /// The firmware that must be booted first; none if firmware waits for a kernel.
    pub boots: Option<Firmware>,
    /// The images of its firmware. The first one has the mailbox.
    pub(super) firmware: Vec<Arc<Image>>,
    layout: &'static ChipLayout,
}

impl KernelSite {
    pub(super) fn layout(&self) -> &'static ChipLayout {
        self.layout
    }

    /// Returns the name of the image that describes the mailbox.
    ///
    /// # Errors
    /// `NoImage` if the tile has no firmware.
    pub fn firmware_name(&self) -> Result<&str, ControlError> {
        let first = self.firmware.first().map(|image| image.name.as_str());
        first.ok_or_else(|| ControlError::NoImage(format!("of the firmware of {}", self.place)))
    }

    /// Whether its firmware is built in, which calls kernels in L1 and copies none.
    pub fn runs_in_place(&self) -> bool {
        self.firmware_name().is_ok_and(is_built_in)
    }

    pub(super) fn cores(&self) -> Vec<CoreKind> {
        self.layout.kind_at(self.place.tile).cores().to_vec()
    }
}

fn is_built_in(firmware: &str) -> bool {
    let Firmware { application, tensix } = Firmware::BUILT_IN;
    application == firmware || tensix.contains(&firmware)
}

/// Returns the tiles with their use and firmware. What runs there must have been verified, and
/// nothing is written.
///
/// # Errors
/// If a tile does not exist, runs no kernels, or cannot be read.
pub fn survey(
    target: &mut dyn Target,
    images: &ImageMap,
    places: &[Place],
) -> Result<Vec<KernelSite>, RunError> {
    let layout = target.mesh().layout();
    for place in places {
        check(target.mesh(), *place)?;
    }
    let of_kind = |kind| {
        let places = places.iter().copied();
        places.filter(move |place| layout.kind_at(place.tile) == kind).collect()
    };
    let (compute, ethernet) = (of_kind(TileKind::Tensix), of_kind(TileKind::Eth));
    let mut found = survey_tiles(target, images, compute, ethernet, &Loaded::default())?;
    let others = with_other_firmware(target, images, &mut found);
    let site = |place: &Place| {
        let usage = found.get(place).cloned().unwrap_or(TileUse::Cold);
        let boots = (usage == TileUse::Cold).then(|| usual(images));
        let firmware = match others.get(place) {
            Some(images) => images.clone(),
            None => named(images, boots.unwrap_or(Firmware::BUILT_IN), layout.kind_at(place.tile))?,
        };
        Ok(KernelSite { place: *place, usage, boots, firmware, layout })
    };
    places.iter().map(site).collect()
}

/// Returns an error if a kernel or an unknown application runs on one of the tiles.
///
/// # Errors
/// `InUse`, with what runs there.
pub fn check_free(sites: &[KernelSite]) -> Result<(), RunError> {
    check_tiles(&sites.iter().map(|site| (site.place, site.usage.clone())).collect())
}

/// Checks that a tile exists and runs kernels.
fn check(mesh: &Mesh, place: Place) -> Result<(), RunError> {
    let misfit = |misfit| RunError::new(Cause::Program(misfit)).at(place);
    let Some(chip) = mesh.chip(place.chip) else {
        return Err(misfit(Misfit::NoChip(place.chip)));
    };
    let runs = match mesh.layout().kind_at(place.tile) {
        TileKind::Tensix => chip.is_fused_off(place.tile.y) != Some(true),
        kind => kind == TileKind::Eth,
    };
    if runs { Ok(()) } else { Err(misfit(Misfit::NoKernels)) }
}

/// Returns the firmware to boot: that of the target's words, else the built-in one.
fn usual(images: &ImageMap) -> Firmware {
    let metal = Firmware::METAL;
    let has = |name| images.named(name).is_some();
    let all = has(metal.application) && metal.tensix.into_iter().all(has);
    if all { metal } else { Firmware::BUILT_IN }
}

fn named(
    images: &ImageMap,
    firmware: Firmware,
    kind: TileKind,
) -> Result<Vec<Arc<Image>>, ControlError> {
    match kind {
        TileKind::Eth => Ok(vec![image(images, firmware.application)?]),
        _ => firmware.tensix.into_iter().map(|name| image(images, name)).collect(),
    }
}

/// Returns the tiles whose firmware runs and is not built in, such as tt-metal's, with its images
/// as they were found there. Those that are not in use become ready.
fn with_other_firmware(
    target: &mut dyn Target,
    images: &ImageMap,
    found: &mut BTreeMap<Place, TileUse>,
) -> BTreeMap<Place, Vec<Arc<Image>>> {
    let mut others = BTreeMap::new();
    for (&place, usage) in found {
        let firmware = resolved(images, place);
        let has_mailbox = firmware.first().is_some_and(|image| image.mailbox.is_some());
        let built_in = firmware.first().is_some_and(|image| is_built_in(&image.name));
        if has_mailbox && !built_in && is_awake(target, place) {
            if matches!(usage, TileUse::Cold | TileUse::UnknownApplication) {
                *usage = TileUse::Ready;
            }
            others.insert(place, firmware);
        }
    }
    others
}

/// Returns the images of firmware on the cores of a tile.
fn resolved(images: &ImageMap, place: Place) -> Vec<Arc<Image>> {
    let kinds = images.layout().kind_at(place.tile).cores();
    let on = |core: &CoreKind| {
        let core = CoreId { chip: place.chip, tile: place.tile, core: *core };
        let (_, owner) = images.mailbox_of(core)?;
        let own = images.resolved(core).into_iter().map(|load| load.image);
        let own = own
            .filter(|image| image.core == core.core)
            .find(|image| image.role == owner.role && image.role != ImageRole::Kernel);
        images.named(&own?.name).cloned()
    };
    kinds.iter().filter_map(on).collect()
}

/// Whether the firmware of a tile runs: an application has the Ethernet core, or BRISC is not in
/// reset.
fn is_awake(target: &mut dyn Target, place: Place) -> bool {
    let layout = target.mesh().layout();
    let ethernet = layout.kind_at(place.tile) == TileKind::Eth;
    let at = if ethernet {
        Some(layout.eth.l1.launch_flag.at)
    } else {
        layout.soft_reset(TileKind::Tensix)
    };
    let Some(addr) = at.map(|at| place.at(at)) else { return false };
    let bit = layout.tensix.cores.brisc.reset_bit;
    let awake = |word: u32| if ethernet { word != 0 } else { word >> bit & 1 == 0 };
    target.read_word(addr).is_ok_and(awake)
}
