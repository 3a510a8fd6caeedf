//! Every collective over every transport, mux, place of its tensors and number of ranks. What else
//! its request has is drawn.

use super::relaunch::{draw_request, drawn};
use access::bar_target::BarTarget;
use collectives::rest::Rest;
use collectives::{FabricOptions, Op, Program, Request, Run, RunSettings, TensorLayout, Transport};
use fabric::mux::Policy;
use images::ImageMap;
use launch::ControlError;
use launch::dice::Random;
use machine::fabric::{FabricTopology, MuxCore};
use machine::target::{Mesh, Target};
use serde_json::{Value, json};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use workloads::scene::{Scene, SceneError, Workload};

/// The matrix of collectives.
pub const STUDY: Study = Study {
    name: "collectives",
    about: "Run every collective over every transport, mux, tensor layout and number of ranks",
    options: &[
        Choice::new("mesh", "MESH", "t3000", "The mesh"),
        Choice::new("seed", "N", "1", "Seed of all that is drawn: chips, sizes, directions, ..."),
        Choice::new("parts", "N", "1", "Run one run of so many"),
        Choice::new("part", "N", "0", "Which of them, from 0"),
    ],
    tables: &[RUNS],
    run,
};

const RUNS: Table = Table {
    name: "rows",
    columns: &[
        column("COLLECTIVE", "op", Unit::Text(14)),
        column("RANKS", "ranks", Unit::Count),
        column("TRANSPORT", "transport", Unit::Text(9)),
        column("WORKERS", "workers", Unit::Count),
        column("MUXES", "muxes", Unit::Count),
        column("ON", "core", Unit::Text(6)),
        column("LAYOUT", "layout", Unit::Text(11)),
        column("SIZE", "size", Unit::Bytes),
        column("TIME", "cycles", Unit::Cycles),
        column("WRONG", "wrong", Unit::Count),
        column("OUTCOME", "outcome", Unit::Text(7)),
    ],
};
/// Interval between two polls of a run, in cycles.
const STEP_CYCLES: u64 = 2_000;
/// The most parts.
const MOST_PARTS: u64 = 10_000;
/// The transports: workers of a link and direction, and the core of muxes over a fabric.
const TRANSPORTS: [(u32, Option<MuxCore>); 6] = [
    (1, None),
    (2, None),
    (1, Some(MuxCore::Tensix)),
    (1, Some(MuxCore::Ethernet)),
    (2, Some(MuxCore::Tensix)),
    (2, Some(MuxCore::Ethernet)),
];
const RANKS: [usize; 4] = [2, 3, 4, 8];

/// One run of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixRun {
    /// The collective.
    pub op: Op,
    /// Number of ranks.
    pub ranks: usize,
    /// Workers of each link and direction.
    pub workers: u32,
    /// The core of muxes; none: links with EDMs, not the fabric.
    pub core: Option<MuxCore>,
    /// The place of the tensors.
    pub layout: TensorLayout,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// Which.
    pub run: MatrixRun,
    /// What was drawn.
    pub request: Request,
    /// Muxes.
    pub muxes: usize,
    /// Its time, in cycles.
    pub cycles: Option<u64>,
    /// Wrong elements.
    pub wrong: Option<u64>,
    /// Why it failed, and what it left behind; one sentence each.
    pub failures: Vec<String>,
}

impl MatrixRow {
    /// Whether all data are right and nothing was left behind.
    pub fn is_right(&self) -> bool {
        self.wrong == Some(0) && self.failures.is_empty()
    }
}

/// Returns the runs that a mesh of so many chips has room for.
pub fn matrix(chips: usize) -> Vec<MatrixRun> {
    let mut runs = Vec::new();
    for ranks in RANKS.into_iter().filter(|ranks| *ranks <= chips) {
        for (workers, core) in TRANSPORTS {
            for layout in [TensorLayout::Interleaved, TensorLayout::Sharded] {
                runs.extend(Op::ALL.map(|op| MatrixRun { op, ranks, workers, core, layout }));
            }
        }
    }
    runs
}

/// Runs those that `wanted` chooses, on a mesh that is built anew after a failure.
/// `report` is called with each row.
///
/// # Errors
/// When the mesh cannot be built, or cannot run such a collective.
pub fn study(
    mesh: &str,
    seed: u64,
    wanted: &dyn Fn(usize, MatrixRun) -> bool,
    report: &mut dyn FnMut(&MatrixRow),
) -> Result<Vec<MatrixRow>, SceneError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(mesh) };
    let mut target = scene.build(&mut images)?;
    let rest = Rest::new(&images)?;
    let mut rows: Vec<MatrixRow> = Vec::new();
    let runs = matrix(target.mesh().chips.len());
    if runs.is_empty() {
        let why = "a collective needs two chips or more".to_owned();
        return Err(ControlError::Settings(why).into());
    }
    for (number, run) in runs.into_iter().enumerate().filter(|(number, run)| wanted(*number, *run))
    {
        if rows.last().is_some_and(|row| !row.is_right()) {
            target = scene.build(&mut images)?;
        }
        let mut dice = Random(seed.wrapping_add(number as u64));
        let drawn = drawn(target.mesh(), &images, &mut || draw(&mut dice, run, target.mesh()))?;
        let row = carry_out(&mut target, &mut images, &rest, (run, drawn));
        report(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// Draws a request for a run.
fn draw(dice: &mut Random, run: MatrixRun, mesh: &Mesh) -> Request {
    let MatrixRun { op, ranks, workers, core, layout } = run;
    let mut chips: Vec<_> = mesh.chips.iter().map(|chip| chip.id).collect();
    dice.shuffle(&mut chips);
    chips.truncate(ranks);
    let topologies = FabricTopology::ALL.map(Some);
    let transport = core.map_or(Transport::Edm, |core| {
        let topology = dice.one(&topologies).flatten().filter(|_| dice.below(2) > 0);
        let policy = dice.one(&Policy::ALL).unwrap_or(Policy::Unbounded);
        Transport::Fabric(FabricOptions { topology, core, policy, ..FabricOptions::default() })
    });
    let root = if op.has_root() { dice.below(ranks as u64) as u32 } else { 0 };
    let drawn = draw_request(dice, mesh);
    let all = if drawn.chips.is_empty() { mesh.chips.len() } else { drawn.chips.len() };
    let bytes = drawn.bytes / all as u64 * ranks as u64;
    Request { op, chips, bytes, workers, layout, transport, root, ..drawn }
}

fn carry_out(
    target: &mut BarTarget,
    images: &mut ImageMap,
    rest: &Rest,
    (run, (request, program)): (MatrixRun, (Request, Program)),
) -> MatrixRow {
    let muxes = program.crossing.as_ref().map_or(0, |crossing| crossing.muxes.len());
    let mut row =
        MatrixRow { run, request, muxes, cycles: None, wrong: None, failures: Vec::new() };
    let mut kernels = Run::new(program.clone(), RunSettings::default());
    match kernels.finish(target, images, STEP_CYCLES) {
        Ok(Some(report)) => {
            (row.cycles, row.wrong) = (Some(report.time_cycles), report.wrong);
            let busbw = program.size_bytes as f64 * program.bus_factor / report.time_cycles as f64;
            if busbw > program.link_rate() {
                row.failures.push(format!("a busbw of {busbw:.2} GB/s is above the links' rate"));
            }
        }
        Ok(None) => row.failures.push("the run was cancelled".to_owned()),
        Err(error) => row.failures.push(error.sentence(target.mesh().layout())),
    }
    match rest.leftovers(target, &program) {
        Ok(left) => row.failures.extend(left),
        Err(error) => row.failures.push(error.to_string()),
    }
    row
}

fn row(row: &MatrixRow) -> Value {
    let MatrixRun { op, ranks, workers, core, layout } = row.run;
    json!({
        "op": op.name(),
        "ranks": ranks,
        "transport": row.request.transport.name(),
        "workers": workers,
        "muxes": row.muxes,
        "core": core.map(|core| if core == MuxCore::Tensix { "tensix" } else { "eth" }),
        "layout": layout.name(),
        "size": row.request.bytes,
        "cycles": row.cycles,
        "wrong": row.wrong,
        "outcome": if row.is_right() { "right" } else { "FAILED" },
        "failures": row.failures,
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (mesh, seed) = (options.text("mesh"), options.seed()?);
    let parts = options.number("parts", [1, MOST_PARTS])?;
    let part = options.number("part", [0, parts - 1])?;
    report.fact("mesh", mesh);
    report.fact("seed", seed);
    let wanted = |number: usize, _| number as u64 % parts == part;
    let rows = study(mesh, seed, &wanted, &mut |it| {
        report.row(&RUNS, row(it));
        for failure in &it.failures {
            report.note(format!("{failure} ({:?})", it.request));
        }
    });
    let rows = rows.map_err(StudyError::on(mesh))?;
    report.note(format!(
        "{} of {} runs are right",
        rows.iter().filter(|it| it.is_right()).count(),
        rows.len()
    ));
    Ok(rows.iter().all(MatrixRow::is_right))
}
