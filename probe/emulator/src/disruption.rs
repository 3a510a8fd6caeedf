//! Disruptors: faults of the machine, each from one cycle to another.
//!
//! A disruption takes effect at an exact cycle, independent of host threads and of how `clock`
//! calls are split. Several may affect one link; each ends separately.

use std::collections::BTreeMap;

/// The denominator of [`Disruption::BitErrors`].
pub(crate) const TERABIT: u64 = 1_000_000_000_000;

/// A fault of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disruption {
    /// The link carries nothing. Packets on the wire still arrive; the others wait in the queues.
    LinkDown {
        /// Index of the link in the configuration.
        link: usize,
    },
    /// The link is down for the first half of each period, and up for the second.
    LinkFlap {
        /// Index of the link in the configuration.
        link: usize,
        /// Length of a period; at least 2.
        period_cycles: u64,
    },
    /// A packet occupies the line `factor` times as long, in both directions. The latency of a bit
    /// is unchanged.
    LinkSlow {
        /// Index of the link in the configuration.
        link: usize,
        /// Multiple of the normal occupancy; at least 1.
        factor: u32,
    },
    /// Bit errors in both directions. TT-link detects a corrupt packet and sends it again: it and
    /// all packets behind it arrive later by a round trip and the time of the packet.
    BitErrors {
        /// Index of the link in the configuration.
        link: usize,
        /// Bit errors per 10^12 bits.
        per_terabit: u64,
    },
    /// Packets from one end with at most one Ethernet word of payload (acknowledgements, credits,
    /// register writes) arrive later. The line stays free, but later packets of the same queue do
    /// not overtake.
    SlowAck {
        /// Index of the link in the configuration.
        link: usize,
        /// The sending end: 0 for `a` of the configuration, 1 for `b`.
        end: usize,
        /// The added delay.
        delay_cycles: u64,
    },
    /// A running core executes nothing until this ends or the core is reset; its tile still
    /// answers.
    StuckCore(HartId),
    /// All disruptions of a link end, and the link is up.
    LinkMended {
        /// Index of the link in the configuration.
        link: usize,
    },
    /// A stuck core continues.
    CoreReleased(HartId),
    /// The counters of a stream read as 0 until this ends or the chip is reset, so that nobody sees the
    /// credits in them. They still count.
    StreamHeld(StreamId),
    /// The counters of a held stream read as what they have counted.
    StreamFreed(StreamId),
    /// The chip is dead until it is reset: its cores execute nothing, its links are down, and its BARs
    /// answer all ones.
    ChipDead {
        /// Chip index.
        chip: usize,
    },
}

/// A stream of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamId {
    /// Chip index.
    pub chip: usize,
    /// Column of the tile on NOC 0.
    pub x: u8,
    /// Row of the tile on NOC 0.
    pub y: u8,
    /// Number of the stream in its tile.
    pub stream: u8,
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
    /// Index of the core in its tile, in the order of the mailboxes: BRISC, NCRISC, TRISC0-2;
    /// ERISC.
    pub hart: u8,
}

/// The combined effect of a link's active disruptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Impairment {
    pub(crate) down: bool,
    pub(crate) factor: u64,
    pub(crate) per_terabit: u64,
    /// By the sending end.
    pub(crate) ack_delay: [u64; 2],
}

/// A step of the plan.
#[derive(Clone, Copy, Debug)]
enum DisruptionStep {
    Begin(Disruption),
    End,
    Toggle,
}

/// What a step affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affected {
    Link(usize),
    /// The link comes up, whatever took it down.
    Mended(usize),
    Stuck(HartId),
    Released(HartId),
    Held(StreamId),
    Freed(StreamId),
    /// This chip.
    Dead(usize),
}

/// A disruption that has begun.
#[derive(Clone, Copy, Debug)]
struct Active {
    id: u64,
    disruption: Disruption,
    /// For a flapping link: whether it is in the half of its period in which it is down.
    down: bool,
}

/// The disruptions of a mesh: planned and active.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disruptor {
    /// By cycle, then in the order of the requests.
    plan: BTreeMap<(u64, u64), DisruptionStep>,
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
            Self::StuckCore(_)
            | Self::LinkMended { .. }
            | Self::CoreReleased(_)
            | Self::StreamHeld(_)
            | Self::StreamFreed(_)
            | Self::ChipDead { .. } => None,
        }
    }
}

impl Disruptor {
    /// Plans a disruption.
    pub(crate) fn plan(&mut self, disruption: Disruption, from: u64, until: Option<u64>) {
        // Two ids each: one for the beginning and the toggles, one for the end.
        self.ids += 2;
        self.plan.insert((from, self.ids), DisruptionStep::Begin(disruption));
        if let Some(until) = until {
            self.plan.insert((until.max(from), self.ids + 1), DisruptionStep::End);
        }
    }

    /// Returns the cycle of the next step.
    pub(crate) fn next_at(&self) -> u64 {
        self.plan.first_key_value().map_or(u64::MAX, |((at, _), _)| *at)
    }

    /// Takes the next step and returns what it affects.
    pub(crate) fn step(&mut self) -> Option<Affected> {
        let ((at, id), step) = self.plan.pop_first()?;
        match step {
            DisruptionStep::Begin(disruption) => Some(self.begin(id, disruption, at)),
            DisruptionStep::Toggle => {
                let active = self.active.iter_mut().find(|active| active.id == id)?;
                active.down = !active.down;
                let disruption = active.disruption;
                self.next_toggle(id, disruption, at);
                disruption.link().map(Affected::Link)
            }
            DisruptionStep::End => {
                let index = self.active.iter().position(|active| active.id == id - 1)?;
                let disruption = self.active.remove(index).disruption;
                self.forget_ended();
                match disruption {
                    Disruption::StuckCore(core) => {
                        self.unless_active(disruption, Affected::Released(core))
                    }
                    Disruption::StreamHeld(stream) => {
                        self.unless_active(disruption, Affected::Freed(stream))
                    }
                    disruption => disruption.link().map(Affected::Link),
                }
            }
        }
    }

    fn begin(&mut self, id: u64, disruption: Disruption, at: u64) -> Affected {
        let affected = match disruption {
            Disruption::LinkMended { link } => {
                self.active.retain(|active| active.disruption.link() != Some(link));
                self.forget_ended();
                return Affected::Mended(link);
            }
            Disruption::CoreReleased(core) => {
                self.active.retain(|active| active.disruption != Disruption::StuckCore(core));
                self.forget_ended();
                return Affected::Released(core);
            }
            Disruption::StreamFreed(stream) => {
                self.active.retain(|active| active.disruption != Disruption::StreamHeld(stream));
                self.forget_ended();
                return Affected::Freed(stream);
            }
            Disruption::StuckCore(core) => Affected::Stuck(core),
            Disruption::StreamHeld(stream) => Affected::Held(stream),
            Disruption::ChipDead { chip } => Affected::Dead(chip),
            Disruption::LinkDown { link }
            | Disruption::LinkFlap { link, .. }
            | Disruption::LinkSlow { link, .. }
            | Disruption::BitErrors { link, .. }
            | Disruption::SlowAck { link, .. } => Affected::Link(link),
        };
        self.active.push(Active { id, disruption, down: true });
        self.next_toggle(id, disruption, at);
        affected
    }

    fn next_toggle(&mut self, id: u64, disruption: Disruption, at: u64) {
        if let Disruption::LinkFlap { period_cycles, .. } = disruption {
            let half = (period_cycles / 2).max(1);
            self.plan.insert((at.saturating_add(half), id), DisruptionStep::Toggle);
        }
    }

    /// Drops the toggles of links that no longer flap. Planned ends of inactive disruptions do
    /// nothing.
    fn forget_ended(&mut self) {
        let Self { plan, active, .. } = self;
        let is_active = |id| active.iter().any(|active| active.id == id);
        plan.retain(|(_, id), step| !matches!(step, DisruptionStep::Toggle) || is_active(*id));
    }

    /// Returns the effect of the end of a disruption, unless another one like it goes on.
    fn unless_active(&self, disruption: Disruption, effect: Affected) -> Option<Affected> {
        let goes_on = self.active.iter().any(|active| active.disruption == disruption);
        (!goes_on).then_some(effect)
    }

    /// Ends the disruptions of a chip, its cores and streams after a reset.
    pub(crate) fn chip_reset(&mut self, chip: usize) {
        let of_chip = |disruption| match disruption {
            Disruption::StuckCore(core) => core.chip == chip,
            Disruption::StreamHeld(stream) => stream.chip == chip,
            Disruption::ChipDead { chip: dead } => dead == chip,
            _ => false,
        };
        self.active.retain(|active| !of_chip(active.disruption));
        self.forget_ended();
    }

    /// Whether a chip is dead.
    pub(crate) fn is_dead(&self, chip: usize) -> bool {
        self.active.iter().any(|active| active.disruption == Disruption::ChipDead { chip })
    }

    /// Returns the combined effect of a link's active disruptions.
    pub(crate) fn impairment(&self, link: usize) -> Impairment {
        let mut all = Impairment { down: false, factor: 1, per_terabit: 0, ack_delay: [0; 2] };
        for active in self.active.iter().filter(|active| active.disruption.link() == Some(link)) {
            match active.disruption {
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
