//! A launch: checks that write nothing, then boot, placement, go message, and the end.

use super::order::{Elf, Order};
use super::tile::{LaunchedTile, is_ethernet};
use decode::inspect::ReadSet;
use images::{Image, ImageMap, ImageRole};
use launch::elf_kernel::{self, ElfKernel, Ending, KernelSite, Left, core_for};
use launch::occupancy::{TileUse, check_holders, check_permissions, reserve_audit};
use launch::outcome::RunError;
use launch::task;
use launch::{ControlError, Operation, OperationGroup, done_condition, go_kernel, mailbox};
use layouts::{CoreId, CoreKind, WritePermission};
use machine::place::Place;
use machine::target::Target;
use probe::session::Session;
use std::collections::VecDeque;

/// What the permissions are for.
const WHAT: &str = "a launch";

/// A kernel on its tiles.
pub struct Launch {
    /// The kernel, with the name of its image.
    pub kernel: ElfKernel,
    /// Its tiles.
    pub tiles: Vec<LaunchedTile>,
    tasks: VecDeque<Task>,
    /// The first error of the end.
    failed: Option<RunError>,
}

/// What a launch does next.
enum Task {
    /// Reserve room in the audit log.
    Reserve,
    /// Boot the firmware of a tile.
    Boot(usize, Operation),
    /// Prepare the placement, which needs the firmware.
    Fit,
    /// Write the kernel and its launch message on every tile.
    Place(OperationGroup),
    /// Give the go message on a tile.
    Go(usize, Operation),
    /// Begin to take the kernel of a tile away.
    End(usize),
    /// Take it away.
    Ends(usize, Box<Ending>),
    /// Begin to return an Ethernet core to its base firmware.
    GiveBack(usize),
    /// Return it.
    GivesBack(Operation),
}

impl Launch {
    /// Checks everything that can be checked before something is written.
    pub fn prepare(
        session: &mut Session,
        order: &Order,
        elf: Option<&Elf>,
    ) -> Result<Self, RunError> {
        let sites = survey(session, order)?;
        let (target, images) = session.parts();
        let Some(elf) = elf else { return Self::running(sites, images, order.core) };
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
        Ok(Self { kernel, tiles, tasks: VecDeque::new(), failed: None })
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
            let core = core.unwrap_or(CoreKind::Brisc);
            tiles.push(LaunchedTile { started: true, ..LaunchedTile::new(site, core, None) });
        }
        Ok(Self { kernel, tiles, tasks: VecDeque::new(), failed: None })
    }

    /// Returns everything that a launch writes.
    pub fn operations(&self, images: &mut ImageMap) -> Result<Vec<Operation>, ControlError> {
        let mut all = Vec::new();
        for tile in &self.tiles {
            all.extend(tile.boot(images)?);
        }
        all.extend(self.placements(images)?);
        for tile in &self.tiles {
            all.push(go_kernel(images, tile.site.firmware_name()?, tile.site.place)?);
        }
        Ok(all)
    }

    fn placements(&self, images: &mut ImageMap) -> Result<Vec<Operation>, ControlError> {
        let place = |tile: &LaunchedTile| self.kernel.fit(images, &tile.site)?.place(images);
        self.tiles.iter().map(place).collect()
    }

    /// Queues what starts the kernel on every tile.
    pub fn start(&mut self, images: &mut ImageMap) -> Result<(), ControlError> {
        self.tasks.push_back(Task::Reserve);
        // One after the other: while an Ethernet tile restarts, far chips are reached through
        // another one.
        for (index, tile) in self.tiles.iter().enumerate() {
            if let Some(boot) = tile.boot(images)? {
                self.tasks.push_back(Task::Boot(index, boot));
            }
        }
        self.tasks.push_back(Task::Fit);
        for (index, LaunchedTile { site, .. }) in self.tiles.iter().enumerate() {
            let go = go_kernel(images, site.firmware_name()?, site.place)?;
            self.tasks.push_back(Task::Go(index, go));
        }
        Ok(())
    }

    /// Queues the end: what has not returned is taken away if it is to be, and the Ethernet cores
    /// whose application this launch has started go back to base firmware.
    pub fn finish(&mut self, takes_away: bool) {
        self.tasks.clear();
        let tiles = || self.tiles.iter().enumerate();
        let runs = |tile: &LaunchedTile| takes_away && tile.started && !tile.returned;
        let ends = tiles().filter(|(_, tile)| runs(tile)).map(|(index, _)| Task::End(index));
        let booted = tiles().filter(|(_, tile)| tile.booted);
        let all = ends.chain(booted.map(|(index, _)| Task::GiveBack(index)));
        self.tasks = all.collect();
    }

    /// Carries out what is queued; returns whether nothing is left of it.
    ///
    /// # Errors
    /// Why the kernel cannot be started. What was started is ended by [`Launch::finish`].
    pub fn poll(&mut self, session: &mut Session) -> Result<bool, RunError> {
        let (target, images) = session.parts();
        let rest = task::poll(
            self,
            |launch| &mut launch.tasks,
            |_| (),
            |launch, task| launch.carry_out(task, target, images),
        );
        rest.map(|rest| rest.is_none())
    }

    /// Returns why not all could be ended.
    pub fn failed(&mut self) -> Option<RunError> {
        self.failed.take()
    }

    fn carry_out(
        &mut self,
        task: &mut Task,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        let done = match task {
            Task::Reserve => {
                reserve_audit(target, &format!("launch {}", self.kernel.image))?;
                true
            }
            Task::Boot(index, boot) => {
                self.change(*index, |tile| tile.booted = true);
                boot.poll(target)?
            }
            Task::Fit => {
                *task = Task::Place(OperationGroup::new(self.placements(images)?));
                false
            }
            Task::Place(group) => group.poll(target)?,
            Task::Go(index, go) => {
                let done = go.poll(target)?;
                self.change(*index, |tile| tile.started = done);
                done
            }
            Task::End(index) => {
                let known = Some(self.kernel.image.as_str()).filter(|name| !name.is_empty());
                let Some(tile) = self.tiles.get(*index) else { return Ok(true) };
                match Ending::begin(target, images, &tile.site, known) {
                    Ok(ending) => *task = Task::Ends(*index, Box::new(ending)),
                    Err(error) => self.stays(*index, error, images),
                }
                matches!(task, Task::End(_))
            }
            Task::Ends(index, ending) => match ending.poll(target, images) {
                Ok(None) => false,
                Ok(left) => {
                    self.change(*index, |tile| tile.left = left);
                    true
                }
                // The others are taken away all the same.
                Err(error) => {
                    self.stays(*index, error, images);
                    true
                }
            },
            Task::GiveBack(index) => match self.tiles.get(*index).map(|tile| tile.stop(images)) {
                Some(Ok(Some(stop))) => {
                    *task = Task::GivesBack(stop);
                    false
                }
                Some(Err(error)) => {
                    self.failed.get_or_insert(error.into());
                    true
                }
                Some(Ok(None)) | None => true,
            },
            Task::GivesBack(stop) => match stop.poll(target) {
                Ok(done) => done,
                Err(error) => {
                    self.failed.get_or_insert(error.into());
                    true
                }
            },
        };
        Ok(done)
    }

    fn change(&mut self, index: usize, change: impl FnOnce(&mut LaunchedTile)) {
        if let Some(tile) = self.tiles.get_mut(index) {
            change(tile);
        }
    }

    fn stays(&mut self, index: usize, error: RunError, images: &ImageMap) {
        let left = Left::Stays(error.sentence(images.layout()));
        self.change(index, |tile| tile.left = Some(left));
        self.failed.get_or_insert(error);
    }

    /// Notes which kernels have returned; returns whether all have.
    pub fn watch(&mut self, session: &mut Session) -> Result<bool, RunError> {
        let (target, images) = session.parts();
        for tile in self.tiles.iter_mut().filter(|tile| !tile.returned) {
            let firmware = launch::image(images, tile.site.firmware_name()?)?;
            let (word, done) = done_condition(mailbox(&firmware)?);
            let addr = tile.site.place.at(word);
            let value = target.read_word(addr);
            let value = value.map_err(|reason| ControlError::Access { addr, reason })?;
            tile.returned = done.holds(value);
        }
        Ok(self.tiles.iter().all(|tile| tile.returned))
    }

    /// Where it was launched, in a sentence.
    pub fn begun(&self) -> String {
        let on = self.tiles.iter().map(|tile| {
            let booted = if tile.site.boots.is_some() { ", whose firmware was booted" } else { "" };
            let at = tile.config_base.unwrap_or(0);
            format!("{} (arguments at {at:#x}{booted})", tile.core)
        });
        format!("{} was launched on {}", self.kernel.image, on.collect::<Vec<_>>().join(", "))
    }

    /// Reads the cores.
    pub fn look(&mut self, session: &mut Session) {
        for tile in &mut self.tiles {
            let read = Some((tile.core.chip, tile.core.tile));
            let inspected = session.inspect(&ReadSet { tile: read, ..ReadSet::default() });
            tile.seen = inspected.state.core(tile.core).cloned();
        }
    }
}

/// Verifies what runs on the tiles, and returns their use and firmware.
fn survey(session: &mut Session, order: &Order) -> Result<Vec<KernelSite>, RunError> {
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
    images.add(Image::new(images.chip(), name, ImageRole::Kernel, core, symbols.clone()));
    name.clone()
}
