//! Samples program counters over the debug bus of each tile, which halts and changes no core.
//!
//! A tile has one bus, which shows one program counter at a time (wormhole.md 4.4). All tiles
//! sample their first core together, then their second, and so on, so that a core costs two writes
//! however many samples are taken. A bus that somebody else uses is left alone, and so is one that
//! somebody takes meanwhile: the samples since then are dropped. Others are put back at the end.

use crate::dice::Random;
use crate::occupancy::check_permissions;
use crate::outcome::RunError;
use layouts::{ChipLayout, CoreId, NocAddr, WritePermission};
use machine::place::Place;
use machine::samples::{CoreSamples, PcSample, SampleOrder, Samples};
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{Mesh, Target};
use std::collections::{BTreeMap, BTreeSet};

/// A tile whose bus shows the program counters of its cores.
struct SampledTile {
    control: NocAddr,
    data: NocAddr,
    /// The cores that are not sampled yet, the last one first.
    left: Vec<CoreId>,
    /// The control register as it was found.
    before: u32,
    /// Whether it has been written.
    taken: bool,
    /// The core whose program counter is shown.
    shows: Option<CoreId>,
}

/// A sampling that is polled: each poll takes one sample of a core of every tile.
pub struct Sampling {
    layout: &'static ChipLayout,
    order: SampleOrder,
    random: Random,
    tiles: Vec<SampledTile>,
    /// Samples to take of the cores that are shown.
    left: u32,
    taken: BTreeMap<CoreId, CoreSamples>,
    problems: Vec<String>,
}

impl Sampling {
    /// Finds the tiles of the cores whose debug bus is free. Writes nothing yet.
    ///
    /// # Errors
    /// When the target does not permit it.
    pub fn new(
        target: &mut dyn Target,
        cores: &[CoreId],
        order: SampleOrder,
    ) -> Result<Self, RunError> {
        check_permissions(target, "sampling program counters", &[WritePermission::Sample])?;
        let cores: BTreeSet<CoreId> = cores.iter().copied().collect();
        let none = |core| {
            let relays = relays(target.mesh(), core);
            CoreSamples { core, samples: Vec::new(), relays, missing: None }
        };
        let mut sampling = Self {
            layout: target.mesh().layout(),
            order,
            random: Random(0),
            tiles: Vec::new(),
            left: 0,
            taken: cores.iter().map(|core| (*core, none(*core))).collect(),
            problems: Vec::new(),
        };
        if order.count > 0 {
            sampling.find_free(target, &cores);
        }
        Ok(sampling)
    }

    /// Takes the next sample of a core of every tile; returns whether all are taken and the buses
    /// are put back.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<bool, AccessError> {
        if self.left == 0 && !self.select_next(target) {
            self.put_back(target);
            return Ok(true);
        }
        let apart = self.order.apart_cycles;
        let pause = apart / 2 + self.random.below(apart + 1);
        self.pass(target, pause.max(self.layout.debug_bus.settle_cycles))?;
        let snapshot = read(target, self.shown().map(|(_, tile)| tile.data));
        let shown: Vec<_> = self.shown().map(|(core, tile)| (core, tile.data)).collect();
        for (core, data) in shown {
            self.take(core, &snapshot, data);
        }
        self.left -= 1;
        if self.left == 0 {
            self.check(target);
        }
        Ok(false)
    }

    /// Puts back what is not yet, and returns what was sampled.
    pub fn end(mut self, target: &mut dyn Target) -> Samples {
        if self.left > 0 {
            self.check(target);
        }
        target.never_stop_for_audit();
        self.put_back(target);
        Samples { cores: self.taken.into_values().collect(), problems: self.problems }
    }

    /// Lets time pass. A write to a far chip that was lost is reported here, once; the samples of
    /// its tile are dropped later, the others continue.
    fn pass(&mut self, target: &mut dyn Target, cycles: u64) -> Result<(), AccessError> {
        match target.pass(cycles) {
            Err(reason) if !matches!(reason, AccessError::DeviceGone(_)) => {
                self.problems.push(reason.to_string());
                target.pass(cycles)
            }
            passed => passed,
        }
    }

    fn find_free(&mut self, target: &mut dyn Target, cores: &BTreeSet<CoreId>) {
        let mut tiles: BTreeMap<Place, Vec<CoreId>> = BTreeMap::new();
        for core in cores.iter().rev() {
            tiles.entry(Place { chip: core.chip, tile: core.tile }).or_default().push(*core);
        }
        let at = |place: &Place| self.layout.debug_bus_at(self.layout.kind_at(place.tile));
        let with_bus = |(place, left): (Place, _)| {
            let (control, data) = at(&place)?;
            let (control, data) = (place.at(control), place.at(data));
            Some(SampledTile { control, data, left, before: 0, taken: false, shows: None })
        };
        let tiles: Vec<_> = tiles.into_iter().filter_map(with_bus).collect();
        let snapshot = read(target, tiles.iter().map(|tile| tile.control));
        for mut tile in tiles {
            match snapshot.word(tile.control) {
                Ok(word) if self.layout.debug_bus.in_use(word) => {
                    self.give_up(&tile.left, &in_use(word));
                }
                Ok(word) => {
                    tile.before = word;
                    self.tiles.push(tile);
                }
                Err(reason) => self.give_up(&tile.left, &reason),
            }
        }
    }

    /// Selects the next core of each tile; returns false if there is none.
    fn select_next(&mut self, target: &mut dyn Target) -> bool {
        while self.tiles.iter().any(|tile| !tile.left.is_empty()) {
            self.select(target);
            if self.shown().next().is_some() {
                self.left = self.order.count;
                return true;
            }
        }
        false
    }

    fn select(&mut self, target: &mut dyn Target) {
        let mut failed = Vec::new();
        for tile in &mut self.tiles {
            tile.shows = tile.left.pop();
            let Some(core) = tile.shows else { continue };
            let select = self.layout.debug_bus.select(core.core);
            let written = target.write(tile.control, &select.to_le_bytes());
            tile.taken |= !matches!(written, Err(AccessError::Refused(_)));
            if let Err(reason) = written {
                failed.push((core, reason));
                tile.shows = None;
            }
        }
        for (core, reason) in failed {
            self.give_up(&[core], &reason);
        }
    }

    /// Returns the tiles that show a core.
    fn shown(&self) -> impl Iterator<Item = (CoreId, &SampledTile)> {
        self.tiles.iter().filter_map(|tile| Some((tile.shows?, tile)))
    }

    fn take(&mut self, core: CoreId, snapshot: &Snapshot, data: NocAddr) {
        let Some(taken) = self.taken.get_mut(&core) else { return };
        match snapshot.word(data) {
            Ok(word) => {
                let shown = self.layout.debug_bus.shown(word);
                let cycles = snapshot.read_at(data).unwrap_or(0);
                taken.samples.push(PcSample { cycles, pc: shown.pc, certain: shown.certain });
            }
            Err(reason) => taken.missing = Some(reason),
        }
    }

    /// Drops the samples of tiles whose bus somebody else has taken, and leaves those tiles alone.
    fn check(&mut self, target: &mut dyn Target) {
        let snapshot = read(target, self.shown().map(|(_, tile)| tile.control));
        for mut tile in std::mem::take(&mut self.tiles) {
            let Some(core) = tile.shows else {
                self.tiles.push(tile);
                continue;
            };
            match snapshot.word(tile.control) {
                Ok(word) if word != self.layout.debug_bus.select(core.core) => {
                    if let Some(taken) = self.taken.get_mut(&core) {
                        taken.samples.clear();
                    }
                    tile.left.push(core);
                    self.give_up(&tile.left, &self.lost(word));
                }
                _ => self.tiles.push(tile),
            }
        }
    }

    /// Why a control register does not hold what was written.
    fn lost(&self, word: u32) -> AccessError {
        if self.layout.debug_bus.in_use(word) {
            return in_use(word);
        }
        AccessError::Refused("the debug bus of the tile did not keep its setting".to_owned())
    }

    fn give_up(&mut self, cores: &[CoreId], reason: &AccessError) {
        for core in cores {
            if let Some(taken) = self.taken.get_mut(core) {
                taken.missing = Some(reason.clone());
            }
        }
    }

    fn put_back(&mut self, target: &mut dyn Target) {
        self.left = 0;
        for tile in self.tiles.drain(..).filter(|tile| tile.taken) {
            if let Err(reason) = target.write(tile.control, &tile.before.to_le_bytes()) {
                let at = tile.control;
                let what = format!("the debug bus at {at} was not put back: {reason}");
                self.problems.push(what);
            }
        }
    }
}

/// Whether base firmware of the core may relay what is read of its chip.
fn relays(mesh: &Mesh, core: CoreId) -> bool {
    let far = mesh.chip(core.chip).is_some_and(|chip| !chip.pcie);
    let own = Place { chip: core.chip, tile: core.tile };
    let mut ends = mesh.links.iter().flat_map(|link| [link.a, link.b]);
    far && ends.any(|end| Place::of(mesh.layout(), end) == Ok(own))
}

fn read(target: &mut dyn Target, words: impl Iterator<Item = NocAddr>) -> Snapshot {
    target.read(&Plan { spans: words.map(|addr| Span { addr, len: 4 }).collect() })
}

fn in_use(control: u32) -> AccessError {
    AccessError::Refused(format!(
        "the debug bus of the tile is in use by another client (control {control:#010x})"
    ))
}
