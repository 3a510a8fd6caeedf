//! Disruptors: what a machine does that nobody asked of it, from one cycle to another.
//!
//! A disruption is a deed like any other: it counts from a cycle, and neither threads nor the cutting of `clock` show in it.
//! Several may ail one link; each ends by itself.

use std::collections::BTreeMap;

/// One in so many: the unit of [`Disruption::BitErrors`].
pub(crate) const TERABIT: u64 = 1_000_000_000_000;

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disruption {
    /// The link carries nothing. Packets on the wire still arrive; the rest waits in the queues.
    LinkDown {
        /// Number of the link in the configuration.
        link: usize,
    },
    /// The link is down for the first half of each period, and up for the second.
    LinkFlap {
        /// Number of the link in the configuration.
        link: usize,
        /// Length of a period; at least 2.
        period_cycles: u64,
    },
    /// A packet occupies the line so many times as long, in both directions. The way of a bit stays as long as it was.
    LinkSlow {
        /// Number of the link in the configuration.
        link: usize,
        /// How many times as long; at least 1.
        factor: u32,
    },
    /// Bits arrive wrong, in both directions. TT-link finds out and sends a broken packet again: it and everything behind it
    /// is later by a round trip and the time of the packet.
    BitErrors {
        /// Number of the link in the configuration.
        link: usize,
        /// Wrong bits in 10^12.
        per_terabit: u64,
    },
    /// Packets with one Ethernet word of payload or less (acknowledgements, credits, register writes) that one end sends arrive
    /// later. The line is not held up, but what the same queue sends behind such a packet does not overtake it.
    SlowAck {
        /// Number of the link in the configuration.
        link: usize,
        /// The end that sends them: 0 for `a` of the configuration, 1 for `b`.
        end: usize,
        /// How much later.
        delay_cycles: u64,
    },
    /// A running core executes nothing, until this ends or the core is reset; its tile answers as ever.
    StuckCore(HartId),
    /// All that ails a link ends, and it is up.
    LinkMended {
        /// Number of the link in the configuration.
        link: usize,
    },
    /// A stuck core goes on.
    CoreReleased(HartId),
}

/// A core of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HartId {
    /// Chip index.
    pub chip: usize,
    /// Column of the tile on NOC 0.
    pub x: u8,
    /// Row of the tile on NOC 0.
    pub y: u8,
    /// Index of the core in its tile, in the order of the mailboxes: BRISC, NCRISC, TRISC0-2; ERISC.
    pub hart: u8,
}

/// What ails a link, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ailment {
    pub(crate) down: bool,
    pub(crate) factor: u64,
    pub(crate) per_terabit: u64,
    /// By the end that sends.
    pub(crate) ack_delay: [u64; 2],
}

/// A step of the plan.
#[derive(Clone, Copy, Debug)]
enum Step {
    Begin(Disruption),
    End,
    Turn,
}

/// What must be looked at again after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concerned {
    Link(usize),
    /// The link comes up whatever took it down.
    Mended(usize),
    Stuck(HartId),
    Released(HartId),
}

/// One that has begun.
#[derive(Clone, Copy, Debug)]
struct Active {
    id: u64,
    what: Disruption,
    /// Of a flapping link: the half of its period in which it is down.
    down: bool,
}

/// The disruptions of a mesh: those to come, and those that are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disruptor {
    /// By cycle, then in the order in which they were asked for.
    plan: BTreeMap<(u64, u64), Step>,
    active: Vec<Active>,
    ids: u64,
}

impl Disruption {
    fn link(&self) -> Option<usize> {
        match *self {
            Self::LinkDown { link }
            | Self::LinkFlap { link, .. }
            | Self::LinkSlow { link, .. }
            | Self::BitErrors { link, .. }
            | Self::SlowAck { link, .. } => Some(link),
            Self::StuckCore(_) | Self::LinkMended { .. } | Self::CoreReleased(_) => None,
        }
    }
}

impl Disruptor {
    /// Plans a disruption.
    pub(crate) fn plan(&mut self, what: Disruption, from: u64, until: Option<u64>) {
        // Two numbers each: one for the beginning and the turns, one for the end.
        self.ids += 2;
        self.plan.insert((from, self.ids), Step::Begin(what));
        if let Some(until) = until {
            self.plan.insert((until.max(from), self.ids + 1), Step::End);
        }
    }

    /// Cycle of the next step.
    pub(crate) fn next_at(&self) -> u64 {
        self.plan.first_key_value().map_or(u64::MAX, |((at, _), _)| *at)
    }

    /// Takes the next step, and says what it concerns.
    pub(crate) fn step(&mut self) -> Option<Concerned> {
        let ((at, id), step) = self.plan.pop_first()?;
        match step {
            Step::Begin(what) => Some(self.begin(id, what, at)),
            Step::Turn => {
                let active = self.active.iter_mut().find(|active| active.id == id)?;
                active.down = !active.down;
                let what = active.what;
                self.next_turn(id, what, at);
                what.link().map(Concerned::Link)
            }
            Step::End => {
                let index = self.active.iter().position(|active| active.id == id - 1)?;
                let what = self.active.remove(index).what;
                self.forget_ended();
                match what {
                    Disruption::StuckCore(core) => self.free(core),
                    what => what.link().map(Concerned::Link),
                }
            }
        }
    }

    fn begin(&mut self, id: u64, what: Disruption, at: u64) -> Concerned {
        let concerned = match what {
            Disruption::LinkMended { link } => {
                self.active.retain(|active| active.what.link() != Some(link));
                self.forget_ended();
                return Concerned::Mended(link);
            }
            Disruption::CoreReleased(core) => {
                self.active.retain(|active| active.what != Disruption::StuckCore(core));
                self.forget_ended();
                return Concerned::Released(core);
            }
            Disruption::StuckCore(core) => Concerned::Stuck(core),
            Disruption::LinkDown { link }
            | Disruption::LinkFlap { link, .. }
            | Disruption::LinkSlow { link, .. }
            | Disruption::BitErrors { link, .. }
            | Disruption::SlowAck { link, .. } => Concerned::Link(link),
        };
        self.active.push(Active { id, what, down: true });
        self.next_turn(id, what, at);
        concerned
    }

    fn next_turn(&mut self, id: u64, what: Disruption, at: u64) {
        if let Disruption::LinkFlap { period_cycles, .. } = what {
            let half = (period_cycles / 2).max(1);
            self.plan.insert((at.saturating_add(half), id), Step::Turn);
        }
    }

    /// A link that flaps no longer takes no more turns; ends of what is over already do nothing.
    fn forget_ended(&mut self) {
        let Self { plan, active, .. } = self;
        let is = |id| active.iter().any(|active| active.id == id);
        plan.retain(|(_, id), step| !matches!(step, Step::Turn) || is(*id));
    }

    /// A core is no longer stuck, unless something else holds it too.
    fn free(&self, core: HartId) -> Option<Concerned> {
        let held = self.active.iter().any(|active| active.what == Disruption::StuckCore(core));
        (!held).then_some(Concerned::Released(core))
    }

    /// A chip was reset: none of its cores is stuck any more.
    pub(crate) fn chip_reset(&mut self, chip: usize) {
        let of_chip = |what| matches!(what, Disruption::StuckCore(core) if core.chip == chip);
        self.active.retain(|active| !of_chip(active.what));
        self.forget_ended();
    }

    /// All that ails a link now.
    pub(crate) fn ailment(&self, link: usize) -> Ailment {
        let mut all = Ailment { down: false, factor: 1, per_terabit: 0, ack_delay: [0; 2] };
        for active in self.active.iter().filter(|active| active.what.link() == Some(link)) {
            match active.what {
                Disruption::LinkDown { .. } => all.down = true,
                Disruption::LinkFlap { .. } => all.down |= active.down,
                Disruption::LinkSlow { factor, .. } => {
                    all.factor = all.factor.max(u64::from(factor));
                }
                Disruption::BitErrors { per_terabit, .. } => {
                    all.per_terabit = all.per_terabit.max(per_terabit);
                }
                Disruption::SlowAck { end, delay_cycles, .. } => {
                    let delay = &mut all.ack_delay[end & 1];
                    *delay = (*delay).max(delay_cycles);
                }
                _ => {}
            }
        }
        all
    }
}
