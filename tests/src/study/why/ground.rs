//! The ground of a run: a booted mesh, the dice, and what has been said and done so far.

use super::{Staged, Truth};
use access::bar_target::BarTarget;
use diagnosis::{Condition, Place as Root, Severity};
use images::ImageMap;
use launch::debugging::CoreControl;
use launch::dice::Random;
use launch::{ControlError, Firmware, done_condition, image, mailbox};
use layouts::{CoreId, CoreKind, EthId, TileKind};
use machine::fault::{CoreFault, Fault, FaultKind, LinkFault};
use machine::place::Place;
use machine::snapshot::Span;
use machine::target::{Link, Quarantine, Target};
use workloads::scene::{Scene, SceneError, Workload};

/// Interval between two polls of a launch, in cycles.
pub(super) const STEP_CYCLES: u64 = 5_000;
/// Interval between two looks at a run that is about to stand still, in cycles.
const LOOK_CYCLES: u64 = 1_000_000;
/// Looks after which a run that still moves is no hang.
const MOST_LOOKS: u32 = 60;

/// The meshes of a kind, each with its weight.
pub(super) type Meshes = &'static [(&'static str, u64)];

/// Most runs are on small meshes, because a large one costs the host seconds.
pub(super) const ANY: Meshes = &[("n300", 11), ("t3000", 8), ("galaxy", 1)];

/// Meshes of runs that move while they are watched, so that every cycle costs much.
pub(super) const SMALL: Meshes = &[("n300", 3), ("t3000", 2)];

/// The seed of a run, before its mesh is drawn.
pub(super) struct Ground {
    pub(super) dice: Random,
    pub(super) seed: u64,
    /// Whether the mesh is the first of its kind's, the smallest.
    small: bool,
}

/// A booted mesh on which a run is staged.
pub(super) struct Bed {
    pub(super) target: BarTarget,
    pub(super) images: ImageMap,
    pub(super) dice: Random,
    about: Vec<String>,
    pub(super) work: Vec<Span>,
    /// Tiles with kernels of the run.
    pub(super) busy: Vec<Place>,
}

impl Ground {
    /// Runs of different kinds and of one seed have nothing in common.
    /// A kind's runs stay the same when others are added.
    pub(super) fn new(kind: &str, seed: u64, small: bool) -> Self {
        let mut dice = Random(seed);
        for byte in kind.bytes() {
            dice = Random(dice.next() ^ u64::from(byte));
        }
        let seed = dice.next();
        Self { dice, seed, small }
    }

    /// Draws a mesh.
    pub(super) fn mesh(&mut self, meshes: Meshes) -> &'static str {
        let meshes = if self.small { meshes.get(..1).unwrap_or(meshes) } else { meshes };
        let all = meshes.iter().map(|(_, weight)| weight).sum();
        let mut drawn = self.dice.below(all);
        let mesh = meshes.iter().find(|(_, weight)| {
            let found = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            found
        });
        mesh.map_or("n300", |(mesh, _)| *mesh)
    }

    /// Draws a mesh, and boots firmware on at most `tiles` compute tiles of each chip.
    pub(super) fn boot(mut self, meshes: Meshes, tiles: usize) -> Result<Bed, SceneError> {
        let mesh = self.mesh(meshes);
        let (mut images, _) = ImageMap::firmware();
        let scene = Scene {
            run: Some(Workload::Idle),
            tiles: Some(tiles),
            seed: self.seed,
            ..Scene::new(mesh)
        };
        let target = scene.build(&mut images)?;
        Ok(self.bed(mesh, target, images))
    }

    /// Takes a mesh that was booted elsewhere.
    pub(super) fn bed(self, mesh: &str, target: BarTarget, images: ImageMap) -> Bed {
        let about = vec![mesh.to_owned()];
        Bed { target, images, dice: self.dice, about, work: Vec::new(), busy: Vec::new() }
    }
}

impl Bed {
    /// Adds to what is told of the run.
    pub(super) fn say(&mut self, what: impl Into<String>) {
        self.about.push(what.into());
    }

    /// Draws from `least` up to, but not including, `end`.
    pub(super) fn between(&mut self, least: u64, end: u64) -> u64 {
        least + self.dice.below(end.saturating_sub(least))
    }

    pub(super) fn one<T: Copy>(&mut self, items: &[T], what: &str) -> Result<T, SceneError> {
        self.dice.one(items).ok_or_else(|| SceneError::Wrong(format!("the run has no {what}")))
    }

    /// Begins a fault now.
    pub(super) fn disrupt(&mut self, kind: FaultKind) -> Result<(), SceneError> {
        self.disrupt_for(kind, None)
    }

    /// Begins a fault now, and ends it after this many cycles.
    pub(super) fn disrupt_for(
        &mut self,
        kind: FaultKind,
        cycles: Option<u64>,
    ) -> Result<(), SceneError> {
        let now = self.target.now()?;
        let until_cycles = cycles.map(|cycles| now + cycles);
        Ok(self.target.disrupt(&Fault { kind, from_cycles: now, until_cycles })?)
    }

    pub(super) fn core_fault(&mut self, core: CoreId, fault: CoreFault) -> Result<(), SceneError> {
        self.disrupt(FaultKind::Core(core, fault))
    }

    pub(super) fn link_fault(&mut self, end: EthId, fault: LinkFault) -> Result<(), SceneError> {
        self.disrupt(FaultKind::Link(end, fault))
    }

    /// Returns the channel of an Ethernet tile.
    pub(super) fn eth(&self, place: Place) -> Result<EthId, SceneError> {
        let tile = self.target.mesh().layout().tile_at(place.tile);
        let channel = tile.filter(|tile| tile.kind == TileKind::Eth).and_then(|tile| tile.channel);
        let none = || SceneError::Wrong(format!("{place} is no Ethernet tile"));
        Ok(EthId { chip: place.chip, channel: channel.ok_or_else(none)? })
    }

    /// Returns the link that ends at a tile.
    pub(super) fn link(&self, end: EthId) -> Result<Link, SceneError> {
        let mut links = self.target.mesh().links.iter();
        let found = links.find(|link| link.a == end || link.b == end).copied();
        found.ok_or_else(|| SceneError::Wrong(format!("no link ends at {end}")))
    }

    /// Returns the address of a variable of a kernel, and its size.
    pub(super) fn variable(&self, kernel: &str, path: &str) -> Result<(u64, u32), ControlError> {
        let missing = |_| ControlError::NoMember(kernel.to_owned(), path.to_owned());
        let found = image(&self.images, kernel)?.symbols.locate(path).map_err(missing)?;
        Ok((found.address(), found.field.size as u32))
    }

    /// Returns the offset of a member of a kernel's type.
    pub(super) fn offset(&self, kernel: &str, path: &str) -> Result<u64, ControlError> {
        let missing = |_| ControlError::NoMember(kernel.to_owned(), path.to_owned());
        let field = image(&self.images, kernel)?.symbols.field(path).map_err(missing)?;
        Ok(field.offset)
    }

    pub(super) fn word(&mut self, place: Place, at: u64) -> Result<u32, SceneError> {
        Ok(self.target.read_word(place.at(at))?)
    }

    pub(super) fn put(&mut self, place: Place, at: u64, word: u32) -> Result<(), SceneError> {
        Ok(self.target.write(place.at(at), &word.to_le_bytes())?)
    }

    /// Halts a core of a compute tile, as a debugger leaves it that is killed: the core stays paused,
    /// and in the mode of a paused core.
    pub(super) fn halt(&mut self, core: CoreId) -> Result<(), SceneError> {
        let target = &mut self.target;
        let paused = CoreControl::attach(target, core).and_then(|mut it| it.pause(target));
        paused.map_err(SceneError::of_run(target))?;
        let place = Place { chip: core.chip, tile: core.tile };
        // Some tools clear the register by which they ask.
        if let Some([register, ..]) = target.mesh().layout().risc_debug_at(TileKind::Tensix)
            && self.dice.below(2) == 0
        {
            self.put(place, register, 0)?;
        }
        self.say(format!("core {core} is halted by a debugger that is gone"));
        Ok(())
    }

    /// Lets a random time pass.
    pub(super) fn pass(&mut self, least: u64, end: u64) -> Result<u64, SceneError> {
        let cycles = self.between(least, end);
        self.target.pass(cycles)?;
        Ok(cycles)
    }

    /// Hands over a run that stands still because of a cause at `root`.
    pub(super) fn hung(
        mut self,
        condition: Condition,
        root: Vec<Root>,
    ) -> Result<Staged, SceneError> {
        self.settle()?;
        self.check_unfinished()?;
        let late = self.pass(0, 5_000_000)?;
        self.say(format!("handed over {} us after it stood still", late / 1_000));
        Ok(self.staged(Some(Truth { condition, severity: Severity::Hang, root })))
    }

    /// Hands the run over as it is. Nothing that staging found out is kept from a later reader.
    pub(super) fn staged(mut self, truth: Option<Truth>) -> Staged {
        self.target.clear();
        Staged { target: self.target, about: self.about.join(", "), truth, work: self.work }
    }

    /// Lets time pass until no word of the run's work changes.
    pub(super) fn settle(&mut self) -> Result<(), SceneError> {
        let mut before = self.look();
        for _ in 0..MOST_LOOKS {
            self.target.pass(LOOK_CYCLES)?;
            let now = self.look();
            if now == before {
                return Ok(());
            }
            before = now;
        }
        let (about, ms) = (self.about.join(", "), u64::from(MOST_LOOKS) * LOOK_CYCLES / 1_000_000);
        Err(SceneError::Wrong(format!("{about}: the run still moves after {ms} ms")))
    }

    /// Checks that a kernel of the run has not returned.
    pub(super) fn check_unfinished(&mut self) -> Result<(), SceneError> {
        for place in self.busy.clone() {
            let eth = self.target.mesh().layout().kind_at(place.tile) == TileKind::Eth;
            let firmware = Firmware::BUILT_IN;
            let firmware = if eth { firmware.application } else { firmware.tensix[0] };
            let (at, done) = done_condition(mailbox(&*image(&self.images, firmware)?)?);
            if self.word(place, at).is_ok_and(|go| !done.holds(go)) {
                return Ok(());
            }
        }
        Err(SceneError::Wrong(format!("{}: every kernel has returned", self.about.join(", "))))
    }

    /// Counts the work of a kernel on a tile as the run's.
    pub(super) fn counts(&mut self, place: Place, kernel: &str) -> Result<(), SceneError> {
        self.busy.push(place);
        self.work.extend(super::work::words(&self.images, place, kernel)?);
        Ok(())
    }

    fn look(&mut self) -> Vec<Option<u64>> {
        super::work::look(&mut self.target, &self.work)
    }
}

/// The core of a compute tile that runs kernels.
pub(super) fn brisc(place: Place) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Brisc }
}

pub(super) fn erisc(place: Place) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc }
}

/// A link's end or its stuck core as roots.
pub(super) fn link_root(link: Link) -> Vec<Root> {
    vec![Root::link(&link)]
}
