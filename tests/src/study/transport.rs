//! Compares the same collectives over EDMs and over the fabric.

use access::bar_target::BarTarget;
use collectives::{FabricOptions, Op, Request, Run, RunSettings, Transport, compile};
use images::ImageMap;
use launch::ControlError;
use machine::fabric::FabricTopology;
use machine::target::Target;
use serde_json::{Value, json};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use workloads::scene::{Scene, SceneError, Workload};

/// Collectives over EDMs and over the fabric.
pub const STUDY: Study = Study {
    name: "transport",
    about: "Run collectives over EDMs and over the fabric, and print the times of both",
    options: &[
        Choice::new("mesh", "MESH", "n300", "The mesh"),
        Choice::optional(
            "fabric",
            "TOPOLOGY",
            "What the routers are built for: line, ring, mesh or torus; what fits the ranks without it",
        ),
        Choice::new(
            "workers",
            "N",
            "2",
            "Workers of each link and direction; with EDMs two at most",
        ),
        Choice::new("seed", "N", "1", "Seed of the data"),
    ],
    tables: &[ROWS],
    run,
};

/// Limit: the channels of a mux.
const MOST_WORKERS: u64 = 8;
const ROWS: Table = Table {
    name: "rows",
    columns: &[
        column("COLLECTIVE", "op", Unit::Text(14)),
        column("SIZE", "size", Unit::Bytes),
        column("EDM us", "edm_us", Unit::Fixed(2)),
        column("FABRIC us", "fabric_us", Unit::Fixed(2)),
        column("FABRIC/EDM", "factor", Unit::Fixed(2)),
        column("ROUTERS", "fabric", Unit::Text(7)),
        column("MUXES", "muxes", Unit::Count),
        column("WRONG", "wrong", Unit::Count),
    ],
};
/// Interval between two polls of a run, in cycles.
const STEP_CYCLES: u64 = 2_000;
/// The collectives and sizes that are compared.
const OPS: [Op; 3] = [Op::AllGather, Op::ReduceScatter, Op::AllReduce];
const SIZES: [u64; 3] = [16 << 10, 128 << 10, 1 << 20];
/// Buffers of each channel over the fabric. Channels of EDMs have two, as in the guide.
const BUFFERS: u32 = 4;
/// An EDM has no room for the channels of more workers.
const EDM_WORKERS: u32 = 2;

/// Options of the study.
#[derive(Clone, Copy, Debug)]
pub struct TransportStudy<'a> {
    /// The mesh.
    pub mesh: &'a str,
    /// Workers of each link and direction.
    pub workers: u32,
    /// Options of the fabric.
    pub fabric: FabricOptions,
    /// Seed of the data.
    pub seed: u32,
}

/// One collective of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportRow {
    /// The collective.
    pub op: Op,
    /// Its size, as nccl-tests counts it.
    pub size_bytes: u64,
    /// Over EDMs, in cycles.
    pub edm_cycles: u64,
    /// Over the fabric, in cycles.
    pub fabric_cycles: u64,
    /// The topology of the fabric.
    pub fabric: &'static str,
    /// Muxes of the fabric's run.
    pub muxes: usize,
    /// Wrong elements of both.
    pub wrong: u64,
}

impl TransportRow {
    /// Returns the ratio of the time over the fabric to the time over EDMs.
    pub fn factor(&self) -> f64 {
        self.fabric_cycles as f64 / self.edm_cycles.max(1) as f64
    }
}

/// Runs each collective of each size over EDMs and over the fabric, on a fresh mesh. `report` is
/// called with each row.
///
/// # Errors
/// When the mesh cannot be built or cannot run the collectives.
pub fn study(
    setup: &TransportStudy<'_>,
    report: &mut dyn FnMut(&TransportRow),
) -> Result<Vec<TransportRow>, SceneError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), ..Scene::new(setup.mesh) };
    let mut target = scene.build(&mut images)?;
    let mut rows = Vec::new();
    for (op, size_bytes) in OPS.into_iter().flat_map(|op| SIZES.map(|size| (op, size))) {
        let request = Request {
            workers: setup.workers.min(EDM_WORKERS),
            seed: setup.seed,
            ..Request::new(op, size_bytes)
        };
        let edm = run_collective(&mut target, &mut images, &request)?;
        let over_fabric = Request {
            transport: Transport::Fabric(setup.fabric),
            workers: setup.workers,
            buffers_per_channel: BUFFERS,
            ..request
        };
        let fabric = run_collective(&mut target, &mut images, &over_fabric)?;
        let row = TransportRow {
            op,
            size_bytes,
            edm_cycles: edm.cycles,
            fabric_cycles: fabric.cycles,
            fabric: fabric.fabric,
            muxes: fabric.muxes,
            wrong: edm.wrong + fabric.wrong,
        };
        report(&row);
        rows.push(row);
    }
    Ok(rows)
}

struct Measured {
    cycles: u64,
    wrong: u64,
    fabric: &'static str,
    muxes: usize,
}

fn run_collective(
    target: &mut BarTarget,
    images: &mut ImageMap,
    request: &Request,
) -> Result<Measured, SceneError> {
    let program = compile(target.mesh(), request);
    let program = program.map_err(|why| ControlError::Settings(why.to_string()))?;
    let crossing = program.crossing.as_ref();
    let fabric = crossing.map_or("", |crossing| crossing.plan.topology.name());
    let muxes = crossing.map_or(0, |crossing| crossing.muxes.len());
    let mut run = Run::new(program, RunSettings::default());
    let report = run.finish(target, images, STEP_CYCLES).map_err(SceneError::of_run(target))?;
    let unchecked = || ControlError::Settings("the run was not finished or not checked".to_owned());
    let found = report.and_then(|report| Some((report.time_cycles, report.wrong?)));
    let (cycles, wrong) = found.ok_or_else(unchecked)?;
    Ok(Measured { cycles, wrong, fabric, muxes })
}

fn row(row: &TransportRow) -> Value {
    json!({
        "op": row.op.name(),
        "size": row.size_bytes,
        "edm_us": row.edm_cycles as f64 / 1e3,
        "fabric_us": row.fabric_cycles as f64 / 1e3,
        "factor": row.factor(),
        "fabric": row.fabric,
        "muxes": row.muxes,
        "wrong": row.wrong,
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let mesh = options.text("mesh");
    let known = FabricTopology::ALL.map(|topology| (topology.name(), topology));
    let topology = options.get("fabric").map(|_| options.one_of("fabric", &known)).transpose()?;
    let workers = options.number("workers", [1, MOST_WORKERS])?;
    let seed = options.number("seed", [0, u32::MAX.into()])? as u32;
    report.fact("mesh", mesh);
    report.fact("workers", workers);
    let fabric = FabricOptions { topology, ..FabricOptions::default() };
    let setup = TransportStudy { mesh, workers: workers as u32, fabric, seed };
    let rows = study(&setup, &mut |it| report.row(&ROWS, row(it)));
    Ok(rows.map_err(StudyError::on(mesh))?.iter().all(|row| row.wrong == 0))
}
