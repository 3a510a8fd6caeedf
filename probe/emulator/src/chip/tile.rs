//! A Tensix or Ethernet tile: L1, harts and blocks, advanced through time together.
//!
//! The state of a tile at cycle T is well defined: every event before T has happened and every hart
//! has executed its instructions before T. Events of cycle T come before the instructions of cycle
//! T.

use crate::condition::{Actor, Condition, HARVESTED, Refusal};
use crate::config::TileKind;
use crate::devices::blocks::{Blocks, STREAMS, Special};
use crate::devices::mover::next_boundary;
use crate::hart::{Cause, ERISC, HartGroup, HartOrder};
use crate::memory::TileMemory;
use crate::noc::event::{Event, EventKind};

/// Names of the harts, in the order of their group.
const TENSIX_HARTS: [&str; 5] = ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"];
const ETH_HARTS: [&str; 1] = ["erisc"];

/// The RISC debug interface, as the cause of a condition.
const DEBUGGER: &str = "risc debug interface";

/// A tile with cores.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub(crate) memory: TileMemory,
    pub(crate) group: HartGroup,
    pub(crate) blocks: Blocks,
    pub(crate) harvested: bool,
    /// Whether an access hung the tile: it answers nothing until the chip is reset.
    pub(crate) hung: bool,
    /// Harts whose stop has been reported.
    pub(crate) stopped: [bool; 5],
}

impl Tile {
    /// Creates a tile with all harts in reset.
    pub(crate) fn new(kind: TileKind, harvested: bool, sleep: bool, blocks: Blocks) -> Self {
        let tensix = kind == TileKind::Tensix;
        Self {
            memory: if tensix { TileMemory::tensix() } else { TileMemory::eth() },
            group: if tensix { HartGroup::tensix(sleep) } else { HartGroup::eth(sleep) },
            blocks,
            harvested,
            hung: false,
            stopped: [false; 5],
        }
    }

    fn hart_names(&self) -> &'static [&'static str] {
        match self.blocks.special {
            Special::Tensix(_) => &TENSIX_HARTS,
            Special::Eth(_) => &ETH_HARTS,
        }
    }

    /// Returns the first cycle at which the tile may do something, and the first at which something
    /// may leave it: a hart's store takes some cycles to leave.
    pub(crate) fn next(&self) -> (u64, u64) {
        let harts = self.group.next_wake(&self.memory).unwrap_or(u64::MAX);
        let events = self.blocks.events.next_at();
        let from_harts = harts.saturating_add(self.blocks.timing.niu_issue);
        (harts.min(events), from_harts.min(events))
    }

    /// Runs the tile up to `until`. Stops earlier, `horizon` cycles after the first arrival of a
    /// packet it sends, because an answer could return from then on. Returns the cycle it reached.
    pub(crate) fn run(&mut self, until: u64, horizon: u64) -> u64 {
        loop {
            let until = self.limit(until, horizon);
            let stop = self.blocks.events.next_at().min(until);
            if self.group.now() < stop {
                self.group.run(&mut self.memory, &mut self.blocks, stop);
                self.report_stops();
                continue;
            }
            let Some(event) = self.blocks.events.take_before(until) else { return until };
            self.group.undo_ahead(&mut self.memory, &mut self.blocks);
            self.handle(event);
        }
    }

    /// Executes instructions of cycles before `until` that touch nothing outside the tile; the tile
    /// stays where it is.
    pub(crate) fn run_ahead(&mut self, until: u64) {
        self.group.run_ahead(&mut self.memory, until.min(self.blocks.events.next_at()));
    }

    fn limit(&self, until: u64, horizon: u64) -> u64 {
        let first = self.blocks.out.first_arrival;
        first.map_or(until, |at| until.min(at.saturating_add(horizon)))
    }

    fn handle(&mut self, event: Event) {
        let now = event.at;
        let mut orders = Vec::new();
        let shows_harts = match &event.kind {
            EventKind::Packet(packet) => packet.body.is_for_debug(),
            EventKind::LinkPacket(_) => true,
            _ => false,
        };
        if shows_harts {
            self.note_harts();
        }
        let Self { memory, group, blocks, .. } = self;
        if let Some(watch) = &mut memory.write_watch
            && let Some(by) = event.kind.writer()
        {
            watch.writer(now, by);
        }
        match event.kind {
            EventKind::Begin { noc, buf } => blocks.begin(noc, buf, now),
            EventKind::Leave { noc, request } => blocks.leave(noc, &request, now, memory),
            // Its row is closed to multicasts (wormhole.md 3.2).
            EventKind::Packet(packet) if self.harvested && packet.multicast => {}
            EventKind::Packet(packet) => {
                let (x, y) = packet.from;
                // Only the NIUs of a harvested tile answer.
                let lost = self.harvested && !packet.body.is_for_niu();
                if lost || self.hung {
                    let name = if lost { HARVESTED.name } else { "tile-hung" };
                    blocks.report(now, Actor::Noc { x, y }, name, 0);
                } else if let Err((refusal, addr)) =
                    blocks.receive(*packet, now, memory, &mut orders)
                {
                    self.refuse(now, Actor::Noc { x, y }, refusal, addr);
                }
            }
            EventKind::TxqLatch { queue } => blocks.txq_latch(queue, now),
            EventKind::TxqFetch { queue } => blocks.txq_fetch(queue, now, memory),
            EventKind::LinkPacket(frame) => {
                if let Err((refusal, addr)) = blocks.frame(*frame, now, memory, &mut orders) {
                    self.refuse(now, Actor::Link, refusal, addr);
                }
            }
            EventKind::MoverCopy => blocks.copy(now, memory, group),
            EventKind::MoverDone => blocks.finish_move(now),
            EventKind::IramCopy => {
                if let Some(bytes) = blocks.iram_bytes(memory) {
                    group.load_iram(ERISC, 0, &bytes);
                }
                blocks.post(next_boundary(now), EventKind::IramDone);
            }
            EventKind::IramDone => blocks.finish_iram(),
            EventKind::ArcMessage => {}
        }
        self.settle(orders);
    }

    /// Lets the counters of a stream read as 0, or as what they have counted.
    pub(crate) fn hold_stream(&mut self, stream: u8, held: bool) {
        let Self { memory, group, blocks, .. } = self;
        group.undo_ahead(memory, blocks);
        blocks.streams.hold(stream, held);
        blocks.changed |= STREAMS;
        self.settle(Vec::new());
    }

    /// Applies orders to the harts, and notifies harts that wait for registers.
    fn settle(&mut self, orders: Vec<HartOrder>) {
        let ordered = !orders.is_empty();
        for order in orders {
            self.group.order(order);
        }
        if ordered {
            self.report_stops();
        }
        self.group.devices_changed(std::mem::take(&mut self.blocks.changed));
    }

    fn report_stops(&mut self) {
        for (hart, name) in (0u8..).zip(self.hart_names()) {
            if let Some(name) = self.group.refused_order(hart) {
                let (now, at) = (self.group.now(), u64::from(self.group.pc(hart)));
                self.blocks.report(now, Actor::Block(DEBUGGER), name, at);
            }
            let stop = self.group.stopped(hart);
            let reported = std::mem::replace(&mut self.stopped[usize::from(hart)], stop.is_some());
            let Some(stop) = stop.filter(|_| !reported) else { continue };
            let tile = Some(self.blocks.at);
            self.blocks.out.conditions.push(Condition {
                cycle: stop.cycle,
                chip: self.blocks.chip,
                tile,
                actor: Actor::Hart(name),
                name: stop.cause.name(),
                addr: u64::from(stop.address),
                detail: stop_detail(stop.cause, stop.pc),
            });
        }
    }

    /// Records a refusal. A hang disables the tile.
    pub(crate) fn refuse(&mut self, now: u64, actor: Actor, refusal: Refusal, addr: u64) {
        self.hung |= refusal.hangs;
        self.blocks.report(now, actor, refusal.name, addr);
    }

    /// Shows the harts to the debug bus and the debug interface, before an access from outside.
    fn note_harts(&mut self) {
        for hart in 0..self.group.len() {
            self.blocks.debug.risc.seen[usize::from(hart)] = self.group.debug_registers(hart);
        }
        if self.blocks.debug.bus_enabled() {
            for hart in 0..self.group.len() {
                self.blocks.debug.pcs[usize::from(hart)] = self.group.pc(hart);
            }
        }
    }

    /// Reads for the host at cycle `now`, which the tile must have reached.
    pub(crate) fn host_read(&mut self, addr: u64, out: &mut [u8], now: u64) -> Result<(), Refusal> {
        self.note_harts();
        self.check_alive(addr)?;
        self.blocks.read_local(addr, out, now, &self.memory)
    }

    /// Writes for the host at cycle `now`, which the tile must have reached.
    pub(crate) fn host_write(&mut self, addr: u64, data: &[u8], now: u64) -> Result<(), Refusal> {
        self.note_harts();
        self.check_alive(addr)?;
        let mut orders = Vec::new();
        let written = self.blocks.write_local(addr, data, now, &mut self.memory, &mut orders);
        self.settle(orders);
        written
    }

    fn check_alive(&self, addr: u64) -> Result<(), Refusal> {
        let niu = matches!(addr as u32, 0xFFB2_0000..0xFFB4_0000);
        if self.hung {
            Err(Refusal::hang("tile-hung"))
        } else if self.harvested && !niu {
            Err(HARVESTED)
        } else {
            Ok(())
        }
    }

    /// Loads bytes before time begins.
    pub(crate) fn preload(&mut self, addr: u64, bytes: &[u8], now: u64) -> Result<(), Refusal> {
        self.blocks.write_local(addr, bytes, now, &mut self.memory, &mut Vec::new())
    }

    /// Releases the first hart before time begins.
    pub(crate) fn power_on(&mut self) {
        self.blocks.debug.release_first();
        self.group.release_reset(0);
    }
}

fn stop_detail(cause: Cause, pc: u32) -> String {
    match cause {
        Cause::Device(_) => {
            format!("accessed by the instruction at {pc:#x}, which stopped the core")
        }
        _ => format!("pc {pc:#x}"),
    }
}
