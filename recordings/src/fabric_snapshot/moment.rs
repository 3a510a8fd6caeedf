//! A sample of a fabric snapshot as a [`Snapshot`]: bytes at the addresses where they were read.

use super::FabricWords;
use super::document::{Router, Sample, Status, Stream};
use super::memory::{ReadTime, TileMemory};
use super::raw::Raw;
use super::time::micros;
use layouts::{ChipId, ChipLayout, EthId, NocXy, TileKind};
use machine::snapshot::{AccessError, Snapshot};
use std::collections::BTreeMap;

/// Streams of a tile: those of larger numbers are no registers.
const STREAMS: u8 = 32;
/// The go signal is the high byte of the go message's word.
const GO_SIGNAL: u64 = 3;

/// What a sample is read with.
pub(super) struct Capture<'a> {
    pub(super) layout: &'a ChipLayout,
    pub(super) raw: &'a Raw,
    pub(super) words: &'a FabricWords,
}

impl Capture<'_> {
    /// Returns the bytes and gaps of a sample, and its time in device cycles: the least of its
    /// routers' clocks.
    pub(super) fn moment(&self, sample: &Sample) -> (Snapshot, u64) {
        let cycles = sample.routers.iter().filter_map(clock).min().unwrap_or(0);
        let micros = micros(&sample.capture_time).unwrap_or(0);
        let mut tiles: BTreeMap<(ChipId, NocXy), TileMemory> = BTreeMap::new();
        for router in &sample.routers {
            let end = end(router);
            // A channel that the chip does not have is reported elsewhere.
            if let Some(tile) = self.layout.eth_channel(end.channel) {
                let memory = tiles.entry((end.chip, tile)).or_default();
                self.router(router, memory, ReadTime { cycles, micros });
            }
        }
        let mut snapshot = Snapshot::default();
        for (tile, memory) in tiles {
            memory.append_to(&mut snapshot, tile);
        }
        (snapshot, cycles)
    }

    /// Adds what was read of a router. Its memory was read last, and stays where words overlap.
    fn router(&self, router: &Router, tile: &mut TileMemory, sample: ReadTime) {
        let time = ReadTime { cycles: clock(router).unwrap_or(sample.cycles), ..sample };
        if router.is_absent() {
            let why = router.error.as_deref().unwrap_or("the capture did not find it");
            return tile.gap(0, u32::MAX, AccessError::Unreachable(why.to_owned()));
        }
        for blob in router.blobs.values() {
            match self.raw.blob(blob) {
                Ok(bytes) => tile.add(blob.address, bytes, time),
                Err(reason) => tile.gap(blob.address, blob.size, reason),
            }
        }
        self.registers(router, tile, time);
        self.lifecycle(router, tile, time);
        if let Some(beat) = router.liveness.last() {
            let cycles = beat.wall_clock.unwrap_or(time.cycles);
            let micros = micros(&beat.t).unwrap_or(time.micros);
            let at = self.layout.eth.l1.heartbeat_old.at;
            tile.word(at, read(beat.heartbeat), ReadTime { cycles, micros });
        }
    }

    fn registers(&self, router: &Router, tile: &mut TileMemory, time: ReadTime) {
        let (layout, health) = (self.layout, &router.health);
        if let Some(at) = layout.soft_reset(TileKind::Eth) {
            tile.word(at, read(health.reset), time);
            let clock = at - layout.debug.soft_reset_0.at + layout.debug.wall_clock_low.at;
            let halves = |shift| read(health.wall_clock.map(|cycles| (cycles >> shift) as u32));
            tile.word(clock, halves(0), time);
            tile.word(clock + 4, halves(32), time);
        }
        let (before, after) = (&router.streams.pre, &router.streams.post);
        for (&id, before) in before.iter().filter(|(id, _)| **id < STREAMS) {
            // As read last, if they moved.
            let Stream { buf_space_available } = after.get(&id).unwrap_or(before);
            let block = layout.blocks.eth_stream + u64::from(id) * layout.stream.bytes;
            let at = block + layout.stream.space_available.at;
            tile.word(at, Ok(*buf_space_available), time);
        }
    }

    fn lifecycle(&self, router: &Router, tile: &mut TileMemory, time: ReadTime) {
        let words = self.words.routers.get(&end(router)).copied().unwrap_or_default();
        let read_words = &router.lifecycle;
        if let Some(at) = words.status {
            tile.word(at, read(read_words.edm_status), time);
        }
        if let Some(at) = words.termination {
            tile.word(at, read(read_words.termination_signal), time);
        }
        if let Some((at, signal)) = self.words.go_message.zip(read_words.go_signal) {
            tile.add(at + GO_SIGNAL, &[signal], time);
        }
    }
}

impl Router {
    /// Whether the capture did not find the tile, and so read nothing.
    fn is_absent(&self) -> bool {
        let nothing = self.blobs.is_empty() && self.health.reset.is_none();
        nothing && self.health.wall_clock.is_none() && self.status != Status::Ok
    }
}

/// Returns the end of a link where a router runs. UMD numbers chips as [`ChipId`] does: those with
/// PCIe first.
pub(super) fn end(router: &Router) -> EthId {
    EthId { chip: ChipId(router.physical_chip_id), channel: router.id.eth_chan }
}

/// Returns the chip's time when a router's memory was read, or shortly before, in cycles.
fn clock(router: &Router) -> Option<u64> {
    router.health.wall_clock.or_else(|| router.liveness.last()?.wall_clock)
}

fn read<T>(value: Option<T>) -> Result<T, AccessError> {
    value.ok_or_else(|| AccessError::Hung("the capture could not read it".to_owned()))
}
