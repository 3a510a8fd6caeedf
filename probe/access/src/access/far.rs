//! Far chips: commands for the routing queues, and which gateways carry them.

use super::Access;
use super::cut::{cut, cut_write, join};
use crate::planner::MergedRange;
use crate::queue::{Command, Gateway, Queue, Results, SLOTS, read_all};
use layouts::{ChipCoord, NocXy};
use machine::bar::Sharing;
use machine::snapshot::AccessError;

/// The way to a far chip: a [`Route::Queue`] by its parts.
#[derive(Clone, Copy)]
pub(super) struct FarRoute<'r> {
    pub(super) device: u8,
    pub(super) tiles: &'r [NocXy],
    pub(super) direct: usize,
    pub(super) coord: ChipCoord,
}

impl FarRoute<'_> {
    /// Most commands under way at a tile: as many as its queue holds where the tile has a link to
    /// the chip itself. That is not proved for one that hands requests to its siblings.
    pub(super) fn depth(&self, at: usize) -> usize {
        if at < self.direct { SLOTS } else { 1 }
    }
}

impl Access {
    /// Reads ranges of a far chip, as many at a time as its gateways allow; a result for each. A
    /// range that fails leaves the others alone, unless the chip itself does not answer.
    pub(super) fn read_through(&mut self, route: FarRoute<'_>, runs: &[MergedRange]) -> Results {
        let mut commands = Vec::new();
        let mut counts = Vec::with_capacity(runs.len());
        for run in runs {
            let before = commands.len();
            cut(route.coord, run, &mut commands);
            counts.push(commands.len() - before);
        }
        let read = self.locked(route.device, |access| {
            access.flush_device(route.device, None)?;
            access.retry_gateways(route)?;
            let gateways = access.gateways(route)?;
            access.read_by(route, gateways, &commands)
        });
        match read {
            Ok(Results { reads, silent, convicted }) => {
                let mut reads = reads.into_iter();
                let mut joined = |(run, count)| join(run, reads.by_ref().take(count));
                let reads = runs.iter().zip(counts).map(&mut joined).collect();
                Results { reads, silent, convicted }
            }
            Err(error) => Results::failed(&error, runs.len()),
        }
    }

    /// Carries reads out through these gateways, and gives them back. Those that are found not to lead to the chip are passed
    /// over from now on.
    pub(super) fn read_by(
        &mut self,
        route: FarRoute<'_>,
        mut gateways: Vec<Gateway>,
        commands: &[Command],
    ) -> Result<Results, AccessError> {
        let results = read_all(&mut self.bus, self.patience, &mut gateways, commands);
        for gateway in gateways {
            self.queues.insert((route.device, gateway.queue.tile()), gateway.queue);
        }
        if !results.convicted.is_empty() {
            let now = self.bus.now()?;
            for (tile, said) in &results.convicted {
                self.pass_over_gateway(route, *tile, said, now);
            }
        }
        Ok(results)
    }

    /// Writes bytes, whole words, through the first gateway that is in order: writes through one
    /// arrive in order, through several they do not. What was posted is never posted again elsewhere:
    /// what a relay gave up may still be carried out late. A gateway that lost one has to answer a read first.
    pub(super) fn write_through(
        &mut self,
        route: FarRoute<'_>,
        run: &MergedRange,
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        let writes = cut_write(route.coord, run, bytes)?;
        self.locked(route.device, |access| {
            let mut last = access.find_queues(route)?;
            access.retry_gateways(route)?;
            let mut tiles: Vec<(usize, NocXy)> = route.tiles.iter().copied().enumerate().collect();
            // One that does not lead there, or is still to answer something old, is the last to be asked.
            tiles.sort_by_key(|(_, tile)| {
                let queue = access.queues.get(&(route.device, *tile));
                (access.is_passed_over(route, *tile), queue.is_none_or(Queue::is_suspect))
            });
            for (at, tile) in tiles {
                if let Err(error) = access.cleared_of_doubt(route, at, tile)? {
                    last = Some(error);
                    continue;
                }
                let Some(queue) = access.queues.get_mut(&(route.device, tile)) else { continue };
                match queue.ready(&mut access.bus) {
                    Ok(()) => return access.write_by(route, at, tile, &writes),
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
        route: FarRoute<'_>,
        at: usize,
        tile: NocXy,
        writes: &[(Command, &[u8])],
    ) -> Result<(), AccessError> {
        // What went another way before must be there first.
        self.flush_device(route.device, Some(tile))?;
        let Some(queue) = self.queues.get_mut(&(route.device, tile)) else { return Ok(()) };
        queue.write_all(&mut self.bus, route.depth(at), writes)
    }

    /// The queues of the way, taken out of the known ones while they are used together.
    fn gateways(&mut self, route: FarRoute<'_>) -> Result<Vec<Gateway>, AccessError> {
        let error = self.find_queues(route)?;
        let mut gateways = Vec::new();
        let others = route.tiles.iter().any(|tile| {
            !self.is_passed_over(route, *tile) && self.queues.contains_key(&(route.device, *tile))
        });
        for (at, &tile) in route.tiles.iter().enumerate() {
            if others && self.is_passed_over(route, tile) {
                continue;
            }
            if let Some(queue) = self.queues.remove(&(route.device, tile)) {
                let (direct, depth) = (at < route.direct, route.depth(at));
                gateways.push(Gateway { queue, direct, depth });
            }
        }
        match error {
            Some(error) if gateways.is_empty() => Err(error),
            _ => Ok(gateways),
        }
    }

    /// Makes the queues of the way known. Those that cannot be are left out; why the last was not.
    fn find_queues(&mut self, route: FarRoute<'_>) -> Result<Option<AccessError>, AccessError> {
        let mut last = None;
        for &tile in route.tiles {
            if let Some(reason) = self.quarantine.tile(route.device, tile) {
                last = Some(reason.clone());
                self.queues.remove(&(route.device, tile));
                continue;
            }
            if self.queues.contains_key(&(route.device, tile)) {
                continue;
            }
            match Queue::find(&mut self.bus, route.device, tile, self.patience) {
                Ok(queue) => drop(self.queues.insert((route.device, tile), queue)),
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error) => last = Some(error),
            }
        }
        Ok(last)
    }

    /// Waits for the writes through all queues of a device but one.
    fn flush_device(&mut self, device: u8, but: Option<NocXy>) -> Result<(), AccessError> {
        self.flush_queues(|of, tile| of == device && Some(tile) != but)
    }

    /// Waits for the writes through some queues; one through which a write was lost is in doubt.
    pub(super) fn flush_queues(
        &mut self,
        which: impl Fn(u8, NocXy) -> bool,
    ) -> Result<(), AccessError> {
        let Self { queues, bus, doubted, .. } = self;
        let mut chosen = queues.iter_mut().filter(|((device, tile), _)| which(*device, *tile));
        chosen.try_for_each(|(key, queue)| {
            queue.flush(bus).inspect_err(|_| {
                doubted.insert(*key);
            })
        })
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
