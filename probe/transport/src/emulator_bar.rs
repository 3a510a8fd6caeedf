//! The emulated mesh in this process, behind the same trait as every other machine.

mod past;

use crate::SIMULATOR_BUDGET;
use emulator::hart::{Cause, HartStop};
use emulator::{Actor, Disruption, HartId, History, HistorySize, Mesh, MeshConfig, StreamId};
use layouts::{ChipKind, CoreKind, NocXy};
use machine::bar::{Bar, BarOp, DeviceBatch, TargetView};
use machine::fault::{ChipAddress, CoreFault, EMULATED, Fault, FaultKind, LinkFault, StreamFault};
use machine::past::{KeptPast, RecordedRun};
use machine::snapshot::{AccessError, StoppedCore};
use machine::target::{Abilities, Past};
use machine::window;
use past::EmulatorPast;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A [`Bar`] over an emulated mesh.
pub struct EmulatorBar {
    mesh: Mesh,
    /// The past of a mesh that is itself a copy of the past.
    before: Option<History>,
}

/// Returns what an emulated mesh supports; it answers every address that silicon answers.
pub fn abilities() -> Abilities {
    Abilities {
        stepped_time: true,
        paced: true,
        budget: Some(SIMULATOR_BUDGET),
        emulated: true,
        ..Abilities::default()
    }
}

/// A failing machine reports many conditions; the first ones show the cause.
const MOST_REMARKS: usize = 16;

impl EmulatorBar {
    /// Takes the mesh.
    pub fn new(mesh: Mesh) -> Self {
        Self { mesh, before: None }
    }

    /// Takes a copy of a mesh of the past, which has this past itself.
    pub(crate) fn copy(mesh: Mesh, before: History) -> Self {
        Self { mesh, before: Some(before) }
    }

    /// Returns the mesh, for its conditions and its journal, which no bus shows.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Returns the mesh, for operations that no bus has: link failures, resets.
    pub fn mesh_mut(&mut self) -> &mut Mesh {
        &mut self.mesh
    }
}

impl EmulatorBar {
    /// Begins an operation at the present cycle; returns the cycles that it takes.
    fn begin(&mut self, op: &BarOp, answer: &mut Vec<u8>) -> u64 {
        match op {
            BarOp::ConfigRead { device, offset } => {
                let read = self.mesh.begin_config_read(usize::from(*device), u32::from(*offset));
                answer.extend(read.0.to_le_bytes());
                read.1
            }
            BarOp::Read { device, bar, offset, len, .. } => {
                let start = answer.len();
                answer.resize(start + *len as usize, 0);
                let out = &mut answer[start..];
                self.mesh.begin_read(usize::from(*device), *bar, *offset, out)
            }
            BarOp::Write { device, bar, offset, bytes } => {
                self.mesh.begin_write(usize::from(*device), *bar, *offset, bytes)
            }
            BarOp::Point { device, window, x, y, page, order } => {
                let tile = NocXy { x: *x, y: *y };
                window::entry(self.chip().bar(), *window, tile, *page, *order).map_or(
                    0,
                    |(offset, entry)| {
                        let bytes = entry.to_le_bytes();
                        self.mesh.begin_write(usize::from(*device), 0, offset, &bytes)
                    },
                )
            }
            BarOp::Pass { cycles } => *cycles,
            BarOp::Now => {
                answer.extend(self.mesh.now().to_le_bytes());
                0
            }
        }
    }
}

impl Bar for EmulatorBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        for op in batch {
            let cycles = self.begin(op, answer);
            self.mesh.clock(cycles);
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }

    fn chip(&self) -> ChipKind {
        EMULATED
    }

    /// What is to begin first is begun first, of two that begin together that of the first batch.
    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        let mut end = self.mesh.now();
        let mut due: BinaryHeap<_> =
            (0..batches.len()).map(|number| Reverse((end, number, 0))).collect();
        while let Some(Reverse((cycle, number, index))) = due.pop() {
            self.mesh.clock(cycle.saturating_sub(self.mesh.now()));
            let Some(DeviceBatch { batch, answer, .. }) = batches.get_mut(number) else { continue };
            let Some(op) = batch.get(index) else { continue };
            let end_of_op = cycle.saturating_add(self.begin(op, answer));
            end = end.max(end_of_op);
            if !op.ends(answer) {
                due.push(Reverse((end_of_op, number, index + 1)));
            }
        }
        self.mesh.clock(end.saturating_sub(self.mesh.now()));
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        let absent =
            || AccessError::Refused(format!("{fault}: this mesh has no such link, core or stream"));
        let chip = index_of(self.mesh.config(), at).ok_or_else(absent)?;
        let what = disruption(self.mesh.config(), chip, fault).ok_or_else(absent)?;
        if self.mesh.disrupt(what, fault.from_cycles, fault.until_cycles) {
            Ok(())
        } else {
            Err(absent())
        }
    }

    fn past(&mut self, view: TargetView) -> Option<Box<dyn Past>> {
        self.mesh.keep_present();
        let history = self.mesh.history().or_else(|| self.before.clone())?;
        let chip = |(id, at)| Some((id, index_of(self.mesh.config(), at)?));
        let chips = view.chips.into_iter().filter_map(chip).collect();
        Some(Box::new(EmulatorPast { history: history.into(), chips, over: view.over }))
    }

    fn kept_past(&self) -> Option<KeptPast> {
        let HistorySize { first, end, bytes, most_bytes } = self.mesh.history_size()?;
        let (bytes, most_bytes) = (bytes as u64, most_bytes as u64);
        Some(KeptPast { first_cycles: first, last_cycles: end, bytes, most_bytes })
    }

    fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        let (journal, host_answers) = match self.mesh.whole_journal()? {
            Ok((journal, tape)) => (journal.to_bytes(0), tape.to_bytes()),
            Err(lost) => return Some(Err(lost.to_string())),
        };
        let (end_cycles, checksum) = (self.mesh.now(), self.mesh.l1_checksum());
        // Its target knows how it was opened.
        let target = String::new();
        Some(Ok(RecordedRun { target, end_cycles, checksum, journal, host_answers }))
    }

    fn most_devices(&self) -> u8 {
        self.mesh.config().chips.iter().filter(|chip| chip.pcie).count() as u8
    }

    fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        let indices: Vec<_> = chips.iter().map(|at| index_of(self.mesh.config(), *at)).collect();
        let stops = self.mesh.stopped_harts().into_iter();
        let stopped = |(chip, tile, HartStop { cause, hart, pc, address, cycle })| {
            let (x, y) = tile;
            let core = past::core(tile, hart);
            let overflows = matches!(cause, Cause::Device(_)) && is_below_stack(core, address);
            let stack = if overflows { ": its stack has overflowed" } else { "" };
            let stopped = StoppedCore {
                tile: NocXy { x, y },
                core,
                pc,
                why: format!("{} {address:#x}{stack}", cause.name()),
                at_cycles: cycle,
            };
            Some((indices.iter().position(|index| *index == Some(chip))?, stopped))
        };
        stops.filter_map(stopped).collect()
    }

    fn remarks(&mut self) -> Vec<String> {
        let conditions = self.mesh.conditions().iter();
        // A core that has stopped is no remark.
        let others = conditions.filter(|it| !matches!(it.actor, Actor::Hart(_)));
        others.take(MOST_REMARKS).map(ToString::to_string).collect()
    }
}

/// Whether an address is less than this far below the private RAM of a core, in which its stack is.
fn is_below_stack(core: CoreKind, address: u32) -> bool {
    const NEAR: u32 = 0x1_0000;
    let ram = EMULATED.layout().local_ram(core);
    ram.is_some_and(|(first, _)| (first.saturating_sub(NEAR)..first).contains(&address))
}

fn index_of(config: &MeshConfig, at: ChipAddress) -> Option<usize> {
    match at {
        ChipAddress::Device(device) => {
            let chips = (0..).zip(&config.chips).filter(|(_, chip)| chip.pcie);
            chips.map(|(index, _)| index).nth(usize::from(device))
        }
        ChipAddress::Position(place) => {
            config.chips.iter().position(|chip| chip.place == Some(place))
        }
    }
}

/// Returns the emulator's form of a fault at one of its chips.
fn disruption(config: &MeshConfig, chip: usize, fault: &Fault) -> Option<Disruption> {
    Some(match fault.kind {
        FaultKind::Link(end, what) => {
            let end = (chip, end.channel);
            let link = config.links.iter().position(|link| link.a == end || link.b == end)?;
            match what {
                LinkFault::Down => Disruption::LinkDown { link },
                LinkFault::Flap { period_cycles } => Disruption::LinkFlap { link, period_cycles },
                LinkFault::Slow { factor } => Disruption::LinkSlow { link, factor },
                LinkFault::BitErrors { per_terabit } => Disruption::BitErrors { link, per_terabit },
                LinkFault::SlowAck { delay_cycles } => {
                    let end = usize::from(config.links.get(link)?.b == end);
                    Disruption::SlowAck { link, end, delay_cycles }
                }
                LinkFault::Up => Disruption::LinkMended { link },
            }
        }
        FaultKind::Core(core, what) => {
            let kind = EMULATED.layout().tile_at(core.tile)?.kind;
            let hart = kind.cores().iter().position(|other| *other == core.core)? as u8;
            let hart = HartId { chip, x: core.tile.x, y: core.tile.y, hart };
            match what {
                CoreFault::Stuck => Disruption::StuckCore(hart),
                CoreFault::Released => Disruption::CoreReleased(hart),
            }
        }
        FaultKind::Stream(place, stream, what) => {
            let stream = StreamId { chip, x: place.tile.x, y: place.tile.y, stream };
            match what {
                StreamFault::Held => Disruption::StreamHeld(stream),
                StreamFault::Released => Disruption::StreamFreed(stream),
            }
        }
        FaultKind::Dead(_) => Disruption::ChipDead { chip },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use images::ImageMap;
    use workloads::scene::Scene;

    /// Reads of a device's telemetry, word by word, then of the time.
    fn reads(device: u8) -> Vec<BarOp> {
        let offset = |at| 0x1FE8_0000 + 0x40 * u64::from(at);
        let read = |at| BarOp::Read { device, bar: 0, offset: offset(at), len: 4, ones: 0 };
        let reads = (0..10 + device).map(read);
        reads.chain([BarOp::Pass { cycles: 5 }, BarOp::Now]).collect()
    }

    #[test]
    fn parallel_batches_take_as_long_as_the_longest() {
        let (images, _) = ImageMap::firmware();
        let fresh = || EmulatorBar::new(Scene::new("t3000").power_on(&images).unwrap());
        let (mut serial, mut parallel) = (fresh(), fresh());
        parallel.mesh_mut().record(true);
        let batch = |device| DeviceBatch::new(device, reads(device));
        let mut batches: Vec<DeviceBatch> = (0..4).map(batch).collect();
        parallel.submit_parallel(&mut batches);
        let read = parallel.mesh().config().timing.host_read;
        assert_eq!(parallel.mesh().now(), 13 * read + 5, "four devices, 10 to 13 words");
        for batch in &batches {
            let mut alone = Vec::new();
            serial.submit(&batch.batch, &mut alone).unwrap();
            let (words, now) = batch.answer.split_last_chunk().unwrap();
            assert_eq!(words, alone.split_last_chunk::<8>().unwrap().0, "device {}", batch.device);
            assert_eq!(u64::from_le_bytes(*now), (10 + u64::from(batch.device)) * read + 5);
        }
        // A replay of the journal begins all accesses at the same cycles.
        let journal = parallel.mesh().journal().unwrap().clone();
        let mut replayed = fresh();
        let accesses = replayed.mesh_mut().replay(&journal);
        assert_eq!(accesses.len(), 4 * (10 + 11 + 12 + 13));
        assert_eq!(replayed.mesh().now(), 13 * read);
    }
}
