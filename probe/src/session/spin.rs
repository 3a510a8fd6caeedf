//! What a sampled core waits for, by its instructions: those of its image, else those in its L1.

use super::Session;
use decode::profile::CoreProfile;
use decode::spin::{Reads, Spin, spin, text_of};
use decode::state::{CoreState, LaunchState};
use images::LoadedImage;
use layouts::{AnyGroup as _, ChipLayout, CoreKind, NocAddr, Space};
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::Target;
use std::collections::BTreeMap;

/// Bytes of the wall clock: low word, high word, and the high word that reading the low one latched.
const CLOCK_BYTES: u64 = 12;

impl Session {
    /// Returns the loop in which a sampled core spins, if its instructions tell that.
    pub(super) fn spin(&mut self, core: &CoreState, of: &CoreProfile) -> Option<Spin> {
        let layout = self.target.mesh().layout();
        let kind = layout.kind_at(core.id.tile);
        let clock = layout.debug_block(kind)? + layout.debug.wall_clock_low.at;
        let l1_bytes = layout.l1_bytes(kind)?;
        let pcs = of.pcs();
        let (text, first) = (text_of(&pcs)?, *pcs.first()?);
        let load = self.images.running_at(core.id, first);
        let load = load.as_ref().and_then(|load| Some((load, load.text_at(first)?)));
        let launch = core.launch.known();
        let mut reads = OfCore {
            core,
            target: self.target.as_mut(),
            read: Snapshot::default(),
            variables: load.map_or_else(BTreeMap::new, |(load, _)| variables(core, load, launch)),
            global_pointer: load.and_then(|(load, _)| load.variable("__global_pointer$")),
            layout,
            space: Space::Tile(kind),
            l1_bytes,
            clock,
        };
        let words: Option<Vec<u32>> = match load {
            Some((_, (start, bytes))) => {
                // What is not text of the image is no instruction.
                let word = |at: u32| {
                    let bytes = bytes.get(at.checked_sub(start)? as usize..)?;
                    bytes.first_chunk().map(|word| u32::from_le_bytes(*word))
                };
                Some(text.step_by(4).map(|at| word(at).map_or(0, |word| word)).collect())
            }
            None if u64::from(text.end) > l1_bytes => None,
            None => {
                reads.read(text.start, text.end - text.start);
                text.step_by(4).map(|at| reads.known(at)).collect()
            }
        };
        spin(&pcs, &words?, &mut reads)
    }
}

/// Returns what the variables of tt-metal's firmware hold that say where its kernel's arguments and
/// semaphores are, by address: firmware sets them by the launch message (tt-metal.md 1.1).
fn variables(
    core: &CoreState,
    load: &LoadedImage<'_>,
    launch: Option<&LaunchState>,
) -> BTreeMap<u32, u32> {
    let Some(launch) = launch else { return BTreeMap::new() };
    let [unique, common] = launch.arguments.map_or([None; 2], |all| all.map(Some));
    // The first of an array by kind of core is that of Tensix tiles.
    let semaphores = launch.semaphores.filter(|_| core.id.core != CoreKind::Erisc);
    let all = [("rta_l1_base", unique), ("crta_l1_base", common), ("sem_l1_base", semaphores)];
    let known = all
        .into_iter()
        .filter_map(|(name, value)| Some((load.variable(name)?, u32::try_from(value?).ok()?)));
    known.collect()
}

/// What a core reads: L1 and registers as they are asked for.
struct OfCore<'a> {
    core: &'a CoreState,
    target: &'a mut dyn Target,
    read: Snapshot,
    /// Words that are known, by address.
    variables: BTreeMap<u32, u32>,
    global_pointer: Option<u32>,
    layout: &'static ChipLayout,
    space: Space,
    l1_bytes: u64,
    /// The address of the wall clock.
    clock: u64,
}

impl OfCore<'_> {
    fn addr(&self, at: u32) -> NocAddr {
        NocAddr { chip: self.core.id.chip, tile: self.core.id.tile, offset: at.into() }
    }

    fn read(&mut self, at: u32, len: u32) {
        self.read = self.target.read(&Plan { spans: vec![Span { addr: self.addr(at), len }] });
    }

    fn known(&self, at: u32) -> Option<u32> {
        self.read.word(self.addr(at)).ok()
    }
}

impl Reads for OfCore<'_> {
    fn word(&mut self, at: u32) -> Option<u32> {
        if let Some(value) = self.variables.get(&at) {
            return Some(*value);
        }
        // Local memory is the core's own.
        self.layout.read_mode(self.space, at.into(), 4)?;
        self.read(at, 4);
        let value = self.known(at)?;
        self.variables.insert(at, value);
        Some(value)
    }

    fn name(&self, at: u32) -> Option<String> {
        let is_register = u64::from(at) >= self.l1_bytes;
        let name = self.layout.name_of(self.space, at.into()).filter(|_| is_register)?;
        // What a network interface counts says more than the number of its counter.
        let counter = || {
            let (block, _) = name.split_once(".counter[")?;
            let first = self.layout.register(self.space, &format!("{block}.counter[0]"))?.offset;
            let inside = u64::from(at).checked_sub(first)?;
            let mut all = self.layout.niu_counters.entries().into_iter();
            let (counter, _) = all.find(|(_, it)| it.locate(inside).is_some())?;
            Some(format!("{block}.{counter}"))
        };
        Some(counter().unwrap_or(name))
    }

    fn is_time(&self, at: u32) -> bool {
        (self.clock..self.clock + CLOCK_BYTES).contains(&at.into())
    }

    fn global_pointer(&self) -> Option<u32> {
        self.global_pointer
    }
}
