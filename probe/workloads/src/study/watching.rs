//! What watching costs a running workload: laps of a ring ping that is looked at, against one that is not.

use super::Rig;
use crate::scene::SceneError;
use decode::inspect::ReadSet;
use launch::RingStop;
use launch::dice::Dice;
use machine::target::{Mesh, Target};

/// Looks without a pause begin somewhere in about a lap.
const LAP_CYCLES: u64 = 10_000;

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Nothing.
    Nothing,
    /// An Ethernet tile of the ring and the compute tiles, on a chip with PCIe: through windows alone.
    Near,
    /// An Ethernet tile of the ring on a chip without: through the routing queues.
    Far,
}

/// One rate at which a mesh is watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// What was looked at.
    pub sight: Sight,
    /// From look to look, in cycles; 0 is without a pause.
    pub period_cycles: u64,
    /// Looks that were taken.
    pub snapshots: u64,
    /// Cycles of the run.
    pub cycles: u64,
    /// Laps of the ring in these.
    pub laps: u64,
    /// Laps of the same mesh in the same cycles when nobody looks.
    pub laps_unwatched: u64,
}

impl Cost {
    /// Cycles of one lap.
    pub fn lap_cycles(&self) -> f64 {
        self.cycles as f64 / self.laps.max(1) as f64
    }

    /// Cycles that watching adds to a thousand cycles of the workload.
    pub fn per_thousand(&self) -> f64 {
        1000.0 * (self.laps_unwatched as f64 / self.laps.max(1) as f64 - 1.0)
    }
}

/// What a look of this sight reads.
pub fn read_set(mesh: &Mesh, stops: &[RingStop], sight: Sight) -> Option<ReadSet> {
    let pcie = |chip| mesh.chip(chip).is_some_and(|chip| chip.pcie);
    let on = |near: bool| stops.iter().map(|stop| stop.place).find(|p| pcie(p.chip) == near);
    let of = |near| on(near).map(|place| (place.chip, place.tile));
    Some(match sight {
        Sight::Nothing => ReadSet::default(),
        Sight::Near => {
            let tile = of(true)?;
            ReadSet { tile: Some(tile), compute: vec![tile.0], ..ReadSet::default() }
        }
        Sight::Far => ReadSet { tile: Some(of(false)?), ..ReadSet::default() },
    })
}

/// Runs the ring for so many cycles at each rate, each time on a fresh mesh; the seed says how long after the ring's begin the
/// first look comes. A mesh without a far chip has no rows for far looks.
///
/// # Errors
/// As [`Rig::new`], or when the mesh is gone.
pub fn study(
    mesh: &str,
    seed: u64,
    run_cycles: u64,
    periods_cycles: &[u64],
) -> Result<Vec<Cost>, SceneError> {
    let mut costs = Vec::new();
    for sight in [Sight::Near, Sight::Far] {
        for &period_cycles in periods_cycles {
            let mut rig = Rig::new(mesh, seed, 0)?;
            let stops = rig.ring().stops.clone();
            let Some(read_set) = read_set(rig.target().mesh(), &stops, sight) else { break };
            let (start, before) = (rig.cycles(), rig.laps());
            let most = if period_cycles == 0 { LAP_CYCLES } else { period_cycles };
            rig.pass_until(start + Dice(seed).below(most.min(run_cycles)))?;
            let snapshots = rig.watch(&read_set, period_cycles, start + run_cycles)?;
            let (end, laps) = (rig.cycles(), rig.laps() - before);
            let mut alone = Rig::new(mesh, seed, 0)?;
            let before = alone.laps();
            alone.pass_until(end)?;
            let laps_unwatched = alone.laps() - before;
            let cycles = end - start;
            costs.push(Cost { sight, period_cycles, snapshots, cycles, laps, laps_unwatched });
        }
    }
    Ok(costs)
}
