//! Far chips: ranges cut into commands for the routing queues, and which gateways carry them.

use super::Access;
use crate::bar::Sharing;
use crate::planner::Run;
use crate::queue::{
    BLOCK_ALIGN, BLOCK_BYTES, Command, Far, Gateway, Queue, Results, SLOTS, Stamped, read_all,
};
use crate::snapshot::AccessError;
use layouts::{ChipCoord, NocXy};

/// The way to a far chip: a [`Route::Queue`] by its parts.
#[derive(Clone, Copy)]
pub(super) struct Way<'r> {
    pub(super) device: u8,
    pub(super) tiles: &'r [NocXy],
    pub(super) direct: usize,
    pub(super) coord: ChipCoord,
}

impl Way<'_> {
    /// Most commands under way at a tile: as many as its queue holds where the tile has a link to
    /// the chip itself. That is not proved for one that hands requests to its siblings.
    fn depth(&self, at: usize) -> usize {
        if at < self.direct { SLOTS } else { 1 }
    }
}

impl Access {
    /// Reads ranges of a far chip, as many at a time as its gateways allow; a result for each. A
    /// range that fails leaves the others alone, unless the chip itself does not answer.
    pub(super) fn read_through(&mut self, way: Way<'_>, runs: &[Run]) -> Results {
        let mut commands = Vec::new();
        let mut counts = Vec::with_capacity(runs.len());
        for run in runs {
            let before = commands.len();
            cut(way.coord, run, &mut commands);
            counts.push(commands.len() - before);
        }
        let read = self.locked(way.device, |access| {
            access.flush_device(way.device, None)?;
            let mut gateways = access.gateways(way)?;
            let results = read_all(&mut access.bus, access.patience, &mut gateways, &commands);
            for gateway in gateways {
                access.queues.insert((way.device, gateway.queue.tile()), gateway.queue);
            }
            Ok(results)
        });
        match read {
            Ok(Results { reads, silent }) => {
                let mut reads = reads.into_iter();
                let mut joined = |(run, count)| join(run, reads.by_ref().take(count));
                Results { reads: runs.iter().zip(counts).map(&mut joined).collect(), silent }
            }
            Err(error) => {
                let reads = runs.iter().map(|_| Err(error.clone())).collect();
                Results { reads, silent: None }
            }
        }
    }

    /// Writes bytes, whole words, through the first gateway that is in order: writes through one
    /// arrive in order, through several they do not. What was posted is never posted again elsewhere.
    pub(super) fn write_through(
        &mut self,
        way: Way<'_>,
        run: &Run,
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        let writes = cut_write(way.coord, run, bytes);
        self.locked(way.device, |access| {
            let mut last = access.find_queues(way)?;
            let mut tiles: Vec<(usize, NocXy)> = way.tiles.iter().copied().enumerate().collect();
            // One that is still to answer something old is the last to be asked.
            tiles.sort_by_key(|(_, tile)| {
                access.queues.get(&(way.device, *tile)).is_none_or(Queue::is_suspect)
            });
            for (at, tile) in tiles {
                let Some(queue) = access.queues.get_mut(&(way.device, tile)) else { continue };
                match queue.ready(&mut access.bus) {
                    Ok(()) => return access.write_by(way, at, tile, &writes),
                    Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                    Err(error) => last = Some(error),
                }
            }
            let none = || AccessError::Unreachable("no Ethernet tile leads there".into());
            Err(last.unwrap_or_else(none))
        })
    }

    fn write_by(
        &mut self,
        way: Way<'_>,
        at: usize,
        tile: NocXy,
        writes: &[(Command, &[u8])],
    ) -> Result<(), AccessError> {
        // What went another way before must be there first.
        self.flush_device(way.device, Some(tile))?;
        let Some(queue) = self.queues.get_mut(&(way.device, tile)) else { return Ok(()) };
        queue.write_all(&mut self.bus, way.depth(at), writes)
    }

    /// The queues of the way, taken out of the known ones while they are used together.
    fn gateways(&mut self, way: Way<'_>) -> Result<Vec<Gateway>, AccessError> {
        let error = self.find_queues(way)?;
        let mut gateways = Vec::new();
        for (at, &tile) in way.tiles.iter().enumerate() {
            if let Some(queue) = self.queues.remove(&(way.device, tile)) {
                let (direct, depth) = (at < way.direct, way.depth(at));
                gateways.push(Gateway { queue, direct, depth });
            }
        }
        match error {
            Some(error) if gateways.is_empty() => Err(error),
            _ => Ok(gateways),
        }
    }

    /// Makes the queues of the way known. Those that cannot be are left out; why the last was not.
    fn find_queues(&mut self, way: Way<'_>) -> Result<Option<AccessError>, AccessError> {
        let mut last = None;
        for &tile in way.tiles {
            if let Some(reason) = self.latch.tile(way.device, tile) {
                last = Some(reason.clone());
                self.queues.remove(&(way.device, tile));
                continue;
            }
            if self.queues.contains_key(&(way.device, tile)) {
                continue;
            }
            match Queue::find(&mut self.bus, way.device, tile, self.patience) {
                Ok(queue) => drop(self.queues.insert((way.device, tile), queue)),
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error) => last = Some(error),
            }
        }
        Ok(last)
    }

    /// Waits for the writes through all queues of a device but one.
    fn flush_device(&mut self, device: u8, but: Option<NocXy>) -> Result<(), AccessError> {
        let others =
            self.queues.iter_mut().filter(|((of, tile), _)| *of == device && Some(*tile) != but);
        others.map(|(_, queue)| queue).try_for_each(|queue| queue.flush(&mut self.bus))
    }

    /// Does something with the queues of a device under the lock of its clients, which is given
    /// back whatever happens.
    pub(super) fn locked<T>(
        &mut self,
        device: u8,
        act: impl FnOnce(&mut Self) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        if self.locked == Some(device) {
            return act(self);
        }
        let sharing = self.bus.lock_queues(device)?;
        self.locked = Some(device);
        let done = match sharing {
            Sharing::Alone => act(self),
            Sharing::Shared => self.shared(device, act),
        };
        self.locked = None;
        let unlocked = self.bus.unlock_queues(device);
        done.and_then(|value| unlocked.map(|()| value))
    }

    /// Others use the queues as well: what they left is looked at first, and nothing is left to
    /// them but empty queues and buffers that nobody uses.
    fn shared<T>(
        &mut self,
        device: u8,
        act: impl FnOnce(&mut Self) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        for ((of, _), queue) in &mut self.queues {
            if *of == device {
                queue.out_of_step(&mut self.bus)?;
            }
        }
        let done = act(self);
        let mut left = self.flush_device(device, None);
        for ((of, _), queue) in &mut self.queues {
            if *of == device {
                left = left.and(queue.settle(&mut self.bus));
            }
        }
        done.and_then(|value| left.map(|()| value))
    }
}

/// Where the commands that read a range begin. Memory is read in blocks: a little more than was
/// asked for does no harm there; a lone word and registers are read by words.
fn begin(run: &Run) -> (u64, bool) {
    let (first, end) = (run.offset & !3, (run.offset + u64::from(run.len)).next_multiple_of(4));
    let blocks = run.memory && end - first > 4;
    (if blocks { first / BLOCK_ALIGN * BLOCK_ALIGN } else { first }, blocks)
}

fn cut(coord: ChipCoord, run: &Run, commands: &mut Vec<Command>) {
    let (start, blocks) = begin(run);
    let end = (run.offset + u64::from(run.len)).next_multiple_of(4);
    let step = if blocks { BLOCK_BYTES } else { 4 };
    for offset in (start..end).step_by(step) {
        let far = Far { coord, tile: run.tile, offset };
        let len = (end - offset).min(step as u64) as u32;
        // What a block leaves over may be a word.
        commands.push(if len > 4 { Command::ReadBlock(far, len) } else { Command::ReadWord(far) });
    }
}

/// The range out of what its commands read; the first error if one of them failed.
fn join(
    run: &Run,
    parts: impl Iterator<Item = Result<Stamped, AccessError>>,
) -> Result<Stamped, AccessError> {
    let mut whole = Stamped { bytes: Vec::with_capacity(run.len as usize), cycles: 0 };
    for part in parts {
        let part = part?;
        whole.cycles = whole.cycles.max(part.cycles);
        whole.bytes.extend(part.bytes);
    }
    whole.bytes.drain(..(run.offset - begin(run).0) as usize);
    whole.bytes.truncate(run.len as usize);
    Ok(whole)
}

/// Words up to the first 32-byte boundary, then blocks of whole words; registers by words alone.
fn cut_write<'b>(coord: ChipCoord, run: &Run, bytes: &'b [u8]) -> Vec<(Command, &'b [u8])> {
    let mut writes = Vec::new();
    let mut at = run.offset;
    let mut rest = bytes;
    while !rest.is_empty() {
        let far = Far { coord, tile: run.tile, offset: at };
        let blocks = run.memory && at.is_multiple_of(BLOCK_ALIGN) && rest.len() > 4;
        let (part, later) = rest.split_at(rest.len().min(if blocks { BLOCK_BYTES } else { 4 }));
        writes.push(if blocks {
            (Command::WriteBlock(far, part.len() as u32), part)
        } else {
            let word = part.first_chunk().copied().unwrap_or_default();
            (Command::WriteWord(far, u32::from_le_bytes(word)), &part[..0])
        });
        at += part.len() as u64;
        rest = later;
    }
    writes
}
