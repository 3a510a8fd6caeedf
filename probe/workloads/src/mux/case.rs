//! The case of a run, drawn by the seed: the workers' packets, the routers' speed, and their
//! congestion.

use launch::dice::Random;
use std::fmt;

/// Bytes that a line of 100 Gb/s carries.
const BYTES_PER_25_CYCLES: u64 = 312;
/// Bytes that a packet adds to its payload on the line.
const OVERHEAD_BYTES: u64 = 100;
/// Time of a router for a packet in the write-up: 5 to 10 us.
const PACKET_CYCLES: [u64; 2] = [5_000, 10_000];
/// The write-up's reduce-scatter sends about eight packets, in pages of tiles, and its mux has one
/// slot per channel.
const PACKETS: [u64; 2] = [4, 12];
const PAYLOADS: [u32; 3] = [1024, 2048, 4096];
const SLOTS: u32 = 1;
/// A long congestion lasts from one to 2^LONG_BITS healthy runs.
const LONG_BITS: u64 = 3;
/// Longest pause between two packets of a worker, in cycles.
const MOST_REST: u64 = 1_000;

/// The workload of the workers.
#[derive(Clone, Debug)]
pub struct Case {
    /// Packets of each worker, by mux and worker.
    pub packets: Vec<Vec<u32>>,
    /// Pause between two packets of each worker, by mux and worker.
    pub interval_cycles: Vec<Vec<u32>>,
    /// Payload of a packet, in bytes.
    pub bytes: u32,
    /// Slots of each channel of a mux.
    pub slots: u32,
    /// Factor by which the lines are slower than 100 Gb/s.
    pub line_factor: u32,
    /// A worker, by mux and number, that ends without closing its channel, as one that crashes.
    pub crashes: Option<(usize, usize)>,
}

impl Case {
    /// Draws a case.
    pub fn draw(dice: &mut Random, links: usize, workers: usize) -> Self {
        let bytes = PAYLOADS[dice.below(PAYLOADS.len() as u64) as usize];
        let pace = between(dice, PACKET_CYCLES);
        let line_bytes = (u64::from(bytes) + OVERHEAD_BYTES) * 25;
        let line_factor = (pace * BYTES_PER_25_CYCLES / line_bytes).max(1) as u32;
        let each = |dice: &mut Random, draw: &dyn Fn(&mut Random) -> u64| -> Vec<Vec<u32>> {
            let mux = |dice: &mut Random| (0..workers).map(|_| draw(dice) as u32).collect();
            (0..links).map(|_| mux(dice)).collect()
        };
        let packets = each(dice, &|dice| between(dice, PACKETS));
        let interval_cycles = each(dice, &|dice| dice.below(MOST_REST));
        Self { packets, interval_cycles, bytes, slots: SLOTS, line_factor, crashes: None }
    }

    /// Returns the packets of all workers of a mux.
    pub fn packets_of(&self, mux: usize) -> u32 {
        self.packets.get(mux).map_or(0, |packets| packets.iter().sum())
    }
}

/// A fault that congests a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionFault {
    /// Its link is slower by this factor.
    SlowLink {
        /// The factor.
        factor: u32,
    },
    /// The peer's acknowledgements and completions arrive later by this delay.
    LateCredits {
        /// The delay, in cycles.
        delay_cycles: u64,
    },
    /// The peer stands still: it acknowledges nothing and frees no slot.
    PeerStuck,
    /// The router itself stands still.
    RouterStuck,
}

/// A congestion of the routers.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// The fault.
    pub fault: CongestionFault,
    /// Number of links with the fault, from the first.
    pub links: usize,
    /// Its beginning, in cycles after the start of the run.
    pub from_cycles: u64,
    /// Its length; `None`: for ever.
    pub cycles: Option<u64>,
}

fn between(dice: &mut Random, [least, most]: [u64; 2]) -> u64 {
    least + dice.below(most - least + 1)
}

/// Draws from 1 to 2^bits times `least`; each octave is equally likely.
fn scaled(dice: &mut Random, least: u64, bits: u64) -> u64 {
    let part = least << dice.below(bits);
    part + part_of(dice, part)
}

/// Draws a part of the whole in proportion to it, so that a slightly longer whole changes the part
/// only slightly.
fn part_of(dice: &mut Random, whole: u64) -> u64 {
    whole * dice.below(1_000) / 1_000
}

impl Congestion {
    /// Draws a congestion. One in eight lasts for ever; the others last from a packet's time to
    /// eight healthy runs.
    pub(super) fn draw(dice: &mut Random, healthy: u64, links: usize) -> Self {
        let stuck = |dice: &mut Random| match dice.below(2) {
            0 => CongestionFault::PeerStuck,
            _ => CongestionFault::RouterStuck,
        };
        let (fault, cycles) = match dice.below(8) {
            0 | 1 => {
                let factor = scaled(dice, 2, 5) as u32;
                (CongestionFault::SlowLink { factor }, Some(scaled(dice, healthy, LONG_BITS)))
            }
            2 => {
                let delay_cycles = scaled(dice, PACKET_CYCLES[1], 5);
                (
                    CongestionFault::LateCredits { delay_cycles },
                    Some(scaled(dice, healthy, LONG_BITS)),
                )
            }
            3 => (stuck(dice), Some(scaled(dice, PACKET_CYCLES[0], 6))),
            4..7 => (stuck(dice), Some(scaled(dice, healthy, LONG_BITS))),
            _ => (stuck(dice), None),
        };
        let links = if dice.below(2) == 0 { 1 } else { links };
        Self { fault, links, from_cycles: part_of(dice, healthy), cycles }
    }
}

impl fmt::Display for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            CongestionFault::LateCredits { delay_cycles } => {
                write!(f, "acknowledges {delay_cycles} cycles late")?;
            }
            CongestionFault::SlowLink { factor } => write!(f, "a link {factor} times as slow")?,
            CongestionFault::PeerStuck => write!(f, "a peer of the router that stands still")?,
            CongestionFault::RouterStuck => write!(f, "a router that stands still")?,
        }
        match self.cycles {
            Some(cycles) => write!(f, " from {} for {cycles}", self.from_cycles)?,
            None => write!(f, " from {} for ever", self.from_cycles)?,
        }
        let s = if self.links == 1 { "" } else { "s" };
        write!(f, " on {} link{s}", self.links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_what_the_write_up_describes() {
        const HEALTHY: u64 = 500_000;
        let mut kinds = [0u32; 5];
        for seed in 0..400 {
            let mut dice = Random(seed);
            let case = Case::draw(&mut dice, 2, 8);
            let line_bytes = (u64::from(case.bytes) + OVERHEAD_BYTES) * u64::from(case.line_factor);
            let packet_cycles = line_bytes * 25 / BYTES_PER_25_CYCLES;
            assert!((4_500..=10_000).contains(&packet_cycles), "{case:?}");
            assert!(case.packets.iter().flatten().all(|packets| (4..=12).contains(packets)));
            assert_eq!(case.slots, 1);
            let congestion = Congestion::draw(&mut dice, HEALTHY, 2);
            assert!(congestion.from_cycles < HEALTHY, "{congestion:?}");
            kinds[match (congestion.fault, congestion.cycles) {
                (_, None) => 0,
                (_, Some(cycles)) if cycles < HEALTHY => 1,
                (CongestionFault::SlowLink { .. }, _) => 2,
                (CongestionFault::LateCredits { .. }, _) => 3,
                (CongestionFault::PeerStuck | CongestionFault::RouterStuck, _) => 4,
            }] += 1;
        }
        assert!(kinds.iter().all(|&count| count > 20), "{kinds:?}");
    }
}
