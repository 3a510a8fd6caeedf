//! The cost of watching a running workload: laps of a watched ring ping against laps of an
//! unwatched one.

use super::Rig;
use decode::inspect::ReadSet;
use launch::RingStop;
use launch::dice::Random;
use machine::target::{Mesh, Target};
use serde_json::{Value, json};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use workloads::scene::SceneError;

/// The cost of reading a running ring ping.
pub const STUDY: Study = Study {
    name: "watching",
    about: "Print what reading costs a running ring ping, at several rates, through windows and through queues",
    options: &[
        Choice::new("mesh", "MESH", "n300", "The mesh"),
        Choice::new("seed", "N", "0", "Time from the ring's start to the first snapshot"),
        Choice::new(
            "cycles",
            "CYCLES",
            "5_000_000",
            "Length of each run, in cycles of a nanosecond",
        ),
    ],
    tables: &[COSTS],
    run,
};

const COSTS: Table = Table {
    name: "rows",
    columns: &[
        column("ROUTE", "route", Unit::Text(6)),
        column("PERIOD", "period_cycles", Unit::Cycles),
        column("SNAPSHOTS", "snapshots", Unit::Count),
        column("LAPS", "laps", Unit::Count),
        column("UNWATCHED", "laps_unwatched", Unit::Count),
        column("COST OF 1000 CYCLES", "cost_per_thousand", Unit::Fixed(2)),
    ],
};
/// Snapshots per second of the mesh: two hundred up to as many as possible.
const PERIODS_CYCLES: [u64; 5] = [5_000_000, 1_000_000, 100_000, 10_000, 0];
/// Limit of the run's length: longer runs take hours.
const MOST_CYCLES: u64 = 10_000_000_000;
/// About a lap, in cycles: without a period, the first snapshot is at a random time within it.
const LAP_CYCLES: u64 = 10_000;

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Nothing.
    Nothing,
    /// An Ethernet tile of the ring and the compute tiles of its chip, which has PCIe: through TLB
    /// windows only.
    Near,
    /// An Ethernet tile of the ring on a far chip: through the routing queues.
    Far,
}

/// The cost of watching at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// What was watched.
    pub sight: Watched,
    /// Interval between two snapshots, in cycles; 0: without a pause.
    pub period_cycles: u64,
    /// Snapshots taken.
    pub snapshots: u64,
    /// Cycles of the run.
    pub cycles: u64,
    /// Laps of the ring in these cycles.
    pub laps: u64,
    /// Laps of the same mesh, unwatched, in the same cycles.
    pub laps_unwatched: u64,
}

impl Cost {
    /// Returns the cycles of one lap.
    pub fn lap_cycles(&self) -> f64 {
        self.cycles as f64 / self.laps.max(1) as f64
    }

    /// Returns the cycles that watching adds to a thousand cycles of the workload.
    pub fn per_thousand(&self) -> f64 {
        1000.0 * (self.laps_unwatched as f64 / self.laps.max(1) as f64 - 1.0)
    }
}

/// Returns the read set of a sight; none if the mesh has no such tile.
pub fn read_set(mesh: &Mesh, stops: &[RingStop], sight: Watched) -> Option<ReadSet> {
    let pcie = |chip| mesh.chip(chip).is_some_and(|chip| chip.pcie);
    let on = |near: bool| stops.iter().map(|stop| stop.place).find(|p| pcie(p.chip) == near);
    let tile_on = |near| on(near).map(|place| (place.chip, place.tile));
    Some(match sight {
        Watched::Nothing => ReadSet::default(),
        Watched::Near => {
            let tile = tile_on(true)?;
            ReadSet { tile: Some(tile), compute: vec![tile.0], ..ReadSet::default() }
        }
        Watched::Far => ReadSet { tile: Some(tile_on(false)?), ..ReadSet::default() },
    })
}

/// Runs the ring for `run_cycles` at each rate, each time on a fresh mesh. The seed determines the
/// time of the first snapshot. A mesh without a far chip has no rows for [`Watched::Far`].
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
    for sight in [Watched::Near, Watched::Far] {
        for &period_cycles in periods_cycles {
            let mut rig = Rig::new(mesh, seed, 0)?;
            let stops = rig.ring().stops.clone();
            let Some(read_set) = read_set(rig.target().mesh(), &stops, sight) else { break };
            let (start, before) = (rig.cycles(), rig.laps());
            let most = if period_cycles == 0 { LAP_CYCLES } else { period_cycles };
            rig.pass_until(start + Random(seed).below(most.min(run_cycles)))?;
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

fn row(cost: &Cost) -> Value {
    json!({
        "route": match cost.sight {
            Watched::Nothing => "none",
            Watched::Near => "window",
            Watched::Far => "queue",
        },
        "period_cycles": cost.period_cycles,
        "snapshots": cost.snapshots,
        "cycles": cost.cycles,
        "laps": cost.laps,
        "laps_unwatched": cost.laps_unwatched,
        "cost_per_thousand": cost.per_thousand(),
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (mesh, seed) = (options.text("mesh"), options.seed()?);
    let cycles = options.number("cycles", [1, MOST_CYCLES])?;
    report.fact("mesh", mesh);
    report.fact("seed", seed);
    // A period longer than the run is one snapshot at its start.
    let costs = study(mesh, seed, cycles, &PERIODS_CYCLES).map_err(StudyError::on(mesh))?;
    for cost in &costs {
        report.row(&COSTS, row(cost));
    }
    Ok(true)
}
