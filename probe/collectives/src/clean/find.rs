//! What stands on the mesh, read from the mesh alone.

use super::report::{Done, Found, Remains};
use super::{CleanStage, KernelRank};
use crate::edm_builder::EDM;
use crate::rest::{Rest, Unrest};
use crate::worker::WORKER;
use images::{Image, ImageMap, ImageRole, TerminationWord};
use launch::elf_kernel::{KernelSite, survey, termination_address, termination_values};
use launch::occupancy::TileUse;
use launch::outcome::{Cause, RunError};
use launch::{ControlError, holding, step};
use layouts::{ChipId, CoreId, NocAddr, TileKind};
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Tiles of a chip that cannot be read after which the chip is given up.
const UNREADABLE_TILES: usize = 3;

/// A tile on which something stands.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) place: Place,
    pub(super) found: Found,
    /// None if the tile cannot be read.
    pub(super) site: Option<KernelSite>,
    pub(super) rank: KernelRank,
    pub(super) signals: Vec<Signal>,
    /// Words at which its kernels are paused.
    pub(super) pauses: Vec<NocAddr>,
    /// Whether a kernel runs.
    pub(super) runs: bool,
    /// Whether built-in application firmware has the Ethernet core.
    pub(super) taken: bool,
    pub(super) done: Vec<Done>,
    pub(super) left: Option<Remains>,
}

/// A termination word, and its values: gracefully, at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    pub(super) word: NocAddr,
    pub(super) values: [u32; 2],
}

impl Standing {
    pub(super) fn new(place: Place, found: Found, site: Option<KernelSite>) -> Self {
        let rank = KernelRank::Worker;
        let (signals, pauses, done, left) = (Vec::new(), Vec::new(), Vec::new(), None);
        let (runs, taken) = (false, false);
        Self { place, found, site, rank, signals, pauses, runs, taken, done, left }
    }

    /// Whether built-in firmware runs there.
    pub(super) fn is_built_in(&self) -> bool {
        self.site.as_ref().is_some_and(KernelSite::runs_in_place)
    }

    /// Notes the result of a stage.
    pub(super) fn note(&mut self, stage: CleanStage, done: Done, error: Option<&ControlError>) {
        if let Some(error) = error {
            self.left = Some(Remains::of_step(stage, error));
            return;
        }
        self.done.push(done);
        match stage {
            CleanStage::Gracefully(_) | CleanStage::AtOnce => self.runs = false,
            CleanStage::Exit | CleanStage::Reset | CleanStage::Hold => {
                (self.runs, self.taken) = (false, false);
            }
            CleanStage::GiveBack => self.taken = false,
            CleanStage::Find | CleanStage::Clear | CleanStage::Check => {}
        }
        if !self.runs {
            self.left = None;
        }
    }
}

/// A search for what stands on the mesh, chip by chip.
#[derive(Debug)]
pub(super) struct Search {
    chips: VecDeque<ChipId>,
    of: u64,
    only: Option<BTreeSet<Place>>,
    /// The tiles on which something stands.
    pub(super) tiles: Vec<Standing>,
    /// Words that are not at rest.
    pub(super) unrest: Vec<Unrest>,
    /// What could not be read, one sentence each.
    pub(super) problems: Vec<String>,
}

impl Search {
    pub(super) fn new(target: &dyn Target, only: Option<BTreeSet<Place>>) -> Self {
        let chips = target.mesh().chips.iter().map(|chip| chip.id);
        let chips: VecDeque<ChipId> =
            chips.filter(|chip| has_any_of(*chip, only.as_ref())).collect();
        let of = chips.len() as u64;
        Self { chips, of, only, tiles: Vec::new(), unrest: Vec::new(), problems: Vec::new() }
    }

    /// Returns the number of chips that were read, and of all.
    pub(super) fn done(&self) -> (u64, u64) {
        (self.of - self.chips.len() as u64, self.of)
    }

    /// Reads the next chip; returns whether there is none.
    pub(super) fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<bool, RunError> {
        let Some(chip) = self.chips.pop_front() else { return Ok(true) };
        let (sites, unread) = of_chip(target, images, chip, self.only.as_ref())?;
        for (place, reason) in unread {
            let left = Some(Remains::unread(&reason));
            self.tiles.push(Standing { left, ..Standing::new(place, Found::Unread, None) });
        }
        let strangers = unknown_firmware(target, images, &sites);
        for site in &sites {
            self.tiles.extend(standing(target, images, site, &strangers)?);
        }
        let unrest = unrest(target, images, &sites).unwrap_or_else(|why| {
            let why = step(images.layout(), &why);
            self.problems.push(format!("not all credits of chip {chip} could be read: {why}"));
            Vec::new()
        });
        for word in &unrest {
            let place = Place::from(word.addr);
            if !self.tiles.iter().any(|tile| tile.place == place) {
                let site = sites.iter().find(|site| site.place == place).cloned();
                self.tiles.push(Standing::new(place, Found::Credits, site));
            }
        }
        self.unrest.extend(unrest);
        Ok(false)
    }
}

/// Returns the credits and semaphores that are not 0 of those of the tiles that hold an EDM or a
/// worker.
pub(super) fn unrest(
    target: &mut dyn Target,
    images: &ImageMap,
    sites: &[KernelSite],
) -> Result<Vec<Unrest>, ControlError> {
    let layout = target.mesh().layout();
    let of_kind = |kind| {
        let built_in = sites.iter().filter(|site| site.runs_in_place());
        let awake = built_in.filter(|site| kind == TileKind::Eth || site.boots.is_none());
        let places = awake.map(|site| site.place);
        places.filter(|place| layout.kind_at(place.tile) == kind).collect::<Vec<_>>()
    };
    let (ethernet, compute) = (of_kind(TileKind::Eth), of_kind(TileKind::Tensix));
    let edms = holding(target, images, EDM, ethernet)?;
    let workers = holding(target, images, WORKER, compute)?;
    Rest::new(images)?.standing(target, images, &edms, &workers)
}

/// Whether tiles of the chip are looked at.
pub(super) fn has_any_of(chip: ChipId, only: Option<&BTreeSet<Place>>) -> bool {
    only.is_none_or(|only| only.iter().any(|place| place.chip == chip))
}

/// Tiles with the reason why each cannot be read.
type Unread = Vec<(Place, RunError)>;

/// Returns the tiles of a chip that can be read, and those that cannot. A chip of which several
/// tiles cannot be read is given up.
fn of_chip(
    target: &mut dyn Target,
    images: &ImageMap,
    chip: ChipId,
    only: Option<&BTreeSet<Place>>,
) -> Result<(Vec<KernelSite>, Unread), RunError> {
    let mesh = target.mesh();
    let ethernet = mesh.layout().grid().iter().filter(|tile| tile.kind == TileKind::Eth);
    let ethernet = ethernet.map(|tile| Place { chip, tile: tile.xy });
    let places = ethernet.chain(mesh.compute_tiles(chip));
    let wanted = |place: &Place| only.is_none_or(|only| only.contains(place));
    let mut places: Vec<Place> = places.filter(wanted).collect();
    let mut unread = Unread::new();
    loop {
        let error = match survey(target, images, &places) {
            Ok(sites) => return Ok((sites, unread)),
            Err(error) => error,
        };
        let (Some(place), false) = (error.core, is_fatal(&error)) else { return Err(error) };
        unread.push((place, error));
        places.retain(|other| *other != place);
        if unread.len() == UNREADABLE_TILES {
            unread.truncate(1);
            return Ok((Vec::new(), unread));
        }
    }
}

/// Whether nothing else can be read either, or an image is missing.
fn is_fatal(error: &RunError) -> bool {
    match &error.cause {
        Cause::Access(reason) | Cause::Control(ControlError::Access { reason, .. }) => {
            matches!(reason, AccessError::DeviceGone(_))
        }
        _ => true,
    }
}

/// Returns the compute tiles that run firmware of which no image is known.
fn unknown_firmware(
    target: &mut dyn Target,
    images: &ImageMap,
    sites: &[KernelSite],
) -> BTreeSet<Place> {
    let layout = target.mesh().layout();
    let Some(reset) = layout.soft_reset(TileKind::Tensix) else { return BTreeSet::new() };
    let tensix = |site: &&KernelSite| layout.kind_at(site.place.tile) == TileKind::Tensix;
    let cold = sites.iter().filter(tensix).filter(|site| site.usage == TileUse::Cold);
    let cold: Vec<Place> = cold.map(|site| site.place).collect();
    let spans = cold.iter().map(|place| Span { addr: place.at(reset), len: 4 }).collect();
    let snapshot = target.read(&Plan { spans });
    let bit = layout.tensix.cores.brisc.reset_bit;
    let runs = |place: &&Place| {
        snapshot.word(place.at(reset)).is_ok_and(|word| word >> bit & 1 == 0)
            && kernels(images, **place).is_empty()
    };
    cold.iter().filter(runs).copied().collect()
}

/// Returns what stands on a tile, if something does.
fn standing(
    target: &mut dyn Target,
    images: &ImageMap,
    site: &KernelSite,
    strangers: &BTreeSet<Place>,
) -> Result<Option<Standing>, RunError> {
    let (place, layout) = (site.place, images.layout());
    let ethernet = layout.kind_at(place.tile) == TileKind::Eth;
    let taken = ethernet && site.runs_in_place() && site.boots.is_none();
    let found = match &site.usage {
        TileUse::Cold if strangers.contains(&place) => Found::UnknownFirmware,
        TileUse::Ready if taken => Found::Application,
        TileUse::Cold | TileUse::Ready => return Ok(None),
        TileUse::UnknownApplication => Found::UnknownApplication,
        TileUse::Runs(_) | TileUse::Routes(_) => {
            return running(target, images, site, taken).map(Some);
        }
    };
    let mut tile = Standing::new(place, found, Some(site.clone()));
    tile.taken = taken;
    tile.left = Remains::of_unknown(&tile.found);
    Ok(Some(tile))
}

/// Returns a tile on which a kernel runs, with the words by which it ends.
fn running(
    target: &mut dyn Target,
    images: &ImageMap,
    site: &KernelSite,
    taken: bool,
) -> Result<Standing, RunError> {
    let place = site.place;
    let kernels = kernels(images, place);
    let mut names: Vec<String> = kernels.iter().map(|kernel| kernel.name.clone()).collect();
    let mut tile = Standing::new(place, Found::Kernels(Vec::new()), Some(site.clone()));
    (tile.runs, tile.taken) = (true, taken);
    tile.rank = kernels.iter().map(|kernel| rank(kernel)).min().unwrap_or(KernelRank::Worker);
    let mut words: Vec<(TerminationWord, [u32; 2])> = Vec::new();
    for kernel in &kernels {
        let word = kernel.termination_word();
        words.extend(word.map(|word| (word, termination_values(Some(kernel)))));
        tile.pauses.extend(kernel.pause_word().map(|at| place.at(at)));
    }
    if kernels.is_empty() {
        let cores = images.layout().kind_at(place.tile).cores().iter();
        let cores = cores.map(|&core| CoreId { chip: place.chip, tile: place.tile, core });
        if let Some((name, word)) = cores.into_iter().find_map(|it| images.described_router(it)) {
            names.push(name.to_owned());
            words.extend(word.map(|word| (word, termination_values(None))));
            tile.rank = KernelRank::Router;
        }
    }
    for (word, values) in words {
        let word = termination_address(target, place, word)?;
        tile.signals.extend(word.map(|word| Signal { word, values }));
    }
    tile.found = Found::Kernels(names);
    Ok(tile)
}

/// Returns the kernels that are known on the cores of a tile.
fn kernels(images: &ImageMap, place: Place) -> Vec<Arc<Image>> {
    let cores = images.layout().kind_at(place.tile).cores().iter();
    let on = cores.flat_map(|&core| {
        let core = CoreId { chip: place.chip, tile: place.tile, core };
        let kernel = images.resolved(core).into_iter().map(|load| load.image);
        let kernel = kernel.filter(|image| image.role == ImageRole::Kernel).take(1);
        kernel.map(|image| image.name.clone()).collect::<Vec<_>>()
    });
    on.filter_map(|name| images.named(&name).cloned()).collect()
}

fn rank(kernel: &Image) -> KernelRank {
    match kernel {
        router if router.is_router() => KernelRank::Router,
        mux if mux.is_mux() => KernelRank::Mux,
        edm if edm.name == EDM => KernelRank::Edm,
        _ => KernelRank::Worker,
    }
}
