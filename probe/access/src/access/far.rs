//! Access to far chips: commands for the routing queues, and their gateways.

use super::cut::{cut, cut_write, join};
use super::{Access, Route};
use crate::guard::FarPlace;
use crate::planner::MergedRange;
use crate::queue::{Command, Gateway, Queue, Results, SLOTS, Stamped, is_unanswered, read_all};
use layouts::{ChipCoord, NocXy};
use machine::bar::Sharing;
use machine::snapshot::AccessError;

/// Reads that other clients cut off this often are given up.
const MOST_TURNS: u32 = 8;

/// Whether another client took over the queues.
fn is_overtaken(error: &AccessError) -> bool {
    matches!(error, AccessError::Overtaken(_))
}

/// The route to a far chip: the parts of a [`Route::Queue`].
#[derive(Clone, Copy)]
pub(super) struct FarRoute<'r> {
    pub(super) device: u8,
    pub(super) tiles: &'r [NocXy],
    pub(super) direct: usize,
    pub(super) coord: ChipCoord,
}

impl FarRoute<'_> {
    /// Returns the most commands in flight at a tile: the size of its queue if the tile has a link
    /// to the chip itself. For a tile that passes requests to its siblings only one is known to
    /// work.
    pub(super) fn depth(&self, at: usize) -> usize {
        if at < self.direct { SLOTS } else { 1 }
    }
}

impl Access {
    /// Reads ranges of a far chip, as many in parallel as its gateways allow; returns a result for
    /// each. A failed range does not affect the others, unless the chip itself does not answer.
    pub(super) fn read_through(&mut self, route: FarRoute<'_>, runs: &[MergedRange]) -> Results {
        let mut commands = Vec::new();
        let mut counts = Vec::with_capacity(runs.len());
        for run in runs {
            let before = commands.len();
            cut(route.coord, run, &mut commands);
            counts.push(commands.len() - before);
        }
        match self.read_in_turns(route, &commands) {
            Ok(Results { reads, silent, convicted }) => {
                let mut reads = reads.into_iter();
                let mut joined = |(run, count)| join(run, reads.by_ref().take(count));
                let reads = runs.iter().zip(counts).map(&mut joined).collect();
                Results { reads, silent, convicted }
            }
            Err(error) => Results::failed(&error, runs.len()),
        }
    }

    /// Carries out reads; those that another client's turn at the queues cut off are made again.
    fn read_in_turns(
        &mut self,
        route: FarRoute<'_>,
        commands: &[Command],
    ) -> Result<Results, AccessError> {
        let mut all = Results::failed(&AccessError::NotRequested, commands.len());
        let mut left: Vec<usize> = (0..commands.len()).collect();
        for turn in 1.. {
            let again: Vec<Command> = left.iter().map(|number| commands[*number]).collect();
            let read = self.locked(route.device, |access| {
                access.flush_device(route.device, None)?;
                access.retry_gateways(route)?;
                let gateways = access.gateways(route)?;
                access.read_by(route, gateways, &again)
            });
            let Results { reads, silent, convicted } = match read {
                Err(error @ AccessError::Overtaken(_)) => Results::failed(&error, again.len()),
                other => other?,
            };
            for (number, read) in left.iter().zip(reads) {
                all.reads[*number] = read;
            }
            all.convicted.extend(convicted);
            all.silent = silent.filter(|reason| !is_overtaken(reason));
            left.retain(|number| all.reads[*number].as_ref().is_err_and(is_overtaken));
            if left.is_empty() || all.silent.is_some() || turn == MOST_TURNS {
                break;
            }
        }
        Ok(all)
    }

    /// Reads ranges of a far chip. Where all those of a tile go unanswered, they are read again
    /// with a range that was answered before, which tells whether the tile or the chip is at fault;
    /// that one is put into quarantine.
    pub(crate) fn read_far(
        &mut self,
        route: &Route,
        place: FarPlace,
        runs: &[MergedRange],
    ) -> Vec<Result<Stamped, AccessError>> {
        if runs.is_empty() {
            return Vec::new();
        }
        let Results { mut reads, mut silent, .. } = self.read_runs(route, runs);
        let answered = runs.iter().zip(&reads).find(|(_, read)| read.is_ok());
        if let Some((run, _)) = answered {
            self.quarantine.far_answered(place, *run);
        }
        let mut suspects: Vec<MergedRange> = Vec::new();
        for own in runs.chunk_by(|one, other| one.tile == other.tile) {
            let of_tile = runs.iter().zip(&reads).filter(|(run, _)| run.tile == own[0].tile);
            let mut all = of_tile.map(|(_, read)| read);
            if all.all(|read| read.as_ref().is_err_and(is_unanswered)) {
                suspects.push(own[0]);
            }
        }
        let known = self.quarantine.far_answer(place);
        if let Some(known) = known.filter(|_| !suspects.is_empty()) {
            suspects.push(known);
            let again = self.read_runs(route, &suspects).reads;
            let alive = again.last().is_some_and(Result::is_ok);
            for (run, read) in suspects.iter().zip(again).filter(|_| alive) {
                silent = None;
                let Err(error) = read else { continue };
                let MergedRange { tile, .. } = *run;
                let why = format!("tile {tile} hangs: {error}, while tile {} answers", known.tile);
                let why = AccessError::Hung(why);
                self.quarantine.lose_far_tile(place, tile, why.clone());
                let of_tile = runs.iter().zip(&mut reads).filter(|(run, _)| run.tile == tile);
                of_tile.for_each(|(_, read)| *read = Err(why.clone()));
            }
        }
        if let Some(reason) = silent {
            self.quarantine.lose_far(place, reason);
        }
        reads
    }

    /// Carries out reads through these gateways, and puts their queues back. Gateways found not to
    /// lead to the chip are passed over from now on.
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
            for (tile, error) in &results.convicted {
                self.pass_over_gateway(route, *tile, error, now);
            }
        }
        Ok(results)
    }

    /// Writes bytes, whole words, through the first usable gateway: writes through one gateway
    /// arrive in order, through several they do not. A posted write is never posted again through
    /// another gateway, because a relay may still carry it out late. A gateway that lost a write
    /// has to answer a read first.
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
            // Gateways that do not lead to the chip, or still owe an answer, come last.
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
            let none = || AccessError::Unreachable("no Ethernet tile leads to the chip".into());
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
        // Earlier writes through other gateways must arrive first.
        self.flush_device(route.device, Some(tile))?;
        let Some(queue) = self.queues.get_mut(&(route.device, tile)) else { return Ok(()) };
        queue.write_all(&mut self.bus, route.depth(at), writes)
    }

    /// Takes the queues of the route out of the known ones while they are used together.
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

    /// Finds the queues of the route. Queues that cannot be found are left out; returns the last
    /// error.
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

    /// Waits for the writes through all queues of a device except one.
    fn flush_device(&mut self, device: u8, except: Option<NocXy>) -> Result<(), AccessError> {
        self.flush_queues(|owner, tile| owner == device && Some(tile) != except)
    }

    /// Waits for the writes through some queues; marks queues that lost a write as doubted.
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

    /// Runs `act` under the queue lock that the clients of a device share, and releases the lock in
    /// any case.
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

    /// Runs `act` on queues that other clients use, too: reads their state first, and leaves empty
    /// queues and unused buffers.
    fn shared<T>(
        &mut self,
        device: u8,
        act: impl FnOnce(&mut Self) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        for ((owner, _), queue) in &mut self.queues {
            if *owner == device {
                queue.out_of_step(&mut self.bus)?;
            }
        }
        let done = act(self);
        let mut settled = self.flush_device(device, None);
        for ((owner, _), queue) in &mut self.queues {
            if *owner == device {
                settled = settled.and(queue.settle(&mut self.bus));
            }
        }
        done.and_then(|value| settled.map(|()| value))
    }
}
