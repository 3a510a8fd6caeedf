//! One chip: its units on the grid, advanced through time together.
//!
//! Units meet only through packets, and a packet takes at least a few cycles. So each unit may run
//! alone up to the earliest cycle at which another could reach it, and the order in which units run
//! has no effect.

mod agenda;
mod assembly;
pub(crate) mod saved;
pub(crate) mod tile;
mod traffic;

use crate::condition::Condition;
use crate::config::{GRID_HEIGHT, GRID_WIDTH};
use crate::devices::blocks::Special;
use crate::devices::eth::LinkEnd;
use crate::devices::passive::{Backend, Passive};
use crate::devices::tlb::WINDOWS;
use crate::hart::HartOrder;
use crate::noc::event::{Event, Outbox};
use crate::noc::grid::Xy;
use crate::timing::Timing;
use agenda::{Agenda, Next};
use saved::{LazyTile, SavedUnit};
use std::sync::Arc;
use tile::Tile;

/// A unit: a tile with cores, or a tile without.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    Core(LazyTile),
    Passive(Box<Passive>),
}

impl Unit {
    fn next(&self) -> Next {
        let (activity, emission) = match self {
            Self::Core(tile) => tile.next(),
            Self::Passive(unit) => (unit.events.next_at(), unit.events.next_at()),
        };
        Next { activity, emission }
    }

    pub(crate) fn run(&mut self, until: u64, horizon: u64) {
        match self {
            Self::Core(tile) => {
                tile.run(until, horizon);
            }
            Self::Passive(unit) => unit.run(until),
        }
    }

    fn run_ahead(&mut self, until: u64) {
        if let Self::Core(tile) = self {
            tile.run_ahead(until);
        }
    }

    fn out(&mut self) -> &mut Outbox {
        match self {
            Self::Core(tile) => &mut tile.blocks.out,
            Self::Passive(unit) => &mut unit.out,
        }
    }

    fn post(&mut self, event: Event) {
        match self {
            Self::Core(tile) => tile.blocks.events.post(event),
            Self::Passive(unit) => unit.events.post(event),
        }
    }
}

/// One chip.
#[derive(Clone, Debug)]
pub(crate) struct Chip {
    pub(crate) units: Vec<Unit>,
    /// Which units may have changed since the last checkpoint.
    pub(crate) changed: Vec<bool>,
    /// The units of the last checkpoint.
    pub(crate) saved: Arc<Vec<SavedUnit>>,
    pub(crate) agenda: Agenda,
    /// Units with packets to deliver.
    pub(crate) senders: Vec<usize>,
    pub(crate) grid: [[u16; GRID_WIDTH as usize]; GRID_HEIGHT as usize],
    /// Unit of each Ethernet channel.
    pub(crate) channels: [Option<u16>; 16],
    pub(crate) timing: Arc<Timing>,
    /// Configuration entries of the windows.
    pub(crate) windows: [u64; WINDOWS],
    /// PCIe accesses are no longer answered.
    pub(crate) dead: bool,
    pub(crate) conditions: Vec<Condition>,
    /// Frames for the peers: the channel they leave by, and the event at the peer.
    pub(crate) frames: Vec<(u8, Event)>,
}

impl Chip {
    /// Returns the unit and port at a place of the grid.
    pub(crate) fn place(&self, (x, y): Xy) -> (usize, usize) {
        let unit = usize::from(self.grid[usize::from(y)][usize::from(x)]);
        let port = match self.units.get(unit) {
            Some(Unit::Passive(passive)) => passive.port_at((x, y)),
            _ => 0,
        };
        (unit, port)
    }

    /// Returns the unit of an Ethernet channel.
    pub(crate) fn channel(&mut self, channel: u8) -> Option<(usize, &mut Tile)> {
        let unit = usize::from((*self.channels.get(usize::from(channel))?)?);
        match self.units.get_mut(unit) {
            Some(Unit::Core(tile)) => Some((unit, tile)),
            _ => None,
        }
    }

    /// Whether the chip has this Ethernet channel.
    pub(crate) fn has_channel(&self, channel: u8) -> bool {
        self.channels.get(usize::from(channel)).is_some_and(Option::is_some)
    }

    /// Takes the request for a chip reset, if ARC firmware received one.
    pub(crate) fn take_reset(&mut self) -> bool {
        self.units.iter_mut().any(|unit| match unit {
            Unit::Passive(passive) => match &mut passive.backend {
                Backend::Arc(arc) => std::mem::take(&mut arc.reset_requested),
                _ => false,
            },
            Unit::Core(_) => false,
        })
    }

    /// Connects or changes this end of a link. Call only before time begins, or at a cycle the unit
    /// has run up to.
    pub(crate) fn set_link(&mut self, channel: u8, end: LinkEnd, now: u64) {
        if let Some((unit, tile)) = self.channel(channel) {
            tile.run(now, u64::MAX / 2);
            if let Special::Eth(eth) = &mut tile.blocks.special {
                eth.link = Some(end);
            }
            tile.blocks.resume_link(now);
            tile.group.devices_changed(std::mem::take(&mut tile.blocks.changed));
            self.refresh(unit);
        }
    }

    /// Applies an order to a core of the tile at `at`, at the present cycle.
    pub(crate) fn order(&mut self, at: Xy, order: HartOrder, now: u64) {
        let (unit, _) = self.place(at);
        if let Some(Unit::Core(tile)) = self.units.get_mut(unit) {
            tile.run(now, u64::MAX / 2);
            tile.group.order(order);
            self.refresh(unit);
        }
    }

    /// Stops all cores for good, and no longer answers over PCIe.
    pub(crate) fn die(&mut self, now: u64) {
        self.dead = true;
        for unit in 0..self.units.len() {
            if let Unit::Core(tile) = &mut self.units[unit] {
                tile.run(now, u64::MAX / 2);
                for hart in 0..tile.group.len() {
                    tile.group.order(HartOrder::Pause { hart });
                }
                self.refresh(unit);
            }
        }
    }

    /// Lets the counters of a stream read as 0 from now on, or as what they have counted.
    pub(crate) fn hold_stream(&mut self, at: Xy, (stream, held): (u8, bool), now: u64) {
        let (unit, _) = self.place(at);
        if let Some(Unit::Core(tile)) = self.units.get_mut(unit) {
            tile.run(now, u64::MAX / 2);
            tile.hold_stream(stream, held);
            self.refresh(unit);
        }
    }

    /// Brings a unit to the present cycle, with what its sleeping cores would have stored.
    pub(crate) fn catch_up(&mut self, unit: usize, now: u64) {
        self.units[unit].run(now, u64::MAX / 2);
        self.refresh(unit);
    }

    /// Updates the agenda after an access to a unit.
    pub(crate) fn refresh(&mut self, unit: usize) {
        self.changed[unit] = true;
        self.agenda.set(unit, self.units[unit].next());
    }

    /// Returns the first cycle at which anything on the chip happens.
    pub(crate) fn next_activity(&self) -> u64 {
        self.agenda.next_activity()
    }

    /// Posts an event from outside the chip to a unit.
    pub(crate) fn post(&mut self, unit: usize, event: Event) {
        self.units[unit].post(event);
        self.refresh(unit);
    }

    /// Runs every unit that does something before `until` up to it. The other units stay behind,
    /// which has no visible effect.
    pub(crate) fn run(&mut self, until: u64) {
        let lookahead = self.timing.noc_lookahead();
        while let Some(window) = self.agenda.window(until) {
            let mut at = 0;
            while let Some(unit) = self.agenda.soon(at) {
                // The earliest cycle at which other units could reach this one; its own packets
                // limit it further as it sends them.
                let limit = until.min(window.others(unit).saturating_add(lookahead));
                if self.agenda.activity(unit) < limit {
                    self.units[unit].run(limit, lookahead);
                    self.units[unit].run_ahead(until);
                    self.collect(unit);
                    self.refresh(unit);
                }
                at += 1;
            }
            self.deliver();
        }
    }

    /// Takes a unit's conditions and frames, and remembers the unit if it sent packets.
    pub(crate) fn collect(&mut self, unit: usize) {
        let out = self.units[unit].out();
        self.conditions.append(&mut out.conditions);
        self.frames.append(&mut out.frames);
        if !out.packets.is_empty() {
            self.senders.push(unit);
        }
    }

    /// Delivers packets to their target units.
    fn deliver(&mut self) {
        while let Some(sender) = self.senders.pop() {
            let out = self.units[sender].out();
            out.first_arrival = None;
            let mut packets = std::mem::take(&mut out.packets);
            for (to, event) in packets.drain(..) {
                let (target, _) = self.place(to);
                self.post(target, event);
            }
            // Return the buffer, to avoid an allocation per delivery.
            self.units[sender].out().packets = packets;
        }
    }
}
