//! What each tile of the mesh on screen shows through the lens of the map.

use crate::lens::entries::{age, hue, of_names, state, traffic, waypoint};
use crate::lens::{Entry, Lens, NAMED, NONE, NOTHING, Shades, UNREAD};
use crate::model::Model;
use console::seen::{CoreSeen, TilesSeen, was_read};
use decode::state::{Activity, TileState};
use diagnosis::{Awaited, Diagnosis, Progress};
use images::Reading;
use layouts::{ChipId, CoreId, EthId, NocXy};
use machine::snapshot::AccessError;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Model {
    /// Looks at the tiles of the mesh on screen through the lens. What the snapshot did not read is
    /// as the newest snapshot of the verdict shows it.
    pub(crate) fn shade(&mut self) {
        let Some(shown) = self.shown.clone() else { return };
        let before = std::mem::take(&mut self.shades);
        let look = Look::new(self, &shown.seen);
        let same = |(lens, seen, verdict): &(Lens, Arc<TilesSeen>, Option<Arc<Diagnosis>>)| {
            let judged = |it: &Option<Arc<Diagnosis>>| it.as_ref().map(Arc::as_ptr);
            *lens == self.lens
                && Arc::ptr_eq(seen, &shown.seen)
                && judged(verdict) == judged(&shown.verdict)
        };
        // The names of kernels and operations are those of all tiles together; rates change.
        let changes =
            matches!(self.lens, Lens::Kernel | Lens::Operation | Lens::Traffic | Lens::Noc);
        let seen = match before.taken.as_ref().filter(|taken| !changes && same(taken)) {
            Some(_) => before.seen,
            None => look.all(&shown.seen),
        };
        let mut tiles = seen.clone();
        for chip in &shown.state.chips {
            for tile in chip.tiles.iter().filter(|tile| !tile.cores.is_empty()) {
                let at = (chip.chip.id, tile.xy);
                let shade = if tile.harvested {
                    NONE
                } else if tile.cores.iter().any(was_read) {
                    tile.cores
                        .iter()
                        .map(|core| look.shade(&CoreSeen::of(core)))
                        .max()
                        .unwrap_or(NONE)
                } else if shown.seen.contains_key(&at) {
                    continue;
                } else {
                    UNREAD
                };
                Shades::put(&mut tiles, at.0, at.1, shade);
            }
        }
        let taken = Some((self.lens, Arc::clone(&shown.seen), shown.verdict.clone()));
        self.shades = Shades { entries: look.entries, tiles, seen, taken };
    }
}

impl Model {
    /// The cores of a tile and what they do: by the snapshot, or, if it did not read them, by that of
    /// the verdict.
    pub(crate) fn cores_known<'a>(
        &'a self,
        chip: ChipId,
        tile: &'a TileState,
    ) -> impl Iterator<Item = (CoreId, &'a Reading<Activity>)> {
        let read = tile.cores.iter().any(was_read);
        let seen = self.shown.as_deref().and_then(|shown| shown.seen.get(&(chip, tile.xy)));
        let seen = seen.filter(|_| !read);
        let own = tile.cores.iter().filter(move |_| seen.is_none());
        let seen = seen.into_iter().flatten().map(|core| (core.id, &core.activity));
        own.map(|core| (core.id, &core.activity)).chain(seen)
    }
}

impl Model {
    /// What is known of the cores of a tile: by the snapshot, or, if it did not read them, by that of
    /// the verdict.
    pub(crate) fn cores_seen_of(&self, chip: ChipId, tile: &TileState) -> Vec<CoreSeen> {
        let read = tile.cores.iter().any(was_read);
        let seen = self.shown.as_deref().and_then(|shown| shown.seen.get(&(chip, tile.xy)));
        match seen.filter(|_| !read) {
            Some(cores) => cores.clone(),
            None => tile.cores.iter().map(CoreSeen::of).collect(),
        }
    }

    /// The same of all tiles that are not fused off.
    pub(crate) fn cores_seen(&self) -> impl Iterator<Item = CoreSeen> {
        let chips = self.mesh().map_or(&[][..], |mesh| &mesh.chips);
        let tiles = chips.iter().flat_map(|chip| chip.tiles.iter().map(move |tile| (chip, tile)));
        let there = tiles.filter(|(_, tile)| !tile.harvested);
        there.flat_map(|(chip, tile)| self.cores_seen_of(chip.chip.id, tile))
    }
}

/// A look at cores through a lens.
struct Look<'a> {
    model: &'a Model,
    entries: Vec<Entry>,
    /// The numbers of kernels and operations.
    names: BTreeMap<String, u8>,
    /// What the tiles of links send, or all tiles move over the NoC.
    sends: BTreeMap<(ChipId, NocXy), u8>,
    /// Time at which the first member of the finding came to a stand, if others did later.
    first: Option<u64>,
}

impl<'a> Look<'a> {
    fn new(model: &'a Model, seen: &TilesSeen) -> Self {
        let mut look = Self {
            model,
            entries: Vec::new(),
            names: BTreeMap::new(),
            sends: BTreeMap::new(),
            first: first(model),
        };
        look.entries = match model.lens {
            Lens::Age => age::ENTRIES.to_vec(),
            Lens::State => state::ENTRIES.to_vec(),
            Lens::Waypoint => waypoint::ENTRIES.to_vec(),
            Lens::Kernel | Lens::Operation => look.name_all(seen),
            Lens::Traffic => {
                look.sends = sends(model);
                traffic::ENTRIES.to_vec()
            }
            Lens::Noc => {
                look.sends = model.pulse.noc.shades();
                traffic::ENTRIES.to_vec()
            }
        };
        look
    }

    /// Numbers what runs, the commonest first, and returns its entries.
    fn name_all(&mut self, seen: &TilesSeen) -> Vec<Entry> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut note = |core: &CoreSeen| {
            if let Some(name) = self.name(core) {
                *counts.entry(name).or_default() += 1;
            }
        };
        seen.values().flatten().for_each(&mut note);
        let mesh = self.model.mesh();
        let chips = mesh.into_iter().flat_map(|mesh| &mesh.chips);
        let cores = chips.flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
        cores.filter(|core| was_read(core)).for_each(|core| note(&CoreSeen::of(core)));
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut entries = of_names(self.model.lens == Lens::Operation);
        let others = entries.len() as u8 - 1;
        for (at, (name, _)) in (0_u8..).zip(all) {
            let number = if usize::from(at) < NAMED { entries.len() as u8 } else { others };
            if number != others {
                entries.push(hue(at, name.clone()));
            }
            self.names.insert(name, number);
        }
        entries
    }

    /// The name that the lens shows of a core.
    fn name(&self, core: &CoreSeen) -> Option<String> {
        if self.model.lens == Lens::Kernel {
            return core.kernel.clone();
        }
        let id = u64::from(core.operation?);
        let operation = self.model.mesh()?.operations.get(&id)?;
        Some(operation.name.clone())
    }

    fn all(&self, seen: &TilesSeen) -> BTreeMap<ChipId, Vec<u8>> {
        let mut tiles = BTreeMap::new();
        for ((chip, xy), cores) in seen {
            let shade = cores.iter().map(|core| self.shade(core)).max().unwrap_or(NONE);
            Shades::put(&mut tiles, *chip, *xy, shade);
        }
        tiles
    }

    fn shade(&self, core: &CoreSeen) -> u8 {
        match &core.activity {
            Reading::Unread(AccessError::NotRequested | AccessError::NotRecorded) => UNREAD,
            Reading::Absent => NOTHING,
            activity => match self.model.lens {
                Lens::Age => self.age(core, activity),
                Lens::State => self.state(core, activity),
                Lens::Waypoint => Self::waypoint(core, activity),
                Lens::Kernel | Lens::Operation => {
                    let number = self.name(core).and_then(|name| self.names.get(&name).copied());
                    number.unwrap_or(NOTHING)
                }
                Lens::Traffic => {
                    self.sends.get(&(core.id.chip, core.id.tile)).copied().unwrap_or(NOTHING)
                }
                Lens::Noc => {
                    self.sends.get(&(core.id.chip, core.id.tile)).copied().unwrap_or(UNREAD)
                }
            },
        }
    }

    /// Whether a core that does not move belongs to the first finding.
    fn is_held(&self, core: &CoreSeen, progress: Option<Progress>) -> bool {
        self.model.pulse.has(core.id.chip, core.id.tile) && progress != Some(Progress::Progressing)
    }

    fn age(&self, core: &CoreSeen, activity: &Reading<Activity>) -> u8 {
        let progress = self.model.progress_of(core.id, activity);
        let verdict = self.model.verdict();
        let since = verdict.and_then(|verdict| verdict.moved.get(&core.id));
        let since = since.map(|since| since.cycles);
        if self.is_held(core, progress) {
            let is_first = since.is_some() && since == self.first;
            return if is_first { age::FIRST } else { age::HELD };
        }
        match (progress, activity) {
            (_, Reading::Unread(_) | Reading::Unknown(_)) => age::FAILED,
            (Some(Progress::Progressing), _) => age::MOVES,
            (Some(Progress::Paused), _) => age::PAUSED,
            (Some(Progress::Idle), _) => age::IDLE,
            (Some(Progress::Waiting(..) | Progress::Still), _) => {
                let now = verdict.map_or(0, |verdict| verdict.cycles);
                age::stands(now.saturating_sub(since.unwrap_or(now)))
            }
            (Some(Progress::Unknown) | None, Reading::Known(Activity::Running)) => age::LAUNCHED,
            _ => NOTHING,
        }
    }

    fn state(&self, core: &CoreSeen, activity: &Reading<Activity>) -> u8 {
        let progress = self.model.progress_of(core.id, activity);
        if self.is_held(core, progress) {
            return state::HELD;
        }
        match (progress, activity.known()) {
            (Some(progress), Some(_)) => state::of_progress(progress),
            (None, Some(activity)) => state::of_activity(*activity),
            (_, None) => state::FAILED,
        }
    }

    fn waypoint(core: &CoreSeen, activity: &Reading<Activity>) -> u8 {
        match (&core.waypoint, activity.known()) {
            (_, None) => waypoint::FAILED,
            (_, Some(Activity::InReset)) | (None, _) => NOTHING,
            (Some(code), _) => Awaited::of_waypoint(code).map_or(waypoint::OTHER, waypoint::of),
        }
    }
}

/// Returns what the tiles of links send; a rate needs two snapshots.
fn sends(model: &Model) -> BTreeMap<(ChipId, NocXy), u8> {
    let Some(mesh) = model.mesh() else { return BTreeMap::new() };
    let fastest = model.pulse.fastest();
    let ends = mesh.links.iter().flat_map(|link| {
        let rate = model.pulse.link(link).map_or([None, None], |pulse| pulse.rate);
        [link.link.a, link.link.b].into_iter().zip(rate)
    });
    let tile = |(end, rate): (EthId, Option<u64>)| {
        let shade = rate.map_or(UNREAD, |rate| traffic::of(rate, fastest));
        Some(((end.chip, mesh.eth(end)?.xy), shade))
    };
    ends.filter_map(tile).collect()
}

/// Returns when the first member of the finding came to a stand, if others did later.
fn first(model: &Model) -> Option<u64> {
    let moved = &model.verdict()?.moved;
    let member = |core: &CoreId| model.pulse.has(core.chip, core.tile);
    let stands = |core: &CoreId| {
        let progress = model.verdict().and_then(|verdict| verdict.progress.get(core));
        matches!(progress, Some(Progress::Waiting(..) | Progress::Still))
    };
    let times = || {
        let members = moved.iter().filter(|(core, _)| member(core) && stands(core));
        members.map(|(_, since)| since.cycles)
    };
    let first = times().min()?;
    times().any(|time| time > first).then_some(first)
}
