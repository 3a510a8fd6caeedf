//! A launch: checks that write nothing, then boot, placement, go message, and the end.

use super::order::{Elf, Order};
use crate::machine::Machine;
use decode::images::{Image, ImageMap};
use decode::inspect::ReadSet;
use decode::state::{CoreState, ImageRole};
use launch::elf_kernel::{self, ElfKernel, KernelSite, Left, core_for, kernel_id, take_away};
use launch::occupancy::{TileUse, check_holders, check_permissions, reserve_audit};
use launch::outcome::RunError;
use launch::{
    ControlError, Operation, boot_tensix, done_condition, go_kernel, mailbox, start_application,
    stop_application,
};
use layouts::{CoreId, CoreKind, TileKind, WritePermission};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// What the permissions are for.
const WHAT: &str = "a launch";

/// A kernel on its tiles.
pub(super) struct Launch {
    pub(super) kernel: ElfKernel,
    pub(super) tiles: Vec<LaunchedTile>,
}

/// A tile of a launch.
pub(super) struct LaunchedTile {
    pub(super) site: KernelSite,
    pub(super) core: CoreId,
    /// Address of the runtime arguments; none of a kernel that ran already.
    pub(super) config_base: Option<u64>,
    pub(super) returned: bool,
    /// What is left of it, once it was taken away.
    pub(super) left: Option<Left>,
    /// The core, as it was last seen.
    pub(super) seen: Option<CoreState>,
}

impl Launch {
    /// Checks everything that can be checked before something is written.
    pub(super) fn prepare(machine: &mut Machine, order: &Order) -> Result<Self, RunError> {
        let sites = survey(machine, order)?;
        let (target, images) = machine.session().parts();
        let Some(elf) = &order.elf else { return Self::running(sites, images, order.core) };
        elf_kernel::check_free(&sites)?;
        if sites.iter().any(|site| site.boots.is_some() && !is_ethernet(images, site.place)) {
            let needs = [WritePermission::Write, WritePermission::Launch, WritePermission::Reset];
            check_permissions(target, WHAT, &needs)?;
        }
        let core = core_of(elf, &sites, order)?;
        let kernel = ElfKernel { image: add_image(images, elf, core), ..order.kernel.clone() };
        let mut tiles = Vec::new();
        for site in sites {
            let config_base = Some(kernel.fit(images, &site)?.config_base());
            tiles.push(LaunchedTile::new(site, core, config_base));
        }
        Ok(Self { kernel, tiles })
    }

    /// The kernel that runs on tiles.
    fn running(
        sites: Vec<KernelSite>,
        images: &ImageMap,
        core: Option<CoreKind>,
    ) -> Result<Self, RunError> {
        let mut kernel = ElfKernel::default();
        let mut tiles = Vec::new();
        for site in sites {
            match &site.usage {
                TileUse::Runs(name) => kernel.image = name.clone().unwrap_or_default(),
                TileUse::Routes(_) => elf_kernel::check_free(std::slice::from_ref(&site))?,
                _ => {
                    let text = format!("no kernel runs on {}", site.place.name(images.layout()));
                    return Err(ControlError::Settings(text).into());
                }
            }
            let first = images.layout().kind_at(site.place.tile).cores().first().copied();
            let core = core.or_else(|| kernel_core(images, site.place)).or(first);
            tiles.push(LaunchedTile::new(site, core.unwrap_or(CoreKind::Brisc), None));
        }
        Ok(Self { kernel, tiles })
    }

    /// Returns everything that a launch writes.
    pub(super) fn operations(&self, images: &mut ImageMap) -> Result<Vec<Operation>, ControlError> {
        let mut all = self.boots(images)?;
        all.extend(self.placements(images)?);
        for tile in &self.tiles {
            all.push(go_kernel(images, tile.site.firmware_name()?, tile.site.place)?);
        }
        Ok(all)
    }

    fn boots(&self, images: &mut ImageMap) -> Result<Vec<Operation>, ControlError> {
        let mut boots = Vec::new();
        for LaunchedTile { site, .. } in &self.tiles {
            let Some(firmware) = site.boots else { continue };
            boots.push(if is_ethernet(images, site.place) {
                start_application(images, firmware, site.place)?
            } else {
                boot_tensix(images, firmware, site.place)?
            });
        }
        Ok(boots)
    }

    fn placements(&self, images: &mut ImageMap) -> Result<Vec<Operation>, ControlError> {
        let place = |tile: &LaunchedTile| self.kernel.fit(images, &tile.site)?.place(images);
        self.tiles.iter().map(place).collect()
    }

    /// Boots, places and starts the kernel on every tile. If that fails, Ethernet cores get their
    /// base firmware back.
    pub(super) fn start(&mut self, machine: &mut Machine) -> Result<(), RunError> {
        let (target, images) = machine.session().parts();
        self.start_all(target, images).inspect_err(|_| {
            for LaunchedTile { site, .. } in &self.tiles {
                // The first error is the one that is reported.
                let _ = stop_own_application(target, images, site);
            }
        })
    }

    fn start_all(&self, target: &mut dyn Target, images: &mut ImageMap) -> Result<(), RunError> {
        reserve_audit(target, &format!("launch {}", self.kernel.image))?;
        // One after the other: while an Ethernet tile restarts, far chips are reached through
        // another one.
        for boot in self.boots(images)? {
            boot.finish(target)?;
        }
        Operation::finish_all(self.placements(images)?, target)?;
        for (index, tile) in self.tiles.iter().enumerate() {
            let go = go_kernel(images, tile.site.firmware_name()?, tile.site.place)?;
            if let Err(error) = go.finish(target) {
                // What runs already is taken away; the first error is the one reported.
                for tile in self.tiles.iter().take(index) {
                    let _ = take_away(target, images, &tile.site, Some(&self.kernel.image));
                }
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Notes which kernels have returned; returns whether all have.
    pub(super) fn poll(&mut self, machine: &mut Machine) -> Result<bool, RunError> {
        let (target, images) = machine.session().parts();
        for tile in self.tiles.iter_mut().filter(|tile| !tile.returned) {
            let firmware = launch::image(images, tile.site.firmware_name()?)?;
            let (word, done) = done_condition(mailbox(&firmware)?);
            let addr = tile.site.place.at(word);
            let snapshot = target.read(&Plan { spans: vec![Span { addr, len: 4 }] });
            let value = snapshot.word(addr);
            let value = value.map_err(|reason| ControlError::Access { addr, reason })?;
            tile.returned = done.holds(value);
        }
        Ok(self.tiles.iter().all(|tile| tile.returned))
    }

    /// Reads the cores.
    pub(super) fn look(&mut self, machine: &mut Machine) {
        for tile in &mut self.tiles {
            let read = Some((tile.core.chip, tile.core.tile));
            let snapshot = machine.take(&ReadSet { tile: read, ..ReadSet::default() });
            tile.seen = snapshot.state.core(tile.core).cloned();
        }
    }

    /// Takes away what has not returned.
    pub(super) fn end(&mut self, machine: &mut Machine) -> Result<(), RunError> {
        let (target, images) = machine.session().parts();
        target.commanded_by(&format!("take {} away", self.kernel.image));
        let known = Some(self.kernel.image.as_str()).filter(|name| !name.is_empty());
        let mut failed = None;
        for tile in self.tiles.iter_mut().filter(|tile| !tile.returned) {
            match take_away(target, images, &tile.site, known) {
                Ok(left) => tile.left = Some(left),
                // The others are taken away all the same.
                Err(error) => {
                    tile.left = Some(Left::Stays(error.sentence(images.layout())));
                    failed = failed.or(Some(error));
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Gives the Ethernet cores whose application this launch has started back to base firmware.
    pub(super) fn give_back(&self, machine: &mut Machine) -> Result<(), RunError> {
        let (target, images) = machine.session().parts();
        for tile in self.tiles.iter().filter(|tile| tile.is_over()) {
            stop_own_application(target, images, &tile.site)?;
        }
        Ok(())
    }
}

/// Ends the application that a launch has started on an Ethernet core.
fn stop_own_application(
    target: &mut dyn Target,
    images: &ImageMap,
    site: &KernelSite,
) -> Result<(), ControlError> {
    match site.boots.filter(|_| is_ethernet(images, site.place)) {
        Some(firmware) => stop_application(images, firmware, site.place)?.finish(target),
        None => Ok(()),
    }
}

impl LaunchedTile {
    fn new(site: KernelSite, core: CoreKind, config_base: Option<u64>) -> Self {
        let Place { chip, tile } = site.place;
        let core = CoreId { chip, tile, core };
        Self { site, core, config_base, returned: false, left: None, seen: None }
    }

    /// Whether the kernel does not run any more.
    pub(super) fn is_over(&self) -> bool {
        self.returned || !matches!(self.left, None | Some(Left::Stays(_)))
    }
}

fn is_ethernet(images: &ImageMap, place: Place) -> bool {
    images.layout().kind_at(place.tile) == TileKind::Eth
}

/// Verifies what runs on the tiles, and returns their use and firmware.
fn survey(machine: &mut Machine, order: &Order) -> Result<Vec<KernelSite>, RunError> {
    let session = machine.session();
    let target = session.target();
    check_permissions(target, WHAT, &[WritePermission::Write, WritePermission::Launch])?;
    check_holders(target)?;
    let layout = target.mesh().layout();
    for &Place { chip, tile } in &order.places {
        if session.target().mesh().chip(chip).is_some() {
            for &core in layout.kind_at(tile).cores() {
                session.verify_on(CoreId { chip, tile, core });
            }
        }
    }
    let (target, images) = session.parts();
    elf_kernel::survey(target, images, &order.places)
}

/// Returns the core for which the ELF was linked, on every tile.
fn core_of(elf: &Elf, sites: &[KernelSite], order: &Order) -> Result<CoreKind, ControlError> {
    let mut found = None;
    for site in sites {
        let core = core_for(&elf.symbols, &elf.name, site, order.core)?;
        if *found.get_or_insert(core) != core {
            let text = format!("{}: the tiles have different cores for it: name one", elf.path);
            return Err(ControlError::Settings(text));
        }
    }
    found.ok_or_else(|| ControlError::Settings("--on names no tile".to_owned()))
}

/// Returns the core of a tile on which a kernel is known.
fn kernel_core(images: &ImageMap, Place { chip, tile }: Place) -> Option<CoreKind> {
    let runs = |core: &&CoreKind| {
        let on = images.resolved(CoreId { chip, tile, core: **core });
        on.iter().any(|load| load.image.role == ImageRole::Kernel)
    };
    images.layout().kind_at(tile).cores().iter().find(runs).copied()
}

/// Adds the ELF to the images that may run, and returns its name there.
fn add_image(images: &mut ImageMap, elf: &Elf, core: CoreKind) -> String {
    let Elf { path, name, symbols } = elf;
    let known = images.named(name);
    if known.is_some_and(|known| known.elf() == symbols.elf() && known.core == core) {
        return name.clone();
    }
    let name = if known.is_some() { path } else { name };
    let mut image = Image::new(images.chip(), name, ImageRole::Kernel, core, symbols.clone());
    image.kernel_id = kernel_id(symbols.elf());
    images.add(image);
    name.clone()
}
