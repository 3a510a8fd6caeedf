//! The worker of the collectives: it waits for semaphores that EDMs and its partner increment.

use super::Search;
use super::program_semaphores::SEMAPHORE_BYTES;
use crate::look::{Kernel, tile_of};
use decode::state::{FabricPort, Party, WaitReason};
use layouts::{CoreId, CoreKind, EthId};
use machine::place::Place;
use machine::snapshot::Span;

/// The waypoint of a worker that waits for what its next packet needs.
const WAITS: &str = "NSW";
/// The waypoint of its delay, which a person asked for.
const DELAYS: &str = "DWLW";
/// The waypoint of its end: over the fabric, its packets must be taken.
const ENDS: &str = "TDNW";
/// Waypoints that a worker leaves by itself, and what is said of one that does not.
const PASSING: [(&str, &str); 6] = [
    ("K", "it began and does not continue"),
    ("R", "it has work and does not continue"),
    ("NRBW", "it waits for a read over the NoC"),
    ("NWBW", "it waits for a write over the NoC"),
    (ENDS, "it moved all data and does not end"),
    ("KD", "it ended and does not return"),
];
/// The bits of `ccl_flags_t` that say what a packet needs.
const FROM_CHANNEL: u16 = 1 << 1;
const TO_CHANNEL: u16 = 1 << 3;
const WAIT: u16 = 1 << 4;
const CREDIT: u16 = 1 << 8;
/// `sizeof(ccl_command_t)`: its flags come first.
const COMMAND_BYTES: u64 = 32;
/// `CCL_SEMAPHORE_SIGNAL`.
const SIGNAL: u64 = 2;

/// A side of a channel of a worker: the channel of the EDM that serves it.
pub(super) struct Side {
    /// The EDM's Ethernet tile, and the number of its channel.
    pub(super) edm: (EthId, u8),
    /// The address of this worker's semaphore at the EDM.
    pub(super) there: u64,
    /// The address that the EDM increments for this worker.
    pub(super) here: u64,
}

impl Search<'_> {
    pub(super) fn ccl_worker(&mut self, kernel: &Kernel<'_>) {
        let (own, mark) = (Party::Core(kernel.core.id), kernel.mark());
        match self.lacking(kernel).filter(|_| kernel.waypoint() == WAITS) {
            Some(lacking) if lacking.is_empty() && self.waits_as_client(kernel) => {}
            Some(lacking) if lacking.is_empty() => {
                self.note(own, "it has all that its next packet needs and does not continue");
                self.turns(kernel, mark);
            }
            Some(lacking) => {
                for (on, reason) in lacking {
                    // The far worker of a channel over the fabric may not be known.
                    if let Some(on) = on {
                        self.add(own, on, reason, mark);
                    }
                }
            }
            // What it needs was not read.
            None if kernel.waypoint() == WAITS => {}
            None if kernel.waypoint() == DELAYS => {}
            None if self.waits_as_client(kernel) => {}
            None => {
                let passing = PASSING.iter().find(|(code, _)| *code == kernel.waypoint());
                if let Some((_, words)) = passing {
                    self.note(own, *words);
                }
                self.turns(kernel, mark);
            }
        }
    }

    /// Adds what a worker over the fabric waits for: its router or mux, or at the end the far
    /// worker, which takes its last packets.
    fn waits_as_client(&mut self, kernel: &Kernel<'_>) -> bool {
        let own = Party::Core(kernel.core.id);
        if kernel.waypoint() == ENDS {
            let on = self.over_fabric(kernel, "outbound");
            if let Some(on) = on {
                self.add(own, on, WaitReason::Completion, kernel.mark());
            }
            return on.is_some();
        }
        let is_client = |party| matches!(party, Party::Client(core, _) if core == kernel.core.id);
        let waits = &self.look.state.fabric.waits.all;
        let waits: Vec<_> = waits.iter().filter(|wait| is_client(wait.waiter)).collect();
        for wait in &waits {
            self.add(own, wait.on, wait.reason, wait.mark);
        }
        !waits.is_empty()
    }

    /// Returns what the worker's next packet needs and is not there, and who gives it.
    fn lacking(&self, kernel: &Kernel<'_>) -> Option<Vec<(Option<Party>, WaitReason)>> {
        let needs = self.needs(kernel)?;
        if needs & CREDIT != 0 {
            return None;
        }
        let mut lacking = Vec::new();
        let sides = [
            (FROM_CHANNEL, "inbound", "packets_in", WaitReason::Message),
            (TO_CHANNEL, "outbound", "packets_out", WaitReason::Buffer),
        ];
        for (flag, name, taken, reason) in sides {
            if needs & flag == 0 {
                continue;
            }
            let over_fabric = state(kernel, &format!("args.{name}.over_fabric")) == Some(1);
            let number = state(kernel, &format!("args.{name}.semaphore"))?;
            let there = self.look.word(kernel.place(), semaphore(kernel, number)?)?;
            let is_there = there != state(kernel, taken)? as u32;
            let giver = match self.side(kernel, name) {
                _ if over_fabric => self.over_fabric(kernel, name),
                Some(side) => Some(Party::Channel(side.edm.0, side.edm.1)),
                // No EDM serves this side: nothing will come.
                None => Some(Party::Core(edm_of(kernel, name)?)),
            };
            let served = over_fabric || matches!(giver, Some(Party::Channel(..)));
            if !(is_there && served) {
                lacking.push((giver, reason));
            }
        }
        if needs & WAIT != 0 {
            let there = self.look.word(kernel.place(), semaphore(kernel, SIGNAL)?)?;
            if there == state(kernel, "signals_taken")? as u32 {
                let partner = Self::brisc(kernel, tile_of(state(kernel, "args.partner_xy")?));
                lacking.push((Some(Party::Core(partner)), WaitReason::Signal));
            }
        }
        Some(lacking)
    }

    /// Returns the flags of the command in progress and of the next one: the packet that waits
    /// belongs to either.
    fn needs(&self, kernel: &Kernel<'_>) -> Option<u16> {
        let flags = |span: Span| {
            let bytes = self.look.snapshot.bytes(span.addr, span.len).ok()?;
            Some(u16::from_le_bytes([*bytes.first()?, *bytes.get(1)?]))
        };
        let both: Vec<u16> = commands(kernel)?.into_iter().map(flags).collect::<Option<_>>()?;
        Some(both.into_iter().fold(0, |all, flags| all | flags))
    }

    /// Returns a side of the worker's channels, if an EDM of the chip serves it.
    pub(super) fn side(&self, kernel: &Kernel<'_>, name: &str) -> Option<Side> {
        let args = |member: &str| state(kernel, &format!("args.{name}.{member}"));
        if args("used")? == 0 {
            return None;
        }
        let place = Place { chip: kernel.core.id.chip, tile: tile_of(args("edm_xy")?) };
        let there = args("edm_semaphore_address")?;
        let edm = self.kernels.get(&Self::core(place, CoreKind::Erisc))?;
        let number = |index: u8, member: &str| {
            edm.number(&format!("edm_state.args.channel[{index}].{member}"))
        };
        let serves = |index: &u8| {
            let first = number(*index, "semaphore_address");
            let workers = number(*index, "workers").map_or(0, |workers| workers);
            first.is_some_and(|first| (first..first + workers * SEMAPHORE_BYTES).contains(&there))
        };
        let index = edm.edm_channels().find(serves)?;
        let here = number(index, "worker_semaphore_address")?;
        Some(Side { edm: (edm.end?, index), there, here })
    }

    /// Returns who keeps a worker waiting for a message or a free buffer over the fabric: the far
    /// worker, or, if that has sent it, the router or mux to which it was handed.
    fn over_fabric(&self, kernel: &Kernel<'_>, name: &str) -> Option<Party> {
        let far = self.far_worker(kernel, name)?;
        let there = state(kernel, &format!("args.{name}.semaphore"))?;
        let there = self.look.word(kernel.place(), semaphore(kernel, there)?)?;
        let worker = self.kernels.get(&far)?;
        let (sent, side) = if name == "inbound" {
            (state(worker, "packets_out")?, "outbound")
        } else {
            // Every buffer is granted once, and again when it was read.
            (state(worker, "packets_in")? + state(worker, "args.inbound.buffers")?, "inbound")
        };
        if sent <= u64::from(there) {
            return Some(Party::Core(far));
        }
        let connection = state(worker, &format!("args.{side}.connection"))?;
        let client = format!("clients[{connection}]");
        let mut clients = self.look.state.fabric.clients.iter();
        let to = clients.find(|it| it.at == far && it.name == client)?.to?;
        Some(match to {
            FabricPort::Router { router: at, channel } => Party::Sender(at, channel),
            FabricPort::Mux { mux: core, channel } => Party::MuxChannel(core, channel),
        })
    }

    /// Returns the worker at the other end of a channel over the fabric.
    fn far_worker(&self, kernel: &Kernel<'_>, name: &str) -> Option<CoreId> {
        let peer = |member: &str| state(kernel, &format!("args.{name}.peer_{member}"));
        let (tile, node) = (tile_of(peer("xy")?), [peer("mesh_id"), peer("device_id")]);
        let run = state(kernel, "args.run_id");
        let is_it = |other: &&Kernel<'_>| {
            other.core.id.tile == tile
                && state(other, "args.run_id") == run
                && ["mesh_id", "device_id"].map(|member| state(other, &format!("args.{member}")))
                    == node
        };
        self.kernels.values().find(is_it).map(|other| other.core.id)
    }

    /// Returns the words that say what a worker waits for, and are not among its own.
    pub(super) fn spans_of_worker(&self, kernel: &Kernel<'_>) -> Vec<Span> {
        let mut spans: Vec<Span> = commands(kernel).into_iter().flatten().collect();
        if let Some(first) = semaphore(kernel, 0) {
            let len = ((SIGNAL + 1) * SEMAPHORE_BYTES) as u32;
            spans.push(Span { addr: kernel.place().at(first), len });
        }
        for side in ["inbound", "outbound"].iter().filter_map(|name| self.side(kernel, name)) {
            spans.push(Span { addr: kernel.place().at(side.here), len: 4 });
            if let Ok(edm) = self.mesh.place(side.edm.0) {
                spans.push(Span { addr: edm.at(side.there), len: 4 });
            }
        }
        spans
    }
}

/// Returns the address of a semaphore of the worker's program.
fn semaphore(kernel: &Kernel<'_>, number: u64) -> Option<u64> {
    let first = kernel.core.launch.known()?.semaphores?;
    first.checked_add(number.checked_mul(SEMAPHORE_BYTES)?)
}

/// Returns the core that should run the EDM of a side.
pub(crate) fn edm_of(kernel: &Kernel<'_>, name: &str) -> Option<CoreId> {
    let tile = tile_of(state(kernel, &format!("args.{name}.edm_xy"))?);
    let place = Place { chip: kernel.core.id.chip, tile };
    (state(kernel, &format!("args.{name}.used")) == Some(1))
        .then(|| Search::core(place, CoreKind::Erisc))
}

fn state(kernel: &Kernel<'_>, member: &str) -> Option<u64> {
    kernel.number(&format!("ccl_worker_state.{member}"))
}

/// Returns where the command in progress and the next one are: after the last command of a slice
/// comes the first one of the next.
fn commands(kernel: &Kernel<'_>) -> Option<[Span; 2]> {
    let (first, count) = (state(kernel, "args.commands_address")?, state(kernel, "args.commands")?);
    let command = state(kernel, "command").filter(|_| count > 0)?;
    let span = |number: u64| {
        let at = first.checked_add((number % count).checked_mul(COMMAND_BYTES)?)?;
        Some(Span { addr: kernel.place().at(at), len: COMMAND_BYTES as u32 })
    };
    Some([span(command)?, span(command.checked_add(1)?)?])
}
